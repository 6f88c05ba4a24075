// Hull: below all planes of its faces. Its core is itself.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/convex.h"
#include "sim/shapes/hull.h"

namespace orrery::sim::ref {

namespace {

Point normal_of(const Hull& hull, std::uint32_t face) {
    return {hull.normal[face].x, hull.normal[face].y, hull.normal[face].z};
}

bool ray(const Shape& shape, const Ray& r, SurfacePoint& hit) {
    const Hull& hull = *shape.hull;
    double enter = -1.0, leave = r.length;
    bool inside = true;
    for (std::uint32_t f = 0; f < hull.topology.faces; ++f) {
        const Point n = normal_of(hull, f);
        const double above = dot(n, r.origin) - hull.offset[f], closing = -dot(n, r.direction);
        inside = inside && above < 0.0;
        if (closing == 0.0) {
            if (above > 0.0) return false;
            continue;
        }
        const double t = above / closing;
        if (closing < 0.0) {
            leave = min(t, leave);
        } else if (t > enter) {
            enter = t;
            hit.normal = n;
        }
    }
    if (inside) {
        hit = {};
        hit.inside = true;
        return true;
    }
    if (enter < 0.0 || enter > leave) return false;
    hit.distance = enter;
    hit.point = r.origin + r.direction * enter;
    return true;
}

SurfacePoint closest(const Shape& shape, Point p) {
    const Hull& hull = *shape.hull;
    SurfacePoint at;
    at.distance = -1e300;
    for (std::uint32_t f = 0; f < hull.topology.faces; ++f) {
        const Point n = normal_of(hull, f);
        const double above = dot(n, p) - hull.offset[f];
        if (above > at.distance) at.distance = above, at.normal = n;
    }
    at.point = p - at.normal * at.distance;
    if (at.distance <= 0.0) return at;
    const Shape point;  // of no radius
    const Mat3T<double> upright{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const CoreDistance near = core_distance(shape, kHullQueries, {point, kSphereQueries, {upright, p}});
    if (near.distance <= 0.0) return at;
    at.distance = near.distance;
    at.point = near.on_shape;
    at.normal = (p - near.on_shape) * (1.0 / near.distance);
    return at;
}

Point support(const Shape& shape, Point d) {
    const std::vector<Vec3>& vertex = shape.hull->vertex;
    Point best{vertex[0].x, vertex[0].y, vertex[0].z};
    double most = dot(best, d);
    for (std::size_t i = 1; i < vertex.size(); ++i) {
        const Point v{vertex[i].x, vertex[i].y, vertex[i].z};
        const double along = dot(v, d);
        if (along > most) best = v, most = along;
    }
    return best;
}

// Its vertices alone: what a support function needs.
void shrink(Shape& shape, float by) {
    auto smaller = std::make_shared<Hull>();
    for (std::size_t i = 0; i < shape.hull->vertex.size(); ++i) {
        const Vec3 v = shape.hull->vertex[i], way = shape.hull->inward[i];
        smaller->vertex.push_back({v.x + by * way.x, v.y + by * way.y, v.z + by * way.z});
    }
    shape.hull = std::move(smaller);
}

}  // namespace

constinit const ShapeQueries kHullQueries{.ray = ray, .closest = closest, .support = support, .shrink = shrink};

}  // namespace orrery::sim::ref
