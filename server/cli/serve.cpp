#include "server/cli/serve.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "orrery/rooms_server.hpp"
#include "protocol/netcode/netcode_server.h"
#include "server/cli/command_line.h"
#include "server/cli/settings.h"
#include "server/net/line_output.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

struct Texts {  // options that are not fields of the configuration as they are
    std::string target = "auto", serve_scene = "on", replay_ids = "on", fsync = "interval", on_failure = "continue";
    std::string log_format = "text";
    std::vector<std::string> events;
    float hit_impulse = 1.0f;  // N s
    std::optional<std::uint32_t> threads;
};

protocol::EventRule event_rule(const Texts& texts) {
    const auto named = [&](std::string_view name) {
        return std::find(texts.events.begin(), texts.events.end(), name) != texts.events.end();
    };
    protocol::EventRule rule;
    if (named("hits")) rule.least_hit_impulse = texts.hit_impulse;
    rule.sensors = named("sensors");
    rule.joints = named("joints");
    rule.spawns = named("spawns");
    return rule;
}

// The page beside this program: of its build folder or installation, there or not. Empty: the system does not say where
// the program is.
std::string shipped_page() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return {};
    return (program.parent_path().parent_path() / "share/orrery/page").string();
}

// Of a server of many rooms.
struct ManyRooms {
    bool wanted = false, resume = false;
    std::string scenes;
    std::vector<std::string> rooms;
    std::uint32_t max_rooms = RoomsServerConfig().max_rooms;
};

// The scenes beside this program, where it is installed or built.
std::string shipped_scenes() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::filesystem::path folder = program.parent_path().parent_path() / "share/orrery/scenes";
    return !error && std::filesystem::is_directory(folder, error) ? folder.string() : std::string();
}

// NAME or NAME=SCENE.
RoomWish wish_of(const std::string& text) {
    RoomWish wish;
    const std::size_t sign = text.find('=');
    wish.scene = sign == std::string::npos ? text : text.substr(sign + 1);
    if (sign != std::string::npos) wish.name = text.substr(0, sign);
    return wish;
}

void describe_rooms(CLI::App& app, ManyRooms& rooms) {
    const auto wanted = app.add_flag("--rooms", rooms.wanted,
                                     "many rooms in this process, which come and go by the control API: no SCENE");
    app.add_option("--scenes", rooms.scenes,
                   "with --rooms: folder of the scenes that rooms may have [those of this installation]")
        ->needs(wanted);
    app.add_option("--room", rooms.rooms, "with --rooms: a room to begin with, as SCENE or NAME=SCENE")->needs(wanted);
    app.add_flag("--resume-rooms", rooms.resume,
                 "with --rooms: begin with the rooms of all replays of RECORD that have no end, as a process that was "
                 "killed leaves them; each goes on in its file, under a new id")
        ->needs(wanted);
    app.add_option("--max-rooms", rooms.max_rooms, "with --rooms: largest number of rooms at a time")
        ->check(whole_number(1, kMaxRooms))
        ->capture_default_str()
        ->needs(wanted);
}

// What is missing for a room, or too much for many; empty: nothing.
std::string missing_scene(const GameServerConfig& config, const ManyRooms& rooms) {
    if (!rooms.wanted)
        return config.scene.empty() && config.resume.empty() ? "name a scene file, --resume FILE or --rooms" : "";
    if (!config.scene.empty())
        return "SCENE " + config.scene + " is for a server of one room: leave SCENE out; use --room NAME=SCENE";
    return rooms.scenes.empty()
               ? "--rooms needs a folder of scenes: name it by --scenes, for example --scenes deploy/scenes"
               : "";
}

