// From pairs to manifolds: pairs are sorted by the types of their shapes, run 16 at a time, and what they give is put back
// into the order of the pairs.
#pragma once

#include <span>
#include <vector>

#include "sim/collision/broad_kernels.h"
#include "sim/collision/narrow_kernels.h"
#include "sim/shapes/shape.h"
#include "sim/world/bodies.h"

namespace orrery::sim {

class NarrowPhase {
  public:
    void collide(const Bodies& bodies, std::span<const Shape> shapes, std::span<const ShapeRecord> shape_table, std::span<const Pair> pairs,
                 float dt_s, float margin_m, const NarrowKernels& kernels, Executor& executor, std::vector<Manifold>& manifolds);

  private:
    struct Batch {
        PairType type = kNoPairType;
        std::uint32_t first = 0, count = 0;  // into order_
    };
    void sort_by_type(const Bodies& bodies, std::span<const Shape> shapes, std::span<const Pair> pairs);
    void run_batch(const Batch& batch, const Bodies& bodies, std::span<const Pair> pairs, const NarrowInput& input, const NarrowKernels& kernels);

    std::vector<std::uint8_t> type_;             // by pair: PairType, and kSwappedBit
    std::vector<std::uint32_t> order_;           // pairs by type
    std::vector<Batch> batches_;
    std::vector<Manifold> results_;              // by pair; count 0: not touching
};

}  // namespace orrery::sim
