#include "client_sdk/src/playout.h"

#include <algorithm>
#include <cmath>

namespace orrery::client {

using protocol::TimeNs;

namespace {
constexpr double kSmoothing = 1.0 / 32.0;  // of spread, per snapshot
constexpr double kFollow = 0.05;           // per tick of distance
constexpr double kMaxRateChange = 0.1;     // of the speed of time: hardly seen
constexpr double kJumpBeyondTicks = 20.0;
constexpr TimeNs kBucket = 2 * protocol::kNsPerSecond;
}  // namespace

void Playout::start(std::uint64_t tick, double tick_rate_hz, TimeNs now) {
    const PlayoutLimits limits = limits_;
    *this = Playout(limits);
    tick_ns_ = 1e9 / tick_rate_hz;
    started_ = true;
    const double transit = static_cast<double>(now) - static_cast<double>(tick) * tick_ns_;
    least_ = {transit, transit};
    bucket_start_ = now;
    delay_ticks_ = limits_.min_delay_ticks;
    shown_ = static_cast<double>(tick) - delay_ticks_;
    last_ = now;
}

void Playout::arrived(std::uint64_t tick, TimeNs at) {
    if (!started_) return;
    if (at >= bucket_start_ + kBucket) {
        least_ = {INFINITY, least_[0]};
        bucket_start_ = at;
    }
    const double transit = static_cast<double>(at) - static_cast<double>(tick) * tick_ns_;
    least_[0] = std::min(least_[0], transit);
    const double late = (transit - std::min(least_[0], least_[1])) / tick_ns_;
    spread_ += (late - spread_) * kSmoothing;
    spread_deviation_ += (std::fabs(late - spread_) - spread_deviation_) * kSmoothing;
    // One tick for the snapshot to come that motion leads to, and the lateness that few exceed.
    delay_ticks_ =
        std::clamp(1.0 + spread_ + 2.0 * spread_deviation_, limits_.min_delay_ticks, limits_.max_delay_ticks);
}

double Playout::advance(TimeNs now) {
    if (!started_ || now <= last_) return shown_;
    const double target = (static_cast<double>(now) - std::min(least_[0], least_[1])) / tick_ns_ - delay_ticks_;
    const double elapsed = static_cast<double>(now - last_) / tick_ns_;
    last_ = now;
    const double error = target - (shown_ + elapsed);
    if (error > kJumpBeyondTicks) {
        shown_ = target;
    } else {
        shown_ += elapsed * (1.0 + std::clamp(error * kFollow, -kMaxRateChange, kMaxRateChange));
        if (error < -kJumpBeyondTicks) shown_ -= elapsed;  // far ahead (the server slipped): wait
    }
    return shown_;
}

}  // namespace orrery::client
