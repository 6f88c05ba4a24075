#include "sim/collision/convex/convex.h"
#include "sim/shapes/convex_support.h"

namespace orrery::sim::ref {

namespace {

constexpr double kLevel = 0.05;  // cosine, 3 degrees: an edge that leans no more runs along the other shape's surface
constexpr double kParallelEdges2 = 2.5e-3;  // squared sine: two edges side by side, 3 degrees
constexpr double kBeside2 = 1e-4;     // squared, of the edge's length: how far past each other edges that touch may lie
constexpr double kTilted = 1e-3;      // sine: a cap's lowest point is none of the fixed ones
constexpr double kSlack = 5e-3;       // of the smaller face's size: shapes stacked one on the other keep their corners
constexpr double kEdgeOn = 0.1;       // cosine below which an incident face says nothing about heights
constexpr double kDeepestTie = 1e-3;  // depths that differ by less than this part of the contact's width are alike
constexpr double kAcross = 0.02;      // weight of a diagonal's square against twice an area
constexpr std::uint32_t kMaxPlaces = 3 * kMaxHullVertices;

// Cosine and sine of the eighths of a turn.
constexpr double kHalfRoot = 0.70710678118654752;
constexpr double kEighth[kCapPoints][2] = {{1, 0},  {kHalfRoot, kHalfRoot},   {0, 1},  {-kHalfRoot, kHalfRoot},
                                           {-1, 0}, {-kHalfRoot, -kHalfRoot}, {0, -1}, {kHalfRoot, -kHalfRoot}};

void add(Outline& out, D3 p, std::uint32_t number) {
    out.point[out.count] = p;
    out.number[out.count++] = static_cast<std::uint8_t>(number);
}

void face_outline(const Convex& c, std::uint32_t face, Outline& out) {
    out.count = 0;
    out.name = face;
    const std::uint8_t* loop = c.topology->face_loop(face);
    for (std::uint32_t i = 0; i < c.topology->loop_size(face); ++i) add(out, c.vertex(loop[i]), loop[i]);
}

void cap_outline(const Convex& c, double side, Outline& out) {
    out.count = 0;
    out.name = side > 0.0 ? 0 : 1;
    const D3 centre = c.pose.position + c.pose.axes.y * (side * c.half_height);
    for (std::uint32_t i = 0; i < kCapPoints; ++i) {
        // Counter-clockwise about +y is from z to x.
        const D3 arm = (c.pose.axes.z * kEighth[i][0] + c.pose.axes.x * (side * kEighth[i][1])) * c.rim;
        add(out, centre + arm, i);
    }
}

// ---- the reference: a plane, all of it or the part within a polygon or a disc

// Points of a plane, and the ways from each to the next.
struct Loop {
    std::uint32_t count = 0;
    double x[kMaxHullVertices], y[kMaxHullVertices];
    double along_x[kMaxHullVertices], along_y[kMaxHullVertices];
    Loop() {}
    void close() {
        for (std::uint32_t i = 0; i + 1 < count; ++i) along_x[i] = x[i + 1] - x[i], along_y[i] = y[i + 1] - y[i];
        along_x[count - 1] = x[0] - x[count - 1];
        along_y[count - 1] = y[0] - y[count - 1];
    }
    double way(std::uint32_t i) const { return __builtin_sqrt(along_x[i] * along_x[i] + along_y[i] * along_y[i]); }
    // The product of way i and what leads from its begin to a point: positive to its left.
    double beside(std::uint32_t i, double px, double py) const {
        return along_x[i] * (py - y[i]) - along_y[i] * (px - x[i]);
    }
};

struct Reference {
    D3 origin, u, v, n;
    Loop corners;  // none: a disc, or the whole plane where the radius is below 0
    double radius = -1.0;
    double length[kMaxHullVertices];  // of the ways between corners
    std::uint8_t number[kMaxHullVertices];
    double size2 = 1e300;  // squared extent, for tolerances
    Reference() {}
};

// Of the face of a polytope or the cap of a cylinder.
void set_reference(const Convex& c, std::uint32_t face, Reference& ref) {
    if (c.kind == ConvexKind::cylinder) {
        const double side = face == 0 ? 1.0 : -1.0;
        ref.n = c.pose.axes.y * side;
        ref.u = c.pose.axes.z;
        ref.v = c.pose.axes.x * side;
        ref.origin = c.pose.position + ref.n * c.half_height;
        ref.radius = c.rim;
        ref.size2 = 4.0 * c.rim * c.rim;
        return;
    }
    ref.n = c.normal(face);
    const std::uint8_t* loop = c.topology->face_loop(face);
    Loop& corners = ref.corners;
    corners.count = c.topology->loop_size(face);
    const D3 first = c.vertex(loop[0]), edge = c.vertex(loop[1]) - first;
    ref.u = unit_or_across(edge - ref.n * dot(edge, ref.n), ref.n);
    ref.v = cross(ref.n, ref.u);
    ref.origin = first + ref.n * (c.offset(face) - dot(ref.n, first));
    ref.size2 = 0.0;
    for (std::uint32_t i = 0; i < corners.count; ++i) {
        const D3 d = c.vertex(loop[i]) - ref.origin;
        corners.x[i] = dot(d, ref.u);
        corners.y[i] = dot(d, ref.v);
        ref.number[i] = loop[i];
        ref.size2 = larger(ref.size2, corners.x[i] * corners.x[i] + corners.y[i] * corners.y[i]);
    }
    corners.close();
    for (std::uint32_t i = 0; i < corners.count; ++i) ref.length[i] = corners.way(i);
}

struct Span {
    double low, high;
};
constexpr Span kAll{0.0, 1.0}, kNothing{0.0, -1.0};

// The part of p + t d with inside(t) = a + t b >= 0.
void cut(Span& s, double a, double b) {
    if (b > 0.0) {
        s.low = larger(s.low, -a / b);
    } else if (b < 0.0) {
        s.high = smaller(s.high, a / -b);
    } else if (a < 0.0) {
        s.high = -1.0;
    }
}

Span clip(const Reference& ref, double slack, double px, double py, double dx, double dy) {
    Span s = kAll;
    const Loop& corners = ref.corners;
    if (corners.count == 0) {
        if (ref.radius < 0.0) return s;
        const double r = ref.radius + slack, a = dx * dx + dy * dy, b = px * dx + py * dy,
                     c = (px * px + py * py) - r * r;
        if (a <= 0.0) return c <= 0.0 ? s : kNothing;
        const double root2 = b * b - a * c;
        if (root2 < 0.0) return kNothing;
        const double root = __builtin_sqrt(root2);
        s.low = larger(s.low, (-b - root) / a);
        s.high = smaller(s.high, (root - b) / a);
        return s;
    }
    for (std::uint32_t i = 0; i < corners.count; ++i) {
        cut(s, corners.beside(i, px, py) + slack * ref.length[i], corners.along_x[i] * dy - corners.along_y[i] * dx);
        if (s.low > s.high) break;
    }
    return s;
}

struct Flat : Loop {  // an incident outline in the reference's coordinates
    double z[kMaxHullVertices];
    Flat() {}
};

void flatten(const Outline& outline, const Reference& ref, double radius, Flat& out) {
    out.count = outline.count;
    for (std::uint32_t i = 0; i < outline.count; ++i) {
        const D3 d = outline.point[i] - ref.origin;
        out.x[i] = dot(d, ref.u);
        out.y[i] = dot(d, ref.v);
        out.z[i] = dot(d, ref.n) - radius;
    }
}

double extent2(const Flat& f) {
    double most = 0.0;
    for (std::uint32_t i = 1; i < f.count; ++i) {
        const double dx = f.x[i] - f.x[0], dy = f.y[i] - f.y[0];
        most = larger(most, dx * dx + dy * dy);
    }
    return most;
}

// Whether a reference corner lies under the incident polygon, which goes round clockwise here, and at what height.
// slack[i]: times the length of way i.
bool height_under(const Flat& f, D3 normal, double x, double y, const double* slack, double& z) {
    for (std::uint32_t i = 0; i < f.count; ++i) {
        if (f.beside(i, x, y) > -slack[i]) return false;
    }
    z = f.z[0] - ((normal.x * (x - f.x[0]) + normal.y * (y - f.y[0])) / normal.z);
    return true;
}

// Features: 8 bits for the incident face and 9 for the place: 2 k where edge k enters, 2 k + 1 where it leaves, and
// corners of the reference above both.
constexpr std::uint32_t kLeaves = 1, kOfEdge = 2, kCorner = 2 * kMaxHullVertices, kPlaceBits = 9;

std::uint32_t clip_outline(const Reference& ref, const Outline& outline, D3 incident_normal, double radius,
                           double kept_to, Place* places) {
    Flat f;
    flatten(outline, ref, radius, f);
    const double size2 = extent2(f), slack = kSlack * __builtin_sqrt(smaller(ref.size2, size2));
    std::uint32_t count = 0;
    const std::uint32_t name = outline.name << kPlaceBits;
    f.close();
    if (f.count == 1) {
        const Span s = clip(ref, slack, f.x[0], f.y[0], 0.0, 0.0);
        if (s.low <= s.high && f.z[0] < kept_to)
            places[count++] = {f.x[0], f.y[0], f.z[0], name | outline.number[0] * kOfEdge};
        return count;
    }
    const std::uint32_t edges = f.count == 2 ? 1 : f.count;
    Span span[kMaxHullVertices];
    for (std::uint32_t i = 0; i < edges; ++i) span[i] = clip(ref, slack, f.x[i], f.y[i], f.along_x[i], f.along_y[i]);
    for (std::uint32_t i = 0; i < edges; ++i) {
        const std::uint32_t k = i + 1 < f.count ? i + 1 : 0;
        const Span s = span[i];
        if (s.low > s.high) continue;
        const double dx = f.along_x[i], dy = f.along_y[i], dz = f.z[k] - f.z[i];
        const double z0 = f.z[i] + dz * s.low, z1 = f.z[i] + dz * s.high;
        if (z0 < kept_to)
            places[count++] = {f.x[i] + dx * s.low, f.y[i] + dy * s.low, z0, name | outline.number[i] * kOfEdge};
        if ((s.high >= 1.0 && f.count > 2) || s.high <= s.low || z1 >= kept_to) continue;
        // Where the next edge lies outside, its corner has slipped off by a little: the point near it stays the same
        // feature.
        const bool slipped = f.count > 2 && span[k].low > span[k].high;
        const std::uint32_t leaves = slipped ? outline.number[k] * kOfEdge : outline.number[i] * kOfEdge | kLeaves;
        places[count++] = {f.x[i] + dx * s.high, f.y[i] + dy * s.high, z1, name | leaves};
    }
    const D3 n{dot(incident_normal, ref.u), dot(incident_normal, ref.v), dot(incident_normal, ref.n)};
    if (f.count < 3 || n.z > -kEdgeOn) return count;
    double edge_slack[kMaxHullVertices];
    for (std::uint32_t i = 0; i < f.count; ++i) edge_slack[i] = slack * f.way(i);
    if (ref.corners.count == 0 && ref.radius > 0.0) {
        for (std::uint32_t i = 0; i < kCapPoints; ++i) {
            const double x = ref.radius * kEighth[i][0], y = ref.radius * kEighth[i][1];
            double z = 0.0;
            if (height_under(f, n, x, y, edge_slack, z) && z < kept_to)
                places[count++] = {x, y, z, name | (kCorner + i)};
        }
    }
    for (std::uint32_t i = 0; i < ref.corners.count; ++i) {
        const double x = ref.corners.x[i], y = ref.corners.y[i];
        double z = 0.0;
        if (height_under(f, n, x, y, edge_slack, z) && z < kept_to)
            places[count++] = {x, y, z, name | (kCorner + ref.number[i])};
    }
    return count;
}

double turn(const Place& p, const Place& q, double x, double y) {
    return (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x);
}

double reach(D3 motion, D3 normal, double margin) { return margin + larger(dot(motion, normal), 0.0); }

// ---- contacts without a reference face

struct Edge {
    D3 p, q;
    std::uint32_t number = 0;
    bool point = true;
};

Edge edge_of(const Convex& c, std::uint32_t edge) {
    return {c.vertex(c.topology->edge[edge].from), c.vertex(c.topology->edge[edge].to), edge, false};
}

// The edge or point of the core with which a shape meets what lies along n.
Edge edge_along(const Convex& c, D3 n) {
    if (c.kind == ConvexKind::polytope) {
        const std::uint32_t top = support_vertex(c, n);
        const D3 local = inward(c.pose.axes, n);
        std::uint32_t best = kNone;
        double least2 = kLevel * kLevel;
        for (std::uint32_t k = 0; k < c.topology->edges; ++k) {
            const PolytopeEdge& edge = c.topology->edge[k];
            if ((edge.from != top) & (edge.to != top)) continue;
            const D3 d = c.local_vertex(edge.to) - c.local_vertex(edge.from);
            const double rises = dot(d, local), lean2 = rises * rises / dot(d, d);
            if (lean2 < least2) best = k, least2 = lean2;
        }
        return best == kNone ? Edge{c.vertex(top), c.vertex(top), top, true} : edge_of(c, best);
    }
    if (c.kind == ConvexKind::point) return {c.pose.position, c.pose.position, 0, true};
    const double lean = dot(c.pose.axes.y, n);
    const D3 half = c.pose.axes.y * c.half_height;
    if (absolute(lean) >= kLevel) {
        const D3 p = support(c, n);
        return {p, p, lean > 0.0 ? 1u : 0u, true};
    }
    D3 centre = c.pose.position;
    if (c.kind == ConvexKind::cylinder) centre = centre + unit_or(n - c.pose.axes.y * lean, c.pose.axes.x) * c.rim;
    return {centre - half, centre + half, 0, false};
}

constexpr std::uint32_t kBetween = 0x8000'0000u,
                        kOfB = 0x4000'0000u;  // features: no reference face; the reference is B's

void between_contacts(const Convex& a, const Convex& b, const ConvexAxis& axis, double kept_to, ConvexContacts& out) {
    const D3 n = axis.normal;
    const Edge ea = axis.of_edges ? edge_of(a, axis.edge_a) : edge_along(a, n),
               eb = axis.of_edges ? edge_of(b, axis.edge_b) : edge_along(b, -n);
    // What a point meets may be a face, of which any edge would do: then the point alone gives the name.
    const std::uint32_t of_a = ea.point || !eb.point ? ea.number : 0, of_b = eb.point || !ea.point ? eb.number : 0;
    const std::uint32_t feature =
        kBetween | (of_a << 12) | (of_b << 2) | (ea.point ? 0x100'0000u : 0u) | (eb.point ? 0x200'0000u : 0u);
    out.normal = n;
    // A ball's turning turns no normal, nor does a corner's; of a cylinder's surface what seems a corner may be part of
    // a cap.
    const bool free_a = a.kind == ConvexKind::point || (ea.point && a.kind != ConvexKind::cylinder),
               free_b = b.kind == ConvexKind::point || (eb.point && b.kind != ConvexKind::cylinder);
    out.owner = free_a == free_b ? ConvexContacts::Owner::neither
                : free_a         ? ConvexContacts::Owner::b
                                 : ConvexContacts::Owner::a;
    const D3 da = ea.q - ea.p, db = eb.q - eb.p, w = eb.p - ea.p;
    const double aa = dot(da, da), bb = dot(db, db), ab = dot(da, db), det = aa * bb - ab * ab;
    if (!ea.point && !eb.point && det <= kParallelEdges2 * (aa * bb)) {
        // Side by side: where both run.
        Span s = kAll;
        const double t0 = dot(w, da) / aa, t1 = dot(w + db, da) / aa;
        s.low = larger(s.low, smaller(t0, t1));
        s.high = smaller(s.high, larger(t0, t1));
        if (s.low <= s.high) {
            for (const double t : {s.low, s.high}) {
                const D3 on_a = ea.p + da * t;
                const double u = clamped(dot(on_a - eb.p, db) / bb, 0.0, 1.0);
                const D3 on_b = eb.p + db * u, pa = on_a + n * a.radius, pb = on_b - n * b.radius;
                const double depth = dot(pa - pb, n);
                const D3 beside = (pa - pb) - n * depth;
                if (depth <= -kept_to || dot(beside, beside) > kBeside2 * aa) continue;
                if (out.count == 1 && s.high - s.low <= 1e-3) break;
                out.point[out.count++] = {(pa + pb) * 0.5, depth, feature | (t == s.low && out.count == 0 ? 1u : 2u)};
            }
            if (out.count != 0) return;
        }
    }
    D3 on_a = axis.on_a, on_b = axis.on_b;
    if (axis.of_edges) {
        const double wa = dot(w, da), wb = dot(w, db);
        on_a = ea.p + da * clamped((wa * bb - wb * ab) / det, 0.0, 1.0);
        on_b = eb.p + db * clamped((wa * ab - wb * aa) / det, 0.0, 1.0);
        out.point[out.count++] = {(on_a + on_b) * 0.5, -axis.separation,
                                  kBetween | (axis.edge_a << 12) | (axis.edge_b << 2)};
    } else {
        out.point[out.count++] = {(on_a + on_b) * 0.5, -axis.separation, feature};
    }
    if (out.point[0].depth <= -kept_to) out.count = 0;
}

// `c` has the reference face.
bool face_contacts(const Convex& c, const Convex& other, std::uint32_t face, bool of_b, D3 motion, double margin,
                   ConvexContacts& out) {
    Reference ref;
    set_reference(c, face, ref);
    Outline outline;
    outline_along(other, -ref.n, outline);
    out.normal = of_b ? -ref.n : ref.n;
    out.owner = of_b ? ConvexContacts::Owner::b : ConvexContacts::Owner::a;
    Place places[kMaxPlaces];
    const double kept_to = reach(motion, out.normal, margin);
    const std::uint32_t found =
        clip_outline(ref, outline, outline_normal(other, outline, -ref.n), other.radius, kept_to, places);
    out.count = keep_four(places, found);
    for (std::uint32_t i = 0; i < out.count; ++i) {
        const Place& p = places[i];
        out.point[i] = {ref.origin + ((ref.u * p.x + ref.v * p.y) + ref.n * (p.height * 0.5)), -p.height,
                        p.feature | (face << (kPlaceBits + 8)) | (of_b ? kOfB : 0u)};
    }
    return out.count != 0;
}

// The point of `other` that is deepest below the reference face, where nothing better tells of it.
bool add_deepest(const Convex& other, const ConvexAxis& axis, bool of_b, ConvexContacts& out) {
    if (axis.separation >= 0.0) return out.count != 0;
    const D3 n = of_b ? -axis.normal : axis.normal, p = support(other, -n) - n * other.radius;
    out.normal = axis.normal;
    out.owner = of_b ? ConvexContacts::Owner::b : ConvexContacts::Owner::a;
    out.count = out.count < kMaxManifoldPoints ? out.count + 1 : out.count;
    out.point[out.count - 1] = {p - n * (axis.separation * 0.5), -axis.separation, kBetween | kOfB | axis.face};
    return true;
}

}  // namespace

D3 outline_normal(const Convex& c, const Outline& o, D3 direction) {
    if (o.count < 3) return direction;
    if (c.kind == ConvexKind::polytope) return c.normal(o.name);
    return o.name == 0 ? c.pose.axes.y : -c.pose.axes.y;
}

void outline_along(const Convex& c, D3 direction, Outline& out) {
    out.count = 0;
    out.name = 0;
    if (c.kind == ConvexKind::polytope) return face_outline(c, facing(c, direction), out);
    if (c.kind == ConvexKind::point) return add(out, c.pose.position, 0);
    const D3 half = c.pose.axes.y * c.half_height;
    if (c.kind == ConvexKind::segment) {
        add(out, c.pose.position - half, 0);
        return add(out, c.pose.position + half, 1);
    }
    const double up = dot(c.pose.axes.y, direction);
    const D3 flat = direction - c.pose.axes.y * up;
    const double tilt = length(flat);
    if (absolute(up) > kCapSeen) {
        cap_outline(c, up > 0.0 ? 1.0 : -1.0, out);
        if (tilt <= kTilted) return;
        // The lowest point stands in for the fixed one that is nearest to it, so that the outline still goes round.
        const D3 lowest = support(c, direction);
        std::uint32_t nearest = 0;
        double least = 1e300;
        for (std::uint32_t i = 0; i < out.count; ++i) {
            const D3 d = out.point[i] - lowest;
            if (dot(d, d) < least) nearest = i, least = dot(d, d);
        }
        out.point[nearest] = lowest;
        return;
    }
    const D3 line = c.pose.position + flat * (c.rim / tilt);
    out.name = 2;
    add(out, line - half, 0);
    add(out, line + half, 1);
}

std::uint32_t keep_four(Place* places, std::uint32_t count) {
    if (count <= 1) return count;
    double spread2 = 0.0;
    for (std::uint32_t i = 1; i < count; ++i) {
        const double dx = places[i].x - places[0].x, dy = places[i].y - places[0].y;
        spread2 = larger(spread2, dx * dx + dy * dy);
    }
    std::uint32_t kept[4] = {}, n = 1;
    double best = -1e300;
    std::uint32_t deepest = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const double along = places[i].x * 0.8 + places[i].y * 0.6;
        if (along > best) best = along, kept[0] = i;
        if (places[i].height < places[deepest].height) deepest = i;
    }
    const Place& a = places[kept[0]];
    best = 1e-6 * spread2;
    for (std::uint32_t i = 0; i < count; ++i) {
        const double dx = places[i].x - a.x, dy = places[i].y - a.y, d2 = dx * dx + dy * dy;
        if (d2 > best) best = d2, kept[1] = i, n = 2;
    }
    if (n == 2) {
        const Place& b = places[kept[1]];
        best = 1e-4 * spread2;
        for (std::uint32_t i = 0; i < count; ++i) {
            const double area = absolute(turn(a, b, places[i].x, places[i].y));
            if (area > best) best = area, kept[2] = i, n = 3;
        }
        if (n == 3) {
            const Place& c = places[kept[2]];
            const double round = turn(a, b, c.x, c.y) < 0.0 ? -1.0 : 1.0;
            const double least = best * 1e-3;
            best = least;
            for (std::uint32_t i = 0; i < count; ++i) {
                const double x = places[i].x, y = places[i].y;
                const double outside =
                    -smaller(turn(a, b, x, y) * round, smaller(turn(b, c, x, y) * round, turn(c, a, x, y) * round));
                // Of two that span alike, the one across from the third: regular faces are held up evenly.
                const double dx = x - c.x, dy = y - c.y, score = outside + kAcross * (dx * dx + dy * dy);
                if (outside > least && score > best) best = score, kept[3] = i, n = 4;
            }
        }
    }
    double kept_height = 1e300, nearest2 = 1e300;
    std::uint32_t nearest = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
        const Place& p = places[kept[k]];
        const double dx = p.x - places[deepest].x, dy = p.y - places[deepest].y, d2 = dx * dx + dy * dy;
        kept_height = smaller(kept_height, p.height);
        if (d2 < nearest2) nearest = k, nearest2 = d2;
    }
    if (kept_height > places[deepest].height + kDeepestTie * __builtin_sqrt(spread2)) kept[nearest] = deepest;
    Place four[4];
    for (std::uint32_t k = 0; k < n; ++k) four[k] = places[kept[k]];
    for (std::uint32_t k = 0; k < n; ++k) places[k] = four[k];
    return n;
}

