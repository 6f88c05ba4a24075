// The table of kernels for bounds and the broad phase, its trees included: one table for each SIMD target. The kernels
// work on plain arrays, which broad_phase.cpp owns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/collision/lanes/narrow_kernels.h"
#include "sim/collision/lanes/polytope_rows.h"
#include "sim/collision/manifold.h"
#include "sim/trees/tree_kernels.h"

namespace orrery::sim {

inline constexpr std::uint32_t kBoundsLanes = 16;

static_assert(offsetof(BoundsRecord, growth) == kGrowthInBounds * sizeof(float));

// A shape as lanes gather it.
struct alignas(32) ShapeRecord {
    float radius = 0.0f, half_height = 0.0f, half_extents[3] = {};
    float bounding_radius = 0.0f, inner_radius = 0.0f;
    float disc_radius = 0.0f;
    friend bool operator==(const ShapeRecord&, const ShapeRecord&) = default;
};
static_assert(sizeof(ShapeRecord) == 32);

inline constexpr float kWholeArc_m = 1e9f;  // more than any arc

struct ExpandInput {
    const float* pose = nullptr;
    const float* velocity = nullptr;
    const float* shape = nullptr;
    const std::uint32_t* shape_of = nullptr;  // by body
    float dt_s = 0.0f;                        // 0 for bodies that do not move
    float margin_m = 0.0f;
    const float* passive_growth =
        nullptr;                 // by body: kWholeArc_m of passive and continuous ones, else 0; null: there are none
    float* tight = nullptr;      // written, by body
    const float* fat = nullptr;  // by body; null: nothing is said of escapes
};

struct BroadKernels : TreeKernels {
    // Tight bounds of bodies rows[0..count), and escaped[i] = 1 where they are not inside the fat ones, else 0.
    void (*expand)(const ExpandInput&, const std::uint32_t* rows, std::uint32_t count, std::uint8_t* escaped);
    // How far vertices reach along three directions, r[3 k] to r[3 k + 2], and against them, from the frame's origin.
    void (*extents)(const VertexRows&, const float r[9], float low[3], float high[3]);
    // Bit k of hits[i]: boxes[rows[i]] overlaps boxes[others[k]]. At most 32 others.
    void (*near)(const BoundsRecord* boxes, const std::uint32_t* rows, std::uint32_t count, const std::uint32_t* others,
                 std::uint32_t other_count, std::uint32_t* hits);
    // Fat bounds around the tight ones, with room for where the body is going.
    void (*fatten)(const ExpandInput&, float* fat, const std::uint32_t* rows, std::uint32_t count);
    // Of candidates (a in the upper half, b in the lower) those whose boxes overlap, in order; returns their number.
    std::uint32_t (*filter)(const BoundsRecord* boxes, const std::uint64_t* candidates, std::uint32_t count, Pair* out);
    // hits[i] = 1 where box rows[i] comes within half the margin of the half space below a plane body's local y = 0,
    // else 0.
    void (*plane)(const float plane_pose[8], float margin_m, const BoundsRecord* boxes, const std::uint32_t* rows,
                  std::uint32_t count, std::uint8_t* hits);
};

// The table of a target, or null if this build lacks it.
const BroadKernels* broad_kernels_for(Target target);

}  // namespace orrery::sim
