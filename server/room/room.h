// One world with its clients, its grid of ticks and its recorder. No socket, thread or clock: datagrams and the time
// come in, datagrams go out by a sink, so that a room with all its clients runs in one process on a virtual clock.
//
//   receive()  keeps a datagram for the next tick
//   advance()  datagrams -> netcode -> sessions; then per due tick: commands -> step -> hash -> recorder -> changes;
//              after the last of them: key frames and snapshots -> netcode -> sink
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
#include "protocol/session/server_session.h"
#include "protocol/snapshot/delta_codec.h"
#include "server/room/datagram_queue.h"
#include "server/room/overload.h"
#include "server/room/recorder.h"
#include "server/room/tick_grid.h"

namespace orrery::server {

inline constexpr std::uint32_t kSpawnHeadroom = 65'536;  // body indices above those of the scene that clients expect
inline constexpr std::uint32_t kMaxPacketsPerClientTick = 64;

struct RoomConfig {
    protocol::NetcodeServerConfig netcode;
    sim::Target target = sim::Target::automatic;
    sim::Executor* executor = nullptr;      // outlives the room
    sim::RigDevice* rig_device = nullptr;   // likewise; see sim::WorldConfig
    std::uint32_t history_ticks = 0;        // that a director's queries may go back; see sim::WorldConfig
};

struct RoomStats {
    std::uint64_t tick = 0;
    std::uint32_t clients = 0, playing = 0;
    std::uint64_t last_recorded_tick = 0;
    bool recording_failed = false;  // it ended with last_recorded_tick
    std::uint64_t slips = 0, slipped_ns = 0;
    std::uint64_t inputs_applied = 0, inputs_late = 0, inputs_repeated = 0;
    std::uint64_t malformed_messages = 0, refused_clients = 0;
    std::uint64_t orders_dropped = 0;     // of the director
    std::uint64_t rejected_commands = 0;  // by the world: of clients, of the director, and the room's own joins and leaves
    std::uint64_t datagrams_dropped = 0;  // by a full inbox
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
    // At most once a tick, before its step.
    virtual void orders_dropped(std::uint64_t /*tick*/, const DroppedOrders& /*what*/) {}
    // After each step.
    virtual void stepped(const sim::World& /*world*/, std::uint64_t /*root_hash*/) {}
    virtual void slipped(std::uint64_t /*tick*/, std::uint64_t /*late_ns*/) {}
    virtual void recording_failed(const Error& /*error*/) {}

  protected:
    ~RoomObserver() = default;
};

// What a host that links this library adds to a room: orders to the world, beside those of its players. They are
// recorded as all commands are, so that a replay is verified without the director. It may ask the world what a player saw: queries
// go back RoomConfig::history_ticks.
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
    // `random` and `sink` must outlive the room. Time starts at `now`. Rooms of one scene share its definition.
    static Result<std::unique_ptr<Room>> create(const RoomConfig& config, const protocol::SharedScene& scene,
                                                std::unique_ptr<Recorder> recorder, protocol::RandomSource& random,
                                                protocol::DatagramSink& sink, protocol::TimeNs now);
    // Makes a definition for this room alone.
    static Result<std::unique_ptr<Room>> create(const RoomConfig& config, const protocol::LoadedScene& scene,
                                                std::unique_ptr<Recorder> recorder, protocol::RandomSource& random,
                                                protocol::DatagramSink& sink, protocol::TimeNs now);
    ~Room();

    void set_observer(RoomObserver* observer) { observer_ = observer; }
    // Told of the stages of each step, whose times a host may take; until it is replaced. Null: nobody is.
    void set_stage_observer(sim::StageObserver* observer) { stage_observer_ = observer; }
    void set_director(Director* director) { director_ = director; }  // outlives the room; null: none

    // Waits for the next tick; `arrival` is when it came in.
    void receive(const protocol::Address& from, protocol::Bytes datagram, protocol::TimeNs arrival);

    // Steps what is due, at most kMaxCatchUpTicks ticks; returns how many.
    std::uint32_t advance(protocol::TimeNs now, std::uint64_t unix_now_s);
    protocol::TimeNs next_deadline() const { return grid_.start_of(world_->tick() + 1); }

    // Says goodbye to everyone and closes the recording; the error is the one that ended it, now or earlier. Nothing
    // may follow but stats().
    Result<Ok> stop(protocol::TimeNs now);

    // Why the world takes no further tick, if so: the recording holds all ticks before, and stop() is what is left to
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
    std::vector<std::unique_ptr<Client>> clients_;  // by netcode client index; null: nobody
    std::vector<std::uint16_t> leaving_;            // slots whose player has gone, ascending
    std::vector<sim::Command> commands_, orders_;
    std::vector<std::uint8_t> saved_;
    std::optional<Error> halted_;
    RoomStats stats_;
};

}  // namespace orrery::server
