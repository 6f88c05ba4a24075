#include "sim/collision/mesh/parts.h"

#include "sim/collision/convex/convex.h"
#include "sim/shapes/compound.h"
#include "sim/shapes/convex_support.h"

namespace orrery::sim::ref {

Placed placed(const Bodies& bodies, std::span<const Shape> shapes, std::uint32_t body, std::uint32_t origin) {
    const float *p = bodies.pose[body].position, *o = bodies.pose[origin].position, *q = bodies.pose[body].orientation;
    return {&shapes[bodies.info(body).shape],
            {{double(p[0]) - o[0], double(p[1]) - o[1], double(p[2]) - o[2]}, axes_of({q[0], q[1], q[2], q[3]})}};
}
Placed child_of(const Placed& is, std::uint32_t child) {
    if (!is.shape->compound) return is;
    const Compound::Child& of = is.shape->compound->child[child];
    return {&is.shape->compound->shapes[of.shape], outward(is.pose, of.pose)};
}

bool face_along(const Placed& is, D3 direction, Face& face) {
    if (is.shape->type == ShapeType::plane) {
        face = {is.pose.axes.y, dot(is.pose.axes.y, is.pose.position)};
        return true;
    }
    if (is.shape->type == ShapeType::box) {
        const D3 n = inward(is.pose.axes, direction), half = widened(is.shape->half_extents);
        const bool z = absolute(n.z) > absolute(n.x) && absolute(n.z) > absolute(n.y),
                   y = !z && absolute(n.y) > absolute(n.x);
        const D3 axis = z   ? is.pose.axes.z
                        : y ? is.pose.axes.y
                            : is.pose.axes.x,
                 normal = dot(axis, direction) < 0.0 ? -axis : axis;
        face = {normal, dot(normal, is.pose.position) + (z ? half.z : y ? half.y : half.x)};
        return true;
    }
    Convex convex;
    place_convex(*is.shape, is.pose, convex);
    if (convex.kind == ConvexKind::polytope) {
        const std::uint32_t f = facing(convex, direction);
        face = {convex.normal(f), convex.offset(f)};
        return true;
    }
    if (convex.kind != ConvexKind::cylinder) return false;
    const D3 normal = dot(convex.pose.axes.y, direction) < 0.0 ? -convex.pose.axes.y : convex.pose.axes.y;
    face = {normal, dot(normal, convex.pose.position) + convex.half_height};
    return true;
}

}  // namespace orrery::sim::ref
