// `orrery token`: mints one connect token, as a game's backend would.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The first argument is the one after `token`. Writes the token, and gives the exit code.
int token_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
