// The sending side of the reliable stream: keeps every byte until it is acknowledged, and chooses the bytes to send
// next. Shared bytes are referred to; all others are copied.
#pragma once

#include <deque>
#include <vector>

#include "protocol/netcode/crypto.h"
#include "protocol/netcode/interval_set.h"
#include "protocol/netcode/shared_bytes.h"

namespace orrery::protocol {

class StreamSender {
  public:
    StreamSender(std::size_t window_bytes, std::size_t queue_bytes)
        : window_bytes_(window_bytes), queue_bytes_(queue_bytes) {}

    // Adds a message to the stream. False: the queue has no room for it. Shared bytes count as others do.
    bool append(Bytes message);
    bool append(const SharedBytes& message);

    // The next range to send, of at most `most` bytes: lost bytes first, then new ones within the window. Empty if
    // there is none. `resent` tells which of the two it is.
    Interval next_range(std::size_t most, bool& resent) const;
    void sent(const Interval& range);
    // The first bytes of `range` that lie together: at least one.
    Bytes piece(const Interval& range) const;

    void acknowledged(const Interval& range);
    void lost(const Interval& range);

    std::uint64_t sent_up_to() const { return next_new_; }
    bool has_data_to_send() const { return !lost_.empty() || next_new_ < new_limit(); }
    std::size_t unacknowledged_bytes() const { return static_cast<std::size_t>(end_ - base_); }
    std::size_t own_bytes() const;  // memory that it takes, without what it shares

  private:
    // Some of the stream's bytes, one after another: own ones, or shared ones.
    struct Segment {
        std::uint64_t begin = 0;
        std::vector<std::uint8_t> own;
        SharedBytes shared;
        Bytes bytes() const { return shared.owner ? shared.bytes : Bytes(own); }
        std::uint64_t end() const { return begin + bytes().size(); }
    };

    bool has_room_for(std::size_t message_bytes) const;
    void add_head(std::size_t message_bytes);
    void add_own(Bytes bytes);
    std::uint64_t new_limit() const { return std::min(end_, base_ + window_bytes_); }

    std::size_t window_bytes_, queue_bytes_;
    std::deque<Segment> segments_;  // the bytes from base_ on, and at most a segment's before it
    std::uint64_t base_ = 0;        // the first byte that is not acknowledged
    std::uint64_t end_ = 0;         // of the stream
    std::uint64_t next_new_ = 0;    // the first byte that was never sent
    IntervalSet acknowledged_;      // beyond base_
    IntervalSet lost_;              // to be sent again
};

}  // namespace orrery::protocol
