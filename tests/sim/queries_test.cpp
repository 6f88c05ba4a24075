// The contract of world queries: functions of the state and the query alone. Neither the tree, nor the target, nor
// threads, nor a restore on the way, nor the time at which a tick is asked for change a bit of an answer.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>

#include "server/room/thread_pool.h"
#include "sim/collision/queries/queries.h"
#include "tests/support/about.h"
#include "tests/support/body_worlds.h"
#include "tests/support/seed.h"
#include "tests/support/varied_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

std::string bytes_of(std::span<const QueryHit> hits) {
    std::string text;
    const auto put = [&](const auto& value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (const QueryHit& h : hits) {
        put(h.body), put(h.child), put(h.inside);
        put(h.distance), put(h.fraction), put(h.point), put(h.normal);
    }
    return text;
}

// Some of each kind, all modes and filters.
struct Questions {
    std::vector<RayCast> rays;
    std::vector<ShapeCast> casts;
    std::vector<Overlap> overlaps;
    std::vector<ClosestPoint> points;

    Questions(std::uint64_t seed, std::uint32_t count, float extent) {
        Random random(seeded(seed));
        for (std::uint32_t i = 0; i < count; ++i) {
            RayCast ray;
            ray.origin = random.vec(extent);
            ray.translation = random.vec(2.0f * extent);
            if (i % 17 == 0) ray.translation.x = ray.translation.y = 0.0f;
            if (i % 41 == 0) ray.translation = {};
            settle(random, ray);
            rays.push_back(ray);
            ShapeCast cast;
            cast.shape = shape(random);
            cast.pose = pose(random, extent);
            cast.translation = random.vec(extent);
            settle(random, cast);
            casts.push_back(cast);
            Overlap overlap;
            overlap.shape = shape(random);
            overlap.pose = pose(random, extent);
            settle(random, overlap);
            overlaps.push_back(overlap);
            ClosestPoint point;
            point.point = random.vec(extent);
            if (random.below(2) == 0) point.max_distance = random.in(0.0f, 2.0f);
            settle(random, point);
            points.push_back(point);
        }
    }
    void at(std::uint64_t tick) {
        for (auto& q : rays) q.tick = tick;
        for (auto& q : casts) q.tick = tick;
        for (auto& q : overlaps) q.tick = tick;
        for (auto& q : points) q.tick = tick;
    }

  private:
    static Pose pose(Random& random, float extent) {
        const Vec3 at = random.vec(extent);
        const Quat turn = random.rotation();
        return {at, turn};
    }
    static QueryShape shape(Random& random) {
        QueryShape s;
        const std::uint32_t kind = random.below(3);
        s.type = kind == 0 ? ShapeType::sphere : kind == 1 ? ShapeType::box : ShapeType::capsule;
        s.radius = random.in(0.05f, 0.6f);
        s.half_height = random.in(0.1f, 0.6f);
        s.half_extents = {s.radius, s.half_height, 0.2f};
        return s;
    }
    template <class Query>
    static void settle(Random& random, Query& query) {
        const std::uint32_t mode = random.below(3);
        query.mode = mode == 0 ? HitMode::closest : mode == 1 ? HitMode::any : HitMode::all;
        if (random.below(4) == 0) query.filter.types = static_cast<std::uint8_t>(1 + random.below(7));
        if (random.below(4) == 0) query.filter.mask = random.bits() & 7u;
        if (random.below(4) == 0) query.filter.category = random.bits() & 7u;
        if (random.below(4) == 0) query.filter.ignore = {1 + random.below(40), 0};
    }
};

// All answers of a world, as bytes.
std::string answers_of(const World& world, const Questions& q, Executor* executor = nullptr) {
    QueryAnswers out;
    std::string text;
    const auto add = [&] {
        for (const QueryAnswer& a : out.answers)
            text += std::to_string(static_cast<int>(a.status)) + ":" + std::to_string(a.count) + " ";
        text += bytes_of(out.hits);
    };
    world.cast_rays(q.rays, out, executor), add();
    world.cast_shapes(q.casts, out, executor), add();
    world.overlaps(q.overlaps, out, executor), add();
    world.closest_points(q.points, out, executor), add();
    return text;
}

// By every body in turn, without a tree.
template <class Query>
std::vector<QueryHit> by_brute_force(const TestBodies& world, const Query& query, const Shape* probe) {
    std::vector<QueryHit> hits;
    for (std::uint32_t i = 1; i < world.bodies.size(); ++i) {
        if ((world.bodies.flags[i] & kBodyAlive) == 0) continue;
        QueryBody body;
        const PoseRecord& p = world.bodies.pose[i];
        body.pose = {{p.position[0], p.position[1], p.position[2]},
                     {p.orientation[0], p.orientation[1], p.orientation[2], p.orientation[3]}};
        body.id = {i, world.bodies.generation[i]};
        body.category = body_info(world.bodies, i).category, body.mask = body_info(world.bodies, i).mask;
        const std::uint8_t flags = world.bodies.flags[i];
        body.types = (flags & kBodyDynamic) != 0     ? kQueryDynamic
                     : (flags & kBodyKinematic) != 0 ? kQueryKinematic
                                                     : kQueryFixed;
        QueryHit hit;
        if (ref::query_sees(query.filter, body) &&
            ref::ask_body(query, probe, body, world.shapes[body_info(world.bodies, i).shape], hit))
            hits.push_back(hit);
    }
    std::sort(hits.begin(), hits.end(), [](const QueryHit& a, const QueryHit& b) {
        return a.distance != b.distance ? a.distance < b.distance : a.body.index < b.body.index;
    });
    return hits;
}

template <class Query>
void check_tree(const TestBodies& world, const Snapshot& snapshot, const Query& query, const Shape* probe, int& found) {
    const std::vector<QueryHit> all = by_brute_force(world, query, probe);
    std::vector<QueryHit> hits;
    ref::ask(query, probe, snapshot, world.shapes, hits);
    found += static_cast<int>(all.size());
    if (query.mode == HitMode::all) {
        CHECK(bytes_of(hits) == bytes_of(all));
    } else {
        REQUIRE(hits.size() == (all.empty() ? 0 : 1));
        if (all.empty()) return;
        const auto same = [&](const QueryHit& h) { return bytes_of({&h, 1}) == bytes_of(hits); };
        if (query.mode == HitMode::closest)
            CHECK(same(all.front()));
        else
            CHECK(std::any_of(all.begin(), all.end(), same));
    }
}

Shape made(const QueryShape& s) { return *make_shape({{}, s.type, s.radius, s.half_height, s.half_extents}, "probe"); }

TestBodies crowd(std::uint32_t count, float extent, std::uint64_t seed) {
    Random random(seeded(seed));
    TestBodies world;
    const std::uint32_t shapes[] = {world.sphere(0.3f), world.box(0.4f, 0.2f, 0.6f), world.capsule(0.2f, 0.5f),
                                    world.box(4.0f, 0.01f, 3.0f), world.plane()};
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t kind = random.below(100);
        const std::uint32_t shape = kind < 2 && i < 500 ? 4 : kind < 4 ? 3 : kind % 3;
        const std::uint32_t type = random.below(3);
        const Vec3 at = shape == 4 ? Vec3{0.0f, -extent, 0.0f} : random.vec(extent);
        const std::uint32_t body = world.add(shapes[shape],
                                             shape == 4 || type == 0 ? 0
                                             : type == 1             ? kBodyKinematic
                                                                     : kBodyDynamic,
                                             {at, shape == 4 ? Quat{} : random.rotation()});
        body_info(world.bodies, body).category = 1u << random.below(3);
        if (random.below(3) == 0) body_info(world.bodies, body).mask = random.bits() & 7u;
        if (random.below(20) == 0) world.bodies.flags[body] = 0;
    }
    return world;
}

}  // namespace

