// The receiving side of the reliable stream: puts ranges in order and extracts messages. Its memory is limited by the
// window and by the received bytes that are not yet popped. Announced sizes allocate nothing.
#pragma once

#include <vector>

#include "protocol/netcode/crypto.h"
#include "protocol/netcode/interval_set.h"
#include "protocol/netcode/reliable.h"

namespace orrery::protocol {

class StreamReceiver {
  public:
    StreamReceiver(const StreamLimits& limits, std::size_t queue_bytes);

    // True if an honest peer could send the range [offset, offset + size).
    ChannelError check(std::uint64_t offset, std::uint64_t size) const;
    // False: too many gaps are open, so that this range must be sent again later.
    bool has_room_for_gap(std::uint64_t offset) const;
    // Call check() first.
    ChannelError receive(std::uint64_t offset, Bytes bytes);

    bool pop(Bytes& out);  // valid until the next receive
    std::size_t complete() const { return complete_; }
    std::uint64_t next() const { return next_; }  // the first missing byte

  private:
    void keep_out_of_order(std::uint64_t offset, Bytes bytes);
    void deliver_from_ring(std::uint64_t end);
    ChannelError cut_messages();

    StreamLimits limits_;
    std::size_t queue_bytes_;
    std::uint64_t next_ = 0;           // the first missing byte
    IntervalSet ahead_;                // received beyond it, in the ring
    std::vector<std::uint8_t> ring_;   // window_bytes, allocated when the first range arrives out of order
    std::vector<std::uint8_t> inbox_;  // in order; the part before inbox_head_ is popped
    std::size_t inbox_head_ = 0;
    std::size_t cut_at_ = 0;    // in inbox_: the first incomplete message
    std::size_t complete_ = 0;  // number of messages between inbox_head_ and cut_at_
};

}  // namespace orrery::protocol
