// From pairs to manifolds: pairs are sorted by the types of their shapes, run 16 at a time, and what they give is put back
// into the order of the pairs.
#pragma once

#include <span>
#include <vector>

#include "sim/collision/broad_phase.h"
#include "sim/collision/general_phase.h"
#include "sim/collision/manifold_store.h"
#include "sim/collision/narrow_kernels.h"
#include "sim/collision/seams.h"

namespace orrery::sim {

class NarrowPhase {
  public:
    // As Collision::collide; shapes as the last update of `broad` saw them.
    bool collide(const Bodies& bodies, std::span<const Shape> shapes, const BroadPhase& broad, std::span<const Pair> pairs,
                 float dt_s, float margin_m, const NarrowKernels& kernels, const BroadKernels& tree_kernels,
                 Executor& executor, ManifoldStore& manifolds);

  private:
    struct Batch {
        PairType type = kNoPairType;
        std::uint32_t first = 0, count = 0;  // in order_
    };
    // What a touching pair gives, until it is known where in the list of manifolds it stands. Most pairs do not touch, and most that do
    // have one point.
    struct Touch {
        Vec3 normal;
        std::uint32_t first;                     // in Touches::points
    };
    struct TouchPoint {
        Vec3 offset_a;
        float depth;
        std::uint32_t feature;
    };
    struct Touches {                             // of a task
        std::vector<Touch> list;
        std::vector<TouchPoint> points;
        void clear();
    };
    void sort_by_type(const BroadPhase& broad, std::span<const Pair> pairs, Executor& executor);
    bool order_manifolds(std::span<const Pair> pairs, ManifoldStore& manifolds, Executor& executor);
    void run_batch(const Batch& batch, const Bodies& bodies, const BroadPhase& broad, std::span<const Pair> pairs, const NarrowInput& input, const NarrowKernels& kernels,
                   std::uint32_t task);
    void keep_touches(const ContactBatch& from, const std::uint32_t* pair, std::uint32_t count, std::uint32_t may_turn, std::uint32_t task);
    void write_manifold(std::uint32_t pair_index, Pair pair, Manifold& to) const;

    std::vector<std::uint8_t> type_;             // by pair: PairType, and kSwappedBit
    std::vector<std::uint32_t> order_;           // pairs by type
    std::vector<Batch> batches_;
    std::vector<std::uint8_t> points_;           // by pair: how many, and for how many to leave room (kRoomShift); 0: not touching
    std::vector<Touches> touches_;               // by task
    std::vector<std::uint32_t> touch_at_;        // by pair that touches: task * kPairsOfTask + which of the task's
    GeneralPhase general_;
    Seams seams_;
    std::vector<std::uint32_t> general_pairs_;   // which pairs it has
    struct Chunk {                               // of pairs: first how many it has of each, then where they begin
        std::uint32_t type[kPairTypes + 1] = {}; // in order_; after all types the general ones, in general_pairs_
        std::uint32_t general = 0, manifold = 0; // what type[kPairTypes] was when it began; in the list of manifolds
        std::uint64_t byte = 0;                  // of those that are packed
    };
    std::vector<Chunk> chunks_;
};

}  // namespace orrery::sim