TEST_CASE("the tree finds what brute force over all bodies finds, in every mode") {
    for (const std::uint32_t count : {0u, 1u, 17u, 300u, static_cast<std::uint32_t>(sampled(2000))}) {
        for (const float far : {0.0f, 3000.0f}) {
            const float extent = count > 1000 ? 12.0f : 6.0f;
            TestBodies world = crowd(count, extent, 5 + count);
            for (PoseRecord& pose : world.bodies.pose) pose.position[0] += far, pose.position[2] -= far;
            SnapshotTaker taker;
            Snapshot snapshot;
            taker.take(9, world.bodies, world.shapes, *tree_kernels_for(best_target()), snapshot);
            Questions q(77 + count, count > 1000 ? 400 : 200, 1.2f * extent);
            int found = 0;
            for (RayCast& query : q.rays)
                query.origin.x += far, query.origin.z -= far, check_tree(world, snapshot, query, nullptr, found);
            for (ShapeCast& query : q.casts) {
                const Shape probe = made(query.shape);
                query.pose.position.x += far, query.pose.position.z -= far;
                check_tree(world, snapshot, query, &probe, found);
            }
            for (Overlap& query : q.overlaps) {
                const Shape probe = made(query.shape);
                query.pose.position.x += far, query.pose.position.z -= far;
                check_tree(world, snapshot, query, &probe, found);
            }
            for (ClosestPoint& query : q.points)
                query.point.x += far, query.point.z -= far, check_tree(world, snapshot, query, nullptr, found);
            CHECK((found > 100 || count < 20));
        }
    }
}

