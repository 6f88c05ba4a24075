// Worker threads that rooms share: the Executor a world's step runs on. A step makes many short calls, so that workers
// spin a little between them and sleep when none comes. Each worker begins with its own share of a call, the same from call to
// call, so that what lay in its cache serves it again; who has done his share takes from the others'.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::server {

inline constexpr std::uint32_t kMaxThreads = 256;  // more than any machine that one room profits from

class ThreadPool final : public sim::Executor {
  public:
    // `threads` counts the calling thread: 1 makes no worker, 0 takes as many as the machine has cores.
    explicit ThreadPool(std::uint32_t threads = 0);
    ~ThreadPool() override;
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    std::uint32_t worker_count() const override { return static_cast<std::uint32_t>(workers_.size()) + 1; }

    // The calling thread works, too. While the pool is busy with another caller, or for a call from inside a task, the
    // caller runs all tasks by itself.
    void run(std::uint32_t count, Task task, void* context) override;

  private:
    // The tasks [begin, end) of one word: begin in the low half. The owner takes from the front, others from the back.
    struct alignas(64) Share {
        std::atomic<std::uint64_t> range{0};
    };

    void work(std::uint32_t self);
    void take_tasks(std::uint32_t self);

    // The call in progress, written before it is opened and read only by workers that joined it.
    Task task_ = nullptr;
    void* context_ = nullptr;
    std::vector<Share> shares_;  // by worker, the calling thread's first

    // kOpen while the call may be joined, and the workers in it. One word, so that a worker joins and learns whether it may
    // in one step, and nobody can slip in after the last look.
    alignas(64) std::atomic<std::uint32_t> call_{0};
    alignas(64) std::atomic<std::uint32_t> calls_{0};    // grows with every call: what idle workers watch
    std::atomic<bool> stop_{false};
    alignas(64) std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    std::uint32_t idle_spins_ = 0;
    std::vector<std::thread> workers_;
};

}  // namespace orrery::server
