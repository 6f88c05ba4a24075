// The start times of ticks: deadlines on an absolute grid, so that errors do not add up.
//
// A host that falls behind steps at most kMaxCatchUpTicks at once. If it is still late then, the grid *slips*: all
// later ticks start later by the rest of the delay. Tick numbers stay contiguous, and the duration of a tick never
// changes.
#pragma once

#include <cstdint>

#include "protocol/netcode/crypto.h"

namespace orrery::server {

inline constexpr std::uint32_t kMaxCatchUpTicks = 4;

class TickGrid {
  public:
    // Tick 0 is the state at `now`; the step that reaches tick 1 begins one tick duration later.
    TickGrid(protocol::TimeNs now, double tick_rate_hz);

    void begin_at(std::uint64_t tick, protocol::TimeNs now);  // `tick` is the state at `now`

    protocol::TimeNs start_of(std::uint64_t tick) const;  // start of the step that reaches `tick`
    protocol::TimeNs tick_duration() const;

    struct Due {
        std::uint32_t ticks = 0;       // ticks to step now
        std::uint64_t slipped_ns = 0;  // slip of the grid before them
    };
    // `tick` is the last tick that was stepped. `most`: of the ticks that are due, the ones to step now; the grid slips
    // no sooner for it.
    Due due(std::uint64_t tick, protocol::TimeNs now, std::uint32_t most = kMaxCatchUpTicks);

  private:
    protocol::TimeNs offset_of(std::uint64_t tick) const;

    protocol::TimeNs epoch_;
    std::uint64_t rate_mhz_;  // thousandths of a hertz
};

}  // namespace orrery::server
