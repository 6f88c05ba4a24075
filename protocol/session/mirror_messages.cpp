#include "protocol/session/mirror_messages.h"

#include "protocol/replay/command_code.h"

namespace orrery::protocol {
namespace {

using replay::ByteReader;
using replay::ByteWriter;

constexpr std::uint8_t kCommandsGroup = 0x80, kFeedbackGroup = 0x81;

std::uint64_t to_zigzag(std::int32_t value) {
    return (static_cast<std::uint32_t>(value) << 1) ^ (value < 0 ? 0xffff'ffffu : 0u);
}
std::int32_t from_zigzag(std::uint64_t value) {
    const auto bits = static_cast<std::uint32_t>(value);
    return static_cast<std::int32_t>((bits >> 1) ^ ((bits & 1) != 0 ? 0xffff'ffffu : 0u));
}

ByteWriter begin(MessageType type, std::vector<std::uint8_t>& out) {
    out.push_back(static_cast<std::uint8_t>(type));
    return ByteWriter(out);
}

// Fails if the message is of another type.
ByteReader open(Bytes message, MessageType type) {
    ByteReader in(message);
    if (in.u8() != static_cast<std::uint8_t>(type)) in.fail();
    return in;
}

std::uint64_t read_tick(ByteReader& in) { return in.varint(kMaxTick - 1); }

// Of a tick with commands, behind the group's first byte. The view is empty after a fault.
Bytes read_commands(ByteReader& in, Bytes all) {
    const std::size_t from = all.size() - in.remaining();
    const std::uint64_t count = in.varint(sim::kMaxCommandsPerTick);
    if (count == 0 || count > in.remaining() / replay::kMinCommandBytes) in.fail();
    std::vector<sim::Command> pair(2);  // the last two, whose order is looked at
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        pair[0] = pair[1];
        if (replay::decode_command(in, pair[1]) != nullptr || (i > 0 && !replay::is_canonical(pair))) in.fail();
    }
    return in.ok() ? all.subspan(from, all.size() - in.remaining() - from) : Bytes();
}

}  // namespace

void write_message(const MirrorBegin& message, std::vector<std::uint8_t>& out) {
    ByteWriter writer = begin(MessageType::mirror_begin, out);
    writer.varint(message.tick);
    writer.varint(message.size);
}

void write_message(const MirrorReport& message, std::vector<std::uint8_t>& out) {
    begin(MessageType::mirror_report, out).varint(message.tick);
}

void write_message(const MirrorLeaves& message, std::vector<std::uint8_t>& out) {
    ByteWriter writer = begin(MessageType::mirror_leaves, out);
    writer.varint(message.tick);
    if (!message.leaves) return;
    for (const std::uint64_t leaf : *message.leaves) writer.u64(leaf);
}

bool read_message(Bytes message, MirrorBegin& out) {
    ByteReader in = open(message, MessageType::mirror_begin);
    out.tick = read_tick(in);
    out.size = static_cast<std::uint32_t>(in.varint(kMaxMirrorStateBytes));
    return in.at_end() && out.size > 0;
}

bool read_message(Bytes message, MirrorReport& out) {
    ByteReader in = open(message, MessageType::mirror_report);
    out.tick = read_tick(in);
    return in.at_end();
}

bool read_message(Bytes message, MirrorLeaves& out) {
    ByteReader in = open(message, MessageType::mirror_leaves);
    out.tick = read_tick(in);
    out.leaves.reset();
    if (in.remaining() > 0) {
        out.leaves.emplace();
        for (std::uint64_t& leaf : *out.leaves) leaf = in.u64();
    }
    return in.at_end();
}

void encode_commands(std::span<const sim::Command> commands, std::vector<std::uint8_t>& out) {
    if (commands.empty()) return;
    ByteWriter writer(out);
    writer.varint(commands.size());
    for (const sim::Command& command : commands) replay::encode_command(command, writer);
}

void decode_commands(Bytes coded, std::vector<sim::Command>& out) {
    out.clear();
    if (coded.empty()) return;
    ByteReader in(coded);
    const std::uint64_t count = in.varint(sim::kMaxCommandsPerTick);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (replay::decode_command(in, out.emplace_back()) != nullptr) return;
    }
}

void GroupWriter::tick(Bytes coded) {
    if (!coded.empty()) {
        out_.push_back(kCommandsGroup);
        out_.insert(out_.end(), coded.begin(), coded.end());
        run_at_ = 0;
    } else if (run_at_ != 0 && out_[run_at_] < kMirrorWindowTicks) {
        ++out_[run_at_];
    } else {
        run_at_ = out_.size();
        out_.push_back(1);
    }
}

void GroupWriter::feedback(const InputFeedback& feedback) {
    ByteWriter writer(out_);
    writer.u8(kFeedbackGroup);
    writer.varint(feedback.input_tick);
    writer.varint(to_zigzag(feedback.slack_us));
    writer.varint(feedback.late_inputs);
    run_at_ = 0;
}

std::size_t GroupWriter::size_of(Bytes coded) const {
    if (!coded.empty()) return 1 + coded.size();
    return run_at_ != 0 && out_[run_at_] < kMirrorWindowTicks ? 0 : 1;
}

bool read_groups(Bytes coded, std::size_t most, Groups& out) {
    out.ticks.clear();
    out.feedback.reset();
    ByteReader in(coded);
    while (in.ok() && in.remaining() > 0) {
        const std::uint8_t group = in.u8();
        if (group >= 1 && group <= kMirrorWindowTicks) {
            out.ticks.resize(out.ticks.size() + group);
        } else if (group == kCommandsGroup) {
            out.ticks.push_back(read_commands(in, coded));
        } else if (group == kFeedbackGroup && !out.feedback) {
            InputFeedback& feedback = out.feedback.emplace();
            feedback.input_tick = read_tick(in);
            feedback.slack_us = from_zigzag(in.varint(0xffff'ffffu));
            feedback.late_inputs = static_cast<std::uint32_t>(in.varint(0xffff'ffffu));
        } else {
            in.fail();
        }
        if (out.ticks.size() > most) in.fail();
    }
    return in.ok();
}

void write_head(const TickCommandsHead& head, std::vector<std::uint8_t>& out) {
    ByteWriter writer = begin(MessageType::tick_commands, out);
    writer.u16(head.tick);
    writer.u64(head.root);
}

bool read_message(Bytes message, TickCommandsHead& head, Groups& out) {
    ByteReader in = open(message, MessageType::tick_commands);
    head.tick = in.u16();
    head.root = in.u64();
    return in.ok() && read_groups(message.last(in.remaining()), kMirrorWindowTicks, out);
}

void write_mirror_ticks_head(std::uint64_t first, std::vector<std::uint8_t>& out) {
    begin(MessageType::mirror_ticks, out).varint(first);
}

bool read_mirror_ticks(Bytes message, std::uint64_t& first, Groups& out) {
    ByteReader in = open(message, MessageType::mirror_ticks);
    first = read_tick(in);
    return in.ok() && read_groups(message.last(in.remaining()), kMaxMirrorTicksPerMessage, out) && !out.ticks.empty() &&
           first + out.ticks.size() < kMaxTick;
}

}  // namespace orrery::protocol
