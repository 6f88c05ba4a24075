// Conservative advancement: along the normal of the distance to a fixed shape the gap shrinks no faster than by the linear
// speed of approach and the fastest turn times the body's bounding radius. Time runs from 0 to 1.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/sweep.h"

#include "sim/collision/queries/convex.h"
#include "sim/collision/queries/search-inl.h"

namespace orrery::sim::ref {

namespace {

// The walk ends where of the sum of both skins so much is left between the shapes, which have lost theirs.
constexpr double kGapPart = 0.1;

Point position_of(const PoseRecord& p) { return {p.position[0], p.position[1], p.position[2]}; }
QuatT<double> orientation_of(const PoseRecord& p) {
    const float* q = p.orientation;
    return normalize(QuatT<double>{q[0], q[1], q[2], q[3]});
}

struct Way {
    Point from, translation;
    QuatT<double> first, last;   // on the same side, so that between them lies the shorter turn
    double fastest_turn;         // rad in all, were it all turned as fast as the fastest part

    Way(const PoseRecord& start, const PoseRecord& end)
        : from(position_of(start)),
          translation(position_of(end) - position_of(start)),
          first(orientation_of(start)),
          last(orientation_of(end)) {
        double cosine = ((first.x * last.x + first.y * last.y) + first.z * last.z) + first.w * last.w;
        if (cosine < 0.0) last = {-last.x, -last.y, -last.z, -last.w}, cosine = -cosine;
        // The normalised chord between quaternions an angle h apart turns fastest in its middle: 2 tan(h / 2) for h, twice of
        // it in space.
        const double sine = sqrt(max(1.0 - cosine * cosine, 0.0));
        fastest_turn = 4.0 * sine / (1.0 + cosine);
    }
    Frame at(double t) const {
        const double s = 1.0 - t;
        const QuatT<double> q{first.x * s + last.x * t, first.y * s + last.y * t, first.z * s + last.z * t,
                              first.w * s + last.w * t};
        return {to_matrix(normalize(q)), from + translation * t};
    }
};

struct Skinned {
    Shape shape;
    double skin = 0.0;

    explicit Skinned(const Shape& whole) : shape(whole) {
        skin = kSkinPart * double(whole.inner_radius);
        if (const auto shrink = shape_queries(whole.type).shrink) shrink(shape, static_cast<float>(skin));
    }
};

struct Walk {
    const BodyInfo& info;
    std::span<const Shape> shapes;
    Way way;
    Skinned body;
    Box3 box{};          // holds the whole way
    double free = 1.0;

    Walk(const Shape& shape, const BodyInfo& of, const PoseRecord& start, const PoseRecord& end, std::span<const Shape> all)
        : info(of), shapes(all), way(start, end), body(shape) {
        const double r = shape.bounding_radius;
        const Point reach{r, r, r}, to = way.from + way.translation;
        box = {min(way.from, to) - reach, max(way.from, to) + reach};
    }
    double nearest(const Point& low, const Point& high) const {
        const bool apart = low.x > box.max.x || low.y > box.max.y || low.z > box.max.z || high.x < box.min.x ||
                           high.y < box.min.y || high.z < box.min.z;
        return apart ? kNowhere : 0.0;
    }
    bool wants(double) const { return free > 0.0; }
    void test(const QueryBody& other) {
        if ((other.types & kQuerySensors) != 0 || (info.category & other.mask) == 0 || (info.mask & other.category) == 0)
            return;
        const ShapeQueries& queries = shape_queries(shapes[other.shape].type);
        if (!queries.support || !queries.shrink) return;
        const Skinned obstacle(shapes[other.shape]);
        const Frame frame = frame_of(other.pose);
        const double radii = double(obstacle.shape.radius) + double(body.shape.radius);
        const double turning = way.fastest_turn * double(body.shape.bounding_radius);
        double stop = kGapPart * (obstacle.skin + body.skin), t = 0.0;
        for (int n = 0; n < kMaxSweepIterations; ++n) {
            const Probe probe{body.shape, shape_queries(body.shape.type), relative_frame(frame, way.at(t))};
            const CoreDistance near = core_distance(obstacle.shape, queries, probe);
            const double gap = near.distance - radii;
            if (n == 0) {
                if (gap <= 0.0) return;
                stop = min(stop, 0.5 * gap);
            }
            if (gap <= stop) break;
            const Point normal = frame.rotation * ((near.on_probe - near.on_shape) * (1.0 / near.distance));
            const double approach = turning - dot(normal, way.translation);
            if (approach <= 0.0) return;
            t = t + (gap - 0.5 * stop) / approach;
            if (t >= free) return;
        }
        free = t;
    }
};

}  // namespace

double free_part(const Shape& shape, const BodyInfo& info, const PoseRecord& start, const PoseRecord& end,
                 const BodyTree& fixed, std::span<const Shape> shapes) {
    const ShapeQueries& queries = shape_queries(shape.type);
    if (!queries.support || !queries.shrink) return 1.0;
    Walk walk(shape, info, start, end, shapes);
    search(fixed, walk);
    return walk.free;
}

PoseRecord pose_between(const PoseRecord& start, const PoseRecord& end, double part) {
    const Way way(start, end);
    const double s = 1.0 - part;
    const QuatT<double>&a = way.first, &b = way.last;
    const QuatT<double> q =
        normalize(QuatT<double>{a.x * s + b.x * part, a.y * s + b.y * part, a.z * s + b.z * part, a.w * s + b.w * part});
    const Point p = way.from + way.translation * part;
    return {{static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)},
            {static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z), static_cast<float>(q.w)},
            0.0f};
}

}  // namespace orrery::sim::ref
