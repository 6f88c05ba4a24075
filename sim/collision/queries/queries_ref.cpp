// Each query is one small class for search-inl.h: the boxes that may hold an answer, and one body's answer.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/queries/queries.h"

#include <algorithm>
#include <tuple>

#include "sim/bodies/numbers.h"
#include "sim/collision/queries/search-inl.h"

namespace orrery::sim::ref {

namespace {

// Boxes hold their shapes with as much to spare: single precision rounds to 0.5 mm at the farthest bodies.
constexpr double kBoundsSlack_m = 1e-3;
// Rounding of two positions, as a part of the largest coordinate, and of a shape, as a part of its bounding radius.
constexpr double kRoundingOfPlace = 0x1p-23, kRoundingOfSize = 0x1p-23;
// What directions so small become: none.
constexpr double kNoDirection = 1e-290;

Point wide(Vec3 v) { return {v.x, v.y, v.z}; }
Vec3 narrow(Point p) { return {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)}; }

// The straight way of a cast: at most kMaxCastLength_m of it, which no body is beyond.
struct Way {
    Point direction{0.0, 0.0, 0.0};
    double whole = 0.0, length = 0.0;  // m: asked for, gone
};
Way way_of(Vec3 translation) {
    Way way;
    const Point t = wide(translation);
    way.whole = length(t);
    if (way.whole > 0.0) way.direction = t * (1.0 / way.whole);
    way.length = min(way.whole, double(kMaxCastLength_m));
    return way;
}

// Where the way enters the box, or kNowhere. An axis along which it does not move has the slopes of a very long way.
struct Slabs {
    Point origin, inverse;
    double length;

    Slabs(Point from, const Way& way) : origin(from), length(way.length) {
        const Point d = way.direction;
        inverse = {inverse_of(d.x), inverse_of(d.y), inverse_of(d.z)};
    }
    static double inverse_of(double d) { return abs(d) < kNoDirection ? 1e290 : 1.0 / d; }

    double enter(const Point& low, const Point& high) const {
        double near = 0.0, far = length;
        slab(low.x, high.x, origin.x, inverse.x, near, far);
        slab(low.y, high.y, origin.y, inverse.y, near, far);
        slab(low.z, high.z, origin.z, inverse.z, near, far);
        return near <= far ? near : kNowhere;
    }
    static void slab(double low, double high, double o, double inverse, double& near, double& far) {
        const double a = (low - o) * inverse, b = (high - o) * inverse;
        near = max(min(a, b), near);
        far = min(max(a, b), far);
    }
};

double largest(Vec3 v) { return max(max(abs(double(v.x)), abs(double(v.y))), abs(double(v.z))); }
double rounding_of(Vec3 probe, Vec3 body, const Shape& shape) {
    const double coordinate = max(largest(probe), largest(body));
    return coordinate * kRoundingOfPlace + double(shape.bounding_radius) * kRoundingOfSize;
}

bool finish_cast(const Way& way, const Frame& frame, const SurfacePoint& at, Point start, const QueryBody& body,
                 QueryHit& hit) {
    hit = {};
    hit.body = body.id;
    hit.child = at.child;
    hit.inside = at.inside;
    hit.point = narrow(at.inside ? start : to_outer(frame, at.point));
    hit.normal = at.inside ? Vec3{} : narrow(frame.rotation * at.normal);
    hit.distance = static_cast<float>(at.distance);
    hit.fraction = way.whole > 0.0 ? static_cast<float>(at.distance / way.whole) : 0.0f;
    return true;
}

bool comes_before(const QueryHit& a, const QueryHit& b) {
    return std::tuple(a.distance, a.body.index, a.child) < std::tuple(b.distance, b.body.index, b.child);
}

// Collects hits as the mode asks.
template <class Query>
class Search {
  public:
    Search(const Query& query, const Shape* probe, std::span<const Shape> shapes, std::vector<QueryHit>& hits)
        : query_(query), probe_(probe), shapes_(shapes), hits_(hits), first_(hits.size()) {}

    bool wants(double distance) const {
        if (hits_.size() == first_ || query_.mode == HitMode::all) return true;
        return query_.mode == HitMode::closest && static_cast<float>(distance) <= hits_.back().distance;
    }
    void test(const QueryBody& body) {
        QueryHit hit;
        if (!query_sees(query_.filter, body) || !ask_body(query_, probe_, body, shapes_[body.shape], hit)) return;
        if (query_.mode == HitMode::all || hits_.size() == first_)
            hits_.push_back(hit);
        else if (query_.mode == HitMode::closest && comes_before(hit, hits_.back()))
            hits_.back() = hit;
    }
    void sort() { std::sort(hits_.begin() + static_cast<std::ptrdiff_t>(first_), hits_.end(), comes_before); }

