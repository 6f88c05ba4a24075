// The records that the chunks of a replay hold. Those of ancillary chunks are in ancillary.h.
//
//   FILE_HEADER  engine version u32 | scene hash u64 | tick rate Hz f32 | leaves u8 | start, Unix s u64 |
//                run id (16) | first tick u64 | parent's run id (16) | parent's chain (32) |
//                scene name | room | count u8 | so many times key, value | scene bytes to the end
//   TICK         tick u64 | epoch slip ns varint | leaves u64 each | root u64 | count varint | commands
//   TICKS        first tick u64 | count u8 | so many times: slip, root, count, commands, as in TICK |
//                leaves u64 each, of the last tick
//   KEYFRAME     tick u64 | part u32 | parts u32 | World::save() bytes to the end
//   END          ticks u64 | chain of the chunk before (32)
//
// command_code.h has the form of commands.
// Format 1: FILE_HEADER has the fields up to the start, the names and the scene; KEYFRAME has the tick and the bytes.
//
// A tick record has the number of the tick that its step reached; the first is 1. That step applied its commands. Its
// hash tree is that of the state after the step. A keyframe has the tick of the record before it. END has the number of
// the last tick.
//
// A recording that was cut begins behind a later tick, the first tick of its header: its first record is the keyframe
// of that tick. It names the recording that it was cut from, or that it goes on from, as its parent.
//
// A state of more than kKeyframePartBytes is in several KEYFRAME chunks, one after the other. All but the last are
// full.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/format.h"
#include "sim/base/result.h"

namespace orrery::protocol::replay {

inline constexpr std::size_t kMaxPairs = 64;                            // of a file header
inline constexpr std::size_t kMaxKeyBytes = 64;                         // and at least 1
inline constexpr std::size_t kMaxValueBytes = 1024;                     // of a pair
inline constexpr std::uint64_t kMaxFirstTick = std::uint64_t{1} << 62;  // no tick's number is near its largest value
inline constexpr std::size_t kKeyframePartBytes = kMaxPayloadBytes - 16;

using RunId = std::array<std::uint8_t, 16>;

// The recording that this one was cut or continued from, up to the chunk with this chain hash. Zeros: none.
struct Parent {
    RunId run{};
    Chain chain{};
};

struct KeyValue {
    std::string key, value;
};

struct FileHeader {
    std::uint32_t engine_version = sim::kEngineVersion;
    std::uint64_t scene_hash = 0;
    float tick_rate_hz = 60.0f;
    std::uint8_t leaves = sim::kSubsystemCount;
    std::uint64_t start_unix_s = 0;  // UTC
    RunId run{};                     // random; format 1: zeros
    std::uint64_t first_tick = 0;    // of the state that it begins with; above 0: it was cut
    Parent parent;
    std::string scene_name;  // at most kMaxTextBytes, as is the room
    std::string room;
    std::vector<KeyValue> about;      // of the recorder: keys in strictly ascending order (sort_pairs)
    std::vector<std::uint8_t> scene;  // the effective scene in its binary form
};

struct TickRecord {
    std::uint64_t tick = 0;
    std::uint64_t slip_ns = 0;             // slip of the room's time grid before this tick; no part of the state
    sim::HashTree hash{};                  // without `has_leaves` the root alone
    bool has_leaves = true;                // false: of TICKS, not the last one
    std::vector<sim::Command> commands{};  // in canonical order
};

struct KeyframeRecord {
    std::uint64_t tick = 0;
    std::uint32_t part = 0, parts = 1;
    std::span<const std::uint8_t> state{};  // of this part; views the chunk
};

struct EndRecord {
    std::uint64_t ticks = 0;
    Chain head{};
};

// What a payload says wrongly; the caller adds the place.
inline Error corrupt_record(std::string message) { return Error{ErrorCode::corrupt, "", std::move(message)}; }

// Sorts pairs by their keys.
void sort_pairs(std::vector<KeyValue>& pairs);
// Null if a header may have them: few and short enough, in order, no key twice. Otherwise what is wrong.
const char* fault_of(std::span<const KeyValue> pairs);

// Each appends to `out`, in the form of kFormatVersion.
void encode(const FileHeader& record, std::vector<std::uint8_t>& out);
void encode(const TickRecord& record, std::vector<std::uint8_t>& out);
void encode(const KeyframeRecord& record, std::vector<std::uint8_t>& out);
void encode(const EndRecord& record, std::vector<std::uint8_t>& out);

// Each decodes the whole payload, in exactly the form that encode() gives, or had in an older format. The message of an
// error says what is wrong; the caller adds the place.
Result<Ok> decode(std::span<const std::uint8_t> payload, FileHeader& record, std::uint16_t format = kFormatVersion);
Result<Ok> decode(std::span<const std::uint8_t> payload, TickRecord& record);
Result<Ok> decode(std::span<const std::uint8_t> payload, KeyframeRecord& record, std::uint16_t format = kFormatVersion);
Result<Ok> decode(std::span<const std::uint8_t> payload, EndRecord& record);

}  // namespace orrery::protocol::replay
