// `orrery replay seek`: a recording at any of its ticks, and how long it takes to be there.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The subcommand: `arguments[0]` is the first after `seek`. Prints, and gives the exit code.
int seek_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
