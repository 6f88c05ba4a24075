// The broad phase's table of kernels, in one lane namespace.

#if defined(ORRERY_COLLISION_BROAD_BROAD_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_BROAD_BROAD_KERNELS_INL_H_
#undef ORRERY_COLLISION_BROAD_BROAD_KERNELS_INL_H_
#else
#define ORRERY_COLLISION_BROAD_BROAD_KERNELS_INL_H_
#endif

#include "sim/collision/broad/bounds-inl.h"
#include "sim/collision/broad/broad_kernels.h"
#include "sim/collision/lanes/rows-inl.h"
#include "sim/trees/tree-inl.h"

ORRERY_LANES_BEGIN

// A box's lowest point above the plane: its centre's height less its half extents along the normal.
inline void near_plane(const float plane_pose[kRecordFloats], float margin_m, const BoundsRecord* boxes,
                       const std::uint32_t* rows, std::uint32_t count, std::uint8_t* hits) {
    const Vec3T<Number> origin{Number(plane_pose[0]), Number(plane_pose[1]), Number(plane_pose[2])};
    const Mat3T<Number> r = to_matrix(
        QuatT<Number>{Number(plane_pose[3]), Number(plane_pose[4]), Number(plane_pose[5]), Number(plane_pose[6])});
    const Vec3T<Number> normal{r.x.y, r.y.y, r.z.y};
    const Number half(0.5f), reach = Number(margin_m) * half;
    for (std::uint32_t i = 0; i < count; i += lanes<Number>()) {
        const RowLanes at = take_rows(rows + i, count - i);
        Number box[kRecordFloats];
        gather_records(reinterpret_cast<const float*>(boxes), at.row, box);
        const Vec3T<Number> low{box[0], box[1], box[2]}, high{box[4], box[5], box[6]};
        const Vec3T<Number> centre = (low + high) * half, extents = (high - low) * half;
        const Number height = dot(centre - origin, normal) - box_extent(normal, extents);
        const std::uint32_t bits = lane_bits(height <= reach);
        for (std::uint32_t k = 0; k < lanes<Number>() && i + k < count; ++k) hits[i + k] = (bits >> k) & 1u;
    }
}

inline void near(const BoundsRecord* boxes, const std::uint32_t* rows, std::uint32_t count, const std::uint32_t* others,
                 std::uint32_t other_count, std::uint32_t* hits) {
    for (std::uint32_t i = 0; i < count; i += lanes<Number>()) {
        const RowLanes at = take_rows(rows + i, count - i);
        Number box[kRecordFloats];
        gather_records(reinterpret_cast<const float*>(boxes), at.row, box);
        std::uint32_t found[kBoundsLanes] = {};
        for (std::uint32_t other = 0; other < other_count; ++other) {
            const BoundsRecord& b = boxes[others[other]];
            const MaskOf<Number> below =
                ((box[0] <= Number(b.max[0])) & (box[1] <= Number(b.max[1]))) & (box[2] <= Number(b.max[2]));
            const MaskOf<Number> above =
                ((Number(b.min[0]) <= box[4]) & (Number(b.min[1]) <= box[5])) & (Number(b.min[2]) <= box[6]);
            for (std::uint32_t bits = lane_bits(below & above); bits != 0; bits &= bits - 1)
                found[__builtin_ctz(bits)] |= 1u << other;
        }
        for (std::uint32_t k = 0; k < lanes<Number>() && i + k < count; ++k) hits[i + k] = found[k];
    }
}

// How far vertices reach along three directions, r[3 k] to r[3 k + 2], and against them.
inline void extents_of(const VertexRows& vertices, const float r[9], float low[3], float high[3]) {
    for (int k = 0; k < 3; ++k) {
        const Number x(r[3 * k]), y(r[3 * k + 1]), z(r[3 * k + 2]);
        Number least, most;
        for (std::uint32_t i = 0; i < vertices.count; i += lanes<Number>()) {
            const Number at = height_above(x, y, z, load_rows(vertices.row[0], i, vertices.count, vertices.row[0][0]),
                                           load_rows(vertices.row[1], i, vertices.count, vertices.row[1][0]),
                                           load_rows(vertices.row[2], i, vertices.count, vertices.row[2][0]));
            least = i == 0 ? at : min(least, at);
            most = i == 0 ? at : max(most, at);
        }
        low[k] = min_of_lanes(least);
        high[k] = max_of_lanes(most);
    }
}

#ifdef ORRERY_LANES_REF
ORRERY_FN bool overlaps(const BoundsRecord& a, const BoundsRecord& b) {
    bool all = true;
    for (int axis = 0; axis < 3; ++axis) all = all & (a.min[axis] <= b.max[axis]) & (b.min[axis] <= a.max[axis]);
    return all;
}
#else
ORRERY_FN bool overlaps(const BoundsRecord& a, const BoundsRecord& b) {
    const hn::CappedTag<float, 4> d;
    const auto ab = hn::Le(hn::Load(d, a.min), hn::Load(d, b.max)), ba = hn::Le(hn::Load(d, b.min), hn::Load(d, a.max));
    return hn::AllTrue(d, hn::And(ab, ba));  // the fourth lane is 0 <= growth
}
#endif

inline std::uint32_t filter(const BoundsRecord* boxes, const std::uint64_t* candidates, std::uint32_t count,
                            Pair* out) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto a = static_cast<std::uint32_t>(candidates[i] >> 32), b = static_cast<std::uint32_t>(candidates[i]);
        out[kept].a = a;
        out[kept].b = b;
        kept += overlaps(boxes[a], boxes[b]) ? 1u : 0u;
    }
    return kept;
}

constexpr BroadKernels make_broad_kernels() {
    return {make_tree_kernels(), expand, extents_of, near, fatten, filter, near_plane};
}

ORRERY_LANES_END

#endif
