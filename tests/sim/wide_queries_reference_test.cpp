// Guards: the search over the lanes leaves nothing out. Of a node's sixteen boxes each that double precision says is
// met has its bit, whatever the way; a query through the tree says bit for bit what an exhaustive search over all
// bodies says; a batch says what its queries say one by one; and all of it is the same on every target.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "server/room/thread_pool.h"
#include "sim/collision/queries/box_tests.h"
#include "sim/collision/queries/queries.h"
#include "tests/support/body_worlds.h"
#include "tests/support/seed.h"
#include "tests/support/varied_world.h"

namespace orrery::sim {
namespace {

using test::Random;

constexpr std::uint32_t kWays = 10;

// A way of each kind from about a body at `at`, whose shape is about a metre long.
void aim(Random& random, std::uint32_t kind, Vec3 at, float extent, Vec3& from, Vec3& way) {
    from = random.vec(extent), way = random.vec(2.0f * extent);
    from = {from.x + at.x, from.y + at.y, from.z + at.z};
    float* const w[3] = {&way.x, &way.y, &way.z};
    const std::uint32_t axis = random.below(3);
    switch (kind) {
        case 1:  // along an axis
            *w[(axis + 1) % 3] = 0.0f, *w[(axis + 2) % 3] = -0.0f;
            break;
        case 2:  // at right angles to one
            *w[axis] = 0.0f;
            break;
        case 3:  // nearly so
            *w[axis] = random.below(2) == 0 ? 1e-30f : -std::numeric_limits<float>::denorm_min();
            break;
        case 4:  // from inside
            from = at;
            break;
        case 5:  // farther than any body
            way = {way.x * 1e30f, way.y * 1e30f, way.z * 1e30f};
            break;
        case 6:  // nowhere
            way = {};
            break;
        case 7:  // along a side of a box or a ball of half a metre
            from = {at.x + 0.5f, at.y - 3.0f, at.z}, way = {0.0f, 6.0f, 0.0f};
            break;
        case 8:  // to the body from afar
            from = {at.x + 60'000.0f * (random.below(2) == 0 ? 1.0f : -1.0f), at.y + random.in(-1, 1), at.z};
            if (from.x > kMaxQueryCoordinate_m || from.x < -kMaxQueryCoordinate_m) from.x = at.x - 50'000.0f;
            way = {(at.x - from.x) * 1.5f, (at.y - from.y) * 1.5f, 0.0f};
            break;
        case 9:  // a hair's breadth
            way = {way.x * 1e-30f, way.y * 1e-38f, way.z * 1e-3f};
            break;
        default:
            break;
    }
}

// Boxes of all sizes, some without extent, some lanes empty.
TreeNode random_node(Random& random, Vec3 at) {
    TreeNode node;
    for (std::uint32_t k = 0; k < 16; ++k) {
        const Vec3 centre = random.vec(4.0f);
        const float size = random.below(4) == 0 ? 0.0f : random.in(0.0f, 2.0f);
        const float c[3] = {at.x + centre.x, at.y + centre.y, at.z + centre.z};
        const bool empty = random.below(5) == 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            node.min[axis][k] = empty ? 3e38f : c[axis] - size;
            node.max[axis][k] = empty ? -3e38f : c[axis] + size;
        }
    }
    return node;
}

std::uint32_t bit(bool set, std::uint32_t k) { return set ? 1u << k : 0u; }

// Through the planes of a box, which the way then never leaves.
void onto_a_plane(Random& random, const TreeNode& node, Vec3& from) {
    const std::uint32_t k = random.below(16);
    if (node.min[0][k] > node.max[0][k]) return;
    from.x = random.below(2) == 0 ? node.min[0][k] : node.max[0][k];
}

std::string bytes_of(std::span<const QueryHit> hits) {
    std::string text;
    const auto put = [&](const auto& value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (const QueryHit& h : hits) {
        put(h.body), put(h.child), put(h.inside), put(h.despawned);
        put(h.distance), put(h.fraction), put(h.point), put(h.normal);
    }
    return text;
}

}  // namespace

TEST_CASE("no box of a node that a way meets is missed, on any target, and few others are let through") {
    Random random(test::seeded(1));
    const int ways = test::sampled(8'000);
    std::uint64_t met = 0, passed = 0;
    for (int n = 0; n < ways; ++n) {
        const float far = n % 3 == 0 ? 0.0f : n % 3 == 1 ? 100.0f : 4000.0f;
        const Vec3 at{far, -far, 0.5f * far};
        const TreeNode node = random_node(random, at);
        Vec3 from, translation;
        aim(random, static_cast<std::uint32_t>(n) % kWays, at, 4.0f, from, translation);
        if (random.below(4) == 0) onto_a_plane(random, node, from);
        const ref::Point t{translation.x, translation.y, translation.z}, origin{from.x, from.y, from.z};
        const double whole = ref::length(t), length = std::min(whole, double(kMaxCastLength_m));
        const ref::Point direction = whole > 0.0 ? t * (1.0 / whole) : ref::Point{0.0, 0.0, 0.0};
        const double growth = n % 2 == 0 ? 0.0 : 0.3;  // of a ray, of a cast
        const ref::Slabs slabs(origin, {-growth, -growth, -growth}, {growth, growth, growth}, direction, length);
        const ref::RayBoxes ray(ref::Ray{origin, direction, length});
        const ref::Box3 box{origin, {origin.x + 1.0, origin.y + 1.0, origin.z + 1.0}};
        const ref::BoxOverlap overlap(box);
        std::uint32_t first[4] = {};
        for (const Target target : available_targets()) {
            const TreeKernels& kernels = *tree_kernels_for(target);
            float enter[16] = {};
            const std::uint32_t bits[4] = {slabs.bits(kernels, node, static_cast<float>(length), enter),
                                           ray.bits(kernels, node, length), overlap.bits(kernels, node),
                                           kernels.reach_bits(node, &from.x, 1.0f)};
            CAPTURE(n);
            CAPTURE(std::string(target_name(target)));
            if (target == available_targets()[0]) std::copy_n(bits, 4, first);
            CHECK(std::equal(bits, bits + 4, first));
            for (std::uint32_t k = 0; k < 16; ++k) {
                const bool is_box = node.min[0][k] <= node.max[0][k];
                const double exact = is_box ? slabs.enter(node, k) : ref::kNowhere;
                const std::uint32_t one = 1u << k;
                if (exact < ref::kNowhere) CHECK((bits[0] & one) != 0);
                if (exact < ref::kNowhere) CHECK(double(enter[k]) <= exact * double(kOutward));
                CHECK((bit(is_box && ray.meets(node, k, length), k) & ~bits[1]) == 0);
                CHECK((bit(is_box && overlap.meets(node, k), k) & ~bits[2]) == 0);
                if (!is_box) CHECK(((bits[0] | bits[1] | bits[2] | bits[3]) & one) == 0);
                met += exact < ref::kNowhere, passed += (bits[0] & one) != 0;
                const ref::Point low = ref::low_of(node, k), high = ref::high_of(node, k);
                const ref::Point d{std::max({low.x - origin.x, origin.x - high.x, 0.0}),
                                   std::max({low.y - origin.y, origin.y - high.y, 0.0}),
                                   std::max({low.z - origin.z, origin.z - high.z, 0.0})};
                if (is_box && ref::length(d) <= 1.0) CHECK((bits[3] & one) != 0);
                if (ref::length(d) > 1.001) CHECK((bits[3] & one) == 0);
            }
        }
    }
    CHECK(met > static_cast<std::uint64_t>(ways));
    CHECK(passed >= met);
    CHECK(passed < met + met / 50);
}

namespace {

// Shapes of all types, in a crowd about `at`.
test::TestBodies mixed_crowd(std::uint32_t count, float extent, Vec3 at, std::uint64_t seed) {
    Random random(test::seeded(seed));
    test::TestBodies world;
    std::vector<std::uint32_t> shapes{world.sphere(0.5f), world.box(0.5f, 0.5f, 0.5f), world.capsule(0.2f, 0.5f),
                                      world.shape(test::cylinder(0.4f, 0.3f)),
                                      world.shape(test::hull_of(seed, 12, {0.5f, 0.4f, 0.6f}))};
    const ShapeDef compound = ShapeDef::compound({{0, {{0.6f, 0.0f, 0.0f}, {}}}, {1, {{-0.6f, 0.0f, 0.1f}, {}}}});
    world.shapes.push_back(*make_shape(compound, "shape", world.shapes));
    shapes.push_back(static_cast<std::uint32_t>(world.shapes.size() - 1));
    ShapeDef field;
    field.type = ShapeType::height_field;
    field.columns = 24;
    for (int i = 0; i < 24 * 24; ++i) field.heights.push_back(random.in(0.0f, 0.5f));
    const std::uint32_t ground = world.shape(field), plane = world.plane();
    world.add(ground, 0, {{at.x, at.y - 0.5f * extent, at.z}, {}});
    world.add(plane, 0, {{at.x, at.y - extent, at.z}, {}});
    for (std::uint32_t i = 0; i < count; ++i) {
        const Vec3 by = random.vec(extent);
        const Quat turn = random.below(3) == 0 ? Quat{} : random.rotation();
        world.add(shapes[random.below(static_cast<std::uint32_t>(shapes.size()))],
                  random.below(3) == 0 ? std::uint8_t(0) : std::uint8_t(kBodyDynamic),
                  {{at.x + by.x, at.y + by.y, at.z + by.z}, turn});
    }
    return world;
}

QueryBody query_body(const test::TestBodies& world, std::uint32_t i) {
    QueryBody body;
    const PoseRecord& p = world.bodies.pose[i];
    body.pose = {{p.position[0], p.position[1], p.position[2]},
                 {p.orientation[0], p.orientation[1], p.orientation[2], p.orientation[3]}};
    body.id = {i, world.bodies.generation[i]};
    body.shape = world.bodies.info(i).shape;
    return body;
}

// Every body in turn: all hits, by distance and index.
template <class Query>
std::vector<QueryHit> exhaustive(const test::TestBodies& world, const Query& query, const Shape* probe) {
    std::vector<QueryHit> hits;
    for (std::uint32_t i = 1; i < world.bodies.size(); ++i) {
        const QueryBody body = query_body(world, i);
        QueryHit hit;
        if (ref::ask_body(query, probe, body, world.shapes[body.shape], hit)) hits.push_back(hit);
    }
    std::sort(hits.begin(), hits.end(), [](const QueryHit& a, const QueryHit& b) {
        return a.distance != b.distance ? a.distance < b.distance : a.body.index < b.body.index;
    });
    return hits;
}

// The query in every mode, through the trees of all targets.
template <class Query>
void check_query(const test::TestBodies& world, std::span<const Snapshot> snapshots, Query query, const Shape* probe,
                 int& found) {
    const std::vector<QueryHit> all = exhaustive(world, query, probe);
    found += all.empty() ? 0 : 1;
    std::string any;
    for (const Snapshot& snapshot : snapshots) {
        std::vector<QueryHit> hits;
        query.mode = HitMode::all;
        ref::ask(query, probe, snapshot, world.shapes, hits);
        CHECK((bytes_of(hits) == bytes_of(all)));
        hits.clear();
        query.mode = HitMode::closest;
        ref::ask(query, probe, snapshot, world.shapes, hits);
        CHECK((bytes_of(hits) == bytes_of(std::span(all).first(all.empty() ? 0 : 1))));
        hits.clear();
        query.mode = HitMode::any;
        ref::ask(query, probe, snapshot, world.shapes, hits);
        REQUIRE(hits.size() == (all.empty() ? 0 : 1));
        if (&snapshot == snapshots.data()) any = bytes_of(hits);
        CHECK((bytes_of(hits) == any));
        CHECK((all.empty() || std::any_of(all.begin(), all.end(), [&](const QueryHit& h) {
                   return bytes_of({&h, 1}) == any;
               })));
    }
}

}  // namespace

TEST_CASE("a search through the tree finds what an exhaustive one finds, to the bit, on every target") {
    for (const float far : {0.0f, 700.0f, 3500.0f}) {
        const Vec3 at{far, 0.0f, -far};
        const test::TestBodies world = mixed_crowd(900, 9.0f, at, 7 + static_cast<std::uint64_t>(far));
        std::vector<Snapshot> snapshots;
        for (const Target target : available_targets()) {
            SnapshotTaker taker;
            taker.take(1, world.bodies, world.shapes, *tree_kernels_for(target), snapshots.emplace_back());
        }
        Random random(test::seeded(17));
        int rays = 0, casts = 0, overlaps = 0, points = 0;
        const int queries = test::sampled(200);
        for (int n = 0; n < queries; ++n) {
            CAPTURE(far);
            CAPTURE(n);
            const Vec3 target = query_body(world, 1 + random.below(900)).pose.position;
            RayCast ray;
            aim(random, static_cast<std::uint32_t>(n) % kWays, target, 5.0f, ray.origin, ray.translation);
            check_query(world, snapshots, ray, nullptr, rays);
            if (n % 2 != 0) continue;
            const Shape probe = world.shapes[random.below(5)];
            ShapeCast cast;
            aim(random, static_cast<std::uint32_t>(n / 2) % kWays, target, 5.0f, cast.pose.position, cast.translation);
            cast.pose.orientation = random.below(2) == 0 ? Quat{} : random.rotation();
            check_query(world, snapshots, cast, &probe, casts);
            Overlap overlap;
            overlap.pose = {ray.origin, cast.pose.orientation};
            if (std::abs(ray.origin.x) < 8000.0f) check_query(world, snapshots, overlap, &probe, overlaps);
            ClosestPoint point;
            point.point = ray.origin;
            if (n % 4 == 0) point.max_distance = 2.0f;
            check_query(world, snapshots, point, nullptr, points);
        }
        CHECK(rays > queries / 3);
        CHECK(casts > queries / 6);
        CHECK(overlaps > queries / 20);
        CHECK(points > queries / 4);
    }
}

TEST_CASE(
    "a batch answers in the caller's order, on every target and thread count, and refuses what is refused alone") {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
    Random random(test::seeded(23));
    std::vector<RayCast> rays;
    std::vector<ShapeCast> casts;
    for (std::uint32_t i = 0; i < 700; ++i) {  // as many as are sorted
        RayCast ray;
        aim(random, i % kWays, {0.0f, 1.0f, 0.0f}, 6.0f, ray.origin, ray.translation);
        ray.mode = static_cast<HitMode>(random.below(3));
        if (i % 31 == 0) ray.origin.y = i % 2 == 0 ? kNaN : kInf;
        if (i % 37 == 0) ray.translation.z = i % 2 == 0 ? kNaN : -kInf;
        if (i % 41 == 0) ray.origin.x = 2.0f * kMaxQueryCoordinate_m;
        if (i % 43 == 0) ray.tick = 1000;
        rays.push_back(ray);
        ShapeCast cast;
        cast.pose.position = ray.origin, cast.translation = ray.translation, cast.mode = ray.mode, cast.tick = ray.tick;
        if (i % 47 == 0) cast.shape.radius = -1.0f;
        casts.push_back(cast);
    }
    const WorldDef def = test::varied_world();
    orrery::server::ThreadPool pool(3);
    std::string expected;
    for (const Target target : available_targets()) {
        const auto world = test::make_world(def, target);
        for (int n = 0; n < 20; ++n) world->step(test::varied_commands(world->tick()));
        std::string alone;
        std::size_t refused = 0;
        std::vector<QueryHit> hits;
        const auto add = [&](QueryStatus status) {
            alone += std::to_string(static_cast<int>(status)) + bytes_of(hits);
            refused += status == QueryStatus::invalid_query;
        };
        for (const RayCast& ray : rays) add(world->cast_ray(ray, hits));
        for (const ShapeCast& cast : casts) add(world->cast_shape(cast, hits));
        CHECK(refused > 100);
        if (expected.empty()) expected = alone;
        CHECK((alone == expected));
        for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&pool)}) {
            std::string together;
            QueryAnswers of_rays, of_casts;
            world->cast_rays(rays, of_rays, executor);
            world->cast_shapes(casts, of_casts, executor);
            for (const QueryAnswers* out : {&of_rays, &of_casts}) {
                std::size_t next = 0;
                for (std::size_t i = 0; i < out->answers.size(); ++i) {
                    CHECK(out->answers[i].first == next);
                    next += out->answers[i].count;
                    together += std::to_string(static_cast<int>(out->answers[i].status)) + bytes_of(out->of(i));
                }
                CHECK(next == out->hits.size());
            }
            CHECK((together == expected));
        }
    }
}

}  // namespace orrery::sim
