// Convex shapes as views: their support, and how a box or a triangle becomes a polytope.
#include "sim/collision/convex.h"

namespace orrery::sim::ref {

namespace {

constexpr D3 kBoxNormal[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};

using Lanes = float __attribute__((vector_size(kSupportLanes * sizeof(float))));
using Rows = std::int32_t __attribute__((vector_size(kSupportLanes * sizeof(float))));
static_assert(kSupportLanes == 4);

Lanes all(double x) {
    const auto f = static_cast<float>(x);
    return Lanes{f, f, f, f};
}

}  // namespace

std::uint32_t support_vertex(const Convex& c, D3 direction) {
    const D3 local = inward(c.pose.axes, direction);
    const Lanes x = all(local.x), y = all(local.y), z = all(local.z);
    const auto at = [&](std::uint32_t i) {
        Lanes vx, vy, vz;
        __builtin_memcpy(&vx, c.row[0] + i, sizeof vx);
        __builtin_memcpy(&vy, c.row[1] + i, sizeof vy);
        __builtin_memcpy(&vz, c.row[2] + i, sizeof vz);
        return (vx * x + vy * y) + vz * z;
    };
    Lanes most = at(0);
    Rows best{0, 1, 2, 3}, row = best;
    for (std::uint32_t i = kSupportLanes; i < c.topology->vertices; i += kSupportLanes) {
        row += Rows{4, 4, 4, 4};
        const Lanes along = at(i);
        const Rows farther = along > most;
        most = reinterpret_cast<Lanes>((reinterpret_cast<Rows>(along) & farther) |
                                       (reinterpret_cast<Rows>(most) & ~farther));
        best = (row & farther) | (best & ~farther);
    }
    std::uint32_t lane = 0;
    for (std::uint32_t k = 1; k < kSupportLanes; ++k) {
        if (most[k] > most[lane] || (most[k] == most[lane] && best[k] < best[lane])) lane = k;
    }
    return static_cast<std::uint32_t>(best[lane]);
}

D3 support(const Convex& c, D3 direction) {
    if (c.kind == ConvexKind::point) return c.pose.position;
    if (c.kind == ConvexKind::polytope) return c.vertex(support_vertex(c, direction));
    const double up = dot(c.pose.axes.y, direction);
    D3 p = c.pose.position + c.pose.axes.y * (up < 0.0 ? -c.half_height : c.half_height);
    if (c.kind == ConvexKind::cylinder) {
        // By the cap's own axes: what rounding leaves of a direction across the cap would not lie in it.
        const double x = dot(c.pose.axes.x, direction), z = dot(c.pose.axes.z, direction),
                     size = __builtin_sqrt(x * x + z * z);
        p = p + (size > 0.0 ? c.pose.axes.x * (x / size) + c.pose.axes.z * (z / size) : c.pose.axes.x) * c.rim;
    }
    return p;
}

std::uint32_t facing(const Convex& c, D3 direction) {
    if (c.kind == ConvexKind::cylinder) return dot(c.pose.axes.y, direction) >= 0.0 ? 0 : 1;
    const D3 local = inward(c.pose.axes, direction);
    std::uint32_t best = 0;
    double most = dot(c.local_normal[0], local);
    for (std::uint32_t f = 1; f < c.topology->faces; ++f) {
        const double d = dot(c.local_normal[f], local);
        if (d > most) best = f, most = d;
    }
    return best;
}

double separation_along(const Convex& c, std::uint32_t face, const Convex& other) {
    if (c.kind == ConvexKind::cylinder) {
        const D3 n = face == 0 ? c.pose.axes.y : -c.pose.axes.y;
        return (dot(n, support(other, -n) - c.pose.position) - c.half_height) - other.radius;
    }
    const D3 p = inward(c.pose, support(other, -c.normal(face)));
    return (dot(c.local_normal[face], p) - c.local_offset[face]) - other.radius;
}

void place_convex(const Shape& shape, const DPose& pose, Convex& out) {
    out.pose = pose;
    out.centre = pose.position;
    out.radius = out.rim = out.half_height = 0.0;
    switch (shape.type) {
        case ShapeType::capsule:
            out.kind = ConvexKind::segment;
            out.radius = shape.radius;
            out.half_height = shape.half_height;
            return;
        case ShapeType::cylinder:
            out.kind = ConvexKind::cylinder;
            out.rim = shape.disc_radius;
            out.half_height = shape.half_height;
            return;
        case ShapeType::box: {
            const D3 h = widened(shape.half_extents);
            for (std::uint32_t k = 0; k < 8; ++k) {
                out.own_row_[0][k] = (k & 1) != 0 ? shape.half_extents.x : -shape.half_extents.x;
                out.own_row_[1][k] = (k & 2) != 0 ? shape.half_extents.y : -shape.half_extents.y;
                out.own_row_[2][k] = (k & 4) != 0 ? shape.half_extents.z : -shape.half_extents.z;
            }
            const double half[3] = {h.x, h.y, h.z};
            for (int f = 0; f < 6; ++f) out.own_offset_[f] = half[f / 2];
            for (int k = 0; k < 3; ++k) out.row[k] = out.own_row_[k];
            out.kind = ConvexKind::polytope;
            out.local_offset = out.own_offset_;
            out.local_normal = kBoxNormal;
            out.topology = &kBoxTopology;
            return;
        }
        case ShapeType::hull: {
            const Hull& hull = *shape.hull;
            out.kind = ConvexKind::polytope;
            out.topology = &hull.topology;
            out.local_normal = hull.normal.data();
            out.local_offset = hull.offset.data();
            for (int k = 0; k < 3; ++k) out.row[k] = hull.row[k].data();
            return;
        }
        default:
            out.kind = ConvexKind::point;
            out.radius = shape.radius;
    }
}

void place_triangle(const D3 corner[3], D3 normal, Convex& out) {
    out.kind = ConvexKind::polytope;
    out.topology = &kTriangleTopology;
    out.pose = {};
    out.radius = out.rim = out.half_height = 0.0;
    out.centre = ((corner[0] + corner[1]) + corner[2]) * (1.0 / 3.0);
    for (int i = 0; i < 4; ++i) {
        const Vec3 v = narrowed(corner[i < 3 ? i : 0]);
        out.own_row_[0][i] = v.x;
        out.own_row_[1][i] = v.y;
        out.own_row_[2][i] = v.z;
    }
    for (int k = 0; k < 3; ++k) out.row[k] = out.own_row_[k];
    out.own_normal_[0] = normal;
    out.own_normal_[1] = -normal;
    out.local_normal = out.own_normal_;
    out.own_offset_[0] = dot(normal, out.centre);
    out.own_offset_[1] = -out.own_offset_[0];
    out.local_offset = out.own_offset_;
}

}  // namespace orrery::sim::ref
