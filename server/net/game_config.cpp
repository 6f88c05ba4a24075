#include "server/net/game_config.h"

#include "server/net/access.h"
#include "server/net/web_setup.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

using protocol::Address;

Error config_error(std::string field, std::string message) {
    return Error{ErrorCode::invalid_argument, std::move(field), std::move(message)};
}

Error coded(ErrorCode code, Error error) {
    error.code = code;
    return error;
}

Error input_error(Error error) {
    if (error.code == ErrorCode::io) error.code = ErrorCode::not_found;
    return error;
}

namespace {

Result<Address> parse_bind(const char* field, const std::string& bind, std::uint16_t port) {
    const bool ipv6 = bind.find(':') != std::string::npos;
    Result<Address> address = Address::parse((ipv6 ? "[" + bind + "]" : bind) + ":" + std::to_string(port));
    if (!address) return config_error(field, address.error().to_string());
    return address;
}

// The port that is named, else the usual one, or a free one where that of UDP is free.
std::uint16_t port_of(const GameServerConfig& config, const std::optional<std::uint16_t>& named, std::uint16_t usual) {
    return named.value_or(config.port == 0 ? std::uint16_t{0} : usual);
}

}  // namespace

Result<Address> bind_address(const GameServerConfig& config) {
    return parse_bind("bind (--bind)", config.bind, config.port);
}

Result<Address> control_bind(const GameServerConfig& config) {
    return parse_bind("control_bind (--control-bind)", config.control_bind,
                      port_of(config, config.control_port, kDefaultControlPort));
}

Result<Address> health_bind(const GameServerConfig& config) {
    return parse_bind("health_bind (--health-bind)", config.health_bind,
                      port_of(config, config.health_port, kDefaultHealthPort));
}

std::vector<Address> token_addresses(const GameServerConfig& config, const Address& local) {
    std::vector<Address> addresses = reachable_addresses(local);
    // The user's own addresses come before guesses where a token's list is full.
    const Result<std::vector<Address>> named = named_addresses(config);
    for (const Address& address : *named) addresses.insert(addresses.begin() + 1, address);
    if (addresses.size() > protocol::kMaxServersPerToken) addresses.resize(protocol::kMaxServersPerToken);
    return addresses;
}

Result<std::vector<Address>> named_addresses(const GameServerConfig& config) {
    std::vector<Address> addresses;
    for (std::size_t i = 0; i < config.public_addresses.size(); ++i) {
        const std::string place = "public_addresses[" + std::to_string(i) + "] (--public)";
        const Result<Address> address = Address::parse(config.public_addresses[i]);
        if (!address) return config_error(place, address.error().to_string());
        if (address->port == 0)
            return config_error(place, config.public_addresses[i] + ": name the port that clients send to, not 0");
        addresses.push_back(*address);
    }
    return addresses;
}

