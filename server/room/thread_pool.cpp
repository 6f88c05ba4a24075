#include "server/room/thread_pool.h"

#include <algorithm>

#include "sim/base/pause.h"

namespace orrery::server {

namespace {

// About 200 us: longer than the serial stretches between the calls of a step, far shorter than the time between steps.
constexpr std::uint32_t kIdleSpins = 8'000;
constexpr std::uint32_t kJoinSpins = 4'000;  // for a worker's last task, then the caller sleeps

// Of a desk. Who opens a call closes it again where its worker has not joined, and waits for those who have. Who goes
// to sleep says so, and only then is he woken: what the library counts of sleepers, all desks share.
enum Phase : std::uint32_t { kIdle, kAsleep, kOpen, kJoined, kAwaited, kStop };
constexpr std::uint32_t kPhases = 8;
constexpr Phase phase_of(std::uint32_t state) { return static_cast<Phase>(state % kPhases); }

constexpr std::uint64_t range(std::uint64_t begin, std::uint64_t end) { return begin | end << 32; }
constexpr std::uint32_t begin_of(std::uint64_t range) { return static_cast<std::uint32_t>(range); }
constexpr std::uint32_t end_of(std::uint64_t range) { return static_cast<std::uint32_t>(range >> 32); }

}  // namespace

ThreadPool::ThreadPool(std::uint32_t threads) {
    const std::uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
    if (threads == 0) threads = cores;
    threads = std::min(threads, kMaxThreads);
    idle_spins_ = threads <= cores ? kIdleSpins : 0;  // spinning would take a core from a thread with work
    desks_ = std::vector<Desk>(threads);
    workers_.reserve(threads - 1);
    for (std::uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
    for (std::size_t i = 1; i < desks_.size(); ++i) {
        desks_[i].state.store(kStop);
        desks_[i].state.notify_one();
    }
    for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(std::uint32_t count, Task task, void* context) {
    if (count <= 1 || workers_.empty() || busy_.test_and_set(std::memory_order_acquire)) {
        for (std::uint32_t i = 0; i < count; ++i) task(context, i);
        return;
    }
    call_ += kPhases;
    const std::uint64_t all = count,
                        parts = std::min<std::uint64_t>(all, desks_.size());  // the others' shares are empty
    for (std::uint64_t i = 0; i < parts; ++i) {
        Desk& desk = desks_[i];
        desk.task = task;
        desk.context = context;
        desk.share.store(range(all * i / parts, all * (i + 1) / parts), std::memory_order_relaxed);
        if (i == 0) continue;
        if (phase_of(desk.state.exchange(call_ | kOpen)) == kAsleep) desk.state.notify_one();
    }

    take_tasks(0);

    for (std::size_t i = 1; i < parts; ++i) {
        std::atomic<std::uint32_t>& state = desks_[i].state;
        std::uint32_t now = call_ | kOpen;
        if (state.compare_exchange_strong(now, call_ | kIdle)) continue;
        // Asleep rather than yielding: a loop of sched_yield can keep the very worker that it waits for off its core,
        // for good where a scheduler (Linux 6.18) miscounts what yielding threads ran.
        const auto inside = [](std::uint32_t of_desk) {
            return phase_of(of_desk) == kJoined || phase_of(of_desk) == kAwaited;
        };
        for (std::uint32_t spins = idle_spins_ == 0 ? 0 : kJoinSpins; inside(now); now = state.load()) {
            if (spins > 0) {
                --spins;
                sim::pause();
            } else if (phase_of(now) == kAwaited || state.compare_exchange_strong(now, call_ | kAwaited)) {
                state.wait(call_ | kAwaited);
            }
        }
    }
    busy_.clear(std::memory_order_release);
}

void ThreadPool::take_tasks(std::uint32_t self) {
    const Task task = desks_[self].task;
    void* const context = desks_[self].context;
    const auto parts = static_cast<std::uint32_t>(desks_.size());
    std::atomic<std::uint64_t>& own = desks_[self].share;
    for (std::uint64_t left = own.load(std::memory_order_relaxed); begin_of(left) < end_of(left);) {
        if (!own.compare_exchange_weak(left, left + 1, std::memory_order_relaxed)) continue;
        task(context, begin_of(left));
        left = own.load(std::memory_order_relaxed);
    }
    for (std::uint32_t k = 1; k < parts; ++k) {
        std::atomic<std::uint64_t>& other = desks_[(self + k) % parts].share;
        for (std::uint64_t left = other.load(std::memory_order_relaxed); begin_of(left) < end_of(left);) {
            if (!other.compare_exchange_weak(left, range(begin_of(left), end_of(left) - 1), std::memory_order_relaxed))
                continue;
            task(context, end_of(left) - 1);
            left = other.load(std::memory_order_relaxed);
        }
    }
}

void ThreadPool::work(std::uint32_t self) {
    std::atomic<std::uint32_t>& state = desks_[self].state;
    for (;;) {
        std::uint32_t now = state.load();
        for (std::uint32_t spins = 0; phase_of(now) == kIdle && spins < idle_spins_; ++spins) {
            sim::pause();
            now = state.load();
        }
        if (phase_of(now) == kStop) return;
        const std::uint32_t call = now - phase_of(now);
        if (phase_of(now) == kAsleep ||
            (phase_of(now) == kIdle && state.compare_exchange_strong(now, call | kAsleep))) {
            state.wait(call | kAsleep);
            continue;
        }
        if (phase_of(now) != kOpen || !state.compare_exchange_strong(now, call | kJoined)) continue;
        take_tasks(self);
        if (phase_of(state.exchange(call | kIdle)) == kAwaited) state.notify_one();
    }
}

}  // namespace orrery::server
