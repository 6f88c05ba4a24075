// The messages of mirror mode. A client that mirrors a room gets the state of its world once, then the commands of each
// tick, and steps a world of its own with them. These messages are coded by hand, because most ticks have no commands
// and the smallest message is then what counts.
//
// All numbers are little endian; a varint is that of byte_io.h. After the type byte (MessageType):
//
//   mirror_begin   tick varint | size varint                    the state after `tick` follows in parts
//   mirror_part    bytes to the end                             of World::save(), in order
//   mirror_ticks   first tick varint | groups to the end        ticks that a datagram has no room for
//   mirror_leaves  tick varint | leaves u64 each                or the tick alone: the server has forgotten them
//   mirror_report  tick varint                                  of the client, reliable: its world is another at `tick`
//   tick_commands  tick u16 | root u64 | groups to the end      unreliable, after each tick
//
// A *group* is one byte, and what it says:
//
//   1 to 64        so many ticks without commands
//   0x80           one tick with commands: count varint (at least 1) | commands (command_code.h) in canonical order
//   0x81           input_tick varint | slack varint, zigzag, us | late inputs varint     no tick; see Snapshot
//
// The last tick of the groups of tick_commands is the one before its number's end: `tick` has the low 16 bits of the
// newest tick, `root` is that tick's root hash, and the groups hold the ticks up to it. So a tick without commands, all
// of whose predecessors were acknowledged, takes 12 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/netcode/crypto.h"
#include "protocol/replay/byte_io.h"
#include "protocol/session/messages.h"

namespace orrery::protocol {

inline constexpr std::uint32_t kMirrorWindowTicks = 64;            // that a datagram repeats at most
inline constexpr std::size_t kMaxMirrorStateBytes = 15u << 20;     // within what the stream's queue takes
inline constexpr std::size_t kMirrorPartBytes = 16u << 10;         // other messages do not wait long behind one
inline constexpr std::size_t kMirrorTicksBytes = 32u << 10;        // of one mirror_ticks; one tick may take more
inline constexpr std::size_t kMaxMirrorTicksBytes = 16'000'000;    // below the longest message of the stream
inline constexpr std::uint32_t kMaxMirrorTicksPerMessage = 1'024;  // of one mirror_ticks

// How this client's controls reach the server, as in Snapshot.
struct InputFeedback {
    std::uint64_t input_tick = 0;
    std::int32_t slack_us = 0;
    std::uint32_t late_inputs = 0;
    friend bool operator==(const InputFeedback&, const InputFeedback&) = default;
};

struct MirrorBegin {
    std::uint64_t tick = 0;
    std::uint32_t size = 0;
};

struct MirrorReport {
    std::uint64_t tick = 0;
};

struct MirrorLeaves {
    std::uint64_t tick = 0;
    std::optional<std::array<std::uint64_t, sim::kSubsystemCount>> leaves;
};

void write_message(const MirrorBegin& message, std::vector<std::uint8_t>& out);
void write_message(const MirrorReport& message, std::vector<std::uint8_t>& out);
void write_message(const MirrorLeaves& message, std::vector<std::uint8_t>& out);
// False: not a well-formed message of that type within its limits.
bool read_message(Bytes message, MirrorBegin& out);
bool read_message(Bytes message, MirrorReport& out);
bool read_message(Bytes message, MirrorLeaves& out);

// The commands of one tick as the group's bytes behind its first one; empty for a tick without commands.
void encode_commands(std::span<const sim::Command> commands, std::vector<std::uint8_t>& out);
// The inverse, of bytes that read_groups has accepted.
void decode_commands(Bytes coded, std::vector<sim::Command>& out);

// Appends groups. Ticks without commands that follow each other become one group.
class GroupWriter {
  public:
    explicit GroupWriter(std::vector<std::uint8_t>& out) : out_(out) {}
    void tick(Bytes coded);  // of encode_commands
    void feedback(const InputFeedback& feedback);
    // What the next tick adds.
    std::size_t size_of(Bytes coded) const;

  private:
    std::vector<std::uint8_t>& out_;
    std::size_t run_at_ = 0;  // of the run that the next empty tick lengthens; 0: there is none
};

// What groups hold. `ticks` are views into the message: of encode_commands, one for each tick.
struct Groups {
    std::vector<Bytes> ticks;
    std::optional<InputFeedback> feedback;
};
// False: not well formed, or more than `most` ticks.
bool read_groups(Bytes coded, std::size_t most, Groups& out);

struct TickCommandsHead {
    std::uint16_t tick = 0;
    std::uint64_t root = 0;
};
inline constexpr std::size_t kTickCommandsHeadBytes = 11;  // with the type
void write_head(const TickCommandsHead& head, std::vector<std::uint8_t>& out);
bool read_message(Bytes message, TickCommandsHead& head, Groups& out);
void write_mirror_ticks_head(std::uint64_t first, std::vector<std::uint8_t>& out);
bool read_mirror_ticks(Bytes message, std::uint64_t& first, Groups& out);

}  // namespace orrery::protocol
