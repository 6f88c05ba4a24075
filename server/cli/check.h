// `orrery check`: the errors of a scene and its probable mistakes.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The first argument is the one after `check`. Prints, and gives the exit code.
int check_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
