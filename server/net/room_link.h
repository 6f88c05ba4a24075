// The end of the network thread that one room has: its datagrams and its messages of WebSockets. All functions are for
// the thread that steps the room; one thread at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "protocol/netcode/datagram_sink.h"
#include "protocol/netcode/stream_server.h"
#include "server/room/datagram_queue.h"
#include "server/room/stream_queue.h"

namespace orrery::server {

struct NetworkStats {
    std::uint64_t received_dropped = 0;  // datagrams that the room did not take in time
    std::uint64_t send_dropped = 0;      // datagrams that the operating system did not take
    std::uint64_t oversized = 0;         // longer than any datagram of this protocol; not of one room among many
    std::uint64_t of_no_room = 0;        // of no room's clients, and no request to any; not of a room
};

class RoomLink {
  public:
    // The network thread forgets the room; what was given to it before is sent. The thread outlives the link.
    ~RoomLink();
    RoomLink(const RoomLink&) = delete;
    RoomLink& operator=(const RoomLink&) = delete;

    // Clears `out` and moves all datagrams to it that have arrived since the last call. Each has its time of arrival.
    void take_received(DatagramQueue& out);
    // Sends the datagrams of a tick. `batch` is empty afterwards.
    void send(DatagramQueue& batch);

    // Messages of WebSockets: the room writes to `streams()`, and take_streams clears `out` and moves to it what has
    // happened since the last call.
    protocol::StreamSink& streams();
    void take_streams(StreamQueue& out);
    void send_streams();  // what was written

    // After the last messages: the network thread forgets the room, and ends its WebSockets that are still there.
    void leave();

    NetworkStats stats() const;

  private:
    friend class NetworkThread;
    struct State;
    explicit RoomLink(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
};

// The sink of a room: collects a tick's datagrams for RoomLink::send.
class Outbox final : public protocol::DatagramSink {
  public:
    explicit Outbox(std::size_t max_bytes = kMaxQueuedBytes) : queue_(max_bytes) {}
    void send(const protocol::Address& to, protocol::Bytes datagram) override { queue_.push(to, datagram, 0); }
    DatagramQueue& queue() { return queue_; }

  private:
    DatagramQueue queue_;
};

}  // namespace orrery::server
