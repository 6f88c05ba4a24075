#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/convex.h"
#include "sim/collision/queries/shape_queries.h"

namespace orrery::sim::ref {

const ShapeQueries& shape_queries(ShapeType type) {
    switch (type) {
        case ShapeType::sphere:
            return kSphereQueries;
        case ShapeType::box:
            return kBoxQueries;
        case ShapeType::capsule:
            return kCapsuleQueries;
        case ShapeType::cylinder:
            return kCylinderQueries;
        case ShapeType::hull:
            return kHullQueries;
        case ShapeType::mesh:
        case ShapeType::height_field:
            return kMeshQueries;
        case ShapeType::compound:
            return kCompoundQueries;
        case ShapeType::plane:
            break;
    }
    return kPlaneQueries;
}

Frame frame_of(const Pose& pose) {
    const Quat& q = pose.orientation;
    const Vec3& p = pose.position;
    return {to_matrix(normalize(QuatT<double>{q.x, q.y, q.z, q.w})), {p.x, p.y, p.z}};
}

Frame relative_frame(const Frame& outer, const Frame& inner) {
    const Mat3T<double>&a = outer.rotation, &b = inner.rotation;
    const Point columns[3] = {transpose_times(a, Point{b.x.x, b.y.x, b.z.x}),
                              transpose_times(a, Point{b.x.y, b.y.y, b.z.y}),
                              transpose_times(a, Point{b.x.z, b.y.z, b.z.z})};
    return {{{columns[0].x, columns[1].x, columns[2].x},
             {columns[0].y, columns[1].y, columns[2].y},
             {columns[0].z, columns[1].z, columns[2].z}},
            to_local(outer, inner.position)};
}

Point probe_support(const Probe& probe, Point direction) {
    return to_outer(probe.frame, probe.queries.support(probe.shape, transpose_times(probe.frame.rotation, direction)));
}

bool box_bounds(const Shape& shape, const Frame& frame, Box3& box) {
    const Point half{shape.half_extents.x, shape.half_extents.y, shape.half_extents.z};
    const Mat3T<double>& r = frame.rotation;
    const Point reach{(abs(r.x.x) * half.x + abs(r.x.y) * half.y) + abs(r.x.z) * half.z,
                      (abs(r.y.x) * half.x + abs(r.y.y) * half.y) + abs(r.y.z) * half.z,
                      (abs(r.z.x) * half.x + abs(r.z.y) * half.y) + abs(r.z.z) * half.z};
    box.min = frame.position - reach;
    box.max = frame.position + reach;
    return true;
}

bool shape_bounds(const Shape& shape, const Frame& frame, Box3& bounds) {
    const ShapeQueries& queries = shape_queries(shape.type);
    if (queries.bounds) return queries.bounds(shape, frame, bounds);
    const Mat3T<double>& r = frame.rotation;  // its rows are the outer axes as the shape sees them
    const double radius = shape.radius;
    bounds.min = {dot(r.x, queries.support(shape, -r.x)), dot(r.y, queries.support(shape, -r.y)),
                  dot(r.z, queries.support(shape, -r.z))};
    bounds.max = {dot(r.x, queries.support(shape, r.x)), dot(r.y, queries.support(shape, r.y)),
                  dot(r.z, queries.support(shape, r.z))};
    bounds.min = (frame.position + bounds.min) - Point{radius, radius, radius};
    bounds.max = (frame.position + bounds.max) + Point{radius, radius, radius};
    return true;
}

bool shape_overlap(const Shape& shape, const Probe& probe, std::uint32_t& child) {
    const ShapeQueries& queries = shape_queries(shape.type);
    return queries.overlap ? queries.overlap(shape, probe, child) : convex_overlap(shape, queries, probe);
}

bool shape_cast(const Shape& shape, const Probe& probe, Point direction, double length, SurfacePoint& hit) {
    const ShapeQueries& queries = shape_queries(shape.type);
    return queries.cast ? queries.cast(shape, probe, direction, length, hit)
                        : convex_cast(shape, queries, probe, direction, length, hit);
}

}  // namespace orrery::sim::ref
