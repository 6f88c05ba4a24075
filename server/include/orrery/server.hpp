// A game's server: a room of a scene with its network, clock, recording and threads, and the game's logic as a
// Director. `orrery serve` is this class without a director of a game.
//
//   int main() {
//       orrery::server::GameServerConfig config;
//       config.scene = "arena.json";
//       return orrery::server::serve(config, [](const orrery::server::RoomInfo& room) {
//           return std::make_unique<MyGame>(room);  // derived from orrery::server::Director
//       });
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/netcode/address.h"
#include "protocol/scene/scene.h"
#include "protocol/session/world_events.h"
#include "server/room/record_parts.h"
#include "server/room/room.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr double kMaxStatusEvery_s = 3600.0;  // largest GameServerConfig::status_every_s, s
inline constexpr double kMaxHoldSeat_s = 3600.0;     // largest GameServerConfig::hold_seat_s, s
inline constexpr double kMaxDrain_s = 86'400.0;      // largest GameServerConfig::drain_s, s
inline constexpr std::uint16_t kDefaultControlPort = 7790, kDefaultHealthPort = 7791;  // TCP

// When ticks begin.
enum class GameClock : std::uint8_t {
    wall,  // ticks at the scene's rate; clients connect by UDP and WebSocket; SIGINT and SIGTERM end the server
    // Each tick begins when the one before it is done. There is no network: no port is opened, no client can connect,
    // and the fields of GameServerConfig about the network and its key have no effect. Signals keep their actions.
    virtual_time,
};

// Settings of a server; check() compares them with their ranges.
struct GameServerConfig {
    // The scene: a file, JSON or binary, or else a scene that the program has loaded, which other servers may share.
    std::string scene;
    std::optional<protocol::SharedScene> shared_scene;
    std::optional<float> tick_rate_hz;  // instead of that of the scene file, Hz, 1 to protocol::kMaxTickRate_hz
    std::uint64_t max_bodies = protocol::kDefaultMaxSceneBodies;  // largest number of bodies of the scene file

    // A recording whose room goes on, instead of a scene: it must be of this engine version, and no other process may
    // record to it. It goes on in the same file; one that was closed, in a new file beside it. `record` is not used.
    std::string resume;

    std::string room = "main";  // the room's name, a part of the name of its recording
    // The host's rules and their version, for the recording; at most protocol::replay::kMaxValueBytes each.
    std::string rules, rules_version;

    std::string bind = "127.0.0.1";  // IP address to listen on; 0.0.0.0 or :: for all
    std::uint16_t port = 7770;       // UDP; 0: any free port
    // Further ADDR:PORT at which clients reach this server (behind a NAT). Their tokens may name them.
    std::vector<std::string> public_addresses;
    std::uint32_t max_clients = 64;  // at a time, over UDP and WebSocket, 1 to protocol::kMaxNetcodeClients

    // The web server: WebSockets of clients, a page, the scene by its hash. It listens on `bind`, too.
    bool http = true;
    std::optional<std::uint16_t> http_port;  // TCP; 0: any free port. Not set: 7780, or any free one where `port` is 0
    std::string web;                         // folder of the page, read at the start; empty: `page`
    // Folder of the page where `web` is empty. It may be built while the server runs: as long as it is not there, each
    // request of "/" looks for its index.html. Empty: no page.
    std::string page;
    // Further origins (https://play.example.com) whose pages may connect; those of the server's own host always may.
    std::vector<std::string> allowed_origins;

    // The control API (deploy/openapi.yaml): inspect, drain and stop rooms, mint tokens, kick, download recordings.
    bool control = false;
    std::string control_bind = "127.0.0.1";     // IP address; any other than loopback needs control_keys
    std::optional<std::uint16_t> control_port;  // TCP; 0: any free port. Not set: 7790, or any free one with port 0
    // File of the keys that may use it: lines `name read|operate|admin hex64`, mode 0600. Empty: a random admin key is
    // written to RECORD/control.key, so that `record` must not be empty.
    std::string control_keys;

    // Names by which requests may call the control API, beside localhost and its addresses, without a port.
    std::vector<std::string> control_hosts;

    // Health and metrics without a key: /livez, /readyz, /metrics (Prometheus).
    bool health = false;
    std::string health_bind = "127.0.0.1";     // IP address
    std::optional<std::uint16_t> health_port;  // TCP; 0: any free port. Not set: 7791, or any free one with port 0

    // The process is a game server of an Agones fleet: it tells the sidecar on loopback (AGONES_SDK_HTTP_PORT) what it
    // is, and drains when the fleet wants it to. Without public_addresses it first asks for the address at which the
    // fleet makes its port named agones_port reachable, and waits for it up to a minute.
    bool agones = false;
    std::string agones_port = "udp";

    // At the first SIGINT or SIGTERM the server drains for this time at most, s, to kMaxDrain_s: newcomers are refused,
    // and it ends when the last client has left. A second signal ends it at once. 0: the first one does.
    double drain_s = 0.0;

    // Time for which the seat of a client that fell silent is held for its return, s, to kMaxHoldSeat_s; 0: no hold.
    double hold_seat_s = 10.0;
    protocol::EventRule events;  // the events of the world that clients are told; the default: none
    bool serve_scene = true;     // clients may have the scene's binary form, which shows all of the scene
    // Clients may mirror the room: they get the state of its world and the commands of all players, and simulate by
    // themselves. This shows them everything, so that it excludes `serve_scene` being off.
    bool allow_mirror = false;
    // Clients whose token says director may take hold of bodies and pull them (server/README.md, Hands). For a server
    // without a director: create() refuses it beside one.
    bool hands = false;

