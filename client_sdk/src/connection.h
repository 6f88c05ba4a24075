// A client without its C face: session and jitter buffer over a link.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "client_sdk/src/link.h"
#include "client_sdk/src/mirror_seam.h"
#include "client_sdk/src/playout.h"
#include "protocol/session/client_session.h"

namespace orrery::client {

inline constexpr std::size_t kMaxWaitingEvents =
    65'536;  // further events of bodies and world are dropped; the bodies themselves stay right
// Of messages and of the board, with kEventBytes for each. A program that leaves more than that unread is disconnected:
// messages cannot be dropped, and memory is bounded.
inline constexpr std::size_t kMaxUnreadBytes = 4u << 20;
inline constexpr std::size_t kEventBytes = 256;

struct ConnectionEvent {
    // The numbers of ORRERY_EVENT_*.
    enum class Kind : std::uint8_t {
        connected = 1,
        disconnected,
        body_added,
        body_removed,
        slipped,
        token_needed,
        message,
        board,
        world,
        scene,
        diverged
    };
    Kind kind = Kind::connected;
    std::uint64_t tick = 0;
    sim::BodyId body;
    std::uint64_t late_ns = 0;
    std::string text;
    EndReason end_reason = EndReason::none;                 // disconnected
    std::unique_ptr<const protocol::EventDetail> detail{};  // message, board, world
    Certainty certainty = Certainty::certain;               // world, of a mirror
};

class Connection {
  public:
    enum class State : std::uint8_t { disconnected, connecting, joining, playing };

    // `link` must outlive the connection.
    Connection(Link& link, const protocol::ClientHello& hello, const PlayoutLimits& limits);

    Result<> connect(protocol::Bytes token, protocol::TimeNs now);
    Result<> connect_insecure(std::string_view server, protocol::TimeNs now);
    void disconnect(protocol::TimeNs now);
    void poll(protocol::TimeNs now);
    void set_control(const protocol::WireControl& control);
    // See ClientSession; `failed` and false without a session.
    protocol::SendStatus send_message(std::uint16_t type, protocol::Bytes bytes, bool reliable);
    bool request_scene() { return active_ && session_ && session_->request_scene(); }
    void set_observer(protocol::SnapshotObserver* observer) { observer_ = observer; }

    // A connection is lost if its server falls silent, or ends it because this client was silent or slow. Within this
    // time from then on it may be made anew: by a token that renew() gives after each event token_needed, or that the
    // client asks for itself after connect_insecure(). 0: a loss is an end. What else the server says is an end, too.
    void set_reconnect(protocol::TimeNs within) { reconnect_within_ = within; }
    bool needs_token() const { return active_ && token_needed_; }
    Result<> renew(protocol::Bytes token, protocol::TimeNs now);  // if needs_token()

    // Whether the client mirrors the room from the next connection on. False: connected, or this build cannot.
    bool set_mirror(bool on);
    // Which events of its own world a mirror tells, instead of those that the room tells; none: those of the room.
    bool set_mirror_events(const std::optional<protocol::EventRule>& rule);
    Mirror* mirror() { return mirror_.get(); }  // null: it does not
    const Mirror* mirror() const { return mirror_.get(); }

    // Of the next connection: states the scene that the program has. Null: none.
    void set_scene(std::shared_ptr<const protocol::SceneBaseline> scene) { scene_ = std::move(scene); }

    State state() const;
    bool next_event(ConnectionEvent& out);
    // For the log: what has gone wrong without an end of the connection. Empty: nothing since the last call.
    std::string take_warning() { return link_.take_warning(); }
    double shown_tick(protocol::TimeNs now) { return playout_.advance(now); }
    double delay_ticks() const { return playout_.delay_ticks(); }
    // Null until connected; stays after a loss and after the end, so that what was seen last can still be shown.
    const protocol::ClientSession* session() const { return session_.get(); }
    const Link& link() const { return link_; }

  private:
    void start_session(protocol::TimeNs now);
    void flush(protocol::TimeNs now);
    void update_mirror(protocol::TimeNs now);
    void take_session_events(protocol::TimeNs now);
    void push_droppable(ConnectionEvent event);
    void push_counted(ConnectionEvent event, protocol::TimeNs now);
    void begin(bool insecure);
    bool lost(LinkEnd::Mend mend) const;
    bool given_up() const;
    void lose(std::string why, protocol::TimeNs now);
    void end_by_link(protocol::TimeNs now);
    void end(EndReason reason, std::string text, protocol::TimeNs now);

    Link& link_;
    protocol::ClientHello hello_;
    std::shared_ptr<const protocol::SceneBaseline> scene_;  // that the program has given, or null
    std::uint32_t engine_version_;                          // of the program; a mirror has its own
    std::unique_ptr<Mirror> mirror_;
    bool mirror_events_ = false;  // of the mirror, and not of the room
    bool insecure_ = false;       // the server gives the tokens
    bool active_ = false;
    protocol::TimeNs reconnect_within_ = 0;
    std::optional<protocol::TimeNs> lost_since_;  // until the world is there again
    bool token_needed_ = false;
    std::unique_ptr<protocol::ClientSession> session_;
    bool session_lost_ = false;  // `session_` is that of the lost connection
    Playout playout_;
    protocol::WireControl control_{};
    protocol::SnapshotObserver* observer_ = nullptr;
    std::deque<ConnectionEvent> events_;
    std::size_t unread_bytes_ = 0;
};

}  // namespace orrery::client
