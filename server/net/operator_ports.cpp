#include "server/net/operator_ports.h"

namespace orrery::server {

struct OperatorPorts::State {};

OperatorPorts::OperatorPorts() : state_(std::make_unique<State>()) {}
OperatorPorts::~OperatorPorts() = default;

Result<Ok> OperatorPorts::start(const GameServerConfig&, Rooms&) { return Ok{}; }

void OperatorPorts::stop() {}

std::vector<std::pair<std::string, protocol::Address>> OperatorPorts::addresses() const { return {}; }

}  // namespace orrery::server
