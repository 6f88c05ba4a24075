// Workers of the host, which a world may use in a step.
#pragma once

#include <cstdint>

namespace orrery::sim {

// Runs tasks for a world. Without an executor a world runs them on the calling thread. Which worker runs which task
// changes no bit.
class Executor {
  public:
    using Task = void (*)(void* context, std::uint32_t index);
    virtual ~Executor() = default;
    virtual std::uint32_t worker_count() const = 0;  // threads that run tasks, the calling one included; at least 1
    // Calls task(context, i) once for every i in [0, count), on any worker and in any order, and returns after all have
    // returned. A step makes about ten calls; with an observer, or with rigs in contact, some dozens. Tasks may run one
    // after the other. A task may wait for tasks that have begun, but never for one that has not. So an executor must
    // not suspend a task that has begun until another one ends.
    virtual void run(std::uint32_t count, Task task, void* context) = 0;
};

}  // namespace orrery::sim
