#include "sim/collision/convex_support.h"

namespace orrery::sim::ref {

namespace {

constexpr double kParallelEdges = 1e-6;  // squared sine below which two edges span no axis
constexpr double kEdgeIsFace = 0.98;     // cosine between normals, 11 degrees: the face says nearly all that the edges could
constexpr double kDeepInside_m = 1e-9;   // a point this deep in a cylinder has no nearest surface point outside

// Points of a shape that were met already: a face or an edge parts the shapes no farther than it parts these.
struct Known {
    static constexpr std::uint32_t kMost = 8;
    std::uint32_t count = 0;
    D3 point[kMost];
    void add(D3 p) {
        if (count < kMost) point[count++] = p;
    }
};

Known known_of(const D3* points, std::uint32_t count) {
    Known out;
    for (std::uint32_t i = 0; i < count; ++i) out.add(points[i]);
    return out;
}

// How far the face's plane lies below the nearest of the points, in the shape's own frame.
double height_above(const Convex& c, std::uint32_t face, const D3* local, std::uint32_t count) {
    double least = 1e300;
    for (std::uint32_t k = 0; k < count; ++k) least = smaller(least, dot(c.local_normal[face], local[k]));
    return least - c.local_offset[face];
}

void use_face(ConvexAxis& best, double separation, D3 normal, std::uint32_t face) {
    best.kind = ConvexAxis::Kind::face_a;
    best.separation = separation;
    best.normal = normal;
    best.face = face;
}

// The face of `c` that parts it farthest from `other`, if farther than `floor`: the normal points out of `c`. What is
// met of `other` on the way joins `known`, its points.
ConvexAxis best_face(const Convex& c, const Convex& other, double floor, Known& known) {
    ConvexAxis best;
    best.separation = floor;
    if (c.kind == ConvexKind::cylinder) {
        for (std::uint32_t face = 0; face < 2; ++face) {
            const D3 n = face == 0 ? c.pose.axes.y : -c.pose.axes.y, p = support(other, -n);
            const double separation = (dot(n, p - c.pose.position) - c.half_height) - other.radius;
            known.add(p);
            if (separation > best.separation) use_face(best, separation, n, face);
        }
        return best;
    }
    if (c.kind != ConvexKind::polytope) return best;
    D3 local[Known::kMost];
    for (std::uint32_t k = 0; k < known.count; ++k) local[k] = inward(c.pose, known.point[k]);
    double bound[kMaxHullFaces];
    std::uint32_t first = 0;
    for (std::uint32_t f = 0; f < c.topology->faces; ++f) {
        bound[f] = height_above(c, f, local, known.count) - other.radius;
        if (bound[f] > bound[first]) first = f;
    }
    // The most promising first, so that it spares the others.
    for (std::uint32_t i = 0, tried = known.count; i <= c.topology->faces; ++i) {
        const std::uint32_t f = i == 0 ? first : i - 1;
        if (bound[f] <= best.separation || (i != 0 && f == first)) continue;
        if (height_above(c, f, local + tried, known.count - tried) - other.radius <= best.separation) continue;
        const D3 n = c.normal(f), p = support(other, -n), at = inward(c.pose, p);
        const double separation = (dot(c.local_normal[f], at) - c.local_offset[f]) - other.radius;
        if (known.count < Known::kMost) local[known.count] = at;
        known.add(p);
        if (separation > best.separation) use_face(best, separation, n, f);
    }
    return best;
}

// A ball and a cylinder: by the cylinder's own coordinates. The normal points out of the cylinder.
ConvexAxis cylinder_to_point(const Convex& cylinder, const Convex& ball) {
    const D3 p = inward(cylinder.pose, ball.pose.position);
    const double rho = __builtin_sqrt(p.x * p.x + p.z * p.z), h = cylinder.half_height, r = cylinder.rim;
    const D3 radial = rho > 0.0 ? D3{p.x / rho, 0.0, p.z / rho} : D3{1.0, 0.0, 0.0},
             along{0.0, p.y < 0.0 ? -1.0 : 1.0, 0.0};
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

ConvexAxis axis_of(const Convex& a, const Convex& b, const ConvexGap& gap) {
    ConvexAxis out;
    out.kind = ConvexAxis::Kind::between;
    out.separation = gap.distance - (a.radius + b.radius);
    out.normal = gap.normal;
    out.on_a = gap.on_a + gap.normal * a.radius;
    out.on_b = gap.on_b - gap.normal * b.radius;
    return out;
}

ConvexAxis within(const ConvexAxis& axis, double limit) { return axis.separation > limit ? ConvexAxis{} : axis; }

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
bool has_faces(const Convex& c) { return c.kind == ConvexKind::polytope || c.kind == ConvexKind::cylinder; }
bool polytopes(const Convex& a, const Convex& b) {
    return a.kind == ConvexKind::polytope && b.kind == ConvexKind::polytope;
}

struct PlacedEdge {
    std::uint32_t index;
    D3 from, along, left, right;
    double size2;
};

// Those edges of `c` along which it may be parted from points of the other shape by more than `floor`, which is below
// 0. A normal that touches an edge lies between those of its two faces: where a point is deeper than that below both
// their planes, it is so along all that lies between.
std::uint32_t edges_near(const Convex& c, const Known& known, double floor, PlacedEdge* out) {
    D3 local[Known::kMost];
    for (std::uint32_t k = 0; k < known.count; ++k) local[k] = inward(c.pose, known.point[k]);
    std::uint8_t below[kMaxHullFaces];  // a bit a point
    for (std::uint32_t f = 0; f < c.topology->faces; ++f) {
        below[f] = 0;
        for (std::uint32_t k = 0; k < known.count; ++k) {
            if (dot(c.local_normal[f], local[k]) - c.local_offset[f] < floor)
                below[f] |= static_cast<std::uint8_t>(1u << k);
        }
    }
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < c.topology->edges; ++i) {
        const PolytopeEdge& e = c.topology->edge[i];
        if ((below[e.left] & below[e.right]) != 0) continue;
        PlacedEdge& to = out[count++];
        to.index = i;
        to.from = c.vertex(e.from);
        to.along = c.vertex(e.to) - to.from;
        to.left = c.normal(e.left);
        to.right = c.normal(e.right);
        to.size2 = dot(to.along, to.along);
    }
    return count;
}

struct EdgeStore {
    EdgeStore() {}
    union {
        PlacedEdge edge[kMaxHullEdges];
    };
};

// Of two polytopes that overlap, the pair of edges whose product parts them farthest, if farther than `floor`, which is
// below 0.
ConvexAxis best_edges(const Convex& a, const Convex& b, const Known& of_a, const Known& of_b, double floor) {
    ConvexAxis best;
    best.separation = floor;
    EdgeStore sa, sb;
    const std::uint32_t count_a = edges_near(a, of_b, floor, sa.edge), count_b = edges_near(b, of_a, floor, sb.edge);
    for (std::uint32_t i = 0; i < count_a; ++i) {
        const PlacedEdge& ea = sa.edge[i];
        for (std::uint32_t k = 0; k < count_b; ++k) {
            const PlacedEdge& eb = sb.edge[k];
            // Two edges make a face of the Minkowski difference where the arc between the faces of A's edge crosses
            // that between the negated faces of B's: each arc's ends lie on both sides of the other's plane, and both
            // on one hemisphere.
            const double l = dot(eb.left, ea.along), r = dot(eb.right, ea.along);
            if (l * r >= 0.0) continue;
            const double p = dot(ea.left, eb.along), q = dot(ea.right, eb.along);
            if (p * q >= 0.0 || l * q >= 0.0) continue;
            const D3 n = cross(ea.along, eb.along);
            const double size2 = dot(n, n);
            if (size2 <= kParallelEdges * ea.size2 * eb.size2) continue;
            const D3 unit = n * ((l > 0.0 ? 1.0 : -1.0) / __builtin_sqrt(size2));
            const double separation = dot(unit, eb.from - ea.from);
            if (separation <= best.separation) continue;
            best.kind = ConvexAxis::Kind::between;
            best.separation = separation;
            best.normal = unit;
            best.of_edges = true;
            best.edge_a = ea.index;
            best.edge_b = eb.index;
        }
    }
    return best;
}

// What find_axis has when no face is to be had, or none that is good enough.
ConvexAxis between_known(const Convex& a, const Convex& b, const ConvexGap& gap, const Known& of_a, const Known& of_b,
                         double floor) {
    if (gap.state == ConvexGap::State::apart && !gap.rough) return axis_of(a, b, gap);
    if (gap.rough) {
        ConvexGap fine;
        convex_gap(a, b, 1e300, false, fine);
        if (fine.state == ConvexGap::State::apart) return axis_of(a, b, fine);
        return between_known(a, b, fine, of_a, of_b, floor);
    }
    if (polytopes(a, b)) return floor < 0.0 ? best_edges(a, b, of_a, of_b, floor) : ConvexAxis{};
    ConvexDepth d;
    ConvexAxis out;
    convex_depth(a, b, gap, -floor - (a.radius + b.radius), d);
    if (d.state != ConvexDepth::State::found) return out;
    out.kind = ConvexAxis::Kind::between;
    out.separation = -d.depth - (a.radius + b.radius);
    out.normal = d.normal;
    out.on_a = d.on_a + d.normal * a.radius;
    out.on_b = d.on_b - d.normal * b.radius;
    return out;
}

}  // namespace

ConvexAxis between_axis(const Convex& a, const Convex& b, const ConvexGap& gap, double floor) {
    return between_known(a, b, gap, known_of(gap.a, gap.count), known_of(gap.b, gap.count), floor);
}

ConvexAxis find_axis(const Convex& a, const Convex& b, double limit, ConvexGap& gap) {
    if (a.kind == ConvexKind::cylinder && b.kind == ConvexKind::point) return within(cylinder_to_point(a, b), limit);
    if (a.kind == ConvexKind::point && b.kind == ConvexKind::cylinder)
        return within(turned(cylinder_to_point(b, a)), limit);
    const double radii = a.radius + b.radius;
    convex_gap(a, b, limit + radii, true, gap);
    if (gap.state == ConvexGap::State::beyond) return {};
    // Of a ball the direction is exact and its contact is one point in any case. A point in a polytope is parted by a
    // face.
    const bool apart = gap.state == ConvexGap::State::apart, smooth = round(a) || round(b);
    if (apart && (smooth || !(has_faces(a) || has_faces(b)))) return axis_of(a, b, gap);

    Known of_a = known_of(gap.a, gap.count), of_b = known_of(gap.b, gap.count);
    ConvexAxis face = best_face(a, b, apart ? least_preferred(gap.distance - radii) : -1e300, of_b);
    const bool a_has = face.kind != ConvexAxis::Kind::none;
    ConvexAxis second = best_face(b, a, a_has ? preferred_to(face.separation) : face.separation, of_a);
    if (second.kind != ConvexAxis::Kind::none) {
        face = second;
        face.kind = ConvexAxis::Kind::face_b;
        face.normal = -second.normal;
    }
    if (face.kind == ConvexAxis::Kind::none) {
        const ConvexAxis between = between_known(a, b, gap, of_a, of_b, -1e300);
        return between.kind == ConvexAxis::Kind::none ? crossing(a, b) : between;
    }
    if (apart || smooth) return face;
    const double floor = preferred_to(face.separation);
    // Cores that overlap have nothing that parts them.
    if (floor + radii >= 0.0) return face;
    const ConvexAxis between = between_known(a, b, gap, of_a, of_b, floor);
    if (between.kind == ConvexAxis::Kind::none) return face;
    // Two edges whose normal is nearly the face's have to be better by as much again.
    const bool alike = polytopes(a, b) && dot(between.normal, face.normal) >= kEdgeIsFace;
    return alike && between.separation <= preferred_to(floor) ? face : between;
}

}  // namespace orrery::sim::ref
