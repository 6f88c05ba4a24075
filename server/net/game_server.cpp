#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "orrery/server.hpp"
#include "protocol/replay/recorded.h"
#include "protocol/session/handshake.h"
#include "server/base/exit_code.h"
#include "server/base/json_line.h"
#include "server/base/key_file.h"
#include "server/base/scene_file.h"
#include "server/net/fact_line.h"
#include "server/net/game_config.h"
#include "server/net/hosted_room.h"
#include "server/net/line_output.h"
#include "server/net/operator_ports.h"
#include "server/net/room_list.h"
#include "server/net/serve_program.h"
#include "server/net/web_setup.h"
#include "server/room/resumption.h"
#include "server/room/thread_pool.h"
#include "sim/rigs/rigs.h"

namespace orrery::server {

using protocol::Address;

namespace {

std::string connect_command(const GameServerConfig& config, const Address& local, const std::string& token_path) {
    if (config.insecure) return "orrery_drive --server " + reachable_addresses(local)[0].to_string();
    if (!token_path.empty()) return "orrery_drive --token " + token_path;
    return "orrery token --key-file " + config.key_file + " --server " + reachable_addresses(local)[0].to_string() +
           " --client-id 1 --out connect.token && orrery_drive --token connect.token";
}

// The first lines: where it listens, and how to get in.
void announce(const GameServerConfig& config, const protocol::SharedScene& scene, const Address* local,
              const std::optional<Address>& http, const OperatorPorts& operators, const std::string& replay,
              const std::string& token_path) {
    FactLine first(local ? "listening" : "running clock=virtual", config.json);
    if (local) first.text("udp", local->to_string());
    if (http) first.text("http", http->to_string());
    for (const auto& [name, address] : operators.addresses()) first.text(name, address.to_string());
    first.text("scene", scene.name).number("tick_hz", double{scene.definition->def().tick_rate_hz});
    std::fputs(first.text("replay", replay).str().c_str(), stdout);
    if (local) {
        const std::string connect = connect_command(config, *local, token_path);
        if (config.json)
            std::printf("%s\n", JsonLine().text("connect", connect).str().c_str());
        else
            std::printf("connect: %s\n", connect.c_str());
    }
    std::fflush(stdout);
}

}  // namespace

// In the order in which they are made; destroyed in the opposite one.
struct GameServer::State {
    ~State() {
        if (network) network->drop_calls();
    }

    GameServerConfig config;
    protocol::SystemRandom random;
    std::optional<ThreadPool> pool;
    std::unique_ptr<NetworkThread> network;  // null: the virtual clock
    std::shared_ptr<HostedRoom> room;
    std::unique_ptr<RoomList> rooms;
    OperatorPorts operators;
    bool ran = false;

    Result<protocol::Key> make_key() {
        if (config.clock == GameClock::virtual_time || config.key_file.empty()) return random.next_key();
        return read_key_file(config.key_file);
    }

    Result<protocol::SharedScene> load(std::unique_ptr<Resumption>& resumption) {
        if (!config.resume.empty()) {
            Result<std::unique_ptr<Resumption>> opened = Resumption::open(system_files(), config.resume);
            if (!opened) return opened.error();
            resumption = std::move(opened).value();
            config.room = resumption->seen().header.room;
            return recorded_scene(*resumption, config.max_bodies);
        }
        if (config.shared_scene) return *config.shared_scene;
        protocol::SceneOverrides overrides;
        overrides.tick_rate_hz = config.tick_rate_hz;
        protocol::SceneCaps caps;
        caps.max_bodies = config.max_bodies;
        Result<protocol::LoadedScene> loaded = load_scene_file(config.scene, overrides, caps);
        if (!loaded) return loaded.error();
        return share_scene_file(std::move(loaded).value(), config.scene);
    }

    Result<Ok> serve_web(const protocol::Key& key, const Address& token_address, const protocol::SharedScene& scene) {
        Result<WebConfig> web = web_config(config, *bind_address(config), key, token_address, &scene);
        if (!web) return web.error();
        const Result<Ok> serving = network->serve_web(std::move(web).value());
        if (!serving) return coded(ErrorCode::io, serving.error());
        return Ok{};
    }

    // A start that fails leaves no recording without a tick behind.
    Error fail(Error error) {
        std::error_code ignored;
        if (!room->replay().empty() && config.resume.empty()) std::filesystem::remove(room->replay(), ignored);
        return error;
    }

