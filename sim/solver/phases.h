// Phases of tasks, one after the other, in one call of an Executor: a step has hundreds of short ones (a colour in a pass), and a call for
// each would cost as much as their work. In between, workers wait for each other by a counter.
//
// Whoever comes takes the tasks of who does not, and waits for nothing but what another has begun: an Executor may run its tasks one after
// the other, or late, or on fewer workers than it says.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::sim {

struct Phase {
    std::uint32_t first = 0, count = 0;  // tasks
    std::uint32_t what = 0;              // handed to each of them
};

class PhaseRunner {
  public:
    using Task = void (*)(void* context, std::uint32_t what, std::uint32_t index);

    // A phase's tasks begin when all of the phases before it are done. Each worker begins with his own share of a phase, the same for phases of as
    // many tasks, so that what lay in his cache serves him again. executor: none runs them here.
    void run(Executor* executor, std::span<const Phase> phases, Task task, void* context);

  private:
    static constexpr std::uint32_t kMostWorkers = 64;
    static void work(void* runner, std::uint32_t worker);
    void work(std::uint32_t worker);
    bool take_share(std::uint32_t of, std::uint32_t phase);
    bool is_done(std::uint32_t phase, std::uint32_t spins);
    void wait_for(std::uint32_t phase, std::uint32_t& spins);
    struct alignas(64) Line {
        std::atomic<std::uint32_t> counter[16];
    };
    std::size_t lines() const { return (phases_.size() + 15) / 16; }
    std::atomic<std::uint32_t>& taken(std::size_t worker, std::size_t phase) { return counters_[(worker + 1) * lines() + phase / 16].counter[phase % 16]; }
    std::atomic<std::uint32_t>& done(std::size_t phase) { return counters_[phase / 16].counter[phase % 16]; }

    std::span<const Phase> phases_;
    Task task_ = nullptr;
    void* context_ = nullptr;
    std::uint32_t workers_ = 0;
    std::vector<Line> counters_;  // tasks done, by phase; then for each worker, by phase, those of his share that are taken
    std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace orrery::sim
