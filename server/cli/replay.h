// `orrery replay`: looks into a recording.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// `arguments[0]` names what to do: info, trace, state or cut. Prints, and gives the exit code.
int replay_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
