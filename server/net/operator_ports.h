// The ports of a process that are for operators: the control API and health.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orrery/server.hpp"
#include "server/control/rooms.h"

namespace orrery::server {

class OperatorPorts {
  public:
    OperatorPorts();
    ~OperatorPorts();

    // Opens those that the configuration asks for. `rooms` outlives them. Errors: io, a port is not available or the
    // key cannot be written; not_found and parse: the file of keys.
    Result<Ok> start(const GameServerConfig& config, Rooms& rooms);
    void stop();

    std::vector<std::pair<std::string, protocol::Address>> addresses() const;  // "control" and "health"

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace orrery::server
