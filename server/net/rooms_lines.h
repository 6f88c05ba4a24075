// What a server of many rooms prints on stdout.
#pragma once

#include <string>
#include <vector>

#include "server/control/rooms.h"

namespace orrery::server {

// Of a room with which the server begins. `replay`: path of its recording.
std::string room_line(const RoomView& room, const std::string& replay, bool json);

// Sums over all rooms; the times are those of the slowest. `before` has the totals of `seconds` ago.
std::string rooms_status(const HostView& host, const std::vector<RoomView>& rooms, const HostTotals& before,
                         double seconds, bool json);

}  // namespace orrery::server
