// What a room tells its clients of the events of a step, for sounds and effects.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "orrery/events.hpp"
#include "protocol/session/messages.h"

namespace orrery::protocol {

// Which events of the world clients are told. The default: none.
struct EventRule {
    float least_hit_impulse = std::numeric_limits<float>::infinity();  // hits of at least this impulse, N s
    bool sensors = false;                                              // begin and end
    bool joints = false;                                               // broken and created
    bool spawns = false;                                               // spawned and despawned
};

// Appends the events that `rule` lets pass, in their order.
void choose_world_events(std::span<const sim::Event> events, const EventRule& rule, std::vector<WorldEvent>& out);

// Leaves at most kMaxWorldEvents in their order: hits of the least impulse go first, then the last of the others.
// Returns how many went.
std::uint32_t drop_least_events(std::vector<WorldEvent>& events);

}  // namespace orrery::protocol
