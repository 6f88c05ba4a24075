// The one thread that touches the sockets of clients and signals: an Asio io_context with a UDP socket and a web
// server, and for each room a RoomLink of bounded queues between it and the thread that steps the room.
//
// Which room a datagram is for: a request names the protocol id of its room in clear, which its token authenticates.
// Any other datagram goes to the rooms that have lately sent to its address: who answers an address holds a token for
// it. Of a WebSocket it is the token, its first message, that names the room.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "protocol/netcode/address.h"
#include "server/net/room_link.h"
#include "server/net/web_server.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr protocol::TimeNs kRouteLife = 10 * protocol::kNsPerSecond;  // after the last datagram to an address

class NetworkThread {
  public:
    // Binds `address` (port 0: any free port). An error with code io: the address or port is not available.
    static Result<std::unique_ptr<NetworkThread>> start(const protocol::Address& address);
    // Sends the queued datagrams and messages, then ends the thread; at most about a second later. No link is left.
    ~NetworkThread();

    // The link of a room. `protocol_id`: of the tokens of its clients, of no other room here, now or before. Empty: the
    // one room of this process, to which all goes. `queue_bytes`: of each of its queues.
    std::unique_ptr<RoomLink> add_room(std::optional<std::uint64_t> protocol_id,
                                       std::size_t queue_bytes = kMaxQueuedBytes);

    // Opens the web server, once. An error with code io: its address or port is not available.
    Result<Ok> serve_web(WebConfig config);
    std::optional<protocol::Address> web_address() const;  // with its port; none: there is no web server
    // Files that come and go while the web server runs.
    void add_file(std::string path, std::vector<std::uint8_t> bytes, bool immutable);
    void remove_file(std::string path);

    protocol::Address local_address() const;
    NetworkStats stats() const;  // of no room: what is of the process

    // Waits until `deadline` (of the clock of now()). False: end_waits() was called, now or before.
    bool wait_until(protocol::TimeNs deadline);
    // Ends this wait and all later ones. Any thread may call it.
    void end_waits();
    // Called by the network thread at each SIGINT and SIGTERM with their count. False: the next one has the system's
    // effect, an end at once. Without it the first one ends the waits, and the next one ends the process. What has come
    // before is counted: the call then comes at once.
    void on_signal(std::function<bool(int count)> call);
    // After it returns, neither on_signal's call nor WebConfig::mint is called any more.
    void drop_calls();

    static protocol::TimeNs now();  // monotonic
    static std::uint64_t unix_ms();

  private:
    friend class RoomLink;
    struct State;
    explicit NetworkThread(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace orrery::server
