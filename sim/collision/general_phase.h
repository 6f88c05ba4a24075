// Pairs that have no function over the lanes, one by one: each gives any number of manifolds, in the order of the children that
// touch.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "sim/collision/broad_kernels.h"
#include "sim/collision/manifold.h"
#include "sim/collision/polytope_kernels.h"
#include "sim/shapes/shape.h"
#include "sim/world/bodies.h"

namespace orrery::sim {

struct GeneralInput {
    const Bodies& bodies;
    std::span<const Shape> shapes;
    std::span<const Pair> pairs;
    std::span<const std::uint32_t> which;  // of the pairs
    std::span<const BoundsRecord> grown;   // by body, as NarrowInput::bounds; empty: none is grown by more than the margin
    float dt_s = 0.0f, margin_m = 0.0f;
    const BroadKernels& kernels;  // for the trees of meshes and compounds
    const PolytopeKernels& polytopes;
};

namespace ref {
struct GeneralScratch;
}

class GeneralPhase {
  public:
    GeneralPhase();
    ~GeneralPhase();
    // False: they have more than kMaxPairs manifolds; memory is bounded all the same.
    bool collide(const GeneralInput& input, Executor& executor, std::vector<std::vector<Manifold>>& out);
    // What pair which[i] gave, in the `out` of the last call: sorted by (child_a, child_b), impulses zero.
    std::span<Manifold> of(std::uint32_t i, std::vector<std::vector<Manifold>>& out) const;

  private:
    struct Chunk {
        std::vector<std::uint32_t> end;  // by pair of the chunk: where its manifolds end
        std::unique_ptr<ref::GeneralScratch> scratch;
        Chunk();
        Chunk(Chunk&&) noexcept;
        Chunk& operator=(Chunk&&) noexcept;
        ~Chunk();
    };
    std::vector<Chunk> chunks_;
};

namespace ref {

// Appends the manifolds of one pair.
void collide_general(const GeneralInput& input, Pair pair, GeneralScratch& scratch, std::vector<Manifold>& out);

}  // namespace ref
}  // namespace orrery::sim
