// The soft-step solver: colours constraints into batches without a shared dynamic body, packs them into bundles of 16
// lanes, and runs `substeps` times {integrate velocities, warm start, solve with soft bias, integrate poses, relax},
// then the restitution pass. Layout, packing and order are functions of the input alone, never of Lanes() or the
// workers.
#pragma once

#include <memory>
#include <span>

#include "sim/base/tick_arena.h"
#include "sim/bodies/bodies.h"
#include "sim/bodies/movers.h"
#include "sim/collision/manifold.h"
#include "sim/solver/joint.h"
#include "sim/solver/last_colour.h"

namespace orrery::sim {

struct StepInput {
    float dt_s = 1.0f / 60.0f;
    std::uint32_t substeps = 4;
    Vec3 gravity;
    SolverSettings settings;
    Target target = Target::scalar;
    Executor* executor = nullptr;       // never null
    StageObserver* observer = nullptr;  // may be null
    TickArena* arena =
        nullptr;  // reset when the step begins, so that nothing in it may be in use; null: the solver's own
    std::span<const Vec3> force, torque;  // by body index, N and N m, constant over the tick; empty: none
    std::span<const std::uint8_t> flags;  // by body: BodyFlag of those that are to be moved; empty: Bodies::flags
    const Movers* movers = nullptr;       // up to date; null: unknown, as if all of them were new
    // Changes whenever a joint comes or goes, or may have: while it, the movers' epoch and `joints` stay, the joints'
    // bundles are those of the last step. 0: unknown.
    std::uint64_t joint_epoch = 0;
    std::span<std::uint8_t>
        joint_news;  // by joint: its description or impulse changed since the last step; cleared. Empty: all did
    const std::vector<std::uint32_t>* joints = nullptr;  // which of the joints, ascending; null: all
    std::span<JointImpulse> impulses;                    // by joint
    std::span<ContactSurface> surfaces;                  // by manifold; empty: all are plain
    LastColour* last = nullptr;                          // may be null
    // How often a substep's solve and relax go over it and what meets it: joints (in solve alone), and contacts of
    // bodies that are near.
    std::uint32_t coupling_iterations = 1;
    std::span<const std::uint8_t> near;  // by body, not 0: near. Empty: none is
    std::span<const std::uint32_t>
        rig_of;  // by body, or fewer, not kNone: `last` may give it another inertia in each step, where it is
};

// What the kernels see of it, but for the rows of bodies.
StepContext make_step_context(const StepInput& input, Bodies& bodies);

struct SolverStats {
    std::uint32_t constraints = 0, colours = 0, bundles = 0, overflow_constraints = 0;
};

class Solver {
  public:
    Solver();
    ~Solver();
    // Advances velocities and poses of dynamic bodies and poses of kinematic ones by one tick, and stores accumulated
    // impulses and forces back into joints, their impulses, manifolds and surfaces. Joints that are not alive are
    // skipped.
    SolverStats step(const StepInput& input, Bodies& bodies, std::span<Joint> joints, Manifolds manifolds);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace orrery::sim
