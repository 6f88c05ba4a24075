#include "server/room/thread_pool.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace orrery::server {

namespace {

// About 50 us: longer than the serial stretches between the calls of a step, far shorter than the time between steps.
constexpr std::uint32_t kIdleSpins = 2'000;
constexpr std::uint32_t kJoinSpins = 4'000;  // for a worker's last task, then the core is offered to it

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

ThreadPool::ThreadPool(std::uint32_t threads) {
    const std::uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
    if (threads == 0) threads = cores;
    threads = std::min(threads, kMaxThreads);
    idle_spins_ = threads <= cores ? kIdleSpins : 0;  // spinning would take a core from a thread with work
    workers_.reserve(threads - 1);
    for (std::uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
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
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    open_.store(true);
    calls_.fetch_add(1);
    calls_.notify_all();  // a system call only if someone sleeps

    take_tasks();

    // Closed first, counted second; a worker counts itself first and looks second (all in one total order). So either it
    // finds the call closed, or we wait for it.
    open_.store(false);
    for (std::uint32_t spins = 0; active_.load() != 0; ++spins) {
        if (spins < kJoinSpins && idle_spins_ != 0) pause();
        else std::this_thread::yield();
    }
    busy_.clear(std::memory_order_release);
}

void ThreadPool::take_tasks() {
    const std::uint32_t count = count_;
    for (;;) {
        const std::uint32_t index = next_.fetch_add(1, std::memory_order_relaxed);
        if (index >= count) return;
        task_(context_, index);
    }
}

void ThreadPool::work() {
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
        active_.fetch_add(1);
        if (open_.load()) take_tasks();
        active_.fetch_sub(1);
    }
}

}  // namespace orrery::server
