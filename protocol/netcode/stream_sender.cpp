#include "protocol/netcode/stream_sender.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

constexpr std::size_t kSegmentBytes = 64u << 10;  // of own bytes: so much at once is given back
constexpr std::size_t kLeastShared = 512;         // fewer bytes are copied
constexpr std::size_t kMaxHead = 10;              // varint of a size

}  // namespace

bool StreamSender::has_room_for(std::size_t message_bytes) const {
    const std::size_t room = queue_bytes_ - std::min(queue_bytes_, unacknowledged_bytes());
    const std::size_t head = varint_size(message_bytes);
    return message_bytes <= room && head <= room - message_bytes;
}

void StreamSender::add_head(std::size_t message_bytes) {
    std::uint8_t head[kMaxHead];
    WireWriter frame(head);
    frame.varint(message_bytes);
    add_own(Bytes(head).first(frame.size()));
}

void StreamSender::add_own(Bytes bytes) {
    while (!bytes.empty()) {
        if (segments_.empty() || segments_.back().shared.owner || segments_.back().own.size() >= kSegmentBytes)
            segments_.push_back({end_, {}, {}});
        std::vector<std::uint8_t>& own = segments_.back().own;
        const Bytes part = bytes.first(std::min(bytes.size(), kSegmentBytes - own.size()));
        own.insert(own.end(), part.begin(), part.end());
        end_ += part.size();
        bytes = bytes.subspan(part.size());
    }
}

bool StreamSender::append(Bytes message) {
    if (!has_room_for(message.size())) return false;
    add_head(message.size());
    add_own(message);
    return true;
}

bool StreamSender::append(const SharedBytes& message) {
    if (message.bytes.size() < kLeastShared || !message.owner) return append(message.bytes);
    if (!has_room_for(message.bytes.size())) return false;
    add_head(message.bytes.size());
    segments_.push_back({end_, {}, message});
    end_ += message.bytes.size();
    return true;
}

std::size_t StreamSender::own_bytes() const {
    std::size_t bytes = segments_.size() * sizeof(Segment);
    for (const Segment& segment : segments_) bytes += segment.own.capacity();
    return bytes;
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

Bytes StreamSender::piece(const Interval& range) const {
    assert(range.begin >= base_ && range.begin < range.end && range.end <= end_);
    const auto after = std::upper_bound(segments_.begin(), segments_.end(), range.begin,
                                        [](std::uint64_t at, const Segment& segment) { return at < segment.begin; });
    const Segment& segment = *std::prev(after);
    const Bytes rest = segment.bytes().subspan(static_cast<std::size_t>(range.begin - segment.begin));
    return rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), range.size())));
}

void StreamSender::acknowledged(const Interval& range) {
    if (range.end <= base_) return;
    acknowledged_.insert({std::max(range.begin, base_), range.end});
    lost_.erase(range);
    if (acknowledged_.front().begin > base_) return;
    const Interval done = acknowledged_.front();
    acknowledged_.erase(done);
    base_ = done.end;
    while (segments_.size() > 1 && segments_.front().end() <= base_) segments_.pop_front();
    if (base_ < end_ || segments_.empty()) return;
    // All is acknowledged: the last segment is used again, if it is an own one.
    if (segments_.front().shared.owner) return segments_.clear();
    segments_.front().own.clear();
    segments_.front().begin = end_;
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
