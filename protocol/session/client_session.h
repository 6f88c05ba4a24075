// The client's side of a room, between its Channel and the game: the handshake, a mirror of the server's bodies, the
// history of their states, controls, messages of the game, and a copy of the board.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/netcode/reliable.h"
#include "protocol/session/board.h"
#include "protocol/session/game_limits.h"
#include "protocol/session/input_clock.h"
#include "protocol/session/messages.h"
#include "protocol/session/mirror_receiver.h"
#include "protocol/session/scene_key_frame.h"
#include "protocol/snapshot/delta_codec.h"
#include "protocol/snapshot/receiver.h"

namespace orrery::protocol {

struct MirrorBody {
    BodyDescription description;
    std::uint64_t known_since = 0;  // the tick with which the body came
    bool alive = false;
};

// Who ended a session, and how.
enum class SessionEnd : std::uint8_t {
    none,
    refused,       // by the server, at the handshake
    said_goodbye,  // the server; goodbye() says why
    incompatible,  // this client does not fit the server
    unreadable,    // the server sent what this client cannot read
    too_slow,      // this client does not keep up with the server
};

struct EventDetail {
    std::uint16_t type = 0;  // message
    bool reliable = true;
    BoardEntry board;  // board
    bool removed = false;
    std::vector<std::uint8_t> bytes;  // message
    WorldEvent world;                 // world
};

struct SessionEvent {
    enum class Kind : std::uint8_t { joined, body_added, body_removed, slipped, ended, message, board, world, scene };
    Kind kind = Kind::joined;
    sim::BodyId body;
    std::uint64_t tick = 0;
    std::uint64_t late_ns = 0;                    // slipped
    std::unique_ptr<const EventDetail> detail{};  // message, board, world
};

// Gets each snapshot after it was decoded, for tests that compare clients with the server.
class SnapshotObserver {
  public:
    virtual void decoded(std::uint64_t tick, bool complete, std::span<const QuantisedBody> bodies) = 0;

  protected:
    ~SnapshotObserver() = default;
};

struct SessionStats {
    std::uint64_t snapshots_received = 0, snapshots_lost = 0, snapshots_duplicate = 0, snapshots_undecodable = 0;
    std::uint64_t newest_tick = 0;
    std::uint32_t late_inputs = 0;
    double input_slack_ticks = 0.0;
    double input_steer = 0.0;
    std::uint64_t world_events_dropped = 0;  // by the server
};

class ClientSession {
  public:
    enum class State : std::uint8_t { awaiting_hello, key_frame, playing, ended };

    // `scene`: of a client that has the scene, or null. The hello then states it, and if the room runs that scene, the
    // key frame tells only what differs from it.
    ClientSession(const ClientHello& hello, TimeNs now, const ChannelConfig& channel = client_channel_config(),
                  std::shared_ptr<const SceneBaseline> scene = nullptr);

    void receive_packet(Bytes payload, TimeNs now);
    // Processes received messages and makes the controls that are due. Call it often.
    void update(TimeNs now);
    std::size_t write_packet(TimeNs now, std::span<std::uint8_t, kMaxPayloadBytes> out) {
        return channel_.write_packet(now, out);
    }

    // Bytes for the room's program, from the server's hello on: `failed` before, and after the end. Limits are those of
    // game_limits.h, by the time of the last update().
    SendStatus send_message(std::uint16_t type, Bytes bytes, bool reliable);
    // Asks for the binary form of the scene, which comes as one event. False: the server does not give it away, or it
    // was asked for before.
    bool request_scene();
    Bytes scene() const { return scene_whole_ ? Bytes(scene_) : Bytes(); }  // once its event has come
    using BoardValues = std::map<std::string, std::vector<std::uint8_t>, std::less<>>;
    const BoardValues& board() const { return board_; }
    const Vocabulary& vocabulary() const { return vocabulary_; }

    void set_control(const WireControl& control) { control_ = control; }
    void set_observer(SnapshotObserver* observer) { observer_ = observer; }

