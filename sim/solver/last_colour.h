// One more colour after all others, in each pass: what is solved as one big constraint (rigs).
#pragma once

#include "sim/solver/kernels.h"

namespace orrery::sim {

// A substep goes coupling_iterations times over a rig that is solved exactly and on which something acts, and over what
// meets it. Whatever else is solved here is so the last kMostSolves times alone: what nothing acts on has nothing left
// for more, and iterations over a net gain energy where they are more than twice as many as those that relax it.
inline constexpr std::uint32_t kMostSolves = 2;

class LastColour {
  public:
    virtual ~LastColour() = default;
    // Once a tick, before the colours' own, and when poses have moved, before they relax; refresh may move its own
    // bodies on (poses, velocities, displacements). These, too, see what inertia it leaves bodies with: contacts that
    // of the tick's start, joints the last.
    virtual void prepare(const StepContext& context) = 0;
    virtual void refresh(const StepContext& context) = 0;
    virtual void warm_start(const StepContext& context) = 0;
    virtual void solve(const StepContext& context) = 0;
    virtual void solve_coupled(const StepContext& context) = 0;  // of rigs that are solved more often
    virtual void relax(const StepContext& context) = 0;          // no pass from here on moves poses
    // In the same substep, after the constraints that meet it.
    virtual void relax_again(const StepContext& context) = 0;
    virtual void relax_coupled(const StepContext& context) = 0;
    virtual void finish(const StepContext& context) = 0;  // impulses to the joints
};

}  // namespace orrery::sim
