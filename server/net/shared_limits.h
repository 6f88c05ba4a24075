// The limits of requests of all rooms of a process: what strangers may cost it does not grow with its rooms.
#pragma once

#include <mutex>

#include "protocol/netcode/rate_limit.h"

namespace orrery::server {

// Openings of tokens by the whole process: about 10 ms of cryptography a second.
inline constexpr protocol::BucketRate kSharedOpenings{4000.0, 1024.0};

class SharedLimits final : public protocol::RequestLimits {
  public:
    SharedLimits();

    bool admit(const protocol::Address& from, protocol::TimeNs now, protocol::Ignored& reason) override;
    bool take_opening() override;

  private:
    protocol::SystemRandom random_;
    std::mutex mutex_;  // guards all below
    protocol::RateLimiter limiter_;
    protocol::TokenBucket openings_;
};

}  // namespace orrery::server
