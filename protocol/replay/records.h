// The records that the chunks of a replay hold.
//
//   FILE_HEADER  engine version u32 | scene hash u64 | tick rate Hz f32 | leaves u8 | start, Unix s u64 |
//                scene name | room | scene bytes to the end
//   TICK         tick u64 | epoch slip ns varint | leaves u64 each | root u64 | count varint | commands
//   (command_code.h) KEYFRAME     tick u64 | World::save() bytes to the end END          ticks u64 | chain of the chunk
//   before (32)
//
// A tick record has the number of the tick that its step reached; the first is 1. That step applied its commands. Its
// hash tree is that of the state after the step. A keyframe has the tick of the record before it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/format.h"
#include "sim/base/result.h"

namespace orrery::protocol::replay {

struct FileHeader {
    std::uint32_t engine_version = sim::kEngineVersion;
    std::uint64_t scene_hash = 0;
    float tick_rate_hz = 60.0f;
    std::uint8_t leaves = sim::kSubsystemCount;
    std::uint64_t start_unix_s = 0;  // UTC
    std::string scene_name;          // at most kMaxTextBytes, as is the room
    std::string room;
    std::vector<std::uint8_t> scene;  // the effective scene in its binary form
};

struct TickRecord {
    std::uint64_t tick = 0;
    std::uint64_t slip_ns = 0;  // slip of the room's time grid before this tick; no part of the state
    sim::HashTree hash;
    std::vector<sim::Command> commands;  // in canonical order
};

struct KeyframeRecord {
    std::uint64_t tick = 0;
    std::span<const std::uint8_t> state;  // views the chunk
};

struct EndRecord {
    std::uint64_t ticks = 0;
    Chain head{};
};

// Each appends to `out`.
void encode(const FileHeader& record, std::vector<std::uint8_t>& out);
void encode(const TickRecord& record, std::vector<std::uint8_t>& out);
void encode(const KeyframeRecord& record, std::vector<std::uint8_t>& out);
void encode(const EndRecord& record, std::vector<std::uint8_t>& out);

// Each decodes the whole payload, in exactly the form that encode() gives. The message of an error says what is wrong;
// the caller adds the place.
Result<Ok> decode(std::span<const std::uint8_t> payload, FileHeader& record);
Result<Ok> decode(std::span<const std::uint8_t> payload, TickRecord& record);
Result<Ok> decode(std::span<const std::uint8_t> payload, KeyframeRecord& record);
Result<Ok> decode(std::span<const std::uint8_t> payload, EndRecord& record);

}  // namespace orrery::protocol::replay
