#include "sim/collision/convex_support.h"

namespace orrery::sim::ref {

namespace {

constexpr double kParallelEdges = 1e-6;  // squared sine below which two edges span no axis
constexpr double kSlip2 = 1e-8;          // m^2: over their length such edges part by no more than its root, which faces do as well
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

constexpr float kRounding = 1.0e-6f;  // of sums of a few products in single precision, of what they are made of

// A point of the other shape, in the shape's own frame.
struct Seen {
    SupportLanes x, y, z, rounding;
    explicit Seen(D3 p)
        : x(all_lanes(p.x)), y(all_lanes(p.y)), z(all_lanes(p.z)), rounding(all_lanes((absolute(p.x) + absolute(p.y) + absolute(p.z)) * kRounding)) {}
    // Some faces' planes lie at most so far below the point.
    SupportLanes above(const Convex& c, std::uint32_t first) const {
        SupportLanes nx, ny, nz, offset;
        __builtin_memcpy(&nx, c.face_row[0] + first, sizeof nx);
        __builtin_memcpy(&ny, c.face_row[1] + first, sizeof ny);
        __builtin_memcpy(&nz, c.face_row[2] + first, sizeof nz);
        __builtin_memcpy(&offset, c.face_row[3] + first, sizeof offset);
        const SupportRows plain = reinterpret_cast<SupportRows>(offset) & SupportRows{0x7fff'ffff, 0x7fff'ffff, 0x7fff'ffff, 0x7fff'ffff};
        return (((nx * x + ny * y) + nz * z) - offset) + (rounding + reinterpret_cast<SupportLanes>(plain) * all_lanes(kRounding));
    }
};

constexpr std::uint32_t kFaceRoom = (kMaxHullFaces + kSupportLanes - 1) / kSupportLanes * kSupportLanes;

// By face of a polytope, how far it can part it from another at most, from points of that which were met.
class FaceBounds {
  public:
    explicit FaceBounds(const Convex& c) : convex_(c) {
        for (std::uint32_t f = 0; f < c.topology->faces; f += kSupportLanes) store(f, all_lanes(1.0e30));
    }
    void meet(D3 local) {
        const Seen seen(local);
        for (std::uint32_t f = 0; f < convex_.topology->faces; f += kSupportLanes) {
            const SupportLanes here = seen.above(convex_, f), before = load(f);
            store(f, choose(here < before, here, before));
        }
    }
    void leave_out(std::uint32_t face) { bound_[face] = -kFarOff_m; }
    double bound(std::uint32_t face) const { return bound_[face]; }
    // Of those that are left the most promising, the lowest of those that are alike.
    std::uint32_t best() const {
        return row_of_largest(convex_.topology->faces, [this](std::uint32_t f) { return load(f); });
    }

  private:
    SupportLanes load(std::uint32_t f) const {
        SupportLanes out;
        __builtin_memcpy(&out, bound_ + f, sizeof out);
        return out;
    }
    void store(std::uint32_t f, SupportLanes v) { __builtin_memcpy(bound_ + f, &v, sizeof v); }

