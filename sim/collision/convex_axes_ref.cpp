#include "sim/collision/convex.h"

namespace orrery::sim::ref {

namespace {

constexpr double kParallelEdges = 1e-6;  // squared sine below which two edges span no axis
constexpr double kEdgeIsFace = 0.98;     // cosine between normals, 11 degrees: the face says all that the edges could
constexpr double kDeepInside_m = 1e-9;   // a point this deep in a cylinder has no nearest surface point outside

void try_face(ConvexAxis& best, const Convex& other, D3 n, double offset, std::uint32_t face) {
    const double separation = -reach_along(other, -n) - offset;
    if (separation <= best.separation) return;
    best.separation = separation;
    best.normal = n;
    best.face = face;
}

// A ball and a cylinder: by the cylinder's own coordinates. The normal points out of the cylinder.
ConvexAxis cylinder_to_point(const Convex& cylinder, const Convex& ball) {
    const D3 p = inward(cylinder.pose, ball.pose.position);
    const double rho = __builtin_sqrt(p.x * p.x + p.z * p.z), h = cylinder.half_height, r = cylinder.rim;
    const D3 radial = rho > 0.0 ? D3{p.x / rho, 0.0, p.z / rho} : D3{1.0, 0.0, 0.0}, along{0.0, p.y < 0.0 ? -1.0 : 1.0, 0.0};
    const double above = absolute(p.y) - h, beside = rho - r;
    ConvexAxis out;
    out.kind = ConvexAxis::Kind::between;
    D3 surface, n;
    if (above <= kDeepInside_m && beside <= kDeepInside_m) {
        n = above > beside ? along : radial;
        out.separation = larger(above, beside);
        surface = p - n * out.separation;
    } else {
        surface = radial * smaller(rho, r) + D3{0.0, clamped(p.y, -h, h), 0.0};
        out.separation = length(p - surface);
        n = (p - surface) * (1.0 / out.separation);
    }
    out.separation -= ball.radius;
    out.normal = outward(cylinder.pose.axes, n);
    out.on_a = outward(cylinder.pose, surface);
    out.on_b = ball.pose.position - out.normal * ball.radius;
    return out;
}

ConvexAxis turned(ConvexAxis axis) {
    axis.normal = -axis.normal;
    const D3 on_a = axis.on_a;
    axis.on_a = axis.on_b;
    axis.on_b = on_a;
    return axis;
}

// Between shapes of which at least one is no polytope.
ConvexAxis axis_between(const Convex& a, const Convex& b, bool overlap_enough) {
    if (a.kind == ConvexKind::cylinder && b.kind == ConvexKind::point) return cylinder_to_point(a, b);
    if (a.kind == ConvexKind::point && b.kind == ConvexKind::cylinder) return turned(cylinder_to_point(b, a));
    const ConvexGap d = convex_gap(a, b, overlap_enough);
    ConvexAxis out;
    if (!d.sound) return out;
    out.kind = ConvexAxis::Kind::between;
    out.separation = d.distance - (a.radius + b.radius);
    out.normal = d.normal;
    out.on_a = d.on_a + d.normal * a.radius;
    out.on_b = d.on_b - d.normal * b.radius;
    return out;
}

// Cores without volume that meet, in a point or along a line: apart across both, A being below.
ConvexAxis crossing(const Convex& a, const Convex& b) {
    ConvexAxis out;
    out.kind = ConvexAxis::Kind::between;
    const D3 u = a.kind == ConvexKind::segment ? a.pose.axes.y : b.pose.axes.y,
             v = b.kind == ConvexKind::segment ? b.pose.axes.y : u;
    out.normal = unit_or(cross(u, v), across(u));
    out.separation = -(a.radius + b.radius);
    out.on_a = b.pose.position + out.normal * a.radius;
    out.on_b = b.pose.position - out.normal * b.radius;
    return out;
}

bool round(const Convex& c) { return c.kind == ConvexKind::point; }

}  // namespace

D3 support(const Convex& c, D3 direction) {
    if (c.kind == ConvexKind::point) return c.pose.position;
    if (c.kind == ConvexKind::polytope) {
        std::uint32_t best = 0;
        double farthest = dot(c.vertex[0], direction);
        for (std::uint32_t i = 1; i < c.topology->vertices; ++i) {
            const double along = dot(c.vertex[i], direction);
            if (along > farthest) best = i, farthest = along;
        }
        return c.vertex[best];
    }
    const double up = dot(c.pose.axes.y, direction);
    D3 p = c.pose.position + c.pose.axes.y * (up < 0.0 ? -c.half_height : c.half_height);
    if (c.kind == ConvexKind::cylinder) {
        // By the cap's own axes: what rounding leaves of a direction across the cap would not lie in it.
        const double x = dot(c.pose.axes.x, direction), z = dot(c.pose.axes.z, direction), size = __builtin_sqrt(x * x + z * z);
        p = p + (size > 0.0 ? c.pose.axes.x * (x / size) + c.pose.axes.z * (z / size) : c.pose.axes.x) * c.rim;
    }
    return p;
}

void place_convex(const Shape& shape, const DPose& pose, Convex& out) {
    out.pose = pose;
    out.radius = out.rim = out.half_height = 0.0;
    out.topology = nullptr;
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
            out.kind = ConvexKind::polytope;
            out.topology = &kBoxTopology;
            const D3 h = widened(shape.half_extents), x = pose.axes.x * h.x, y = pose.axes.y * h.y, z = pose.axes.z * h.z;
            for (std::uint32_t k = 0; k < 8; ++k)
                out.vertex[k] = ((pose.position + x * ((k & 1) != 0 ? 1.0 : -1.0)) + y * ((k & 2) != 0 ? 1.0 : -1.0)) +
                                z * ((k & 4) != 0 ? 1.0 : -1.0);
            const D3 axis[3] = {pose.axes.x, pose.axes.y, pose.axes.z};
            const double half[3] = {h.x, h.y, h.z};
            for (std::uint32_t f = 0; f < 6; ++f) {
                out.normal[f] = f % 2 == 0 ? axis[f / 2] : -axis[f / 2];
                out.offset[f] = dot(out.normal[f], pose.position) + half[f / 2];
            }
            return;
        }
        case ShapeType::hull: {
            const Hull& hull = *shape.hull;
            out.kind = ConvexKind::polytope;
            out.topology = &hull.topology;
            for (std::uint32_t i = 0; i < hull.topology.vertices; ++i) out.vertex[i] = outward(pose, widened(hull.vertex[i]));
            for (std::uint32_t f = 0; f < hull.topology.faces; ++f) {
                out.normal[f] = outward(pose.axes, hull.normal[f]);
                out.offset[f] = hull.offset[f] + dot(out.normal[f], pose.position);
            }
            return;
        }
        default:
            out.kind = ConvexKind::point;
            out.radius = shape.radius;
    }
}

