// Plane: the half space y <= 0, without bounds.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/convex.h"
#include "sim/collision/queries/round.h"

namespace orrery::sim::ref {

namespace {

constexpr Point kUp{0.0, 1.0, 0.0};

bool ray(const Shape&, const Ray& r, SurfacePoint& hit) {
    if (r.origin.y < 0.0) return begins_inside(hit);
    if (r.direction.y >= 0.0) return false;
    const double t = r.origin.y / -r.direction.y;
    if (t > r.length) return false;
    hit.distance = t;
    hit.point = {r.origin.x + r.direction.x * t, 0.0, r.origin.z + r.direction.z * t};
    hit.normal = kUp;
    return true;
}

SurfacePoint closest(const Shape&, Point p) {
    SurfacePoint at;
    at.distance = p.y;
    at.point = {p.x, 0.0, p.z};
    at.normal = kUp;
    return at;
}

// Of the probe, in the plane's frame.
Point lowest_point(const Probe& probe) { return probe_support(probe, -kUp) - kUp * double(probe.shape.radius); }

bool overlap(const Shape&, const Probe& probe, std::uint32_t&) { return lowest_point(probe).y <= 0.0; }

bool cast(const Shape&, const Probe& probe, Point direction, double length, SurfacePoint& hit) {
    const Point lowest = lowest_point(probe);
    const CastSlack slack = cast_slack(probe, length);
    if (lowest.y < -slack.flush_m) return begins_inside(hit);
    const double closing = -direction.y, height = max(lowest.y, 0.0);
    if (closing <= 0.0 || height > length * closing) return false;
    if (lowest.y <= slack.flush_m && closing <= kAlongSurface) return false;
    if (closing * (length + kGrazeLead * slack.graze_m) - lowest.y < slack.graze_m) return false;
    hit = {};
    hit.distance = lowest.y <= slack.flush_m ? 0.0 : height / closing;
    hit.point = {lowest.x + direction.x * hit.distance, 0.0, lowest.z + direction.z * hit.distance};
    hit.normal = kUp;
    return true;
}

bool bounds(const Shape&, const Frame&, Box3&) { return false; }

}  // namespace

constinit const ShapeQueries kPlaneQueries{ray, closest, nullptr, overlap, cast, bounds};

}  // namespace orrery::sim::ref
