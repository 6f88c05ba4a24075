// The one thread that touches sockets and signals: an Asio io_context with a UDP socket and a web server, and bounded
// queues of datagrams and messages between it and the thread that steps the room.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "protocol/netcode/address.h"
#include "protocol/netcode/datagram_sink.h"
#include "server/net/stream_exchange.h"
#include "server/net/web_server.h"
#include "server/room/datagram_queue.h"
#include "server/room/stream_queue.h"
#include "sim/base/result.h"

namespace orrery::server {

struct NetworkStats {
    std::uint64_t received_dropped = 0;  // datagrams that the room did not take in time
    std::uint64_t send_dropped = 0;      // datagrams that the operating system did not take
    std::uint64_t oversized = 0;         // longer than any datagram of this protocol
};

class NetworkThread {
  public:
    // Binds `address` (port 0: any free port). An error with code io: the address or port is not available.
    static Result<std::unique_ptr<NetworkThread>> start(const protocol::Address& address);
    ~NetworkThread();  // sends the queued datagrams and messages, then ends the thread; at most about a second later

    // Opens the web server, once. An error with code io: its address or port is not available.
    Result<Ok> serve_web(WebConfig config);
    std::optional<protocol::Address> web_address() const;  // with its port; none: there is no web server

    protocol::Address local_address() const;

    // Clears `out` and moves all datagrams to it that have arrived since the last call. Each has its time of arrival.
    void take_received(DatagramQueue& out);
    // Sends the datagrams of a tick. `batch` is empty afterwards.
    void send(DatagramQueue& batch);

    // Messages of WebSockets, for the thread that steps the room: it writes to `streams()`, and take_streams clears
    // `out` and moves to it what has happened since the last call.
    protocol::StreamSink& streams();
    void take_streams(StreamQueue& out);
    void send_streams();  // what was written

    // Waits until `deadline` (of the clock of now()). False: SIGINT or SIGTERM has come or end_waits() was called, now
    // or before.
    bool wait_until(protocol::TimeNs deadline);
    // Ends this wait and all later ones. Any thread may call it.
    void end_waits();

    NetworkStats stats() const;

    static protocol::TimeNs now();  // monotonic

  private:
    struct State;
    explicit NetworkThread(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// The sink of a room: collects a tick's datagrams for NetworkThread::send.
class Outbox final : public protocol::DatagramSink {
  public:
    void send(const protocol::Address& to, protocol::Bytes datagram) override { queue_.push(to, datagram, 0); }
    DatagramQueue& queue() { return queue_; }

  private:
    DatagramQueue queue_;
};

}  // namespace orrery::server
