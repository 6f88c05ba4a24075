// Mesh and height field: triangles, which rays meet from the front alone. No point is inside.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/convex.h"
#include "sim/collision/queries/parts.h"
#include "sim/collision/queries/round.h"
#include "sim/collision/queries/tree_walk.h"

namespace orrery::sim::ref {

namespace {

struct Corners {
    Point a, b, c;
};
Point point_of(Vec3 v) { return {v.x, v.y, v.z}; }
Corners corners_of(const Mesh& mesh, std::uint32_t t) {
    const MeshTriangle& c = mesh.triangle[t];
    return {point_of(mesh.vertex[c.corner(0)]), point_of(mesh.vertex[c.corner(1)]), point_of(mesh.vertex[c.corner(2)])};
}

// Moeller and Trumbore, with a hair's breadth of overlap so that no ray slips through a seam.
bool ray_to_triangle(const Ray& r, const Corners& t, double length, SurfacePoint& hit) {
    constexpr double kSeam = -1e-9;
    const Point ab = t.b - t.a, ac = t.c - t.a, n = cross(ab, ac);
    const double closing = -dot(n, r.direction);
    if (closing <= 0.0) return false;
    const Point o = r.origin - t.a, q = cross(r.direction, o);
    const double u = -dot(ac, q) / closing, v = dot(ab, q) / closing, at = dot(o, n) / closing;
    if (u < kSeam || v < kSeam || u + v > 1.0 - kSeam || at < 0.0 || at > length) return false;
    hit.distance = at;
    hit.point = r.origin + r.direction * at;
    hit.normal = n * (1.0 / sqrt(length_squared(n)));
    return true;
}

bool ray(const Shape& shape, const Ray& r, SurfacePoint& hit) {
    double nearest = r.length;
    bool found = false;
    walk(shape.mesh->tree, OnRay(r, nearest), [&](std::uint32_t t) {
        SurfacePoint at;
        if (!ray_to_triangle(r, corners_of(*shape.mesh, t), nearest, at)) return;
        if (found && at.distance == hit.distance && hit.child < t) return;
        hit = at;
        hit.child = t;
        nearest = at.distance;
        found = true;
    });
    return found;
}

SurfacePoint closest(const Shape& shape, Point p) {
    SurfacePoint best;
    best.distance = 1e300;
    TriangleShape triangle;
    const Shape point;
    const Mat3T<double> upright{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    walk(shape.mesh->tree, NearPoint{p, best.distance}, [&](std::uint32_t t) {
        const CoreDistance near =
            core_distance(triangle.of(*shape.mesh, t), kHullQueries, {point, kSphereQueries, {upright, p}});
        if (near.distance > best.distance || (near.distance == best.distance && best.child < t)) return;
        const D3 n = triangle_normal(*shape.mesh, t);
        best = round_closest(p, near.on_shape, 0.0, {n.x, n.y, n.z});
        best.child = t;
    });
    return best;
}

bool overlap(const Shape& shape, const Probe& probe, std::uint32_t& child) {
    TriangleShape triangle;
    child = kNone;
    walk(shape.mesh->tree, InBox(box_of(probe), *probe.kernels), [&](std::uint32_t t) {
        if (t < child && convex_overlap(triangle.of(*shape.mesh, t), kHullQueries, probe)) child = t;
    });
    return child != kNone;
}

bool cast(const Shape& shape, const Probe& probe, Point direction, double length, SurfacePoint& hit) {
    TriangleShape triangle;
    Probe wanted = probe;
    wanted.wanted_m = min(probe.wanted_m, length);
    bool found = false;
    walk(shape.mesh->tree, OnCast(probe, box_of(probe), direction, wanted.wanted_m), [&](std::uint32_t t) {
        SurfacePoint at;
        if (!convex_cast(triangle.of(*shape.mesh, t), kHullQueries, wanted, direction, length, at)) return;
        at.child = t;
        if (found && (at.distance > hit.distance || (at.distance == hit.distance && hit.child < t))) return;
        hit = at;
        wanted.wanted_m = min(at.distance, wanted.wanted_m);
        found = true;
    });
    return found;
}

}  // namespace

constinit const ShapeQueries kMeshQueries{ray, closest, nullptr, overlap, cast, box_bounds};

}  // namespace orrery::sim::ref
