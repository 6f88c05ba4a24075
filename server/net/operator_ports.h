// What a process has for operators: the control API, the health port, and the client of a fleet's sidecar.
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

    // Opens what the configuration asks for. `rooms` outlives it. Errors: io, a port is not available or the key cannot
    // be written; not_found and parse: the file of keys, or of AGONES_SDK_HTTP_PORT.
    Result<Ok> start(const GameServerConfig& config, Rooms& rooms);
    // Tells the fleet that the process ends, and closes all.
    void stop();

    std::vector<std::pair<std::string, protocol::Address>> addresses() const;  // "control" and "health"

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace orrery::server
