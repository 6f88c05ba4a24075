#include "protocol/replay/plan.h"

#include <sodium.h>

#include <algorithm>
#include <cstdlib>

#include "protocol/replay/byte_io.h"
#include "protocol/replay/recorded.h"
#include "protocol/replay/stretch.h"

namespace orrery::protocol::replay {

namespace {

constexpr std::string_view kSegmentPurpose = "orrery segment v1";

Chain hash_of(std::span<const std::uint8_t> state) {
    if (sodium_init() < 0) std::abort();
    Chain hash;
    crypto_generichash(hash.data(), hash.size(), state.data(), state.size(), nullptr, 0);
    return hash;
}

RecordingId recording_of(const FileHeader& header, const Chain& chain) {
    return {header.engine_version, header.run, chain, header.scene_hash, header.tick_rate_hz, header.first_tick};
}

Border border_at(const Position& position, std::uint64_t tick) {
    return {.tick = tick,
            .offset = position.offset,
            .sequence = position.sequence,
            .chain = position.chain,
            .keyframe = {}};
}

Mark mark_at(const Plan& plan, const Border& border) {
    Position position{.offset = border.offset, .sequence = border.sequence, .chain = border.chain};
    position.format = plan.format;
    return {.position = position, .tick = border.tick, .keyframe = true};
}

// Reads the keyframe at a mark.
Result<Chain> keyframe_at(const Source& source, const Mark& mark) {
    ReplayReader reader(source, mark);
    if (reader.next_of_all() == ReplayReader::Kind::keyframe) return hash_of(reader.keyframe().state);
    if (!reader.error().message.empty()) return reader.error();
    return Error{ErrorCode::corrupt, "byte " + std::to_string(mark.position.offset),
                 "a segment should begin with a keyframe, and there is none; make the plan again"};
}

// The keyframes nearest to even parts of the ticks, in order. None is at the first tick or the last: a segment has a
// tick.
std::vector<const Mark*> cuts_of(const Survey& seen, std::uint32_t segments) {
    const std::uint64_t first = seen.header.first_tick, ticks = seen.ticks - first;
    std::vector<const Mark*> cuts;
    for (std::uint32_t i = 1; i < segments; ++i) {
        const std::uint64_t after = cuts.empty() ? first : cuts.back()->tick;
        // Not ticks * i / segments, which overflows where the number of ticks is absurd.
        const std::uint64_t wanted = first + ticks / segments * i + ticks % segments * i / segments;
        const auto distance = [wanted](const Mark& mark) {
            return mark.tick > wanted ? mark.tick - wanted : wanted - mark.tick;
        };
        const Mark* best = nullptr;
        for (const Mark& mark : seen.marks) {
            if (mark.tick <= after || mark.tick >= seen.ticks) continue;
            if (!best || distance(mark) < distance(*best)) best = &mark;
        }
        if (best) cuts.push_back(best);
    }
    return cuts;
}

// Reads the header of the plan's recording. An error: the source is of another.
Result<FileHeader> header_of(const Source& source, const Plan& plan, ReplayReader& reader) {
    Result<FileHeader> header = reader.begin();
    if (!header) return header;
    if (recording_of(*header, reader.position().chain) != plan.recording)
        return Error{ErrorCode::not_found, "file header",
                     "it is another recording than that of the plan; name the right one with --file"};
    if (source.size() != plan.size)
        return Error{ErrorCode::not_found, "",
                     "it has " + std::to_string(source.size()) + " bytes, and " + std::to_string(plan.size) +
                         " when the plan was made; make the plan again"};
    return header;
}

// A name in a scene may have any bytes, and a result is a text.
void make_plain(Error& error) {
    for (std::string* text : {&error.place, &error.message})
        std::replace_if(
            text->begin(), text->end(), [](char c) { return c < ' ' || c > '~'; }, '?');
}

// Reads all bytes of the segment, and the keyframe behind it. False: they are damaged, or not where the plan says.
bool check_segment(const Source& source, const Plan& plan, ReplayReader& reader, Survey& seen, SegmentResult& result) {
    const auto bad = [&](std::uint64_t offset, const char* message) {
        result.report.error = {ErrorCode::corrupt, "byte " + std::to_string(offset), message};
        return false;
    };
    const Border &from = plan.borders[result.segment], &to = plan.borders[result.segment + 1];
    const bool last = result.segment + 1 == plan.segments();
    seen.header = result.report.header;
    seen.has_header = true;
    result.begin = from;
    if (result.segment == 0) result.begin = border_at(reader.position(), plan.recording.first_tick);
    if (result.segment == 0 && plan.recording.first_tick == 0) seen.marks.push_back({.position = reader.position()});
    survey_part(reader, seen, last ? kToTheEnd : to.offset);
    if (last) {
        result.ending = seen.status;
        result.end = border_at(reader.position(), reader.ticks());
    } else if (seen.status == ReadStatus::chunk) {
        result.end = border_at(reader.position(), reader.ticks());
        if (reader.next_of_all() == ReplayReader::Kind::keyframe) {
            result.end.keyframe = hash_of(reader.keyframe().state);
            seen.status = ReadStatus::closed;
        } else if (reader.status() == ReadStatus::corrupt || reader.status() == ReadStatus::unreadable) {
            seen.status = reader.status();
            seen.error = reader.error();
            seen.error_offset = reader.error_offset();
        } else {
            return bad(result.end.offset, "the next segment should begin here with a keyframe; make the plan again");
        }
    } else if (seen.usable()) {
        return bad(reader.position().offset, "the file ends before the segment does; make the plan again");
    }
    if (!check_survey(seen, source.size(), result.report)) return false;
    for (const SignedPlace& place : seen.signs)
        result.signs.push_back({place.record.tick, place.offset, place.record.key, place.whole});
    keep_last_of_each_key(result.signs);
    if (result.segment == 0) return true;
    const Result<Chain> keyframe = keyframe_at(source, mark_at(plan, from));
    if (!keyframe) result.report.error = keyframe.error();
    if (keyframe) result.begin.keyframe = *keyframe;
    return keyframe.ok();
}

// From the marks that the survey found.
void simulate(const Source& source, const VerifyOptions& options, const Survey& seen, SegmentResult& result) {
    VerifyReport& report = result.report;
    const auto made = recorded_definition(report.header, options.load_scene);
    if (!made) {
        report.error = made.error();
        return;
    }
    const bool last = result.segment + 1 == result.segments;
    StretchRun run{
        source, options, *made, options.stretches ? nullptr : options.executor,
        stretches_of(seen.marks, options.stretches != nullptr, last ? std::nullopt : std::optional(result.end.tick))};
    verify_stretches(run);
    report.ticks = result.begin.tick;
    conclude(run.stretches, report);
    result.equal_until = report.ticks;
    report.ticks -= result.begin.tick;
}

}  // namespace

Result<Plan> make_plan(const Source& source, const Survey& seen, std::string file, std::uint32_t segments) {
    if (const Result<Ok> own = recorded_by_this_engine(seen.header); !own) return own.error();
    Plan plan;
    plan.file = std::move(file);
    plan.format = seen.format;
    plan.size = source.size();
    ReplayReader reader(source);
    const Result<FileHeader> header = reader.begin();
    if (!header) return header.error();
    plan.recording = recording_of(*header, reader.position().chain);
    plan.borders.push_back(border_at(reader.position(), header->first_tick));
    for (const Mark* cut : cuts_of(seen, segments)) {
        const Result<Chain> keyframe = keyframe_at(source, *cut);
        if (!keyframe) return keyframe.error();
        plan.borders.push_back(border_at(cut->position, cut->tick));
        plan.borders.back().keyframe = *keyframe;
    }
    plan.borders.push_back(border_at(seen.end, seen.ticks));
    return plan;
}

void keep_last_of_each_key(std::vector<SegmentSign>& signs) {
    std::vector<SegmentSign> kept;
    for (auto sign = signs.rbegin(); sign != signs.rend(); ++sign) {
        if (std::ranges::find(kept, sign->key, &SegmentSign::key) == kept.end()) kept.push_back(*sign);
    }
    signs.assign(kept.rbegin(), kept.rend());
}

Result<SegmentResult> verify_segment(const Source& source, const Plan& plan, std::uint32_t segment,
                                     const VerifyOptions& options) {
    ReplayReader first(source);
    Result<FileHeader> header = header_of(source, plan, first);
    if (!header) return header.error();
    SegmentResult result;
    result.recording = plan.recording;
    result.segment = segment;
    result.segments = plan.segments();
    result.equal_until = plan.borders[segment].tick;
    result.report.header = std::move(header).value();
    result.report.target = options.target == sim::Target::automatic ? sim::best_target() : options.target;
    Survey seen;
    std::optional<ReplayReader> later;
    if (segment > 0) later.emplace(source, mark_at(plan, plan.borders[segment]));
    result.checked = check_segment(source, plan, later ? *later : first, seen, result);
    if (result.checked) simulate(source, options, seen, result);
    make_plain(result.report.error);
    return result;
}

namespace {

std::vector<std::uint8_t> message_of(const SegmentResult& result) {
    std::vector<std::uint8_t> message(kSegmentPurpose.begin(), kSegmentPurpose.end());
    ByteWriter out(message);
    const auto border = [&](const Border& at) {
        for (const std::uint64_t value : {at.tick, at.offset, at.sequence}) out.u64(value);
        out.bytes(at.chain);
        out.bytes(at.keyframe);
    };
    const auto maybe = [&](const std::optional<std::uint64_t>& value) {
        out.u8(value.has_value());
        out.u64(value.value_or(0));
    };
    const RecordingId& of = result.recording;
    const VerifyReport& report = result.report;
    out.u32(of.engine_version);
    out.bytes(of.run);
    out.bytes(of.header);
    out.u64(of.scene_hash);
    out.f32(of.tick_rate_hz);
    out.u64(of.first_tick);
    for (const std::uint32_t value : {result.engine_version, result.segment, result.segments}) out.u32(value);
    border(result.begin);
    border(result.end);
    out.u8(static_cast<std::uint8_t>(result.ending));
    out.u8(result.checked);
    out.u64(result.equal_until);
    out.u8(static_cast<std::uint8_t>(report.verdict));
    for (const auto& value : {report.corrupt_at_byte, report.first_divergent_tick, report.subsystem_tick}) maybe(value);
    out.text(report.subsystem);
    out.u8(static_cast<std::uint8_t>(report.error.code));
    out.text(report.error.place);
    out.text(report.error.message);
    const AncillaryCounts& counts = report.ancillary;
    for (const std::uint64_t value :
         {counts.players, counts.resumes, counts.hosts, counts.notes, counts.signs, counts.unknown})
        out.u64(value);
    out.u64(result.signs.size());
    for (const SegmentSign& sign : result.signs) {
        out.u64(sign.tick);
        out.u64(sign.offset);
        out.bytes(sign.key);
        out.u8(sign.whole);
    }
    out.u8(static_cast<std::uint8_t>(report.target));
    out.u64(result.microseconds);
    return message;
}

}  // namespace

void sign(SegmentResult& result, const SigningKey& key) {
    result.worker = public_key(key);
    const std::vector<std::uint8_t> message = message_of(result);
    crypto_sign_detached(result.signature.data(), nullptr, message.data(), message.size(), key.secret.data());
}

bool is_valid(const SegmentResult& result) {
    if (!result.worker) return false;
    const std::vector<std::uint8_t> message = message_of(result);
    return crypto_sign_verify_detached(result.signature.data(), message.data(), message.size(),
                                       result.worker->data()) == 0;
}

}  // namespace orrery::protocol::replay
