// A client without its C face: netcode, session and jitter buffer over a transport.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "client_sdk/src/playout.h"
#include "client_sdk/src/transport.h"
#include "protocol/netcode/insecure_token.h"
#include "protocol/netcode/netcode_client.h"
#include "protocol/session/client_session.h"

namespace orrery::client {

inline constexpr std::uint32_t kMaxDatagramsPerPoll = 1024;
inline constexpr std::size_t kMaxWaitingEvents =
    65'536;  // further events of bodies and world are dropped; the bodies themselves stay right
// Of messages and of the board, with kEventBytes for each. A program that leaves more than that unread is disconnected:
// messages cannot be dropped, and memory is bounded.
inline constexpr std::size_t kMaxUnreadBytes = 4u << 20;
inline constexpr std::size_t kEventBytes = 256;

// The numbers of ORRERY_END_*.
enum class EndReason : std::uint8_t {
    none,
    by_client,
    no_answer,
    token,
    denied,
    timed_out,
    refused,
    unreadable,
    by_server,
    server_stopped,
    protocol_error,
    too_slow,
    handshake,
    world_too_large,
    unacknowledged,
    kicked,
    replaced,
    refused_by_game,
    message_limits,
};

struct ConnectionEvent {
    // The numbers of ORRERY_EVENT_*.
    enum class Kind : std::uint8_t {
        connected = 1,
        disconnected,
        body_added,
        body_removed,
        slipped,
        message = 7,
        board,
        world,
        scene
    };
    Kind kind = Kind::connected;
    std::uint64_t tick = 0;
    sim::BodyId body;
    std::uint64_t late_ns = 0;
    std::string text;
    EndReason end_reason = EndReason::none;                 // disconnected
    std::unique_ptr<const protocol::EventDetail> detail{};  // message, board, world
};

class Connection {
  public:
    enum class State : std::uint8_t { disconnected, connecting, joining, playing };

    // `transport` and `random` must outlive the connection.
    Connection(Transport& transport, protocol::RandomSource& random, const protocol::ClientHello& hello,
               const PlayoutLimits& limits);

    Result<> connect(protocol::Bytes token, protocol::TimeNs now);
    Result<> connect_insecure(std::string_view server, protocol::TimeNs now);
    void disconnect(protocol::TimeNs now);
    void poll(protocol::TimeNs now);
    void set_control(const protocol::WireControl& control);
    // See ClientSession; `failed` and false without a session.
    protocol::SendStatus send_message(std::uint16_t type, protocol::Bytes bytes, bool reliable);
    bool request_scene() { return active_ && session_ && session_->request_scene(); }
    void set_observer(protocol::SnapshotObserver* observer) { observer_ = observer; }

    State state() const;
    bool next_event(ConnectionEvent& out);
    double shown_tick(protocol::TimeNs now) { return playout_.advance(now); }
    double delay_ticks() const { return playout_.delay_ticks(); }
    // Null until connected; stays after the end, so that what was seen last can still be shown.
    const protocol::ClientSession* session() const { return session_.get(); }
    const protocol::NetcodeClient& netcode() const { return netcode_; }

  private:
    void receive(protocol::TimeNs now);
    Result<> use_answer(protocol::TimeNs now);
    void start_session(protocol::TimeNs now);
    void flush(protocol::TimeNs now);
    void take_session_events(protocol::TimeNs now);
    void push_droppable(ConnectionEvent event);
    void push_counted(ConnectionEvent event, protocol::TimeNs now);
    void end(EndReason reason, std::string text, protocol::TimeNs now);

    Transport& transport_;
    protocol::ClientHello hello_;
    protocol::NetcodeClient netcode_;
    protocol::TokenAsker asker_;
    protocol::Address asked_;
    bool asking_ = false;
    bool active_ = false;
    std::unique_ptr<protocol::ClientSession> session_;
    Playout playout_;
    protocol::WireControl control_{};
    protocol::SnapshotObserver* observer_ = nullptr;
    std::deque<ConnectionEvent> events_;
    std::size_t unread_bytes_ = 0;
};

}  // namespace orrery::client
