#include "protocol/replay/reader.h"

#include <optional>

namespace orrery::protocol::replay {

ReplayReader::Kind ReplayReader::stop(ReadStatus status, std::uint64_t offset, Error error) {
    status_ = status;
    error_offset_ = offset;
    error_ = std::move(error);
    if (error_.place.empty()) error_.place = "byte " + std::to_string(offset);
    return Kind::stop;
}

Result<FileHeader> ReplayReader::begin() {
    const ReadStatus status = chunks_.next(chunk_);
    if (status == ReadStatus::open) {
        stop(ReadStatus::torn, 0, Error{ErrorCode::corrupt, "", "the file is empty"});
        return error_;
    }
    if (status != ReadStatus::chunk) {
        stop(status, chunks_.error_offset(), chunks_.error());
        return error_;
    }
    FileHeader header;  // the chunk reader has seen to it that the first chunk is the file header
    if (auto done = decode(chunk_.payload, header, chunks_.position().format); !done) {
        bad(done.error());
        return error_;
    }
    ticks_ = header.first_tick;
    needs_keyframe_ = ticks_ > 0;
    return header;
}

ReplayReader::Kind ReplayReader::next() {
    Kind kind = next_of_all();
    while (kind == Kind::ancillary) kind = next_of_all();
    return kind;
}

// False: there is none, and the reader has stopped.
bool ReplayReader::read_chunk() {
    chunk_start_ = chunks_.position();
    const ReadStatus status = chunks_.next(chunk_);
    if (status == ReadStatus::chunk) return true;
    if (status == ReadStatus::closed || status == ReadStatus::open)
        status_ = status;
    else
        stop(status, chunks_.error_offset(), chunks_.error());
    return false;
}

ReplayReader::Kind ReplayReader::next_of_all() {
    if (status_ != ReadStatus::chunk) return Kind::stop;
    if (ticks_of_chunk_.left() > 0) return read_tick_of_chunk();
    if (!read_chunk()) return Kind::stop;
    if (is_ancillary(chunk_.kind)) return read_ancillary();
    if (needs_keyframe_ && chunk_.kind != ChunkKind::keyframe)
        return bad("a recording that was cut does not begin with a keyframe; use an undamaged copy");
    switch (chunk_.kind) {
        case ChunkKind::tick:
            return read_tick();
        case ChunkKind::ticks:
            return read_ticks();
        case ChunkKind::keyframe:
            return read_keyframe();
        case ChunkKind::end:
            return read_end();
        default:
            break;
    }
    return bad("the file has a second file header; use an undamaged copy");
}

ReplayReader::Kind ReplayReader::read_tick() {
    if (auto done = decode(chunk_.payload, tick_); !done) return bad(done.error());
    if (tick_.tick != ticks_ + 1) return bad("a tick does not follow the tick before it; use an undamaged copy");
    ticks_ = tick_.tick;
    return Kind::tick;
}

ReplayReader::Kind ReplayReader::read_ticks() {
    if (auto done = ticks_of_chunk_.begin(chunk_.payload); !done) return bad(done.error());
    if (ticks_of_chunk_.left() != chunk_.number)
        return bad("a record of ticks has another number of them than its header; use an undamaged copy");
    if (ticks_of_chunk_.first() != ticks_ + 1)
        return bad("a tick does not follow the tick before it; use an undamaged copy");
    for (; skipped_ticks_ > 0 && ticks_of_chunk_.left() > 1; --skipped_ticks_)
        if (read_tick_of_chunk() == Kind::stop) return Kind::stop;
    return read_tick_of_chunk();
}

ReplayReader::Kind ReplayReader::read_tick_of_chunk() {
    if (auto done = ticks_of_chunk_.next(tick_); !done) return bad(done.error());
    ticks_ = tick_.tick;
    return Kind::tick;
}

// Reads all parts of it.
ReplayReader::Kind ReplayReader::read_keyframe() {
    joined_.clear();
    for (std::uint32_t part = 0, parts = 0;; ++part) {
        if (auto done = decode(chunk_.payload, keyframe_, chunks_.position().format); !done) return bad(done.error());
        if (keyframe_.tick != ticks_)
            return bad("a keyframe does not belong to the tick before it; use an undamaged copy");
        if (part == 0) parts = keyframe_.parts;
        if (keyframe_.part != part || keyframe_.parts != parts || chunk_.number != parts - 1 - part)
            return bad("a part of a keyframe is missing or does not belong to it; use an undamaged copy");
        if (parts > 1) joined_.insert(joined_.end(), keyframe_.state.begin(), keyframe_.state.end());
        if (part + 1 == parts) break;
        if (!read_chunk()) return Kind::stop;
        if (chunk_.kind != ChunkKind::keyframe) return bad("a part of a keyframe is missing; use an undamaged copy");
    }
    if (keyframe_.parts > 1) keyframe_ = {.tick = ticks_, .state = joined_};
    needs_keyframe_ = false;
    return Kind::keyframe;
}

ReplayReader::Kind ReplayReader::read_ancillary() {
    std::uint64_t tick = 0;
    if (auto done = decode(chunk_.kind, chunk_.payload, ancillary_, tick); !done) return bad(done.error());
    if (chunk_.kind <= kLastAncillaryKind && tick != ticks_)
        return bad("an ancillary record does not belong to the tick before it; use an undamaged copy");
    return Kind::ancillary;
}

Mark ReplayReader::mark() const {
    const std::uint32_t left = ticks_of_chunk_.left();
    if (left == 0) return {.position = chunks_.position(), .tick = ticks_};
    return {.position = chunk_start_, .tick = ticks_, .keyframe = false, .ticks_before = chunk_.number - left};
}

// Goes on to the file's true end, so that bytes after END are found.
ReplayReader::Kind ReplayReader::read_end() {
    EndRecord end;
    if (auto done = decode(chunk_.payload, end); !done) return bad(done.error());
    if (end.ticks != ticks_)
        return bad("the end record states another number of ticks than the file has; use an undamaged copy");
    if (end.head != chunk_.chain_before)
        return bad("the end record states another chain hash than the file has; use an undamaged copy");
    const ReadStatus status = chunks_.next(chunk_);
    if (status == ReadStatus::closed) {
        status_ = status;
        return Kind::stop;
    }
    return stop(status, chunks_.error_offset(), chunks_.error());
}

namespace {

// What the reader's end says of the part that was surveyed.
void finish(const ReplayReader& reader, Survey& result) {
    result.status = reader.status();
    result.error = reader.error();
    result.error_offset = reader.error_offset();
    result.format = reader.position().format;
    result.ticks = reader.ticks();
    result.end = reader.position();
    result.head = result.end.chain;
    const bool cut_before_keyframe = result.status == ReadStatus::open || result.status == ReadStatus::torn;
    if (result.has_header && result.marks.empty() && cut_before_keyframe) {
        result.status = ReadStatus::torn;
        result.error_offset = reader.position().offset;
        result.error = Error{ErrorCode::corrupt, "byte " + std::to_string(result.error_offset),
                             "the file ends before the keyframe that it begins with; use a whole copy"};
    }
}

}  // namespace

void survey_part(ReplayReader& reader, Survey& result, std::uint64_t until, const AncillaryVisitor& ancillary) {
    result.record_end = reader.position();
    std::uint64_t after_sign = 0;                    // offset
    while (reader.mark().position.offset < until) {  // a chunk of ticks is read to its last
        const Position before = reader.position();
        const auto kind = reader.next_of_all();
        if (kind == ReplayReader::Kind::stop) break;
        result.record_end = reader.position();
        if (kind == ReplayReader::Kind::keyframe)
            result.marks.push_back(Mark{.position = before, .tick = reader.ticks(), .keyframe = true});
        if (kind != ReplayReader::Kind::ancillary) continue;
        result.ancillary.add(reader.ancillary());
        if (ancillary) ancillary(reader.ancillary());
        if (const auto* sign = std::get_if<SignRecord>(&reader.ancillary())) {
            result.signs.push_back({reader.chunk().offset, reader.chunk().chain_before, before, *sign});
            after_sign = reader.position().offset;
        }
    }
    if (reader.complete() && after_sign != 0) result.signs.back().before_end = reader.chunk().offset == after_sign;
    finish(reader, result);
}

Survey survey(const Source& source, const AncillaryVisitor& ancillary) {
    Survey result;
    ReplayReader reader(source);
    auto header = reader.begin();
    if (!header) {
        finish(reader, result);
        return result;
    }
    result.header = std::move(header).value();
    result.has_header = true;
    if (result.header.first_tick == 0)
        result.marks.push_back(Mark{.position = reader.position(), .tick = 0, .keyframe = false});
    survey_part(reader, result, kToTheEnd, ancillary);
    return result;
}

Outline outline(const Source& source, const Position& start, std::uint64_t first_tick) {
    Outline result;
    result.ticks = first_tick;
    if (first_tick == 0) result.marks.push_back(Mark{.position = start, .tick = 0, .keyframe = false});
    ChunkReader chunks(source, start);
    std::optional<Position> first_part;  // of a keyframe whose last part has not come
    for (;;) {
        const Position before = chunks.position();
        ChunkHeader header;
        result.status = chunks.skip(header);
        if (result.status != ReadStatus::chunk) break;
        if (header.kind == ChunkKind::tick) ++result.ticks;
        if (header.kind == ChunkKind::ticks) result.ticks += header.number;
        if (is_ancillary(header.kind)) ++result.ancillary;
        if (header.kind != ChunkKind::keyframe) continue;
        if (!first_part) first_part = before;
        if (header.number > 0) continue;
        result.marks.push_back(Mark{.position = *first_part, .tick = result.ticks, .keyframe = true});
        first_part.reset();
    }
    result.error = chunks.error();
    result.error_offset = chunks.error_offset();
    return result;
}

}  // namespace orrery::protocol::replay
