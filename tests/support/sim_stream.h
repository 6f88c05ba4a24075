// One direction of an ordered lossless stream of messages, on a virtual clock: a bandwidth, a delay, and times at which
// it stands still. Everything arrives, once and in order, however late.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "protocol/netcode/crypto.h"

namespace orrery::testing {

class SimStream {
  public:
    static constexpr std::size_t kMaxUnsentBytes = 64u << 10;  // of which a sender is not ready for more

    SimStream(protocol::TimeNs delay, double bytes_per_s) : delay_(delay), bytes_per_s_(bytes_per_s) {}

    // Nothing passes from `from` to `to`; what was on its way comes after `to`.
    void stall(protocol::TimeNs from, protocol::TimeNs to) {
        stall_from_ = from;
        stall_to_ = to;
    }
    bool ready(protocol::TimeNs now) const { return unsent(now) <= kMaxUnsentBytes; }
    std::size_t unsent(protocol::TimeNs now) const {
        std::size_t bytes = 0;
        for (auto at = messages_.rbegin(); at != messages_.rend() && at->sent > now; ++at) bytes += at->bytes.size();
        return bytes;
    }
    void send(protocol::Bytes message, protocol::TimeNs now) {
        const auto takes = static_cast<protocol::TimeNs>(static_cast<double>(message.size()) / bytes_per_s_ *
                                                         static_cast<double>(protocol::kNsPerSecond));
        free_at_ = after_stall(std::max(free_at_, now)) + takes;
        due_ = std::max(due_, after_stall(free_at_ + delay_));
        messages_.push_back({free_at_, due_, {message.begin(), message.end()}});
        bytes_sent += message.size();
    }
    bool receive(std::vector<std::uint8_t>& out, protocol::TimeNs now) {
        if (messages_.empty() || messages_.front().due > now) return false;
        out = std::move(messages_.front().bytes);
        messages_.pop_front();
        return true;
    }

    std::uint64_t bytes_sent = 0;

  private:
    struct Entry {
        protocol::TimeNs sent = 0, due = 0;  // when it left this end, and when it is at the other
        std::vector<std::uint8_t> bytes;
    };

    protocol::TimeNs after_stall(protocol::TimeNs at) const {
        return at >= stall_from_ && at < stall_to_ ? stall_to_ : at;
    }

    protocol::TimeNs delay_;
    double bytes_per_s_;
    protocol::TimeNs stall_from_ = 0, stall_to_ = 0, free_at_ = 0, due_ = 0;
    std::deque<Entry> messages_;
};

}  // namespace orrery::testing
