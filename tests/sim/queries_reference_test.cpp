// Guards: queries say the truth. An independent double-precision reference gives the distance of two posed shapes; what
// a query finds has to be where that distance is zero, and nothing may be found later than the first such place.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sim/collision/queries/queries.h"
#include "tests/support/about.h"
#include "tests/support/body_worlds.h"
#include "tests/support/convex_reference.h"
#include "tests/support/seed.h"

namespace orrery::sim {
namespace {

using test::V;

const int kQueries = orrery::test::sampled(10'000);
constexpr double kRound = 2e-6;  // m: results are single precision, a few metres from the origin
constexpr double kReal = 1e-6;   // m: nearer to a touch either answer is right
constexpr double kGraze =
    4e-6;  // m: a cast that would sink in by less may miss, so far from the origin and on such ways

const ShapeDef kSphere{{}, ShapeType::sphere, 0.4f, 0.5f, {}},
    kBox{{}, ShapeType::box, 0.5f, 0.5f, {0.6f, 0.25f, 0.4f}}, kCapsule{{}, ShapeType::capsule, 0.2f, 0.5f, {}},
    kPlane{{}, ShapeType::plane, 0.5f, 0.5f, {}};

Vec3 plain(V v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }

// A shape at a pose, for the product and for the reference.
struct Posed {
    Shape shape;
    QueryBody body;
    test::Core core;
    V up;

    Posed(const ShapeDef& def, const Pose& pose) : shape(*make_shape(def, "shape")) {
        body.pose = pose;
        body.id = {7, 3};
        core = test::make_core(shape, pose);
        up = core.axis[1];
    }
    bool is_plane() const { return shape.type == ShapeType::plane; }
};

// Signed distance of a point to the surface; of a box from inside to its nearest face.
double distance_to(const Posed& p, V at) {
    if (p.is_plane()) return dot(at - p.core.centre, p.up);
    const double outside = test::point_to_core(at, p.core);
    if (p.shape.type != ShapeType::box || outside > 1e-12) return outside - p.core.radius;
    double depth = 1e300;
    for (int i = 0; i < 3; ++i)
        depth = std::min(depth, p.core.half[i] - std::fabs(dot(at - p.core.centre, p.core.axis[i])));
    return -depth;
}

// Distance of two shapes' surfaces, the second moved by `by`.
double distance_to(const Posed& p, test::Core probe, V by) {
    probe.centre = probe.centre + by;
    for (V& c : probe.corners) c = c + by;
    for (auto& e : probe.edges) e = {e.first + by, e.second + by};
    if (!p.is_plane()) return test::separation(p.core, probe).distance;
    double low = 1e300;
    for (const V c : probe.corners) low = std::min(low, dot(c - p.core.centre, p.up));
    return low - probe.radius;
}

// The least of a convex function on [0, 1].
template <class F>
double least(F f) {
    double low = 0, high = 1;
    for (int i = 0; i < 60 && high - low > 1e-7; ++i) {
        const double a = low + (high - low) * 0.45, b = low + (high - low) * 0.55;
        if (f(a) < f(b))
            high = b;
        else
            low = a;
    }
    return std::min({f(low), f(high), f(1.0), f(0.0)});
}

struct Tally {
    int hits = 0, misses = 0, inside = 0;
};

// distance(s): of the two at part s of the way. A hit has to be at the first zero of it; a way on which they come no
// deeper than `may_miss` needs none.
template <class F>
void check_cast(bool hit, const QueryHit& found, V way, F distance, double may_miss, Tally& tally) {
    const double start = distance(0), whole = length(way);
    if (std::fabs(start) < kReal) return;
    if (start < 0) {
        ++tally.inside;
        REQUIRE(hit);
        CHECK(found.inside);
        CHECK(found.distance == 0.0f);
        CHECK(found.fraction == 0.0f);
        CHECK(found.normal == Vec3{});
        return;
    }
    if (!hit) {
        ++tally.misses;
        CHECK(least(distance) > -may_miss);
        return;
    }
    ++tally.hits;
    CHECK_FALSE(found.inside);
    CHECK(found.fraction >= 0.0f);
    CHECK(found.fraction <= 1.0f);
    CHECK(found.distance == test::about(found.fraction * whole, 1e-6));
    const double s = found.fraction;
    // Close to the touch, never beyond it; and still closing there, so that it is the first of the two zeros of a
    // convex function.
    CHECK(std::fabs(distance(s)) < 2 * kRound);
    CHECK(distance(std::max(0.0, s - 1e-3)) > distance(s) - kReal);
    CHECK(length(test::vec(found.normal)) == test::about(1.0, 1e-5));
    CHECK(dot(test::vec(found.normal), way) < 1e-5 * whole);
}

Pose random_pose(test::Random& random, float extent) {
    const Vec3 at = random.vec(extent);
    const Quat turn = random.rotation();
    return {at, turn};
}

// Half of the ways lead to a point inside the target.
Vec3 random_way(test::Random& random, Vec3 from, Vec3 target) {
    const Vec3 any = random.vec(4.0f), near = random.vec(0.4f);
    const float far = random.in(0.8f, 2.0f);
    if (random.below(2) == 0) return any;
    return {(target.x + near.x - from.x) * far, (target.y + near.y - from.y) * far, (target.z + near.z - from.z) * far};
}

}  // namespace

TEST_CASE("a ray hits a shape where its surface is first met") {
    for (const ShapeDef& def : {kSphere, kBox, kCapsule, kPlane}) {
        test::Random random(test::seeded(11 + static_cast<std::uint64_t>(def.type)));
        Tally tally;
        for (int n = 0; n < kQueries; ++n) {
            const Posed target(def, random_pose(random, 1.0f));
            RayCast ray;
            ray.origin = random.vec(1.2f);
            ray.translation = random_way(random, ray.origin, target.body.pose.position);
            QueryHit hit;
            const bool found = ref::ask_body(ray, nullptr, target.body, target.shape, hit);
            const V from = test::vec(ray.origin), way = test::vec(ray.translation);
            CAPTURE(n);
            check_cast(
                found, hit, way, [&](double s) { return distance_to(target, from + s * way); }, kReal, tally);
            if (!found || hit.inside) continue;
            CHECK(std::fabs(distance_to(target, test::vec(hit.point))) < kRound);
            CHECK(length(test::vec(hit.point) - (from + double(hit.fraction) * way)) < 2 * kRound);
            // One micrometre along the normal is as much farther from the surface.
            CHECK(distance_to(target, test::vec(hit.point) + 1e-3 * test::vec(hit.normal)) == test::about(1e-3, 0.01));
        }
        CAPTURE(static_cast<int>(def.type));
        CHECK(tally.hits > kQueries / 8);
        CHECK(tally.misses > kQueries / 10);
        CHECK(tally.inside > kQueries / 200);
    }
}

TEST_CASE("the closest point of a shape is on its surface, and none is nearer") {
    for (const ShapeDef& def : {kSphere, kBox, kCapsule, kPlane}) {
        test::Random random(test::seeded(31 + static_cast<std::uint64_t>(def.type)));
        int inside = 0;
        for (int n = 0; n < kQueries; ++n) {
            const Posed target(def, random_pose(random, 1.0f));
            ClosestPoint query;
            query.point = random.vec(1.2f);
            QueryHit hit;
            CAPTURE(n);
            REQUIRE(ref::ask_body(query, nullptr, target.body, target.shape, hit));
            const V at = test::vec(query.point);
            const double truth = distance_to(target, at);
            CHECK(std::fabs(hit.distance - truth) < kRound);
            CHECK(hit.inside == (hit.distance < 0.0f));
            CHECK(std::fabs(distance_to(target, test::vec(hit.point))) < kRound);
            CHECK(length(test::vec(hit.point) + double(hit.distance) * test::vec(hit.normal) - at) < 2 * kRound);
            inside += hit.inside ? 1 : 0;
            query.max_distance = std::fabs(hit.distance);
            CHECK(ref::ask_body(query, nullptr, target.body, target.shape, hit));
            query.max_distance = std::max(0.0f, static_cast<float>(truth) - 1e-4f);
            CHECK(ref::ask_body(query, nullptr, target.body, target.shape, hit) == (truth <= query.max_distance));
        }
        CHECK(inside > kQueries / 150);
    }
}

TEST_CASE("shapes overlap where their surfaces' distance is negative") {
    for (const ShapeDef& def : {kSphere, kBox, kCapsule, kPlane}) {
        for (const ShapeDef& probe_def : {kSphere, kBox, kCapsule}) {
            test::Random random(test::seeded(51 + 4 * static_cast<std::uint64_t>(def.type) +
                                             static_cast<std::uint64_t>(probe_def.type)));
            int both[2] = {};
            for (int n = 0; n < kQueries; ++n) {
                const Posed target(def, random_pose(random, 0.6f));
                const Posed probe(probe_def, random_pose(random, 0.6f));
                Overlap query;
                query.pose = probe.body.pose;
                QueryHit hit;
                const bool found = ref::ask_body(query, &probe.shape, target.body, target.shape, hit);
                const double truth = distance_to(target, probe.core, {});
                CAPTURE(n);
                CAPTURE(truth);
                if (std::fabs(truth) > kReal) CHECK(found == (truth < 0));
                ++both[found];
            }
            CHECK(both[0] > kQueries / 12);
            CHECK(both[1] > kQueries / 12);
        }
    }
}

TEST_CASE("a cast shape stops where it first touches") {
    const int queries = test::few() ? kQueries / 5 : kQueries;
    for (const ShapeDef& def : {kSphere, kBox, kCapsule, kPlane}) {
        for (const ShapeDef& probe_def : {kSphere, kBox, kCapsule}) {
            test::Random random(test::seeded(91 + 4 * static_cast<std::uint64_t>(def.type) +
                                             static_cast<std::uint64_t>(probe_def.type)));
            Tally tally;
            for (int n = 0; n < queries; ++n) {
                const Posed target(def, random_pose(random, 1.0f));
                const Posed probe(probe_def, random_pose(random, 2.0f));
                ShapeCast query;
                query.pose = probe.body.pose;
                query.translation = random_way(random, query.pose.position, target.body.pose.position);
                QueryHit hit;
                const bool found = ref::ask_body(query, &probe.shape, target.body, target.shape, hit);
                const V way = test::vec(query.translation);
                CAPTURE(n);
                CAPTURE(static_cast<int>(def.type));
                CAPTURE(static_cast<int>(probe_def.type));
                check_cast(
                    found, hit, way, [&](double s) { return distance_to(target, probe.core, s * way); }, kGraze, tally);
                if (!found || hit.inside) continue;
                CHECK(std::fabs(distance_to(target, test::vec(hit.point))) < 2 * kRound);
                // The touched point is of the probe, too.
                test::Core stopped = probe.core;
                stopped.centre = stopped.centre + double(hit.fraction) * way;
                CHECK(std::fabs(test::point_to_core(test::vec(hit.point), stopped) - stopped.radius) < 5 * kRound);
            }
            CAPTURE(static_cast<int>(def.type));
            CAPTURE(static_cast<int>(probe_def.type));
            CHECK(tally.hits > queries / 8);
            CHECK(tally.misses > queries / 25);
            CHECK(tally.inside > queries / 200);
        }
    }
}

TEST_CASE("a cast passes no thin wall, however fast") {
    constexpr float kTick_s = 1.0f / 60.0f;
    test::Random random(test::seeded(131));
    const ShapeDef wall_def{{}, ShapeType::box, 0.5f, 0.5f, {2.0f, 2.0f, 0.005f}};
    for (const ShapeDef& probe_def :
         {ShapeDef{{}, ShapeType::sphere, 0.05f, 0.5f, {}}, ShapeDef{{}, ShapeType::sphere, 0.0005f, 0.5f, {}},
          ShapeDef{{}, ShapeType::box, 0.5f, 0.5f, {0.05f, 0.02f, 0.005f}},
          ShapeDef{{}, ShapeType::capsule, 0.005f, 0.5f, {}}}) {
        for (int n = 0; n < 2'000; ++n) {
            const Posed wall(wall_def, random_pose(random, 1000.0f));
            // From one side of the wall through its middle part to the other, at 300 m/s, or as far as casts go.
            const V normal = wall.core.axis[2];
            const double x = random.in(-1.0f, 1.0f), y = random.in(-1.0f, 1.0f), back = random.in(0.7f, 4.0f);
            const V middle = wall.core.centre + x * wall.core.axis[0] + y * wall.core.axis[1];
            const V from = test::vec(narrowed(middle - back * normal));
            ShapeCast query;
            query.pose = {plain(from), random.rotation()};
            query.translation = plain((random.below(2) == 0 ? 300.0 * kTick_s : 1e30) * normal);
            const Posed probe(probe_def, query.pose);
            QueryHit hit;
            CAPTURE(n);
            REQUIRE(ref::ask_body(query, &probe.shape, wall.body, wall.shape, hit));
            CHECK_FALSE(hit.inside);
            const double gap = distance_to(
                wall, probe.core,
                (double(hit.distance) / length(test::vec(query.translation))) * test::vec(query.translation));
            CHECK(std::fabs(gap) < 1e-4);  // single precision a kilometre from the origin
        }
    }
}

}  // namespace orrery::sim
