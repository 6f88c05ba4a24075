// Workers of the host, which a world may use within a step.
#pragma once

#include <cstdint>

namespace orrery::sim {

// Runs tasks for a world. The default runs them on the calling thread. How tasks are spread changes no bit.
class Executor {
  public:
    using Task = void (*)(void* context, std::uint32_t index);
    virtual ~Executor() = default;
    virtual std::uint32_t worker_count() const = 0;
    // Calls task(context, i) once for every i in [0, count), on any worker, in any order, and returns after the last has returned. A step
    // makes some ten calls; with an observer, or with rigs in contact, some dozens. Tasks may run one after the other: one waits for others
    // that have begun, never for one that has not. So none that has begun may be held up until another ends.
    virtual void run(std::uint32_t count, Task task, void* context) = 0;
};

}  // namespace orrery::sim
