// `orrery doctor`: prints what this build and this machine can do.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The first argument is the one after `doctor`. Prints, and gives the exit code.
int doctor_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
