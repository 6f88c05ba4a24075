// One client of a room, between its Channel and the world: handshake, key frame, controls in, snapshots out.
//
//   awaiting_hello --ClientHello--> key_frame --KeyFrameReady--> playing
//          \--------------- refusal, goodbye ----------------------/ --> closing --> closed
//
// Once in each tick the room gives the session what it needs: a slot of the world after the handshake, then a key
// frame, then a snapshot after every tick.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/netcode/byte_queue.h"
#include "protocol/netcode/reliable.h"
#include "protocol/session/board.h"
#include "protocol/session/game_limits.h"
#include "protocol/session/input_buffer.h"
#include "protocol/session/key_frame.h"
#include "protocol/session/messages.h"
#include "protocol/session/mirror_sender.h"
#include "protocol/session/scene_baseline.h"
#include "protocol/session/world_events.h"
#include "protocol/snapshot/sender.h"

namespace orrery::protocol {

inline constexpr TimeNs kHandshakeTimeout = 10 * kNsPerSecond;
inline constexpr TimeNs kKeyFrameTimeout = 120 * kNsPerSecond;
inline constexpr TimeNs kClosingLinger = kNsPerSecond;               // for the refusal or goodbye to arrive
inline constexpr TimeNs kUnacknowledgedTimeout = 10 * kNsPerSecond;  // of a client that acknowledges nothing
// A refusal or goodbye goes out beside the stream, too: the stream may be blocked by what waits before it.
inline constexpr int kLastWordsAtOnce = 3;
inline constexpr TimeNs kLastWordInterval = kNsPerSecond / 4;
inline constexpr std::uint32_t kMaxMessagesPerTick = 64;  // of one client; further ones wait in its channel
// of reliable messages of the session stream; beyond it the client is too slow
inline constexpr std::size_t kMaxUnacknowledgedBytes = 20u << 20;

// A scene is sent no further ahead of its acknowledgements, so that other messages of the session stream do not wait
// long.
inline constexpr std::size_t kMaxSceneAheadBytes = 64u << 10;

// A client that mirrors the room and diverges gets a new state no more often.
inline constexpr TimeNs kMirrorStateInterval = 2 * kNsPerSecond;
// Reports of divergences in kMirrorReportTime; one more ends the session. Equal commands give equal states: a client
// that diverges again and again cannot mirror the room, and each state that it gets is a save of the world.
inline constexpr std::uint32_t kMaxMirrorReports = 3;
inline constexpr TimeNs kMirrorReportTime = 60 * kNsPerSecond;

inline constexpr double kControlHold_s = 0.5;  // a player that sends none lets go of its controls after it

// What every client of a room is told alike.
struct RoomDescription {
    ServerHello hello;  // `slot` differs for each session
    std::vector<sim::ShapeDef> shapes;
    std::map<sim::BodyId, std::string> names;  // of the bodies of the scene
    Vocabulary vocabulary;
    std::vector<std::uint8_t> scene_bytes;  // binary; given to who asks. Empty: not given away

    // Of a room that has just begun with the scene: clients that have the scene are told what differs from it.
    void begin_with(SceneBaseline scene);
    QuantisedWorld scene_world;           // before the first tick
    std::uint64_t known_scene_hash = 0;   // SceneBaseline::scene_bytes_hash; 0: clients are told everything
    std::uint64_t known_scene_check = 0;  // SceneBaseline::hash

    // Also states size and hash in the hello. A scene above kMaxWireSceneBytes is not given away.
    void serve_scene(Bytes binary);
};

class ServerSession {
  public:
    enum class State : std::uint8_t { awaiting_hello, key_frame, playing, closing, closed };

    enum class Joins : std::uint8_t { welcome, shed };  // shed: a client that says hello is refused as `overloaded`

    // `room` and `codec` must outlive the session. `slot` may be kNoSlot: a spectator, unless set_role says otherwise.
    ServerSession(const RoomDescription& room, const SnapshotCodec& codec, std::uint16_t slot, TimeNs now,
                  const ChannelConfig& channel = server_channel_config());

    void set_role(TokenRole role) { role_ = role; }  // which the hello tells

    // Stores a payload of this client for process().
    void receive_packet(Bytes payload, TimeNs arrival);

    // Processes at most kMaxMessagesPerTick messages. `start_of_next_tick` is the start time of the tick after `tick`.
    // Controls that arrived between two calls count as arrived with the last of their packets.
    void process(std::uint64_t tick, TimeNs start_of_next_tick, TimeNs tick_duration, Joins joins, TimeNs now);

    bool welcome() const { return state_ == State::key_frame || state_ == State::playing; }
    bool needs_key_frame() const { return state_ == State::key_frame && key_frame_tick_ == kNoTick && !mirrors(); }
    // The client has the scene: its key frame is that of make_scene_key_frame.
    bool from_scene() const { return from_scene_; }
    // `key_frame` serves the world's present tick, and may be some ticks old. One above kMaxKeyFrameBytes ends the
    // connection.
    void send_key_frame(const KeyFrame& key_frame, TimeNs now);
    // Sends the bodies that came and went in the world's last update; nothing before the key frame.
    void send_changes(const QuantisedWorld& world);
    void send_snapshot(const QuantisedWorld& world);
    // A client that mirrors the room gets the state of the world instead of a key frame, at first and after a
    // divergence, and the commands of each tick instead of changes and snapshots. `state`: of MirrorLog::state(); an
    // empty one ends the connection.
    bool mirrors() const { return mode_ == SessionMode::mirror; }
    bool needs_mirror_state(TimeNs now) const;
    bool had_mirror_state() const { return key_frame_tick_ != kNoTick; }
    void send_mirror_state(std::span<const SharedBytes> state, std::uint64_t tick, TimeNs now);
    // To be called after every tick, or few of them. `takes_more`: the link takes unreliable messages now; what it does
    // not take is repeated, or goes by the stream.
    void send_tick_commands(const MirrorLog& log, bool takes_more = true);
    std::uint64_t mirror_reports() const { return mirror_reports_; }  // of divergences