  private:
    const Query& query_;
    const Shape* probe_;
    std::span<const Shape> shapes_;
    std::vector<QueryHit>& hits_;
    std::size_t first_;
};

struct RaySearch : Search<RayCast> {
    Slabs slabs;
    RaySearch(const RayCast& q, const Shape* probe, std::span<const Shape> shapes, std::vector<QueryHit>& hits)
        : Search(q, probe, shapes, hits), slabs(wide(q.origin), way_of(q.translation)) {}
    double nearest(const Point& low, const Point& high) const { return slabs.enter(low, high); }
};

// The box that grows by the probe's is met where the probe's box meets it.
struct CastSearch : Search<ShapeCast> {
    Slabs slabs;
    Point below{}, above{};
    CastSearch(const ShapeCast& q, const Shape* probe, std::span<const Shape> shapes, std::vector<QueryHit>& hits)
        : Search(q, probe, shapes, hits), slabs(wide(q.pose.position), way_of(q.translation)) {
        Box3 box{};
        shape_bounds(*probe, frame_of(q.pose), box);
        below = box.min - wide(q.pose.position), above = box.max - wide(q.pose.position);
    }
    double nearest(const Point& low, const Point& high) const { return slabs.enter(low - above, high - below); }
};

struct OverlapSearch : Search<Overlap> {
    Box3 box{};
    OverlapSearch(const Overlap& q, const Shape* probe, std::span<const Shape> shapes, std::vector<QueryHit>& hits)
        : Search(q, probe, shapes, hits) {
        shape_bounds(*probe, frame_of(q.pose), box);
    }
    double nearest(const Point& low, const Point& high) const {
        const bool apart = low.x > box.max.x || low.y > box.max.y || low.z > box.max.z || high.x < box.min.x ||
                           high.y < box.min.y || high.z < box.min.z;
        return apart ? kNowhere : 0.0;
    }
};

struct ClosestSearch : Search<ClosestPoint> {
    Point point;
    double reach;
    ClosestSearch(const ClosestPoint& q, const Shape* probe, std::span<const Shape> shapes, std::vector<QueryHit>& hits)
        : Search(q, probe, shapes, hits), point(wide(q.point)), reach(q.max_distance) {}
    // Inside a box the surface may be at any depth.
    double nearest(const Point& low, const Point& high) const {
        const Point way{max(max(low.x - point.x, point.x - high.x), 0.0),
                        max(max(low.y - point.y, point.y - high.y), 0.0),
                        max(max(low.z - point.z, point.z - high.z), 0.0)};
        const double distance = length(way);
        if (distance > reach) return kNowhere;
        return distance > 0.0 ? distance : -double(kMaxQueryCoordinate_m);
    }
};

template <class SearchType, class Query>
void run(const Query& query, const Shape* probe, const Snapshot& snapshot, std::span<const Shape> shapes,
         std::vector<QueryHit>& hits) {
    SearchType of(query, probe, shapes, hits);
    search(snapshot, of);
    if (query.mode == HitMode::all) of.sort();
}

bool finite(Vec3 v) { return within(v, kNoLimit); }
bool placed(Vec3 origin) { return within(origin, kMaxQueryCoordinate_m); }
bool placed(const Pose& pose) {
    Quat q = pose.orientation;
    return placed(pose.position) && make_unit(q);
}

}  // namespace

bool query_bounds(const Shape& shape, const Pose& pose, BoundsRecord& bounds) {
    Box3 box{};
    if (!shape_bounds(shape, frame_of(pose), box)) return false;
    const Vec3 low = narrow(box.min - Point{kBoundsSlack_m, kBoundsSlack_m, kBoundsSlack_m});
    const Vec3 high = narrow(box.max + Point{kBoundsSlack_m, kBoundsSlack_m, kBoundsSlack_m});
    bounds = {{low.x, low.y, low.z}, 0.0f, {high.x, high.y, high.z}, 0.0f};
    return true;
}

bool query_holds(const RayCast& q) { return placed(q.origin) && finite(q.translation); }
bool query_holds(const ShapeCast& q) { return placed(q.pose) && finite(q.translation); }
bool query_holds(const Overlap& q) { return placed(q.pose); }
bool query_holds(const ClosestPoint& q) { return placed(q.point) && within(q.max_distance, 0.0f, kNoLimit); }

