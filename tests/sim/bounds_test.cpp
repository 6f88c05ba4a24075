// Guards: tight bounds hold the shape during the whole tick as far as they promise (linear motion all of it, turning of
// discrete bodies up to the speculative margin, of others all of it, half the margin always), contacts of passive
// bodies are kept as far, bounds are not much larger, and cost nothing to bodies that can meet no other.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/collision/broad/broad_phase.h"
#include "sim/shapes/compound.h"
#include "sim/shapes/hull.h"
#include "sim/shapes/mesh.h"
#include "tests/support/about.h"
#include "tests/support/body_worlds.h"
#include "tests/support/convex_reference.h"
#include "tests/support/executors.h"
#include "tests/support/seed.h"

namespace orrery::sim {
namespace {

constexpr float kDt = 1.0f / 60.0f, kMargin = 0.02f;

struct Sample {
    double low[3], high[3];
};

// The surface of the moved shape, sampled at its extreme points: a core's corners give its extremes along every axis.
Sample extremes(const Shape& shape, const Pose& start, Vec3 linear, Vec3 angular, double time) {
    const test::V w = test::vec(angular);
    const double speed = test::length(w), half = 0.5 * speed * time;
    Pose pose = start;
    test::Core core = test::make_core(shape, pose);
    const test::V axis = speed > 0 ? (1.0 / speed) * w : test::V{1, 0, 0};
    Sample s;
    for (int i = 0; i < 3; ++i) s.low[i] = 1e300, s.high[i] = -1e300;
    for (const test::V corner : core.corners) {
        const test::V arm = corner - core.centre;
        const test::V c = test::cross(axis, arm), cc = test::cross(axis, c);
        const test::V turned = arm + std::sin(2 * half) * c + (1 - std::cos(2 * half)) * cc;
        const test::V p = core.centre + turned + time * test::vec(linear);
        const double at[3] = {p.x, p.y, p.z};
        for (int i = 0; i < 3; ++i) {
            s.low[i] = std::min(s.low[i], at[i] - core.radius);
            s.high[i] = std::max(s.high[i], at[i] + core.radius);
        }
    }
    return s;
}

void add_random_bodies(test::TestBodies& world, test::Random& random, float spin, std::vector<Pose>& poses) {
    world.sphere(0.5f);
    world.box(0.5f, 0.1f, 1.5f);
    world.capsule(0.2f, 1.0f);
    for (int i = 0; i < 1000; ++i) {
        poses.push_back({random.vec(10.0f), random.rotation()});
        const std::uint32_t body = world.add(random.below(3), kBodyDynamic, poses.back());
        world.move(body, random.vec(i % 2 == 0 ? 1.0f : 100.0f), random.vec(spin));
    }
}

}  // namespace

TEST_CASE("bounds hold the shape at every moment of the tick and half the margin around it") {
    test::TestBodies world;
    test::Random random(test::seeded(3));
    std::vector<Pose> poses;
    add_random_bodies(world, random, 0.3f, poses);  // slow spin: the arc is below the margin
    test::SerialExecutor serial;
    for (const Target target : available_targets()) {
        BroadPhase broad;
        broad.update(world.bodies, world.shapes, kDt, kMargin, *broad_kernels_for(target), serial);
        int outside = 0, loose = 0;
        for (std::uint32_t i = 1; i < world.bodies.size(); ++i) {
            const BoundsRecord& b = broad.bounds()[i];
            const VelocityRecord& v = world.bodies.velocity[i];
            const Shape& shape = world.shapes[body_info(world.bodies, i).shape];
            for (int step = 0; step <= 8; ++step) {
                const Sample s = extremes(shape, poses[i - 1], {v.linear[0], v.linear[1], v.linear[2]},
                                          {v.angular[0], v.angular[1], v.angular[2]}, kDt * step / 8.0);
                const double around = step == 0 ? 0.5 * kMargin - 1e-5 : -1e-5;
                for (int k = 0; k < 3; ++k) {
                    outside += b.min[k] > s.low[k] - around || b.max[k] < s.high[k] + around;
                    const double travel = std::abs(v.linear[k]) * kDt;
                    if (step == 0)
                        loose += b.min[k] < s.low[k] - travel - kMargin - 1e-5 ||
                                 b.max[k] > s.high[k] + travel + kMargin + 1e-5;
                }
            }
        }
        CHECK(outside == 0);
        CHECK(loose == 0);
    }
}

TEST_CASE("bounds of passive and continuous bodies hold the shape at every moment of the tick, however fast it turns") {
    test::TestBodies world;
    test::Random random(test::seeded(7));
    std::vector<Pose> poses;
    add_random_bodies(world, random, 60.0f, poses);
    for (std::uint32_t i = 1; i < world.bodies.size(); ++i)
        body_info(world.bodies, i).collision_mode = i % 2 == 0 ? CollisionMode::passive : CollisionMode::continuous;
    test::SerialExecutor serial;
    for (const Target target : available_targets()) {
        BroadPhase broad;
        broad.update(world.bodies, world.shapes, kDt, kMargin, *broad_kernels_for(target), serial);
        CHECK(broad.any_passive());
        int outside = 0, loose = 0, grown = 0;
        for (std::uint32_t i = 1; i < world.bodies.size(); ++i) {
            const BoundsRecord& b = broad.bounds()[i];
            const VelocityRecord& v = world.bodies.velocity[i];
            const Shape& shape = world.shapes[body_info(world.bodies, i).shape];
            const double most = std::max(double(shape.bounding_radius - shape.inner_radius), 0.5 * kMargin);
            grown += b.growth > kMargin;
            for (int step = 0; step <= 8; ++step) {
                const Sample s = extremes(shape, poses[i - 1], {v.linear[0], v.linear[1], v.linear[2]},
                                          {v.angular[0], v.angular[1], v.angular[2]}, kDt * step / 8.0);
                for (int k = 0; k < 3; ++k) {
                    outside += b.min[k] > s.low[k] + 1e-5 || b.max[k] < s.high[k] - 1e-5;
                    const double travel = std::abs(v.linear[k]) * kDt;
                    if (step == 0)
                        loose +=
                            b.min[k] < s.low[k] - travel - most - 1e-5 || b.max[k] > s.high[k] + travel + most + 1e-5;
                }
            }
        }
        CHECK(outside == 0);
        CHECK(loose == 0);
        CHECK(grown > 300);
    }
}

namespace {

ShapeDef hull_of_box(Vec3 h) {
    ShapeDef def;
    def.type = ShapeType::hull;
    for (int k = 0; k < 8; ++k)
        def.points.push_back({(k & 1) != 0 ? h.x : -h.x, (k & 2) != 0 ? h.y : -h.y, (k & 4) != 0 ? h.z : -h.z});
    return def;
}

// Rods of 1 m, 4 cm thick, along x or y.
constexpr std::uint32_t kRods = 5;
void add_rods(test::TestBodies& world) {
    std::vector<ShapeDef> defs(kRods);
    defs[0] = {{}, ShapeType::box, 0.5f, 0.5f, {0.5f, 0.02f, 0.02f}};
    defs[1] = {{}, ShapeType::cylinder, 0.02f, 0.5f, {}};
    defs[2] = hull_of_box({0.5f, 0.02f, 0.02f});
    defs[3].type = ShapeType::compound;
    defs[3].children = {{0, {{0.0f, 0.0f, 0.02f}, {}}}, {0, {{0.0f, 0.0f, -0.02f}, {}}}};
    defs[4] = {{}, ShapeType::capsule, 0.02f, 0.5f, {}};
    for (const ShapeDef& def : defs) {
        auto shape = make_shape(def, "shape", world.shapes);
        REQUIRE(shape);
        world.shapes.push_back(*shape);
    }
}
// What has its top at y = 0: a box, a plane, a hull and a ball.
constexpr std::uint32_t kGrounds = 4;
std::uint32_t add_ground(test::TestBodies& world, std::uint32_t which) {
    constexpr std::uint8_t kFixed = 0;
    if (which == 1) return world.add(world.plane(), kFixed, {});
    const Pose at{{0.0f, -0.1f, 0.0f}, {}};
    if (which == 3) return world.add(world.sphere(0.1f), kBodyDynamic, at);
    return world.add(which == 0 ? world.box(2.0f, 0.1f, 2.0f) : world.shape(hull_of_box({2.0f, 0.1f, 2.0f})), kFixed,
                     at);
}

constexpr float kRodThick = 0.02f, kRodTurn = 50.0f / 60.0f;  // m, rad in a tick
// The manifolds of a level rod that turns at 50 rad/s, `gap` above a ground.
std::vector<Manifold> above_ground(std::uint32_t rod, std::uint32_t ground, float gap, CollisionMode mode,
                                   bool rod_first, Target target) {
    test::TestBodies world;
    add_rods(world);
    const float h = std::sqrt(0.5f);
    const bool along_y = rod == 1 || rod == 4;
    const Pose at{{0.0f, gap + kRodThick, 0.0f}, along_y ? Quat{0.0f, 0.0f, h, h} : Quat{}};
    if (!rod_first) add_ground(world, ground);
    const std::uint32_t turning = world.add(rod, kBodyDynamic, at);
    if (rod_first) add_ground(world, ground);
    world.move(turning, {}, {0.0f, 0.0f, kRodTurn / kDt});
    body_info(world.bodies, turning).collision_mode = mode;
    Collision collision;
    test::SerialExecutor serial;
    std::vector<Pair> pairs;
    TickArena arena;
    ManifoldStore manifolds;
    collision.update_bounds(world.bodies, world.shapes, kDt, kMargin, target, serial);
    REQUIRE(test::find_pairs(collision, world.bodies, {}, target, serial, pairs));
    REQUIRE(collision.collide(world.bodies, world.shapes, pairs, kMargin, target, serial, arena, manifolds));
    return test::copies(manifolds);
}

// The part of the tick after which the solver, for which the points' arms do not turn, has the first of them touch.
double first_touch(const std::vector<Manifold>& manifolds, bool rod_first) {
    double first = 2.0;
    for (const Manifold& m : manifolds) {
        const double up = rod_first ? -m.normal.y : m.normal.y;  // from the ground to the rod
        for (std::uint32_t k = 0; k < m.count; ++k) {
            const ManifoldPoint& p = m.points[k];
            // From the rod's centre, which is that of the world but for its height.
            const double arm = p.offset_a.x, falls = -up * double(kRodTurn) * arm;
            if (falls > 0.0) first = std::min(first, -double(p.depth) / falls);
        }
    }
    return first;
}
// The part after which the end of a rod that turns is `gap` lower: 0.5 sin t + 0.02 cos t = gap + 0.02.
double touch_of_end(double gap) {
    const double thick = double(kRodThick), size = std::hypot(0.5, thick);
    return (std::asin((gap + thick) / size) - std::atan2(thick, 0.5)) / double(kRodTurn);
}

}  // namespace

TEST_CASE(
    "a passive body's turning meets what it reaches within the tick, when it does, whichever of the two it is and "
    "whatever the shapes") {
    // How far an end 0.5 m away comes down that turns so; and a side to a ball below its middle.
    constexpr float kReach = 0.36f, kReachOfBall = 0.055f;
    for (std::uint32_t rod = 0; rod < kRods; ++rod) {
        for (std::uint32_t ground = 0; ground < kGrounds; ++ground) {
            for (const float gap : {0.01f, 0.05f, kReach - 0.03f, kReach + 0.06f}) {
                for (const CollisionMode mode :
                     {CollisionMode::discrete, CollisionMode::passive, CollisionMode::continuous}) {
                    const bool wanted = gap < (mode == CollisionMode::discrete ? kMargin
                                               : ground == 3                   ? kReachOfBall
                                                                               : kReach);
                    for (int way = 0; way < 2 * static_cast<int>(available_targets().size()); ++way) {
                        const Target target = available_targets()[static_cast<std::size_t>(way) / 2];
                        const std::vector<Manifold> manifolds =
                            above_ground(rod, ground, gap, mode, way % 2 == 0, target);
                        CAPTURE(rod);
                        CAPTURE(ground);
                        CAPTURE(gap);
                        CAPTURE(way);
                        CHECK(manifolds.empty() == !wanted);
                        for (const Manifold& m : manifolds)
                            CHECK(std::fabs(m.normal.y) > (ground == 3 ? 0.6f : 0.999f));
                        if (!wanted || ground == 3) continue;
                        // Not later than it does, nor earlier than if the end went on straight.
                        const double touch = first_touch(manifolds, way % 2 == 0);
                        CHECK(touch < 1.01 * touch_of_end(gap));
                        CHECK(touch > 0.99 * double(gap) / (0.5 * double(kRodTurn)));
                    }
                }
            }
        }
    }
}

TEST_CASE(
    "bounds of cylinders, hulls, meshes and compounds are the least boxes that hold them and what they may reach") {
    test::Random random(test::seeded(6));
    std::vector<ShapeDef> defs(4);
    defs[0] = {{}, ShapeType::cylinder, 0.5f, 0.2f, {}};
    defs[1].type = ShapeType::hull;
    defs[2].type = ShapeType::mesh;
    for (int i = 0; i < 30; ++i) {
        const Vec3 v = random.vec(1.0f);
        defs[1].points.push_back({0.3f + 0.8f * v.x, 0.4f * v.y, 0.6f * v.z});
        const Vec3 w = random.vec(1.0f);
        defs[2].points.push_back({1.0f + w.x, 0.5f * w.y, w.z});  // off its frame's origin
        for (std::uint32_t k = 0; i % 3 == 2 && k < 3; ++k)
            defs[2].indices.push_back(static_cast<std::uint32_t>(i) - k);
    }
    defs[3].type = ShapeType::compound;
    defs[3].children = {{0, {{0.7f, 0.0f, 0.0f}, random.rotation()}}, {1, {{-0.5f, 0.3f, 0.0f}, random.rotation()}}};
    test::TestBodies world;
    for (const ShapeDef& def : defs) {
        auto shape = make_shape(def, "shape", world.shapes);
        REQUIRE(shape);
        world.shapes.push_back(*shape);
    }
    std::vector<Pose> poses;
    for (std::uint32_t i = 0; i < 400; ++i) {
        poses.push_back({random.vec(10.0f), random.rotation()});
        const std::uint32_t body = world.add(i % 4, i % 4 == 2 ? kBodyKinematic : kBodyDynamic, poses.back());
        const Vec3 linear = random.vec(i % 2 == 0 ? 1.0f : 100.0f), angular = random.vec(0.3f);
        world.move(body, linear, angular);
    }
    // A cylinder's rim by many points: each of them is less than 2 mm nearer to the axis than the rim midway.
    constexpr int kRim = 64;
    constexpr double kRimGap = 0.5 * (1.0 - 0.9988);
    const auto points_of = [&](std::uint32_t shape) {
        std::vector<test::V> points;
        for (int k = 0; shape == 0 && k < 2 * kRim; ++k) {
            const double a = 6.283185307 * k / kRim;
            points.push_back({0.5 * std::cos(a), k < kRim ? -0.2 : 0.2, 0.5 * std::sin(a)});
        }
        if (shape == 1) {
            for (const Vec3& v : world.shapes[1].hull->vertex) points.push_back(test::vec(v));
        }
        if (shape == 2) {
            for (const Vec3& v : world.shapes[2].mesh->vertex) points.push_back(test::vec(v));
        }
        return points;
    };
    std::vector<std::vector<test::V>> points = {points_of(0), points_of(1), points_of(2), {}};
    for (const Compound::Child& child : world.shapes[3].compound->child) {
        const ref::DPose& at = child.pose;
        const std::uint32_t of = child.shape;  // shapes of the compound stand in the order in which children name them
        for (const test::V p : points[of]) {
            const ref::D3 q = ref::outward(at, ref::D3{p.x, p.y, p.z});
            points[3].push_back({q.x, q.y, q.z});
        }
    }
    test::SerialExecutor serial;
    for (const Target target : available_targets()) {
        BroadPhase broad;
        broad.update(world.bodies, world.shapes, kDt, kMargin, *broad_kernels_for(target), serial);
        int outside = 0, loose = 0;
        for (std::uint32_t i = 1; i < world.bodies.size(); ++i) {
            const BoundsRecord& b = broad.bounds()[i];
            const VelocityRecord& v = world.bodies.velocity[i];
            const std::uint32_t shape = body_info(world.bodies, i).shape;
            double low[3], high[3];
            for (int k = 0; k < 3; ++k) low[k] = 1e300, high[k] = -1e300;
            for (const test::V local : points[shape]) {
                const test::V p = test::vec(poses[i - 1].position) + test::rotate(poses[i - 1].orientation, local);
                const double at[3] = {p.x, p.y, p.z};
                for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], at[k]), high[k] = std::max(high[k], at[k]);
            }
            for (int k = 0; k < 3; ++k) {
                const double travel = v.linear[k] * kDt, down = std::min(travel, 0.0), up = std::max(travel, 0.0);
                outside +=
                    b.min[k] > low[k] + down - 0.5 * kMargin + 1e-5 || b.max[k] < high[k] + up + 0.5 * kMargin - 1e-5;
                loose += b.min[k] < low[k] + down - kMargin - kRimGap - 2e-5 ||
                         b.max[k] > high[k] + up + kMargin + kRimGap + 2e-5;
            }
        }
        CHECK(outside == 0);
        CHECK(loose == 0);
    }
}

