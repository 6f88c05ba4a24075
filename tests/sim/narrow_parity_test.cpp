// Guards: the narrow phase gives the same bits on every target, for a million pairs of every two shapes that have
// functions over lanes, of many sizes and margins, near and far, aligned and turned, and whatever else shares the
// lanes; and it gives finite numbers for degenerate poses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>
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
        case 0:
            return {h, 0, 0, h};
        case 1:
            return {0, h, 0, h};
        case 2:
            return {0, 0, h, h};
        case 3:
            return {0.5f, 0.5f, 0.5f, 0.5f};
        default:
            return {0, 0, 0, 1};
    }
}

void add_random_pair(test::TestBodies& world, test::Random& random, std::vector<Pair>& pairs) {
    const auto shapes = static_cast<std::uint32_t>(world.shapes.size());
    std::uint32_t s = random.below(shapes), t = random.below(shapes);
    if (is_plane(world, s) && is_plane(world, t)) t = 0;
    const bool aligned = random.below(4) == 0;
    const Vec3 centre = random.vec(random.below(2) == 0 ? 5.0f : 500.0f);
    Vec3 offset = random.vec(1.6f);
    if (aligned)
        offset = {0.25f * static_cast<float>(random.below(9)) - 1.0f,
                  0.25f * static_cast<float>(random.below(9)) - 1.0f, 0.0f};
    const Quat q = aligned ? quarter_turns(random) : random.rotation(),
               r = aligned ? quarter_turns(random) : random.rotation();
    const std::uint32_t a = world.add(s, is_plane(world, s) ? 0 : kBodyDynamic, {centre, q});
    const std::uint32_t b = world.add(t, is_plane(world, t) ? 0 : kBodyDynamic,
                                      {{centre.x + offset.x, centre.y + offset.y, centre.z + offset.z}, r});
    if (random.below(2) == 0) world.move(a, random.vec(20.0f), random.vec(5.0f));
    pairs.push_back({a, b});
}

std::vector<Manifold> collide(const test::TestBodies& world, const std::vector<Pair>& pairs, Target target,
                              Executor& executor, float margin_m = kMargin) {
    Collision collision;
    TickArena arena;
    ManifoldStore out;
    collision.update_bounds(world.bodies, world.shapes, kDt, margin_m, target, executor);
    collision.collide(world.bodies, world.shapes, pairs, margin_m, target, executor, arena, out);
    return test::copies(out);
}

bool same_bits(const Manifold& a, const Manifold& b) {
    if (a.a != b.a || a.b != b.b || a.count != b.count || std::memcmp(&a.normal, &b.normal, sizeof a.normal) != 0)
        return false;
    return std::memcmp(a.points, b.points, a.count * sizeof(ManifoldPoint)) == 0;
}

bool finite(const Manifold& m) {
    const Vec3 n = m.normal;
    bool good = std::fabs(std::sqrt(n.x * n.x + n.y * n.y + n.z * n.z) - 1.0f) < 1e-4f && m.count >= 1 &&
                m.count <= kMaxManifoldPoints;
    for (std::uint32_t i = 0; i < m.count; ++i) {
        const ManifoldPoint& p = m.points[i];
        good = good && std::isfinite(p.depth) && std::isfinite(p.offset_a.x) && std::isfinite(p.offset_a.y) &&
               std::isfinite(p.offset_a.z);
        for (std::uint32_t k = 0; k < i; ++k) good = good && m.points[k].feature != p.feature;
    }
    return good;
}

// ---- pairs of two given shapes: of many sizes, overlapping, at the edge of touching and of the margin, and apart

// More of them with other seeds, which deploy/test --long draws.
const int kPairsOfEach = test::test_seed() == 1 ? 250'000 : 1'000'000;
constexpr int kBatch = 1'000;
constexpr std::uint32_t kSizes = 16;  // of each of the two shapes in a batch
constexpr float kMargins[] = {0.02f, 0.0f, 0.001f, 0.1f, 0.02f, 0.5f};

struct PairKind {
    ShapeType first, second;
};
constexpr PairKind kPairKinds[] = {{ShapeType::sphere, ShapeType::sphere},  {ShapeType::sphere, ShapeType::box},
                                   {ShapeType::sphere, ShapeType::capsule}, {ShapeType::sphere, ShapeType::plane},
                                   {ShapeType::box, ShapeType::box},        {ShapeType::box, ShapeType::capsule},
                                   {ShapeType::box, ShapeType::plane},      {ShapeType::capsule, ShapeType::capsule},
                                   {ShapeType::capsule, ShapeType::plane}};

