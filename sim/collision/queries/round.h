// What the round shapes share. For the reference pass.
#pragma once

#include "sim/collision/queries/shape_queries.h"

namespace orrery::sim::ref {

inline double square(double x) { return x * x; }

inline bool begins_inside(SurfacePoint& hit) {
    hit = {};
    hit.inside = true;
    return true;
}

// From outside the ball. |o + t d| = r with unit d: t is the nearest approach less half the chord.
inline bool ray_to_ball(const Ray& r, Point centre, double radius, SurfacePoint& hit) {
    const Point o = r.origin - centre;
    const double nearest = -dot(o, r.direction);
    const Point miss = o + r.direction * nearest;
    const double inside = square(radius) - length_squared(miss);
    if (inside < 0.0 || nearest < 0.0) return false;
    const double t = max(nearest - sqrt(inside), 0.0);
    if (t > r.length) return false;
    hit.distance = t;
    hit.normal = (o + r.direction * t) * (1.0 / radius);
    hit.point = centre + hit.normal * radius;
    return true;
}

// Of a shape whose core is nearest to p at `core`; `fallback` is the normal where p stands on the core.
inline SurfacePoint round_closest(Point p, Point core, double radius, Point fallback) {
    const Point way = p - core;
    const double distance = length(way);
    SurfacePoint at;
    at.normal = distance > 0.0 ? way * (1.0 / distance) : fallback;
    at.distance = distance - radius;
    at.point = core + at.normal * radius;
    return at;
}

}  // namespace orrery::sim::ref
