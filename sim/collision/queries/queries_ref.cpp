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

// What a query computes of itself, once for all bodies.
struct Aim {
    const TreeKernels* kernels = &kTreeKernels;
    Way way{};
    Frame frame{};
    double wanted_m = kNowhere;  // a hit beyond it may be left out
};
Aim aim_of(const RayCast& query) { return {.way = way_of(query.translation)}; }
Aim aim_of(const ShapeCast& query) { return {.way = way_of(query.translation), .frame = frame_of(query.pose)}; }
Aim aim_of(const Overlap& query) { return {.frame = frame_of(query.pose)}; }
Aim aim_of(const ClosestPoint&) { return {}; }

// Whether all of the shape stays beyond a ball that goes from `start`, by more than any rounding.
bool passes_by(const Way& way, Point start, double radius, const QueryBody& body, const Shape& shape) {
    constexpr double kSlack_m = 1e-3, kRelativeSlack = 1e-6;
    if (shape.type == ShapeType::plane) return false;
    const Point to = wide(body.pose.position) - start;
    const double along = clamp(dot(to, way.direction), 0.0, way.length);
    const double reach = (radius + double(shape.bounding_radius)) * (1.0 + kRelativeSlack) + kSlack_m;
    return length_squared(to - way.direction * along) > reach * reach;
}

bool ask_body(const RayCast& query, const Aim& aim, const Shape*, const QueryBody& body, const Shape& shape,
              QueryHit& hit) {
    if (passes_by(aim.way, wide(query.origin), 0.0, body, shape)) return false;
    const Frame frame = frame_of(body.pose);
    const Ray ray{to_local(frame, wide(query.origin)), transpose_times(frame.rotation, aim.way.direction),
                  aim.way.length, aim.kernels};
    SurfacePoint at;
    if (!shape_queries(shape.type).ray(shape, ray, at)) return false;
    return finish_cast(aim.way, frame, at, wide(query.origin), body, hit);
}

bool ask_body(const ShapeCast& query, const Aim& aim, const Shape* probe, const QueryBody& body, const Shape& shape,
              QueryHit& hit) {
    const Point start = wide(query.pose.position);
    if (passes_by(aim.way, start, probe->bounding_radius, body, shape)) return false;
    const Frame frame = frame_of(body.pose);
    const Probe posed{*probe,
                      shape_queries(probe->type),
                      relative_frame(frame, aim.frame),
                      rounding_of(query.pose.position, body.pose.position, *probe),
                      aim.wanted_m,
                      aim.kernels};
    SurfacePoint at;
    if (!shape_cast(shape, posed, transpose_times(frame.rotation, aim.way.direction), aim.way.length, at)) return false;
    return finish_cast(aim.way, frame, at, start, body, hit);
}

bool ask_body(const Overlap&, const Aim& aim, const Shape* probe, const QueryBody& body, const Shape& shape,
              QueryHit& hit) {
    const Frame frame = frame_of(body.pose);
    const Probe posed{.shape = *probe,
                      .queries = shape_queries(probe->type),
                      .frame = relative_frame(frame, aim.frame),
                      .kernels = aim.kernels};
    hit = {};
    hit.body = body.id;
    return shape_overlap(shape, posed, hit.child);
}

