// `orrery replay export`: the motion of a recording, for other programs.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The subcommand: `arguments[0]` is the first after `export`. Prints, and gives the exit code.
int export_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
