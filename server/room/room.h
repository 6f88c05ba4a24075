// A room: one world with its clients, its tick grid and its recorder. It has no socket, thread or clock. Datagrams and
// the time are passed in, and datagrams leave through a sink; so do the messages of streams (WebSocket), where there
// are any. So a room with all its clients can run in one process on a virtual clock. One thread at a time uses a room.
//
// Times (protocol::TimeNs) are nanoseconds of any monotonic clock, the same one in every call. A client index is the
// number of a client's connection, from 0 to max_clients - 1, over all transports. It is used again after the client
// has left, and has nothing to do with slots (seats.h), nor with the indices inside of a transport.
//
//   receive()  stores a datagram for the next tick; stream_opened() and its like, what a stream did
//   advance()  datagrams -> netcode -> sessions, messages -> streams -> sessions;
//              then for each due tick: commands -> step -> hash -> recorder -> changes;
//              after the last one: key frames and snapshots, one task a client (room_sending.cpp) -> netcode -> sink
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/netcode/netcode_server.h"
#include "protocol/netcode/stream_server.h"
#include "protocol/scene/scene.h"
#include "protocol/session/board.h"
#include "protocol/session/server_session.h"
#include "protocol/session/world_events.h"
#include "protocol/snapshot/delta_codec.h"
#include "server/room/datagram_queue.h"
#include "server/room/director.h"
#include "server/room/overload.h"
#include "server/room/room_recorder.h"
#include "server/room/seats.h"
#include "server/room/stream_queue.h"
#include "server/room/tick_grid.h"