    const Convex& convex_;
    float bound_[kFaceRoom];
};

// `met`: the other shape's point that is nearest to the face's plane.
void use_face(ConvexAxis& best, double separation, D3 normal, std::uint32_t face, D3 met) {
    best.kind = ConvexAxis::Kind::face_a;
    best.separation = separation;
    best.normal = normal;
    best.face = face;
    best.on_b = met;
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
            if (separation > best.separation) use_face(best, separation, n, face, p);
        }
        return best;
    }
    if (c.kind != ConvexKind::polytope) return best;
    FaceBounds bounds(c);
    for (std::uint32_t k = 0; k < known.count; ++k) bounds.meet(inward(c.pose, known.point[k]));
    for (std::uint32_t tried = 0; tried < c.topology->faces; ++tried) {
        const std::uint32_t f = bounds.best();
        if (bounds.bound(f) - other.radius <= best.separation) break;
        const D3 n = c.normal(f), p = support(other, -n), at = inward(c.pose, p);
        const double separation = (dot(c.local_normal[f], at) - c.local_offset[f]) - other.radius;
        bounds.meet(at);
        bounds.leave_out(f);
        known.add(p);
        if (separation > best.separation) use_face(best, separation, n, f, p);
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
    std::int32_t below[kFaceRoom];  // a bit a point
    __builtin_memset(below, 0, (c.topology->faces + kSupportLanes - 1) / kSupportLanes * kSupportLanes * sizeof *below);
    const SupportLanes limit = all_lanes(floor - absolute(floor) * kRounding);
    for (std::uint32_t k = 0; k < known.count; ++k) {
        const Seen seen(inward(c.pose, known.point[k]));
        const std::int32_t bit = 1 << k;
        for (std::uint32_t f = 0; f < c.topology->faces; f += kSupportLanes) {
            SupportRows bits;
            __builtin_memcpy(&bits, below + f, sizeof bits);
            bits |= (seen.above(c, f) < limit) & SupportRows{bit, bit, bit, bit};
            __builtin_memcpy(below + f, &bits, sizeof bits);
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

// Of two polytopes, the pair of edges whose product parts them farthest, if farther than `floor`, which is not above 0. `unsure`: some
// whose product is too small to be asked may part them.
ConvexAxis best_edges(const Convex& a, const Convex& b, const Known& of_a, const Known& of_b, double floor, bool& unsure) {
    unsure = false;
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
            const double size2 = dot(n, n), side = l > 0.0 ? 1.0 : -1.0;
            if (size2 <= kParallelEdges * ea.size2 * eb.size2) {
                unsure = unsure || (size2 > kSlip2 * larger(ea.size2, eb.size2) && dot(n, eb.from - ea.from) * side > 0.0);
                continue;
            }
            const D3 unit = n * (side / __builtin_sqrt(size2));
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
    if (polytopes(a, b)) {
        bool unsure = false;
        return floor < 0.0 ? best_edges(a, b, of_a, of_b, floor, unsure) : ConvexAxis{};
    }
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

// Whether a point above a face's plane lies above the face itself, which then is as near as anything of its shape.
bool above_face(const Convex& c, std::uint32_t face, D3 point) {
    const D3 p = inward(c.pose, point), n = c.local_normal[face];
    const std::uint8_t* loop = c.topology->face_loop(face);
    const std::uint32_t corners = c.topology->loop_size(face);
    D3 from = c.local_vertex(loop[corners - 1]);
    for (std::uint32_t i = 0; i < corners; ++i) {
        const D3 to = c.local_vertex(loop[i]);
        if (dot(cross(to - from, p - from), n) < 0.0) return false;
        from = to;
    }
    return true;
}

ConvexAxis as_face_b(ConvexAxis face) {
    face.kind = ConvexAxis::Kind::face_b;
    face.normal = -face.normal;
    return face;
}

// Two edges whose normal is nearly the face's have to be better than `floor` by as much again.
bool edges_will_do(const ConvexAxis& edges, const ConvexAxis& face, double floor) {
    return dot(edges.normal, face.normal) < kEdgeIsFace || edges.separation > preferred_to(floor);
}

// Whether two polytopes' faces and edges tell all that find_axis is to say: where they overlap, are beyond reach, or a corner of one
// lies above a face of the other. Then nobody need know their distance.
bool axis_by_faces(const Convex& a, const Convex& b, double limit, ConvexGap& gap, ConvexAxis& out) {
    const D3 way = b.centre - a.centre;
    Known of_a, of_b;
    of_a.add(support(a, way));
    of_b.add(support(b, -way));
    out = best_face(a, b, -1e300, of_b);
    gap.state = ConvexGap::State::beyond;
    gap.count = 0;
    gap.rough = false;
    if (out.separation > limit) return out = {}, true;
    const double preferred = preferred_to(out.separation), least = smaller(preferred, limit);
    const ConvexAxis second = best_face(b, a, out.separation > 0.0 ? least : smaller(least, 0.0), of_a);
    if (second.separation > limit) return out = {}, true;
    if (second.separation > preferred) out = as_face_b(second);
    else if (out.separation <= 0.0 && second.separation > 0.0) return false;  // apart, and by how much decides
    const double separation = out.separation;
    if (separation > 0.0) {
        const bool of_second = out.kind == ConvexAxis::Kind::face_b;
        if (!above_face(of_second ? b : a, out.face, out.on_b)) return false;
        gap.state = ConvexGap::State::apart;
        gap.distance = separation;
        gap.normal = out.normal;
        gap.on_a = of_second ? out.on_b : out.on_b - out.normal * separation;
        gap.on_b = of_second ? out.on_b + out.normal * separation : out.on_b;
        return true;
    }
    const double floor = preferred_to(separation);
    bool unsure = false;
    const ConvexAxis between = best_edges(a, b, of_a, of_b, smaller(floor, 0.0), unsure);
    if (unsure || between.separation > 0.0) return false;
    gap.state = ConvexGap::State::overlap;
    for (; gap.count < 4 && gap.count < of_a.count && gap.count < of_b.count; ++gap.count) {  // the last are the best
        gap.a[gap.count] = of_a.point[of_a.count - 1 - gap.count];
        gap.b[gap.count] = of_b.point[of_b.count - 1 - gap.count];
    }
    if (floor < 0.0 && between.kind != ConvexAxis::Kind::none && edges_will_do(between, out, floor)) out = between;
    return true;
}

}  // namespace

ConvexAxis between_axis(const Convex& a, const Convex& b, const ConvexGap& gap, double floor) {
    return between_known(a, b, gap, known_of(gap.a, gap.count), known_of(gap.b, gap.count), floor);
}

ConvexAxis find_axis(const Convex& a, const Convex& b, double limit, ConvexGap& gap) {
    if (a.kind == ConvexKind::cylinder && b.kind == ConvexKind::point) return within(cylinder_to_point(a, b), limit);
    if (a.kind == ConvexKind::point && b.kind == ConvexKind::cylinder)
        return within(turned(cylinder_to_point(b, a)), limit);
    if (ConvexAxis axis; polytopes(a, b) && axis_by_faces(a, b, limit, gap, axis)) return axis;
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
    if (second.kind != ConvexAxis::Kind::none) face = as_face_b(second);
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
    return polytopes(a, b) && !edges_will_do(between, face, floor) ? face : between;
}

}  // namespace orrery::sim::ref
