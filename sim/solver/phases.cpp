#include "sim/solver/phases.h"

#include <algorithm>

#include "sim/base/pause.h"

namespace orrery::sim {
namespace {

// Before a worker looks whether there is something left to take from others, which costs them time: about 0.3 us.
constexpr std::uint32_t kPatience = 20;

// Of `count` tasks; a single one is the first worker's.
std::uint32_t share_begin(std::uint32_t count, std::uint32_t worker, std::uint32_t workers) {
    return static_cast<std::uint32_t>((std::uint64_t{count} * worker + workers - 1) / workers);
}

}  // namespace

void PhaseRunner::run(Executor* executor, std::span<const Phase> phases, Task task, void* context) {
    phases_ = phases, task_ = task, context_ = context;
    workers_ = executor ? std::min(executor->worker_count(), kMostWorkers) : 1;
    if (workers_ <= 1) {
        for (const Phase& phase : phases) {
            for (std::uint32_t i = 0; i < phase.count; ++i) task(context, phase.what, phase.first + i);
        }
        return;
    }
    last_ = static_cast<std::uint32_t>(phases.size());
    while (last_ > 0 && phases[last_ - 1].count == 0) --last_;
    if (last_-- == 0) return;
    done_.clear(Counters<std::uint32_t>::lines_of(phases.size()));
    taken_.clear(workers_ * Counters<std::uint64_t>::lines_of(phases.size()));
    executor->run(workers_, work, this);
}

void PhaseRunner::work(void* runner, std::uint32_t worker) { static_cast<PhaseRunner*>(runner)->work(worker); }

void PhaseRunner::work(std::uint32_t worker) {
    if (is_done(last_, 1)) return;  // without him
    std::uint32_t spins = spins_.load(std::memory_order_relaxed);
    for (std::uint32_t p = 0; p <= last_; ++p) {
        if (take_share(worker, p, true) || is_done(p, kPatience)) continue;
        bool last = false;
        for (std::uint32_t k = 1; k < workers_ && !last; ++k) last = take_share((worker + k) % workers_, p, false);
        if (!last) wait_for(p, spins);
    }
    spins_.store(spins, std::memory_order_relaxed);
}

// What is left of a worker's share of a phase. True: that was the last of the phase.
bool PhaseRunner::take_share(std::uint32_t of, std::uint32_t phase, bool own) {
    const Phase& all = phases_[phase];
    const std::uint32_t begin = share_begin(all.count, of, workers_),
                        size = share_begin(all.count, of + 1, workers_) - begin;
    const auto low = [](std::uint64_t both) { return static_cast<std::uint32_t>(both); };
    const auto high = [](std::uint64_t both) { return static_cast<std::uint32_t>(both >> 32); };
    const auto any_left = [&](std::uint64_t both) { return low(both) + high(both) < size; };
    std::atomic<std::uint64_t>& taken_of = taken(of, phase);
    std::uint32_t did = 0;
    while (any_left(taken_of.load(std::memory_order_relaxed))) {
        const std::uint64_t before = taken_of.fetch_add(own ? 1 : std::uint64_t{1} << 32, std::memory_order_relaxed);
        if (!any_left(before)) break;
        task_(context_, all.what, all.first + begin + (own ? low(before) : size - 1 - high(before)));
        ++did;
    }
    if (did == 0 || done(phase).fetch_add(did) + did != all.count) return false;
    if (sleepers_.load() != 0) done(phase).notify_all();
    return true;
}

bool PhaseRunner::is_done(std::uint32_t phase, std::uint32_t spins) {
    const std::uint32_t all = phases_[phase].count;
    for (std::uint32_t k = 0; k < spins; ++k) {
        if (done(phase).load(std::memory_order_acquire) == all) return true;
        pause();
    }
    return false;
}

void PhaseRunner::wait_for(std::uint32_t phase, std::uint32_t& spins) {
    if (is_done(phase, spins)) {
        spins = std::min(kSpins, spins + spins / 8 + 1);
        return;
    }
    const std::uint32_t all = phases_[phase].count;
    spins /= 2;
    ++sleepers_;
    for (std::uint32_t now = done(phase).load(); now != all; now = done(phase).load()) done(phase).wait(now);
    --sleepers_;
}

}  // namespace orrery::sim