namespace orrery::server {

inline constexpr std::uint32_t kSpawnHeadroom = 65'536;  // body indices that clients expect above those of the scene
inline constexpr std::uint32_t kMaxPacketsPerClientTick = 64;  // that a client is sent in a tick
inline constexpr std::uint32_t kMaxNotesPerSecond = 16;        // in a recording, in each second of ticks

// Settings of a room.
struct RoomConfig {
    protocol::NetcodeServerConfig netcode;        // for clients of the SDK: protocol_id = protocol::kNetcodeProtocolId
    sim::Target target = sim::Target::automatic;  // see sim::WorldConfig
    sim::Executor* executor = nullptr;            // outlives the room; null: the calling thread does all work
    sim::RigDevice* rig_device = nullptr;         // outlives the room; see sim::WorldConfig
    // Ticks for which the seat of a client that fell silent is held for it; 0: no hold. A client that disconnects gives
    // its seat up.
    std::uint64_t hold_seat_ticks = 0;
    // Longest time for which the backend's tokens are valid, s: so long a kick keeps a client id out.
    std::uint32_t token_lifetime_s = 300;
    std::uint32_t history_ticks = 0;  // ticks that a director's queries may look back; see sim::WorldConfig
    protocol::EventRule events;       // which events of the world clients are told
    // How the recording names clients: by their ids, not at all, or by hashes of the ids with this secret.
    protocol::replay::IdForm replay_ids = protocol::replay::IdForm::plain;
    protocol::Key replay_id_secret{};
    bool serve_scene = false;  // clients may have the scene's binary form
    // Clients may mirror the room. They get its scene, the state of its world, and the commands of all players, so that
    // nothing of the world is hidden from them: create() refuses it where `serve_scene` is off.
    bool allow_mirror = false;
    // Reads the clock of `now` when a packet is written, which a long step separates from the start of the tick: round
    // trips are counted from there. Called by the executor's threads. Null: packets are written at `now`.
    protocol::TimeNs (*clock)() = nullptr;
    protocol::StreamSink* streams = nullptr;  // for clients over streams; outlives the room; null: there are none
};

class Resumption;

// How a room goes on from a recording.
struct ResumeOptions {
    // Called with the world at its last tick. The recorder goes on with the file, or begins a new part.
    std::function<Result<std::unique_ptr<RoomRecorder>>(Resumption&, const sim::World&)> open_recorder;
    std::uint64_t unix_ms = 0;         // now
    bool refuse_older_tokens = false;  // which tokens were used before is not known: those that existed are void
    std::string build;                 // of this program, for the recording
};

// Counts are since the start of the room, those of clients that have left included.
struct RoomStats {
    std::uint64_t tick = 0;                   // the last one
    std::uint32_t clients = 0, playing = 0;   // connected; of these, those that have joined and get snapshots
    RecordingCounters recording;              // zeros: nothing is recorded
    std::uint64_t slips = 0, slipped_ns = 0;  // slips of the tick grid, and their sum
    // Controls that arrived in time, that arrived after their tick, and that were used again because none had arrived.
    std::uint64_t inputs_applied = 0, inputs_late = 0, inputs_repeated = 0;
    std::uint64_t malformed_messages = 0, refused_clients = 0;  // of clients; clients whose hello was refused
    std::uint64_t world_events_dropped = 0;  // that clients were not told; see ServerSession::send_world_events
    std::uint64_t orders_dropped = 0;        // orders of the director that the room dropped
    // Commands that the world rejected: those of clients and of the director, and the room's own joins and leaves.
    std::uint64_t rejected_commands = 0;
    std::uint64_t key_frames_made = 0;    // clients that join within half a second of each other share one
    std::uint64_t mirror_saves = 0;       // saves of the world for clients that mirror it
    std::uint64_t datagrams_dropped = 0;  // because the inbox was full
    protocol::NetcodeCounters netcode;    // of the transport below the sessions
    protocol::StreamCounters streams;     // likewise
};

// How the connection of a client ended. If the server ended it, `goodbye` or `refusal` has the reason, whatever `how`
// is.
struct Departure {
    protocol::DisconnectReason how = protocol::DisconnectReason::by_peer;  // as the transport saw it
    std::optional<protocol::GoodbyeReason> goodbye;                        // that the server sent, if it did
    protocol::RefusalReason refusal = protocol::RefusalReason::none;  // of the client's hello, if the server refused it
};

// Numbers of the orders of a director that the room dropped in a tick.
struct DroppedOrders {
    std::uint32_t not_a_directors = 0;  // see sim::is_director_order
    std::uint32_t too_many = 0;         // beyond kMaxOrdersPerTick
    std::uint32_t of_taken_seats = 0;   // occupy, of a slot that a client has or is promised
};

// Is told what happens to clients and ticks, from inside Room::advance() and Room::stop(). `client` is a client index,
// `client_id` the number in the client's token.
class RoomObserver {
  public:
    // A client with a good token has connected.
    virtual void connected(std::uint32_t /*client*/, std::uint64_t /*client_id*/, const protocol::Address& /*from*/) {}
    // The room refused the client's hello. Its connection ends.
    virtual void refused(std::uint32_t /*client*/, const protocol::Refusal& /*why*/) {}
    // The connection has ended; the client index is free.
    virtual void disconnected(std::uint32_t /*client*/, std::uint64_t /*client_id*/, const Departure& /*how*/) {}
    // A message of a client's program; `bytes` are valid during the call. It may send messages and change the board.
    virtual void message(std::uint32_t /*client*/, std::uint64_t /*client_id*/,
                         const protocol::ServerSession::Received& /*what*/) {}
    // At most once a tick, before its step.
    virtual void orders_dropped(std::uint64_t /*tick*/, const DroppedOrders& /*what*/) {}
    // After each step.
    virtual void stepped(const sim::World& /*world*/, std::uint64_t /*root_hash*/) {}
    // `tick` and all later ticks come late_ns later.
    virtual void slipped(std::uint64_t /*tick*/, std::uint64_t /*late_ns*/) {}
    // After a step. The room goes on, with or without a recording.
    virtual void recording_news(const RecordingNews& /*news*/) {}

