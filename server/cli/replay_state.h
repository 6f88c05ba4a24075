// `orrery replay state`: every field of a recorded world at a tick, by name.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The subcommand: `arguments[0]` is the first after `state`. Prints, and gives the exit code.
int state_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
