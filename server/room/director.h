// The game logic of a room.
#pragma once

#include <cstddef>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::server {

// Code of a host that links this library and gives orders to the world, beside the commands of players. Orders are
// recorded as all commands are, so that a replay is verified without the director. A director may query what a player
// saw: queries look back RoomConfig::history_ticks. All calls come from the thread that steps the room.
class Director {
  public:
    virtual ~Director() = default;

    // Is called before the step from world.tick() to the next tick. Appends commands to `orders`, which is empty. The
    // step applies them in that order. The room sets their `sequence`, and drops kinds for which sim::is_director_order
    // is false. world.events() has the events of the last step.
    virtual void on_tick(const sim::World& world, std::vector<sim::Command>& orders) = 0;
};

// Orders of a director in a tick: as many as leave room for the commands of all players. Further ones are dropped and
// counted, and the observer is told.
inline constexpr std::size_t kMaxOrdersPerTick = sim::kMaxCommandsPerTick - 3 * sim::kMaxSlots;

}  // namespace orrery::server