TEST_CASE("a kept tick takes no more memory than stated") {
    const TestBodies world = crowd(1600, 10.0f, 3);
    SnapshotTaker taker;
    Snapshot snapshot;
    taker.take(0, world.bodies, world.shapes, *tree_kernels_for(best_target()), snapshot);
    const std::size_t bytes =
        snapshot.moving.bodies.capacity() * sizeof(QueryBody) + snapshot.moving.nodes.capacity() * sizeof(TreeNode);
    CHECK(bytes <= (snapshot.moving.bodies.size() + 15) / 16 * 16 * kHistoryBytesPerBody + sizeof(TreeNode));
    Snapshot next;
    taker.take(1, world.bodies, world.shapes, *tree_kernels_for(best_target()), next);
    CHECK(next.fixed == snapshot.fixed);
}

TEST_CASE("a snapshot that is taken again is that of the present bodies, whatever of one of them changed") {
    TestBodies world = crowd(200, 10.0f, 3);
    const TreeKernels& kernels = *tree_kernels_for(best_target());
    SnapshotTaker taker;
    Snapshot again;
    const auto check = [&](std::uint64_t tick) {
        SnapshotTaker other;
        Snapshot fresh;
        other.take(tick, world.bodies, world.shapes, kernels, fresh);
        taker.take(tick, world.bodies, world.shapes, kernels, again);
        CHECK(again.tick == tick);
        CHECK((again.moving.bodies == fresh.moving.bodies));
        CHECK((again.fixed->bodies == fresh.fixed->bodies));
    };
    std::uint32_t moving = 1;
    while ((world.bodies.flags[moving] & kBodyDynamic) == 0) ++moving;
    check(0);
    check(1);
    body_info(world.bodies, moving).mask ^= 1u;
    check(2);
    world.bodies.pose[moving].position[1] += 1e-6f;
    check(3);
    ++world.bodies.generation[moving];
    check(4);
    world.bodies.flags[moving] = 0;
    check(5);
}

TEST_CASE("answers are the same on every target and thread count, and of a restored world") {
    const WorldDef def = varied_world();
    const Questions q(21, 64, 8.0f);
    auto reference = make_world(def, Target::scalar);
    std::vector<std::uint8_t> saved;
    orrery::server::ThreadPool pool(3);
    for (int n = 0; n < 90; ++n) {
        reference->step(varied_commands(reference->tick()));
        if (n % 15 != 14) continue;
        const std::string expected = answers_of(*reference, q);
        reference->save(saved);
        for (const Target target : available_targets()) {
            CAPTURE(std::string(target_name(target)));
            auto world = make_world(def, target);
            answers_of(*world, q);  // whatever a cache held before
            REQUIRE(world->restore(saved).ok());
            CHECK((answers_of(*world, q) == expected));
            CHECK((answers_of(*world, q, &pool) == expected));
        }
    }
}

