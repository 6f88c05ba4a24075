// Worker threads that rooms share, as the Executor of a world's step. A step makes several calls, many of them short,
// so that workers spin briefly between calls and sleep if none comes. Each worker begins with its own share of a call,
// the same one from call to call, so that its cache is used again. A worker that has finished its share takes tasks
// from the others.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::server {

inline constexpr std::uint32_t kMaxThreads = 256;  // more than one room can use on any machine

class ThreadPool final : public sim::Executor {
  public:
    // `threads` counts the calling thread. 1 makes no worker; 0 uses as many threads as the machine has cores.
    explicit ThreadPool(std::uint32_t threads = 0);
    ~ThreadPool() override;
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    std::uint32_t worker_count() const override { return static_cast<std::uint32_t>(workers_.size()) + 1; }

    // The calling thread works, too. If the pool is busy with another caller, or if the call comes from inside a task,
    // the caller runs all tasks by itself.
    void run(std::uint32_t count, Task task, void* context) override;

  private:
    // The data for one worker, in one cache line. It is written before the call is opened, and the worker reads it once
    // it has joined the call.
    struct alignas(64) Desk {
        std::atomic<std::uint32_t> state{0};  // the call's number and a Phase
        // tasks left: [low half, high half). The owner takes the first ones, others the last ones
        std::atomic<std::uint64_t> share{0};
        Task task = nullptr;
        void* context = nullptr;
    };

    void work(std::uint32_t self);
    void take_tasks(std::uint32_t self);

    std::vector<Desk> desks_;  // the first is the calling thread's
    std::uint32_t call_ = 0;   // number of the call, in its place in Desk::state
    alignas(64) std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    std::uint32_t idle_spins_ = 0;
    std::vector<std::thread> workers_;
};

}  // namespace orrery::server
