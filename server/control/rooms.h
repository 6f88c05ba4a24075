// What an operator sees of the rooms of a process, and may ask of them. The control API, the health port and the
// client of a fleet know rooms by this alone. Any thread may call any function; none waits for a tick: what is asked
// is done by the room's thread at its next tick, and what is shown is what the room has published with its last one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orrery/rooms_server.hpp"
#include "protocol/netcode/connect_token.h"
#include "protocol/session/token_role.h"
#include "server/room/room_recorder.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr std::uint32_t kMaxMintExpires_s = 86'400;  // of a token, s
inline constexpr std::int32_t kMaxTokenTimeout_s = 3'600;   // of silence, in a token, s

// open: clients may join. draining: no more join, and the room ends when its last client leaves or its time is over.
// ending: it takes no more ticks, and its recording is being closed.
enum class RoomPhase : std::uint8_t { open, draining, ending };
std::string_view name_of(RoomPhase phase);

struct RoomMember {
    std::uint64_t client_id = 0;
    protocol::TokenRole role = protocol::TokenRole::player;
    std::optional<std::uint16_t> slot;  // empty: watches
};

// Of the ticks that count since the room's start, and of its last 1,024 ticks.
struct TickTimes {
    double p50_ms = 0.0, p99_ms = 0.0;            // work of a tick
    double late_p50_ms = 0.0, late_p99_ms = 0.0;  // from the time at which a tick is due to its begin
    double budget_ms = 0.0;                       // between two ticks
};

struct RoomView {
    std::string id;  // opaque; never used again in this process
    std::string name, scene;
    std::uint64_t scene_hash = 0;
    RoomPhase phase = RoomPhase::open;
    float tick_rate_hz = 0.0f;
    std::uint32_t max_clients = 0;
    bool allow_mirror = false;
    std::uint64_t created_unix_ms = 0;
    std::optional<std::uint64_t> ends_unix_ms;  // draining: at the latest
    std::uint64_t tick = 0;
    std::uint32_t clients = 0, players = 0;  // connected; of these, in the world
    std::uint32_t bodies = 0;
    std::vector<RoomMember> members;
    TickTimes times;
    std::uint64_t late_ticks = 0;  // at which the grid of ticks slipped
    std::uint64_t sent_bytes = 0, received_bytes = 0;
    std::string run_id;  // 32 hex digits of the recording; empty: nothing is recorded
    std::string replay;  // its file's name without a folder
    RecordingCounters recording;
};

// A token that is wished for.
struct TokenWish {
    std::optional<std::uint64_t> client_id;  // empty: a random one
    protocol::TokenRole role = protocol::TokenRole::player;
    std::vector<std::uint8_t> user_data;  // at most protocol::kRoleGameBytes
    std::uint32_t expires_s = 60;         // 1 to kMaxMintExpires_s
    std::int32_t timeout_s = 15;  // of silence, after which the connection ends, to kMaxTokenTimeout_s; 0: never
};
// See check(const RoomWish&).
Result<Ok> check(const TokenWish& wish);
struct MintedToken {
    protocol::PublicTokenBytes bytes{};
    std::uint64_t client_id = 0, expires_unix_s = 0;
};

// A file of the recording folder.
struct RecordingView {
    std::string run_id;  // 32 hex digits; with the part it names the file
    std::string name;    // of the file, without a folder
    std::string scene, room;
    std::uint32_t engine_version = 0;
    std::uint64_t bytes = 0, modified_unix_ms = 0;
    bool open = false;  // a room of this process writes it
};

// Counts of a histogram: below or at each bound, not summed up; the last is for all above.
struct Histogram {
    static constexpr std::array<double, 12> kBounds_s{0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.004,
                                                      0.008,  0.016,   0.032,  0.064, 0.25,  1.0};
    std::array<std::uint64_t, kBounds_s.size() + 1> counts{};
    double sum_s = 0.0;
    void note(double seconds);
    void add(const Histogram& other);
};

// Sums over all rooms since the start of the process, those that have ended included. They never decrease.
struct HostTotals {
    std::uint64_t rooms_created = 0, rooms_ended = 0, rooms_failed = 0;  // failed: of a fault or a failed recording
    std::uint64_t ticks = 0, late_ticks = 0;
    std::uint64_t clients_connected = 0, clients_disconnected = 0, clients_refused = 0;
    std::uint64_t sent_bytes = 0, received_bytes = 0, sent_datagrams = 0, received_datagrams = 0;
    std::uint64_t dropped_datagrams = 0;  // that a room did not take in time or the system did not send
    std::uint64_t ignored_datagrams = 0;  // of no known client, of no room, above a limit
    std::uint64_t inputs_late = 0, inputs_applied = 0, commands_rejected = 0;
    std::uint64_t ticks_recorded = 0, ticks_durable = 0, ticks_lost = 0;
    std::uint64_t log_lines_dropped = 0;
    Histogram tick_s, lateness_s;
};

struct HostView {
    HostTotals totals;
    std::uint64_t started_unix_ms = 0;
    std::uint32_t rooms = 0, open_rooms = 0, max_rooms = 0;
    std::uint32_t clients = 0, players = 0, max_clients = 0;    // max_clients: of one room
    std::uint32_t recordings_failing = 0, recordings_late = 0;  // rooms
    bool draining = false;                                      // of the whole process: no new rooms, no joins
    std::optional<std::uint64_t> ends_unix_ms;                  // draining: at the latest
    // The longest time since a room that should tick has done so, s; 0 without rooms. For /livez.
    double stalled_s = 0.0;
    bool may_create = false;  // create() may make rooms; false: a server of one room
};

class Rooms {
  public:
    virtual ~Rooms() = default;

    // Errors: invalid_argument (a field; `place` is its name in RoomWish), not_found (the scene), limit_reached
    // (max_rooms), unsupported_target (a server of one room; or it drains), io (the recording), others of the scene.
    virtual Result<RoomView> create(const RoomWish& wish) = 0;
    virtual std::vector<RoomView> list() const = 0;  // in order of creation, without those that have ended
    virtual std::optional<RoomView> find(const std::string& id) const = 0;

    // Each of these: not_found (no such room). A drain that is repeated takes the earlier end.
    virtual Result<Ok> drain(const std::string& id, double within_s, const std::string& reason) = 0;
    virtual Result<Ok> stop(const std::string& id, const std::string& reason) = 0;  // after the tick in progress
    virtual Result<MintedToken> mint(const std::string& id, const TokenWish& wish) = 0;
    // Tokens of the client id are void for GameServerConfig::token_lifetime_s, whether it is connected or not.
    virtual Result<Ok> kick(const std::string& id, std::uint64_t client_id, const std::string& reason) = 0;

    // Reads the heads of the files of the recording folder; takes as long as the disk does.
    virtual std::vector<RecordingView> recordings() const = 0;
    virtual std::optional<std::string> recording_path(const std::string& run_id) const = 0;
    virtual std::vector<std::string> scenes() const = 0;  // names that RoomWish::scene may have

    virtual HostView host() const = 0;
    // Drains all rooms; the process ends afterwards. Called again: takes the earlier end.
    virtual void drain_all(double within_s, const std::string& reason) = 0;
};

}  // namespace orrery::server
