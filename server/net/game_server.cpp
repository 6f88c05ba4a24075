#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "orrery/server.hpp"
#include "protocol/replay/recorded.h"
#include "protocol/session/handshake.h"
#include "server/base/build_info.h"
#include "server/base/exit_code.h"
#include "server/base/json_line.h"
#include "server/base/key_file.h"
#include "server/base/left_out.h"
#include "server/base/scene_file.h"
#include "server/base/signing_key.h"
#include "server/net/about_recording.h"
#include "server/net/game_config.h"
#include "server/net/hands.h"
#include "server/net/line_output.h"
#include "server/net/room_host.h"
#include "server/net/web_setup.h"
#include "server/room/resumption.h"
#include "server/room/rig_backend.h"
#include "server/room/thread_pool.h"
#include "sim/rigs/rigs.h"

namespace orrery::server {

using protocol::Address;

namespace {

// An error of the same words with another code.
Error coded(ErrorCode code, Error error) {
    error.code = code;
    return error;
}

// What the system does not let be read is, as an input, not there.
Error input_error(Error error) {
    if (error.code == ErrorCode::io) error.code = ErrorCode::not_found;
    return error;
}

protocol::NetcodeServerConfig netcode_config(const GameServerConfig& config, const protocol::Key& key,
                                             const Address& local) {
    protocol::NetcodeServerConfig netcode;
    netcode.protocol_id = protocol::kNetcodeProtocolId;
    netcode.private_key = key;
    netcode.max_clients = config.max_clients;
    if (config.clock == GameClock::virtual_time) {
        netcode.public_addresses = {Address::ipv4(127, 0, 0, 1, 1)};  // nobody gets a token
        return netcode;
    }
    netcode.public_addresses = reachable_addresses(local);
    // The user's own addresses come before guesses where a token's list is full.
    const Result<std::vector<Address>> named = named_addresses(config);
    for (const Address& address : *named)
        netcode.public_addresses.insert(netcode.public_addresses.begin() + 1, address);
    if (netcode.public_addresses.size() > protocol::kMaxServersPerToken)
        netcode.public_addresses.resize(protocol::kMaxServersPerToken);
    netcode.insecure = config.insecure;
    netcode.insecure_public = config.insecure_public;
    return netcode;
}

std::string connect_command(const GameServerConfig& config, const Address& local, const std::string& token_path) {
    if (config.insecure) return "orrery_drive --server " + reachable_addresses(local)[0].to_string();
    if (!token_path.empty()) return "orrery_drive --token " + token_path;
    return "orrery token --key-file " + config.key_file + " --server " + reachable_addresses(local)[0].to_string() +
           " --client-id 1 --out connect.token && orrery_drive --token connect.token";
}

// The first lines: where it listens, and how to get in.
void announce(const GameServerConfig& config, const protocol::SharedScene& scene, const Address* local,
              const std::optional<Address>& http, const std::string& replay, const std::string& token_path) {
    const double tick_hz = scene.definition->def().tick_rate_hz;
    if (config.json) {
        JsonLine line;
        if (local) line.text("udp", local->to_string());
        if (http) line.text("http", http->to_string());
        line.text("scene", scene.name).number("tick_hz", std::optional(tick_hz)).text("replay", replay);
        std::printf("%s\n", line.str().c_str());
    } else {
        std::string where = local ? "listening udp=" + local->to_string() : "running clock=virtual";
        if (http) where += " http=" + http->to_string();
        std::printf("%s scene=%s tick_hz=%g replay=%s\n", where.c_str(), scene.name.c_str(), tick_hz, replay.c_str());
    }
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
    GameServerConfig config;
    StopRequest stop;
    protocol::SystemRandom random;
    Outbox outbox;
    RigBackend rigs;
    std::optional<ThreadPool> pool;
    std::unique_ptr<NetworkThread> network;             // null: the virtual clock
    std::shared_ptr<const sim::Definition> definition;  // of the scene, as long as the director
    std::unique_ptr<Director> director;
    std::unique_ptr<Room> room;
    std::optional<TokenFile> token_file;
    std::unique_ptr<Resumption> resumption;  // until the room goes on
    std::string replay;
    bool ran = false;

    Result<protocol::Key> make_key() {
        if (config.clock == GameClock::virtual_time || config.key_file.empty()) return random.next_key();
        return read_key_file(config.key_file);
    }

    // The recorded scene, if this engine can go on with it.
    Result<protocol::SharedScene> recorded_scene() {
        Result<std::unique_ptr<Resumption>> opened = Resumption::open(system_files(), config.resume);
        if (!opened) return opened.error();
        resumption = std::move(opened).value();
        const protocol::replay::FileHeader& header = resumption->seen().header;
        const auto recorded = protocol::replay::recorded_definition(
            header, [this](const auto& h) { return protocol::replay::load_recorded_scene(h, config.max_bodies); });
        if (!recorded)
            return Error{recorded.error().code, config.resume + ": " + recorded.error().place,
                         recorded.error().message};
        config.room = header.room;
        return protocol::SharedScene{header.scene_name, header.scene, header.scene_hash, *recorded, {}};
    }

    Result<protocol::SharedScene> load() {
        if (!config.resume.empty()) return recorded_scene();
        if (config.shared_scene) return *config.shared_scene;
        protocol::SceneOverrides overrides;
        overrides.tick_rate_hz = config.tick_rate_hz;
        protocol::SceneCaps caps;
        caps.max_bodies = config.max_bodies;
        Result<protocol::LoadedScene> loaded = load_scene_file(config.scene, overrides, caps);
        if (!loaded) return loaded.error();
        return share_scene_file(std::move(loaded).value(), config.scene);
    }

    Result<PartsSettings> recording_settings(const protocol::SharedScene& scene) const {
        PartsSettings parts;
        parts.tick_rate_hz = scene.definition->def().tick_rate_hz;
        parts.recorder.directory = config.record;
        parts.recorder.room = config.room;
        parts.recorder.about = about_recording(config, parts.tick_rate_hz);
        parts.recorder.ticks_per_chunk = ticks_per_chunk(config.fsync, double{parts.tick_rate_hz});
        if (!config.sign_key.empty()) {
            const Result<protocol::replay::SigningKey> key = read_signing_key(config.sign_key);
            if (!key) return key.error();
            parts.recorder.sign_key = *key;
        }
        parts.scene_name = scene.name;
        parts.scene.assign(scene.binary.begin(), scene.binary.end());
        parts.scene_hash = scene.scene_hash;
        parts.fsync = config.fsync;
        parts.goes_on = !config.stop_on_record_failure;
        return parts;
    }

    // Goes on with the file; behind an END, in a new part.
    Result<std::unique_ptr<RoomRecorder>> reopen_recorder(const protocol::SharedScene& scene, Resumption& from,
                                                          const sim::World& world) {
        Result<PartsSettings> parts = recording_settings(scene);
        if (!parts) return parts.error();
        parts->recorder.directory = std::filesystem::path(from.path()).parent_path().string();
        if (parts->recorder.directory.empty()) parts->recorder.directory = ".";
        Result<std::unique_ptr<Recorder>> file =
            from.ended() ? Recorder::open(parts->recorder,
                                          {parts->scene_name, parts->scene, parts->scene_hash, parts->tick_rate_hz},
                                          {.tick = world.tick(), .parent = {from.seen().header.run, from.seen().head}})
                         : Recorder::go_on(parts->recorder, from.path(), from.take_file(), from.seen());
        if (!file) return coded(ErrorCode::io, file.error());
        replay = (*file)->path();
        if (from.ended() && world.tick() > 0) {
            std::vector<std::uint8_t> state;
            world.save(state);
            if (const Result<Ok> kept = (*file)->append_keyframe(state); !kept)
                return coded(ErrorCode::io, kept.error());
        }
        return std::make_unique<RoomRecorder>(std::move(file).value(), std::move(parts).value(), &NetworkThread::now,
                                              config.clock == GameClock::wall);
    }

    Result<Ok> resume_room(const protocol::SharedScene& scene) {
        ResumeOptions options;
        options.open_recorder = [&](Resumption& from, const sim::World& world) {
            return reopen_recorder(scene, from, world);
        };
        options.unix_ms = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
                .count());
        options.refuse_older_tokens = !config.key_file.empty();
        for (const protocol::replay::KeyValue& pair : about_build(config.target)) {
            if (pair.key == "build" || pair.key == "commit")
                options.build += (options.build.empty() ? "" : " ") + pair.value;
        }
        const Result<Ok> resumed = room->resume(*resumption, options);
        if (!resumed) return resumed;
        if (resumption->ended())
            spdlog::info("{} was closed: it goes on at tick {} in {}", config.resume, room->world().tick(), replay);
        else
            spdlog::info("{} goes on at tick {}: {} bytes behind its last whole record were cut off", config.resume,
                         room->world().tick(), resumption->cut_bytes());
        resumption.reset();
        return Ok{};
    }

