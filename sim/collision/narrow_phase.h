// From pairs to manifolds: some pairs at a time are sorted by the types of their shapes and run 16 at a time; what they
// give is listed in the order of the pairs.
#pragma once

#include <span>
#include <vector>

#include "sim/collision/broad/broad_phase.h"
#include "sim/collision/general_phase.h"
#include "sim/collision/lanes/narrow_kernels.h"
#include "sim/collision/manifold_store.h"
#include "sim/collision/mesh/seams.h"

namespace orrery::sim {

class NarrowPhase {
  public:
    // As Collision::collide; shapes as the last update of `broad` saw them.
    bool collide(const Bodies& bodies, std::span<const Shape> shapes, const BroadPhase& broad,
                 std::span<const Pair> pairs, float dt_s, float margin_m, const NarrowKernels& kernels,
                 const BroadKernels& tree_kernels, const PolytopeKernels& polytope_kernels, Executor& executor,
                 TickArena& arena, bool more, const Forecast& forecast, ManifoldStore& manifolds);

  private:
    struct Chunk {  // of pairs
        std::span<std::uint32_t>
            found;  // in their order, in the arena: a manifold's place, or kGeneral for a pair that general_ has
        std::vector<std::uint32_t> general;                   // which pairs these are, ascending
        std::uint32_t first_manifold = 0, first_general = 0;  // in the list of manifolds; in general_pairs_
    };
    struct Input {
        const Bodies& bodies;
        const BroadPhase& broad;
        std::span<const Pair> pairs;
        const NarrowInput& narrow;
        const NarrowKernels& kernels;
    };
    void collide_chunk(const Input& input, std::uint32_t begin, std::uint32_t end, Chunk& chunk,
                       PackedManifolds& to) const;

    std::vector<Chunk> chunks_;
    std::vector<std::uint32_t> general_pairs_;  // which pairs it has
    GeneralPhase general_;
    Seams seams_;
};

}  // namespace orrery::sim
