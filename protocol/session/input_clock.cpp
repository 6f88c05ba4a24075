#include "protocol/session/input_clock.h"

#include <algorithm>
#include <cmath>

#include "protocol/session/input_buffer.h"

namespace orrery::protocol {

void InputClock::start(std::uint64_t tick, double tick_rate_hz, TimeNs now) {
    *this = {};
    running_ = true;
    tick_rate_hz_ = tick_rate_hz;
    last_ = now;
    phase_ = 1.0;  // the first control leaves at once
    next_ = tick + 1;
    ignore_before_ = next_;
}

std::uint32_t InputClock::advance(TimeNs now) {
    if (!running_ || now < last_) return 0;
    phase_ += static_cast<double>(now - last_) * 1e-9 * tick_rate_hz_ * (1.0 + steer_);
    last_ = now;
    const double due = std::max(0.0, std::floor(phase_));
    phase_ -= due;
    // A caller that was away skips the ticks that it missed: the server has long repeated the last control for them.
    const std::uint64_t all = static_cast<std::uint64_t>(std::min(due, 1e9));
    const std::uint64_t count = std::min<std::uint64_t>(all, kMaxInputTicksPerUpdate);
    first_ = next_ + (all - count);
    next_ += all;
    return static_cast<std::uint32_t>(count);
}

void InputClock::feedback(std::uint64_t tick, std::int32_t slack_us) {
    // A tick still to come was numbered before a slip: that number says nothing any more.
    if (!running_ || tick < ignore_before_ || tick <= last_feedback_ || tick >= next_) return;
    last_feedback_ = tick;
    const double slack = slack_us * 1e-6 * tick_rate_hz_;
    slack_ticks_ = has_slack_ ? slack_ticks_ + (slack - slack_ticks_) * 0.1 : slack;
    has_slack_ = true;
    const double error = kTargetSlackTicks - slack_ticks_;
    if (std::fabs(error) > kJumpBeyondTicks) {
        const auto ticks = static_cast<std::int64_t>(std::llround(error));
        if (ticks > 0) {
            next_ += static_cast<std::uint64_t>(ticks);
        } else {
            phase_ += static_cast<double>(ticks);  // silence until the clock has come back
        }
        ignore_before_ = next_;
        has_slack_ = false;
        slack_ticks_ = kTargetSlackTicks;
        steer_ = 0.0;
        return;
    }
    steer_ = std::clamp(error * kSteerPerTick, -kMaxSteer, kMaxSteer);
}

void InputClock::slip(std::uint64_t tick, std::uint64_t ticks) {
    if (!running_ || next_ <= tick) return;
    const std::uint64_t before = next_;
    next_ -= std::min(ticks, next_ - tick);
    phase_ = std::max(phase_, 0.0);  // feedback that told of the slip first has begun a silence: no need for it now
    // The server may still answer what was sent with the old numbers; those too far ahead for it do not count there.
    ignore_before_ = std::min<std::uint64_t>(before, next_ + kInputAheadTicks);
    last_feedback_ = 0;
    has_slack_ = false;
    slack_ticks_ = kTargetSlackTicks;
    steer_ = 0.0;
}

}  // namespace orrery::protocol