    Result<std::unique_ptr<RoomRecorder>> open_recorder(const protocol::SharedScene& scene) {
        if (config.record.empty() || resumption) return std::unique_ptr<RoomRecorder>();
        Result<PartsSettings> parts = recording_settings(scene);
        if (!parts) return input_error(parts.error());
        Result<std::unique_ptr<Recorder>> file =
            Recorder::open(parts->recorder, {parts->scene_name, parts->scene, parts->scene_hash, parts->tick_rate_hz});
        if (!file) return coded(ErrorCode::io, file.error());
        replay = (*file)->path();
        return std::make_unique<RoomRecorder>(std::move(file).value(), std::move(parts).value(), &NetworkThread::now,
                                              config.clock == GameClock::wall);
    }

    Result<Ok> serve_web(const protocol::Key& key, const Address& token_address, const protocol::SharedScene& scene) {
        Result<WebConfig> web = web_config(config, *bind_address(config), key, token_address, scene);
        if (!web) return web.error();
        const Result<Ok> serving = network->serve_web(std::move(web).value());
        if (!serving) return coded(ErrorCode::io, serving.error());
        return Ok{};
    }

    // A start that fails leaves no recording without a tick behind.
    Error fail(Error error) {
        std::error_code ignored;
        if (!replay.empty() && config.resume.empty()) std::filesystem::remove(replay, ignored);
        return error;
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
    const Result<protocol::SharedScene> scene = s.load();
    if (!scene) return input_error(scene.error());
    s.config.shared_scene.reset();  // the world has what it needs of it
    s.definition = scene->definition;
    const sim::WorldDef& def = s.definition->def();
    for (const std::string& text : left_out_texts(*scene->definition)) spdlog::warn(text);

    Result<RigBackend> rigs =
        pick_rig_backend(s.config.jacobi, def, [](const std::string& text) { spdlog::warn(text); });
    if (!rigs) return rigs.error();
    s.rigs = std::move(rigs).value();

    Address local;
    if (s.config.clock == GameClock::wall) {
        Result<std::unique_ptr<NetworkThread>> network = NetworkThread::start(*bind_address(s.config));
        if (!network) return coded(ErrorCode::io, network.error());
        s.network = std::move(network).value();
        local = s.network->local_address();
    }
    if (make_director) s.director = make_director({s.config.room, scene->name, scene->scene_hash, def, *this});
    if (s.config.hands) {
        if (make_director) return config_error("hands (--hands)", "is for a server without a director of its own");
        s.director = std::make_unique<Hands>(s.network && s.config.http && gives_tokens(s.config, local));
    }
    if (!s.network && !s.director && s.config.stop_at_tick == 0)
        return config_error("stop_at_tick", "a room on the virtual clock without a director never ends: set this tick");

    Result<std::unique_ptr<RoomRecorder>> recorder = s.open_recorder(*scene);
    if (!recorder) return recorder.error();
    if (s.config.threads > 1) s.pool.emplace(s.config.threads);
    RoomConfig config;
    config.netcode = netcode_config(s.config, *key, local);
    config.target = s.config.target;
    config.executor = s.pool ? &*s.pool : nullptr;
    if (s.network) config.clock = &NetworkThread::now;
    config.rig_device = s.rigs.device.get();
    config.history_ticks = s.config.history_ticks;
    config.hold_seat_ticks = static_cast<std::uint64_t>(std::ceil(s.config.hold_seat_s * double{def.tick_rate_hz}));
    config.token_lifetime_s = s.config.token_lifetime_s;
    config.events = s.config.events;
    config.serve_scene = s.config.serve_scene;
    config.allow_mirror = s.config.allow_mirror;
    config.replay_ids = s.config.replay_ids;
    config.replay_id_secret = *key;
    const Address token_address = config.netcode.public_addresses[0];
    if (s.network && s.config.http) {
        const Result<Ok> serving = s.serve_web(*key, token_address, *scene);
        if (!serving) return s.fail(serving.error());
        config.streams = &s.network->streams();
    }
    Result<std::unique_ptr<Room>> room = Room::create(config, *scene, std::move(recorder).value(), s.random, s.outbox,
                                                      s.network ? NetworkThread::now() : 0);
    if (!room) return s.fail(room.error());
    s.room = std::move(room).value();
    s.room->set_director(s.director.get());
    if (s.resumption) {
        const Result<Ok> resumed = s.resume_room(*scene);
        if (!resumed) return resumed.error();
    }

    if (s.network && s.config.key_file.empty() && !s.config.record.empty()) {
        s.token_file.emplace((std::filesystem::path(s.config.record) / "connect.token").string(), *key, token_address);
        const Result<Ok> written = s.token_file->renew(static_cast<std::uint64_t>(std::time(nullptr)));
        if (!written) return s.fail(coded(ErrorCode::io, written.error()));
    }
    if (s.config.print)
        announce(s.config, *scene, s.network ? &local : nullptr, http_address(), s.replay,
                 s.token_file ? s.token_file->path() : std::string());
    if (sim::may_have_rigs(def)) spdlog::info("large rigs: {}", s.rigs.text);
    return Ok{};
}

Result<GameServerEnd> GameServer::run() {
    State& s = *state_;
    if (s.ran) return config_error("GameServer::run", "has been called before: make another server");
    s.ran = true;
    HostSettings settings;
    settings.json = s.config.json;
    settings.status_every_s = s.config.status_every_s;
    settings.print = s.config.print;
    settings.records = !s.replay.empty();
    settings.stop_at_tick = s.config.stop_at_tick;
    settings.stops_with_recording = s.config.stop_on_record_failure;
    RoomHost host(*s.room, s.network.get(), s.outbox, s.stop, std::move(s.token_file), settings);
    const Result<Ok> closed = host.run();
    if (!closed) return coded(ErrorCode::io, closed.error());
    if (s.room->halted()) return *s.room->halted();
    GameServerEnd end;
    end.tick = s.room->stats().tick;
    if (const std::optional<std::string> reason = s.stop.reason()) {
        end.cause = StopCause::requested;
        end.reason = *reason;
    } else if (s.config.stop_at_tick != 0 && end.tick >= s.config.stop_at_tick) {
        end.cause = StopCause::tick_limit;
    }
    return end;
}

void GameServer::request_stop(std::string reason) {
    state_->stop.set(std::move(reason));
    if (state_->network) state_->network->end_waits();
}

std::optional<Address> GameServer::address() const {
    if (!state_->network) return std::nullopt;
    return state_->network->local_address();
}

std::optional<Address> GameServer::http_address() const {
    if (!state_->network) return std::nullopt;
    return state_->network->web_address();
}

const std::string& GameServer::replay() const { return state_->replay; }

int GameServer::exit_code(const Error& error) {
    return error.code == ErrorCode::io || error.code == ErrorCode::unsupported_target ? kExitMachine : kExitInput;
}

int serve(const GameServerConfig& config, const DirectorFactory& make_director) {
    const auto complain = [](const Error& error, int code) {
        std::fprintf(stderr, "orrery: %s\n", error.to_string().c_str());
        return code;
    };
    if (const Result<Ok> good = check(config); !good) return complain(good.error(), kExitUsage);
    forbid_core_files();
    std::signal(SIGPIPE, SIG_IGN);  // a reader of stdout may leave; the room goes on
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on file size is met like a full disk
    log_without_waiting();
    const Result<std::unique_ptr<GameServer>> server = GameServer::create(config, make_director);
    if (!server) return complain(server.error(), GameServer::exit_code(server.error()));
    const Result<GameServerEnd> end = (*server)->run();
    if (end) return kExitGood;
    write_if_ready(STDERR_FILENO, "orrery: " + end.error().to_string() + "\n");
    return GameServer::exit_code(end.error());
}

}  // namespace orrery::server
