#include "protocol/replay/reader.h"

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
    if (auto done = decode(chunk_.payload, header); !done) {
        bad(done.error());
        return error_;
    }
    return header;
}

ReplayReader::Kind ReplayReader::next() {
    if (status_ != ReadStatus::chunk) return Kind::stop;
    const ReadStatus status = chunks_.next(chunk_);
    if (status == ReadStatus::closed || status == ReadStatus::open) {
        status_ = status;
        return Kind::stop;
    }
    if (status != ReadStatus::chunk) return stop(status, chunks_.error_offset(), chunks_.error());
    switch (chunk_.kind) {
        case ChunkKind::tick:
            return read_tick();
        case ChunkKind::keyframe:
            return read_keyframe();
        case ChunkKind::end:
            return read_end();
        case ChunkKind::file_header:
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

ReplayReader::Kind ReplayReader::read_keyframe() {
    if (auto done = decode(chunk_.payload, keyframe_); !done) return bad(done.error());
    if (keyframe_.tick != ticks_) return bad("a keyframe does not belong to the tick before it; use an undamaged copy");
    return Kind::keyframe;
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

Survey survey(const Source& source) {
    Survey result;
    ReplayReader reader(source);
    auto header = reader.begin();
    if (header) {
        result.header = std::move(header).value();
        result.has_header = true;
        result.marks.push_back(Mark{.position = reader.position(), .tick = 0, .keyframe = false});
        for (;;) {
            const Position before = reader.position();
            const auto kind = reader.next();
            if (kind == ReplayReader::Kind::stop) break;
            if (kind == ReplayReader::Kind::keyframe)
                result.marks.push_back(Mark{.position = before, .tick = reader.ticks(), .keyframe = true});
        }
    }
    result.status = reader.status();
    result.error = reader.error();
    result.error_offset = reader.error_offset();
    result.ticks = reader.ticks();
    result.head = reader.position().chain;
    return result;
}

Outline outline(const Source& source, const Position& start) {
    Outline result;
    result.marks.push_back(Mark{.position = start, .tick = 0, .keyframe = false});
    ChunkReader chunks(source, start);
    for (;;) {
        const Position before = chunks.position();
        ChunkKind kind{};
        result.status = chunks.skip(kind);
        if (result.status != ReadStatus::chunk) break;
        if (kind == ChunkKind::tick) ++result.ticks;
        if (kind == ChunkKind::keyframe)
            result.marks.push_back(Mark{.position = before, .tick = result.ticks, .keyframe = true});
    }
    result.error = chunks.error();
    result.error_offset = chunks.error_offset();
    return result;
}

}  // namespace orrery::protocol::replay
