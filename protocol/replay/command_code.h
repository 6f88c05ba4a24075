// Commands as bytes, exactly: kind u8, a varint mask of the fields whose bits differ from Command's defaults, then those
// fields in the mask's order. A kind uses few fields, so few are written; none is lost, whichever the world reads.
// There is one form for a command: a present field that equals its default, an unknown kind or mask bit, an overlong
// number are errors. Floats keep every bit.
#pragma once

#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/byte_io.h"

namespace orrery::protocol::replay {

inline constexpr std::size_t kMinCommandBytes = 2;

void encode_command(const sim::Command& command, ByteWriter& out);

// Null if `out` was filled, else what is wrong.
const char* decode_command(ByteReader& in, sim::Command& out);

// The order in which a tick applies commands: leaves and joins by slot, director commands by sequence, controls by slot;
// equal keys keep the order given. Records hold them so.
void sort_canonically(std::vector<sim::Command>& commands);
bool is_canonical(std::span<const sim::Command> commands);

}  // namespace orrery::protocol::replay