void place_triangle(const D3 corner[3], D3 normal, Convex& out) {
    out.kind = ConvexKind::polytope;
    out.radius = out.rim = out.half_height = 0.0;
    out.topology = &kTriangleTopology;
    for (int i = 0; i < 3; ++i) out.vertex[i] = corner[i];
    out.pose.position = ((corner[0] + corner[1]) + corner[2]) * (1.0 / 3.0);
    out.normal[0] = normal;
    out.normal[1] = -normal;
    out.offset[0] = dot(normal, out.pose.position);
    out.offset[1] = -out.offset[0];
}

ConvexAxis best_face(const Convex& c, const Convex& other) {
    ConvexAxis best;
    if (c.kind == ConvexKind::polytope) {
        for (std::uint32_t f = 0; f < c.topology->faces; ++f) try_face(best, other, c.normal[f], c.offset[f], f);
        best.kind = ConvexAxis::Kind::face_a;
    } else if (c.kind == ConvexKind::cylinder) {
        const D3 y = c.pose.axes.y;
        const double at = dot(y, c.pose.position);
        try_face(best, other, y, at + c.half_height, 0);
        try_face(best, other, -y, c.half_height - at, 1);
        best.kind = ConvexAxis::Kind::face_a;
    }
    return best;
}

ConvexAxis best_edges(const Convex& a, const Convex& b) {
    const Topology &ta = *a.topology, &tb = *b.topology;
    ConvexAxis best;
    double along[kMaxHullFaces];
    for (std::uint32_t i = 0; i < ta.edges; ++i) {
        const PolytopeEdge& ea = ta.edge[i];
        const D3 da = a.vertex[ea.to] - a.vertex[ea.from], left = a.normal[ea.left], right = a.normal[ea.right];
        const double size2_a = dot(da, da);
        for (std::uint32_t f = 0; f < tb.faces; ++f) along[f] = dot(b.normal[f], da);
        for (std::uint32_t k = 0; k < tb.edges; ++k) {
            const PolytopeEdge& eb = tb.edge[k];
            // Two edges make a face of the Minkowski difference where the arc between the faces of A's edge crosses that
            // between the negated faces of B's: each arc's ends lie on both sides of the other's plane, and both on one
            // hemisphere.
            const double l = along[eb.left], r = along[eb.right];
            if (l * r >= 0.0) continue;
            const D3 db = b.vertex[eb.to] - b.vertex[eb.from];
            const double p = dot(left, db), q = dot(right, db);
            if (p * q >= 0.0 || l * q >= 0.0) continue;
            const D3 n = cross(da, db);
            const double size2 = dot(n, n);
            if (size2 <= kParallelEdges * size2_a * dot(db, db)) continue;
            const D3 unit = n * ((l > 0.0 ? 1.0 : -1.0) / __builtin_sqrt(size2));
            const double separation = dot(unit, b.vertex[eb.from] - a.vertex[ea.from]);
            if (separation <= best.separation) continue;
            best.kind = ConvexAxis::Kind::between;
            best.separation = separation;
            best.normal = unit;
            best.of_edges = true;
            best.edge_a = i;
            best.edge_b = k;
        }
    }
    return best;
}

