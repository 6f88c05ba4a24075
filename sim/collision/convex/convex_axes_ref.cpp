#include "sim/collision/convex/convex.h"
#include "sim/collision/convex/simplex.h"
#include "sim/shapes/convex_support.h"

namespace orrery::sim::ref {

namespace {

constexpr double kParallelEdges = 1e-6;  // squared sine below which two edges span no axis
constexpr double kSlip2 =
    1e-8;  // m^2: over their length such edges part by no more than its root, which faces do as well
constexpr double kEdgeIsFace =
    0.98;  // cosine between normals, 11 degrees: the face says nearly all that the edges could
constexpr double kDeepInside_m = 1e-9;  // a point this deep in a cylinder has no nearest surface point outside
constexpr double kMeet_m = 1e-9;        // so near, the way from a triangle to a core has no direction

constexpr float kRounding = 1.0e-6f;  // of sums of a few products in single precision, of what they are made of

// A point of the other shape, in the shape's own frame.
struct Seen {
    SupportLanes x, y, z, rounding;
    explicit Seen(D3 p)
        : x(all_lanes(p.x)),
          y(all_lanes(p.y)),
          z(all_lanes(p.z)),
          rounding(all_lanes((absolute(p.x) + absolute(p.y) + absolute(p.z)) * kRounding)) {}
    // Some faces' planes lie at most so far below the point.
    SupportLanes above(const Convex& c, std::uint32_t first) const {
        SupportLanes nx, ny, nz, offset;
        __builtin_memcpy(&nx, c.face_row[0] + first, sizeof nx);
        __builtin_memcpy(&ny, c.face_row[1] + first, sizeof ny);
        __builtin_memcpy(&nz, c.face_row[2] + first, sizeof nz);
        __builtin_memcpy(&offset, c.face_row[3] + first, sizeof offset);
        const SupportRows plain =
            reinterpret_cast<SupportRows>(offset) & SupportRows{0x7fff'ffff, 0x7fff'ffff, 0x7fff'ffff, 0x7fff'ffff};
        return (((nx * x + ny * y) + nz * z) - offset) +
               (rounding + reinterpret_cast<SupportLanes>(plain) * all_lanes(kRounding));
    }
};

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

// The face of `c` that parts it farthest from `other`, if farther than `floor`: the normal points out of `c`. `known`:
// points of `other`; no face parts the shapes farther than it parts these.
ConvexAxis best_face(const Convex& c, const Convex& other, double floor, const D3* known, std::uint32_t known_count) {
    ConvexAxis best;
    best.separation = floor;
    if (c.kind == ConvexKind::cylinder) {
        for (std::uint32_t face = 0; face < 2; ++face) {
            const D3 n = face == 0 ? c.pose.axes.y : -c.pose.axes.y, p = support(other, -n);
            const double separation = (dot(n, p - c.pose.position) - c.half_height) - other.radius;
            if (separation > best.separation) use_face(best, separation, n, face, p);
        }
        return best;
    }
    if (c.kind != ConvexKind::polytope) return best;
    FaceBounds bounds(c);
    for (std::uint32_t k = 0; k < known_count; ++k) bounds.meet(inward(c.pose, known[k]));
    for (std::uint32_t tried = 0; tried < c.topology->faces; ++tried) {
        const std::uint32_t f = bounds.best();
        if (bounds.bound(f) - other.radius <= best.separation) break;
        const D3 n = c.normal(f), p = support(other, -n), at = inward(c.pose, p);
        const double separation = (dot(c.local_normal[f], at) - c.local_offset[f]) - other.radius;
        bounds.meet(at);
        bounds.leave_out(f);
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

bool is_triangle(const Convex& c) { return c.kind == ConvexKind::polytope && c.topology == &kTriangleTopology; }

// Points of A and of B that are near each other.
struct NearPoints {
    double size2 = 1e300;
    D3 on_a, on_b;
    void take(D3 a, D3 b) {
        const D3 d = b - a;
        const double d2 = dot(d, d);
        if (d2 < size2) *this = {d2, a, b};
    }
};

void near_of_triangle(const D3 corner[3], D3 point, NearPoints& best) {
    const D3 w[3] = {corner[0] - point, corner[1] - point, corner[2] - point};
    SimplexPoint near;
    nearest_on_simplex(w, 3, false, near);
    best.take(point + near.v, point);
}

// p + s d and q + t e, s and t from 0 to 1.
void near_of_segments(D3 p, D3 d, D3 q, D3 e, NearPoints& best) {
    const D3 r = q - p;
    const double dd = dot(d, d), ee = dot(e, e), de = dot(d, e), rd = dot(r, d), re = dot(r, e),
                 all = dd * ee - de * de;
    double s = all > 1e-12 * dd * ee ? clamped((rd * ee - re * de) / all, 0.0, 1.0) : 0.0, t = (s * de - re) / ee;
    if (t < 0.0 || t > 1.0) {
        t = t < 0.0 ? 0.0 : 1.0;
        s = clamped((rd + t * de) / dd, 0.0, 1.0);
    }
    best.take(p + d * s, q + e * t);
}

// The distance of a triangle and the core of a ball or a capsule. False: they meet.
bool triangle_gap(const Convex& triangle, const Convex& b, ConvexGap& out) {
    const D3 corner[3] = {triangle.vertex(0), triangle.vertex(1), triangle.vertex(2)};
    NearPoints best;
    if (b.kind == ConvexKind::point) {
        near_of_triangle(corner, b.pose.position, best);
    } else {
        const D3 half = b.pose.axes.y * b.half_height, from = b.pose.position - half, along = half * 2.0,
                 to = b.pose.position + half, n = triangle.normal(0);
        const double h = dot(from - corner[0], n), k = dot(to - corner[0], n);
        if (h * k <= 0.0 && h != k) {  // it crosses the plane
            const D3 at = from + along * (h / (h - k));
            bool inside = true;
            for (int i = 0; i < 3; ++i)
                inside = inside && dot(cross(corner[(i + 1) % 3] - corner[i], at - corner[i]), n) >= 0.0;
            if (inside) return false;
        }
        near_of_triangle(corner, from, best);
        near_of_triangle(corner, to, best);
        for (int i = 0; i < 3; ++i) near_of_segments(corner[i], corner[(i + 1) % 3] - corner[i], from, along, best);
    }
    const double distance = __builtin_sqrt(best.size2);
    if (distance <= kMeet_m) return false;
    out.state = ConvexGap::State::apart;
    out.rough = false;
    out.count = 0;
    out.distance = distance;
    out.normal = (best.on_b - best.on_a) * (1.0 / distance);
    out.on_a = best.on_a;
    out.on_b = best.on_b;
    return true;
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

constexpr double kRelativeSlack =
    2e-6;  // more than placing a vertex and its height above a face lose in single precision, of their size

ConvexAxis axis_of_face(const Convex& c, const Convex& other, std::uint32_t face, std::uint32_t vertex) {
    const D3 p = other.vertex(vertex), at = inward(c.pose, p);
    ConvexAxis out;
    use_face(out, dot(c.local_normal[face], at) - c.local_offset[face], c.normal(face), face, p);
    out.vertex = vertex;
    return out;
}

// Two polytopes, each one's vertices as the other sees them.
class PolytopePair {
  public:
    PolytopePair(const PolytopeKernels& kernels, const Convex& a, const Convex& b) : kernels_(kernels), a_(a), b_(b) {}

    // Before what follows.
    void place() {
        b_in_a_ = relative(a_.pose, b_.pose);
        const D3 at = b_in_a_.position;
        look_from(a_, b_, b_in_a_, b_rows_, sides_[0]);
        look_from(b_, a_, inverse(b_in_a_), a_rows_, sides_[1]);
        slack_ = static_cast<float>(kRelativeSlack *
                                    ((a_.extent + b_.extent) + (absolute(at.x) + absolute(at.y)) + absolute(at.z)));
    }

    // The face of A that parts it farthest from B; the normal points out of A.
    ConvexAxis face_of_a() { return face_of(a_, b_, sides_[0], met[0]); }
    ConvexAxis face_of_b() { return face_of(b_, a_, sides_[1], met[1]); }
    // Whether a vertex of the other lies in the shape, to what rounding lets one tell.
    bool holds_of_b(std::uint32_t vertex) const { return kernels_.outside(sides_[0], vertex) <= slack_; }
    bool holds_of_a(std::uint32_t vertex) const { return kernels_.outside(sides_[1], vertex) <= slack_; }

    // The pair of edges whose product parts them farthest, if farther than `floor`, which is not above 0. `unsure`:
    // some whose product is too small to be asked may part them.
    ConvexAxis best_edges(double floor, bool& unsure) const;

    MetVertices met[2];  // of B, of A: they bound what faces and edges of the other can be worth

  private:
    // In A's frame.
    struct PlacedEdge {
        D3 from, along, left, right;
        double size2;
    };
    struct EdgeStore {
        EdgeStore() {}
        union {
            PlacedEdge edge[kMaxHullEdges];
        };
    };

    void look_from(const Convex& c, const Convex& other, const DPose& pose, float (*rows)[kMaxHullVertices],
                   PolytopeSide& side) const {
        float to[12], *const out[3] = {rows[0], rows[1], rows[2]};
        rows_of(pose, to);
        kernels_.place({{other.row[0], other.row[1], other.row[2]}, other.topology->vertices}, to, out);
        for (int k = 0; k < 4; ++k) side.faces.row[k] = c.face_row[k];
        for (int k = 0; k < 3; ++k) side.other.row[k] = rows[k], side.way[k] = to[4 * k + 3];
        side.faces.count = c.topology->faces;
        side.other.count = other.topology->vertices;
    }
    ConvexAxis face_of(const Convex& c, const Convex& other, const PolytopeSide& side, MetVertices& vertices) const {
        PartingFace face;
        kernels_.part(side, vertices, face);
        return axis_of_face(c, other, face.face, face.vertex);
    }
    std::uint32_t edges_near(const Topology& topology, const PolytopeSide& side, const MetVertices& vertices,
                             double floor, std::uint16_t* out) const;
    static PlacedEdge placed_edge(D3 from, D3 to, D3 left, D3 right) {
        const D3 along = to - from;
        return {from, along, left, right, dot(along, along)};
    }

    const PolytopeKernels& kernels_;
    const Convex &a_, &b_;
    DPose b_in_a_;
    PolytopeSide sides_[2];  // of A, of B
    float slack_ = 0.0f;
    float a_rows_[3][kMaxHullVertices], b_rows_[3][kMaxHullVertices];  // as B and as A see them
};

// Those edges of `c` along which it may be parted from vertices of the other shape by more than `floor`, which is not
// above 0. A normal that touches an edge lies between those of its two faces: where a point is deeper than that below
// both their planes, it is so along all that lies between.
std::uint32_t PolytopePair::edges_near(const Topology& topology, const PolytopeSide& side, const MetVertices& vertices,
                                       double floor, std::uint16_t* out) const {
    std::int32_t below[kFaceRoom];
    kernels_.below(side, vertices, static_cast<float>(floor - slack_), below);
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < topology.edges; ++i) {  // without a branch, which would not be foreseen
        const PolytopeEdge& e = topology.edge[i];
        out[count] = static_cast<std::uint16_t>(i);
        count += (below[e.left] & below[e.right]) == 0 ? 1 : 0;
    }
    return count;
}

ConvexAxis PolytopePair::best_edges(double floor, bool& unsure) const {
    unsure = false;
    ConvexAxis best;
    best.separation = floor;
    std::uint16_t near_a[kMaxHullEdges], near_b[kMaxHullEdges];
    const std::uint32_t count_a = edges_near(*a_.topology, sides_[0], met[0], floor, near_a),
                        count_b = count_a == 0 ? 0 : edges_near(*b_.topology, sides_[1], met[1], floor, near_b);
    EdgeStore edges_b;
    for (std::uint32_t k = 0; k < count_b; ++k) {
        const PolytopeEdge& e = b_.topology->edge[near_b[k]];
        edges_b.edge[k] = placed_edge(
            outward(b_in_a_, b_.local_vertex(e.from)), outward(b_in_a_, b_.local_vertex(e.to)),
            outward(b_in_a_.axes, b_.local_normal[e.left]), outward(b_in_a_.axes, b_.local_normal[e.right]));
    }
    D3 normal;
    for (std::uint32_t i = 0; i < count_a; ++i) {
        const PolytopeEdge& e = a_.topology->edge[near_a[i]];
        const PlacedEdge ea = placed_edge(a_.local_vertex(e.from), a_.local_vertex(e.to), a_.local_normal[e.left],
                                          a_.local_normal[e.right]);
        for (std::uint32_t k = 0; k < count_b; ++k) {
            const PlacedEdge& eb = edges_b.edge[k];
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
                unsure =
                    unsure || (size2 > kSlip2 * larger(ea.size2, eb.size2) && dot(n, eb.from - ea.from) * side > 0.0);
                continue;
            }
            const D3 unit = n * (side / __builtin_sqrt(size2));
            const double separation = dot(unit, eb.from - ea.from);
            if (separation <= best.separation) continue;
            best.kind = ConvexAxis::Kind::between;
            best.separation = separation;
            normal = unit;
            best.of_edges = true;
            best.edge_a = near_a[i];
            best.edge_b = near_b[k];
        }
    }
    best.normal = outward(a_.pose.axes, normal);
    return best;
}

// What find_axis has when no face is to be had, or none that is good enough, of shapes that are not both polytopes.
ConvexAxis between_known(const Convex& a, const Convex& b, const ConvexGap& gap, double floor) {
    if (gap.state == ConvexGap::State::apart && !gap.rough) return axis_of(a, b, gap);
    if (gap.rough) {
        ConvexGap fine;
        convex_gap(a, b, 1e300, false, fine);
        return between_known(a, b, fine, floor);
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

// Whether two edges that part polytopes are nearest to each other between their ends: then nothing of the two is
// nearer.
bool distance_of_edges(const Convex& a, const Convex& b, const ConvexAxis& axis, ConvexGap& gap) {
    const PolytopeEdge &ea = a.topology->edge[axis.edge_a], &eb = b.topology->edge[axis.edge_b];
    const D3 p = a.vertex(ea.from), q = b.vertex(eb.from), d = a.vertex(ea.to) - p, e = b.vertex(eb.to) - q, r = q - p;
    const double dd = dot(d, d), ee = dot(e, e), de = dot(d, e), rd = dot(r, d), re = dot(r, e),
                 all = dd * ee - de * de;
    const double s = rd * ee - re * de, t = rd * de - re * dd;  // of `all`
    if (!(s >= 0.0 && s <= all && t >= 0.0 && t <= all)) return false;
    gap.state = ConvexGap::State::apart;
    gap.distance = axis.separation;
    gap.normal = axis.normal;
    gap.on_a = p + d * (s / all);
    gap.on_b = q + e * (t / all);
    return true;
}

// The axis of two polytopes of which the faces that part them farthest are known: where they overlap, or a corner of
// one lies above a face of the other, or an edge beside an edge, by faces and edges alone. Else GJK tells the distance.
// `of_front`: A is a triangle, `first` its front, and the pair has not been placed; what lies below the front, or below
// the other's face, meets it if it lies in the prism under that.
ConvexAxis axis_of_polytopes(PolytopePair& pair, const Convex& a, const Convex& b, const ConvexAxis& first,
                             const ConvexAxis& second, bool of_front, double limit, ConvexGap& gap) {
    gap.state = ConvexGap::State::beyond;
    if (first.separation > limit || second.separation > limit) return {};
    const bool of_second = second.separation > preferred_to(first.separation);
    const ConvexAxis out = of_second ? as_face_b(second) : first;
    const bool meet = first.separation <= 0.0 && second.separation <= 0.0;  // as far as faces tell
    const double edge_floor = meet ? preferred_to(out.separation) : 0.0;
    const bool ask = out.separation > 0.0 || (of_front && meet && edge_floor >= 0.0);
    const bool above = ask && above_face(of_second ? b : a, out.face, out.on_b);
    if (out.separation > 0.0 && above) {
        gap.state = ConvexGap::State::apart;
        gap.distance = out.separation;
        gap.normal = out.normal;
        gap.on_a = of_second ? out.on_b : out.on_b - out.normal * out.separation;
        gap.on_b = of_second ? out.on_b + out.normal * out.separation : out.on_b;
        return out;
    }
    if (meet && edge_floor >= 0.0 &&
        (of_front    ? above
         : of_second ? pair.holds_of_a(out.vertex)
                     : pair.holds_of_b(out.vertex))) {
        gap.state = ConvexGap::State::overlap;
        return out;  // edges can neither part them nor be preferred
    }
    if (of_front) pair.place();
    bool unsure = false;
    const ConvexAxis between = pair.best_edges(smaller(edge_floor, 0.0), unsure);
    if (meet && !unsure && between.separation <= 0.0) {
        gap.state = ConvexGap::State::overlap;
        return edge_floor < 0.0 && between.kind != ConvexAxis::Kind::none && edges_will_do(between, out, edge_floor)
                   ? between
                   : out;
    }

    const bool by_edges = between.separation > 0.0 && distance_of_edges(a, b, between, gap);
    if (!by_edges) polytope_gap(a, b, out.normal, limit, gap);
    if (gap.state == ConvexGap::State::beyond || gap.distance > limit) return {};
    const bool apart = gap.state == ConvexGap::State::apart;
    const double enough = apart ? least_preferred(gap.distance) : -1e300;
    ConvexAxis face;
    if (first.separation > enough) face = first;
    if (second.separation > (first.separation > enough ? preferred_to(first.separation) : enough))
        face = as_face_b(second);
    if (face.kind == ConvexAxis::Kind::none) return by_edges ? between : axis_of(a, b, gap);
    if (apart) return face;
    // Cores that overlap have nothing that parts them.
    const double floor = preferred_to(face.separation);
    if (floor >= 0.0) return face;
    const ConvexAxis deeper = pair.best_edges(floor, unsure);
    return deeper.kind != ConvexAxis::Kind::none && edges_will_do(deeper, face, floor) ? deeper : face;
}

}  // namespace

ConvexAxis between_axis(const PolytopeKernels& kernels, const Convex& a, const Convex& b, const ConvexGap& gap,
                        double floor) {
    if (!polytopes(a, b)) return between_known(a, b, gap, floor);
    if (gap.state == ConvexGap::State::apart) return axis_of(a, b, gap);
    if (floor >= 0.0) return {};
    PolytopePair pair(kernels, a, b);
    pair.place();
    pair.met[0] = gap.met[0];
    pair.met[1] = gap.met[1];
    bool unsure = false;
    return pair.best_edges(floor, unsure);
}

ConvexAxis find_axis_of_front(const PolytopeKernels& kernels, const Convex& triangle, const Convex& convex,
                              std::uint32_t vertex, std::uint32_t face, double limit, ConvexGap& gap) {
    PolytopePair pair(kernels, triangle, convex);
    if (convex.topology->vertices <= MetVertices::kMost)
        pair.met[0].add_all(convex.topology->vertices);
    else
        pair.met[0].add(vertex);
    pair.met[1].add_all(3);
    const D3 out = convex.normal(face);
    std::uint32_t lowest = 0;
    double least = 1e300;
    for (std::uint32_t corner = 0; corner < 3; ++corner) {
        const double along = dot(out, triangle.vertex(corner));
        if (along < least) lowest = corner, least = along;
    }
    const ConvexAxis axis = axis_of_polytopes(pair, triangle, convex, axis_of_face(triangle, convex, 0, vertex),
                                              axis_of_face(convex, triangle, face, lowest), true, limit, gap);
    gap.met[0] = pair.met[0];
    gap.met[1] = pair.met[1];
    return axis;
}

ConvexAxis find_axis(const PolytopeKernels& kernels, const Convex& a, const Convex& b, double limit, ConvexGap& gap) {
    if (a.kind == ConvexKind::cylinder && b.kind == ConvexKind::point) return within(cylinder_to_point(a, b), limit);
    if (a.kind == ConvexKind::point && b.kind == ConvexKind::cylinder)
        return within(turned(cylinder_to_point(b, a)), limit);
    if (polytopes(a, b)) {
        gap.state = ConvexGap::State::beyond;
        PolytopePair pair(kernels, a, b);
        pair.place();
        const ConvexAxis first = pair.face_of_a();
        if (first.separation > limit) return {};
        const ConvexAxis second = pair.face_of_b(),
                         axis = axis_of_polytopes(pair, a, b, first, second, false, limit, gap);
        gap.met[0] = pair.met[0];
        gap.met[1] = pair.met[1];
        return axis;
    }
    const double radii = a.radius + b.radius;
    const bool known =
        is_triangle(a) && (b.kind == ConvexKind::point || b.kind == ConvexKind::segment) && triangle_gap(a, b, gap);
    if (!known) convex_gap(a, b, limit + radii, true, gap);
    if (gap.state == ConvexGap::State::beyond || (known && gap.distance > limit + radii)) return {};
    // Of a ball the direction is exact and its contact is one point in any case. A point in a polytope is parted by a
    // face.
    const bool apart = gap.state == ConvexGap::State::apart, smooth = round(a) || round(b);
    if (apart && (smooth || !(has_faces(a) || has_faces(b)))) return axis_of(a, b, gap);

    ConvexAxis face = best_face(a, b, apart ? least_preferred(gap.distance - radii) : -1e300, gap.b, gap.count);
    const bool a_has = face.kind != ConvexAxis::Kind::none;
    const ConvexAxis second =
        best_face(b, a, a_has ? preferred_to(face.separation) : face.separation, gap.a, gap.count);
    if (second.kind != ConvexAxis::Kind::none) face = as_face_b(second);
    if (face.kind == ConvexAxis::Kind::none) {
        const ConvexAxis between = between_known(a, b, gap, -1e300);
        return between.kind == ConvexAxis::Kind::none ? crossing(a, b) : between;
    }
    if (apart || smooth) return face;
    const double floor = preferred_to(face.separation);
    // Cores that overlap have nothing that parts them.
    if (floor + radii >= 0.0) return face;
    const ConvexAxis between = between_known(a, b, gap, floor);
    return between.kind == ConvexAxis::Kind::none ? face : between;
}

}  // namespace orrery::sim::ref
