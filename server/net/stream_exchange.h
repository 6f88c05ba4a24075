// Between the network thread, which has the WebSockets, and the thread that steps the room: what connections did goes
// one way, messages and closes go the other. Nothing is dropped and all is bounded: from a connection that is ahead of
// the room no more is read, and the room writes nothing to one that is not ready.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "protocol/netcode/stream_server.h"
#include "server/room/stream_queue.h"

namespace orrery::server {

// Messages of a connection that wait for the room, before no more is read from it. A client sends one or two a tick.
inline constexpr std::uint32_t kMaxWaitingMessages = 32;
// Bytes that are read from a connection at once, and the messages that they may hold at most (frames of six bytes).
inline constexpr std::size_t kStreamReadBytes = 4096;
inline constexpr std::size_t kMessagesPerRead = kStreamReadBytes / 6 + 1;

// What both threads know of a connection.
struct StreamFlow {
    std::atomic<std::size_t> unsent{0};     // bytes that were given to the network thread, or are on the way there
    std::atomic<std::uint32_t> waiting{0};  // messages that the room has not taken
};

// Messages and closes, in order.
class StreamOrders {
  public:
    struct Entry {
        protocol::StreamConnection connection = 0;
        bool close = false;
        std::uint16_t code = 0;  // close; the bytes are its text
        std::size_t offset = 0, size = 0;
    };
    void add(protocol::StreamConnection connection, protocol::Bytes bytes, bool close, std::uint16_t code) {
        entries_.push_back({connection, close, code, bytes_.size(), bytes.size()});
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    const std::vector<Entry>& entries() const { return entries_; }
    protocol::Bytes bytes_of(const Entry& entry) const {
        return protocol::Bytes(bytes_).subspan(entry.offset, entry.size);
    }
    bool empty() const { return entries_.empty(); }
    void clear() {
        entries_.clear();
        bytes_.clear();
    }
    void append(const StreamOrders& other) {
        for (const Entry& entry : other.entries_) add(entry.connection, other.bytes_of(entry), entry.close, entry.code);
    }
    void swap(StreamOrders& other) {
        entries_.swap(other.entries_);
        bytes_.swap(other.bytes_);
    }

  private:
    std::vector<Entry> entries_;
    std::vector<std::uint8_t> bytes_;
};

class StreamExchange final : public protocol::StreamSink {
  public:
    explicit StreamExchange(std::size_t queue_bytes) : queue_(queue_bytes) {}

    // ---- the room's thread

    void send(protocol::StreamConnection connection, protocol::Bytes message) override;
    void close(protocol::StreamConnection connection, std::uint16_t code, std::string_view text) override;
    std::size_t unsent(protocol::StreamConnection connection) const override;
    // Clears `out` and moves to it what happened since the last call. True: connections wait to be read again.
    bool take(StreamQueue& out);
    // Gives what was sent and closed to the network thread. True: it is to be told.
    bool hand_over();

    // ---- the network thread

    std::shared_ptr<StreamFlow> opened(protocol::StreamConnection connection, const protocol::Address& from,
                                       protocol::TimeNs now);
    // False: the room is behind; nothing is to be read before take() has said so.
    bool may_read(const StreamFlow& flow);
    // False: there is no room, which cannot be where may_read() was asked before.
    bool received(protocol::StreamConnection connection, StreamFlow& flow, protocol::Bytes message,
                  protocol::TimeNs now);
    void closed(protocol::StreamConnection connection, bool lost, protocol::TimeNs now);  // once a connection
    void take_orders(StreamOrders& out);

  private:
    using Flows = std::unordered_map<protocol::StreamConnection, std::shared_ptr<StreamFlow>>;

    // Of the room's thread alone.
    Flows flows_;
    StreamOrders collected_;

    std::mutex mutex_;  // guards all below
    Flows new_flows_;   // opened since the last take()
    StreamQueue queue_;
    StreamOrders orders_;
    bool orders_told_ = false;
    bool held_ = false;  // a connection was told not to read
};

}  // namespace orrery::server