    void send_slip(const Slip& slip);  // and expects controls that are numbered again

    // Bytes of the game for this client: from its hello on, so that they may arrive before its key frame. Reliable ones
    // come once and in order, and do not wait behind the key frame; at most kMaxGameMessageBytes. Unreliable ones, at
    // most kMaxUnreliableGameBytes, are sent once. `failed`: there is no session; `queue_full`: too much is on its way;
    // `rate_limited`: beyond kServerUnreliableBytes.
    SendStatus send_message(std::uint16_t type, Bytes bytes, bool reliable);

    // A message of this client's program; `bytes` are valid until the next call that is not const.
    struct Received {
        std::uint16_t type = 0;
        bool reliable = true;
        Bytes bytes;
    };
    bool next_message(Received& out);

    // Brings the client's copy of `board` up to date, as far as its queue has room. Call it in each tick.
    void send_board(const Board& board, std::uint64_t tick);
    // What happened in the step to `tick`, for a client that plays. At most kMaxWorldEvents are told, see
    // drop_least_events; all are dropped if the client's queue is full.
    void send_world_events(std::uint64_t tick, std::span<const WorldEvent> events);
    std::uint64_t world_events_dropped() const { return events_dropped_; }

    // `text`: the game's words, UTF-8, up to kMaxGoodbyeTextBytes.
    void close(GoodbyeReason reason, TimeNs now, std::string_view text = {});
    std::size_t write_packet(TimeNs now, std::span<std::uint8_t, kMaxPayloadBytes> out);

    State state() const { return state_; }
    std::uint16_t slot() const { return slot_; }
    InputBuffer& inputs() { return inputs_; }
    const InputBuffer& inputs() const { return inputs_; }
    const ChannelStats& channel_stats() const { return channel_.stats(); }
    std::size_t own_bytes() const { return channel_.own_bytes(); }  // on their way to the client; see Channel
    std::uint64_t malformed_messages() const { return malformed_; }
    const Refusal& refusal() const { return refusal_; }
    const std::optional<GoodbyeReason>& goodbye() const { return goodbye_; }  // why the server ended it, if it did

  private:
    static constexpr std::uint64_t kNoTick = ~std::uint64_t{0};

    void handle_hello(Bytes message, TimeNs now);
    void handle_reliable(Bytes message, TimeNs now);
    void handle_unreliable(Bytes message, std::uint64_t tick, TimeNs start_of_next_tick, TimeNs tick_duration,
                           TimeNs now);
    void take_game_messages(TimeNs now);
    void send_scene();
    bool handle_mirror_report(Bytes message, TimeNs now);
    bool game_has_room(std::size_t bytes, std::size_t most) const;
    void handle_input(Bytes message, std::uint64_t tick, TimeNs start_of_next_tick, TimeNs tick_duration);
    void check_timeouts(TimeNs now);
    void send(Bytes message);
    void send(const SharedBytes& message);
    void send_last_word(Bytes message, TimeNs now);

    const RoomDescription& room_;
    std::uint16_t slot_;
    State state_ = State::awaiting_hello;
    Joins joins_ = Joins::welcome;
    TimeNs state_since_;
    Channel channel_;
    SnapshotSender sender_;
    InputBuffer inputs_;
    MessageWriter writer_;
    MessageReader reader_;
    Input input_;
    Snapshot snapshot_;
    Refusal refusal_;
    std::uint64_t key_frame_tick_ = kNoTick;
    std::uint64_t told_tick_ = 0;  // whose changes the client has been sent
    std::uint64_t malformed_ = 0;
    TimeNs last_arrival_ = 0;
    bool overflowed_ = false;
    bool from_scene_ = false;
    bool quiet_ = false;  // of the channel, in this tick
    struct GameHead {
        std::uint16_t type = 0;
        bool reliable = true;
    };
    TokenRole role_;
    ByteQueue<GameHead> game_inbox_;
    GamePace pace_;
    TokenBucket excess_;      // unreliable messages that came too early
    TokenBucket unreliable_;  // that may be sent
    TimeNs now_;              // of the last process()
    GameMessage game_message_;
    WorldEvents world_events_;
    std::uint64_t events_dropped_ = 0;
    std::uint32_t events_untold_ = 0;  // since the last message of events
    bool board_begun_ = false;
    std::uint64_t board_version_ = 0;        // what the client has been sent
    std::optional<std::uint32_t> scene_at_;  // of a scene that was asked for: the next byte to send
    SessionMode mode_ = SessionMode::snapshots;
    MirrorSender mirror_;
    std::vector<std::uint8_t> mirror_message_;
    std::optional<std::uint64_t> mirror_report_;      // to be answered
    bool report_open_ = false, begin_again_ = false;  // since the last state
    TimeNs mirror_state_at_ = 0;
    std::uint64_t mirror_reports_ = 0;
    TimeNs mirror_reports_from_ = 0;  // begin of the time in which they are counted
    std::uint32_t mirror_reports_recent_ = 0;
    std::optional<GoodbyeReason> goodbye_;
    std::vector<std::uint8_t> last_word_;  // of closing
    bool last_word_in_stream_ = false;
    int last_words_sent_ = 0;
    TimeNs last_word_at_ = 0;
};

}  // namespace orrery::protocol
