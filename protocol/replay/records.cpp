#include "protocol/replay/records.h"

#include <algorithm>
#include <cmath>

#include "protocol/replay/byte_io.h"
#include "protocol/replay/command_code.h"

namespace orrery::protocol::replay {

namespace {

template <std::size_t size>
void read_bytes(ByteReader& reader, std::array<std::uint8_t, size>& out) {
    const auto bytes = reader.bytes(size);
    std::copy(bytes.begin(), bytes.end(), out.begin());
}

void read_origin(ByteReader& reader, FileHeader& record) {
    read_bytes(reader, record.run);
    record.first_tick = reader.u64();
    read_bytes(reader, record.parent.run);
    read_bytes(reader, record.parent.chain);
}

void read_pairs(ByteReader& reader, std::vector<KeyValue>& pairs) {
    const std::size_t count = reader.u8();
    for (std::size_t i = 0; i < count && reader.ok(); ++i) {
        KeyValue& pair = pairs.emplace_back();
        pair.key = reader.text(kMaxKeyBytes);
        pair.value = reader.text(kMaxValueBytes);
    }
}

}  // namespace

void sort_pairs(std::vector<KeyValue>& pairs) {
    std::sort(pairs.begin(), pairs.end(), [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; });
}

const char* fault_of(std::span<const KeyValue> pairs) {
    if (pairs.size() > kMaxPairs) return "a file header has at most 64 pairs (kMaxPairs)";
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (pairs[i].key.empty() || pairs[i].key.size() > kMaxKeyBytes)
            return "the key of a pair has 1 to 64 bytes (kMaxKeyBytes)";
        if (pairs[i].value.size() > kMaxValueBytes)
            return "the value of a pair has at most 1024 bytes (kMaxValueBytes)";
        if (i > 0 && !(pairs[i - 1].key < pairs[i].key)) return "the pairs are not in order of their keys";
    }
    return nullptr;
}

void encode(const FileHeader& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u32(record.engine_version);
    writer.u64(record.scene_hash);
    writer.f32(record.tick_rate_hz);
    writer.u8(record.leaves);
    writer.u64(record.start_unix_s);
    writer.bytes(record.run);
    writer.u64(record.first_tick);
    writer.bytes(record.parent.run);
    writer.bytes(record.parent.chain);
    writer.text(record.scene_name);
    writer.text(record.room);
    writer.u8(static_cast<std::uint8_t>(record.about.size()));
    for (const KeyValue& pair : record.about) {
        writer.text(pair.key);
        writer.text(pair.value);
    }
    writer.bytes(record.scene);
}

void encode(const TickRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.tick);
    writer.varint(record.slip_ns);
    for (const std::uint64_t leaf : record.hash.leaves) writer.u64(leaf);
    writer.u64(record.hash.root);
    encode_commands(record.commands, writer);
}

void encode(const KeyframeRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.tick);
    writer.u32(record.part);
    writer.u32(record.parts);
    writer.bytes(record.state);
}

void encode(const EndRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.ticks);
    writer.bytes(record.head);
}

Result<Ok> decode(std::span<const std::uint8_t> payload, FileHeader& record, std::uint16_t format) {
    ByteReader reader(payload);
    record.engine_version = reader.u32();
    record.scene_hash = reader.u64();
    record.tick_rate_hz = reader.f32();
    record.leaves = reader.u8();
    record.start_unix_s = reader.u64();
    if (format > 1) read_origin(reader, record);
    record.scene_name = reader.text(kMaxTextBytes);
    record.room = reader.text(kMaxTextBytes);
    record.about.clear();
    if (format > 1) read_pairs(reader, record.about);
    if (!reader.ok()) return corrupt_record("the file header record is cut off, or a text in it is too long");
    if (const char* fault = fault_of(record.about)) return corrupt_record(fault);
    if (record.first_tick > kMaxFirstTick) return corrupt_record("the file header's first tick is too large");
    if (!std::isfinite(record.tick_rate_hz) || record.tick_rate_hz <= 0.0f)
        return corrupt_record("the file header's tick rate is not a positive number");
    const auto scene = reader.bytes(reader.remaining());  // may be large: copied after all else has passed
    record.scene.assign(scene.begin(), scene.end());
    return Ok{};
}

Result<Ok> decode(std::span<const std::uint8_t> payload, TickRecord& record) {
    ByteReader reader(payload);
    record.tick = reader.u64();
    record.slip_ns = reader.varint();
    record.has_leaves = true;
    for (std::uint64_t& leaf : record.hash.leaves) leaf = reader.u64();
    record.hash.root = reader.u64();
    if (const char* wrong = decode_commands(reader, record.commands))
        return corrupt_record("tick " + std::to_string(record.tick) + ": " + wrong);
    if (!reader.at_end()) return corrupt_record("bytes follow the last command of a tick record");
    return Ok{};
}

Result<Ok> decode(std::span<const std::uint8_t> payload, KeyframeRecord& record, std::uint16_t format) {
    ByteReader reader(payload);
    record.tick = reader.u64();
    record.part = format > 1 ? reader.u32() : 0;
    record.parts = format > 1 ? reader.u32() : 1;
    if (!reader.ok()) return corrupt_record("a keyframe record is cut off");
    record.state = reader.bytes(reader.remaining());
    if (record.parts < 1 || record.parts > kMaxKeyframeParts || record.part >= record.parts)
        return corrupt_record("a keyframe record has a part that cannot be");
    const bool last = record.part + 1 == record.parts;
    if (last ? record.parts > 1 && record.state.empty() : record.state.size() != kKeyframePartBytes)
        return corrupt_record("a part of a keyframe is not full, or the last one is empty");
    return Ok{};
}

Result<Ok> decode(std::span<const std::uint8_t> payload, EndRecord& record) {
    ByteReader reader(payload);
    record.ticks = reader.u64();
    const auto head = reader.bytes(kChainBytes);
    if (!reader.at_end()) return corrupt_record("the end record has the wrong length");
    std::copy(head.begin(), head.end(), record.head.begin());
    return Ok{};
}

}  // namespace orrery::protocol::replay
