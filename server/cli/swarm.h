// `orrery swarm`: bots that join a server, drive, leave and come back, and what they saw.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The first argument is the one after `swarm`. Prints lines while the bots play, and gives the exit code.
int swarm_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
