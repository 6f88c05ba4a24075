// Tests of a node's sixteen boxes over the lanes: against a box, a straight way, the surroundings of a point. The last
// two are of queries, which compute in double precision: they let too much through, never too little.

#if defined(ORRERY_TREES_NODE_TESTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_TREES_NODE_TESTS_INL_H_
#undef ORRERY_TREES_NODE_TESTS_INL_H_
#else
#define ORRERY_TREES_NODE_TESTS_INL_H_
#endif

#include "sim/lanes/number-inl.h"
#include "sim/trees/tree_kernels.h"

ORRERY_LANES_BEGIN

inline constexpr float kNoBox = 3e38f;

// Bit k: the box overlaps lane k.
ORRERY_FN std::uint32_t overlap_bits(const TreeNode& node, const Number low[3], const Number high[3]) {
    std::uint32_t bits = 0;
    for (std::uint32_t k = 0; k < 16; k += lanes<Number>()) {
        const MaskOf<Number> x = (load<Number>(node.min[0] + k) <= high[0]) & (load<Number>(node.max[0] + k) >= low[0]);
        const MaskOf<Number> y = (load<Number>(node.min[1] + k) <= high[1]) & (load<Number>(node.max[1] + k) >= low[1]);
        const MaskOf<Number> z = (load<Number>(node.min[2] + k) <= high[2]) & (load<Number>(node.max[2] + k) >= low[2]);
        bits |= lane_bits(x & y & z) << k;
    }
    return bits;
}

inline std::uint32_t box_bits(const TreeNode& node, const float low[3], const float high[3]) {
    const Number from[3] = {Number(low[0]), Number(low[1]), Number(low[2])};
    const Number to[3] = {Number(high[0]), Number(high[1]), Number(high[2])};
    return overlap_bits(node, from, to);
}

// 0 to 2: min, 3 to 5: max.
ORRERY_FN const float* row_of(const TreeNode& node, std::uint32_t row) {
    static_assert(sizeof(TreeNode) == 6 * 16 * sizeof(float));
    return reinterpret_cast<const float*>(&node) + 16 * row;
}

// How far the way goes to a plane of each box, from lane k on.
ORRERY_FN Number way_to(const TreeNode& node, const BoxWay::Plane& plane, float inverse, std::uint32_t k) {
    return (load<Number>(row_of(node, plane.row) + k) - Number(plane.from)) * Number(inverse);
}

// A lane without a box is entered beyond all lengths.
inline std::uint32_t way_bits(const TreeNode& node, const BoxWay& way, float length, float enter_at[16]) {
    std::uint32_t bits = 0;
    for (std::uint32_t k = 0; k < 16; k += lanes<Number>()) {
        Number enter(0.0f), leave(length);
        for (int axis = 0; axis < 3; ++axis) {
            enter = max(way_to(node, way.enter[axis], way.inverse[axis], k), enter);
            leave = min(way_to(node, way.leave[axis], way.inverse[axis], k), leave);
        }
        store(enter_at + k, enter);
        bits |= lane_bits(enter <= leave * Number(kOutward)) << k;
    }
    return bits;
}

inline std::uint32_t reach_bits(const TreeNode& node, const float point[3], float reach) {
    constexpr float kTiny = 1e-30f;  // above all squares that are rounded to nothing
    const Number most((reach * kOutward) * (reach * kOutward) + kTiny);
    std::uint32_t bits = 0;
    for (std::uint32_t k = 0; k < 16; k += lanes<Number>()) {
        Number square(0.0f);
        for (int axis = 0; axis < 3; ++axis) {
            const Number low = load<Number>(node.min[axis] + k), high = load<Number>(node.max[axis] + k);
            const Number way = max(max(low - Number(point[axis]), Number(point[axis]) - high), Number(0.0f));
            square = square + way * way;
        }
        const MaskOf<Number> is_box = load<Number>(node.min[0] + k) <= load<Number>(node.max[0] + k);
        bits |= lane_bits((square <= most) & is_box) << k;
    }
    return bits;
}

ORRERY_LANES_END

#endif