  protected:
    ~RoomObserver() = default;
};

// A world with its clients; the head of this file says how it runs.
class Room {
  public:
    // `random` and `sink` must outlive the room. Its time starts at `now`. Rooms of one scene share its definition. A
    // null recorder: nothing is recorded. Errors are those of sim::World::create and protocol::NetcodeServer::create,
    // and limit_reached if the scene has more shapes than kMaxShapes or a key frame above kMaxKeyFrameBytes.
    static Result<std::unique_ptr<Room>> create(const RoomConfig& config, const protocol::SharedScene& scene,
                                                std::unique_ptr<RoomRecorder> recorder, protocol::RandomSource& random,
                                                protocol::DatagramSink& sink, protocol::TimeNs now);
    // Makes a definition for this room alone. Errors are also those of sim::Definition::create.
    static Result<std::unique_ptr<Room>> create(const RoomConfig& config, const protocol::LoadedScene& scene,
                                                std::unique_ptr<RoomRecorder> recorder, protocol::RandomSource& random,
                                                protocol::DatagramSink& sink, protocol::TimeNs now);
    ~Room();

    void set_observer(RoomObserver* observer) { observer_ = observer; }  // outlives the room; null: none
    // The observer gets the stages of each step, until another one is set, so that a host can measure them. Null: none.
    void set_stage_observer(sim::StageObserver* observer) { stage_observer_ = observer; }
    void set_director(Director* director);  // outlives the room; null: none

    // Stores a datagram for the next tick. `arrival` is its time of arrival.
    void receive(const protocol::Address& from, protocol::Bytes datagram, protocol::TimeNs arrival);

    // Store for the next tick what a connection of ordered messages did (see protocol::StreamServer). Each connection
    // has a number of its own, larger than those before. A message for which there is no room ends its connection.
    void stream_opened(protocol::StreamConnection connection, const protocol::Address& from, protocol::TimeNs arrival);
    void stream_received(protocol::StreamConnection connection, protocol::Bytes message, protocol::TimeNs arrival);
    // `lost`: the connection broke without a word of the client. Its seat may be held, as if it had fallen silent.
    void stream_closed(protocol::StreamConnection connection, bool lost, protocol::TimeNs arrival);

    // Steps the due ticks, at most `most`. Returns their number. `unix_now_s` is the Unix time in seconds; the expiry
    // of tokens is compared with it. A world that halts in a step is reported by halted().
    std::uint32_t advance(protocol::TimeNs now, std::uint64_t unix_now_s, std::uint32_t most = kMaxCatchUpTicks);
    // The time at which the next tick is due.
    protocol::TimeNs next_deadline() const { return grid_.start_of(world_->tick() + 1); }

    // For the director, in any of its calls:

    // Bytes of the game to clients that are in session, which they get even before their key frame. Reliable ones come
    // once and in order, at most protocol::kMaxGameMessageBytes; others are sent once, at most
    // protocol::kMaxUnreliableGameBytes. `ok`: every recipient took it, and to many there may be none. Else the first
    // refusal: `queue_full` and `rate_limited` (of unreliable ones): too much is on its way to that recipient;
    // `too_large`; `failed`: the one recipient is not in session.
    protocol::SendStatus send(const Recipient& to, std::uint16_t type, protocol::Bytes bytes, bool reliable = true);
    // Small state that every client has, from before its key frame on: scores, phase, countdown. Clients see changes
    // after the next tick.
    protocol::Board& board() { return board_; }
    const protocol::Board& board() const { return board_; }
    // A client of the room. One without a slot watches.
    struct Member {
        std::uint64_t client_id = 0;                             // of its token
        protocol::TokenRole role = protocol::TokenRole::player;  // of its token
        std::optional<std::uint16_t> slot;                       // empty: none
    };
    std::vector<Member> members() const;  // in order of client index
    // Ends the connection of this client, which is told `reason` (UTF-8), and frees its seat. For
    // RoomConfig::token_lifetime_s no token of this client id that exists now is good. False: no such client is
    // connected, and none holds a seat; its tokens are void all the same. In on_start it has no effect: the room does
    // not know the date before its first tick.
    bool kick(std::uint64_t client_id, std::string_view reason);

