// What RoomsServerConfig says, checked.
#pragma once

#include "orrery/rooms_server.hpp"

namespace orrery::server {

// Whether a process of these settings can have the room.
Result<Ok> check(const RoomWish& wish, const GameServerConfig& process);

}  // namespace orrery::server
