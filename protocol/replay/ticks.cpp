#include "protocol/replay/ticks.h"

#include <limits>
#include <string>

#include "protocol/replay/command_code.h"

namespace orrery::protocol::replay {

namespace {

constexpr std::size_t kBytesBeside = 8 + 1 + 8 * sim::kSubsystemCount;  // first tick, count, leaves

}  // namespace

bool TicksEncoder::add(const TickRecord& record) {
    const std::size_t before = ticks_.size();
    ByteWriter writer(ticks_);
    writer.varint(record.slip_ns);
    writer.u64(record.hash.root);
    encode_commands(record.commands, writer);
    if (ticks_.size() + kBytesBeside > kMaxTickBytes) {
        ticks_.resize(before);
        return false;
    }
    if (count_ == 0) first_ = record.tick;
    ++count_;
    last_ = record.hash;
    return true;
}

void TicksEncoder::finish(std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(first_);
    writer.u8(static_cast<std::uint8_t>(count_));
    writer.bytes(ticks_);
    for (const std::uint64_t leaf : last_.leaves) writer.u64(leaf);
    count_ = 0;
    ticks_.clear();
}

Result<Ok> TicksDecoder::begin(std::span<const std::uint8_t> payload) {
    reader_ = ByteReader(payload);
    next_ = reader_.u64();
    const std::uint32_t count = reader_.u8();
    left_ = 0;
    if (!reader_.ok()) return corrupt_record("a record of ticks is cut off");
    if (count < 1 || count > kMaxTicksPerChunk || next_ > std::numeric_limits<std::uint64_t>::max() - count)
        return corrupt_record("a record of ticks has no tick, or too many");
    left_ = count;
    return Ok{};
}

Result<Ok> TicksDecoder::next(TickRecord& record) {
    record.tick = next_;
    record.slip_ns = reader_.varint();
    record.hash = {};
    record.hash.root = reader_.u64();
    if (const char* wrong = decode_commands(reader_, record.commands))
        return corrupt_record("tick " + std::to_string(record.tick) + ": " + wrong);
    record.has_leaves = left_ == 1;
    if (record.has_leaves) {
        for (std::uint64_t& leaf : record.hash.leaves) leaf = reader_.u64();
        if (!reader_.at_end()) return corrupt_record("a record of ticks is cut off, or bytes follow its last hash");
    }
    ++next_;
    --left_;
    return Ok{};
}

}  // namespace orrery::protocol::replay
