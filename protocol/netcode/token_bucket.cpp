#include "protocol/netcode/token_bucket.h"

#include <algorithm>

namespace orrery::protocol {

void TokenBucket::fill(const BucketRate& rate, TimeNs now) {
    // A time that runs backwards adds nothing and moves nothing.
    if (now <= updated) return;
    const double seconds = static_cast<double>(now - updated) / static_cast<double>(kNsPerSecond);
    tokens = std::min(rate.burst, tokens + seconds * rate.per_second);
    updated = now;
}

bool TokenBucket::take(const BucketRate& rate, TimeNs now) {
    fill(rate, now);
    if (tokens < 1.0) return false;
    tokens -= 1.0;
    return true;
}

}  // namespace orrery::protocol