bool can_probe(const Shape& shape) { return shape_queries(shape.type).support != nullptr; }

bool query_sees(const QueryFilter& filter, const QueryBody& body) {
    return (body.types & ~std::uint32_t(filter.types)) == 0 && (filter.category & body.mask) != 0 &&
           (filter.mask & body.category) != 0 && filter.ignore != body.id;
}

bool ask_body(const RayCast& query, const Shape*, const QueryBody& body, const Shape& shape, QueryHit& hit) {
    const Way way = way_of(query.translation);
    const Frame frame = frame_of(body.pose);
    SurfacePoint at;
    if (!shape_queries(shape.type)
             .ray(shape,
                  {to_local(frame, wide(query.origin)), transpose_times(frame.rotation, way.direction), way.length},
                  at))
        return false;
    return finish_cast(way, frame, at, wide(query.origin), body, hit);
}

bool ask_body(const ShapeCast& query, const Shape* probe, const QueryBody& body, const Shape& shape, QueryHit& hit) {
    const Way way = way_of(query.translation);
    const Frame frame = frame_of(body.pose);
    const Probe posed{*probe, shape_queries(probe->type), relative_frame(frame, frame_of(query.pose)),
                      rounding_of(query.pose.position, body.pose.position, *probe)};
    SurfacePoint at;
    if (!shape_cast(shape, posed, transpose_times(frame.rotation, way.direction), way.length, at)) return false;
    return finish_cast(way, frame, at, wide(query.pose.position), body, hit);
}

bool ask_body(const Overlap& query, const Shape* probe, const QueryBody& body, const Shape& shape, QueryHit& hit) {
    const Frame frame = frame_of(body.pose);
    const Probe posed{*probe, shape_queries(probe->type), relative_frame(frame, frame_of(query.pose))};
    hit = {};
    hit.body = body.id;
    return shape_overlap(shape, posed, hit.child);
}

bool ask_body(const ClosestPoint& query, const Shape*, const QueryBody& body, const Shape& shape, QueryHit& hit) {
    const Frame frame = frame_of(body.pose);
    const SurfacePoint at = shape_queries(shape.type).closest(shape, to_local(frame, wide(query.point)));
    hit = {};
    hit.distance = static_cast<float>(at.distance);
    if (hit.distance > query.max_distance) return false;
    hit.body = body.id;
    hit.child = at.child;
    hit.inside = at.distance < 0.0;
    hit.point = narrow(to_outer(frame, at.point));
    hit.normal = narrow(frame.rotation * at.normal);
    return true;
}

void find_overlaps(const Overlap& query, const Shape& shape, const BodyTree& tree, std::span<const Shape> shapes,
                   std::vector<QueryHit>& hits) {
    if (can_probe(shape)) {
        OverlapSearch of(query, &shape, shapes, hits);
        search(tree, of);
    } else {
        const Frame frame = frame_of(query.pose);
        for (const QueryBody& body : tree.bodies) {
            if (!query_sees(query.filter, body) ||
                !shapes_overlap(shape, frame, shapes[body.shape], frame_of(body.pose)))
                continue;
            QueryHit hit;
            hit.body = body.id;
            hits.push_back(hit);
        }
    }
    std::sort(hits.begin(), hits.end(), comes_before);
}

void ask(const RayCast& query, const Shape* probe, const Snapshot& snapshot, std::span<const Shape> shapes,
         std::vector<QueryHit>& hits) {
    run<RaySearch>(query, probe, snapshot, shapes, hits);
}
void ask(const ShapeCast& query, const Shape* probe, const Snapshot& snapshot, std::span<const Shape> shapes,
         std::vector<QueryHit>& hits) {
    run<CastSearch>(query, probe, snapshot, shapes, hits);
}
void ask(const Overlap& query, const Shape* probe, const Snapshot& snapshot, std::span<const Shape> shapes,
         std::vector<QueryHit>& hits) {
    run<OverlapSearch>(query, probe, snapshot, shapes, hits);
}
void ask(const ClosestPoint& query, const Shape* probe, const Snapshot& snapshot, std::span<const Shape> shapes,
         std::vector<QueryHit>& hits) {
    run<ClosestSearch>(query, probe, snapshot, shapes, hits);
}

}  // namespace orrery::sim::ref
