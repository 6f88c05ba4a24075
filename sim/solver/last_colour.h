// One more colour after all others, in each pass: what is solved as one big constraint (rigs).
#pragma once

#include "sim/solver/kernels.h"

namespace orrery::sim {

class LastColour {
  public:
    virtual ~LastColour() = default;
    virtual void prepare(const StepContext& context) = 0;     // once a tick, after the colours' own
    virtual void warm_start(const StepContext& context) = 0;
    virtual void solve(const StepContext& context) = 0;
    virtual void relax(const StepContext& context) = 0;       // the poses have moved; no pass here moves them
    virtual void relax_again(const StepContext& context) = 0; // in the same substep, after the constraints that meet it
    virtual void finish(const StepContext& context) = 0;      // impulses to the joints
};

}  // namespace orrery::sim
