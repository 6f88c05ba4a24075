#include "server/room/thread_pool.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace orrery::server {

namespace {

// About 200 us: longer than the serial stretches between the calls of a step, far shorter than the time between steps.
constexpr std::uint32_t kIdleSpins = 8'000;
constexpr std::uint32_t kJoinSpins = 4'000;  // for a worker's last task, then the caller sleeps
constexpr std::uint32_t kOpen = 1u << 31;

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

constexpr std::uint64_t range(std::uint64_t begin, std::uint64_t end) { return begin | end << 32; }
constexpr std::uint32_t begin_of(std::uint64_t range) { return static_cast<std::uint32_t>(range); }
constexpr std::uint32_t end_of(std::uint64_t range) { return static_cast<std::uint32_t>(range >> 32); }

}  // namespace

ThreadPool::ThreadPool(std::uint32_t threads) {
    const std::uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
    if (threads == 0) threads = cores;
    threads = std::min(threads, kMaxThreads);
    idle_spins_ = threads <= cores ? kIdleSpins : 0;  // spinning would take a core from a thread with work
    shares_ = std::vector<Share>(threads);
    workers_.reserve(threads - 1);
    for (std::uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
    stop_.store(true);
    calls_.fetch_add(1);
    calls_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(std::uint32_t count, Task task, void* context) {
    if (count <= 1 || workers_.empty() || busy_.test_and_set(std::memory_order_acquire)) {
        for (std::uint32_t i = 0; i < count; ++i) task(context, i);
        return;
    }
    task_ = task;
    context_ = context;
    const std::uint64_t all = count, parts = shares_.size();
    for (std::uint64_t i = 0; i < parts; ++i)
        shares_[i].range.store(range(all * i / parts, all * (i + 1) / parts), std::memory_order_relaxed);
    call_.fetch_or(kOpen);
    calls_.fetch_add(1);
    calls_.notify_all();  // a system call only if someone sleeps

    take_tasks(0);

    // Closed first: who joins from now on is sent away. Then asleep rather than yielding: a loop of sched_yield can keep the
    // very worker that it waits for off its core, for good where a scheduler (Linux 6.18) miscounts what yielding threads ran.
    std::uint32_t inside = call_.fetch_and(~kOpen) & ~kOpen;
    for (std::uint32_t spins = idle_spins_ == 0 ? 0 : kJoinSpins; inside != 0; inside = call_.load()) {
        if (spins > 0) {
            --spins;
            pause();
        } else {
            call_.wait(inside);
        }
    }
    busy_.clear(std::memory_order_release);
}

void ThreadPool::take_tasks(std::uint32_t self) {
    const auto parts = static_cast<std::uint32_t>(shares_.size());
    std::atomic<std::uint64_t>& own = shares_[self].range;
    for (std::uint64_t left = own.load(std::memory_order_relaxed); begin_of(left) < end_of(left);) {
        if (!own.compare_exchange_weak(left, left + 1, std::memory_order_relaxed)) continue;
        task_(context_, begin_of(left));
        left = own.load(std::memory_order_relaxed);
    }
    for (std::uint32_t k = 1; k < parts; ++k) {
        std::atomic<std::uint64_t>& other = shares_[(self + k) % parts].range;
        for (std::uint64_t left = other.load(std::memory_order_relaxed); begin_of(left) < end_of(left);) {
            if (!other.compare_exchange_weak(left, range(begin_of(left), end_of(left) - 1), std::memory_order_relaxed)) continue;
            task_(context_, end_of(left) - 1);
            left = other.load(std::memory_order_relaxed);
        }
    }
}

void ThreadPool::work(std::uint32_t self) {
    std::uint32_t seen = 0;
    for (;;) {
        std::uint32_t calls = calls_.load();
        for (std::uint32_t spins = 0; calls == seen && spins < idle_spins_; ++spins) {
            pause();
            calls = calls_.load();
        }
        if (calls == seen) {
            calls_.wait(seen);
            continue;
        }
        seen = calls;
        if (stop_.load()) return;
        if (call_.fetch_add(1) & kOpen) take_tasks(self);
        if (call_.fetch_sub(1) == 1) call_.notify_one();  // the last out of a closed call
    }
}

}  // namespace orrery::server
