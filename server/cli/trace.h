// `orrery replay trace`: where bodies were in a recording, and what happened, by simulating it again.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The subcommand: `arguments[0]` is the first after `trace`. Prints, and gives the exit code: 1 if the simulation
// differs from the recording, and the trace then ends before that tick.
int trace_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
