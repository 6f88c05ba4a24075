// The receiving end of the reliable stream: puts ranges in order and cuts messages out. Its memory is bounded by the
// window and by what was received and not yet popped; announced sizes allocate nothing.
#pragma once

#include <vector>

#include "protocol/netcode/crypto.h"
#include "protocol/netcode/interval_set.h"
#include "protocol/netcode/reliable.h"

namespace orrery::protocol {

class StreamReceiver {
  public:
    StreamReceiver(const StreamLimits& limits, std::size_t queue_bytes);

    // Is [offset, offset + size) a range that an honest peer could send?
    ChannelError check(std::uint64_t offset, std::uint64_t size) const;
    // False: so many gaps are open that this range must be sent again later.
    bool has_room_for_gap(std::uint64_t offset) const;
    // After check().
    ChannelError receive(std::uint64_t offset, Bytes bytes);

    bool pop(Bytes& out);  // valid until the next receive

  private:
    void keep_out_of_order(std::uint64_t offset, Bytes bytes);
    void deliver_from_ring(std::uint64_t end);
    ChannelError cut_messages();

    StreamLimits limits_;
    std::size_t queue_bytes_;
    std::uint64_t next_ = 0;           // the first byte that is missing
    IntervalSet ahead_;                // received beyond it, in the ring
    std::vector<std::uint8_t> ring_;   // window_bytes, allocated when a range first comes out of order
    std::vector<std::uint8_t> inbox_;  // in order; before inbox_head_ popped
    std::size_t inbox_head_ = 0;
    std::size_t cut_at_ = 0;    // in inbox_: the first message that is not complete
    std::size_t complete_ = 0;  // messages between head and cut
};

}  // namespace orrery::protocol
