// The pool's contract: every task once, all done on return, safe to share and to call from inside a task.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "server/room/thread_pool.h"

using orrery::server::ThreadPool;

namespace {

// Runs `count` tasks and tells whether each ran exactly once by the time that run() returned.
bool each_once(ThreadPool& pool, std::uint32_t count) {
    std::vector<std::uint32_t> times(count, 0);  // plain: run() must order the writes before its return
    pool.run(
        count, [](void* context, std::uint32_t i) { ++static_cast<std::uint32_t*>(context)[i]; }, times.data());
    for (const std::uint32_t n : times) {
        if (n != 1) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("every task runs exactly once, before run returns, for any number of threads") {
    for (const std::uint32_t threads : {1u, 2u, 3u, 8u}) {
        ThreadPool pool(threads);
        CHECK(pool.worker_count() == threads);
        bool all = true;
        for (std::uint32_t round = 0; round < 2'000; ++round) all = all && each_once(pool, round % 17);
        CHECK(all);
        CHECK(each_once(pool, 10'000));
    }
}

TEST_CASE("a task may call run, and callers on several threads may share the pool") {
    ThreadPool pool(3);
    struct Nested {
        ThreadPool& pool;
        std::atomic<std::uint32_t> ran{0};
    } nested{pool};
    pool.run(
        8,
        [](void* context, std::uint32_t) {
            auto& outer = *static_cast<Nested*>(context);
            outer.pool.run(
                5, [](void* inner, std::uint32_t) { static_cast<Nested*>(inner)->ran.fetch_add(1); }, context);
        },
        &nested);
    CHECK(nested.ran.load() == 40);

    std::atomic<bool> all{true};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&] {
            for (std::uint32_t round = 0; round < 500; ++round) {
                if (!each_once(pool, 1 + round % 9)) all = false;
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(all.load());
}

TEST_CASE("a pool that was never used, or whose workers sleep, ends") {
    { const ThreadPool unused(4); }
    ThreadPool pool(2);
    CHECK(each_once(pool, 4));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // long past the spinning
    CHECK(each_once(pool, 4));
}
