// `orrery replay info`: what a recording is, and who played, without simulating it.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The subcommand: `arguments[0]` is the first after `info`. Prints, and gives the exit code.
int info_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
