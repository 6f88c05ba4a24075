// The walk through the tree of a mesh's triangles or a compound's children. For the reference pass.
#pragma once

#include "sim/collision/queries/shape_queries.h"
#include "sim/trees/box_tree.h"

namespace orrery::sim::ref {

// visit(row) for every box for which wants(low, high) holds, in the order of the tree.
template <class Wants, class Visit>
void walk(const BoxTree& tree, Wants&& wants, Visit&& visit) {
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
        for (std::uint32_t k = 16; k-- > 0;) {
            if (node.min[0][k] > node.max[0][k]) continue;  // an empty lane
            const Point low{node.min[0][k], node.min[1][k], node.min[2][k]},
                high{node.max[0][k], node.max[1][k], node.max[2][k]};
            if (!wants(low, high)) continue;
            if (at.level == 0)
                visit(tree.row(at.index * 16 + k));
            else
                stack[depth++] = {at.level - 1, at.index * 16 + k};
        }
    }
}

inline bool boxes_overlap(Point low, Point high, const Box3& box) {
    return low.x <= box.max.x && box.min.x <= high.x && low.y <= box.max.y && box.min.y <= high.y &&
           low.z <= box.max.z && box.min.z <= high.z;
}

inline double box_distance(Point low, Point high, Point p) {
    const Point d{max(max(low.x - p.x, p.x - high.x), 0.0), max(max(low.y - p.y, p.y - high.y), 0.0),
                  max(max(low.z - p.z, p.z - high.z), 0.0)};
    return length(d);
}

// Whether the ray meets the box before `length`; a hair's breadth more than the box counts as it.
inline bool ray_meets_box(const Ray& r, Point low, Point high, double length) {
    const double o[3] = {r.origin.x, r.origin.y, r.origin.z}, d[3] = {r.direction.x, r.direction.y, r.direction.z};
    const double l[3] = {low.x, low.y, low.z}, h[3] = {high.x, high.y, high.z};
    double enter = 0.0, leave = length;
    for (int k = 0; k < 3; ++k) {
        const double slack = 1e-6 * (1.0 + abs(o[k]));
        if (d[k] == 0.0) {
            if (o[k] < l[k] - slack || o[k] > h[k] + slack) return false;
            continue;
        }
        const double a = (l[k] - slack - o[k]) / d[k], b = (h[k] + slack - o[k]) / d[k];
        enter = max(min(a, b), enter);
        leave = min(max(a, b), leave);
    }
    return enter <= leave;
}

// The box of a probe on its way.
inline Box3 swept_box(const Probe& probe, Point way) {
    Box3 box;
    shape_bounds(probe.shape, probe.frame, box);
    const Point zero{0.0, 0.0, 0.0}, slack{1e-4, 1e-4, 1e-4};
    box.min = (box.min + min(way, zero)) - slack;
    box.max = (box.max + max(way, zero)) + slack;
    return box;
}

}  // namespace orrery::sim::ref