// Mostly of a game's sizes; some thin as a wire, some large as a house.
float random_size(test::Random& random) {
    switch (random.below(8)) {
        case 0:
            return random.in(0.001f, 0.05f);
        case 1:
            return random.in(1.0f, 20.0f);
        default:
            return random.in(0.05f, 1.0f);
    }
}

void add_sizes(test::TestBodies& world, ShapeType type, test::Random& random) {
    for (std::uint32_t i = 0; i < kSizes; ++i) {
        const float x = random_size(random);
        const float y = random_size(random);
        const float z = random_size(random);
        world.shape({{}, type, x, y, {x, y, z}});
    }
}

float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec3 along(Vec3 from, Vec3 way, float distance) {
    return {from.x + way.x * distance, from.y + way.y * distance, from.z + way.z * distance};
}

struct Axes {
    Vec3 x, y, z;
};
Axes axes_of(const Quat& q) {
    return {{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y)},
            {2 * (q.x * q.y - q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z + q.w * q.x)},
            {2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}};
}
Vec3 pick_axis(const Axes& axes, std::uint32_t which) { return which == 0 ? axes.x : which == 1 ? axes.y : axes.z; }

// How far a shape reaches from its centre; of a plane, along its normal.
float reach_along(const Shape& shape, const Axes& axes, Vec3 way) {
    switch (shape.type) {
        case ShapeType::box:
            return shape.half_extents.x * std::fabs(dot(axes.x, way)) +
                   shape.half_extents.y * std::fabs(dot(axes.y, way)) +
                   shape.half_extents.z * std::fabs(dot(axes.z, way));
        case ShapeType::capsule:
            return shape.radius + shape.half_height * std::fabs(dot(axes.y, way));
        default:
            return shape.radius;
    }
}

Vec3 random_direction(test::Random& random) {
    const Vec3 v = random.vec(1.0f);
    const float n = std::sqrt(dot(v, v));
    return n > 0.01f ? Vec3{v.x / n, v.y / n, v.z / n} : Vec3{1, 0, 0};
}

// From where the supports along the way between the centres meet: overlapping, at the edge, within and about the
// margin, apart.
float random_gap(test::Random& random, float reach, float margin_m) {
    switch (random.below(4)) {
        case 0:
            return -reach * random.in(0.0f, 1.0f);
        case 1:
            return (random.below(2) == 0 ? margin_m : 0.0f) + random.in(-1e-4f, 1e-4f);
        case 2:
            return random.in(-0.5f, 1.5f) * (margin_m + 0.002f);
        default:
            return margin_m + reach * random.in(0.0f, 2.0f);
    }
}

void put(test::TestBodies& world, std::uint32_t body, std::uint32_t shape, const Pose& pose) {
    world.bodies.flags[body] = kBodyAlive | (is_plane(world, shape) ? 0 : kBodyDynamic);
    body_info(world.bodies, body).shape = shape;
    world.place(body, pose);
    world.move(body, {}, {});
}

// The first of two shapes in one of two bodies, the second in the other, at random which.
void draw_pair(test::TestBodies& world, Pair pair, float margin_m, test::Random& random) {
    const std::uint32_t s = random.below(kSizes);
    const std::uint32_t t = kSizes + random.below(kSizes);
    const bool aligned = random.below(4) == 0, plane = is_plane(world, t);
    const Quat q = aligned ? quarter_turns(random) : random.rotation();
    const Quat r = aligned ? quarter_turns(random) : random.rotation();
    const Axes axes_q = axes_of(q), axes_r = axes_of(r);
    const std::uint32_t axis = random.below(3), whose = random.below(3);
    Vec3 way = whose == 0 ? pick_axis(axes_q, axis) : whose == 1 ? pick_axis(axes_r, axis) : random_direction(random);
    if (plane) way = {-axes_r.y.x, -axes_r.y.y, -axes_r.y.z};
    const float reach = reach_along(world.shapes[s], axes_q, way) + reach_along(world.shapes[t], axes_r, way);
    const float distance = reach + random_gap(random, reach, margin_m);
    const Vec3 aside =
        random.vec(plane ? 5.0f : 0.7f * std::min(world.shapes[s].inner_radius, world.shapes[t].inner_radius));
    const Vec3 centre = random.vec(random.below(4) == 0 ? 500.0f : 5.0f);
    const Vec3 other = along(along({centre.x + aside.x, centre.y + aside.y, centre.z + aside.z}, way, -dot(aside, way)),
                             way, distance);
    const bool swap = random.below(2) == 0;
    const std::uint32_t first = swap ? pair.b : pair.a, second = swap ? pair.a : pair.b;
    put(world, first, s, {centre, q});
    put(world, second, t, {other, r});
    if (random.below(4) != 0) return;
    const Vec3 linear = random.vec(20.0f);
    const Vec3 angular = random.vec(5.0f);
    world.move(first, linear, angular);
}

