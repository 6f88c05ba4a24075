// A bounded queue of what connections of ordered messages (WebSocket) did, in order of arrival: opened, received,
// closed. The messages are in one flat buffer. Once it has grown, it needs no allocation for a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/netcode/address.h"
#include "protocol/netcode/stream_server.h"

namespace orrery::server {

inline constexpr std::size_t kMaxQueuedStreamMessages = 32'768;
inline constexpr std::size_t kMaxQueuedStreamBytes = 8u << 20;  // 8 MiB

class StreamQueue {
  public:
    // Full at `max_bytes`, and at kMaxQueuedStreamMessages.
    explicit StreamQueue(std::size_t max_bytes = kMaxQueuedStreamBytes) : max_bytes_(max_bytes) {}

    enum class Kind : std::uint8_t { opened, received, closed };
    struct Entry {
        Kind kind = Kind::received;
        bool lost = false;  // closed: without a word of the client
        protocol::StreamConnection connection = 0;
        protocol::Address address;  // opened
        protocol::TimeNs time = 0;
        std::uint32_t offset = 0, size = 0;  // received
    };

    // Opening and closing are bounded by the number of connections.
    void opened(protocol::StreamConnection connection, const protocol::Address& from, protocol::TimeNs time) {
        entries_.push_back({Kind::opened, false, connection, from, time, 0, 0});
    }
    void closed(protocol::StreamConnection connection, bool lost, protocol::TimeNs time) {
        entries_.push_back({Kind::closed, lost, connection, {}, time, 0, 0});
    }
    // False: the queue is full, and the message was not stored.
    bool received(protocol::StreamConnection connection, protocol::Bytes message, protocol::TimeNs time) {
        if (!fits(message.size())) return false;
        entries_.push_back({Kind::received,
                            false,
                            connection,
                            {},
                            time,
                            static_cast<std::uint32_t>(bytes_.size()),
                            static_cast<std::uint32_t>(message.size())});
        bytes_.insert(bytes_.end(), message.begin(), message.end());
        return true;
    }
    bool fits(std::size_t size) const {
        return entries_.size() < kMaxQueuedStreamMessages && bytes_.size() + size <= max_bytes_;
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
    void swap(StreamQueue& other) {
        entries_.swap(other.entries_);
        bytes_.swap(other.bytes_);
    }

  private:
    std::size_t max_bytes_;
    std::vector<Entry> entries_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace orrery::server
