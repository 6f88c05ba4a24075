// A room: one world with its clients, its tick grid and its recorder. It has no socket, thread or clock. Datagrams and
// the time are passed in, and datagrams leave through a sink. So a room with all its clients can run in one process on
// a virtual clock.
//
//   receive()  keeps a datagram for the next tick
//   advance()  datagrams -> netcode -> sessions; then for each due tick: commands -> step -> hash -> recorder ->
//              changes; after the last due tick: key frames and snapshots -> netcode -> sink
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/netcode/netcode_server.h"
#include "protocol/scene/scene.h"
#include "protocol/session/board.h"
#include "protocol/session/server_session.h"
#include "protocol/session/world_events.h"
#include "protocol/snapshot/delta_codec.h"
#include "server/room/datagram_queue.h"
#include "server/room/overload.h"
#include "server/room/recorder.h"
#include "server/room/tick_grid.h"

namespace orrery::server {

inline constexpr std::uint32_t kSpawnHeadroom = 65'536;  // body indices that clients expect above those of the scene
inline constexpr std::uint32_t kMaxPacketsPerClientTick = 64;

struct RoomConfig {
    protocol::NetcodeServerConfig netcode;
    sim::Target target = sim::Target::automatic;
    sim::Executor* executor = nullptr;     // outlives the room
    sim::RigDevice* rig_device = nullptr;  // outlives the room; see sim::WorldConfig
    std::uint32_t history_ticks = 0;       // ticks that a director's queries may look back; see sim::WorldConfig
    protocol::EventRule events;            // which events of the world clients are told
    bool serve_scene = false;              // clients may have the scene's binary form
};

struct RoomStats {
    std::uint64_t tick = 0;
    std::uint32_t clients = 0, playing = 0;
    std::uint64_t last_recorded_tick = 0;
    bool recording_failed = false;  // the recording ended with last_recorded_tick
    std::uint64_t slips = 0, slipped_ns = 0;
    std::uint64_t inputs_applied = 0, inputs_late = 0, inputs_repeated = 0;
    std::uint64_t malformed_messages = 0, refused_clients = 0;
    std::uint64_t world_events_dropped = 0;  // that clients were not told; see ServerSession::send_world_events
    std::uint64_t orders_dropped = 0;        // orders of the director that the room dropped
    // Commands that the world rejected: those of clients and of the director, and the room's own joins and leaves.
    std::uint64_t rejected_commands = 0;
    std::uint64_t datagrams_dropped = 0;  // because the inbox was full
    protocol::NetcodeCounters netcode;
};

// How a client left, and why where the server ended it: whichever way the connection then closed.
struct Departure {
    protocol::DisconnectReason how = protocol::DisconnectReason::by_peer;
    std::optional<protocol::GoodbyeReason> goodbye;  // that the server said
    protocol::RefusalReason refusal = protocol::RefusalReason::none;
};

// Orders of a director that a tick did not take.
struct DroppedOrders {
    std::uint32_t not_a_directors = 0;  // see sim::is_director_order
    std::uint32_t too_many = 0;         // beyond kMaxOrdersPerTick
};

// Told what happens to clients and ticks; for logs and tests.
class RoomObserver {
  public:
    virtual void connected(std::uint32_t /*client*/, std::uint64_t /*client_id*/, const protocol::Address& /*from*/) {}
    virtual void refused(std::uint32_t /*client*/, const protocol::Refusal& /*why*/) {}
    virtual void disconnected(std::uint32_t /*client*/, std::uint64_t /*client_id*/, const Departure& /*how*/) {}
    // A message of a client's program; `bytes` are valid during the call. It may send messages and change the board.
    virtual void message(std::uint32_t /*client*/, std::uint64_t /*client_id*/,
                         const protocol::ServerSession::Received& /*what*/) {}
    // At most once a tick, before its step.
    virtual void orders_dropped(std::uint64_t /*tick*/, const DroppedOrders& /*what*/) {}
    // After each step.
    virtual void stepped(const sim::World& /*world*/, std::uint64_t /*root_hash*/) {}
    virtual void slipped(std::uint64_t /*tick*/, std::uint64_t /*late_ns*/) {}
    virtual void recording_failed(const Error& /*error*/) {}

  protected:
    ~RoomObserver() = default;
};

// Code of a host that links this library and gives orders to the world, beside the commands of players. Orders are
// recorded as all commands are, so that a replay is verified without the director. A director may query what a player
// saw: queries look back RoomConfig::history_ticks.
class Director {
  public:
    // Before the step from world.tick() to the next. What it appends to `orders` applies in that order, if
    // sim::is_director_order holds for its kind; `sequence` is the room's. What the last step answered stands in
    // world.events().
    virtual void on_tick(const sim::World& world, std::vector<sim::Command>& orders) = 0;

