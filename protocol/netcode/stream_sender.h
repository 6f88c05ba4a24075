// The sending side of the reliable stream: keeps every byte until it is acknowledged, and chooses the bytes to send
// next.
#pragma once

#include <vector>

#include "protocol/netcode/crypto.h"
#include "protocol/netcode/interval_set.h"

namespace orrery::protocol {

class StreamSender {
  public:
    StreamSender(std::size_t window_bytes, std::size_t queue_bytes)
        : window_bytes_(window_bytes), queue_bytes_(queue_bytes) {}

    // Adds a message to the stream. False: the queue has no room for it.
    bool append(Bytes message);

    // The next range to send, of at most `most` bytes: lost bytes first, then new ones within the window. Empty if
    // there is none. `resent` tells which of the two it is.
    Interval next_range(std::size_t most, bool& resent) const;
    void sent(const Interval& range);
    Bytes data(const Interval& range) const;

    void acknowledged(const Interval& range);
    void lost(const Interval& range);

    std::uint64_t sent_up_to() const { return next_new_; }
    bool has_data_to_send() const { return !lost_.empty() || next_new_ < new_limit(); }
    std::size_t unacknowledged_bytes() const { return static_cast<std::size_t>(end() - base_); }

  private:
    std::uint64_t end() const { return base_ + (buffer_.size() - head_); }
    std::uint64_t new_limit() const { return std::min(end(), base_ + window_bytes_); }

    std::size_t window_bytes_, queue_bytes_;
    std::vector<std::uint8_t> buffer_;  // from head_ on: the bytes from base_ on
    std::size_t head_ = 0;
    std::uint64_t base_ = 0;      // the first byte that is not acknowledged
    std::uint64_t next_new_ = 0;  // the first byte that was never sent
    IntervalSet acknowledged_;    // beyond base_
    IntervalSet lost_;            // to be sent again
};

}  // namespace orrery::protocol