    State state() const { return state_; }
    const std::string& end_reason() const { return end_reason_; }  // once ended
    SessionEnd end_kind() const { return end_kind_; }
    GoodbyeReason goodbye() const { return goodbye_; }   // if it ended so; the end's reason holds the game's text
    const ServerHello& hello() const { return hello_; }  // from key_frame on
    const std::vector<sim::ShapeDef>& shapes() const { return shapes_; }
    std::span<const MirrorBody> bodies() const { return bodies_; }  // by index
    std::string_view body_name(sim::BodyId id) const;               // empty: none
    std::span<const BodySample> history(std::uint32_t index) const { return receiver_.history(index); }
    // Of about the last second.
    BodyCost cost(sim::BodyId id) const;
    // Ticks of the last complete snapshots, ascending (see SnapshotSender).
    std::span<const std::uint64_t> complete_ticks() const { return complete_ticks_; }
    // The tick of the newest snapshot, and its time of arrival.
    std::uint64_t newest_tick() const { return stats_.newest_tick; }
    // Mirror mode (ClientHello::mode); null in the other. Who steps the world takes state and ticks from here, and
    // tells the session what the game may ask it for: words first, bodies as they come and go, then that it has joined.
    MirrorReceiver* mirror() { return mirror_.get(); }
    void begin_mirror_world(std::vector<sim::ShapeDef> shapes, Vocabulary vocabulary);
    void add_mirror_body(const BodyDescription& description, std::string_view name, std::uint64_t tick);
    void remove_mirror_body(sim::BodyId id, std::uint64_t tick) { remove_body(id, tick); }
    void mirror_joined(std::uint64_t tick);
    void report_divergence(std::uint64_t tick);  // once for each state
    // The clock of controls: the tick of the newest control that was made (0: none), how far the next one is, in [0, 1)
    // of a tick, and the control that was made for a tick; null: none, or long ago.
    std::uint64_t control_tick() const { return clock_.running() ? clock_.next_tick() - 1 : 0; }
    double control_phase() const { return clock_.phase(); }
    const WireControl* own_control(std::uint64_t tick) const;

    bool next_event(SessionEvent& out);
    const SessionStats& stats() const { return stats_; }
    const ChannelStats& channel_stats() const { return channel_.stats(); }

    // (tick, arrival) of the snapshots since the last call, in order of arrival; for a jitter buffer.
    struct Arrival {
        std::uint64_t tick;
        TimeNs at;
    };
    bool next_arrival(Arrival& out);

  private:
    void handle_reliable(Bytes message, TimeNs now);
    void take_game_messages();
    void handle_game(Bytes message);
    bool handle_board(BoardEntry entry, bool removed, std::uint64_t tick);
    bool handle_board(BoardState whole);
    void handle_world_events(const WorldEvents& told);
    void handle_game_message(bool reliable);
    bool handle_scene_part(Bytes message);
    void handle_slip(const Slip& slip);
    bool handle_key_frame_part(Bytes message);
    bool handle_changes(Bytes message);
    bool handle_scene_key_frame_part(Bytes message);
    bool finish_scene_key_frame();
    void finish_key_frame();
    bool handle_last_word(Bytes message, MessageType type);
    void handle_unreliable(Bytes message, TimeNs now);
    void handle_snapshot(Bytes message, TimeNs now);
    bool handle_mirror(Bytes message, MessageType type);
    void handle_tick_commands(Bytes message, TimeNs now);
    void end_if_too_slow();
    void forget_controls(std::uint64_t up_to);
    void note_controls(std::uint64_t first, std::uint32_t count);
    std::uint64_t lost_before(const Snapshot& snapshot) const;
    void send_inputs(TimeNs now);
    void add_body(const BodyDescription& description, std::uint64_t tick);
    void remove_body(sim::BodyId id, std::uint64_t tick);
    void push_event(SessionEvent event);
    void end(SessionEnd kind, std::string reason);

    DeltaCodec codec_;
    ClientHello own_hello_;
    State state_ = State::awaiting_hello;
    Channel channel_;
    SnapshotReceiver receiver_;
    InputClock clock_;
    MessageWriter writer_;
    MessageReader reader_;
    ServerHello hello_;
    std::vector<sim::ShapeDef> shapes_;
    Vocabulary vocabulary_;
    BoardValues board_;
    std::size_t board_bytes_ = 0;  // keys and values
    GamePace pace_{1.0, kGameBurst_s};
    TimeNs updated_at_ = 0;
    GameMessage game_message_;
    std::vector<std::uint8_t> scene_;
    bool scene_requested_ = false, scene_whole_ = false;
    std::vector<MirrorBody> bodies_;
    std::vector<BodyName> names_;  // ascending by index
    KeyFrameBegin key_frame_;
    bool key_frame_begun_ = false;
    std::vector<QuantisedBody> key_frame_bodies_;
    std::vector<QuantisedBody> part_;
    std::shared_ptr<const SceneBaseline> own_scene_;
    std::optional<SceneKeyFrameReader> scene_key_frame_;  // while it comes
    Snapshot snapshot_;
    Input input_;  // `controls`: those that are not acknowledged
    WireControl control_{};
    std::uint64_t input_base_tick_ = 0;  // the tick of the snapshot that started the clock of controls
    std::vector<std::uint64_t> complete_ticks_;
    std::deque<SessionEvent> events_;
    std::deque<Arrival> arrivals_;
    SessionStats stats_;
    std::unique_ptr<MirrorReceiver> mirror_;
    bool mirror_heard_ = false;                                              // of a tick
    std::array<std::pair<std::uint64_t, WireControl>, 128> own_controls_{};  // by tick
    SnapshotObserver* observer_ = nullptr;
    std::uint64_t newest_snapshot_ = 0;  // tick; 0: none has come
    std::string end_reason_;
    SessionEnd end_kind_ = SessionEnd::none;
    GoodbyeReason goodbye_{};
};

}  // namespace orrery::protocol
