#include "server/room/tick_grid.h"

#include <algorithm>
#include <cmath>

namespace orrery::server {

namespace {
constexpr std::uint64_t kNsTimesMillihertz = 1'000'000'000'000;
}

TickGrid::TickGrid(protocol::TimeNs now, double tick_rate_hz)
    : epoch_(now), rate_mhz_(static_cast<std::uint64_t>(std::llround(tick_rate_hz * 1000.0))) {
    if (rate_mhz_ == 0) rate_mhz_ = 1;
}

// Exact to the nanosecond however many ticks have passed, within 64 bits for rates up to 10 kHz.
protocol::TimeNs TickGrid::offset_of(std::uint64_t tick) const {
    return tick / rate_mhz_ * kNsTimesMillihertz + tick % rate_mhz_ * kNsTimesMillihertz / rate_mhz_;
}

// Before the clock's zero, modulo 2^64, if the room is older than the clock.
void TickGrid::begin_at(std::uint64_t tick, protocol::TimeNs now) { epoch_ = now - offset_of(tick); }

protocol::TimeNs TickGrid::start_of(std::uint64_t tick) const { return epoch_ + offset_of(tick); }

protocol::TimeNs TickGrid::tick_duration() const { return offset_of(1); }

TickGrid::Due TickGrid::due(std::uint64_t tick, protocol::TimeNs now, std::uint32_t most) {
    Due due;
    while (due.ticks < kMaxCatchUpTicks && start_of(tick + due.ticks + 1) <= now) ++due.ticks;
    // One more would be due as well: the debt beyond what is stepped now is given up, whole ticks of it.
    const protocol::TimeNs next = start_of(tick + due.ticks + 1);
    if (due.ticks == kMaxCatchUpTicks && next <= now) {
        due.slipped_ns = ((now - next) / tick_duration() + 1) * tick_duration();
        epoch_ += due.slipped_ns;
    }
    due.ticks = std::min(due.ticks, most);
    return due;
}

}  // namespace orrery::server