ConvexAxis apart_axis(const Convex& a, const Convex& b, const ConvexAxis& otherwise) {
    const ConvexAxis out = axis_between(a, b, true);
    return out.kind == ConvexAxis::Kind::none ? otherwise : out;
}

ConvexAxis between_axis(const Convex& a, const Convex& b) {
    const bool polytopes = a.kind == ConvexKind::polytope && b.kind == ConvexKind::polytope;
    return polytopes ? best_edges(a, b) : axis_between(a, b, false);
}

ConvexAxis find_axis(const Convex& a, const Convex& b, double limit) {
    ConvexAxis face = best_face(a, b), of_b = best_face(b, a);
    if (larger(face.separation, of_b.separation) > limit) return {};
    if (of_b.separation > (face.kind == ConvexAxis::Kind::none ? -1e299 : preferred_to(face.separation))) {
        face = of_b;
        face.kind = ConvexAxis::Kind::face_b;
        face.normal = -of_b.normal;
    }
    const bool has_face = face.kind != ConvexAxis::Kind::none;
    ConvexAxis between;
    if (a.kind == ConvexKind::polytope && b.kind == ConvexKind::polytope) {
        between = best_edges(a, b);
        if (between.kind != ConvexAxis::Kind::none && between.separation > limit) return {};
        const bool better =
            between.separation > preferred_to(face.separation) && dot(between.normal, face.normal) < kEdgeIsFace;
        return better ? between : face;
    }
    // Of a ball the direction is exact and its contact is one point in any case. A point in a polytope is parted by a face.
    const bool smooth = round(a) || round(b);
    between = axis_between(a, b, (smooth && has_face) || (has_face && face.separation >= -kFaceBias_m));
    if (between.kind == ConvexAxis::Kind::none) return has_face ? face : crossing(a, b);
    if (between.separation > limit) return {};
    if (smooth || !has_face) return between;
    return between.separation > preferred_to(face.separation) ? between : face;
}

}  // namespace orrery::sim::ref
