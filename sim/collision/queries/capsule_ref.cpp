// Capsule: all within r of the segment from (0, -h, 0) to (0, h, 0), its core.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/round.h"
#include "sim/collision/queries/shape_queries.h"

namespace orrery::sim::ref {

namespace {

Point on_axis(const Shape& shape, double y) {
    const double h = shape.half_height;
    return {0.0, clamp(y, -h, h), 0.0};
}

// Enters through the side where the infinite cylinder is entered between the caps, else through the ball of the nearer
// cap: in front of the segment's end the ray can only come in by that ball.
bool ray(const Shape& shape, const Ray& r, SurfacePoint& hit) {
    const double radius = shape.radius, h = shape.half_height;
    const Point o = r.origin, d = r.direction;
    if (length_squared(o - on_axis(shape, o.y)) < square(radius)) return begins_inside(hit);
    const double across = d.x * d.x + d.z * d.z;
    double side_y = o.y;  // height at which the infinite cylinder is entered
    if (o.x * o.x + o.z * o.z >= square(radius)) {
        if (across < 1e-24) return false;  // parallel to the axis, and beside it
        // The miss distance comes from the nearest point of the way, not from the quadratic's discriminant, which
        // cancels far out.
        const double nearest = -(o.x * d.x + o.z * d.z) / across;
        const double x = o.x + nearest * d.x, z = o.z + nearest * d.z;
        const double inside = square(radius) - (x * x + z * z);
        if (inside < 0.0) return false;
        const double t = nearest - sqrt(inside / across);
        side_y = o.y + t * d.y;
        if (abs(side_y) <= h) {
            if (t < 0.0 || t > r.length) return false;
            hit.distance = t;
            hit.point = {o.x + t * d.x, side_y, o.z + t * d.z};
            hit.normal = Point{hit.point.x, 0.0, hit.point.z} * (1.0 / radius);
            return true;
        }
    }
    return ray_to_ball(r, {0.0, side_y < 0.0 ? -h : h, 0.0}, radius, hit);
}

SurfacePoint closest(const Shape& shape, Point p) {
    return round_closest(p, on_axis(shape, p.y), shape.radius, {1.0, 0.0, 0.0});
}

Point support(const Shape& shape, Point d) {
    return {0.0, d.y < 0.0 ? -double(shape.half_height) : double(shape.half_height), 0.0};
}

void shrink(Shape& shape, float by) { shape.radius -= by; }

}  // namespace

constinit const ShapeQueries kCapsuleQueries{
    .ray = ray, .closest = closest, .support = support, .shrink = shrink, .shrinks_radius = true};

}  // namespace orrery::sim::ref
