// What the tests of mirrors share: the network, a check of hashes, drivers.
#pragma once

#include <cstdlib>

#include "tests/support/sim_room.h"

namespace orrery::testing {

// 100 ms round trip with 20 ms jitter in each direction, and 5 % loss.
inline SimLink far_link() {
    return {.loss = 0.05, .delay = 40 * protocol::kNsPerMs, .jitter = 20 * protocol::kNsPerMs};
}

// Holds each tick that a mirror confirms to the server's hash.
class HashCheck final : public client::MirrorObserver {
  public:
    explicit HashCheck(const SimRoom& sim) : sim_(sim) {}
    void confirmed(std::uint64_t tick, std::uint64_t root) override {
        if (first == 0) first = tick;
        if (last != 0 && tick != last + 1) ++gaps;
        last = tick;
        REQUIRE(tick <= sim_.truth.hashes.size());
        if (root == sim_.truth.hashes[tick - 1])
            ++same;
        else
            ++different;
    }
    std::uint64_t first = 0, last = 0, same = 0, different = 0, gaps = 0;

  private:
    const SimRoom& sim_;
};

// A driver that changes its mind a few times a second.
inline std::array<float, sim::kControlChannels> wander(std::size_t driver, std::uint64_t tick) {
    Random random(1 + driver * 1000 + tick / 25);
    std::array<float, sim::kControlChannels> control{};
    control[0] = 0.3f + 0.7f * static_cast<float>(random.below(100)) / 100.0f;
    control[1] = static_cast<float>(random.below(201)) / 100.0f - 1.0f;
    return control;
}

inline double seconds_of(const char* variable, double otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::atof(text) : otherwise;
}

}  // namespace orrery::testing
