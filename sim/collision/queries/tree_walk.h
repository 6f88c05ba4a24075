// The walk through the tree of a mesh's triangles or a compound's children. For the reference pass.
#pragma once

#include "sim/collision/queries/box_tests.h"
#include "sim/trees/box_tree.h"

namespace orrery::sim::ref {

// visit(row) for every box that the test wants, in the order of the tree:
//   std::uint32_t bits(const TreeNode&)            of lanes, none missing that it wants
//   bool wants(const TreeNode&, std::uint32_t k)   exactly
template <class Test, class Visit>
void walk(const BoxTree& tree, const Test& test, Visit&& visit) {
    const TreeView view = tree.view();
    if (view.levels == 0) return;
    struct Node {
        std::uint32_t level, index;
    } stack[kMaxTreeLevels * 16];
    std::uint32_t depth = 0;
    stack[depth++] = {view.levels - 1, 0};
    while (depth > 0) {
        const Node at = stack[--depth];
        const TreeNode& node = view.level[at.level][at.index];
        for (std::uint32_t bits = test.bits(node); bits != 0;) {
            const std::uint32_t k = 31 - static_cast<std::uint32_t>(__builtin_clz(bits));
            bits ^= 1u << k;
            if (!test.wants(node, k)) continue;
            if (at.level == 0)
                visit(tree.row(at.index * 16 + k));
            else
                stack[depth++] = {at.level - 1, at.index * 16 + k};
        }
    }
}

// Of boxes that a ray meets before `length`, which may become less on the way.
struct OnRay {
    RayBoxes boxes;
    const TreeKernels& kernels;
    const double& length;

    OnRay(const Ray& ray, const double& to) : boxes(ray), kernels(*ray.kernels), length(to) {}
    std::uint32_t bits(const TreeNode& node) const { return boxes.bits(kernels, node, length); }
    bool wants(const TreeNode& node, std::uint32_t k) const { return boxes.meets(node, k, length); }
};

// Of boxes that overlap one.
struct InBox {
    BoxOverlap overlap;
    const TreeKernels& kernels;

    InBox(const Box3& box, const TreeKernels& by) : overlap(box), kernels(by) {}
    std::uint32_t bits(const TreeNode& node) const { return overlap.bits(kernels, node); }
    bool wants(const TreeNode& node, std::uint32_t k) const { return overlap.meets(node, k); }
};

// Of boxes at most so far from a point.
struct NearPoint {
    static constexpr double kFar_m = 1e30;
    Point point;
    const double& distance;

    std::uint32_t bits(const TreeNode& node) const {
        const float at[3] = {static_cast<float>(point.x), static_cast<float>(point.y), static_cast<float>(point.z)};
        return kTreeKernels.reach_bits(
            node, at, rounded_up(min(distance, kFar_m) + ref::length(point - Point{at[0], at[1], at[2]})));
    }
    bool wants(const TreeNode& node, std::uint32_t k) const {
        const Point low = low_of(node, k), high = high_of(node, k);
        const Point d{max(max(low.x - point.x, point.x - high.x), 0.0),
                      max(max(low.y - point.y, point.y - high.y), 0.0),
                      max(max(low.z - point.z, point.z - high.z), 0.0)};
        return ref::length(d) <= distance;
    }
};

inline constexpr double kProbeSlack_m = 1e-4;  // of a probe's box

// The box of a probe.
inline Box3 box_of(const Probe& probe) {
    const Point slack{kProbeSlack_m, kProbeSlack_m, kProbeSlack_m};
    Box3 box;
    shape_bounds(probe.shape, probe.frame, box);
    return {box.min - slack, box.max + slack};
}

// Of boxes that a probe's box meets on its way before `length`, which may become less.
struct OnCast {
    Slabs slabs;
    const TreeKernels& kernels;
    const double& length;

    OnCast(const Probe& probe, const Box3& box, Point direction, const double& to)
        : slabs(probe.frame.position, box.min - probe.frame.position, box.max - probe.frame.position, direction, to),
          kernels(*probe.kernels),
          length(to) {}
    std::uint32_t bits(const TreeNode& node) const {
        float enter[16];
        return slabs.bits(kernels, node, static_cast<float>(length), enter);
    }
    bool wants(const TreeNode& node, std::uint32_t k) const { return slabs.enter(node, k) <= length; }
};

}  // namespace orrery::sim::ref