void describe_operators(CLI::App& app, GameServerConfig& config) {
    app.add_option("--control-bind", config.control_bind, "address of the control API")->capture_default_str();
    app.add_option("--control-port", config.control_port,
                   "TCP port of the control API; 0 takes a free one and prints it [7790, or a free one with --port 0]")
        ->check(whole_number(0, 65'535));
    app.add_option("--control-keys", config.control_keys,
                   "file with the keys of the control API: lines of a name, read, operate or admin, and 64 hex digits, "
                   "mode 0600; without it RECORD/control.key is read, and written if it is not there");
    app.add_flag("!--no-control", config.control, "no control API");
    app.add_option("--health-bind", config.health_bind, "address of /livez, /readyz and /metrics, which have no key")
        ->capture_default_str();
    app.add_option("--health-port", config.health_port,
                   "their TCP port; 0 takes a free one and prints it [7791, or a free one with --port 0]")
        ->check(whole_number(0, 65'535));
    app.add_flag("!--no-health", config.health, "none of them");
    app.add_option("--control-host", config.control_hosts,
                   "a further name by which requests may call the control API, like ops.example.com");
    app.add_flag("--agones", config.agones,
                 "a game server of an Agones fleet: tell its sidecar, and drain at its word");
    app.add_option("--agones-port", config.agones_port, "with --agones: the name that the fleet gives the UDP port")
        ->capture_default_str();
    app.add_option("--drain-s", config.drain_s,
                   "seconds that players have to leave after SIGTERM; a second signal ends the server at once")
        ->check(CLI::Range(0.0, kMaxDrain_s))
        ->capture_default_str();
}

void describe(CLI::App& app, GameServerConfig& config, Texts& texts) {
    const auto scene = app.add_option("SCENE", config.scene, "scene file, JSON or binary; or --resume");
    app.add_option("--resume", config.resume,
                   "a replay whose room goes on, in the same file: for a server that was killed. Players have "
                   "--hold-seat-s to come back")
        ->excludes(scene);
    app.add_option("--bind", config.bind, "address to listen on; 0.0.0.0 or :: for all")->capture_default_str();
    app.add_option("--port", config.port, "UDP port; 0 takes a free one and prints it")
        ->check(whole_number(0, 65'535))
        ->capture_default_str();
    app.add_option("--public", config.public_addresses,
                   "a further ADDR:PORT at which clients reach this server (behind a NAT)");
    app.add_option("--http-port", config.http_port,
                   "TCP port of the web server, for WebSockets and the page; 0 takes a free one and prints it "
                   "[7780, or a free one with --port 0]")
        ->check(whole_number(0, 65'535));
    app.add_flag("!--no-http", config.http, "no web server");
    app.add_option("--web", config.web,
                   "folder of the page that the web server gives away [that of this build or installation; "
                   "deploy/page builds it]");
    app.add_option("--allow-origin", config.allowed_origins,
                   "a further origin whose pages may connect, like https://play.example.com");
    const auto key = app.add_option("--key-file", config.key_file,
                                    "file with the key that signs tokens: 64 hex digits, mode 0600; "
                                    "without it a random key is used, and RECORD/connect.token is written");
    app.add_option("--token-lifetime-s", config.token_lifetime_s,
                   "longest time for which tokens of your backend are valid, s: so long a kick keeps a client out, and "
                   "so long after --resume only tokens of the full time are taken")
        ->check(whole_number(1, 1'000'000))
        ->capture_default_str();
    app.add_flag("--insecure", config.insecure, "give a token to every client on loopback that asks (development)")
        ->excludes(key);
    app.add_flag("--insecure-public", config.insecure_public,
                 "with --insecure: give a token to every client, on any address")
        ->excludes(key);
    app.add_option("--tick-rate", config.tick_rate_hz, "ticks for each second, instead of the scene's, Hz")
        ->check(CLI::Range(1.0, static_cast<double>(protocol::kMaxTickRate_hz)));
    app.add_option("--max-clients", config.max_clients, "largest number of clients at a time")
        ->check(whole_number(1, protocol::kMaxNetcodeClients))
        ->capture_default_str();
    app.add_option(
           "--threads", texts.threads,
           "threads inside a tick [1], or with --rooms those that step rooms [one for each core]; no bit depends "
           "on it")
        ->check(whole_number(1, kMaxThreads));
    app.add_option("--hold-seat-s", config.hold_seat_s,
                   "seconds for which the seat of a client that fell silent is held for its return")
        ->check(CLI::Range(0.0, kMaxHoldSeat_s))
        ->capture_default_str();
    app.add_option("--events", texts.events,
                   "events of the world that clients are told, with commas between: hits, sensors, joints, spawns")
        ->delimiter(',')
        ->check(CLI::IsMember({"hits", "sensors", "joints", "spawns"}));
    app.add_option("--hit-impulse", texts.hit_impulse, "with --events hits: the least impulse of a hit, N s")
        ->check(CLI::Range(0.0f, 1e9f))
        ->capture_default_str();
    app.add_option("--serve-scene", texts.serve_scene, "on: clients may have the scene, to draw all of it; or off")
        ->check(CLI::IsMember({"on", "off"}))
        ->capture_default_str();
    app.add_flag("--allow-mirror", config.allow_mirror,
                 "clients may simulate the room by themselves, which shows them all of it");
    app.add_flag("--hands", config.hands,
                 "clients with a director's token may take hold of bodies and pull them; without --key-file each page "
                 "of this machine may have such a token");
    app.add_option("--target", texts.target,
                   "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon (no bit depends on it)")
        ->capture_default_str();
    add_jacobi_option(app, config.jacobi);
    app.add_option("--record", config.record, "folder for replays")->capture_default_str();
    app.add_option("--replay-ids", texts.replay_ids,
                   "client ids in the replay: on, off, or hashed with the key of --key-file")
        ->check(CLI::IsMember({"on", "off", "hashed"}))
        ->capture_default_str();
    app.add_option("--fsync", texts.fsync,
                   "when the replay waits for the disk: none (at the end only), interval (each second, whose ticks are "
                   "written at once), tick (each tick)")
        ->check(CLI::IsMember({"none", "interval", "tick"}))
        ->capture_default_str();
    app.add_option("--on-record-failure", texts.on_failure,
                   "if the disk is full, fails or does not keep up: continue, and record to a new file as soon as "
                   "that can be; or stop-room")
        ->check(CLI::IsMember({"continue", "stop-room"}))
        ->capture_default_str();
    app.add_option("--sign-key", config.sign_key,
                   "file with the key that signs the replay: 64 hex digits, mode 0600 (see orrery replay key)");
    add_max_bodies_option(app, config.max_bodies);
    app.add_option("--status-every-s", config.status_every_s, "seconds between status lines; 0: only the last one")
        ->check(CLI::Range(0.0, kMaxStatusEvery_s))
        ->capture_default_str();
    app.add_flag("--json", config.json, "print one JSON object for each line instead of text");
    app.add_option("--log-format", texts.log_format, "the log on stderr: text, or json, an object for each line")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
}

}  // namespace

int serve_command(const std::vector<std::string>& arguments) {
    GameServerConfig config;
    config.record = "build/replays";
    config.page = shipped_page();
    config.control = config.health = true;
    Texts texts;
    ManyRooms rooms;
    CLI::App app(
        "Serves a room of a scene, or with --rooms many, over UDP and WebSocket and records it. It ends cleanly on "
        "SIGINT and SIGTERM.",
        "orrery serve");
    describe(app, config, texts);
    describe_rooms(app, rooms);
    describe_operators(app, config);
    Settings settings(app);
    if (const auto exit = settings.parse(arguments)) return *exit;
    set_log_format(texts.log_format == "json" ? LogFormat::json : LogFormat::text);
    if (!config.resume.empty()) {  // its folder is that of the token, too
        const std::filesystem::path folder = std::filesystem::path(config.resume).parent_path();
        config.record = folder.empty() ? "." : folder.string();
    }
    int exit = kExitUsage;
    const std::optional<sim::Target> parsed = parse_target(texts.target, exit);
    if (!parsed) return exit;
    config.target = *parsed;
    config.events = event_rule(texts);
    config.serve_scene = texts.serve_scene == "on";
    config.fsync = texts.fsync == "none"   ? FsyncPolicy::none
                   : texts.fsync == "tick" ? FsyncPolicy::tick
                                           : FsyncPolicy::interval;
    config.stop_on_record_failure = texts.on_failure == "stop-room";
    using protocol::replay::IdForm;
    config.replay_ids = texts.replay_ids == "on"    ? IdForm::plain
                        : texts.replay_ids == "off" ? IdForm::none
                                                    : IdForm::hashed;
    if (rooms.scenes.empty()) rooms.scenes = shipped_scenes();
    if (const std::string missing = missing_scene(config, rooms); !missing.empty()) {
        std::fprintf(stderr, "orrery serve: %s (see orrery serve --help)\n", missing.c_str());
        return kExitUsage;
    }
    if (!rooms.wanted) {
        config.threads = texts.threads.value_or(1);
        return serve(config);
    }
    RoomsServerConfig many;
    many.process = std::move(config);
    many.scenes = std::move(rooms.scenes);
    many.max_rooms = rooms.max_rooms;
    many.threads = texts.threads.value_or(0);
    many.resume_rooms = rooms.resume;
    many.rooms = settings.rooms();
    for (const std::string& text : rooms.rooms) many.rooms.push_back(wish_of(text));
    return serve_rooms(many);
}

}  // namespace orrery::server
