// Commands as bytes, without loss. A command is its kind (u8), a varint mask of the fields whose bits differ from
// Command's defaults, and those fields in the order of the mask. So a command takes few bytes, and no field is lost. A
// command has exactly one form: a stated field that equals its default, an unknown kind or mask bit, and an overlong
// number are errors. Floats keep every bit.
#pragma once

#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/byte_io.h"

namespace orrery::protocol::replay {

inline constexpr std::size_t kMinCommandBytes = 2;

void encode_command(const sim::Command& command, ByteWriter& out);

// Null if `out` was filled; otherwise the text of the error.
const char* decode_command(ByteReader& in, sim::Command& out);

// The commands of a tick: their number as varint, then each, in canonical order. Null: as of decode_command().
void encode_commands(std::span<const sim::Command> commands, ByteWriter& out);
const char* decode_commands(ByteReader& in, std::vector<sim::Command>& out);

// The order in which a tick applies commands: leaves and joins by slot, director commands by sequence, controls by
// slot. Equal keys keep the order given. Records store commands in this order.
void sort_canonically(std::vector<sim::Command>& commands);
bool is_canonical(std::span<const sim::Command> commands);

}  // namespace orrery::protocol::replay
