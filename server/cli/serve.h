// `orrery serve`: one room on real sockets, recorded.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The first argument is the one after `serve`. Serves until SIGINT or SIGTERM, and gives the exit code.
int serve_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