bool collide_convex(const PolytopeKernels& kernels, const Convex& a, const Convex& b, D3 motion, double margin,
                    ConvexContacts& out) {
    ConvexGap gap;
    const ConvexAxis axis = find_axis(kernels, a, b, margin + length(motion), gap);
    return axis.kind != ConvexAxis::Kind::none && contacts_along(kernels, a, b, axis, gap, motion, margin, out);
}

bool contacts_along(const PolytopeKernels& kernels, const Convex& a, const Convex& b, ConvexAxis axis,
                    const ConvexGap& gap, D3 motion, double margin, ConvexContacts& out) {
    out.count = 0;
    const bool by_face = axis.kind != ConvexAxis::Kind::between, of_b = axis.kind == ConvexAxis::Kind::face_b;
    if (by_face) {
        if (axis.separation > reach(motion, axis.normal, margin)) return false;
        double deepest = -1e300;
        if (face_contacts(of_b ? b : a, of_b ? a : b, axis.face, of_b, motion, margin, out)) {
            for (std::uint32_t i = 0; i < out.count; ++i) deepest = larger(deepest, out.point[i].depth);
        }
        if (deepest + axis.separation >= -(2.0 * kFaceBias_m + 2.0 * kFaceBiasRelative * absolute(axis.separation)))
            return true;
        // The preferred face does not hold what is deepest along its normal: edges or corners beside it meet, and count
        // after all.
        const ConvexAxis between = between_axis(kernels, a, b, gap, axis.separation);
        if (between.kind == ConvexAxis::Kind::none) return add_deepest(of_b ? a : b, axis, of_b, out);
        out.count = 0;
        axis = between;
    }
    between_contacts(a, b, axis, reach(motion, axis.normal, margin), out);
    return out.count != 0;
}

