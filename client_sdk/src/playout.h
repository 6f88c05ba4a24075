// The jitter buffer's clock: which moment of the server's time to show now.
//
// Snapshots arrive late by varying times. The least delay of the last seconds says where the server's clock stands; the
// spread above it says how far behind to stay so that the next snapshot is nearly always there. The moment shown
// follows that smoothly and never runs backwards.
#pragma once

#include <array>
#include <cstdint>

#include "protocol/netcode/crypto.h"

namespace orrery::client {

struct PlayoutLimits {
    double min_delay_ticks = 1.5;
    double max_delay_ticks = 15.0;
};

class Playout {
  public:
    explicit Playout(const PlayoutLimits& limits) : limits_(limits) {}

    void start(std::uint64_t tick, double tick_rate_hz, protocol::TimeNs now);
    void arrived(std::uint64_t tick, protocol::TimeNs at);
    // In ticks. Times ascend.
    double advance(protocol::TimeNs now);
    double delay_ticks() const { return delay_ticks_; }

  private:
    PlayoutLimits limits_;
    double tick_ns_ = 1e9 / 60.0;
    bool started_ = false;
    // Least transit times (arrival - tick) of the present second and the one before.
    std::array<double, 2> least_{};
    protocol::TimeNs bucket_start_ = 0;
    double spread_ = 0.0, spread_deviation_ = 0.0;  // moving, in ticks
    double delay_ticks_ = 1.5;
    double shown_ = 0.0;
    protocol::TimeNs last_ = 0;
};

}  // namespace orrery::client
