// Guards: the narrow phase gives the same bits on every target, for every pair of shapes, near and far, aligned and turned,
// and whatever else shares the lanes; and it gives finite numbers for degenerate poses.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "sim/collision/collision.h"
#include "tests/support/body_worlds.h"
#include "tests/support/executors.h"
#include "tests/support/seed.h"

namespace orrery::sim {
namespace {

constexpr float kDt = 1.0f / 60.0f, kMargin = 0.02f;

void add_shapes(test::TestBodies& world) {
    world.sphere(0.5f);
    world.sphere(0.13f);
    world.box(0.5f, 0.5f, 0.5f);
    world.box(0.2f, 0.6f, 0.9f);
    world.box(2.0f, 0.1f, 2.0f);
    world.capsule(0.4f, 0.5f);
    world.capsule(0.1f, 1.2f);
    world.plane();
}

bool is_plane(const test::TestBodies& w, std::uint32_t shape) { return w.shapes[shape].type == ShapeType::plane; }

// A rotation of a cube by quarter turns, exact in most components.
Quat quarter_turns(test::Random& random) {
    const float h = std::sqrt(0.5f);
    switch (random.below(5)) {
        case 0: return {h, 0, 0, h};
        case 1: return {0, h, 0, h};
        case 2: return {0, 0, h, h};
        case 3: return {0.5f, 0.5f, 0.5f, 0.5f};
        default: return {0, 0, 0, 1};
    }
}

void add_random_pair(test::TestBodies& world, test::Random& random, std::vector<Pair>& pairs) {
    const auto shapes = static_cast<std::uint32_t>(world.shapes.size());
    std::uint32_t s = random.below(shapes), t = random.below(shapes);
    if (is_plane(world, s) && is_plane(world, t)) t = 0;
    const bool aligned = random.below(4) == 0;
    const Vec3 centre = random.vec(random.below(2) == 0 ? 5.0f : 500.0f);
    Vec3 offset = random.vec(1.6f);
    if (aligned) offset = {0.25f * static_cast<float>(random.below(9)) - 1.0f, 0.25f * static_cast<float>(random.below(9)) - 1.0f, 0.0f};
    const Quat q = aligned ? quarter_turns(random) : random.rotation(), r = aligned ? quarter_turns(random) : random.rotation();
    const std::uint32_t a = world.add(s, is_plane(world, s) ? 0 : kBodyDynamic, {centre, q});
    const std::uint32_t b = world.add(t, is_plane(world, t) ? 0 : kBodyDynamic, {{centre.x + offset.x, centre.y + offset.y, centre.z + offset.z}, r});
    if (random.below(2) == 0) world.move(a, random.vec(20.0f), random.vec(5.0f));
    pairs.push_back({a, b});
}

std::vector<Manifold> collide(const test::TestBodies& world, const std::vector<Pair>& pairs, Target target, Executor& executor) {
    Collision collision;
    std::vector<Manifold> out;
    collision.update_bounds(world.bodies, world.shapes, kDt, kMargin, target, executor);
    collision.collide(world.bodies, world.shapes, pairs, kMargin, target, executor, out);
    return out;
}

bool same_bits(const Manifold& a, const Manifold& b) {
    if (a.a != b.a || a.b != b.b || a.count != b.count || std::memcmp(&a.normal, &b.normal, sizeof a.normal) != 0) return false;
    return std::memcmp(a.points, b.points, a.count * sizeof(ManifoldPoint)) == 0;
}

bool finite(const Manifold& m) {
    const Vec3 n = m.normal;
    bool good = std::fabs(std::sqrt(n.x * n.x + n.y * n.y + n.z * n.z) - 1.0f) < 1e-4f && m.count >= 1 && m.count <= kMaxManifoldPoints;
    for (std::uint32_t i = 0; i < m.count; ++i) {
        const ManifoldPoint& p = m.points[i];
        good = good && std::isfinite(p.depth) && std::isfinite(p.offset_a.x) && std::isfinite(p.offset_a.y) && std::isfinite(p.offset_a.z);
        for (std::uint32_t k = 0; k < i; ++k) good = good && m.points[k].feature != p.feature;
    }
    return good;
}

}  // namespace

TEST_CASE("100,000 random pairs give the same manifolds on every target and with several workers") {
    test::TestBodies world;
    add_shapes(world);
    test::Random random(test::seeded(7));
    std::vector<Pair> pairs;
    for (int i = 0; i < 100'000; ++i) add_random_pair(world, random, pairs);
    test::SerialExecutor serial;
    test::ThreadedExecutor three(3);
    const std::vector<Manifold> expected = collide(world, pairs, Target::scalar, serial);
    CHECK(expected.size() > 30'000);
    int bad = 0;
    for (const Manifold& m : expected) bad += finite(m) ? 0 : 1;
    CHECK(bad == 0);
    for (const Target target : available_targets()) {
        CAPTURE(target_name(target));
        const std::vector<Manifold> got = collide(world, pairs, target, target == best_target() ? static_cast<Executor&>(three) : serial);
        REQUIRE(got.size() == expected.size());
        int different = 0;
        for (std::size_t i = 0; i < got.size(); ++i) different += same_bits(got[i], expected[i]) ? 0 : 1;
        CHECK(different == 0);
    }
}

TEST_CASE("coincident bodies of every pair of shapes get a finite manifold with a unit normal") {
    test::TestBodies world;
    add_shapes(world);
    std::vector<Pair> pairs;
    const auto shapes = static_cast<std::uint32_t>(world.shapes.size());
    for (std::uint32_t s = 0; s < shapes; ++s) {
        for (std::uint32_t t = 0; t < shapes; ++t) {
            if (is_plane(world, s) && is_plane(world, t)) continue;
            const std::uint32_t a = world.add(s, kBodyDynamic, {{1, 2, 3}, {}});
            pairs.push_back({a, world.add(t, kBodyDynamic, {{1, 2, 3}, {}})});
        }
    }
    test::SerialExecutor serial;
    for (const Target target : available_targets()) {
        const std::vector<Manifold> got = collide(world, pairs, target, serial);
        CHECK(got.size() == pairs.size());
        for (const Manifold& m : got) CHECK(finite(m));
    }
}

}  // namespace orrery::sim
