#include "protocol/session/input_buffer.h"

namespace orrery::protocol {

void InputBuffer::receive_one(std::uint64_t tick, const WireControl& control, std::uint64_t next_tick) {
    if (tick >= next_tick + kInputAheadTicks) {
        ++counters_.too_early;
        return;
    }
    if (tick < next_tick) {
        if (tick <= last_source_ || tick <= late_counted_) return;  // applied, or a repetition
        late_counted_ = tick;
        ++counters_.late;
        late_ = {tick, control};
        return;
    }
    slots_[tick % kInputAheadTicks] = {tick, control};
}

WireControl InputBuffer::take(std::uint64_t tick) {
    Slot& slot = slots_[tick % kInputAheadTicks];
    if (tick != 0 && slot.tick == tick) {
        ++counters_.applied;
        last_ = slot.control;
        last_source_ = tick;
        slot.tick = 0;
        ticks_without_ = 0;
    } else {
        ++counters_.repeated;
        if (late_.tick > last_source_) {
            last_ = late_.control;
            last_source_ = late_.tick;
            ticks_without_ = 0;
        } else if (++ticks_without_ >= hold_ticks_) {
            last_ = {};
        }
    }
    return last_;
}

}  // namespace orrery::protocol
