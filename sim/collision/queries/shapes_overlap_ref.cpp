// Overlap of any two shapes: the parts of one, as probes against the other.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/parts.h"
#include "sim/collision/queries/tree_walk.h"

namespace orrery::sim::ref {

namespace {

constexpr double kSlack_m = 1e-4;  // of boxes: far above rounding

constexpr double kEverywhere_m = 1e30;

struct UntilFound {
    InBox boxes;
    const bool& found;

    std::uint32_t bits(const TreeNode& node) const { return found ? 0 : boxes.bits(node); }
    bool wants(const TreeNode& node, std::uint32_t k) const { return !found && boxes.wants(node, k); }
};

// Calls test(part) with the parts of a compound or a mesh that a box, in its frame, may meet, until one says true.
template <class Test>
bool any_part(const Shape& shape, const Box3* within, Test&& test) {
    bool found = false;
    const Box3 everything{{-kEverywhere_m, -kEverywhere_m, -kEverywhere_m},
                          {kEverywhere_m, kEverywhere_m, kEverywhere_m}};
    const UntilFound wanted{InBox(within ? *within : everything, kTreeKernels), found};
    if (shape.type == ShapeType::compound) {
        walk(shape.compound->tree, wanted, [&](std::uint32_t i) {
            if (!found) found = test(part_of(*shape.compound, i));
        });
        return found;
    }
    TriangleShape triangle;
    const Frame none{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, {0.0, 0.0, 0.0}};
    walk(shape.mesh->tree, wanted, [&](std::uint32_t t) {
        if (!found) found = test(Part{triangle.of(*shape.mesh, t), kHullQueries, none});
    });
    return found;
}

Frame composed(const Frame& outer, const Frame& inner) {
    return {outer.rotation * inner.rotation, to_outer(outer, inner.position)};
}

}  // namespace

bool shapes_overlap(const Shape& a, const Frame& frame_a, const Shape& b, const Frame& frame_b) {
    const ShapeQueries& queries = shape_queries(b.type);
    std::uint32_t child = 0;
    if (queries.support != nullptr) return shape_overlap(a, {b, queries, relative_frame(frame_a, frame_b)}, child);
    if (shape_queries(a.type).support != nullptr) return shapes_overlap(b, frame_b, a, frame_a);
    if (b.type == ShapeType::plane) return shapes_overlap(b, frame_b, a, frame_a);
    // b is of parts; its frame as a sees it, and a's box as b sees it.
    const Frame of_b = relative_frame(frame_a, frame_b);
    Box3 box{};
    const bool bounded = shape_bounds(a, relative_frame(frame_b, frame_a), box);
    box.min = box.min - Point{kSlack_m, kSlack_m, kSlack_m}, box.max = box.max + Point{kSlack_m, kSlack_m, kSlack_m};
    return any_part(b, bounded ? &box : nullptr, [&](const Part& part) {
        return shape_overlap(a, {part.shape, part.queries, composed(of_b, part.frame)}, child);
    });
}

}  // namespace orrery::sim::ref
