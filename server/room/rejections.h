// How many commands of a step were rejected.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "orrery/sim.hpp"

namespace orrery::server {

// Of World::events(), which stand in the order of their kinds.
inline std::uint64_t count_rejected(std::span<const sim::Event> events) {
    const auto range = std::ranges::equal_range(events, sim::EventKind::command_rejected, {}, &sim::Event::kind);
    return range.size();
}

}  // namespace orrery::server
