// The game logic of a room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/netcode/crypto.h"
#include "protocol/session/token_role.h"

namespace orrery::server {

class Room;

// A client that has connected, and may get a seat.
struct JoinRequest {
    std::uint64_t client_id = 0;  // of its token
    protocol::TokenRole role = protocol::TokenRole::player;
    // The game's own bytes of its token, with zeros behind them: 246, or 256 of a token without a role. Valid during
    // the call.
    protocol::Bytes user_data;
    std::optional<std::uint16_t> held_slot;  // the seat that is held for this client id
    std::optional<std::uint16_t> free_slot;  // the lowest slot that is free, those that a director drives last
};

// What a director says to a JoinRequest.
struct JoinAnswer {
    // A seat in `slot`, no seat, or an end of the connection.
    enum class Kind : std::uint8_t { seat, spectator, refuse };
    Kind kind = Kind::seat;
    std::optional<std::uint16_t> slot;  // seat; empty: the held one, else the lowest free one
    std::string reason;  // refuse: for the player, UTF-8; at most protocol::kMaxGoodbyeTextBytes are told

    // A seat that is not free makes the client a spectator.
    static JoinAnswer seat(std::optional<std::uint16_t> slot = {}) { return {Kind::seat, slot, {}}; }
    // The client watches, without a seat.
    static JoinAnswer spectator() { return {Kind::spectator, {}, {}}; }
    // The connection ends, and the player is told `reason`.
    static JoinAnswer refuse(std::string reason) { return {Kind::refuse, {}, std::move(reason)}; }
};

// To whom a message goes. Clients of one client id are never connected twice at a time.
struct Recipient {
    // All clients, those with a seat, those without, or one.
    enum class Kind : std::uint8_t { everyone, players, spectators, client, slot };
    Kind kind = Kind::everyone;
    std::uint64_t client_id = 0;  // client
    std::uint16_t slot = 0;       // slot: the player who has it

    // Whether it may be more than one client.
    bool many() const { return kind != Kind::client && kind != Kind::slot; }

    // Recipients of each kind.
    static Recipient everyone() { return {}; }
    static Recipient players() { return {Kind::players, 0, 0}; }
    static Recipient spectators() { return {Kind::spectators, 0, 0}; }
    static Recipient client(std::uint64_t client_id) { return {Kind::client, client_id, 0}; }
    static Recipient player(std::uint16_t slot) { return {Kind::slot, 0, slot}; }
};

// A message of a client's program.
struct ClientMessage {
    std::uint64_t client_id = 0;        // of the sender's token
    std::optional<std::uint16_t> slot;  // the sender's; empty: it watches
    std::uint16_t type = 0;             // the game gives it its meaning
    bool reliable = true;               // how it was sent
    protocol::Bytes bytes;              // valid during the call
};

// Why a client gave up its seat. Recordings have the numbers: append only, and raise kLastLeaveReason
// (protocol/replay/ancillary.h).
enum class LeaveReason : std::uint8_t {
    left,     // the client disconnected
    lost,     // the client fell silent, and did not come back while its seat was held
    kicked,   // by Room::kick
    ended,    // the room ended the connection: the client broke a rule of the protocol
    stopped,  // the room stops
};

// Code of a host that links this library: the rules of a game. It decides who may play, and gives orders to the world,
// beside the commands of players. Orders are recorded as all commands are, so that a replay is verified without the
// director. A director may query what a player saw: queries look back RoomConfig::history_ticks.
//
// All calls come from the thread that steps the room, and must not block: while one runs, no tick begins. The calls
// before a step come in this order: on_join_request, lost and left, as clients come and go, and the last messages of
// those who disconnect; on_message; left, where the time of a held seat is over; joined; on_tick. After the step come
// lost and left of clients whose connection the room has ended. Room::kick calls left at once. If a host that is late
// steps several ticks at once, clients come, go and send only before the first.
class Director {
  public:
    virtual ~Director() = default;

    // Once, before all other calls. `room` lives as long as the director is used.
    virtual void on_start(Room& /*room*/) {}

    // A client with a good token has connected. The default: players get a seat, or watch if none is free; spectators
    // and directors watch. It is no member of the room yet: refuse it, where Room::kick would not find it.
    virtual JoinAnswer on_join_request(const JoinRequest& request);

    // The client has the seat: its player is in the world with the next tick. Also when a client comes back to the seat
    // that was held for it; `returned` is true then, and the player's bodies are those of before.
    virtual void joined(std::uint16_t /*slot*/, std::uint64_t /*client_id*/, bool /*returned*/) {}
    // The seat is held for a client that was lost, with all controls zero: joined or left follows.
    virtual void lost(std::uint16_t /*slot*/, std::uint64_t /*client_id*/) {}
    // The seat is free: its player leaves the world with the next tick.
    virtual void left(std::uint16_t /*slot*/, LeaveReason /*reason*/) {}

    // In the order in which a client sent its reliable messages; of different clients in order of client index. A
    // player's messages come after its `joined`. What a client sent before it disconnected comes before its `left`; of
    // a client that the room sends away nothing more comes.
    virtual void on_message(const ClientMessage& /*message*/) {}

    // For a room that goes on from its recording (GameServerConfig::resume). A director of which save() is false
    // cannot.

    // Appends the director's own state to `state`, which is empty: beside each keyframe, and at Room::save_now. Ids of
    // bodies and joints stay good.
    virtual bool save(std::vector<std::uint8_t>& /*state*/) const { return false; }
    // Takes the state that save() gave at world.tick(), in the place of its own. False: it cannot. Without a call, the
    // recording ends before its first keyframe, and the state is that of the beginning.
    virtual bool restore(protocol::Bytes /*state*/, const sim::World& /*world*/) { return false; }
    // After each tick behind that state that is stepped again, with the recorded commands. joined, lost and left come
    // again, too, of a recording with plain client ids; messages do not. Nothing can be sent then. At the end all that
    // sat in the room are lost; of a recording with hashed ids `lost` has the hash.
    virtual void on_replayed_tick(const sim::World& /*world*/, std::span<const sim::Command> /*commands*/) {}

    // Is called before the step from world.tick() to the next tick. Appends commands to `orders`, which is empty. The
    // step applies them in that order. The room sets their `sequence`, and drops kinds for which sim::is_director_order
    // is false. world.events() has the events of the last step.
    virtual void on_tick(const sim::World& world, std::vector<sim::Command>& orders) = 0;
};

// Orders of a director in a tick: as many as leave room for the commands of all players. Further ones are dropped and
// counted, and the observer is told.
inline constexpr std::size_t kMaxOrdersPerTick = sim::kMaxCommandsPerTick - 3 * sim::kMaxSlots;

}  // namespace orrery::server
