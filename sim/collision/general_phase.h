// Pairs that have no function over the lanes, and fast ones, one by one: each gives any number of manifolds, in the
// order of the children that touch.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "sim/bodies/bodies.h"
#include "sim/collision/broad/broad_kernels.h"
#include "sim/collision/lanes/narrow_kernels.h"
#include "sim/collision/lanes/polytope_kernels.h"
#include "sim/collision/manifold.h"
#include "sim/shapes/shape.h"

namespace orrery::sim {

// What moves bodies within a tick beside their velocities, and how finely the solver follows.
struct Forecast {
    Vec3 gravity = {};  // m/s^2
    std::uint32_t substeps = 1;
};

struct GeneralInput {
    const Bodies& bodies;
    std::span<const Shape> shapes;
    std::span<const Pair> pairs;
    std::span<const std::uint32_t> which;  // of the pairs
    std::span<const BoundsRecord>
        grown;  // by body, as NarrowInput::bounds; empty: none is grown by more than the margin
    float dt_s = 0.0f, margin_m = 0.0f;
    const BroadKernels& kernels;  // for the trees of meshes and compounds
    const PolytopeKernels& polytopes;
    const NarrowKernels& lanes;  // for children of compounds
    Forecast forecast = {};
    bool more = false;  // pairs that the tick's first call lacked: what that holds stays
};

class HeldPairs;
namespace ref {
struct GeneralScratch;
}

class GeneralPhase {
  public:
    GeneralPhase();
    ~GeneralPhase();
    // What slow pairs had in the last call is not looked for again, if shapes (which must not have changed) and margin
    // are the same. False: they have more than kMaxPairs manifolds; memory is bounded all the same.
    bool collide(const GeneralInput& input, Executor& executor, std::vector<std::vector<Manifold>>& out);
    // What pair which[i] gave, in the `out` of the last call: sorted by (child_a, child_b), impulses zero.
    std::span<Manifold> of(std::uint32_t i, std::vector<std::vector<Manifold>>& out) const;
    // No pairs this time: gives back what is held of slow ones.
    void forget();

  private:
    class Scratches;
    std::vector<std::vector<std::uint32_t>> ends_;  // by chunk and pair of it: where its manifolds end
    std::unique_ptr<Scratches> scratches_;
    std::unique_ptr<HeldPairs> held_;
    std::span<const Shape> shapes_;  // of what is held
    float margin_m_ = 0.0f;
};

}  // namespace orrery::sim
