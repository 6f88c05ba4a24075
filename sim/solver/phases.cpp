#include "sim/solver/phases.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace orrery::sim {
namespace {

// Before a worker sleeps: about 100 us, longer than a task. One that spun in vain spins half as long from then on: where there are more
// workers than cores, the one waited for may need this very core.
constexpr std::uint32_t kSpins = 4000;
// Before it looks whether there is something left to take from others, which costs them time: about 0.3 us.
constexpr std::uint32_t kPatience = 20;

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

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
    const std::size_t used = (workers_ + std::size_t{1}) * lines();
    if (counters_.size() < used) counters_ = std::vector<Line>(used);
    for (std::size_t i = 0; i < used; ++i) {
        for (std::atomic<std::uint32_t>& counter : counters_[i].counter) counter.store(0, std::memory_order_relaxed);
    }
    executor->run(workers_, work, this);
}

void PhaseRunner::work(void* runner, std::uint32_t worker) { static_cast<PhaseRunner*>(runner)->work(worker); }

void PhaseRunner::work(std::uint32_t worker) {
    std::uint32_t spins = kSpins;
    for (std::uint32_t p = 0; p < phases_.size(); ++p) {
        if (take_share(worker, p) || is_done(p, kPatience)) continue;
        bool last = false;
        for (std::uint32_t k = 1; k < workers_ && !last; ++k) last = take_share((worker + k) % workers_, p);
        if (!last) wait_for(p, spins);
    }
}

// What is left of a worker's share of a phase. True: that was the last of the phase.
bool PhaseRunner::take_share(std::uint32_t of, std::uint32_t phase) {
    const Phase& all = phases_[phase];
    const std::uint32_t begin = share_begin(all.count, of, workers_), size = share_begin(all.count, of + 1, workers_) - begin;
    std::atomic<std::uint32_t>& next = taken(of, phase);
    std::uint32_t did = 0;
    while (next.load(std::memory_order_relaxed) < size) {
        const std::uint32_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= size) break;
        task_(context_, all.what, all.first + begin + i);
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
    if (is_done(phase, spins)) return;
    const std::uint32_t all = phases_[phase].count;
    spins /= 2;
    ++sleepers_;
    for (std::uint32_t now = done(phase).load(); now != all; now = done(phase).load()) done(phase).wait(now);
    --sleepers_;
}

}  // namespace orrery::sim
