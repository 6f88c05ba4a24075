// The pairs of a server's recording.
#pragma once

#include <vector>

#include "orrery/server.hpp"
#include "protocol/replay/records.h"

namespace orrery::server {

// What a recording says of the program, the room and the host's rules.
std::vector<protocol::replay::KeyValue> about_recording(const GameServerConfig& config, float tick_rate_hz);

}  // namespace orrery::server
