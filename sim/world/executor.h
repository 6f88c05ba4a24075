// Executors a step runs on: the calling thread, or the host's workers with the floating-point environment guarded.
#pragma once

#include "orrery/sim.hpp"
#include "sim/lanes/fp_environment.h"

namespace orrery::sim {

class SerialExecutor final : public Executor {
  public:
    std::uint32_t worker_count() const override { return 1; }
    void run(std::uint32_t count, Task task, void* context) override {
        for (std::uint32_t i = 0; i < count; ++i) task(context, i);
    }
};

// Workers belong to the host, whose libraries may have changed their floating-point environment: every task sets and
// restores it.
class GuardedExecutor final : public Executor {
  public:
    explicit GuardedExecutor(Executor& host) : host_(host) {}
    std::uint32_t worker_count() const override { return host_.worker_count(); }
    void run(std::uint32_t count, Task task, void* context) override {
        if (count == 1) return task(context, 0);  // on this thread, which step() has guarded
        Call call{task, context};
        host_.run(
            count,
            [](void* opaque, std::uint32_t index) {
                const FpEnvironment environment;
                const Call& inner = *static_cast<const Call*>(opaque);
                inner.task(inner.context, index);
            },
            &call);
    }

  private:
    struct Call {
        Task task;
        void* context;
    };
    Executor& host_;
};

}  // namespace orrery::sim
