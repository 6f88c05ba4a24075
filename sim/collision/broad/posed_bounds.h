// Bounds of shapes that are more than a few numbers (BroadKernels::expand serves those): the least box of a posed hull,
// and of a mesh or a compound one that is hardly larger.
#pragma once

#include "sim/collision/broad/broad_kernels.h"
#include "sim/shapes/shape.h"

namespace orrery::sim {

inline bool has_posed_bounds(ShapeType type) {
    return type == ShapeType::hull || type == ShapeType::mesh || type == ShapeType::height_field ||
           type == ShapeType::compound;
}

// A mesh of more vertices is bounded by the boxes of its parts, at most 256 of them; a compound of more children, too.
inline constexpr std::uint32_t kMaxPosedVertices = 1024, kMaxPosedChildren = 64;

namespace ref {

// As BroadKernels::expand of one body, which has such a shape.
void expand_posed(const BroadKernels& kernels, const Shape& shape, const ExpandInput& in, std::uint32_t body,
                  std::uint8_t& escaped);

}  // namespace ref
}  // namespace orrery::sim
