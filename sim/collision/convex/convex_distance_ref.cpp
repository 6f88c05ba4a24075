// Distance of two convex cores: GJK (Gilbert, Johnson, Keerthi 1988) on their Minkowski difference. Fixed bounds on
// iterations: where a curved surface has not converged by then, the answer is good to the tolerances below all the
// same, for each iteration bounds the error from both sides.
#include "sim/collision/convex/convex.h"
#include "sim/collision/convex/simplex.h"
#include "sim/shapes/convex_support.h"

namespace orrery::sim::ref {

namespace {

constexpr int kMaxSteps = 64;
constexpr double kTolerance = 1e-6;    // relative, of the distance
constexpr double kTolerance_m = 1e-7;  // and absolute: finer than single precision has places
constexpr double kTouching = 1e-16;    // squared, relative to the size of the difference
constexpr int kLookEvery = 4;          // steps: circles take many, and other means may make them needless
constexpr int kMaxCurveSteps = 8;
constexpr double kCurveStep2 = 1e-14;  // squared, of a rim: shorter steps end it
constexpr double kParallelCurves = 1e-6;
constexpr double kCurvesMeet = 1e-6;  // m: so near, the way from one to the other has no direction
constexpr double kAside = 1e-9;       // cosine: a normal that leans no more along a cylinder's axis touches its side
constexpr double kShallow = 0.02;     // of a cylinder's size: so deep, another way out may be shorter

// Cores as a search asks them: the points of `support`, bit by bit, without what is the same in every call.

struct AnyCore {
    const Convex& convex;
    D3 support(D3 direction) const { return ref::support(convex, direction); }
};

struct SegmentCore {
    D3 up, below, above;
    explicit SegmentCore(const Convex& c)
        : up(c.pose.axes.y),
          below(c.pose.position + up * -c.half_height),
          above(c.pose.position + up * c.half_height) {}
    D3 support(D3 direction) const { return dot(up, direction) < 0.0 ? below : above; }
};

struct CylinderCore {
    SegmentCore middle;
    D3 x, z;
    double rim;
    explicit CylinderCore(const Convex& c) : middle(c), x(c.pose.axes.x), z(c.pose.axes.z), rim(c.rim) {}
    D3 support(D3 direction) const {
        const D3 p = middle.support(direction);
        const double along_x = dot(x, direction), along_z = dot(z, direction),
                     size = __builtin_sqrt(along_x * along_x + along_z * along_z);
        if (!(size > 1e-150)) return p + x * rim;
        const double by = rim / size;
        return p + (x * (along_x * by) + z * (along_z * by));
    }
};

// Of a triangle whose axes are those of the frame.
struct TriangleCore {
    D3 corner[3];
    float x[3], y[3], z[3];
    static bool is(const Convex& c) {
        const DAxes& a = c.pose.axes;
        return c.kind == ConvexKind::polytope && c.topology == &kTriangleTopology && is_axis(a.x.x, a.x.y, a.x.z) &&
               is_axis(a.y.y, a.y.z, a.y.x) && is_axis(a.z.z, a.z.x, a.z.y);
    }
    static bool is_axis(double along, double across, double other) {
        return along == 1.0 && across == 0.0 && other == 0.0;
    }
    explicit TriangleCore(const Convex& c) {
        for (std::uint32_t i = 0; i < 3; ++i) {
            corner[i] = c.vertex(i);
            x[i] = c.row[0][i], y[i] = c.row[1][i], z[i] = c.row[2][i];
        }
    }
    // Of corners that are alike in single precision the lowest.
    D3 support(D3 direction) const {
        const auto dx = static_cast<float>(direction.x), dy = static_cast<float>(direction.y),
                   dz = static_cast<float>(direction.z);
        const float first = (x[0] * dx + y[0] * dy) + z[0] * dz, second = (x[1] * dx + y[1] * dy) + z[1] * dz,
                    third = (x[2] * dx + y[2] * dy) + z[2] * dz;
        const bool later = second > first;
        return corner[third > (later ? second : first) ? 2 : later ? 1 : 0];
    }
};

struct Simplex {
    Simplex() {}
    std::uint32_t count = 0;
    union {
        D3 w[4];
    };
    union {
        D3 a[4];
    };
    union {
        D3 b[4];
    };
    template <class A, class B>
    void add(const A& ca, const B& cb, D3 direction) {
        a[count] = ca.support(direction);
        b[count] = cb.support(-direction);
        w[count] = a[count] - b[count];
        ++count;
    }
    bool last_is_known() const {
        for (std::uint32_t i = 0; i + 1 < count; ++i) {
            const D3 d = w[count - 1] - w[i];
            if (dot(d, d) <= 0.0) return true;
        }
        return false;
    }
    void keep(const SimplexPoint& near) {
        for (std::uint32_t i = 0; i < near.count; ++i) {  // indices ascend
            const std::uint32_t from = near.index[i];
            if (from == i) continue;
            w[i] = w[from];
            a[i] = a[from];
            b[i] = b[from];
        }
        count = near.count;
    }
};

// Whether a face of `c` that looks along `direction` is preferred to whatever else may part the shapes by `separation`.
bool face_will_do(const Convex& c, const Convex& other, D3 direction, double separation) {
    if (c.kind != ConvexKind::cylinder && c.kind != ConvexKind::polytope) return false;
    return separation_along(c, facing(c, direction), other) >= least_preferred(separation);
}

// ---- rims, sides, edges and corners as curves: where one is nearest to another a few steps of Newton's method tell

// A circle about `centre`, a line, or a point (no tangent), with a ball of `radius` rolled along it.
struct Curve {
    D3 point, tangent, centre, axis;
    double rim = 0.0, radius = 0.0;  // rim: of a circle
    D3 middle;                       // of a line, as far as it goes to both sides
    double half = 0.0;