    // From now on newcomers are refused, and are told `reason` (UTF-8). Clients whose seat is held may come back.
    void close_to_newcomers(std::string reason) { closed_because_ = std::move(reason); }

    // Notes a text in the recording, behind the last tick: what a game wants to find there again, like a message or a
    // goal. It has no effect on the world, and verifying does not look at it. At most protocol::replay::kMaxNoteBytes,
    // kMaxNotesPerSecond. False: it was not noted, since it is too long, too many came, or nothing is recorded.
    bool note(std::string_view text);

    // Keeps the director's state and the board in the recording, as of the last tick, beside what is kept with each
    // keyframe: before what must not be lost. False: nothing is recorded, or there is nothing to keep.
    bool save_now();

    // Goes on from a recording of this scene, before the first tick: its last keyframe is restored and the ticks behind
    // it are stepped again, each compared with the record. The seats of all that sat in the room are held as if they
    // had just fallen silent. Errors name what differs, or what cannot be resumed; the room is of no use then.
    Result<Ok> resume(Resumption& from, const ResumeOptions& options);

    // Sends the board, the messages that wait and a goodbye with `reason` (UTF-8) to all clients, once, and closes the
    // recording, for which it waits up to kCloseWithin. An error: some of the recording is lost, here or earlier.
    // Afterwards only stats() may be called.
    Result<Ok> stop(protocol::TimeNs now, std::string_view reason = {});
    // The same in two steps: what is sent is in the sink after the first one, and only the second one waits for the
    // disk.
    void say_goodbye(protocol::TimeNs now, std::string_view reason = {});
    Result<Ok> close_recording();

    // The error that halted the world, if any. The recording then holds all ticks before, and only stop() is left to
    // do.
    const std::optional<Error>& halted() const { return halted_; }

    // By what a client is connected: for the observer. No such client: by datagrams.
    protocol::Transport transport_of(std::uint32_t client) const;

    RoomStats stats() const;                                                       // goes over all clients
    const sim::World& world() const { return *world_; }                            // at its last tick
    const protocol::RoomDescription& description() const { return description_; }  // what all clients are told

  private:
    struct Client;

    Room(std::unique_ptr<sim::World> world, std::unique_ptr<RoomRecorder> recorder, protocol::TimeNs now);
    void describe(const protocol::SharedScene& scene);
    void drain_inbox(protocol::TimeNs now, std::uint64_t unix_now_s);
    void drain_streams(protocol::TimeNs now);
    void handle_events(protocol::TimeNs now);
    void handle_event(protocol::Transport transport, const protocol::NetcodeServerEvent& event, protocol::TimeNs now);
    void connect(protocol::Transport transport, const protocol::NetcodeServerEvent& event, protocol::TimeNs now);
    std::optional<std::uint32_t> index_for(std::uint64_t client_id, protocol::TimeNs now);
    void end_link(protocol::Transport transport, std::uint32_t link, protocol::DisconnectReason reason,
                  protocol::TimeNs now);
    std::optional<std::uint16_t> free_slot() const;
    JoinAnswer ask_to_join(std::uint64_t client_id, const protocol::TokenIdentity& identity) const;
    std::optional<std::uint16_t> take_seat(const JoinAnswer& answer, std::uint64_t client_id);
    void drop(std::uint32_t index, protocol::DisconnectReason reason);
    void give_seat_up(Client& client, const Departure& how);
    void free_seat(std::uint16_t slot, LeaveReason reason);
    void end_holds(std::uint64_t tick);
    void gather_joins();
    void gather_controls(std::uint64_t tick);
    void process(Client& client, protocol::ServerSession::Joins joins);
    void process_sessions();
    ClientMessage message_of(const Client& client, const protocol::ServerSession::Received& message) const;
    void hand_on_messages(Client& client);
    void tell_events();
    void gather_commands(std::uint64_t tick);
    void gather_orders();
    void step(std::uint64_t slipped_ns);
    bool watched() const;
    void quantise();
    void record(std::uint64_t slipped_ns, const sim::HashTree& hash);
    protocol::replay::PlayerRecord player_record(std::uint16_t slot, protocol::replay::PlayerChange change,
                                                 LeaveReason reason = LeaveReason::left) const;
    void record_player(std::uint16_t slot, protocol::replay::PlayerChange change,
                       LeaveReason reason = LeaveReason::left);
    std::vector<protocol::replay::PlayerRecord> seated() const;
    void tell_recording_news();
    void save_host(std::vector<std::uint8_t>& out);
    Result<Ok> restore_host(protocol::Bytes bytes);
    void tell_again(const protocol::replay::PlayerRecord& player);
    Result<Ok> simulate_again(const Resumption& from);
    void hold_seats(const Resumption& from);
    void name_hashed_seat(std::uint64_t client_id);
    const protocol::KeyFrame& present_key_frame(bool from_scene);
    void update_clients(protocol::TimeNs now);
    void plan(Client& client, protocol::TimeNs now);
    void write_all(protocol::TimeNs now);
    void write(Client& client, protocol::TimeNs now) const;
    void seal(Client& client, protocol::TimeNs now) const;
    void hand_over(Client& client, protocol::TimeNs now);
    std::size_t unsent(const Client& client) const;
    void flush(Client& client, protocol::TimeNs now);