TEST_CASE("a fast spin grows bounds by the margin and no more") {
    test::TestBodies world;
    test::Random random(test::seeded(4));
    std::vector<Pose> poses;
    add_random_bodies(world, random, 60.0f, poses);
    test::SerialExecutor serial;
    BroadPhase broad;
    broad.update(world.bodies, world.shapes, kDt, kMargin, *broad_kernels_for(best_target()), serial);
    int wrong = 0, grown = 0;
    for (std::uint32_t i = 1; i < world.bodies.size(); ++i) {
        const VelocityRecord& v = world.bodies.velocity[i];
        const Sample s = extremes(world.shapes[body_info(world.bodies, i).shape], poses[i - 1], {}, {}, 0.0);
        for (int k = 0; k < 3; ++k) {
            const double growth = s.low[k] + std::min(v.linear[k] * kDt, 0.0f) - broad.bounds()[i].min[k];
            wrong += growth < 0.5 * kMargin - 2e-5 || growth > kMargin + 2e-5;
            grown += growth > 0.9 * kMargin;
        }
    }
    CHECK(wrong == 0);
    CHECK(grown > 1000);
}

TEST_CASE("bodies at rest within the margin are a pair, whatever the direction") {
    test::Random random(test::seeded(5));
    test::TestBodies world;
    const std::uint32_t ball = world.sphere(0.5f);
    std::vector<Pair> expected;
    for (int i = 0; i < 500; ++i) {
        const Vec3 at{static_cast<float>(4 * (i % 25)), static_cast<float>(4 * (i / 25)), 0.0f};
        Vec3 way = random.vec(1.0f);
        const float n = (1.0f + 0.99f * kMargin) / std::sqrt(way.x * way.x + way.y * way.y + way.z * way.z + 1e-12f);
        const std::uint32_t a = world.add(ball, kBodyDynamic, {at, {}});
        expected.push_back(
            {a, world.add(ball, kBodyDynamic, {{at.x + way.x * n, at.y + way.y * n, at.z + way.z * n}, {}})});
    }
    Collision collision;
    test::SerialExecutor serial;
    std::vector<Pair> pairs;
    TickArena arena;
    ManifoldStore manifolds;
    collision.update_bounds(world.bodies, world.shapes, kDt, kMargin, best_target(), serial);
    test::find_pairs(collision, world.bodies, {}, best_target(), serial, pairs);
    CHECK(pairs == expected);
    collision.collide(world.bodies, world.shapes, pairs, kMargin, best_target(), serial, arena, manifolds);
    CHECK(manifolds.order.size() == expected.size());
}

