// Compound: whatever its children say, in their frames.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/convex.h"
#include "sim/collision/queries/parts.h"
#include "sim/collision/queries/tree_walk.h"

namespace orrery::sim::ref {

namespace {

Probe probe_in(const Part& part, const Probe& probe) {
    Probe inner = probe;
    inner.frame = relative_frame(part.frame, probe.frame);
    return inner;
}

void turn_out(const Part& part, std::uint32_t i, SurfacePoint& at) {
    at.child = i;
    if (at.inside) return;
    at.point = to_outer(part.frame, at.point);
    at.normal = part.frame.rotation * at.normal;
}

// Whether `at` comes before the best so far: nearer, or of a lower child.
bool earlier(const SurfacePoint& at, bool found, const SurfacePoint& best) {
    return !found || at.distance < best.distance || (at.distance == best.distance && at.child < best.child);
}

bool ray(const Shape& shape, const Ray& r, SurfacePoint& hit) {
    bool found = false;
    double nearest = r.length;
    walk(shape.compound->tree, OnRay(r, nearest), [&](std::uint32_t i) {
        const Part part = part_of(*shape.compound, i);
        SurfacePoint at;
        if (!part.queries.ray(
                part.shape,
                {to_local(part.frame, r.origin), transpose_times(part.frame.rotation, r.direction), r.length}, at))
            return;
        turn_out(part, i, at);
        if (!earlier(at, found, hit)) return;
        hit = at;
        found = true;
        nearest = at.distance;
    });
    return found;
}

SurfacePoint closest(const Shape& shape, Point p) {
    SurfacePoint best;
    bool found = false;
    double nearest = 1e300;
    walk(shape.compound->tree, NearPoint{p, nearest}, [&](std::uint32_t i) {
        const Part part = part_of(*shape.compound, i);
        SurfacePoint at = part.queries.closest(part.shape, to_local(part.frame, p));
        turn_out(part, i, at);
        if (!earlier(at, found, best)) return;
        best = at;
        found = true;
        nearest = max(at.distance, 0.0);
    });
    return best;
}

bool overlap(const Shape& shape, const Probe& probe, std::uint32_t& child) {
    child = kNone;
    walk(shape.compound->tree, InBox(box_of(probe), *probe.kernels), [&](std::uint32_t i) {
        if (i > child) return;
        const Part part = part_of(*shape.compound, i);
        if (convex_overlap(part.shape, part.queries, probe_in(part, probe))) child = i;
    });
    return child != kNone;
}

bool cast(const Shape& shape, const Probe& probe, Point direction, double length, SurfacePoint& hit) {
    Probe wanted = probe;
    wanted.wanted_m = min(probe.wanted_m, length);
    bool found = false;
    walk(shape.compound->tree, OnCast(probe, box_of(probe), direction, wanted.wanted_m), [&](std::uint32_t i) {
        const Part part = part_of(*shape.compound, i);
        SurfacePoint at;
        if (!convex_cast(part.shape, part.queries, probe_in(part, wanted),
                         transpose_times(part.frame.rotation, direction), length, at))
            return;
        turn_out(part, i, at);
        if (!earlier(at, found, hit)) return;
        hit = at;
        wanted.wanted_m = min(at.distance, wanted.wanted_m);
        found = true;
    });
    return found;
}

}  // namespace

constinit const ShapeQueries kCompoundQueries{ray, closest, nullptr, overlap, cast, box_bounds};

}  // namespace orrery::sim::ref
