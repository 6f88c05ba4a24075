// Phases of tasks, one after the other, in one call of an Executor: a step has hundreds of short ones (a colour in a
// pass), and a call for each would cost as much as their work. In between, workers wait for each other by a counter.
//
// Whoever comes takes the tasks of who does not, and waits for nothing but what another has begun: an Executor may run
// its tasks one after the other, or late, or on fewer workers than it says.
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

    // A phase's tasks begin when all of the phases before it are done. Each worker begins with his own share of a
    // phase, the same for phases of as many tasks, so that what lay in his cache serves him again; of others' he takes
    // the last. executor: none runs them here.
    void run(Executor* executor, std::span<const Phase> phases, Task task, void* context);

  private:
    static constexpr std::uint32_t kMostWorkers = 64, kLineBytes = 64;
    // Before a worker sleeps: about 100 us, longer than a task. Who spun in vain spins half as long from then on: where
    // there are more workers than cores, the one waited for may need this very core.
    static constexpr std::uint32_t kSpins = 4000;
    static void work(void* runner, std::uint32_t worker);
    void work(std::uint32_t worker);
    bool take_share(std::uint32_t of, std::uint32_t phase, bool own);
    bool is_done(std::uint32_t phase, std::uint32_t spins);
    void wait_for(std::uint32_t phase, std::uint32_t& spins);
    // Counters by phase. Those of a worker share no cache line with another's.
    template <class T>
    struct Counters {
        static constexpr std::size_t kOfLine = kLineBytes / sizeof(T);
        struct alignas(kLineBytes) Line {
            std::atomic<T> counter[kOfLine];
        };
        std::vector<Line> lines;

        static std::size_t lines_of(std::size_t phases) { return (phases + kOfLine - 1) / kOfLine; }
        void clear(std::size_t count) {
            if (lines.size() < count) lines = std::vector<Line>(count);
            for (std::size_t i = 0; i < count; ++i) {
                for (std::atomic<T>& counter : lines[i].counter) counter.store(0, std::memory_order_relaxed);
            }
        }
        std::atomic<T>& at(std::size_t line, std::size_t phase) {
            return lines[line + phase / kOfLine].counter[phase % kOfLine];
        }
    };
    std::atomic<std::uint64_t>& taken(std::size_t worker, std::size_t phase) {
        return taken_.at(worker * Counters<std::uint64_t>::lines_of(phases_.size()), phase);
    }
    std::atomic<std::uint32_t>& done(std::size_t phase) { return done_.at(0, phase); }

    std::span<const Phase> phases_;
    Task task_ = nullptr;
    void* context_ = nullptr;
    std::uint32_t workers_ = 0, last_ = 0;  // last_: the last phase with a task
    Counters<std::uint32_t> done_;          // tasks
    Counters<std::uint64_t>
        taken_;  // of each worker's share: low half by him, from its first on, high half by others, from its last
    std::atomic<std::uint32_t> sleepers_{0}, spins_{kSpins};
};

}  // namespace orrery::sim