TEST_CASE("bodies that can meet nothing take no part") {
    test::TestBodies world;
    const std::uint32_t ball = world.sphere(0.1f);
    for (int i = 0; i < 100'000; ++i) body_info(world.bodies, world.add(ball, kBodyDynamic, {})).mask = 0;
    test::SerialExecutor serial;
    BroadPhase broad;
    std::vector<Pair> pairs;
    broad.update(world.bodies, world.shapes, kDt, kMargin, *broad_kernels_for(best_target()), serial);
    test::find_pairs(broad, world.bodies, {}, *broad_kernels_for(best_target()), serial, pairs);
    CHECK(pairs.empty());
    CHECK(broad.bounds().empty());
    CHECK_FALSE(broad.takes_part(1));
}

TEST_CASE("bodies meet a plane exactly when their bounds come within half the margin of it") {
    // Apart: they meet planes and one box alone, and are held against these.
    for (const bool apart : {false, true}) {
        CAPTURE(apart);
        test::TestBodies world;
        test::Random random(test::seeded(6));
        world.sphere(0.5f);
        world.box(0.5f, 0.1f, 1.5f);
        world.capsule(0.2f, 1.0f);
        const std::uint32_t plane_shape = world.plane();
        std::vector<std::uint32_t> planes;
        std::vector<Pose> poses;
        for (int i = 0; i < 400; ++i) {
            if (i % 100 == 50) {
                poses.push_back({random.vec(2.0f), random.rotation()});
                planes.push_back(world.add(plane_shape, 0, poses.back()));
            }
            world.move(world.add(random.below(3), random.below(4) == 0 ? kBodyKinematic : kBodyDynamic,
                                 {random.vec(3.0f), random.rotation()}),
                       random.vec(30.0f), {});
        }
        if (apart) {
            for (std::uint32_t i = 1; i < world.bodies.size(); ++i)
                body_info(world.bodies, i).category = 1, body_info(world.bodies, i).mask = 6;
            for (const std::uint32_t plane : planes)
                body_info(world.bodies, plane).category = 2, body_info(world.bodies, plane).mask = 5;
            const std::uint32_t box = world.add(1, kBodyDynamic, {});
            body_info(world.bodies, box).category = 4, body_info(world.bodies, box).mask = 3;
        }
        test::SerialExecutor serial;
        std::vector<Pair> expected_pairs;
        for (const Target target : available_targets()) {
            BroadPhase broad;
            std::vector<Pair> pairs;
            broad.update(world.bodies, world.shapes, kDt, kMargin, *broad_kernels_for(target), serial);
            test::find_pairs(broad, world.bodies, {}, *broad_kernels_for(target), serial, pairs);
            CHECK(std::is_sorted(pairs.begin(), pairs.end()));
            if (target == Target::scalar) expected_pairs = pairs;
            CHECK(pairs == expected_pairs);
            int wrong = 0, met = 0;
            for (std::size_t p = 0; p < planes.size(); ++p) {
                const test::V n = test::rotate(poses[p].orientation, {0, 1, 0}), origin = test::vec(poses[p].position);
                for (std::uint32_t i = 1; i < world.bodies.size(); ++i) {
                    if (!world.bodies.dynamic(i)) continue;
                    const BoundsRecord& b = broad.bounds()[i];
                    const test::V lowest{n.x > 0 ? b.min[0] : b.max[0], n.y > 0 ? b.min[1] : b.max[1],
                                         n.z > 0 ? b.min[2] : b.max[2]};
                    const double height = test::dot(lowest - origin, n) - 0.5 * kMargin;
                    const Pair pair{std::min(i, planes[p]), std::max(i, planes[p])};
                    const bool is_pair = std::binary_search(pairs.begin(), pairs.end(), pair);
                    met += is_pair;
                    if (std::abs(height) > 1e-4) wrong += is_pair != (height < 0);
                }
            }
            CHECK(wrong == 0);
            CHECK(met > 100);
        }
    }
}

}  // namespace orrery::sim
