// The walk through a tree of bodies, nearest boxes first. A query type Q says how near a box may hold an answer, and
// whether an answer so far away is still wanted:
//   std::uint32_t boxes(const TreeKernels&, const TreeNode&, float about[16]) const;
//       bits of lanes, none missing that may hold an answer that is wanted; about how near those are, where
//       is_exact() says no
//   bool is_exact() const;   whether the walk goes by nearest() instead
//   double nearest(const TreeNode&, std::uint32_t lane) const;   kNowhere: none in this box
//   bool wants(double distance) const;   of boxes and bodies; false for all once it is content
//   void test(const QueryBody&);
// For the reference pass.
#pragma once

#include "sim/collision/queries/box_tests.h"
#include "sim/collision/queries/query_tree.h"

namespace orrery::sim::ref {

struct Waiting {
    double distance;
    std::uint32_t level, index;  // of a node; level == kBodyLevel: of a body
};
inline constexpr std::uint32_t kBodyLevel = ~0u;

template <class Q>
void search(const BodyTree& tree, Q& query) {
    for (std::size_t i = tree.slots; i < tree.bodies.size(); ++i) query.test(tree.bodies[i]);
    if (tree.levels == 0) return;
    Waiting stack[kMaxTreeLevels * 16];
    const bool exact = query.is_exact();
    float about[16] = {};
    std::uint32_t depth = 0;
    stack[depth++] = {-1e30, tree.levels - 1, 0};
    while (depth > 0) {
        const Waiting at = stack[--depth];
        if (!query.wants(at.distance)) continue;
        if (at.level == kBodyLevel) {
            query.test(tree.bodies[at.index]);
            continue;
        }
        const TreeNode& node = tree.node(at.level, at.index);
        const std::uint32_t bottom = depth;
        for (std::uint32_t bits = query.boxes(*tree.kernels, node, about); bits != 0; bits &= bits - 1) {
            const auto k = static_cast<std::uint32_t>(__builtin_ctz(bits));
            double distance = about[k];
            if (exact) {
                distance = query.nearest(node, k);
                if (distance >= kNowhere || !query.wants(distance)) continue;
            }
            std::uint32_t to = depth++;  // the nearest is to come off first; equal ones by their order in the tree
            for (; to > bottom && stack[to - 1].distance <= distance; --to) stack[to] = stack[to - 1];
            stack[to] = {distance, at.level == 0 ? kBodyLevel : at.level - 1, at.index * 16 + k};
        }
    }
}

template <class Q>
void search(const Snapshot& snapshot, Q& query) {
    search(*snapshot.fixed, query);
    search(snapshot.moving, query);
}

}  // namespace orrery::sim::ref