    void set_circle(const Convex& c, double side, D3 near, D3 normal) {
        axis = c.pose.axes.y;
        centre = c.pose.position + axis * (side * c.half_height);
        rim = c.rim;
        move_to(near - axis * dot(near - centre, axis), normal);
    }
    void move_to(D3 p, D3 otherwise) {
        const D3 arm = unit_or(p - centre, unit_or(otherwise - axis * dot(otherwise, axis), across(axis)));
        point = centre + arm * rim;
        tangent = cross(axis, arm);
    }
    void advance(double by) {
        const D3 to = point + tangent * by;
        if (rim > 0.0)
            move_to(to, tangent);
        else
            point = to;
    }
    void set_line(D3 at, D3 along, double size, D3 near) {
        middle = at;
        tangent = along;
        half = size;
        point = middle + tangent * dot(near - middle, tangent);
    }
    bool within() const { return rim > 0.0 || absolute(dot(point - middle, tangent)) <= half; }
    // How the tangent's product with `d` changes along the way, but for what d itself changes.
    double bend(D3 d) const { return rim > 0.0 ? dot(d, point - centre) / (rim * rim) : 0.0; }
};

// What of a shape the simplex's points on it lie on; false: a face. `near` is nearest to the other shape by what is
// known.
bool curve_of(const Convex& c, const D3* p, std::uint32_t count, D3 near, D3 normal, Curve& out) {
    std::uint32_t other = 0;
    for (std::uint32_t i = 1; i < count; ++i) {
        const D3 d = p[i] - p[0], e = p[i] - p[other];
        if (c.kind == ConvexKind::polytope) {
            if (dot(d, d) <= 0.0 || dot(e, e) <= 0.0) continue;
            if (other != 0) return false;
            other = i;
        } else if (dot(d, c.pose.axes.y) * dot(d, c.pose.axes.y) > c.half_height * c.half_height) {
            other = i;  // one end and the other
        }
    }
    if (other != 0) {
        if (c.kind == ConvexKind::polytope) {
            const D3 edge = p[other] - p[0];
            out.set_line((p[0] + p[other]) * 0.5, unit_or(edge, {}), 0.5 * length(edge), near);
        } else {
            out.radius = c.rim;
            out.set_line(c.pose.position, c.pose.axes.y, c.half_height, near);
        }
    } else if (c.kind == ConvexKind::cylinder) {
        out.set_circle(c, dot(p[0] - c.pose.position, c.pose.axes.y) > 0.0 ? 1.0 : -1.0, near, normal);
    } else {
        out.set_line(p[0], {}, 0.0, near);
    }
    return true;
}

// Whether the curves that the simplex lies on tell the distance: the answer counts where the support functions agree
// with it.
bool finish_by_curves(const Convex& a, const Convex& b, const Simplex& s, const SimplexPoint& near, ConvexGap& out) {
    D3 on_a, on_b;
    for (std::uint32_t i = 0; i < near.count; ++i) {
        on_a = on_a + s.a[i] * near.weight[i];
        on_b = on_b + s.b[i] * near.weight[i];
    }
    Curve ca, cb;
    if (!curve_of(a, s.a, s.count, on_a, -near.v, ca) || !curve_of(b, s.b, s.count, on_b, near.v, cb)) return false;
    for (int step = 0; step < kMaxCurveSteps; ++step) {
        const D3 d = cb.point - ca.point;
        // d . tangent = 0 for both; their derivatives by the ways along both.
        const double ga = dot(d, ca.tangent), gb = dot(d, cb.tangent), t = dot(ca.tangent, cb.tangent);
        const double aa = 1.0 + ca.bend(d), bb = 1.0 - cb.bend(d), det = aa * bb - t * t;
        if (!(det > kParallelCurves)) return false;
        const double by_a = (ga * bb - gb * t) / det, by_b = (ga * t - gb * aa) / det;
        ca.advance(by_a);
        cb.advance(by_b);
        if (by_a * by_a + by_b * by_b <= kCurveStep2 * (ca.rim * ca.rim + cb.rim * cb.rim)) break;
    }
    const D3 d = cb.point - ca.point;
    const double size = length(d);
    // Along what is across it a line looks the same beyond its ends.
    if (size <= kCurvesMeet || !ca.within() || !cb.within()) return false;
    out.normal = d * (1.0 / size);
    out.distance = size - (ca.radius + cb.radius);
    const double least = dot(support(b, -out.normal) - support(a, out.normal), out.normal);
    if (out.distance < 0.0 || out.distance - least > kTolerance_m) return false;
    out.on_a = ca.point + out.normal * ca.radius;
    out.on_b = cb.point - out.normal * cb.radius;
    return true;
}

template <class CoreA, class CoreB>
void search_between(const CoreA& core_a, const CoreB& core_b, const Convex& a, const Convex& b, D3 first, double limit,
                    bool faces_first, ConvexGap& out) {
    const bool curved = a.kind == ConvexKind::cylinder || b.kind == ConvexKind::cylinder;
    Simplex s;
    s.add(core_a, core_b, first);
    SimplexPoint near;
    nearest_on_simplex(s.w, 1, false, near);
    double largest2 = near.size2;
    out.state = ConvexGap::State::apart;
    out.rough = false;
    bool by_curves = false;
    for (int step = 0; step < kMaxSteps; ++step) {
        if (near.size2 <= kTouching * largest2 || near.size2 <= 1e-24) {
            out.state = ConvexGap::State::overlap;
            break;
        }
        if (curved && step % kLookEvery == kLookEvery - 1) {
            const double separation = __builtin_sqrt(near.size2) - (a.radius + b.radius);
            if (faces_first && (face_will_do(a, b, -near.v, separation) || face_will_do(b, a, near.v, separation))) {
                out.rough = true;
                break;
            }
            if (finish_by_curves(a, b, s, near, out)) {
                by_curves = true;
                break;
            }
        }
        s.add(core_a, core_b, -near.v);
        // Nothing of the difference is nearer to the origin than the plane through its farthest point.
        const double along = dot(near.v, s.w[s.count - 1]);
        if (along > 0.0 && along * along > (limit * limit) * near.size2) {
            out.state = ConvexGap::State::beyond;
            return;
        }
        const double slack = near.size2 - along;
        const bool close =
            slack <= kTolerance * near.size2 || slack * slack <= (kTolerance_m * kTolerance_m) * near.size2;
        if (close || s.last_is_known()) {
            --s.count;
            break;
        }
        largest2 = larger(largest2, dot(s.w[s.count - 1], s.w[s.count - 1]));
        SimplexPoint next;
        if (!nearest_on_simplex(s.w, s.count, true, next)) {
            out.state = ConvexGap::State::overlap;
            break;
        }
        if (next.size2 >= near.size2) {  // as near as rounding lets it come
            --s.count;
            break;
        }
        s.keep(next);
        near = next;
    }
    out.count = s.count;
    for (std::uint32_t i = 0; i < s.count; ++i) out.a[i] = s.a[i], out.b[i] = s.b[i];
    if (out.state == ConvexGap::State::overlap) return;
    if (by_curves) {
        if (out.distance > limit) out.state = ConvexGap::State::beyond;
        return;
    }
    out.distance = __builtin_sqrt(near.size2);
    out.normal = near.v * (-1.0 / out.distance);
    out.on_a = out.on_b = {};
    for (std::uint32_t i = 0; i < s.count; ++i) {
        out.on_a = out.on_a + s.a[i] * near.weight[i];
        out.on_b = out.on_b + s.b[i] * near.weight[i];
    }
    if (out.distance > limit) out.state = ConvexGap::State::beyond;
}

// Triangles of meshes have searches of their own.
void search(const Convex& a, const Convex& b, D3 first, double limit, bool faces_first, ConvexGap& out) {
    const AnyCore any_b{b};
    if (!TriangleCore::is(a)) return search_between(AnyCore{a}, any_b, a, b, first, limit, faces_first, out);
    const TriangleCore triangle(a);
    if (b.kind == ConvexKind::cylinder)
        search_between(triangle, CylinderCore(b), a, b, first, limit, faces_first, out);
    else if (b.kind == ConvexKind::segment)
        search_between(triangle, SegmentCore(b), a, b, first, limit, faces_first, out);
    else
        search_between(triangle, any_b, a, b, first, limit, faces_first, out);
}

// The segment along a cylinder's axis with a ball of the rim's radius: it holds the cylinder, and has the same side.
void place_capsule(const Convex& cylinder, Convex& out) {
    out.kind = ConvexKind::segment;
    out.radius = cylinder.rim;
    out.half_height = cylinder.half_height;
    out.pose = cylinder.pose;
}

bool touched_aside(const Convex& c, D3 normal, double distance) {
    return c.kind != ConvexKind::cylinder ||
           (absolute(dot(c.pose.axes.y, normal)) <= kAside && distance >= -kShallow * smaller(c.rim, c.half_height));
}

// By the capsules around cylinders: where those are nearest by their sides the cylinders are, and that costs a few
// steps, where circles cost many. False: what there is to say in this way was not enough; `out` has the direction.
bool search_sides(const Convex& a, const Convex& b, double limit, ConvexGap& out) {
    Convex around_a, around_b;
    const bool round_a = a.kind == ConvexKind::cylinder, round_b = b.kind == ConvexKind::cylinder;
    if (round_a) place_capsule(a, around_a);
    if (round_b) place_capsule(b, around_b);
    const double rims = a.rim + b.rim;
    search(round_a ? around_a : a, round_b ? around_b : b, b.pose.position - a.pose.position, limit + rims, false, out);
    if (out.state == ConvexGap::State::beyond) return true;
    if (out.state == ConvexGap::State::overlap) {
        out.normal = b.pose.position - a.pose.position;
        return false;
    }
    out.distance -= rims;
    if (!touched_aside(a, out.normal, out.distance) || !touched_aside(b, out.normal, out.distance)) return false;
    const D3 to_a = out.normal * a.rim, to_b = out.normal * -b.rim;
    out.on_a = out.on_a + to_a;
    out.on_b = out.on_b + to_b;
    for (std::uint32_t i = 0; i < out.count; ++i) {
        out.a[i] = out.a[i] + to_a;
        out.b[i] = out.b[i] + to_b;
    }
    return true;
}

}  // namespace

void convex_gap(const Convex& a, const Convex& b, double limit, bool faces_first, ConvexGap& out) {
    D3 first = b.pose.position - a.pose.position;
    if (a.kind == ConvexKind::cylinder || b.kind == ConvexKind::cylinder) {
        if (search_sides(a, b, limit, out)) return;
        first = out.normal;
    }
    search(a, b, first, limit, faces_first, out);
}

void polytope_gap(const Convex& a, const Convex& b, D3 way, double limit, ConvexGap& out) {
    search(a, b, way, limit, false, out);
}

}  // namespace orrery::sim::ref
