// The table of kernels for box trees: one table for each SIMD target. They work on plain arrays, which box_tree.cpp
// owns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "orrery/sim.hpp"

namespace orrery::sim {

struct alignas(32) BoundsRecord {
    float min[3] = {};
    float zero = 0.0f;
    float max[3] = {};
    float growth =
        0.0f;  // of tight bounds: by turning, and at least half the margin, on all sides, m; never below `zero`
};
static_assert(sizeof(BoundsRecord) == 32);

// Sixteen boxes side by side. A lane without a box has min > max and overlaps nothing.
struct alignas(64) TreeNode {
    float min[3][16], max[3][16];
};

inline constexpr std::uint32_t kMaxTreeLevels = 8;  // 16^8 boxes

// Level 0 holds the boxes, 16 a node: slot s is lane s % 16 of node s / 16. Lane k of node n on level l bounds node 16
// n + k on level l - 1. The last level has one node.
struct TreeView {
    const TreeNode* level[kMaxTreeLevels] = {};
    std::uint32_t levels = 0;
};

// What single precision may have rounded of a way or a distance is less.
inline constexpr float kOutward = 1.0f + 0x1p-19f;

// A straight way through boxes, rounded outward to single precision: a box that double precision says is met is met
// here (way_through). Along an axis, the way reaches the plane `row` of a node at (plane - from) * inverse.
struct BoxWay {
    struct Plane {
        std::uint32_t row;  // of TreeNode: 0 to 2 min, 3 to 5 max
        float from;
    } enter[3], leave[3];
    float inverse[3];
};

struct TreeKernels {
    // keys[i] = the Morton code of the centre of boxes[rows[i]], within the bounds of all centres, above rows[i].
    void (*morton)(const BoundsRecord* boxes, const std::uint32_t* rows, std::uint32_t count, std::uint64_t* keys);
    // Nodes over boxes[rows[i]], 16 each; and nodes over nodes.
    void (*build_leaves)(const BoundsRecord* boxes, const std::uint32_t* rows, std::uint32_t count, TreeNode* nodes);
    void (*build_parents)(const TreeNode* children, std::uint32_t count, TreeNode* nodes);
    // Puts a box into a lane, or none; and enlarges a lane to hold a box too.
    void (*set_lane)(TreeNode&, std::uint32_t lane, const BoundsRecord* box);
    void (*grow_lane)(TreeNode&, std::uint32_t lane, const BoundsRecord& box);
    // Slots from first_slot on whose boxes overlap `box`; returns how many there are and writes as many as fit.
    std::uint32_t (*query)(const TreeView&, const BoundsRecord& box, std::uint32_t first_slot, std::uint32_t* out,
                           std::uint32_t capacity);
    // Bit k: the way may meet box k after at most `length`; the box overlaps box k; box k may be within `reach` of a
    // point. No bit is set of a lane without a box, and none is missing. enter[k]: about where
    // the way meets box k, no later than it does times kOutward.
    std::uint32_t (*way_bits)(const TreeNode&, const BoxWay&, float length, float enter[16]);
    std::uint32_t (*box_bits)(const TreeNode&, const float low[3], const float high[3]);
    std::uint32_t (*reach_bits)(const TreeNode&, const float point[3], float reach);
};

// The table of a target, or null if this build lacks it.
const TreeKernels* tree_kernels_for(Target target);

namespace ref {
extern const TreeKernels kTreeKernels;  // of every build: the trees of shapes are made by it
}

}  // namespace orrery::sim