TEST_CASE("queries change nothing in a world") {
    const WorldDef def = varied_world();
    const Questions q(22, 16, 8.0f);
    auto asked = make_world(def, Target::automatic, 30);
    auto left_alone = make_world(def);
    for (int n = 0; n < 60; ++n) {
        asked->step(varied_commands(asked->tick()));
        left_alone->step(varied_commands(left_alone->tick()));
        answers_of(*asked, q);
        CHECK(asked->hash() == left_alone->hash());
    }
    std::vector<std::uint8_t> a, b;
    asked->save(a), left_alone->save(b);
    CHECK(a == b);
}

TEST_CASE("a kept tick answers what the present answered then") {
    constexpr std::uint32_t kKept = 20;
    const WorldDef def = varied_world();
    Questions q(23, 32, 8.0f);
    auto world = make_world(def, Target::automatic, kKept);
    std::vector<std::string> then{answers_of(*world, q)};
    for (int n = 0; n < 100; ++n) {
        world->step(varied_commands(world->tick()));
        q.at(kPresentTick);
        then.push_back(answers_of(*world, q));
        const std::uint64_t now = world->tick(), oldest = now > kKept ? now - kKept : 0;
        CHECK(world->oldest_tick() == oldest);
        for (const std::uint64_t tick : {now, oldest, (now + oldest) / 2}) {
            q.at(tick);
            CHECK((answers_of(*world, q) == then[tick]));
        }
    }
    // One batch of many ticks.
    QueryAnswers out;
    std::vector<RayCast> mixed;
    for (std::uint64_t tick = 78; tick <= 101; ++tick) mixed.push_back(q.rays[1]), mixed.back().tick = tick;
    world->cast_rays(mixed, out);
    for (std::size_t i = 0; i < mixed.size(); ++i) {
        std::vector<QueryHit> hits;
        CHECK(out.answers[i].status == world->cast_ray(mixed[i], hits));
        CHECK(bytes_of(hits) == bytes_of(out.of(i)));
        CHECK((out.answers[i].status == QueryStatus::tick_not_kept) == (mixed[i].tick < 80 || mixed[i].tick > 100));
    }
    // A restore forgets: what was before it may never have been.
    std::vector<std::uint8_t> saved;
    world->save(saved);
    REQUIRE(world->restore(saved).ok());
    CHECK(world->oldest_tick() == 100);
    q.at(kPresentTick);
    CHECK((answers_of(*world, q) == then[100]));
    q.at(99);
    std::vector<QueryHit> hits;
    CHECK(world->cast_ray(q.rays[1], hits) == QueryStatus::tick_not_kept);
    CHECK_FALSE(World::create(def, {Target::automatic, kMaxHistoryTicks + 1}).ok());
}

TEST_CASE("a body that is gone is found where it was, and flagged") {
    WorldDef def;
    add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 10.0f, 0.0f});
    auto world = make_world(def, Target::automatic, 10);
    const BodyId ball{1, 0};
    world->step();
    Command despawn = command(CommandKind::despawn);
    despawn.body = ball;
    world->step(std::array{despawn});
    RayCast ray;
    ray.origin = {0.0f, 20.0f, 0.0f};
    ray.translation = {0.0f, -20.0f, 0.0f};
    std::vector<QueryHit> hits;
    CHECK(world->cast_ray(ray, hits) == QueryStatus::miss);
    CHECK(hits.empty());
    ray.tick = 1;
    REQUIRE(world->cast_ray(ray, hits) == QueryStatus::hit);
    CHECK(hits[0].body == ball);
    CHECK(hits[0].despawned);
    CHECK(hits[0].distance == about(9.5, 1e-3));
}

