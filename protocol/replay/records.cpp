#include "protocol/replay/records.h"

#include <algorithm>
#include <cmath>

#include "protocol/replay/byte_io.h"
#include "protocol/replay/command_code.h"

namespace orrery::protocol::replay {

namespace {

Error corrupt(std::string message) { return Error{ErrorCode::corrupt, "", std::move(message)}; }

}  // namespace

void encode(const FileHeader& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u32(record.engine_version);
    writer.u64(record.scene_hash);
    writer.f32(record.tick_rate_hz);
    writer.u8(record.leaves);
    writer.u64(record.start_unix_s);
    writer.text(record.scene_name);
    writer.text(record.room);
    writer.bytes(record.scene);
}

void encode(const TickRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.tick);
    writer.varint(record.slip_ns);
    for (const std::uint64_t leaf : record.hash.leaves) writer.u64(leaf);
    writer.u64(record.hash.root);
    writer.varint(record.commands.size());
    for (const sim::Command& command : record.commands) encode_command(command, writer);
}

void encode(const KeyframeRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.tick);
    writer.bytes(record.state);
}

void encode(const EndRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.ticks);
    writer.bytes(record.head);
}

Result<Ok> decode(std::span<const std::uint8_t> payload, FileHeader& record) {
    ByteReader reader(payload);
    record.engine_version = reader.u32();
    record.scene_hash = reader.u64();
    record.tick_rate_hz = reader.f32();
    record.leaves = reader.u8();
    record.start_unix_s = reader.u64();
    record.scene_name = reader.text(kMaxTextBytes);
    record.room = reader.text(kMaxTextBytes);
    if (!reader.ok()) return corrupt("the file header record is cut off, or a name in it is too long");
    if (!std::isfinite(record.tick_rate_hz) || record.tick_rate_hz <= 0.0f)
        return corrupt("the file header's tick rate is not a positive number");
    const auto scene = reader.bytes(reader.remaining());  // may be large: copied after all else has passed
    record.scene.assign(scene.begin(), scene.end());
    return Ok{};
}

Result<Ok> decode(std::span<const std::uint8_t> payload, TickRecord& record) {
    ByteReader reader(payload);
    record.tick = reader.u64();
    record.slip_ns = reader.varint();
    for (std::uint64_t& leaf : record.hash.leaves) leaf = reader.u64();
    record.hash.root = reader.u64();
    const std::uint64_t count = reader.varint(sim::kMaxCommandsPerTick);
    record.commands.clear();
    if (!reader.ok()) return corrupt("a tick record is cut off or not in its shortest form");
    if (count > reader.remaining() / kMinCommandBytes)
        return corrupt("a tick record announces more commands than it has");
    record.commands.resize(static_cast<std::size_t>(count));
    for (sim::Command& command : record.commands)
        if (const char* wrong = decode_command(reader, command))
            return corrupt("tick " + std::to_string(record.tick) + ": " + wrong);
    if (!reader.at_end()) return corrupt("bytes follow the last command of a tick record");
    if (!is_canonical(record.commands)) return corrupt("a tick record's commands are not in canonical order");
    return Ok{};
}

Result<Ok> decode(std::span<const std::uint8_t> payload, KeyframeRecord& record) {
    ByteReader reader(payload);
    record.tick = reader.u64();
    if (!reader.ok()) return corrupt("a keyframe record is cut off");
    record.state = reader.bytes(reader.remaining());
    return Ok{};
}

Result<Ok> decode(std::span<const std::uint8_t> payload, EndRecord& record) {
    ByteReader reader(payload);
    record.ticks = reader.u64();
    const auto head = reader.bytes(kChainBytes);
    if (!reader.at_end()) return corrupt("the end record has the wrong length");
    std::copy(head.begin(), head.end(), record.head.begin());
    return Ok{};
}

}  // namespace orrery::protocol::replay
