#include "server/net/operator_ports.h"

#include <filesystem>

#include "protocol/netcode/crypto.h"
#include "server/base/build_info.h"
#include "server/control/agones.h"
#include "server/control/control_server.h"
#include "server/control/health_server.h"
#include "server/net/game_config.h"
#include "server/net/network_thread.h"

namespace orrery::server {

struct OperatorPorts::State {
    std::unique_ptr<ControlServer> control;
    std::unique_ptr<HealthServer> health;
    std::unique_ptr<AgonesAgent> fleet;
};

namespace {
constexpr double kFleetWithin_s = 60.0;
}

Result<Ok> ask_fleet(GameServerConfig& config, NetworkThread& network) {
    if (!config.agones || !config.public_addresses.empty()) return Ok{};
    const Result<AgonesConfig> agones = agones_config_from_environment();
    if (!agones) return agones.error();
    const Result<protocol::Address> address = agones_public_address(
        *agones, config.agones_port, kFleetWithin_s, [&] { return network.wait_until(NetworkThread::now()); });
    if (!address) return address.error();
    config.public_addresses.push_back(address->to_string());
    return Ok{};
}

OperatorPorts::OperatorPorts() : state_(std::make_unique<State>()) {}
OperatorPorts::~OperatorPorts() = default;

Result<Ok> OperatorPorts::start(const GameServerConfig& config, Rooms& rooms) {
    State& s = *state_;
    if (config.health) {
        HealthConfig health;
        health.bind = *health_bind(config);
        Result<std::unique_ptr<HealthServer>> started = HealthServer::start(health, rooms);
        if (!started) return started.error();
        s.health = std::move(started).value();
    }
    if (config.control) {
        ControlConfig control;
        control.bind = *control_bind(config);
        control.hosts = config.control_hosts;
        control.version = build_version();
        for (const protocol::replay::KeyValue& pair : about_build(config.target))
            if (pair.key == "commit") control.commit = pair.value;
        protocol::SystemRandom random;
        const bool own = config.control_keys.empty();
        const std::filesystem::path folder = config.record;
        std::error_code ignored;
        if (own) std::filesystem::create_directories(folder, ignored);
        Result<ControlKeys> keys = own ? ControlKeys::read_or_make((folder / "control.key").string(), random)
                                       : ControlKeys::read(config.control_keys);
        if (!keys) return own ? coded(ErrorCode::io, keys.error()) : input_error(keys.error());
        control.keys = std::move(keys).value();
        Result<std::unique_ptr<ControlServer>> started = ControlServer::start(std::move(control), rooms);
        if (!started) return started.error();
        s.control = std::move(started).value();
    }
    if (config.agones) {
        Result<AgonesConfig> agones = agones_config_from_environment();
        if (!agones) return agones.error();
        if (config.drain_s > 0.0) agones->drain_s = config.drain_s;
        s.fleet = AgonesAgent::start(*agones, rooms);
    }
    return Ok{};
}

void OperatorPorts::stop() {
    if (state_->fleet) state_->fleet->shut_down();
    state_->fleet.reset();
    state_->control.reset();
    state_->health.reset();
}

std::vector<std::pair<std::string, protocol::Address>> OperatorPorts::addresses() const {
    std::vector<std::pair<std::string, protocol::Address>> out;
    if (state_->control) out.emplace_back("control", state_->control->address());
    if (state_->health) out.emplace_back("health", state_->health->address());
    return out;
}

}  // namespace orrery::server