    // The first signal begins the drain, the second one ends the server, the third one the process.
    void drain_at_signal() {
        network->on_signal([this](int count) {
            if (count == 1 && config.drain_s > 0.0) {
                rooms->drain_all(config.drain_s, "the server is being stopped");
                return true;
            }
            network->end_waits();
            return false;
        });
    }
};

GameServer::GameServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
GameServer::~GameServer() = default;

Result<std::unique_ptr<GameServer>> GameServer::create(const GameServerConfig& config,
                                                       const DirectorFactory& make_director) {
    const Result<Ok> good = check(config);
    if (!good) return good.error();
    auto state = std::make_unique<State>();
    state->config = config;
    std::unique_ptr<GameServer> server(new GameServer(std::move(state)));
    const Result<Ok> started = server->start(make_director);
    if (!started) return started.error();
    return server;
}

Result<Ok> GameServer::start(const DirectorFactory& make_director) {
    State& s = *state_;
    const Result<protocol::Key> key = s.make_key();
    if (!key) return input_error(key.error());
    std::unique_ptr<Resumption> resumption;
    const Result<protocol::SharedScene> scene = s.load(resumption);
    if (!scene) return input_error(scene.error());
    s.config.shared_scene.reset();  // the world has what it needs of it

    RoomPlace place;
    place.key = *key;
    place.addresses = {Address::ipv4(127, 0, 0, 1, 1)};  // the virtual clock: nobody gets a token
    Address local, token_address;
    if (s.config.clock == GameClock::wall) {
        Result<std::unique_ptr<NetworkThread>> network = NetworkThread::start(*bind_address(s.config));
        if (!network) return coded(ErrorCode::io, network.error());
        s.network = std::move(network).value();
        if (const Result<Ok> asked = ask_fleet(s.config, *s.network); !asked) return asked.error();
        local = s.network->local_address();
        place.addresses = token_addresses(s.config, local);
        token_address = reachable_addresses(local)[0];  // of a client on this machine
        place.wake = [network = s.network.get()] { network->end_waits(); };
    }
    place.network = s.network.get();
    if (s.config.threads > 1) s.pool.emplace(s.config.threads);
    place.executor = s.pool ? &*s.pool : nullptr;
    Result<std::unique_ptr<HostedRoom>> room =
        HostedRoom::create(s.config, *scene, std::move(place), {}, 0.0, make_director, std::move(resumption));
    if (!room) return room.error();
    s.room = std::move(room).value();
    if (s.network && s.config.http) {
        const Result<Ok> serving = s.serve_web(*key, token_address, *scene);
        if (!serving) return s.fail(serving.error());
    }
    std::string token_path;
    if (s.network && s.config.key_file.empty() && !s.config.record.empty()) {
        TokenFile file((std::filesystem::path(s.config.record) / "connect.token").string(), *key, token_address);
        const Result<Ok> written = file.renew(static_cast<std::uint64_t>(std::time(nullptr)));
        if (!written) return s.fail(coded(ErrorCode::io, written.error()));
        token_path = file.path();
        s.room->host().set_token_file(std::move(file));
    }
    RoomListSettings list;
    list.recordings = s.config.record;
    list.max_clients = s.config.max_clients;
    list.network = s.network.get();
    s.rooms = std::make_unique<RoomList>(list);
    s.rooms->add(s.room);
    if (s.network) {
        s.drain_at_signal();
        const Result<Ok> operators = s.operators.start(s.config, *s.rooms);
        if (!operators) return s.fail(operators.error());
    }
    if (s.config.print)
        announce(s.config, *scene, s.network ? &local : nullptr, http_address(), s.operators, s.room->replay(),
                 token_path);
    if (sim::may_have_rigs(scene->definition->def())) spdlog::info("large rigs: {}", s.room->rigs().text);
    return Ok{};
}

Result<GameServerEnd> GameServer::run() {
    State& s = *state_;
    if (s.ran) return config_error("GameServer::run", "has been called before: make another server");
    s.ran = true;
    const Result<Ok> closed = s.room->host().run(s.network.get());
    s.operators.stop();
    if (!closed) return coded(ErrorCode::io, closed.error());
    if (s.room->room().halted()) return *s.room->room().halted();
    GameServerEnd end;
    end.tick = s.room->room().stats().tick;
    if (const std::optional<std::string> reason = s.room->stop().reason()) {
        end.cause = StopCause::requested;
        end.reason = *reason;
    } else if (s.config.stop_at_tick != 0 && end.tick >= s.config.stop_at_tick) {
        end.cause = StopCause::tick_limit;
    }
    return end;
}

void GameServer::request_stop(std::string reason) { state_->room->request_stop(std::move(reason)); }

std::optional<Address> GameServer::address() const {
    if (!state_->network) return std::nullopt;
    return state_->network->local_address();
}

std::optional<Address> GameServer::http_address() const {
    if (!state_->network) return std::nullopt;
    return state_->network->web_address();
}

const std::string& GameServer::replay() const { return state_->room->replay(); }

int GameServer::exit_code(const Error& error) {
    return error.code == ErrorCode::io || error.code == ErrorCode::unsupported_target ? kExitMachine : kExitInput;
}

void prepare_process() {
    forbid_core_files();
    std::signal(SIGPIPE, SIG_IGN);  // a reader of stdout may leave; the room goes on
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on file size is met like a full disk
    log_without_waiting();
}

int serve(const GameServerConfig& config, const DirectorFactory& make_director) {
    return serve_program<GameServer>(config, make_director, [](const GameServerEnd&) { return kExitGood; });
}

}  // namespace orrery::server
