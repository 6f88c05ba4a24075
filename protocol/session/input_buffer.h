// The controls of one player at the server; each waits for its tick.
//
// A client sends the control for a tick ahead of that tick and repeats it until it is acknowledged. What has not
// arrived when its tick starts is replaced by a newer control that arrived too late for its own tick, else by the last
// one again. A client that sends nothing for `hold_ticks` steers with zeros from then on, until something arrives. The
// world is never rewound: what was applied at which tick is what counts.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "protocol/netcode/crypto.h"
#include "protocol/session/messages.h"

namespace orrery::protocol {

inline constexpr std::uint32_t kInputAheadTicks = 64;  // controls for ticks farther ahead are dropped

struct InputCounters {
    std::uint64_t applied = 0;    // in the tick that they were meant for
    std::uint64_t late = 0;       // arrived after their tick had started
    std::uint64_t repeated = 0;   // ticks for which no control had arrived
    std::uint64_t too_early = 0;  // beyond kInputAheadTicks
};

class InputBuffer {
  public:
    explicit InputBuffer(std::uint64_t hold_ticks = ~std::uint64_t{0}) : hold_ticks_(hold_ticks) {}

    // Controls for `first_tick` and the ticks after it, while the next tick to be stepped is `next_tick`.
    // `measure_slack_us(tick)`, asked of the newest control alone, is how long before the start of its tick it has
    // arrived.
    template <class SlackUs>
    void receive(std::uint64_t first_tick, std::span<const WireControl> controls, std::uint64_t next_tick,
                 SlackUs measure_slack_us) {
        if (controls.empty()) return;
        const std::uint64_t last = first_tick + controls.size() - 1;
        for (std::size_t i = 0; i < controls.size(); ++i) receive_one(first_tick + i, controls[i], next_tick);
        // A client that is too early also gets this report, since it would stay too early otherwise. A control that
        // fits replaces the report.
        const bool fits = last < next_tick + kInputAheadTicks;
        if (last > newest_tick_ || (fits && newest_is_early_)) {
            newest_tick_ = last;
            newest_is_early_ = !fits;
            slack_us_ = measure_slack_us(last);
        }
    }

    // Coming ticks start later than announced: clients number their controls again, from lower ticks.
    void slip() {
        newest_tick_ = 0;
        newest_is_early_ = false;
        slack_us_ = 0;
    }

    // The control for the step of `tick`. Ticks ascend without gaps.
    WireControl take(std::uint64_t tick);

    std::uint64_t newest_tick() const { return newest_tick_; }  // 0: none has arrived
    std::int32_t slack_us() const { return slack_us_; }         // of the control for newest_tick()
    const InputCounters& counters() const { return counters_; }

  private:
    struct Slot {
        std::uint64_t tick = 0;  // 0: empty
        WireControl control{};
    };
    void receive_one(std::uint64_t tick, const WireControl& control, std::uint64_t next_tick);

    std::uint64_t hold_ticks_;
    std::uint64_t ticks_without_ = 0;  // since a control was taken
    std::array<Slot, kInputAheadTicks> slots_;
    WireControl last_{};             // the control of the last tick
    std::uint64_t last_source_ = 0;  // the tick for which that control was meant
    Slot late_;                      // the newest control that missed its tick
    // late controls were counted up to this tick, so that repetitions do not count twice
    std::uint64_t late_counted_ = 0;
    std::uint64_t newest_tick_ = 0;
    bool newest_is_early_ = false;  // the control for newest_tick_ was beyond kInputAheadTicks, and was not kept
    std::int32_t slack_us_ = 0;
    InputCounters counters_;
};

}  // namespace orrery::protocol
