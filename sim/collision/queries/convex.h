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

struct CoreDistance {
    double distance = 0.0;   // of the cores; 0 where they meet
    Point on_shape{}, on_probe{};
};

// GJK: the point of the Minkowski difference of the cores that is nearest to the origin.
CoreDistance core_distance(const Shape& shape, const ShapeQueries& queries, const Probe& probe);

bool convex_overlap(const Shape& shape, const ShapeQueries& queries, const Probe& probe);
bool convex_cast(const Shape& shape, const ShapeQueries& queries, const Probe& probe, Point direction, double length,
                 SurfacePoint& hit);

}  // namespace orrery::sim::ref
