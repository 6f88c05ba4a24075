#include "sim/world/history.h"

#include <algorithm>

namespace orrery::sim {

void History::keep(std::uint32_t ticks) { ring_.resize(std::size_t(ticks) + 1); }

void History::advance(const Core& core) {
    present_taken_.store(false, std::memory_order_relaxed);
    if (ring_.size() > 1) take(core);
}

void History::restart(const Core& core) {
    since_ = core.state.tick;
    advance(core);
}

const BodyTree& History::fixed(const Core& core) {
    return taker_.take_fixed(core.state.bodies, core.shapes, *tree_kernels_for(core.target));
}

std::uint64_t History::oldest_tick(std::uint64_t now) const {
    const std::uint64_t kept = ring_.size() - 1;
    return std::max(since_, now > kept ? now - kept : 0);
}

const Snapshot* History::at(std::uint64_t tick, const Core& core) const {
    const std::uint64_t now = core.state.tick;
    if (tick == kPresentTick) tick = now;
    if (tick > now || tick < oldest_tick(now)) return nullptr;
    if (tick == now && !present_taken_.load(std::memory_order_acquire)) {
        const std::lock_guard lock(taking_);
        if (!present_taken_.load(std::memory_order_relaxed)) take(core);
    }
    return &slot(tick);
}

void History::take(const Core& core) const {
    const std::uint64_t now = core.state.tick;
    taker_.take(now, core.state.bodies, core.shapes, *tree_kernels_for(core.target), slot(now));
    present_taken_.store(true, std::memory_order_release);
}

}  // namespace orrery::sim