  protected:
    ~Director() = default;
};

// A tick takes so many orders and still has room for its players; further ones, and commands that are not a director's
// to give, are dropped and counted, and the observer is told.
inline constexpr std::size_t kMaxOrdersPerTick = sim::kMaxCommandsPerTick - 3 * sim::kMaxSlots;

class Room {
  public:
    // `random` and `sink` must outlive the room. Its time starts at `now`. Rooms of one scene share its definition.
    static Result<std::unique_ptr<Room>> create(const RoomConfig& config, const protocol::SharedScene& scene,
                                                std::unique_ptr<Recorder> recorder, protocol::RandomSource& random,
                                                protocol::DatagramSink& sink, protocol::TimeNs now);
    // Makes a definition for this room alone.
    static Result<std::unique_ptr<Room>> create(const RoomConfig& config, const protocol::LoadedScene& scene,
                                                std::unique_ptr<Recorder> recorder, protocol::RandomSource& random,
                                                protocol::DatagramSink& sink, protocol::TimeNs now);
    ~Room();

    void set_observer(RoomObserver* observer) { observer_ = observer; }
    // The observer gets the stages of each step, until another one is set, so that a host can measure them. Null: none.
    void set_stage_observer(sim::StageObserver* observer) { stage_observer_ = observer; }
    void set_director(Director* director) { director_ = director; }  // outlives the room; null: none

    // Stores a datagram for the next tick. `arrival` is its time of arrival.
    void receive(const protocol::Address& from, protocol::Bytes datagram, protocol::TimeNs arrival);

    // For one client, by the index that the observer was told; see ServerSession::send_message. `failed`: no such
    // client.
    protocol::SendStatus send_message(std::uint32_t client, std::uint16_t type, protocol::Bytes bytes, bool reliable);
    protocol::Board& board() { return board_; }  // clients see its changes after the next tick

    // Steps the due ticks, at most kMaxCatchUpTicks. Returns their number.
    std::uint32_t advance(protocol::TimeNs now, std::uint64_t unix_now_s);
    protocol::TimeNs next_deadline() const { return grid_.start_of(world_->tick() + 1); }

    // Says goodbye to all clients and closes the recording. An error is the one that ended the recording, now or
    // earlier. After it only stats() may be called.
    Result<Ok> stop(protocol::TimeNs now);

    // The error that halted the world, if any. The recording then holds all ticks before, and only stop() is left to
    // do.
    const std::optional<Error>& halted() const { return halted_; }

    RoomStats stats() const;
    const sim::World& world() const { return *world_; }
    const protocol::RoomDescription& description() const { return description_; }

  private:
    struct Client;

    Room(std::unique_ptr<sim::World> world, std::unique_ptr<Recorder> recorder, protocol::TimeNs now);
    void describe(const protocol::SharedScene& scene);
    void drain_inbox(protocol::TimeNs now, std::uint64_t unix_now_s);
    void handle_events(protocol::TimeNs now);
    void connect(const protocol::NetcodeServerEvent& event, protocol::TimeNs now);
    void drop(const protocol::NetcodeServerEvent& event);
    void process_sessions(protocol::TimeNs now);
    void hand_on_messages(Client& client);
    void tell_events();
    void gather_commands(std::uint64_t tick);
    void gather_orders();
    void step(std::uint64_t slipped_ns);
    bool watched() const;
    void quantise();
    void record(std::uint64_t slipped_ns, const sim::HashTree& hash);
    void update_clients(protocol::TimeNs now);
    void flush(Client& client, protocol::TimeNs now);

    std::unique_ptr<sim::World> world_;
    sim::Executor* executor_ = nullptr;
    std::unique_ptr<Recorder> recorder_;
    std::optional<Error> recording_error_;
    std::unique_ptr<protocol::NetcodeServer> netcode_;
    RoomObserver* observer_ = nullptr;
    Director* director_ = nullptr;
    sim::StageObserver* stage_observer_ = nullptr;
    TickGrid grid_;
    Overload overload_;
    DatagramQueue inbox_;
    protocol::DeltaCodec codec_;
    protocol::RoomDescription description_;
    protocol::QuantisedWorld quantised_;
    protocol::Board board_;
    protocol::EventRule event_rule_;
    std::vector<protocol::WorldEvent> told_events_;  // of the last step
    std::vector<std::unique_ptr<Client>> clients_;   // by netcode client index; null: no client
    std::vector<std::uint16_t> leaving_;             // slots whose player has left, ascending
    std::vector<sim::Command> commands_, orders_;
    std::vector<std::uint8_t> saved_;
    std::optional<Error> halted_;
    RoomStats stats_;
};

}  // namespace orrery::server