TEST_CASE("several threads may ask at once, also for the snapshot that nobody has taken yet") {
    const WorldDef def = varied_world();
    const Questions q(24, 24, 8.0f);
    auto world = make_world(def);
    for (int n = 0; n < 20; ++n) {
        world->step(varied_commands(world->tick()));
        std::string texts[4];
        std::vector<std::thread> threads;
        for (std::string& text : texts) threads.emplace_back([&] { text = answers_of(*world, q); });
        for (std::thread& thread : threads) thread.join();
        for (const std::string& text : texts) CHECK((text == texts[0]));
    }
}

namespace {

struct Pins {  // three balls in a row along x at 2, 4 and 6, radius 0.5; the middle one fixed; a floor below
    WorldDef def;
    std::unique_ptr<World> world;
    std::vector<QueryHit> hits;
    RayCast ray;

    Pins() {
        add_ground(def);
        const std::uint32_t ball = add_sphere_shape(def, 0.5f);
        for (int i = 1; i <= 3; ++i) add_body(def, ball, {2.0f * static_cast<float>(i), 3.0f, 0.0f});
        def.bodies[2].type = BodyType::fixed;
        def.bodies[3].category = 4;
        world = make_world(def);
        ray.origin = {0.0f, 3.0f, 0.0f};
        ray.translation = {10.0f, 0.0f, 0.0f};
    }
    QueryStatus cast() { return world->cast_ray(ray, hits); }
};

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("modes, filters and order of a ray's hits") {
    Pins pins;
    REQUIRE(pins.cast() == QueryStatus::hit);
    REQUIRE(pins.hits.size() == 1);
    CHECK(pins.hits[0].body == BodyId{2, 0});
    CHECK(pins.hits[0].fraction == 0.15f);
    CHECK(pins.hits[0].distance == 1.5f);
    CHECK(pins.hits[0].point == Vec3{1.5f, 3.0f, 0.0f});
    CHECK(pins.hits[0].normal == Vec3{-1.0f, 0.0f, 0.0f});
    pins.ray.mode = HitMode::all;
    pins.cast();
    REQUIRE(pins.hits.size() == 3);
    for (std::uint32_t i = 0; i < 3; ++i) CHECK(pins.hits[i].body.index == i + 2);
    pins.ray.mode = HitMode::any;
    pins.cast();
    CHECK(pins.hits.size() == 1);
    pins.ray.mode = HitMode::closest;
    pins.ray.filter.ignore = {2, 0};
    pins.cast();
    CHECK(pins.hits[0].body.index == 3);
    pins.ray.filter.types = kQueryDynamic;
    pins.cast();
    CHECK(pins.hits[0].body.index == 4);
    pins.ray.filter.mask = 1;
    CHECK(pins.cast() == QueryStatus::miss);
    pins.ray.filter = {};
    pins.ray.filter.mask = 4;
    pins.cast();
    CHECK(pins.hits[0].body.index == 4);
    pins.ray.filter.ignore = {4, 1};  // another generation is another body
    CHECK(pins.cast() == QueryStatus::hit);
}

TEST_CASE("casts without length, from inside, without end, and with numbers that are none") {
    Pins pins;
    pins.ray.translation = {};
    CHECK(pins.cast() == QueryStatus::miss);
    pins.ray.origin = {2.2f, 3.0f, 0.0f};
    for (const Vec3 way : {Vec3{}, Vec3{5.0f, 0.0f, 0.0f}}) {
        pins.ray.translation = way;
        REQUIRE(pins.cast() == QueryStatus::hit);
        CHECK(pins.hits[0].inside);
        CHECK(pins.hits[0].body.index == 2);
        CHECK(pins.hits[0].distance == 0.0f);
        CHECK(pins.hits[0].fraction == 0.0f);
        CHECK(pins.hits[0].point == pins.ray.origin);
        CHECK(pins.hits[0].normal == Vec3{});
    }
    pins.ray.origin = {0.0f, 3.0f, 0.0f};
    pins.ray.translation = {kNoLimit, 0.0f, 0.0f};
    REQUIRE(pins.cast() == QueryStatus::hit);
    CHECK(pins.hits[0].distance == 1.5f);
    CHECK(pins.hits[0].fraction == doctest::Approx(1.5 / kNoLimit));
    pins.ray.origin = {kMaxQueryCoordinate_m, kMaxQueryCoordinate_m, kMaxQueryCoordinate_m};
    pins.ray.translation = {-kNoLimit, -kNoLimit, -kNoLimit};
    REQUIRE(pins.cast() == QueryStatus::hit);
    CHECK(pins.hits[0].body.index == 1);  // the floor
    pins.ray.translation = {1e-44f, 0.0f, 0.0f};
    CHECK(pins.cast() == QueryStatus::miss);
    for (const float bad : {kNaN, kInfinity, -kInfinity}) {
        pins.ray.origin = {0.0f, 3.0f, 0.0f}, pins.ray.translation = {1.0f, bad, 0.0f};
        CHECK(pins.cast() == QueryStatus::invalid_query);
        pins.ray.origin = {bad, 3.0f, 0.0f}, pins.ray.translation = {1.0f, 0.0f, 0.0f};
        CHECK(pins.cast() == QueryStatus::invalid_query);
        CHECK(pins.hits.empty());
        ClosestPoint point;
        point.point = {0.0f, bad, 0.0f};
        CHECK(pins.world->closest_point(point, pins.hits) == QueryStatus::invalid_query);
        point.point = {}, point.max_distance = bad;
        CHECK(pins.world->closest_point(point, pins.hits) == QueryStatus::invalid_query);
        ShapeCast cast;
        cast.pose.orientation.w = bad;
        CHECK(pins.world->cast_shape(cast, pins.hits) == QueryStatus::invalid_query);
        cast.pose.orientation.w = 1.0f, cast.shape.radius = bad;
        CHECK(pins.world->cast_shape(cast, pins.hits) == QueryStatus::invalid_query);
    }
    pins.ray.origin = {2.0f * kMaxQueryCoordinate_m, 0.0f, 0.0f}, pins.ray.translation = {1.0f, 0.0f, 0.0f};
    CHECK(pins.cast() == QueryStatus::invalid_query);
    Overlap overlap;
    overlap.pose.orientation = {0.5f, 0.5f, 0.5f, 0.6f};
    CHECK(pins.world->overlap(overlap, pins.hits) == QueryStatus::invalid_query);
    overlap.pose.orientation = {};
    overlap.shape.index = 0;  // the plane has no bounds
    CHECK(pins.world->overlap(overlap, pins.hits) == QueryStatus::invalid_query);
    overlap.shape.index = 2;
    CHECK(pins.world->overlap(overlap, pins.hits) == QueryStatus::invalid_query);
    overlap.shape.index = 1;
    overlap.pose.position = {3.0f, 3.0f, 0.0f};
    REQUIRE(pins.world->overlap(overlap, pins.hits) == QueryStatus::hit);  // it touches both its neighbours
    CHECK(pins.hits.size() == 2);
}

TEST_CASE("a shape that rests on another slides along it without a hit, and lands where it is") {
    Pins pins;
    ShapeCast cast;
    cast.shape.type = ShapeType::capsule;
    cast.shape.radius = 0.25f, cast.shape.half_height = 0.5f;
    cast.pose.position = {-5.0f, 0.75f, 0.0f};
    cast.translation = {3.0f, 0.0f, 0.0f};
    CHECK(pins.world->cast_shape(cast, pins.hits) == QueryStatus::miss);
    cast.translation = {0.0f, -1.0f, 0.0f};
    REQUIRE(pins.world->cast_shape(cast, pins.hits) == QueryStatus::hit);
    CHECK(pins.hits[0].distance == 0.0f);
    CHECK_FALSE(pins.hits[0].inside);
    CHECK(pins.hits[0].normal == Vec3{0.0f, 1.0f, 0.0f});
    cast.pose.position.y = 2.75f;
    cast.translation = {0.0f, -4.0f, 0.0f};
    REQUIRE(pins.world->cast_shape(cast, pins.hits) == QueryStatus::hit);
    CHECK(pins.hits[0].fraction == 0.5f);
    CHECK(pins.hits[0].point == Vec3{-5.0f, 0.0f, 0.0f});
}
