// The narrow phase's table of kernels: one function a pair of shape types, 16 pairs at a time, one table a SIMD target.
#pragma once

#include <cstdint>

#include "orrery/sim.hpp"

namespace orrery::sim {

inline constexpr std::uint32_t kPairLanes = 16;

inline constexpr std::uint32_t kGrowthInBounds = 7;  // where a BoundsRecord has it

// Body records (bodies.h) and shape records (shape_table.h) as floats, eight a record.
struct NarrowInput {
    const float* pose = nullptr;
    const float* velocity = nullptr;
    const float* shape = nullptr;
    float dt_s = 0.0f;
    float margin_m = 0.0f;
    // BoundsRecords by body: contacts are kept as far away as one of the two is grown, where that is more than the
    // margin. Null: it is of none.
    const float* bounds = nullptr;
};

// Up to 16 pairs of one type. All 16 rows are read: fill the unused with a copy of one that is used.
struct alignas(64) PairBatch {
    std::uint32_t first[kPairLanes], second[kPairLanes];  // bodies, the shape of the lower type first
    std::uint32_t first_shape[kPairLanes], second_shape[kPairLanes];
    float swapped[kPairLanes];  // 1: the second is the pair's A; the results are those of A and B again
    std::uint32_t count;
};

struct alignas(64) ContactBatch {
    float normal[3][kPairLanes];
    struct Point {
        float offset[3][kPairLanes], depth[kPairLanes], feature[kPairLanes];
    } point[4];
    std::uint32_t exists[4];  // by point: a bit a lane; bits of lanes beyond the count mean nothing
    std::uint32_t fast;       // the same: pairs that move against each other by the margin or more (fast_pairs.h)
    std::uint32_t may_meet;  // of those: the spheres around their shapes come nearer to each other within the tick than
                             // the margin
};

// By the types of the first and second shape, first <= second.
enum PairType : std::uint8_t {
    kSphereSphere,
    kSphereBox,
    kSphereCapsule,
    kSpherePlane,
    kBoxBox,
    kBoxCapsule,
    kBoxPlane,
    kCapsuleCapsule,
    kCapsulePlane,
    kPairTypes,
    kGeneralPair = 0x7e,  // of shapes that are not for the lanes (general_phase.h)
    kNoPairType = 0xff,   // two planes: both fixed
};

// [first][second] with first <= second; ShapeType is sphere, box, capsule, plane, and then those without functions over
// lanes.
inline constexpr std::uint8_t kLaneShapes = 4;
inline constexpr PairType kTypeOf[kLaneShapes][kLaneShapes] = {
    {kSphereSphere, kSphereBox, kSphereCapsule, kSpherePlane},
    {kNoPairType, kBoxBox, kBoxCapsule, kBoxPlane},
    {kNoPairType, kNoPairType, kCapsuleCapsule, kCapsulePlane},
    {kNoPairType, kNoPairType, kNoPairType, kNoPairType},
};
constexpr bool is_with_plane(std::uint32_t type) {
    return type == kSpherePlane || type == kBoxPlane || type == kCapsulePlane;
}
// Of shape types a <= b.
inline PairType type_of_pair(std::uint8_t a, std::uint8_t b) { return b < kLaneShapes ? kTypeOf[a][b] : kGeneralPair; }

struct NarrowKernels {
    using Function = void (*)(const NarrowInput&, const PairBatch&, ContactBatch&);
    Function collide[kPairTypes];
};

// The table of a target, or null if this build lacks it.
const NarrowKernels* narrow_kernels_for(Target target);

}  // namespace orrery::sim
