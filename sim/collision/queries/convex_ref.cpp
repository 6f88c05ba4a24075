// GJK with the closest point of a simplex by Voronoi regions (Ericson, Real-Time Collision Detection, 5.1 and 9.5), and
// conservative advancement on top of it.
//
// Advancement of a translated convex shape is Newton's method: the distance is a convex function of the way gone, so
// that a step of distance / closing speed never passes the first touch, from whatever iterate; it converges
// quadratically, and where the way only grazes the surface the distance still falls by four a step. A normal along
// which the shapes do not close is a plane that parts them for good.
//
// A cast that only grazes has no hit: on a surface that it lies on and moves along, and at the edges between the parts
// of such a surface. So a touch counts only if a slightly smaller probe touches on the same way. The smaller probe also
// tells flush from inside, and has a normal where the cores of the two shapes meet.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/convex.h"

namespace orrery::sim::ref {

namespace {

struct Vertex {
    Point w{}, on_shape{}, on_probe{};  // w = on_shape - on_probe
};

// Vertices by their places in a pool that the simplices of one search share, so that none is copied.
struct Simplex {
    std::uint32_t at[4];
    double weight[4];
    int count = 0;
};

Simplex vertex(std::uint32_t a) { return {{a}, {1.0}, 1}; }

// Finds the part of a simplex that is nearest to the origin.
class Nearest {
  public:
    explicit Nearest(const Vertex (&pool)[4]) : pool_(pool) {}

    Point point(const Simplex& s) const {
        Point p{0.0, 0.0, 0.0};
        for (int i = 0; i < s.count; ++i) p = p + w(s.at[i]) * s.weight[i];
        return p;
    }
    Simplex part(const Simplex& s) const {
        switch (s.count) {
            case 1:
                return vertex(s.at[0]);
            case 2:
                return segment(s.at[0], s.at[1]);
            case 3:
                return triangle(s.at[0], s.at[1], s.at[2]);
            default:
                return tetrahedron(s);
        }
    }

  private:
    const Point& w(std::uint32_t i) const { return pool_[i].w; }

