// What GameServerConfig says, parsed and checked.
#pragma once

#include <vector>

#include "orrery/server.hpp"

namespace orrery::server {

class NetworkThread;

Error config_error(std::string field, std::string message);  // of the code invalid_argument
Error coded(ErrorCode code, Error error);                    // of the same words with another code
Error input_error(Error error);  // what the system does not let be read is, as an input, not there

void prepare_process();  // what serve() changes of it

// At which clients reach a server that is bound to `local`: those that the configuration names come first.
std::vector<protocol::Address> token_addresses(const GameServerConfig& config, const protocol::Address& local);
// Sets public_addresses by the fleet, where there is one and nobody has named them. May wait for its sidecar, until a
// signal comes.
Result<Ok> ask_fleet(GameServerConfig& config, NetworkThread& network);
// Of the control API and of the health port, with their ports.
Result<protocol::Address> control_bind(const GameServerConfig& config);
Result<protocol::Address> health_bind(const GameServerConfig& config);

Result<protocol::Address> bind_address(const GameServerConfig& config);
Result<std::vector<protocol::Address>> named_addresses(const GameServerConfig& config);  // public_addresses

}  // namespace orrery::server
