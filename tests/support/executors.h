// Executors for tests: one that runs tasks where it is called, and one that runs them on several threads in a scrambled
// order.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::test {

class SerialExecutor : public sim::Executor {
  public:
    std::uint32_t worker_count() const override { return 1; }
    void run(std::uint32_t count, Task task, void* context) override {
        for (std::uint32_t i = 0; i < count; ++i) task(context, i);
    }
};

// Last task first, shared by as many threads as it is told.
class ThreadedExecutor : public sim::Executor {
  public:
    explicit ThreadedExecutor(std::uint32_t workers) : workers_(workers) {}
    std::uint32_t worker_count() const override { return workers_; }
    void run(std::uint32_t count, Task task, void* context) override {
        std::atomic<std::uint32_t> next{0};
        const auto work = [&] {
            for (std::uint32_t i = next++; i < count; i = next++) task(context, count - 1 - i);
        };
        std::vector<std::thread> threads;
        for (std::uint32_t w = 1; w < workers_; ++w) threads.emplace_back(work);
        work();
        for (std::thread& thread : threads) thread.join();
    }

  private:
    std::uint32_t workers_;
};

}  // namespace orrery::test
