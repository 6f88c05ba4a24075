// The chain hash of the chunks (format.h).
#pragma once

#include <cstdint>
#include <span>

#include "protocol/replay/format.h"

namespace orrery::protocol::replay {

using HeaderBytes = std::array<std::uint8_t, kHeaderBytes>;

void begin_chains();  // before the first next_chain()
Chain next_chain(const Chain& before, const HeaderBytes& header, std::span<const std::uint8_t> payload);

}  // namespace orrery::protocol::replay
