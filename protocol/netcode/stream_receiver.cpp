#include "protocol/netcode/stream_receiver.h"

#include <cstring>

#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

constexpr std::size_t kMaxGaps = 1024;    // a window holds fewer packets; more gaps are not an honest peer's
constexpr std::size_t kMaxFrameHead = 5;  // varint of a size up to kMaxReliableBytes, with one byte to spare
constexpr std::size_t kKeptCapacity = 256u << 10;

}  // namespace

StreamReceiver::StreamReceiver(const StreamLimits& limits, std::size_t queue_bytes)
    : limits_(limits),
      // Less could never hold the largest message together with what a filled gap releases.
      queue_bytes_(std::max(queue_bytes, limits.max_message_bytes + kMaxFrameHead + limits.window_bytes)) {}

ChannelError StreamReceiver::check(std::uint64_t offset, std::uint64_t size) const {
    // By subtraction, so that no offset near the end of its range wraps.
    const std::uint64_t limit = next_ + limits_.window_bytes;
    if (offset > limit || size > limit - offset) return ChannelError::window_exceeded;
    return ChannelError::none;
}

bool StreamReceiver::has_room_for_gap(std::uint64_t offset) const {
    return offset <= next_ || ahead_.count() < kMaxGaps;
}

ChannelError StreamReceiver::receive(std::uint64_t offset, Bytes bytes) {
    if (offset > next_) {
        keep_out_of_order(offset, bytes);
        return ChannelError::none;
    }
    const std::uint64_t known = next_ - offset;
    if (bytes.size() <= known) return ChannelError::none;
    const Bytes fresh = bytes.subspan(static_cast<std::size_t>(known));
    inbox_.insert(inbox_.end(), fresh.begin(), fresh.end());
    next_ += fresh.size();
    ahead_.erase({0, next_});
    if (!ahead_.empty() && ahead_.front().begin == next_) deliver_from_ring(ahead_.front().end);
    return cut_messages();
}

void StreamReceiver::keep_out_of_order(std::uint64_t offset, Bytes bytes) {
    if (bytes.empty()) return;
    if (ring_.empty()) ring_.resize(limits_.window_bytes);
    const auto at = static_cast<std::size_t>(offset % ring_.size());
    const std::size_t first = std::min(bytes.size(), ring_.size() - at);
    std::memcpy(ring_.data() + at, bytes.data(), first);
    if (bytes.size() > first) std::memcpy(ring_.data(), bytes.data() + first, bytes.size() - first);
    ahead_.insert({offset, offset + bytes.size()});
}

void StreamReceiver::deliver_from_ring(std::uint64_t end) {
    const auto size = static_cast<std::size_t>(end - next_);
    const auto at = static_cast<std::size_t>(next_ % ring_.size());
    const std::size_t first = std::min(size, ring_.size() - at);
    const auto from = ring_.begin() + static_cast<std::ptrdiff_t>(at);
    inbox_.insert(inbox_.end(), from, from + static_cast<std::ptrdiff_t>(first));
    inbox_.insert(inbox_.end(), ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(size - first));
    next_ = end;
    ahead_.erase({0, end});
}

ChannelError StreamReceiver::cut_messages() {
    while (cut_at_ < inbox_.size()) {
        WireReader in(Bytes(inbox_).subspan(cut_at_));
        const std::size_t available = in.remaining();
        const std::uint64_t size = in.varint();
        if (!in.ok()) {
            if (available >= kMaxFrameHead) return ChannelError::message_too_large;
            break;  // the head itself is not whole yet
        }
        if (size > limits_.max_message_bytes) return ChannelError::message_too_large;
        if (size > in.remaining()) break;
        cut_at_ += available - in.remaining() + static_cast<std::size_t>(size);
        ++complete_;
    }
    return inbox_.size() - inbox_head_ > queue_bytes_ ? ChannelError::receive_queue_full : ChannelError::none;
}

bool StreamReceiver::pop(Bytes& out) {
    // The message popped before this one is no longer looked at: its place may go.
    if (inbox_head_ == inbox_.size()) {
        inbox_.clear();
        inbox_head_ = cut_at_ = 0;
        if (inbox_.capacity() > kKeptCapacity)
            std::vector<std::uint8_t>().swap(inbox_);  // shrink_to_fit does nothing without exceptions
    } else if (inbox_head_ * 2 > inbox_.size()) {
        inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(inbox_head_));
        cut_at_ -= inbox_head_;
        inbox_head_ = 0;
    }
    if (complete_ == 0) return false;
    WireReader in(Bytes(inbox_).subspan(inbox_head_));
    const auto size = static_cast<std::size_t>(in.varint());
    out = in.bytes(size);
    inbox_head_ = inbox_.size() - in.remaining();
    --complete_;
    return true;
}

}  // namespace orrery::protocol
