// Bodies as the queries see them at one tick, behind a tree of their boxes. Packed anew from the bodies alone each
// time, so that even the order in which a search meets them is a function of the state.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "sim/bodies/bodies.h"
#include "sim/shapes/shape.h"
#include "sim/trees/tree_kernels.h"

namespace orrery::sim {

struct QueryBody {
    Pose pose;
    BodyId id;
    std::uint32_t shape = kNone;
    std::uint32_t category = 0, mask = 0;
    std::uint32_t types = 0;  // QueryTypes: one bit, and that of sensors
    friend bool operator==(const QueryBody&, const QueryBody&) = default;
};
static_assert(sizeof(QueryBody) == 52);  // kHistoryBytesPerBody

struct BodyTree {
    std::vector<QueryBody> bodies;  // slot by slot; behind the slots those that no box holds
    std::vector<TreeNode> nodes;    // level by level
    std::uint32_t first[kMaxTreeLevels] = {}, levels = 0, slots = 0;
    const TreeKernels* kernels = nullptr;  // which it was packed by, and is searched by

    const TreeNode& node(std::uint32_t level, std::uint32_t index) const { return nodes[first[level] + index]; }
};

// Fixed bodies stand in a tree of their own, which the ticks share for as long as none of them changes.
struct Snapshot {
    static constexpr std::uint64_t kNoTick = ~std::uint64_t(0);
    std::uint64_t tick = kNoTick;
    std::shared_ptr<const BodyTree> fixed;
    BodyTree moving;
};

// Takes snapshots, one world's.
class SnapshotTaker {
  public:
    // Those of the fixed bodies alone; stays good until the next call of either.
    const BodyTree& take_fixed(const Bodies& bodies, std::span<const Shape> shapes, const TreeKernels& kernels);
    void take(std::uint64_t tick, const Bodies& bodies, std::span<const Shape> shapes, const TreeKernels& kernels,
              Snapshot& out);

  private:
    void pack(std::span<const QueryBody> bodies, std::span<const Shape> shapes, const TreeKernels& kernels,
              BodyTree& out);

    std::shared_ptr<const BodyTree> fixed_tree_;
    std::vector<QueryBody> fixed_, fixed_before_, moving_, moving_before_;  // in index order
    const Snapshot* taken_ = nullptr;                                       // into which moving_before_ were packed
    std::vector<BoundsRecord> bounds_;
    std::vector<std::uint32_t> rows_;
    std::vector<std::uint64_t> keys_, scratch_;
};

namespace ref {

// The box of a posed shape with more than the rounding of single precision around it; false: no box holds it.
bool query_bounds(const Shape& shape, const Pose& pose, BoundsRecord& bounds);

}  // namespace ref

}  // namespace orrery::sim