    // Who may connect. With a key file: whoever has a token of that key. The file has 64 hex digits and the mode 0600.
    // Without: RECORD/connect.token is written, a token for one client at a time.
    std::string key_file;
    std::uint32_t token_lifetime_s = 300;  // of the backend's tokens at most: so long a kick keeps a client id out
    bool insecure = false;         // also gives a token to every client on loopback that asks; excludes key_file
    bool insecure_public = false;  // with `insecure`: to every client, on any address

    std::uint32_t threads = 1;                    // inside a tick, 1 to kMaxThreads; no bit depends on it
    sim::Target target = sim::Target::automatic;  // SIMD; no bit depends on it
    std::string jacobi = "auto";                  // solves large rigs: auto, cpu or cuda; no bit depends on it
    std::uint32_t history_ticks = 0;              // that a director's queries may look back; see sim::WorldConfig
    std::string record = "replays";               // folder for recordings and connect.token; empty: none of them
    // How the recording names clients: by the ids of their tokens, not at all, or by hashes of the ids, whose secret is
    // the key of the key file. Without a key file the secret is random, and the hashes of each run are others.
    protocol::replay::IdForm replay_ids = protocol::replay::IdForm::plain;
    // When the recording waits for the disk. `interval` records the ticks of a second at once: a process that is killed
    // loses them, a machine that fails no more than what was recorded since; `tick` and `none` record each tick.
    FsyncPolicy fsync = FsyncPolicy::interval;
    // The room ends when its disk fails or does not keep up. Otherwise it goes on, and so does the recording, in a new
    // file, as soon as it can; the ticks between are lost.
    bool stop_on_record_failure = false;
    std::string sign_key;  // file of the key that signs the recording: 64 hex digits, mode 0600; empty: not signed
    GameClock clock = GameClock::wall;
    std::uint64_t stop_at_tick = 0;  // the server ends after this tick; 0: no such tick

    bool print = true;            // lines to stdout: the address, a command that connects, the status
    double status_every_s = 1.0;  // seconds between status lines, to kMaxStatusEvery_s; 0: only the last one
    bool json = false;            // one JSON object for each line instead of text
};

// Whether the values are in their ranges and fit each other. An error has the code invalid_argument and names the field
// and its mend. Files and the machine are not looked at.
Result<Ok> check(const GameServerConfig& config);

// What a director is made for. All but the strings lives as long as the director.
struct RoomInfo {
    std::string room;                 // its name
    std::string scene;                // its scene's name
    std::uint64_t scene_hash = 0;     // Definition::hash() of the scene
    const sim::WorldDef& definition;  // of the room's world
    // Ends the room after the tick in progress; see GameServer::request_stop. Any thread may call it.
    std::function<void(std::string reason)> request_stop;
};

// Makes the director of a room; called once for each room, before its first tick. Null: the room has none.
using DirectorFactory = std::function<std::unique_ptr<Director>(const RoomInfo&)>;

// Why a server ended: by SIGINT or SIGTERM, by GameServer::request_stop, or at GameServerConfig::stop_at_tick.
enum class StopCause : std::uint8_t { signal, requested, tick_limit };

// How GameServer::run ended.
struct GameServerEnd {
    StopCause cause = StopCause::signal;
    std::string reason;      // of request_stop
    std::uint64_t tick = 0;  // the last one
};

// A server: a room with its network, clock and recording.
class GameServer {
  public:
    // Loads the scene, binds the port and opens the recording. Errors name place and mend. Their codes:
    // invalid_argument (see check); not_found: the scene, key file or page cannot be read; io: a port, the recording or
    // the token file is not available; unsupported_target: this machine lacks the SIMD target or the GPU; all others:
    // the scene is not valid. An empty `make_director`: no director.
    static Result<std::unique_ptr<GameServer>> create(const GameServerConfig& config,
                                                      const DirectorFactory& make_director = {});
    ~GameServer();
    GameServer(const GameServer&) = delete;
    GameServer& operator=(const GameServer&) = delete;

    // Steps the room on the calling thread until the server ends: by request_stop, stop_at_tick, a signal, or a fault
    // of the world. Clients get a goodbye, and the recording is closed. To be called once. An error of the code io:
    // the recording is not complete, but the server ran to its end; others: the world has halted. An exception of the
    // director leaves run(), and the recording then ends without its end record.
    Result<GameServerEnd> run();

    // Ends the server after the tick in progress. On the wall clock, a room that is late may step up to 3 more. Any
    // thread and the director may call it, before run(), too. The first reason stays (UTF-8); it is logged, and clients
    // are told it. Clients get what waits for them once more, but no repetition: a game that shows a result sets it a
    // second before.
    void request_stop(std::string reason);

    std::optional<protocol::Address> address() const;       // of the socket, with its port; none on the virtual clock
    std::optional<protocol::Address> http_address() const;  // of the web server, with its port; none: there is none
    const std::string& replay() const;  // path of the recording, when the server was made; empty: none

    // The exit code of `orrery serve` for an error of create() or run(): 2 the input is not valid, 3 the machine.
    static int exit_code(const Error& error);

  private:
    struct State;
    explicit GameServer(std::unique_ptr<State> state);
    Result<Ok> start(const DirectorFactory& make_director);

    std::unique_ptr<State> state_;
};

// The whole of a server program: check, create and run. An error is printed on stderr. Returns the exit code of `orrery
// serve`: 0 for an end as wished, 64 for an error of check(), else GameServer::exit_code. It changes the process: core
// files are forbidden (they would hold the key), SIGPIPE and SIGXFSZ are ignored, and the log (spdlog) goes to stderr
// without waiting for its reader.
int serve(const GameServerConfig& config, const DirectorFactory& make_director = {});

}  // namespace orrery::server