    std::unique_ptr<sim::World> world_;
    sim::Executor* executor_ = nullptr;
    protocol::TimeNs (*clock_)() = nullptr;
    std::unique_ptr<RoomRecorder> recorder_;  // null: nothing is recorded
    protocol::replay::IdForm replay_ids_ = protocol::replay::IdForm::plain;
    protocol::Key replay_id_secret_{};
    std::uint64_t notes_second_ = 0;  // in which notes_ came
    std::uint32_t notes_ = 0;
    std::unique_ptr<protocol::NetcodeServer> netcode_;
    protocol::StreamSink* stream_sink_ = nullptr;
    std::unique_ptr<protocol::StreamServer> streams_;  // null: none
    RoomObserver* observer_ = nullptr;
    Director* director_ = nullptr;
    sim::StageObserver* stage_observer_ = nullptr;
    TickGrid grid_;
    Overload overload_;
    protocol::TimeNs now_ = 0;      // of the last advance()
    std::uint64_t unix_now_s_ = 0;  // likewise
    std::uint64_t hold_seat_ticks_ = 0;
    std::uint32_t token_lifetime_s_ = 0;
    DatagramQueue inbox_;
    StreamQueue stream_inbox_;
    protocol::DeltaCodec codec_;
    protocol::RoomDescription description_;
    protocol::QuantisedWorld quantised_;
    protocol::MirrorLog mirror_log_;
    // That joiners may have at present: the second one those who have the scene.
    std::optional<protocol::KeyFrame> key_frame_, scene_key_frame_;
    protocol::Board board_;
    protocol::EventRule event_rule_;
    std::vector<protocol::WorldEvent> told_events_;             // of the last step
    std::vector<std::unique_ptr<Client>> clients_;              // by client index; null: no client
    std::vector<Client*> receivers_;                            // in a tick: all clients, in order
    std::array<std::vector<std::uint32_t>, 2> client_of_link_;  // by transport and the index there
    Seats seats_;
    std::vector<std::uint16_t> vacates_;         // slots of the director that clients take
    std::optional<std::string> closed_because_;  // to newcomers
    std::vector<sim::Command> commands_, orders_;
    std::vector<std::uint8_t> saved_, saved_host_;
    bool told_of_host_ = false;  // that it is too large
    std::optional<Error> halted_;
    RoomStats stats_;
};

}  // namespace orrery::server
