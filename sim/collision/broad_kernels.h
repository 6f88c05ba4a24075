// The table of kernels for bounds and the broad phase: one a SIMD target. They work on plain arrays that bounds.cpp,
// box_tree.cpp and broad_phase.cpp own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "orrery/sim.hpp"
#include "sim/collision/manifold.h"
#include "sim/collision/narrow_kernels.h"
#include "sim/collision/polytope_rows.h"

namespace orrery::sim {

inline constexpr std::uint32_t kBoundsLanes = 16;

struct alignas(32) BoundsRecord {
    float min[3] = {};
    float zero = 0.0f;
    float max[3] = {};
    float growth = 0.0f;  // of tight bounds: by turning, and at least half the margin, on all sides, m; never below `zero`
};
static_assert(sizeof(BoundsRecord) == 32 && offsetof(BoundsRecord, growth) == kGrowthInBounds * sizeof(float));

// A shape as lanes gather it.
struct alignas(32) ShapeRecord {
    float radius = 0.0f, half_height = 0.0f, half_extents[3] = {};
    float bounding_radius = 0.0f, inner_radius = 0.0f;
    float disc_radius = 0.0f;
    friend bool operator==(const ShapeRecord&, const ShapeRecord&) = default;
};
static_assert(sizeof(ShapeRecord) == 32);

inline constexpr float kWholeArc_m = 1e9f;    // more than any arc

struct ExpandInput {
    const float* pose = nullptr;
    const float* velocity = nullptr;
    const float* shape = nullptr;
    const std::uint32_t* shape_of = nullptr;  // by body
    float dt_s = 0.0f;                        // 0 for bodies that do not move
    float margin_m = 0.0f;
    const float* passive_growth = nullptr;    // by body: kWholeArc_m of passive and continuous ones, else 0; null: there are none
    float* tight = nullptr;                   // written, by body
    const float* fat = nullptr;               // by body; null: nothing is said of escapes
};

// Sixteen boxes side by side. A lane without a box has min > max and overlaps nothing.
struct alignas(64) TreeNode {
    float min[3][16], max[3][16];
};

inline constexpr std::uint32_t kMaxTreeLevels = 8;  // 16^8 boxes

// Level 0 holds the boxes, 16 a node: slot s is lane s % 16 of node s / 16. Lane k of node n on level l bounds node 16 n + k on
// level l - 1. The last level has one node.
struct TreeView {
    const TreeNode* level[kMaxTreeLevels] = {};
    std::uint32_t levels = 0;
};

struct BroadKernels {
    // Tight bounds of bodies rows[0..count), and escaped[i] = 1 where they are not inside the fat ones, else 0.
    void (*expand)(const ExpandInput&, const std::uint32_t* rows, std::uint32_t count, std::uint8_t* escaped);
    // How far vertices reach along three directions, r[3 k] to r[3 k + 2], and against them, from the frame's origin.
    void (*extents)(const VertexRows&, const float r[9], float low[3], float high[3]);
    // Bit k of hits[i]: boxes[rows[i]] overlaps boxes[others[k]]. At most 32 others.
    void (*near)(const BoundsRecord* boxes, const std::uint32_t* rows, std::uint32_t count, const std::uint32_t* others, std::uint32_t other_count,
                 std::uint32_t* hits);
    // Fat bounds around the tight ones, with room for where the body is going.
    void (*fatten)(const ExpandInput&, float* fat, const std::uint32_t* rows, std::uint32_t count);
    // keys[i] = the Morton code of the centre of boxes[rows[i]], within the bounds of all centres, above rows[i].
    void (*morton)(const BoundsRecord* boxes, const std::uint32_t* rows, std::uint32_t count, std::uint64_t* keys);
    // Nodes over boxes[rows[i]], 16 each; and nodes over nodes.
    void (*build_leaves)(const BoundsRecord* boxes, const std::uint32_t* rows, std::uint32_t count, TreeNode* nodes);
    void (*build_parents)(const TreeNode* children, std::uint32_t count, TreeNode* nodes);
    // Puts a box into a lane, or none; and enlarges a lane to hold a box too.
    void (*set_lane)(TreeNode&, std::uint32_t lane, const BoundsRecord* box);
    void (*grow_lane)(TreeNode&, std::uint32_t lane, const BoundsRecord& box);
    // Slots from first_slot on whose boxes overlap `box`; returns how many there are and writes as many as fit.
    std::uint32_t (*query)(const TreeView&, const BoundsRecord& box, std::uint32_t first_slot, std::uint32_t* out, std::uint32_t capacity);
    // Of candidates (a in the upper half, b in the lower) those whose boxes overlap, in order; returns their number.
    std::uint32_t (*filter)(const BoundsRecord* boxes, const std::uint64_t* candidates, std::uint32_t count, Pair* out);
    // hits[i] = 1 where box rows[i] comes within half the margin of the half space below a plane body's local y = 0, else 0.
    void (*plane)(const float plane_pose[8], float margin_m, const BoundsRecord* boxes, const std::uint32_t* rows, std::uint32_t count,
                  std::uint8_t* hits);
};

// The table of a target, or null if this build lacks it.
const BroadKernels* broad_kernels_for(Target target);

}  // namespace orrery::sim
