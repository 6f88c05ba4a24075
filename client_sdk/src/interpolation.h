// A body's motion at a moment between the states that are known of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "protocol/snapshot/quantise.h"
#include "protocol/snapshot/receiver.h"

namespace orrery::client {

// Beyond the newest snapshot a body goes on at its velocity for this long, then it stands.
inline constexpr double kMaxExtrapolationTicks = 6.0;

// `history`: states of one body index, ascending; those of another generation are passed over. `complete_ticks`: the
// ticks of snapshots that held all that had changed, ascending: where a body is not in one of them, its newest state
// before is also its state then. `newest_tick`: of any snapshot. Nothing if no state of that generation is known.
std::optional<protocol::Motion> motion_at(double tick, std::uint32_t generation,
                                          std::span<const protocol::BodySample> history,
                                          std::span<const std::uint64_t> complete_ticks, std::uint64_t newest_tick,
                                          double tick_rate_hz);

}  // namespace orrery::client
