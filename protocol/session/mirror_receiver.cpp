#include "protocol/session/mirror_receiver.h"

#include <algorithm>
#include <utility>

namespace orrery::protocol {

bool MirrorReceiver::receive(Bytes message, MessageType type) {
    if (type == MessageType::mirror_begin) {
        MirrorBegin head;
        const bool expected = !begun_ || state_.size() == state_head_.size || state_whole_;
        if (!expected || !read_message(message, head) || head.tick < state_head_.tick) return false;
        if (!begun_) {
            next_ = head.tick + 1;
            complete_ = head.tick;
            newest_ = head.tick;
        }
        begun_ = true;
        state_head_ = head;
        state_.clear();
        state_whole_ = false;
        return true;
    }
    if (type == MessageType::mirror_part) {
        const Bytes part = message.subspan(1);
        const std::size_t rest = state_head_.size - state_.size();
        if (!begun_ || state_whole_ || part.empty() || part.size() > std::min(rest, kMirrorPartBytes)) return false;
        state_.insert(state_.end(), part.begin(), part.end());
        state_whole_ = state_.size() == state_head_.size;
        return true;
    }
    if (type == MessageType::mirror_ticks) {
        std::uint64_t first = 0;
        if (!begun_ || !read_mirror_ticks(message, first, groups_)) return false;
        file(first, groups_);
        return true;
    }
    MirrorLeaves leaves;
    if (type != MessageType::mirror_leaves || !begun_ || !read_message(message, leaves)) return false;
    leaves_ = leaves;
    return true;
}

bool MirrorReceiver::receive_datagram(Bytes message) {
    TickCommandsHead head;
    if (!read_message(message, head, groups_)) return false;
    if (!begun_) return true;  // it overtook the state, and will be repeated
    // The tick nearest to the newest known one that has these low bits. A peer is never silent for half of 65,536
    // ticks.
    const auto ahead = static_cast<std::int16_t>(static_cast<std::uint16_t>(head.tick - newest_));
    const auto tick = static_cast<std::uint64_t>(static_cast<std::int64_t>(newest_) + ahead);
    if (tick >= kMaxTick || groups_.ticks.size() > tick) return false;
    file(tick + 1 - groups_.ticks.size(), groups_);
    newest_ = std::max(newest_, tick);
    const auto waiting = ticks_.find(tick);
    if (waiting != ticks_.end()) waiting->second.root = head.root;
    // What is older than what is known already has older feedback.
    if (groups_.feedback && tick == newest_) feedback_ = groups_.feedback;
    return true;
}

void MirrorReceiver::file(std::uint64_t first, const Groups& groups) {
    for (std::size_t i = 0; i < groups.ticks.size(); ++i) {
        const std::uint64_t tick = first + i;
        if (tick < next_ || ticks_.contains(tick)) continue;
        if (ticks_.size() >= kMaxPendingMirrorTicks ||
            pending_bytes_ + groups.ticks[i].size() > kMaxPendingMirrorBytes) {
            overflowed_ = true;
            return;
        }
        ticks_[tick].coded.assign(groups.ticks[i].begin(), groups.ticks[i].end());
        pending_bytes_ += groups.ticks[i].size();
        newest_ = std::max(newest_, tick);
    }
    while (ticks_.contains(complete_ + 1)) ++complete_;
}

std::uint64_t MirrorReceiver::complete_up_to() const { return begun_ ? complete_ : 0; }

bool MirrorReceiver::take_state(std::uint64_t& tick, std::vector<std::uint8_t>& state) {
    if (!state_whole_ || state_.empty()) return false;
    tick = state_head_.tick;
    state = std::exchange(state_, {});
    while (!ticks_.empty() && ticks_.begin()->first <= tick) {
        pending_bytes_ -= ticks_.begin()->second.coded.size();
        ticks_.erase(ticks_.begin());
    }
    next_ = tick + 1;
    complete_ = std::max(complete_, tick);
    while (ticks_.contains(complete_ + 1)) ++complete_;
    return true;
}

const MirrorReceiver::Tick* MirrorReceiver::next() const {
    const auto at = ticks_.find(next_);
    return at == ticks_.end() ? nullptr : &at->second;
}

void MirrorReceiver::pop() {
    const auto at = ticks_.find(next_);
    if (at == ticks_.end()) return;
    pending_bytes_ -= at->second.coded.size();
    ticks_.erase(at);
    ++next_;
}

std::optional<InputFeedback> MirrorReceiver::take_feedback() { return std::exchange(feedback_, std::nullopt); }
std::optional<MirrorLeaves> MirrorReceiver::take_leaves() { return std::exchange(leaves_, std::nullopt); }

}  // namespace orrery::protocol
