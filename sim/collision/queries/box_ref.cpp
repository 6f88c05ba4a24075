// Box: |x| <= half extents, axis by axis. Its core is itself.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/round.h"
#include "sim/collision/queries/shape_queries.h"

namespace orrery::sim::ref {

namespace {

struct Axes {
    double v[3];
};
Axes axes(Point p) { return {{p.x, p.y, p.z}}; }
Axes axes(Vec3 v) { return {{v.x, v.y, v.z}}; }
Point point(const Axes& a) { return {a.v[0], a.v[1], a.v[2]}; }

// The last of the three slabs to be entered is where the box is, unless another is left before.
bool ray(const Shape& shape, const Ray& r, SurfacePoint& hit) {
    const Axes o = axes(r.origin), d = axes(r.direction), half = axes(shape.half_extents);
    if (abs(o.v[0]) < half.v[0] && abs(o.v[1]) < half.v[1] && abs(o.v[2]) < half.v[2]) return begins_inside(hit);
    double enter = -1.0, leave = r.length;
    int face = -1;
    for (int k = 0; k < 3; ++k) {
        if (d.v[k] == 0.0) {
            if (abs(o.v[k]) > half.v[k]) return false;
            continue;
        }
        const double near = d.v[k] > 0.0 ? -half.v[k] : half.v[k];
        const double t = (near - o.v[k]) / d.v[k];
        if (t > enter) enter = t, face = k;
        leave = min((-near - o.v[k]) / d.v[k], leave);
    }
    if (face < 0 || enter < 0.0 || enter > leave) return false;
    Axes p = axes(r.origin + r.direction * enter), n{};
    const double sign = d.v[face] > 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; ++k) p.v[k] = clamp(p.v[k], -half.v[k], half.v[k]);
    p.v[face] = sign * half.v[face];
    n.v[face] = sign;
    hit.distance = enter;
    hit.point = point(p);
    hit.normal = point(n);
    return true;
}

// Inside, the nearest face, of equally near ones the first axis's.
SurfacePoint closest(const Shape& shape, Point at) {
    const Axes p = axes(at), half = axes(shape.half_extents);
    Axes on = p, n{};
    int face = 0;
    bool outside = false;
    for (int k = 0; k < 3; ++k) {
        on.v[k] = clamp(p.v[k], -half.v[k], half.v[k]);
        outside = outside || abs(p.v[k]) > half.v[k];
        if (half.v[k] - abs(p.v[k]) < half.v[face] - abs(p.v[face])) face = k;
    }
    if (outside) return round_closest(at, point(on), 0.0, {0.0, 1.0, 0.0});
    SurfacePoint out;
    n.v[face] = p.v[face] < 0.0 ? -1.0 : 1.0;
    on.v[face] = n.v[face] * half.v[face];
    out.distance = abs(p.v[face]) - half.v[face];
    out.point = point(on);
    out.normal = point(n);
    return out;
}

Point support(const Shape& shape, Point d) {
    const double x = shape.half_extents.x, y = shape.half_extents.y, z = shape.half_extents.z;
    return {d.x < 0.0 ? -x : x, d.y < 0.0 ? -y : y, d.z < 0.0 ? -z : z};
}

void shrink(Shape& shape, float by) {
    Vec3& half = shape.half_extents;
    half = {half.x - by, half.y - by, half.z - by};
}

}  // namespace

constinit const ShapeQueries kBoxQueries{.ray = ray, .closest = closest, .support = support, .shrink = shrink};

}  // namespace orrery::sim::ref
