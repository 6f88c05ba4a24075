#include "protocol/netcode/replay_protection.h"

namespace orrery::protocol {

bool ReplayProtection::is_replayed(std::uint64_t sequence) const {
    if (!any_ || sequence > newest_) return false;
    // By subtraction: `sequence + kWindow` wraps for the highest numbers and would let old packets in.
    if (newest_ - sequence >= kWindow) return true;
    const std::uint64_t bit = sequence % kWindow;
    return (seen_[bit / 64] >> (bit % 64)) & 1u;
}

void ReplayProtection::advance(std::uint64_t sequence) {
    if (!any_) {
        any_ = true;
        newest_ = sequence;
    } else if (sequence > newest_) {
        if (sequence - newest_ >= kWindow) {
            seen_ = {};
        } else {
            for (std::uint64_t s = newest_ + 1; s < sequence; ++s) {
                const std::uint64_t bit = s % kWindow;
                seen_[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
            }
        }
        newest_ = sequence;
    } else if (newest_ - sequence >= kWindow) {
        return;
    }
    const std::uint64_t bit = sequence % kWindow;
    seen_[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

}  // namespace orrery::protocol
