#include "server/cli/serve.h"

#include <unistd.h>

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>

#include "protocol/session/handshake.h"
#include "server/base/json_line.h"
#include "server/cli/command_line.h"
#include "server/cli/left_out.h"
#include "server/cli/rig_backend.h"
#include "server/net/key_file.h"
#include "server/net/line_output.h"
#include "server/net/room_host.h"
#include "server/room/thread_pool.h"
#include "sim/rigs/rigs.h"

namespace orrery::server {

namespace {

using protocol::Address;

struct ServeOptions {
    std::string scene, bind = "127.0.0.1", key_file, target = "auto", jacobi = "auto", record = "build/replays";
    std::vector<std::string> public_addresses;
    std::uint16_t port = 7770;
    std::uint32_t max_clients = 64, threads = 1;
    std::uint64_t max_bodies = protocol::kDefaultMaxSceneBodies;
    std::optional<float> tick_rate_hz;
    double status_every_s = 1.0;
    bool insecure = false, insecure_public = false, json = false;
};

void describe(CLI::App& app, ServeOptions& options) {
    app.add_option("SCENE", options.scene, "scene file, JSON or binary")->required();
    app.add_option("--bind", options.bind, "address to listen on; 0.0.0.0 or :: for all")->capture_default_str();
    app.add_option("--port", options.port, "UDP port; 0 takes a free one and prints it")
        ->check(whole_number(0, 65'535))
        ->capture_default_str();
    app.add_option("--public", options.public_addresses,
                   "a further ADDR:PORT at which clients reach this server (behind a NAT)");
    const auto key = app.add_option("--key-file", options.key_file,
                                    "file with the key that signs tokens: 64 hex digits, mode 0600; "
                                    "without it a random key is used, and RECORD/connect.token is written");
    app.add_flag("--insecure", options.insecure, "give a token to every client on loopback that asks (development)")
        ->excludes(key);
    app.add_flag("--insecure-public", options.insecure_public,
                 "with --insecure: give a token to every client, on any address")
        ->excludes(key);
    app.add_option("--tick-rate", options.tick_rate_hz, "ticks for each second, instead of the scene's, Hz")
        ->check(CLI::Range(1.0, static_cast<double>(protocol::kMaxTickRate_hz)));
    app.add_option("--max-clients", options.max_clients, "largest number of clients at a time")
        ->check(whole_number(1, protocol::kMaxNetcodeClients))
        ->capture_default_str();
    app.add_option("--threads", options.threads, "threads inside a tick (no bit depends on it)")
        ->check(whole_number(1, kMaxThreads))
        ->capture_default_str();
    app.add_option("--target", options.target,
                   "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon (no bit depends on it)")
        ->capture_default_str();
    add_jacobi_option(app, options.jacobi);
    app.add_option("--record", options.record, "folder for replays")->capture_default_str();
    app.add_option("--max-bodies", options.max_bodies, "largest number of bodies of the scene")
        ->check(whole_number(1, sim::kMaxBodies))
        ->capture_default_str();
    app.add_option("--status-every-s", options.status_every_s, "seconds between status lines; 0: only the last one")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str();
    app.add_flag("--json", options.json, "print one JSON object for each line instead of text");
}

std::optional<Address> bind_address(const ServeOptions& options, int& exit) {
    const bool ipv6 = options.bind.find(':') != std::string::npos;
    const std::string text = (ipv6 ? "[" + options.bind + "]" : options.bind) + ":" + std::to_string(options.port);
    const Result<Address> address = Address::parse(text);
    if (!address) {
        exit = complain(address.error(), kExitUsage);
        return std::nullopt;
    }
    const char* mend = nullptr;
    if (options.insecure_public && !options.insecure) mend = "--insecure-public needs --insecure";
    if (!address->is_loopback() && options.key_file.empty() && !options.insecure_public) {
        mend = options.insecure ? "--insecure on an address that other machines reach also needs --insecure-public"
                                : "an address that other machines reach needs --key-file (see orrery token)";
    }
    if (!mend) return *address;
    exit = complain(mend, kExitUsage);
    return std::nullopt;
}

std::optional<protocol::Key> make_key(const ServeOptions& options, int& exit) {
    if (options.key_file.empty()) {
        protocol::SystemRandom random;
        return random.next_key();
    }
    const Result<protocol::Key> key = read_key_file(options.key_file);
    if (key) return *key;
    exit = complain(key.error(), kExitInput);
    return std::nullopt;
}

// The --public addresses.
Result<std::vector<Address>> public_addresses(const ServeOptions& options) {
    std::vector<Address> addresses;
    for (const std::string& text : options.public_addresses) {
        const Result<Address> address = Address::parse(text);
        if (!address) return address.error();
        if (address->port == 0)
            return Error{ErrorCode::invalid_argument, "--public " + text, "name the port that clients send to, not 0"};
        addresses.push_back(*address);
    }
    return addresses;
}

protocol::NetcodeServerConfig netcode_config(const ServeOptions& options, const protocol::Key& key,
                                             const Address& local, const std::vector<Address>& named) {
    protocol::NetcodeServerConfig config;
    config.protocol_id = protocol::kNetcodeProtocolId;
    config.private_key = key;
    config.public_addresses = reachable_addresses(local);
    // The user's own addresses come before guesses where a token's list is full.
    for (const Address& address : named) config.public_addresses.insert(config.public_addresses.begin() + 1, address);
    if (config.public_addresses.size() > protocol::kMaxServersPerToken)
        config.public_addresses.resize(protocol::kMaxServersPerToken);
    config.max_clients = options.max_clients;
    config.insecure = options.insecure;
    config.insecure_public = options.insecure_public;
    return config;
}

// The first lines: where it listens, and how to get in.
void announce(const ServeOptions& options, const protocol::SharedScene& scene, const Address& local,
              const std::string& replay, const std::string& token_path) {
    std::string connect;
    if (options.insecure)
        connect = "orrery_drive --server " + reachable_addresses(local)[0].to_string();
    else if (!token_path.empty())
        connect = "orrery_drive --token " + token_path;
    else
        connect = "orrery token --key-file " + options.key_file + " --server " +
                  reachable_addresses(local)[0].to_string() +
                  " --client-id 1 --out connect.token && orrery_drive --token connect.token";
    const double tick_hz = scene.definition->def().tick_rate_hz;
    if (options.json) {
        std::printf("%s\n", JsonLine()
                                .text("udp", local.to_string())
                                .text("scene", scene.name)
                                .number("tick_hz", std::optional(tick_hz))
                                .text("replay", replay)
                                .str()
                                .c_str());
        std::printf("%s\n", JsonLine().text("connect", connect).str().c_str());
    } else {
        std::printf("listening udp=%s scene=%s tick_hz=%g replay=%s\n", local.to_string().c_str(), scene.name.c_str(),
                    tick_hz, replay.c_str());
        std::printf("connect: %s\n", connect.c_str());
    }
    std::fflush(stdout);
}

// A start that fails leaves no recording without a tick behind.
int fail_start(const Error& error, int code, const std::string& replay) {
    std::error_code ignored;
    std::filesystem::remove(replay, ignored);
    return complain(error, code);
}

int serve(const ServeOptions& options, sim::Target target, const Address& bind, const std::vector<Address>& named,
          const protocol::Key& key) {
    protocol::SceneOverrides overrides;
    overrides.tick_rate_hz = options.tick_rate_hz;
    protocol::SceneCaps caps;
    caps.max_bodies = options.max_bodies;
    Result<protocol::LoadedScene> loaded = load_scene_file(options.scene, overrides, caps);
    if (!loaded) return complain(loaded.error(), exit_code_of(loaded.error()));
    const Result<protocol::SharedScene> scene = share_scene_file(std::move(loaded).value(), options.scene);
    if (!scene) return complain(scene.error(), exit_code_of(scene.error()));
    const sim::WorldDef& def = scene->definition->def();
    for (const std::string& text : left_out_texts(*scene->definition)) spdlog::warn(text);

    int exit = kExitGood;
    const std::optional<RigBackend> rigs =
        pick_rig_backend(options.jacobi, def, exit, [](const std::string& text) { spdlog::warn(text); });
    if (!rigs) return exit;

    Result<std::unique_ptr<NetworkThread>> network = NetworkThread::start(bind);
    if (!network) return complain(network.error(), kExitMachine);
    const Address local = (*network)->local_address();
    protocol::NetcodeServerConfig netcode = netcode_config(options, key, local, named);
    const Address token_address = netcode.public_addresses[0];

    RecorderSettings settings;
    settings.directory = options.record;
    Result<std::unique_ptr<Recorder>> recorder =
        Recorder::open(settings, {scene->name, scene->binary, scene->scene_hash, def.tick_rate_hz});
    if (!recorder) return complain(recorder.error(), kExitMachine);
    const std::string replay = (*recorder)->path();

    std::optional<ThreadPool> pool;
    if (options.threads > 1) pool.emplace(options.threads);
    RoomConfig config;
    config.netcode = std::move(netcode);
    config.target = target;
    config.executor = pool ? &*pool : nullptr;
    config.rig_device = rigs->device.get();
    protocol::SystemRandom random;
    Outbox outbox;
    Result<std::unique_ptr<Room>> room =
        Room::create(config, *scene, std::move(*recorder), random, outbox, NetworkThread::now());
    if (!room) return fail_start(room.error(), exit_code_of(room.error()), replay);

    std::optional<TokenFile> token_file;
    if (options.key_file.empty()) {
        token_file.emplace((std::filesystem::path(options.record) / "connect.token").string(), key, token_address);
        const Result<Ok> written = token_file->renew(static_cast<std::uint64_t>(std::time(nullptr)));
        if (!written) return fail_start(written.error(), kExitMachine, replay);
    }
    announce(options, *scene, local, replay, token_file ? token_file->path() : std::string());
    if (sim::may_have_rigs(def)) spdlog::info("large rigs: {}", rigs->text);

    RoomHost host(**room, **network, outbox, std::move(token_file), {options.json, options.status_every_s});
    const Result<Ok> closed = host.run();
    if (closed && !(*room)->halted()) return kExitGood;
    const Error& why = closed ? *(*room)->halted() : closed.error();
    write_if_ready(STDERR_FILENO, "orrery: " + why.to_string() + "\n");
    return closed ? exit_code_of(why) : kExitMachine;  // a halt is the scene's doing, not this machine's
}

}  // namespace

int serve_command(const std::vector<std::string>& arguments) {
    ServeOptions options;
    CLI::App app("Serves one room of a scene over UDP and records it. It ends cleanly on SIGINT and SIGTERM.",
                 "orrery serve");
    describe(app, options);
    if (const auto exit = parse_arguments(app, arguments)) return *exit;
    int exit = kExitUsage;
    const std::optional<sim::Target> target = parse_target(options.target, exit);
    if (!target) return exit;
    const std::optional<Address> bind = bind_address(options, exit);
    if (!bind) return exit;
    const Result<std::vector<Address>> named = public_addresses(options);
    if (!named) return complain(named.error(), kExitUsage);
    const std::optional<protocol::Key> key = make_key(options, exit);
    if (!key) return exit;

    forbid_core_files();
    std::signal(SIGPIPE, SIG_IGN);  // a reader of stdout may leave; the room goes on
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on file size is met like a full disk
    log_without_waiting();
    return serve(options, *target, *bind, *named, *key);
}

}  // namespace orrery::server
