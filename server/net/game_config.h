// What GameServerConfig says, parsed and checked.
#pragma once

#include <vector>

#include "orrery/server.hpp"

namespace orrery::server {

Error config_error(std::string field, std::string message);  // of the code invalid_argument

Result<protocol::Address> bind_address(const GameServerConfig& config);
Result<std::vector<protocol::Address>> named_addresses(const GameServerConfig& config);  // public_addresses

}  // namespace orrery::server
