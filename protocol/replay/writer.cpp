#include "protocol/replay/writer.h"

#include <algorithm>

#include "protocol/replay/command_code.h"

namespace orrery::protocol::replay {

namespace {

Error misuse(const char* message) { return Error{ErrorCode::invalid_argument, "replay writer", message}; }
Error too_long(const char* message) { return Error{ErrorCode::limit_reached, "replay writer", message}; }

}  // namespace

ReplayWriter::ReplayWriter(std::uint32_t ticks_per_chunk)
    : ticks_per_chunk_(std::clamp(ticks_per_chunk, 1u, kMaxTicksPerChunk)) {}

// Appends payload_ to bytes_.
Result<ReplayWriter::Bytes> ReplayWriter::append(ChunkKind kind, std::uint32_t number) {
    if (auto done = chunks_.append(kind, payload_, bytes_, number); !done) return done.error();
    return Bytes(bytes_);
}

// The ticks that wait come first.
Result<Ok> ReplayWriter::write_waiting() {
    bytes_.clear();
    const std::uint32_t count = waiting_.count();
    if (count == 0) return Ok{};
    payload_.clear();
    waiting_.finish(payload_);
    if (auto done = append(ChunkKind::ticks, count); !done) return done.error();
    return Ok{};
}

Result<ReplayWriter::Bytes> ReplayWriter::begin(const FileHeader& header) {
    if (phase_ != Phase::fresh) return misuse("the file header was already written");
    if (header.scene_name.size() > kMaxTextBytes || header.room.size() > kMaxTextBytes)
        return misuse("scene and room names may have at most 256 bytes (kMaxTextBytes): shorten them");
    if (const char* fault = fault_of(header.about)) return misuse(fault);
    if (header.first_tick > kMaxFirstTick) return misuse("the first tick is too large (kMaxFirstTick)");
    bytes_.clear();
    payload_.clear();
    encode(header, payload_);
    auto bytes = append(ChunkKind::file_header);
    if (!bytes) return bytes;
    run_ = header.run;
    ticks_ = header.first_tick;
    phase_ = ticks_ > 0 ? Phase::needs_keyframe : Phase::open;
    return bytes;
}

Result<Ok> ReplayWriter::go_on(const RunId& run, std::uint64_t ticks, const Position& end) {
    if (phase_ != Phase::fresh) return misuse("the file header was already written");
    if (end.format != kFormatVersion) return misuse("a recording of another format cannot go on");
    if (end.ended || end.sequence == 0) return misuse("a recording goes on behind its header, before its end");
    chunks_.go_on(end);
    run_ = run;
    ticks_ = ticks;
    phase_ = Phase::open;
    return Ok{};
}

Result<ReplayWriter::Bytes> ReplayWriter::tick(std::uint64_t tick, std::span<const sim::Command> commands,
                                               const sim::HashTree& hash, std::uint64_t slip_ns) {
    if (phase_ != Phase::open)
        return misuse("a tick must come between the file header and the end, behind the keyframe of a cut");
    if (tick != ticks_ + 1) return misuse("ticks must follow each other without a gap, from 1");
    if (commands.size() > sim::kMaxCommandsPerTick)
        return misuse("a tick has at most 65536 commands (kMaxCommandsPerTick)");
    record_.tick = tick;
    record_.slip_ns = slip_ns;
    record_.hash = hash;
    record_.commands.assign(commands.begin(), commands.end());
    sort_canonically(record_.commands);
    if (ticks_per_chunk_ > 1) return wait_with_tick();
    bytes_.clear();
    payload_.clear();
    encode(record_, payload_);
    auto bytes = append(ChunkKind::tick);
    if (bytes) ticks_ = tick;
    return bytes;
}

Result<ReplayWriter::Bytes> ReplayWriter::wait_with_tick() {
    bytes_.clear();
    if (!waiting_.add(record_)) {
        if (auto done = write_waiting(); !done) return done.error();
        if (!waiting_.add(record_)) return too_long("a tick's commands take more than 16 MiB (kMaxTickBytes)");
    }
    ticks_ = record_.tick;
    if (waiting_.count() < ticks_per_chunk_ && waiting_.bytes() < kMaxWaitingBytes) return Bytes(bytes_);
    payload_.clear();
    const std::uint32_t count = waiting_.count();
    waiting_.finish(payload_);
    return append(ChunkKind::ticks, count);
}

Result<ReplayWriter::Bytes> ReplayWriter::keyframe(std::span<const std::uint8_t> state) {
    if (phase_ != Phase::open && phase_ != Phase::needs_keyframe)
        return misuse("a keyframe must come between the file header and the end");
    if (state.size() > kMaxKeyframeParts * kKeyframePartBytes)
        return too_long("a state has at most 1 GiB (kMaxKeyframeParts)");
    if (auto done = write_waiting(); !done) return done.error();
    const auto parts = static_cast<std::uint32_t>(
        std::max<std::size_t>(1, (state.size() + kKeyframePartBytes - 1) / kKeyframePartBytes));
    for (std::uint32_t part = 0; part < parts; ++part) {
        const auto piece = state.first(std::min(state.size(), kKeyframePartBytes));
        state = state.subspan(piece.size());
        payload_.clear();
        encode(KeyframeRecord{.tick = ticks_, .part = part, .parts = parts, .state = piece}, payload_);
        if (auto done = append(ChunkKind::keyframe, parts - 1 - part); !done) return done.error();
    }
    phase_ = Phase::open;
    return Bytes(bytes_);
}

Result<Ok> ReplayWriter::check_open() const {
    if (phase_ == Phase::open || phase_ == Phase::needs_keyframe) return Ok{};
    return misuse("an ancillary record must come between the file header and the end");
}

template <class Record>
Result<ReplayWriter::Bytes> ReplayWriter::add_record(ChunkKind kind, Record& record) {
    if (auto good = check_open(); !good) return good.error();
    if (auto done = write_waiting(); !done) return done.error();
    record.tick = ticks_;
    payload_.clear();
    encode(record, payload_);
    return append(kind);
}

Result<ReplayWriter::Bytes> ReplayWriter::add(PlayerRecord record) { return add_record(ChunkKind::player, record); }

Result<ReplayWriter::Bytes> ReplayWriter::add(ResumeRecord record) {
    if (record.build.size() > kMaxTextBytes) return too_long("a build has at most 256 bytes (kMaxTextBytes)");
    return add_record(ChunkKind::resume, record);
}

Result<ReplayWriter::Bytes> ReplayWriter::add(HostRecord record) {
    if (record.state.size() > kMaxHostBytes) return too_long("a host's state has at most 15 MiB (kMaxHostBytes)");
    return add_record(ChunkKind::host, record);
}

Result<ReplayWriter::Bytes> ReplayWriter::add(NoteRecord record) {
    if (record.text.size() > kMaxNoteBytes) return too_long("a note has at most 1024 bytes (kMaxNoteBytes)");
    return add_record(ChunkKind::note, record);
}

Result<ReplayWriter::Bytes> ReplayWriter::sign(const SigningKey& key, SignedExtent extent) {
    if (auto good = check_open(); !good) return good.error();
    if (auto done = write_waiting(); !done) return done.error();
    payload_.clear();
    encode(replay::sign(key, extent, run_, ticks_, chunks_.chain()), payload_);
    return append(ChunkKind::sign);
}

Result<ReplayWriter::Bytes> ReplayWriter::flush() {
    if (auto done = write_waiting(); !done) return done.error();
    return Bytes(bytes_);
}

Result<ReplayWriter::Bytes> ReplayWriter::end() {
    if (phase_ != Phase::open) return misuse("the end must come after the file header, once");
    if (auto done = write_waiting(); !done) return done.error();
    payload_.clear();
    encode(EndRecord{.ticks = ticks_, .head = chunks_.chain()}, payload_);
    auto bytes = append(ChunkKind::end);
    if (bytes) phase_ = Phase::ended;
    return bytes;
}

}  // namespace orrery::protocol::replay
