// Worker threads that rooms share: the Executor a world's step runs on. A step makes some calls, many of them short, so that workers
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
    // What one worker is told, in one cache line: written before the call is opened, read by him once he has joined it.
    struct alignas(64) Desk {
        std::atomic<std::uint32_t> state{0};  // the call's number and a Phase
        std::atomic<std::uint64_t> share{0};  // tasks left: [low half, high half). Its owner takes the first, others the last
        Task task = nullptr;
        void* context = nullptr;
    };

    void work(std::uint32_t self);
    void take_tasks(std::uint32_t self);

    std::vector<Desk> desks_;      // the calling thread's first
    std::uint32_t call_ = 0;       // its number, in place
    alignas(64) std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    std::uint32_t idle_spins_ = 0;
    std::vector<std::thread> workers_;
};

}  // namespace orrery::server
