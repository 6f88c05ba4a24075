// `orrery check`: prints the errors and warnings of a scene.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The first argument is the one after `check`. Prints, and gives the exit code.
int check_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
