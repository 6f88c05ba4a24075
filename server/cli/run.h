// `orrery run`: simulates a scene headless.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The first argument is the one after `run`. Prints, and gives the exit code.
int run_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
