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

    // Before the step from world.tick() to the next. What it appends to `orders` applies in that order, if
    // sim::is_director_order holds for its kind; `sequence` is the room's. What the last step answered stands in
    // world.events().
    virtual void on_tick(const sim::World& world, std::vector<sim::Command>& orders) = 0;
};

// A tick takes so many orders and still has room for its players; further ones, and commands that are not a director's
// to give, are dropped and counted, and the observer is told.
inline constexpr std::size_t kMaxOrdersPerTick = sim::kMaxCommandsPerTick - 3 * sim::kMaxSlots;

}  // namespace orrery::server
