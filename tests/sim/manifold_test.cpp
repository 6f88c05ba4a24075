// Guards: manifolds that a stack needs. A resting box has its four corners whatever the sizes, a lying capsule two
// points, features stay the same under small motion, four kept points hold the deepest and span the face, fast bodies
// meet what they would hit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "sim/collision/collision.h"
#include "tests/support/about.h"
#include "tests/support/body_worlds.h"
#include "tests/support/executors.h"
#include "tests/support/seed.h"

namespace orrery::sim {
namespace {

constexpr float kDt = 1.0f / 60.0f, kMargin = 0.02f;

std::vector<Manifold> collide(const test::TestBodies& world, std::vector<Pair> pairs) {
    Collision collision;
    test::SerialExecutor serial;
    TickArena arena;
    ManifoldStore out;
    collision.update_bounds(world.bodies, world.shapes, kDt, kMargin, best_target(), serial);
    collision.collide(world.bodies, world.shapes, pairs, kMargin, best_target(), serial, arena, out);
    return test::copies(out);
}

Quat small_turn(test::Random& random, float angle) {
    const Vec3 v = random.vec(angle);
    const float w = std::sqrt(1.0f - (v.x * v.x + v.y * v.y + v.z * v.z));
    return {v.x, v.y, v.z, w};
}

std::set<std::uint32_t> features(const Manifold& m) {
    std::set<std::uint32_t> out;
    for (std::uint32_t i = 0; i < m.count; ++i) out.insert(m.points[i].feature);
    return out;
}

// Where the corners of a manifold span to, along x and z.
float span_x(const Manifold& m) {
    float low = 1e9f, high = -1e9f;
    for (std::uint32_t i = 0; i < m.count; ++i)
        low = std::min(low, m.points[i].offset_a.x), high = std::max(high, m.points[i].offset_a.x);
    return high - low;
}
float span_z(const Manifold& m) {
    float low = 1e9f, high = -1e9f;
    for (std::uint32_t i = 0; i < m.count; ++i)
        low = std::min(low, m.points[i].offset_a.z), high = std::max(high, m.points[i].offset_a.z);
    return high - low;
}

}  // namespace

TEST_CASE("a box on a floor of any size, under or over it, touches with its four corners") {
    for (const float floor_half : {0.5f, 0.6f, 3.0f, 100.0f, 2000.0f}) {
        for (const bool floor_first : {true, false}) {
            CAPTURE(floor_half);
            CAPTURE(floor_first);
            test::TestBodies world;
            const std::uint32_t small = world.box(0.5f, 0.5f, 0.5f), large = world.box(floor_half, 1.0f, floor_half);
            const Pose on{{floor_half * 0.0f, 0.499f, 0.0f}, {}}, floor{{0, -1, 0}, {}};
            const std::uint32_t a = floor_first ? world.add(large, 0, floor) : world.add(small, kBodyDynamic, on);
            const std::uint32_t b = floor_first ? world.add(small, kBodyDynamic, on) : world.add(large, 0, floor);
            const std::vector<Manifold> m = collide(world, {{a, b}});
            REQUIRE(m.size() == 1);
            CHECK(m[0].count == 4);
            CHECK(m[0].normal.y == (floor_first ? 1.0f : -1.0f));
            CHECK(span_x(m[0]) == test::about(1.0, 2e-3));
            CHECK(span_z(m[0]) == test::about(1.0, 2e-3));
            for (std::uint32_t i = 0; i < m[0].count; ++i) CHECK(m[0].points[i].depth == test::about(0.001, 0.3));
        }
    }
}

TEST_CASE("a box on a plane touches with its four corners, a lying capsule with two ends") {
    test::TestBodies world;
    const std::uint32_t box = world.box(0.5f, 0.5f, 0.5f), capsule = world.capsule(0.3f, 0.7f), plane = world.plane(),
                        slab = world.box(3, 1, 3);
    const float h = std::sqrt(0.5f);
    const std::uint32_t ground = world.add(plane, 0, {});
    const std::uint32_t floor = world.add(slab, 0, {{0, -1, 0}, {}});
    const std::uint32_t cube = world.add(box, kBodyDynamic, {{0, 0.499f, 0}, {}});
    const std::uint32_t lying = world.add(capsule, kBodyDynamic, {{1, 0.299f, 0}, {0, 0, h, h}});
    const std::uint32_t beside = world.add(capsule, kBodyDynamic, {{1.2f, 0.299f, 0.599f}, {0, 0, h, h}});
    const std::vector<Manifold> m = collide(world, {{ground, cube}, {ground, lying}, {floor, lying}, {lying, beside}});
    REQUIRE(m.size() == 4);
    CHECK(m[0].count == 4);
    CHECK(m[1].count == 2);
    CHECK(span_x(m[1]) == test::about(1.4, 1e-3));
    CHECK(m[2].count == 2);
    CHECK(span_x(m[2]) == test::about(1.4, 1e-3));
    CHECK(m[3].count == 2);
    CHECK(span_x(m[3]) == test::about(1.2, 1e-3));
    for (const Manifold& one : m) {
        for (std::uint32_t i = 0; i < one.count; ++i) CHECK(one.points[i].depth == test::about(0.001, 0.05));
    }
}

TEST_CASE("a capsule that overhangs a box touches where the box is") {
    test::TestBodies world;
    const std::uint32_t slab = world.box(1, 1, 1), capsule = world.capsule(0.2f, 1.0f);
    const float h = std::sqrt(0.5f);
    const std::uint32_t floor = world.add(slab, 0, {{0, -1, 0}, {}});
    const std::uint32_t over = world.add(capsule, kBodyDynamic, {{0.8f, 0.199f, 0}, {0, 0, h, h}});
    const std::vector<Manifold> m = collide(world, {{floor, over}});
    REQUIRE(m.size() == 1);
    REQUIRE(m[0].count == 2);
    CHECK(span_x(m[0]) == test::about(1.2, 0.02));
    CHECK(std::max(m[0].points[0].offset_a.x, m[0].points[1].offset_a.x) < 1.05f);
}

TEST_CASE("features stay the same under small motion") {
    test::Random random(test::seeded(11));
    int same = 0, all = 0;
    for (int i = 0; i < 300; ++i) {
        test::TestBodies world;
        const std::uint32_t box = world.box(0.5f, 0.5f, 0.5f), slab = world.box(4, 1, 4),
                            capsule = world.capsule(0.3f, 0.5f);
        std::vector<Pair> pairs;
        const float turn = random.in(0.0f, 3.0f);
        const Quat yaw{0, std::sin(turn / 2), 0, std::cos(turn / 2)};
        const Vec3 at{random.in(-2, 2), 0.498f, random.in(-2, 2)};
        for (int k = 0; k < 2; ++k) {
            // The same scene twice, the second shaken by a tenth of a millimetre and as many radians.
            const float shake = k == 0 ? 0.0f : 1e-4f;
            const std::uint32_t floor = world.add(slab, 0, {{0, -1, 0}, {}});
            const Vec3 d = random.vec(shake);
            const Quat q = small_turn(random, shake);
            const Quat turned{q.x * yaw.w + q.w * yaw.x + q.y * yaw.z - q.z * yaw.y,
                              q.w * yaw.y - q.x * yaw.z + q.y * yaw.w + q.z * yaw.x,
                              q.w * yaw.z + q.x * yaw.y - q.y * yaw.x + q.z * yaw.w,
                              q.w * yaw.w - q.x * yaw.x - q.y * yaw.y - q.z * yaw.z};
            const std::uint32_t cube = world.add(box, kBodyDynamic, {{at.x + d.x, at.y + d.y, at.z + d.z}, turned});
            const std::uint32_t upper =
                world.add(box, kBodyDynamic, {{at.x + 0.3f, at.y + 0.998f, at.z + d.z}, small_turn(random, shake)});
            const float h = std::sqrt(0.5f);
            const std::uint32_t rod =
                world.add(capsule, kBodyDynamic, {{at.x + d.x, 0.298f + d.y, at.z}, {h, 0, 0, h}});
            pairs.insert(pairs.end(), {{floor, cube}, {cube, upper}, {floor, rod}});
        }
        const std::vector<Manifold> m = collide(world, pairs);
        REQUIRE(m.size() == 6);
        for (int k = 0; k < 3; ++k) {
            ++all;
            same += features(m[k]) == features(m[k + 3]) && m[k].count >= 2;
        }
    }
    CHECK(same >= all * 98 / 100);  // a corner on the very edge may come and go
}

TEST_CASE("of more than four points the deepest stays, and the four span the face") {
    test::Random random(test::seeded(12));
    for (int i = 0; i < 2000; ++i) {
        // A box on its like, turned about y by half a right angle: an octagon.
        test::TestBodies world;
        const std::uint32_t box = world.box(0.5f, 0.5f, 0.5f);
        const float turn = random.in(0.3f, 1.2f);
        const Quat tilt = small_turn(random, 0.005f);
        const Quat yaw{0, std::sin(turn / 2), 0, std::cos(turn / 2)};
        const Quat q{tilt.x * yaw.w - tilt.z * yaw.y, tilt.w * yaw.y + tilt.y * yaw.w, tilt.z * yaw.w + tilt.x * yaw.y,
                     tilt.w * yaw.w - tilt.y * yaw.y};
        const std::uint32_t a = world.add(box, kBodyDynamic, {});
        const std::uint32_t b = world.add(box, kBodyDynamic, {{0, 0.99f, 0}, q});
        const std::vector<Manifold> m = collide(world, {{a, b}});
        REQUIRE(m.size() == 1);
        REQUIRE(m[0].count == 4);
        CHECK(span_x(m[0]) > 0.75f);
        CHECK(span_z(m[0]) > 0.75f);
        // The lowest point of the upper face's outline inside the lower box's square, by sampling.
        double deepest = -1;
        for (int k = 0; k < 4; ++k) {
            for (int s = 0; s <= 50; ++s) {
                const double u = s / 25.0 - 1, edge[4][2] = {{u, 1}, {u, -1}, {1, u}, {-1, u}};
                const double x = 0.5 * edge[k][0], z = 0.5 * edge[k][1];
                // rotate (x, -0.5, z) by q
                const double cx = q.y * z - q.z * -0.5, cy = q.z * x - q.x * z, cz = q.x * -0.5 - q.y * x;
                const double px = x + 2 * (q.w * cx + (q.y * cz - q.z * cy)),
                             py = -0.5 + 2 * (q.w * cy + (q.z * cx - q.x * cz)),
                             pz = z + 2 * (q.w * cz + (q.x * cy - q.y * cx));
                if (std::abs(px) <= 0.5 && std::abs(pz) <= 0.5) deepest = std::max(deepest, 0.5 - (0.99 + py));
            }
        }
        double kept = -1;
        for (std::uint32_t k = 0; k < m[0].count; ++k) kept = std::max(kept, double(m[0].points[k].depth));
        CHECK(kept > deepest - 0.0025);
    }
}

TEST_CASE("a fast body has its contact in the tick in which it arrives, and none if it flies past") {
    test::TestBodies world;
    const std::uint32_t ball = world.sphere(0.1f), wall = world.box(0.05f, 5, 5);
    const std::uint32_t a = world.add(ball, kBodyDynamic, {{-0.8f, 0, 0}, {}}), b = world.add(wall, 0, {});
    world.move(a, {60, 0, 0}, {});  // 1 m a tick: it would jump the wall
    const std::uint32_t past = world.add(ball, kBodyDynamic, {{-0.8f, 0, 0}, {}});
    world.move(past, {0, 60, 0}, {});
    Collision collision;
    test::SerialExecutor serial;
    std::vector<Pair> pairs;
    std::vector<Manifold> m;
    collision.update_bounds(world.bodies, world.shapes, kDt, kMargin, best_target(), serial);
    test::find_pairs(collision, world.bodies, {}, best_target(), serial, pairs);
    CHECK(std::find(pairs.begin(), pairs.end(), Pair{a, b}) != pairs.end());
    m = collide(world, {{a, b}, {b, past}});
    REQUIRE(m.size() == 1);
    CHECK(m[0].a == a);
    CHECK(m[0].normal.x == doctest::Approx(1.0));
    CHECK(m[0].points[0].depth == test::about(-0.65, 1e-4));
}

}  // namespace orrery::sim
