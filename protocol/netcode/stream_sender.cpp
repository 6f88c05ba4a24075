#include "protocol/netcode/stream_sender.h"

#include <cassert>

#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

constexpr std::size_t kKeptCapacity = 256u << 10;  // a drained buffer larger than this is given back

}  // namespace

bool StreamSender::append(Bytes message) {
    std::uint8_t head[10];
    WireWriter frame(head);
    frame.varint(message.size());
    const std::size_t room = queue_bytes_ - std::min(queue_bytes_, unacknowledged_bytes());
    if (message.size() > room || frame.size() > room - message.size()) return false;
    buffer_.insert(buffer_.end(), head, head + frame.size());
    buffer_.insert(buffer_.end(), message.begin(), message.end());
    return true;
}

Interval StreamSender::next_range(std::size_t most, bool& resent) const {
    resent = !lost_.empty();
    if (resent) {
        const Interval& gap = lost_.front();
        return {gap.begin, std::min(gap.end, gap.begin + most)};
    }
    return {next_new_, std::max(next_new_, std::min(new_limit(), next_new_ + most))};
}

void StreamSender::sent(const Interval& range) {
    lost_.erase(range);
    next_new_ = std::max(next_new_, range.end);
}

Bytes StreamSender::data(const Interval& range) const {
    assert(range.begin >= base_ && range.end <= end());
    return Bytes(buffer_).subspan(head_ + static_cast<std::size_t>(range.begin - base_),
                                  static_cast<std::size_t>(range.size()));
}

void StreamSender::acknowledged(const Interval& range) {
    if (range.end <= base_) return;
    acknowledged_.insert({std::max(range.begin, base_), range.end});
    lost_.erase(range);
    if (acknowledged_.front().begin > base_) return;
    const Interval done = acknowledged_.front();
    acknowledged_.erase(done);
    head_ += static_cast<std::size_t>(done.end - base_);
    base_ = done.end;
    if (head_ == buffer_.size()) {
        buffer_.clear();
        head_ = 0;
        if (buffer_.capacity() > kKeptCapacity)
            std::vector<std::uint8_t>().swap(buffer_);  // shrink_to_fit does nothing without exceptions
    } else if (head_ * 2 > buffer_.size()) {
        buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(head_));
        head_ = 0;
    }
}

void StreamSender::lost(const Interval& range) {
    if (range.end <= base_) return;
    lost_.insert({std::max(range.begin, base_), range.end});
    for (const Interval& done : acknowledged_.parts()) {
        if (done.begin >= range.end) break;
        if (done.end > range.begin) lost_.erase(done);
    }
}

}  // namespace orrery::protocol