    Simplex segment(std::uint32_t ia, std::uint32_t ib) const {
        const Point &a = w(ia), &b = w(ib);
        const Point ab = b - a;
        const double along = -dot(a, ab), whole = length_squared(ab);
        if (along <= 0.0 || whole <= 0.0) return vertex(ia);
        if (along >= whole) return vertex(ib);
        const double of_b = along / whole;
        return {{ia, ib}, {1.0 - of_b, of_b}, 2};
    }
    Simplex triangle(std::uint32_t ia, std::uint32_t ib, std::uint32_t ic) const {
        const Point &a = w(ia), &b = w(ib), &c = w(ic);
        const Point ab = b - a, ac = c - a;
        const double d1 = -dot(ab, a), d2 = -dot(ac, a);
        if (d1 <= 0.0 && d2 <= 0.0) return vertex(ia);
        const double d3 = -dot(ab, b), d4 = -dot(ac, b);
        if (d3 >= 0.0 && d4 <= d3) return vertex(ib);
        const double vc = d1 * d4 - d3 * d2;
        if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return segment(ia, ib);
        const double d5 = -dot(ab, c), d6 = -dot(ac, c);
        if (d6 >= 0.0 && d5 <= d6) return vertex(ic);
        const double vb = d5 * d2 - d1 * d6;
        if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return segment(ia, ic);
        const double va = d3 * d6 - d5 * d4;
        if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) return segment(ib, ic);
        const double sum = (va + vb) + vc;
        if (!(sum > 0.0)) return segment(ia, ib);  // no area is left of it
        const double of_b = vb / sum, of_c = vc / sum;
        return {{ia, ib, ic}, {(1.0 - of_b) - of_c, of_b, of_c}, 3};
    }
    // Whether the origin and `apex` stand on different sides of the plane through a, b, c; a flat tetrahedron has all
    // sides outside.
    bool origin_beyond(const Point& a, const Point& b, const Point& c, const Point& apex) const {
        const Point n = cross(b - a, c - a);
        const double origin_side = -dot(a, n), apex_side = dot(apex - a, n);
        return origin_side * apex_side <= 0.0;
    }
    // The nearest of the faces that the origin is beyond; all four vertices where it is inside.
    Simplex tetrahedron(const Simplex& s) const {
        constexpr int kFaces[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
        Simplex best = s;
        double least = 0.0;
        bool found = false;
        for (const auto& f : kFaces) {
            const std::uint32_t a = s.at[f[0]], b = s.at[f[1]], c = s.at[f[2]];
            if (!origin_beyond(w(a), w(b), w(c), w(s.at[f[3]]))) continue;
            const Simplex face = triangle(a, b, c);
            const double d = length_squared(point(face));
            if (found && d >= least) continue;
            best = face, least = d, found = true;
        }
        return best;
    }

    const Vertex (&pool_)[4];
};

bool holds(const Vertex (&pool)[4], const Simplex& s, Point w) {
    for (int i = 0; i < s.count; ++i) {
        const Point& v = pool[s.at[i]].w;
        if (v.x == w.x && v.y == w.y && v.z == w.z) return true;
    }
    return false;
}

// A place of the pool that the simplex, of at most three vertices, does not use.
std::uint32_t free_place(const Simplex& s) {
    std::uint32_t used = 0;
    for (int i = 0; i < s.count; ++i) used |= 1u << s.at[i];
    return static_cast<std::uint32_t>(__builtin_ctz(~used));
}

// The farthest vertex of the difference along `direction`.
Vertex difference_support(const Shape& shape, const ShapeQueries& queries, const Probe& probe, Point direction) {
    Vertex v;
    v.on_shape = queries.support(shape, direction);
    v.on_probe = probe_support(probe, -direction);
    v.w = v.on_shape - v.on_probe;
    return v;
}

CoreDistance result_of(const Vertex (&pool)[4], const Simplex& s, double distance) {
    CoreDistance out;
    out.distance = distance;
    out.on_shape = out.on_probe = {0.0, 0.0, 0.0};
    for (int i = 0; i < s.count; ++i) {
        out.on_shape = out.on_shape + pool[s.at[i]].on_shape * s.weight[i];
        out.on_probe = out.on_probe + pool[s.at[i]].on_probe * s.weight[i];
    }
    return out;
}

}  // namespace

CoreDistance core_distance(const Shape& shape, const ShapeQueries& queries, const Probe& probe) {
    // The gap between the distance and its lower bound from the newest support point, and what counts as no distance.
    constexpr double kGap_m = 1e-10, kRelativeGap = 1e-12, kNothing_m = 1e-11;
    Vertex pool[4];
    const Nearest nearest(pool);
    pool[0] = difference_support(shape, queries, probe, probe.frame.position);
    Simplex s = vertex(0);
    Point v = pool[0].w;
    double distance = length(v);
    for (int n = 0; n < kMaxConvexIterations; ++n) {
        if (distance <= kNothing_m) return result_of(pool, s, 0.0);
        const std::uint32_t place = free_place(s);
        pool[place] = difference_support(shape, queries, probe, -v);
        const Point& w = pool[place].w;
        if (distance - dot(v, w) / distance <= kGap_m + kRelativeGap * distance || holds(pool, s, w)) break;
        Simplex wider = s;
        wider.at[wider.count] = place, wider.weight[wider.count] = 1.0, ++wider.count;
        const Simplex nearer = nearest.part(wider);
        if (nearer.count == 4) return result_of(pool, nearer, 0.0);
        const Point p = nearest.point(nearer);
        const double d = length(p);
        if (!(d < distance)) break;  // rounding: no nearer point can be found
        s = nearer, v = p, distance = d;
    }
    return result_of(pool, s, distance);
}

bool convex_overlap(const Shape& shape, const ShapeQueries& queries, const Probe& probe) {
    const double radii = double(shape.radius) + double(probe.shape.radius);
    return core_distance(shape, queries, probe).distance <= radii + kTouchTolerance_m;
}

namespace {

// The smaller probe's shape.
struct Smaller {
    Shape shape;
    Probe probe;
    Smaller(const Probe& whole, double by)
        : shape(whole.shape), probe{shape, whole.queries, whole.frame, whole.rounding_m} {
        whole.queries.shrink(shape, static_cast<float>(by));
    }
};

Point normal_between(const CoreDistance& near) {
    const Point n = (near.on_probe - near.on_shape) * (1.0 / near.distance);
    return n * (1.0 / sqrt(dot(n, n)));
}

// The gap between the shape and a probe that is smaller by `by`, and what it was found from.
double gap_of_smaller(const Shape& shape, const ShapeQueries& queries, const Probe& probe, double by,
                      CoreDistance& near) {
    const Smaller smaller(probe, by);
    near = core_distance(shape, queries, smaller.probe);
    return near.distance - (double(shape.radius) + double(smaller.shape.radius));
}

// The cores' distance after so much of the way.
CoreDistance distance_at(const Shape& shape, const ShapeQueries& queries, const Probe& probe, Point direction,
                         double t) {
    Probe at = probe;
    at.frame.position = probe.frame.position + direction * t;
    return core_distance(shape, queries, at);
}

// The first touch of shapes that are apart at the start, where their cores' distance is `start`.
bool advance(const Shape& shape, const ShapeQueries& queries, const Probe& probe, const CoreDistance& start,
             Point direction, double length, SurfacePoint& hit) {
    const double radii = double(shape.radius) + double(probe.shape.radius);
    double t = 0.0;
    CoreDistance near = start;
    for (int n = 0;; ++n) {
        if (n > 0) near = distance_at(shape, queries, probe, direction, t);
        const double gap = near.distance - radii;
        if (n == 0 && near.distance == 0.0) return true;  // a gap of a micrometre that GJK does not see
        if (near.distance > 0.0) {
            hit.normal = normal_between(near);
            hit.point = near.on_shape + hit.normal * double(shape.radius);
        }
        const double closing = -dot(hit.normal, direction);
        const bool arrived = gap <= kCastTolerance_m || n == kMaxConvexIterations;
        if (closing <= 0.0 && (n == 0 || gap > kTouchTolerance_m)) return false;
        // Short of the touch first, where the cores are still apart and have a normal; then straight to it.
        if (closing > 0.0 && gap > 0.0) t = t + (arrived ? gap : gap - 0.5 * kCastTolerance_m) / closing;
        if (t > length) return false;
        if (!arrived) continue;
        hit.distance = t;
        return true;
    }
}

// Whether a probe that touches at `hit` surely sinks in: a little further on, the point that it touches lies in it by
// more than it could be smaller by. Where that is not so, the smaller probe has to go the way itself.
bool sinks_in(const Probe& probe, Point direction, const SurfacePoint& hit, double by) {
    constexpr double kFurther = 64.0, kDeeper = 8.0;                            // of `by`; less than kGrazeLead
    if (probe.shape.hull || !(length_squared(hit.normal) > 0.5)) return false;  // corners of a hull move by more
    Frame then = probe.frame;
    then.position = then.position + direction * (hit.distance + kFurther * by);
    return probe.queries.closest(probe.shape, to_local(then, hit.point)).distance <= -kDeeper * by;
}

}  // namespace

CastSlack cast_slack(const Probe& probe, double length) {
    constexpr double kMostOfInside = 0.25;                     // of the inner radius
    constexpr double kRoundingOfWay = 0x1p-23, kWay_m = 64.0;  // more would let a long way pass a thin edge
    const double flush = kTouchTolerance_m + probe.rounding_m;
    const double graze = 2.0 * flush + kRoundingOfWay * min(length, kWay_m);
    const double most = kMostOfInside * double(probe.shape.inner_radius);
    return {min(flush, 0.5 * most), min(graze, most)};
}

bool convex_cast(const Shape& shape, const ShapeQueries& queries, const Probe& probe, Point direction, double length,
                 SurfacePoint& hit) {
    const double radii = double(shape.radius) + double(probe.shape.radius);
    const CoreDistance start = distance_at(shape, queries, probe, direction, 0.0);
    const double gap = start.distance - radii;
    const CastSlack slack = cast_slack(probe, length);
    double by = slack.graze_m;
    hit = {};
    if (gap <= slack.flush_m) {
        CoreDistance near;
        double smaller_gap = gap_of_smaller(shape, queries, probe, by, near);
        if (near.distance == 0.0) {  // GJK may not see a gap of a micrometre: a second look with twice as much
            by = 2.0 * by;
            smaller_gap = gap_of_smaller(shape, queries, probe, by, near);
        }
        if (near.distance == 0.0 || smaller_gap - by < -slack.flush_m) {
            hit.inside = true;
            return true;
        }
        hit.normal = normal_between(near);
        hit.point = near.on_shape + hit.normal * double(shape.radius);
        if (-dot(hit.normal, direction) <= kAlongSurface) return false;
    } else if (!advance(shape, queries, probe, start, direction, min(length, probe.wanted_m), hit)) {
        return false;
    }
    if (sinks_in(probe, direction, hit, by)) return true;
    const Smaller smaller(probe, by);
    const CoreDistance smaller_start = probe.queries.shrinks_radius
                                           ? start  // of the same core
                                           : distance_at(shape, queries, smaller.probe, direction, 0.0);
    SurfacePoint sunk;
    return advance(shape, queries, smaller.probe, smaller_start, direction, length + kGrazeLead * slack.graze_m, sunk);
}

}  // namespace orrery::sim::ref
