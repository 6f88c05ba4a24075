// Distance, overlap and cast of two convex shapes, from their support functions alone. For the reference pass.
#pragma once

#include "sim/collision/queries/shape_queries.h"

namespace orrery::sim::ref {

// Bound of the iterations of both methods; random pairs of all shapes need less than a third of it.
inline constexpr int kMaxConvexIterations = 64;
// A cast has arrived where the surfaces are this near, and goes the rest straight.
inline constexpr double kCastTolerance_m = 1e-7;
// Surfaces so near overlap.
inline constexpr double kTouchTolerance_m = 1e-7;

// Tolerances of a cast, from the rounding of positions and of the way. Surfaces with a gap or a depth of at most
// `flush_m` are flush. A way on which the shape would sink in by less than `graze_m` (at least twice `flush_m`) grazes,
// and has no hit. Both are less than the inner radius of the shape.
struct CastSlack {
    double flush_m, graze_m;
};
CastSlack cast_slack(const Probe& probe, double length);
// The way is followed so many times `graze_m` beyond its end: a shape that touches at the end has still to sink in.
inline constexpr double kGrazeLead = 1000.0;
// Sine of the largest angle between a flush surface and a way along it.
inline constexpr double kAlongSurface = 0x1p-21;

struct CoreDistance {
    double distance = 0.0;  // of the cores; 0 where they meet
    Point on_shape{}, on_probe{};
};

// GJK: the point of the Minkowski difference of the cores that is nearest to the origin.
CoreDistance core_distance(const Shape& shape, const ShapeQueries& queries, const Probe& probe);

bool convex_overlap(const Shape& shape, const ShapeQueries& queries, const Probe& probe);
bool convex_cast(const Shape& shape, const ShapeQueries& queries, const Probe& probe, Point direction, double length,
                 SurfacePoint& hit);

}  // namespace orrery::sim::ref
