// What the box tree computes: Morton codes, bounds of nodes, overlap of one box with sixteen. None of it can be seen in
// a world's state: the tree proposes, the tight bounds decide.

#if defined(ORRERY_TREES_TREE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_TREES_TREE_INL_H_
#undef ORRERY_TREES_TREE_INL_H_
#else
#define ORRERY_TREES_TREE_INL_H_
#endif

#include "sim/lanes/records-inl.h"
#include "sim/lanes/vec3-inl.h"
#include "sim/trees/node_tests-inl.h"
#include "sim/trees/tree_kernels.h"

ORRERY_LANES_BEGIN

inline constexpr std::uint32_t kMortonBits = 10;  // an axis

// Two zero bits after each of the ten lowest.
ORRERY_FN std::uint32_t spread_bits(std::uint32_t x) {
    x = (x | (x << 16)) & 0x030000ffu;
    x = (x | (x << 8)) & 0x0300f00fu;
    x = (x | (x << 4)) & 0x030c30c3u;
    x = (x | (x << 2)) & 0x09249249u;
    return x;
}

// The cell of x in [low, low + 1 / scale * (2^bits - 1)], clamped before it becomes an integer.
ORRERY_FN std::uint32_t morton_cell(float x, float low, float scale) {
    return static_cast<std::uint32_t>(clamp((x - low) * scale, 0.0f, float((1u << kMortonBits) - 1)));
}

inline void morton(const BoundsRecord* boxes, const std::uint32_t* rows, std::uint32_t count, std::uint64_t* keys) {
    float low[3] = {kNoBox, kNoBox, kNoBox}, high[3] = {-kNoBox, -kNoBox, -kNoBox};
    for (std::uint32_t i = 0; i < count; ++i) {
        const BoundsRecord& b = boxes[rows[i]];
        for (int axis = 0; axis < 3; ++axis) {
            const float centre = (b.min[axis] + b.max[axis]) * 0.5f;
            low[axis] = min(centre, low[axis]);
            high[axis] = max(centre, high[axis]);
        }
    }
    // Cells are cubes: bodies are about as long as they are wide.
    const float size = max(max(high[0] - low[0], high[1] - low[1]), max(high[2] - low[2], 1e-3f));
    const float scale = float((1u << kMortonBits) - 1) / size;
    for (std::uint32_t i = 0; i < count; ++i) {
        const BoundsRecord& b = boxes[rows[i]];
        std::uint32_t code = 0;
        for (int axis = 0; axis < 3; ++axis) {
            code |= spread_bits(morton_cell((b.min[axis] + b.max[axis]) * 0.5f, low[axis], scale)) << axis;
        }
        keys[i] = (std::uint64_t(code) << 32) | rows[i];
    }
}

inline void set_lane(TreeNode& node, std::uint32_t lane, const BoundsRecord* box) {
    for (int axis = 0; axis < 3; ++axis) {
        node.min[axis][lane] = box ? box->min[axis] : kNoBox;
        node.max[axis][lane] = box ? box->max[axis] : -kNoBox;
    }
}

inline void grow_lane(TreeNode& node, std::uint32_t lane, const BoundsRecord& box) {
    for (int axis = 0; axis < 3; ++axis) {
        node.min[axis][lane] = min(box.min[axis], node.min[axis][lane]);
        node.max[axis][lane] = max(box.max[axis], node.max[axis][lane]);
    }
}

inline void build_leaves(const BoundsRecord* boxes, const std::uint32_t* rows, std::uint32_t count, TreeNode* nodes) {
    const std::uint32_t padded = (count + 15u) / 16u * 16u;
    for (std::uint32_t i = 0; i < padded; ++i) set_lane(nodes[i / 16], i % 16, i < count ? &boxes[rows[i]] : nullptr);
}

inline void build_parents(const TreeNode* children, std::uint32_t count, TreeNode* nodes) {
    const std::uint32_t padded = (count + 15u) / 16u * 16u;
    for (std::uint32_t i = 0; i < padded; ++i) {
        TreeNode& parent = nodes[i / 16];
        for (int axis = 0; axis < 3; ++axis) {
            float low = kNoBox, high = -kNoBox;
            if (i < count) {
                for (int k = 0; k < 16; ++k)
                    low = min(children[i].min[axis][k], low), high = max(children[i].max[axis][k], high);
            }
            parent.min[axis][i % 16] = low;
            parent.max[axis][i % 16] = high;
        }
    }
}

// Depth first; a level adds at most 15 waiting nodes.
inline std::uint32_t query(const TreeView& tree, const BoundsRecord& box, std::uint32_t first_slot, std::uint32_t* out,
                           std::uint32_t capacity) {
    if (tree.levels == 0) return 0;
    const Number low[3] = {Number(box.min[0]), Number(box.min[1]), Number(box.min[2])};
    const Number high[3] = {Number(box.max[0]), Number(box.max[1]), Number(box.max[2])};
    struct Waiting {
        std::uint32_t level, node;
    } stack[kMaxTreeLevels * 16];
    std::uint32_t depth = 0, found = 0;
    stack[depth++] = {tree.levels - 1, 0};
    while (depth > 0) {
        const Waiting at = stack[--depth];
        std::uint32_t bits = overlap_bits(tree.level[at.level][at.node], low, high);
        const std::uint32_t base = at.node * 16u, first = first_slot >> (4u * at.level);
        if (first > base) bits &= first - base >= 16u ? 0u : ~0u << (first - base);
        for (; bits != 0; bits &= bits - 1) {
            const std::uint32_t child = base + static_cast<std::uint32_t>(__builtin_ctz(bits));
            if (at.level > 0) {
                stack[depth++] = {at.level - 1, child};
            } else {
                if (found < capacity) out[found] = child;
                ++found;
            }
        }
    }
    return found;
}

constexpr TreeKernels make_tree_kernels() {
    return {morton, build_leaves, build_parents, set_lane, grow_lane, query, way_bits, box_bits, reach_bits};
}

ORRERY_LANES_END

#endif
