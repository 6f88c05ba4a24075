// Convex shapes as views, and how a box or a triangle becomes a polytope.
#include "sim/shapes/convex_support.h"

namespace orrery::sim::ref {

namespace {

constexpr D3 kBoxNormal[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
constexpr float kBoxNormalRow[3][8] = {{1, -1, 0, 0, 0, 0, 0, 0}, {0, 0, 1, -1, 0, 0, 0, 0}, {0, 0, 0, 0, 1, -1, 0, 0}};

}  // namespace

namespace {

// Of shapes that are alike before and behind their centre, and of the box around meshes and compounds: how far they
// reach from it.
bool reach_from_centre(const Shape& shape, const DPose& pose, D3 unit, double& reach) {
    switch (shape.type) {
        case ShapeType::sphere:
            reach = shape.radius;
            return true;
        case ShapeType::capsule:
            reach = absolute(dot(pose.axes.y, unit)) * shape.half_height + shape.radius;
            return true;
        case ShapeType::cylinder:
        case ShapeType::hull:
            return false;
        default: {
            const D3 n = inward(pose.axes, unit), half = widened(shape.half_extents);
            reach = (absolute(n.x) * half.x + absolute(n.y) * half.y) + absolute(n.z) * half.z;
            return true;
        }
    }
}

}  // namespace

double reach_of(const Shape& shape, const DPose& pose, D3 unit) {
    double reach = 0.0;
    if (reach_from_centre(shape, pose, unit, reach)) return dot(pose.position, unit) + reach;
    Convex convex;
    place_convex(shape, pose, convex);
    return reach_along(convex, unit);
}

ShapeBox box_of(const Shape& shape, const DPose& pose, double around) {
    const D3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double low[3], high[3], reach = 0.0;
    if (reach_from_centre(shape, pose, axis[0], reach)) {
        const double at[3] = {pose.position.x, pose.position.y, pose.position.z};
        for (int k = 0; k < 3; ++k) {
            reach_from_centre(shape, pose, axis[k], reach);
            low[k] = at[k] - (reach + around);
            high[k] = at[k] + (reach + around);
        }
    } else {
        Convex convex;
        place_convex(shape, pose, convex);
        for (int k = 0; k < 3; ++k) {
            low[k] = -reach_along(convex, -axis[k]) - around;
            high[k] = reach_along(convex, axis[k]) + around;
        }
    }
    return {{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
}

std::uint32_t facing(const Convex& c, D3 direction) {
    if (c.kind == ConvexKind::cylinder) return dot(c.pose.axes.y, direction) >= 0.0 ? 0 : 1;
    // Some normal of a closed surface looks along any direction, rows without a normal along none.
    return row_along(c.face_row, c.topology->faces, inward(c.pose.axes, direction));
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
    out.radius = out.rim = out.half_height = 0.0;
    out.extent = shape.bounding_radius;
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
            for (int f = 0; f < 6; ++f) {
                out.own_offset_[f] = half[f / 2];
                out.own_face_row_[3][f] = static_cast<float>(half[f / 2]);
            }
            out.own_face_row_[3][6] = out.own_face_row_[3][7] = kFarOff_m;
            for (int k = 0; k < 3; ++k) out.row[k] = out.own_row_[k], out.face_row[k] = kBoxNormalRow[k];
            out.face_row[3] = out.own_face_row_[3];
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
            for (int k = 0; k < 4; ++k) out.face_row[k] = hull.face_row[k].data();
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
    out.radius = out.rim = out.half_height = 0.0;
    out.pose = {((corner[0] + corner[1]) + corner[2]) * (1.0 / 3.0), {}};
    double size2 = 0.0;
    for (int i = 0; i < 4; ++i) {
        const D3 from_centre = corner[i < 3 ? i : 0] - out.pose.position;
        size2 = larger(size2, dot(from_centre, from_centre));
        const Vec3 v = narrowed(from_centre);
        out.own_row_[0][i] = v.x;
        out.own_row_[1][i] = v.y;
        out.own_row_[2][i] = v.z;
    }
    for (int k = 0; k < 3; ++k) out.row[k] = out.own_row_[k];
    out.own_normal_[0] = normal;
    out.own_normal_[1] = -normal;
    out.local_normal = out.own_normal_;
    out.own_offset_[0] = out.own_offset_[1] = 0.0;
    out.extent = __builtin_sqrt(size2);
    out.local_offset = out.own_offset_;
    const Vec3 n = narrowed(normal);
    const float row[4] = {n.x, n.y, n.z, 0.0f};
    for (int k = 0; k < 4; ++k) {
        float* const own = out.own_face_row_[k];
        own[0] = row[k];
        own[1] = -row[k];
        own[2] = own[3] = k < 3 ? 0.0f : kFarOff_m;
        out.face_row[k] = own;
    }
}

}  // namespace orrery::sim::ref
