#include "server/net/shared_limits.h"

#include "server/net/network_thread.h"

namespace orrery::server {

SharedLimits::SharedLimits()
    : limiter_(protocol::RateLimitConfig{}, random_), openings_{kSharedOpenings.burst, NetworkThread::now()} {}

bool SharedLimits::admit(const protocol::Address& from, protocol::TimeNs now, protocol::Ignored& reason) {
    const std::lock_guard lock(mutex_);
    return limiter_.admit(from, now, reason);
}

bool SharedLimits::take_opening() {
    const std::lock_guard lock(mutex_);
    return openings_.take(kSharedOpenings, NetworkThread::now());
}

}  // namespace orrery::server