namespace {

Result<Ok> check_access(const GameServerConfig& config, const Address& bind) {
    if (config.allow_mirror && !config.serve_scene)
        return config_error(
            "allow_mirror (--allow-mirror)",
            "a mirror needs the scene and shows all of the room: leave serve_scene on, or allow_mirror off");
    if (config.insecure_public && !config.insecure)
        return config_error("insecure_public (--insecure-public)", "also needs insecure (--insecure)");
    if (config.insecure && !config.key_file.empty())
        return config_error("insecure (--insecure)", "excludes key_file (--key-file): set one of them");
    if (!bind.is_loopback() && config.key_file.empty() && !config.insecure_public) {
        return config_error(
            "bind " + config.bind,
            config.insecure
                ? "insecure on an address that other machines reach also needs insecure_public (--insecure-public)"
                : "an address that other machines reach needs key_file (--key-file; see orrery token)");
    }
    if (config.record.empty() && !config.sign_key.empty())
        return config_error("sign_key (--sign-key)", "signs the recording: name its folder in record");
    if (config.record.empty() && config.key_file.empty() && !config.insecure)
        return config_error("record (--record)",
                            "without this folder no token is written: name it, or set key_file or insecure");
    return Ok{};
}

Result<Ok> check_operators(const GameServerConfig& config) {
    const Result<Address> control = control_bind(config), health = health_bind(config);
    if (!control) return control.error();
    if (!health) return health.error();
    if (config.control && config.control_keys.empty() && !control->is_loopback())
        return config_error("control_bind " + config.control_bind,
                            "an address that other machines reach needs control_keys (--control-keys)");
    if (config.control && config.control_keys.empty() && config.record.empty())
        return config_error("record (--record)",
                            "without this folder no key of the control API is written: name it, or set control_keys "
                            "(--control-keys), or leave the control API out (--no-control)");
    if (!(config.drain_s >= 0.0 && config.drain_s <= kMaxDrain_s))
        return config_error("drain_s (--drain-s)", "is not from 0 to 86400 s (kMaxDrain_s)");
    return Ok{};
}

Result<Ok> check_network(const GameServerConfig& config) {
    const Result<Address> bind = bind_address(config);
    if (!bind) return bind.error();
    const Result<std::vector<Address>> named = named_addresses(config);
    if (!named) return named.error();
    if (config.max_clients < 1 || config.max_clients > protocol::kMaxNetcodeClients)
        return config_error("max_clients (--max-clients)", std::to_string(config.max_clients) + " is not from 1 to " +
                                                               std::to_string(protocol::kMaxNetcodeClients));
    if (const Result<Ok> web = check_web(config); !web) return web.error();
    if (const Result<Ok> operators = check_operators(config); !operators) return operators.error();
    return check_access(config, *bind);
}

}  // namespace

Result<Ok> check(const GameServerConfig& config) {
    if (!config.resume.empty()) {
        if (!config.scene.empty() || config.shared_scene || config.tick_rate_hz)
            return config_error("resume (--resume)", "has the scene and its tick rate: name neither");
    } else if (config.scene.empty() == !config.shared_scene.has_value()) {
        return config_error("scene", "name a file or give shared_scene: one of them");
    }
    if (config.shared_scene && !config.shared_scene->definition)
        return config_error("shared_scene", "has no definition: make it by protocol::share_scene");
    if (config.tick_rate_hz) {
        const float rate = *config.tick_rate_hz;
        if (config.shared_scene)
            return config_error("tick_rate_hz", "is for a scene file: load shared_scene with that rate");
        if (!(rate >= 1.0f && rate <= protocol::kMaxTickRate_hz))
            return config_error("tick_rate_hz (--tick-rate)", "is not from 1 to 1000 Hz (kMaxTickRate_hz)");
    }
    if (config.threads < 1 || config.threads > kMaxThreads)
        return config_error("threads (--threads)", std::to_string(config.threads) + " is not from 1 to " +
                                                       std::to_string(kMaxThreads) + " (kMaxThreads)");
    if (config.jacobi != "auto" && config.jacobi != "cpu" && config.jacobi != "cuda")
        return config_error("jacobi (--jacobi)", "\"" + config.jacobi + "\" is not auto, cpu or cuda");
    if (!(config.hold_seat_s >= 0.0 && config.hold_seat_s <= kMaxHoldSeat_s))
        return config_error("hold_seat_s (--hold-seat-s)", "is not from 0 to 3600 s (kMaxHoldSeat_s)");
    if (!(config.events.least_hit_impulse >= 0.0f))
        return config_error("events.least_hit_impulse (--hit-impulse)", "is not 0 N s or more");
    if (!(config.status_every_s >= 0.0 && config.status_every_s <= kMaxStatusEvery_s))
        return config_error("status_every_s (--status-every-s)", "is not from 0 to 3600 s (kMaxStatusEvery_s)");
    if (config.rules.size() > protocol::replay::kMaxValueBytes ||
        config.rules_version.size() > protocol::replay::kMaxValueBytes)
        return config_error("rules, rules_version", "have more than 1024 bytes (kMaxValueBytes)");
    return config.clock == GameClock::wall ? check_network(config) : Ok{};
}

}  // namespace orrery::server
