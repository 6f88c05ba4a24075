#include "protocol/replay/writer.h"

#include "protocol/replay/command_code.h"

namespace orrery::protocol::replay {

namespace {

Error misuse(const char* message) { return Error{ErrorCode::invalid_argument, "replay writer", message}; }

}  // namespace

Result<ReplayWriter::Bytes> ReplayWriter::append(ChunkKind kind) {
    bytes_.clear();
    if (auto done = chunks_.append(kind, payload_, bytes_); !done) return done.error();
    return Bytes(bytes_);
}

Result<ReplayWriter::Bytes> ReplayWriter::begin(const FileHeader& header) {
    if (phase_ != Phase::fresh) return misuse("the file header was already written");
    if (header.scene_name.size() > kMaxTextBytes || header.room.size() > kMaxTextBytes)
        return misuse("scene and room names may have at most 256 bytes (kMaxTextBytes): shorten them");
    payload_.clear();
    encode(header, payload_);
    auto bytes = append(ChunkKind::file_header);
    if (bytes) phase_ = Phase::open;
    return bytes;
}

Result<ReplayWriter::Bytes> ReplayWriter::tick(std::uint64_t tick, std::span<const sim::Command> commands,
                                               const sim::HashTree& hash, std::uint64_t slip_ns) {
    if (phase_ != Phase::open) return misuse("a tick must come between the file header and the end");
    if (tick != ticks_ + 1) return misuse("ticks must follow each other without a gap, from 1");
    if (commands.size() > sim::kMaxCommandsPerTick)
        return misuse("a tick has at most 65536 commands (kMaxCommandsPerTick)");
    record_.tick = tick;
    record_.slip_ns = slip_ns;
    record_.hash = hash;
    record_.commands.assign(commands.begin(), commands.end());
    sort_canonically(record_.commands);
    payload_.clear();
    encode(record_, payload_);
    auto bytes = append(ChunkKind::tick);
    if (bytes) ticks_ = tick;
    return bytes;
}

Result<ReplayWriter::Bytes> ReplayWriter::keyframe(std::span<const std::uint8_t> state) {
    if (phase_ != Phase::open) return misuse("a keyframe must come between the file header and the end");
    payload_.clear();
    encode(KeyframeRecord{.tick = ticks_, .state = state}, payload_);
    return append(ChunkKind::keyframe);
}

Result<ReplayWriter::Bytes> ReplayWriter::end() {
    if (phase_ != Phase::open) return misuse("the end must come after the file header, once");
    payload_.clear();
    encode(EndRecord{.ticks = ticks_, .head = chunks_.chain()}, payload_);
    auto bytes = append(ChunkKind::end);
    if (bytes) phase_ = Phase::ended;
    return bytes;
}

}  // namespace orrery::protocol::replay
