// The smoothed round-trip time and its mean deviation (weights of RFC 6298), and the time after which a packet without
// an acknowledgement counts as lost.
#pragma once

#include <algorithm>
#include <cmath>

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

class SmoothedTime {
  public:
    void sample(double seconds) {
        if (!any_) {
            any_ = true;
            mean_ = seconds;
            variation_ = seconds / 2;
            min_ = seconds;
            return;
        }
        variation_ += (std::fabs(seconds - mean_) - variation_) / 4;
        mean_ += (seconds - mean_) / 8;
        min_ = std::min(min_, seconds);
    }
    bool any() const { return any_; }
    double mean_s() const { return mean_; }
    double variation_s() const { return variation_; }
    double min_s() const { return min_; }

  private:
    bool any_ = false;
    double mean_ = 0.0, variation_ = 0.0, min_ = 0.0;
};

}  // namespace orrery::protocol
