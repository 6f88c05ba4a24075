// A bounded queue of datagrams in order of arrival, with their addresses and times, in two flat buffers. Once it has
// grown, it needs no allocation for a datagram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/netcode/address.h"
#include "protocol/netcode/crypto.h"

namespace orrery::server {

inline constexpr std::size_t kMaxQueuedDatagrams = 16'384;
inline constexpr std::size_t kMaxQueuedBytes = 8u << 20;  // 8 MiB
// For each client that a room takes: more than it is sent in a tick. A room of few has more for each.
inline constexpr std::size_t kQueuedBytesPerClient = 128u << 10, kLeastQueuedBytes = 512u << 10;

// What the queue of a room may hold.
constexpr std::size_t queue_bytes(std::uint32_t max_clients) {
    const std::size_t bytes = std::size_t{max_clients} * kQueuedBytesPerClient;
    return bytes < kLeastQueuedBytes ? kLeastQueuedBytes : bytes < kMaxQueuedBytes ? bytes : kMaxQueuedBytes;
}

class DatagramQueue {
  public:
    // Full at `max_bytes`, and at kMaxQueuedDatagrams.
    explicit DatagramQueue(std::size_t max_bytes = kMaxQueuedBytes) : max_bytes_(max_bytes) {}

    struct Entry {
        protocol::Address address;
        std::uint32_t offset = 0;
        std::uint32_t size = 0;
        protocol::TimeNs time = 0;
    };

    // False: the queue is full. The datagram is dropped and counted, as UDP may drop it.
    bool push(const protocol::Address& address, protocol::Bytes datagram, protocol::TimeNs time) {
        if (entries_.size() >= kMaxQueuedDatagrams || bytes_.size() + datagram.size() > max_bytes_) {
            ++dropped_;
            return false;
        }
        entries_.push_back(
            {address, static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(datagram.size()), time});
        bytes_.insert(bytes_.end(), datagram.begin(), datagram.end());
        return true;
    }

    const std::vector<Entry>& entries() const { return entries_; }
    protocol::Bytes bytes_of(const Entry& entry) const {
        return protocol::Bytes(bytes_).subspan(entry.offset, entry.size);
    }
    bool empty() const { return entries_.empty(); }
    std::uint64_t dropped() const { return dropped_; }

    void clear() {
        entries_.clear();
        bytes_.clear();
    }
    void swap(DatagramQueue& other) {
        entries_.swap(other.entries_);
        bytes_.swap(other.bytes_);
    }

  private:
    std::vector<Entry> entries_;
    std::vector<std::uint8_t> bytes_;
    std::uint64_t dropped_ = 0;
    std::size_t max_bytes_;
};

}  // namespace orrery::server
