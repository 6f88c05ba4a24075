// The clock of a client's controls. It runs a few percent faster or slower than the server's ticks until controls
// arrive one to two ticks before they are needed.
#pragma once

#include <cstdint>

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

inline constexpr double kTargetSlackTicks = 1.5;
inline constexpr double kMaxSteer = 0.05;        // share of the tick rate; too little to be felt
inline constexpr double kSteerPerTick = 0.02;    // for an error of one tick; settles within seconds without oscillation
inline constexpr double kJumpBeyondTicks = 8.0;  // larger errors (start, a stall, a slip) are corrected by a jump
inline constexpr std::uint32_t kMaxInputTicksPerUpdate = 8;  // a caller that was away does not flood the server

class InputClock {
  public:
    // The first control is for the tick after `tick`.
    void start(std::uint64_t tick, double tick_rate_hz, TimeNs now);
    bool running() const { return running_; }

    // The number of controls that are due since the last call. The first of them is for first_tick().
    std::uint32_t advance(TimeNs now);
    std::uint64_t first_tick() const { return first_; }

    // The control for `tick` arrived `slack_us` before the server needed it.
    void feedback(std::uint64_t tick, std::int32_t slack_us);

    // The server lost `ticks` ticks of time before it stepped `tick`. Controls become due later by that time, and are
    // numbered again from the tick to which the clock goes back.
    void slip(std::uint64_t tick, std::uint64_t ticks);
    std::uint64_t next_tick() const { return next_; }
    double phase() const { return phase_; }  // of the next control, in ticks; it is due at 1. Negative: a silence

    double slack_ticks() const { return slack_ticks_; }  // smoothed
    double steer() const { return steer_; }

  private:
    bool running_ = false;
    double tick_rate_hz_ = 60.0;
    TimeNs last_ = 0;
    double phase_ = 0.0;      // of the next tick, in ticks
    std::uint64_t next_ = 0;  // the tick that the next control is for
    std::uint64_t first_ = 0;
    std::uint64_t ignore_before_ = 0;  // feedback about controls sent before a jump has no meaning
    std::uint64_t last_feedback_ = 0;
    bool has_slack_ = false;
    double slack_ticks_ = kTargetSlackTicks;
    double steer_ = 0.0;
};

}  // namespace orrery::protocol