// In place of the batch before.
void draw_batch(test::TestBodies& world, const PairKind& kind, float margin_m, test::Random& random,
                const std::vector<Pair>& pairs) {
    world.shapes.clear();
    add_sizes(world, kind.first, random);
    add_sizes(world, kind.second, random);
    for (const Pair& pair : pairs) draw_pair(world, pair, margin_m, random);
}

int count_different(const std::vector<Manifold>& got, const std::vector<Manifold>& expected) {
    int different = got.size() == expected.size() ? 0 : 1;
    for (std::size_t i = 0; i < got.size() && i < expected.size(); ++i)
        different += same_bits(got[i], expected[i]) ? 0 : 1;
    return different;
}

struct Tally {
    int compared = 0, touched = 0;
    int near = 0;    // touched within the margin, without an overlap
    int broken = 0;  // of them, not finite

    void add(const std::vector<Pair>& pairs, const std::vector<Manifold>& manifolds) {
        compared += static_cast<int>(pairs.size());
        touched += static_cast<int>(manifolds.size());
        for (const Manifold& m : manifolds) {
            bool overlaps = false;
            for (std::uint32_t i = 0; i < m.count; ++i) overlaps = overlaps || m.points[i].depth > 0.0f;
            near += overlaps ? 0 : 1;
            broken += finite(m) ? 0 : 1;
        }
    }
};

}  // namespace

TEST_CASE("random pairs of every two shapes give the same manifolds on every target and with several workers") {
    const int wanted = test::sampled(kPairsOfEach);
    test::SerialExecutor serial;
    test::ThreadedExecutor three(3);
    std::uint64_t stream = 7;
    for (const PairKind& kind : kPairKinds) {
        const auto name =
            std::string(shape_type_name(kind.first)) + " and " + std::string(shape_type_name(kind.second));
        test::Random random(test::seeded(stream++));
        test::TestBodies world;
        world.sphere(1.0f);
        std::vector<Pair> pairs;
        for (int i = 0; i < kBatch; ++i) {
            const std::uint32_t a = world.add(0, kBodyDynamic, {});
            pairs.push_back({a, world.add(0, kBodyDynamic, {})});
        }
        Tally tally;
        for (int batch = 0; tally.compared < wanted; ++batch) {
            const float margin_m = kMargins[batch % std::size(kMargins)];
            draw_batch(world, kind, margin_m, random, pairs);
            const std::vector<Manifold> expected = collide(world, pairs, Target::scalar, serial, margin_m);
            tally.add(pairs, expected);
            for (const Target target : available_targets()) {
                const bool threaded = target == best_target() && batch % 8 == 0;
                if (target == Target::scalar && !threaded) continue;  // what is compared with
                const std::vector<Manifold> got =
                    collide(world, pairs, target, threaded ? static_cast<Executor&>(three) : serial, margin_m);
                const int different = count_different(got, expected);
                CHECK_MESSAGE(different == 0, name << " on " << target_name(target) << ", batch " << batch);
            }
        }
        MESSAGE(name << ": compared " << tally.compared << " pairs, of which " << tally.touched << " touched, "
                     << tally.near << " of them within the margin alone");
        CAPTURE(name);
        CHECK(tally.broken == 0);
        // Whatever is drawn, a good part overlaps, is near, and is apart: no draw is of one sort alone.
        CHECK(tally.touched - tally.near > tally.compared / 20);
        CHECK(tally.near > tally.compared / 20);
        CHECK(tally.compared - tally.touched > tally.compared / 20);
    }
}

TEST_CASE("100,000 random pairs of all shapes mixed give the same manifolds on every target and with several workers") {
    test::TestBodies world;
    add_shapes(world);
    test::Random random(test::seeded(7));
    std::vector<Pair> pairs;
    const int wanted = test::sampled(100'000);
    for (int i = 0; i < wanted; ++i) add_random_pair(world, random, pairs);
    test::SerialExecutor serial;
    test::ThreadedExecutor three(3);
    const std::vector<Manifold> expected = collide(world, pairs, Target::scalar, serial);
    CHECK(expected.size() > pairs.size() * 3 / 10);
    for (const Target target : available_targets()) {
        CAPTURE(target_name(target));
        const std::vector<Manifold> got =
            collide(world, pairs, target, target == best_target() ? static_cast<Executor&>(three) : serial);
        CHECK(count_different(got, expected) == 0);
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
