// A server of many rooms: one process, one UDP port, one web server, a pool of threads. Rooms come and go by the
// control API, by create_room, or with the start. `orrery serve --rooms` is this class without directors of a game.
//
//   int main() {
//       orrery::server::RoomsServerConfig config;
//       config.scenes = "scenes";
//       config.process.control = true;
//       return orrery::server::serve_rooms(config, [](const orrery::server::RoomInfo& room) {
//           return std::make_unique<MyGame>(room);
//       });
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orrery/server.hpp"

namespace orrery::server {

inline constexpr std::size_t kMaxRoomNameBytes = 64;    // of a room's name: a-z A-Z 0-9 _ -
inline constexpr std::uint32_t kMaxRooms = 1024;        // in one process
inline constexpr std::uint32_t kMaxRoomThreads = 64;    // that step rooms
inline constexpr double kMaxEndWhenEmpty_s = 86'400.0;  // largest RoomWish::end_when_empty_s, s

// A room that is wished for. What is not set is that of the process.
struct RoomWish {
    std::string name;                   // for people, and part of the name of its recording; empty: the room's id
    std::string scene;                  // of the folder of scenes: "yard" or "yard.json"; never a path
    std::optional<float> tick_rate_hz;  // instead of that of the scene file, Hz
    std::optional<std::uint32_t> max_clients;  // at a time, 1 to GameServerConfig::max_clients of the process
    std::optional<bool> allow_mirror;          // see GameServerConfig
    std::optional<bool> record;                // false: this room is not recorded
    double end_when_empty_s = 0.0;  // s without a client, from the creation on, after which the room ends; 0: never
};

// Whether the fields are in their ranges, whatever the process says. An error has the code invalid_argument, the field
// as its place, and goes on with "is ...".
Result<Ok> check(const RoomWish& wish);

// Settings of a server of many rooms; check() compares them with their ranges.
struct RoomsServerConfig {
    // Of the process, and of its rooms where a wish does not set them. These must be as they are by default: scene,
    // shared_scene, resume, tick_rate_hz, room, insecure, insecure_public, threads, clock and stop_at_tick.
    GameServerConfig process;
    std::string scenes;           // folder; rooms have scenes of it alone
    std::vector<RoomWish> rooms;  // with which the server starts
    // The server also begins with the rooms of all recordings of the folder that have no end: those of a process that
    // was killed. Each goes on in its file, under a new id. Those that cannot are told of in the log, and stay as they
    // are.
    bool resume_rooms = false;
    std::uint32_t max_rooms = 64;  // at a time, 1 to kMaxRooms
    std::uint32_t threads = 0;     // that step rooms, to kMaxRoomThreads; 0: one for each core
};

// Whether the values are in their ranges and fit each other; see check(const GameServerConfig&).
Result<Ok> check(const RoomsServerConfig& config);

// How a server of many rooms ended.
struct RoomsServerEnd {
    std::uint64_t rooms = 0;         // that it had
    std::uint64_t failed_rooms = 0;  // whose world halted, or whose recording is not complete
};

// A server of many rooms. A director of a room is called by one thread at a time, of the pool; different rooms run at
// once.
class RoomsServer {
  public:
    // Binds the ports and makes the first rooms. Errors are those of GameServer::create.
    static Result<std::unique_ptr<RoomsServer>> create(const RoomsServerConfig& config,
                                                       const DirectorFactory& make_director = {});
    ~RoomsServer();
    RoomsServer(const RoomsServer&) = delete;
    RoomsServer& operator=(const RoomsServer&) = delete;

    // Runs until a signal or request_stop ends the server, and all rooms have ended. To be called once. Rooms whose
    // recording is not complete are told of in the log, and are counted.
    Result<RoomsServerEnd> run();

    // Makes a room and returns its id. Any thread but those of directors may call it. Errors name the field of the
    // wish.
    Result<std::string> create_room(const RoomWish& wish);
    // Ends all rooms after their ticks in progress, and then the server. Any thread may call it; clients are told
    // `reason`.
    void request_stop(std::string reason);

    protocol::Address address() const;                      // of the UDP socket, with its port
    std::optional<protocol::Address> http_address() const;  // of the web server; none: there is none

  private:
    struct State;
    explicit RoomsServer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// The whole of a server program; see serve(const GameServerConfig&).
int serve_rooms(const RoomsServerConfig& config, const DirectorFactory& make_director = {});

}  // namespace orrery::server