bool collide_half_space(const Convex& a, D3 origin, D3 plane_normal, D3 motion, double margin, ConvexContacts& out) {
    Reference ref;
    ref.origin = origin;
    ref.n = plane_normal;
    ref.u = across(plane_normal);
    ref.v = cross(ref.n, ref.u);
    out.normal = -plane_normal;
    out.owner = ConvexContacts::Owner::b;
    const double kept_to = reach(motion, out.normal, margin);
    Place places[kMaxPlaces];
    Outline outline;
    std::uint32_t found = 0;
    if (a.kind == ConvexKind::polytope) {
        const D3 n = inward(a.pose.axes, ref.n);
        const double above = dot(a.pose.position - origin, ref.n);
        for (std::uint32_t i = 0; i < a.topology->vertices; ++i) {
            const double height = dot(n, a.local_vertex(i)) + above;
            if (height >= kept_to) continue;
            const D3 d = a.vertex(i) - origin;
            places[found++] = {dot(d, ref.u), dot(d, ref.v), height, i};
        }
    } else {
        outline_along(a, -plane_normal, outline);
        found = clip_outline(ref, outline, out.normal, a.radius, kept_to, places);
    }
    out.count = keep_four(places, found);
    for (std::uint32_t i = 0; i < out.count; ++i) {
        const Place& p = places[i];
        out.point[i] = {origin + ((ref.u * p.x + ref.v * p.y) + ref.n * (p.height * 0.5)), -p.height, p.feature};
    }
    return out.count != 0;
}

}  // namespace orrery::sim::ref
