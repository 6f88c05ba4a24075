// `orrery replay cut`: a part of a recording as a recording of its own.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The subcommand: `arguments[0]` is the first after `cut`. Prints, and gives the exit code.
int cut_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
