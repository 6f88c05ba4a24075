// A token bucket: how often a thing may happen. It fills at a steady rate up to a burst.
#pragma once

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

struct BucketRate {
    double per_second = 0.0;
    double burst = 0.0;
};

struct TokenBucket {
    double tokens = 0.0;
    TimeNs updated = 0;

    void fill(const BucketRate& rate, TimeNs now);
    bool take(const BucketRate& rate, TimeNs now);  // takes one token, after the bucket was filled
};

}  // namespace orrery::protocol
