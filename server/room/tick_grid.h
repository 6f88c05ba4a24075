// When ticks begin: deadlines on an absolute grid, so that no error adds up.
//
// A host that falls behind steps at most kMaxCatchUpTicks at once. What is left of its debt is forgiven: the grid
// slips, ticks stay contiguous and their length never changes.
#pragma once

#include <cstdint>

#include "protocol/netcode/crypto.h"

namespace orrery::server {

inline constexpr std::uint32_t kMaxCatchUpTicks = 4;

class TickGrid {
  public:
    // Tick 0 is the state at `now`; the step that reaches tick 1 begins one tick later.
    TickGrid(protocol::TimeNs now, double tick_rate_hz);

    protocol::TimeNs start_of(std::uint64_t tick) const;  // when the step that reaches `tick` begins
    protocol::TimeNs tick_duration() const;

    struct Due {
        std::uint32_t ticks = 0;       // to be stepped now
        std::uint64_t slipped_ns = 0;  // by how much the grid gave way before them
    };
    // `tick`: the last that was stepped.
    Due due(std::uint64_t tick, protocol::TimeNs now);

  private:
    protocol::TimeNs offset_of(std::uint64_t tick) const;

    protocol::TimeNs epoch_;
    std::uint64_t rate_mhz_;  // thousandths of a hertz
};

}  // namespace orrery::server
