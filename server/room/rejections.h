// The number of rejected commands of a step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "orrery/sim.hpp"

namespace orrery::server {

inline std::uint64_t count_rejected(std::span<const sim::Event> events) {
    const auto rejected = [](const sim::Event& event) { return event.kind == sim::EventKind::command_rejected; };
    return static_cast<std::uint64_t>(std::count_if(events.begin(), events.end(), rejected));
}

}  // namespace orrery::server
