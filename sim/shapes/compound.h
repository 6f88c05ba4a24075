// Compound: convex shapes fixed to each other, baked when a world is made. The body's frame stands at their common
// centre of mass and is not turned. Mass properties by the parallel axis theorem; where children overlap, mass counts
// twice.
#pragma once

#include <vector>

#include "sim/shapes/double3.h"
#include "sim/shapes/shape.h"
#include "sim/trees/box_tree.h"

namespace orrery::sim {

struct Compound {
    struct Child {
        std::uint32_t shape = 0;  // of `shapes`
        ref::DPose pose;          // in the body's frame
        ref::DQuat turn;          // its orientation, too
    };
    std::vector<Shape> shapes;  // those that children have
    std::vector<Child> child;
    BoxTree tree;    // rows are children
    ref::D3 centre;  // of mass, in the coordinates of the definition's poses
};

namespace ref {

Result<Shape> make_compound(const ShapeDef& def, std::string_view place, std::span<const Shape> earlier);

}  // namespace ref
}  // namespace orrery::sim
