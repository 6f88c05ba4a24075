// The convex parts of shapes of many. For the reference pass.
#pragma once

#include "sim/collision/queries/shape_queries.h"
#include "sim/shapes/compound.h"
#include "sim/shapes/hull.h"
#include "sim/shapes/mesh.h"

namespace orrery::sim::ref {

// A child of a compound, in the frame of its body.
struct Part {
    const Shape& shape;
    const ShapeQueries& queries;
    Frame frame;
};
inline Part part_of(const Compound& compound, std::uint32_t i) {
    const Compound::Child& child = compound.child[i];
    const Shape& shape = compound.shapes[child.shape];
    const DAxes& a = child.pose.axes;
    const D3 p = child.pose.position;
    return {shape,
            shape_queries(shape.type),
            {{{a.x.x, a.y.x, a.z.x}, {a.x.y, a.y.y, a.z.y}, {a.x.z, a.y.z, a.z.z}}, {p.x, p.y, p.z}}};
}

// A triangle as a hull of three points without planes: what distance, overlap and cast need.
class TriangleShape {
  public:
    TriangleShape() {
        hull_.vertex.resize(3);
        shape_.type = ShapeType::hull;
        shape_.hull = std::shared_ptr<const Hull>(std::shared_ptr<const Hull>(), &hull_);
    }
    const Shape& of(const Mesh& mesh, std::uint32_t t) {
        for (std::uint32_t k = 0; k < 3; ++k) hull_.vertex[k] = mesh.vertex[mesh.triangle[t].corner(k)];
        return shape_;
    }

  private:
    Hull hull_;
    Shape shape_;
};

}  // namespace orrery::sim::ref
