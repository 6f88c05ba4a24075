// Convex solids by their support function alone, in double precision: what any two of them do is found by trying
// directions.
#pragma once

#include <cmath>
#include <vector>

#include "tests/support/body_worlds.h"
#include "tests/support/convex_reference.h"

namespace orrery::test {

struct Solid {
    V centre;
    V axis[3];               // of the body
    std::vector<V> corners;  // in the world; a cylinder's: its two cap centres
    double radius = 0, disc = 0;

    V support(V d) const {
        V best = corners[0];
        for (const V p : corners) {
            if (dot(p, d) > dot(best, d)) best = p;
        }
        const double n = length(d);
        if (disc > 0) {
            const V flat = d - dot(d, axis[1]) * axis[1];
            const double m = length(flat);
            if (m > 1e-12 * n) best = best + (disc / m) * flat;
        }
        return best + (radius / n) * d;
    }
};

// `points` are a hull's, in the body's frame.
inline Solid make_solid(const sim::ShapeDef& def, const std::vector<sim::Vec3>& points, const sim::Pose& pose) {
    Solid s;
    s.centre = vec(pose.position);
    const V units[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; ++i) s.axis[i] = rotate(pose.orientation, units[i]);
    const auto add = [&](V local) { s.corners.push_back(s.centre + rotate(pose.orientation, local)); };
    const V h = vec(def.half_extents);
    switch (def.type) {
        case sim::ShapeType::box:
            for (int k = 0; k < 8; ++k) add({(k & 1) ? h.x : -h.x, (k & 2) ? h.y : -h.y, (k & 4) ? h.z : -h.z});
            break;
        case sim::ShapeType::hull:
            for (const sim::Vec3& p : points) add(vec(p));
            break;
        case sim::ShapeType::capsule:
        case sim::ShapeType::cylinder:
            add({0, def.half_height, 0});
            add({0, -double(def.half_height), 0});
            (def.type == sim::ShapeType::capsule ? s.radius : s.disc) = def.radius;
            break;
        default:
            add({});
            s.radius = def.radius;
    }
    return s;
}

// Of a function of unit vectors: climbs from n, until steps of a hundred-thousandth gain nothing.
template <class F>
double climb(const F& value, V& n) {
    double most = value(n);
    for (double step = 0.2; step > 1e-5;) {
        const V u = cross(n, std::abs(n.x) < 0.6 ? V{1, 0, 0} : V{0, 1, 0}), e = (1.0 / length(u)) * u, f = cross(n, e);
        V better = n;
        double more = most;
        for (int i = 0; i < 8; ++i) {
            const double angle = i * 0.78539816339;
            const V moved = n + (step * std::cos(angle)) * e + (step * std::sin(angle)) * f,
                    m = (1.0 / length(moved)) * moved;
            const double v = value(m);
            if (v > more) better = m, more = v;
        }
        if (more > most + 1e-8)
            n = better, most = more;
        else
            step *= 0.5;
    }
    return most;
}

// How far outside a solid a point is; negative inside.
inline double outside(const Solid& s, V p, Random& random) {
    const auto beyond = [&](V n) { return dot(p - s.support(n), n); };
    const V straight = p - s.centre;
    V best = length(straight) > 1e-9 ? (1.0 / length(straight)) * straight : V{1, 0, 0};
    for (int i = 0; i < 40; ++i) {
        const sim::Vec3 v = random.vec(1.0f);
        const V d = vec(v), n = (1.0 / (length(d) + 1e-9)) * d;
        if (beyond(n) > beyond(best)) best = n;
    }
    return climb(beyond, best);
}

inline double separation_along(const Solid& a, const Solid& b, V n) {
    return dot(b.support(-1.0 * n), n) - dot(a.support(n), n);
}

// The largest separation over directions, by trying many and climbing from the best of them: never above the true one,
// and below it by less than a thousandth of the solids' size.
inline double largest_separation(const Solid& a, const Solid& b, Random& random, std::vector<V> starts,
                                 V* along = nullptr) {
    for (int i = 0; i < 100; ++i) {
        const sim::Vec3 v = random.vec(1.0f);
        starts.push_back(vec(v));
    }
    starts.push_back(b.centre - a.centre);
    struct Try {
        double s;
        V n;
    };
    std::vector<Try> best;
    for (const V d : starts) {
        if (length(d) < 1e-6) continue;
        const V n = (1.0 / length(d)) * d;
        best.push_back({separation_along(a, b, n), n});
    }
    std::sort(best.begin(), best.end(), [](const Try& x, const Try& y) { return x.s > y.s; });
    double most = -1e300;
    for (std::size_t k = 0; k < best.size() && k < 3; ++k) {
        const double found = climb([&](V n) { return separation_along(a, b, n); }, best[k].n);
        if (found > most) {
            most = found;
            if (along) *along = best[k].n;
        }
    }
    return most;
}

}  // namespace orrery::test