bool ask_body(const ClosestPoint& query, const Aim&, const Shape*, const QueryBody& body, const Shape& shape,
              QueryHit& hit) {
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

// Collects hits as the mode asks.
template <class Query>
class Search {
  public:
    Search(const Query& query, const TreeKernels& kernels, const Shape* probe, std::span<const Shape> shapes,
           std::vector<QueryHit>& hits)
        : aim(aim_of(query)), query_(query), probe_(probe), shapes_(shapes), hits_(hits), first_(hits.size()) {
        aim.kernels = &kernels;
    }

    bool wants(double distance) const { return static_cast<float>(distance) <= limit_; }
    // Where the answer depends on the order in which bodies are met; else it may be one of rounded distances.
    bool is_exact() const { return query_.mode == HitMode::any; }
    // How far away something may be that is wanted.
    float reach(double most) const { return min(limit_, static_cast<float>(most)); }
    void test(const QueryBody& body) {
        QueryHit hit;
        if (!query_sees(query_.filter, body) || !ask_body(query_, aim, probe_, body, shapes_[body.shape], hit)) return;
        if (query_.mode == HitMode::all || hits_.size() == first_)
            hits_.push_back(hit);
        else if (query_.mode == HitMode::closest && comes_before(hit, hits_.back()))
            hits_.back() = hit;
        if (query_.mode == HitMode::all) return;
        limit_ = query_.mode == HitMode::any ? -kNoLimit : hits_.back().distance * kOutward;
        aim.wanted_m = limit_;
    }
    void sort() { std::sort(hits_.begin() + static_cast<std::ptrdiff_t>(first_), hits_.end(), comes_before); }

  protected:
    Aim aim;

  private:
    const Query& query_;
    const Shape* probe_;
    std::span<const Shape> shapes_;
    std::vector<QueryHit>& hits_;
    std::size_t first_;
    float limit_ = kNoLimit;  // what is farther away than this is not wanted
};

constexpr Point kOrigin{0.0, 0.0, 0.0};

struct RaySearch : Search<RayCast> {
    Slabs slabs;
    RaySearch(const RayCast& q, const TreeKernels& by, const Shape* probe, std::span<const Shape> shapes,
              std::vector<QueryHit>& hits)
        : Search(q, by, probe, shapes, hits),
          slabs(wide(q.origin), kOrigin, kOrigin, aim.way.direction, aim.way.length) {}
    std::uint32_t boxes(const TreeKernels& kernels, const TreeNode& node, float about[16]) const {
        return slabs.bits(kernels, node, reach(aim.way.length), about);
    }
    double nearest(const TreeNode& node, std::uint32_t lane) const { return slabs.enter(node, lane); }
};

// The box of a posed shape, about a point.
Box3 box_about(Point at, const Shape& shape, const Frame& frame) {
    Box3 box{};
    shape_bounds(shape, frame, box);
    return {box.min - at, box.max - at};
}

// The box that grows by the probe's is met where the probe's box meets it.
struct CastSearch : Search<ShapeCast> {
    Box3 box;
    Slabs slabs;
    CastSearch(const ShapeCast& q, const TreeKernels& by, const Shape* probe, std::span<const Shape> shapes,
               std::vector<QueryHit>& hits)
        : Search(q, by, probe, shapes, hits),
          box(box_about(wide(q.pose.position), *probe, aim.frame)),
          slabs(wide(q.pose.position), box.min, box.max, aim.way.direction, aim.way.length) {}
    std::uint32_t boxes(const TreeKernels& kernels, const TreeNode& node, float about[16]) const {
        return slabs.bits(kernels, node, reach(aim.way.length), about);
    }
    double nearest(const TreeNode& node, std::uint32_t lane) const { return slabs.enter(node, lane); }
};

struct OverlapSearch : Search<Overlap> {
    BoxOverlap overlap;
    static constexpr bool is_exact() { return true; }
    OverlapSearch(const Overlap& q, const TreeKernels& by, const Shape* probe, std::span<const Shape> shapes,
                  std::vector<QueryHit>& hits)
        : Search(q, by, probe, shapes, hits), overlap(box_about(kOrigin, *probe, aim.frame)) {}
    std::uint32_t boxes(const TreeKernels& kernels, const TreeNode& node, float*) const {
        return overlap.bits(kernels, node);
    }
    double nearest(const TreeNode& node, std::uint32_t lane) const {
        return overlap.meets(node, lane) ? 0.0 : kNowhere;
    }
};

struct ClosestSearch : Search<ClosestPoint> {
    Point point;
    float at[3];
    double most;
    static constexpr bool is_exact() { return true; }
    ClosestSearch(const ClosestPoint& q, const TreeKernels& by, const Shape* probe, std::span<const Shape> shapes,
                  std::vector<QueryHit>& hits)
        : Search(q, by, probe, shapes, hits),
          point(wide(q.point)),
          at{q.point.x, q.point.y, q.point.z},
          most(q.max_distance) {}
    std::uint32_t boxes(const TreeKernels& kernels, const TreeNode& node, float*) const {
        return kernels.reach_bits(node, at, max(reach(most), 0.0f));
    }
    // Inside a box the surface may be at any depth.
    double nearest(const TreeNode& node, std::uint32_t lane) const {
        const Point low = low_of(node, lane), high = high_of(node, lane);
        const Point way{max(max(low.x - point.x, point.x - high.x), 0.0),
                        max(max(low.y - point.y, point.y - high.y), 0.0),
                        max(max(low.z - point.z, point.z - high.z), 0.0)};
        const double distance = length(way);
        if (distance > most) return kNowhere;
        return distance > 0.0 ? distance : -double(kMaxQueryCoordinate_m);
    }
};

template <class SearchType, class Query>
void run(const Query& query, const Shape* probe, const Snapshot& snapshot, std::span<const Shape> shapes,
         std::vector<QueryHit>& hits) {
    SearchType of(query, *snapshot.moving.kernels, probe, shapes, hits);
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

bool ask_body(const RayCast& query, const Shape* probe, const QueryBody& body, const Shape& shape, QueryHit& hit) {
    return ask_body(query, aim_of(query), probe, body, shape, hit);
}
bool ask_body(const ShapeCast& query, const Shape* probe, const QueryBody& body, const Shape& shape, QueryHit& hit) {
    return ask_body(query, aim_of(query), probe, body, shape, hit);
}
bool ask_body(const Overlap& query, const Shape* probe, const QueryBody& body, const Shape& shape, QueryHit& hit) {
    return ask_body(query, aim_of(query), probe, body, shape, hit);
}
bool ask_body(const ClosestPoint& query, const Shape* probe, const QueryBody& body, const Shape& shape, QueryHit& hit) {
    return ask_body(query, aim_of(query), probe, body, shape, hit);
}

void find_overlaps(const Overlap& query, const Shape& shape, const BodyTree& tree, std::span<const Shape> shapes,
                   std::vector<QueryHit>& hits) {
    if (can_probe(shape)) {
        OverlapSearch of(query, *tree.kernels, &shape, shapes, hits);
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
