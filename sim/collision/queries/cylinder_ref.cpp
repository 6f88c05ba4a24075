// Cylinder: x^2 + z^2 <= r^2, |y| <= half height. Its core is itself.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/round.h"
#include "sim/collision/queries/shape_queries.h"

namespace orrery::sim::ref {

namespace {

// It is entered where the later of slab and tube is, unless the other has been left before.
bool ray(const Shape& shape, const Ray& r, SurfacePoint& hit) {
    const double radius = shape.disc_radius, half = shape.half_height;
    const Point o = r.origin, d = r.direction;
    const double c = (square(o.x) + square(o.z)) - square(radius);
    if (abs(o.y) < half && c < 0.0) return begins_inside(hit);
    double enter = -1.0, leave = r.length;
    Point n{0.0, 0.0, 0.0};
    if (d.y == 0.0) {
        if (abs(o.y) > half) return false;
    } else {
        const double near = d.y > 0.0 ? -half : half;
        enter = (near - o.y) / d.y;
        leave = min((-near - o.y) / d.y, leave);
        n = {0.0, d.y > 0.0 ? -1.0 : 1.0, 0.0};
    }
    const double a = square(d.x) + square(d.z), b = o.x * d.x + o.z * d.z, root2 = square(b) - a * c;
    if (a == 0.0) {
        if (c > 0.0) return false;
    } else {
        if (root2 < 0.0) return false;
        const double root = sqrt(root2), near = (-b - root) / a;
        leave = min((root - b) / a, leave);
        if (near > enter) {
            enter = near;
            n = {(o.x + d.x * near) / radius, 0.0, (o.z + d.z * near) / radius};
        }
    }
    if (enter < 0.0 || enter > leave) return false;
    hit.distance = enter;
    hit.point = o + d * enter;
    hit.normal = n;
    return true;
}

SurfacePoint closest(const Shape& shape, Point p) {
    const double radius = shape.disc_radius, half = shape.half_height, rho = sqrt(square(p.x) + square(p.z));
    const Point along{0.0, p.y < 0.0 ? -1.0 : 1.0, 0.0},
        out = rho > 0.0 ? Point{p.x / rho, 0.0, p.z / rho} : Point{1.0, 0.0, 0.0};
    const double above = abs(p.y) - half, beside = rho - radius;
    if (above > 0.0 || beside > 0.0) {
        const Point on = out * min(rho, radius) + Point{0.0, clamp(p.y, -half, half), 0.0};
        return round_closest(p, on, 0.0, above > 0.0 ? along : out);
    }
    SurfacePoint at;
    at.distance = above > beside ? above : beside;
    at.normal = above > beside ? along : out;
    at.point = p - at.normal * at.distance;
    return at;
}

Point support(const Shape& shape, Point d) {
    const double rho = sqrt(square(d.x) + square(d.z)), radius = shape.disc_radius;
    const Point rim = rho > 0.0 ? Point{d.x / rho * radius, 0.0, d.z / rho * radius} : Point{radius, 0.0, 0.0};
    return {rim.x, d.y < 0.0 ? -double(shape.half_height) : double(shape.half_height), rim.z};
}

void shrink(Shape& shape, float by) { shape.disc_radius -= by, shape.half_height -= by; }

}  // namespace

constinit const ShapeQueries kCylinderQueries{.ray = ray, .closest = closest, .support = support, .shrink = shrink};

}  // namespace orrery::sim::ref
