// Sphere: |x| = r. Its core is the centre.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/round.h"
#include "sim/collision/queries/shape_queries.h"

namespace orrery::sim::ref {

namespace {

bool ray(const Shape& shape, const Ray& r, SurfacePoint& hit) {
    const Point centre{0.0, 0.0, 0.0};
    if (length_squared(r.origin) < square(shape.radius)) return begins_inside(hit);
    return ray_to_ball(r, centre, shape.radius, hit);
}

SurfacePoint closest(const Shape& shape, Point p) {
    return round_closest(p, {0.0, 0.0, 0.0}, shape.radius, {0.0, 1.0, 0.0});
}

Point support(const Shape&, Point) { return {0.0, 0.0, 0.0}; }

void shrink(Shape& shape, float by) { shape.radius -= by; }

}  // namespace

constinit const ShapeQueries kSphereQueries{
    .ray = ray, .closest = closest, .support = support, .shrink = shrink, .shrinks_radius = true};

}  // namespace orrery::sim::ref
