// Guards: manifolds say the truth. An independent double-precision reference gives the distance of every pair; the
// narrow phase has to agree on whether the pair touches, how deep, and in which direction it parts.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sim/collision/collision.h"
#include "tests/support/body_worlds.h"
#include "tests/support/convex_reference.h"
#include "tests/support/executors.h"
#include "tests/support/seed.h"

namespace orrery::sim {
namespace {

constexpr float kDt = 1.0f / 60.0f, kMargin = 0.02f;
constexpr double kTolerance = 2e-5;  // m: rounding of a few metres in single precision
const int kPairs = orrery::test::sampled(4000);

struct Case {
    test::TestBodies world;
    std::vector<Pair> pairs;
    std::vector<Manifold> by_pair;  // count 0: none
};

Pose pose_of(const test::TestBodies& w, std::uint32_t i) {
    const PoseRecord& p = w.bodies.pose[i];
    return {{p.position[0], p.position[1], p.position[2]},
            {p.orientation[0], p.orientation[1], p.orientation[2], p.orientation[3]}};
}
test::Core core_of(const test::TestBodies& w, std::uint32_t i) {
    return test::make_core(w.shapes[body_info(w.bodies, i).shape], pose_of(w, i));
}

std::vector<Manifold> collide(const test::TestBodies& world, const std::vector<Pair>& pairs) {
    Collision collision;
    test::SerialExecutor serial;
    TickArena arena;
    ManifoldStore found;
    std::vector<Manifold> by_pair(pairs.size());
    collision.update_bounds(world.bodies, world.shapes, kDt, kMargin, best_target(), serial);
    collision.collide(world.bodies, world.shapes, pairs, kMargin, best_target(), serial, arena, found);
    const std::vector<Manifold> got = test::copies(found);
    for (std::size_t i = 0, k = 0; i < pairs.size() && k < got.size(); ++i) {
        if (got[k].a == pairs[i].a && got[k].b == pairs[i].b) by_pair[i] = got[k++];
    }
    return by_pair;
}

// Random pairs of two shapes, brought near to touching: most manifolds of a game are shallow.
Case random_pairs(const ShapeDef& a, const ShapeDef& b, std::uint64_t seed) {
    Case c;
    test::Random random(test::seeded(seed));
    const std::uint32_t s = c.world.shape(a), t = c.world.shape(b);
    for (int i = 0; i < kPairs; ++i) {
        const Vec3 at = random.vec(3.0f), way = random.vec(1.0f);
        const float n = std::sqrt(way.x * way.x + way.y * way.y + way.z * way.z) + 1e-3f;
        const Quat q = random.rotation(), r = random.rotation();
        float far = 5.0f;
        const auto shifted = [&](float d) {
            return Pose{{at.x + way.x / n * d, at.y + way.y / n * d, at.z + way.z / n * d}, r};
        };
        // Along the way, the distance at which they are as near as wanted.
        const double wanted = random.in(-0.15f, 0.05f);
        const test::Core fixed = test::make_core(c.world.shapes[s], {at, q});
        float low = 0.0f;
        for (int k = 0; k < 30; ++k) {
            const float mid = 0.5f * (low + far);
            (test::separation(fixed, test::make_core(c.world.shapes[t], shifted(mid))).distance < wanted ? low : far) =
                mid;
        }
        const std::uint32_t x = c.world.add(s, kBodyDynamic, {at, q});
        c.pairs.push_back({x, c.world.add(t, kBodyDynamic, shifted(far))});
    }
    c.by_pair = collide(c.world, c.pairs);
    return c;
}

double deepest(const Manifold& m) {
    double d = -1e300;
    for (std::uint32_t i = 0; i < m.count; ++i) d = std::max(d, double(m.points[i].depth));
    return d;
}

const ShapeDef kSphere{{}, ShapeType::sphere, 0.5f, 0.5f, {}}, kSmallSphere{{}, ShapeType::sphere, 0.2f, 0.5f, {}};
const ShapeDef kCapsule{{}, ShapeType::capsule, 0.3f, 0.6f, {}}, kRod{{}, ShapeType::capsule, 0.08f, 1.1f, {}};
const ShapeDef kCube{{}, ShapeType::box, 0.5f, 0.5f, {0.5f, 0.5f, 0.5f}},
    kPlank{{}, ShapeType::box, 0.5f, 0.5f, {1.2f, 0.1f, 0.4f}};

}  // namespace

TEST_CASE("pairs with a round shape: depth, normal and touching agree with the reference") {
    const struct {
        const ShapeDef &a, &b;
    } cases[] = {{kSphere, kSmallSphere}, {kSphere, kCapsule}, {kRod, kSphere}, {kCapsule, kRod}, {kSphere, kPlank},
                 {kCube, kSmallSphere},   {kCapsule, kCube},   {kPlank, kRod},  {kRod, kCube},    {kRod, kRod}};
    std::uint64_t seed = 1;
    for (const auto& shapes : cases) {
        CAPTURE(seed);
        const Case c = random_pairs(shapes.a, shapes.b, seed++);
        int touching = 0, wrong_touch = 0, wrong_depth = 0, wrong_normal = 0, wrong_side = 0;
        double worst = 0;
        for (std::size_t i = 0; i < c.pairs.size(); ++i) {
            const test::Core a = core_of(c.world, c.pairs[i].a);
            test::Core b = core_of(c.world, c.pairs[i].b);
            const test::Separation truth = test::separation(a, b);
            const Manifold& m = c.by_pair[i];
            touching += m.count > 0;
            if (truth.distance < kMargin - kTolerance && m.count == 0) ++wrong_touch;
            if (truth.distance > kMargin + kTolerance && m.count != 0) ++wrong_touch;
            if (m.count == 0) continue;
            const double error = std::abs(deepest(m) + truth.distance);
            worst = std::max(worst, truth.cores_apart ? error : 0.0);
            // Inside, an edge has to win by a tenth and half a millimetre.
            const double allowed = truth.cores_apart ? 10 * kTolerance : 0.0006 + 0.12 * std::abs(truth.distance);
            if (error > allowed) ++wrong_depth;
            // Parted along the normal by as much as they overlap, they touch.
            const test::V n{m.normal.x, m.normal.y, m.normal.z};
            b = test::make_core(c.world.shapes[body_info(c.world.bodies, c.pairs[i].b).shape],
                                {{float(b.centre.x + n.x * deepest(m)), float(b.centre.y + n.y * deepest(m)),
                                  float(b.centre.z + n.z * deepest(m))},
                                 pose_of(c.world, c.pairs[i].b).orientation});
            if (std::abs(test::separation(a, b).distance) > allowed) ++wrong_normal;
            // Points lie midway between the surfaces: in both shapes, or between them.
            const test::Core unmoved = core_of(c.world, c.pairs[i].b);
            for (std::uint32_t k = 0; k < m.count; ++k) {
                const Vec3 o = m.points[k].offset_a;
                const test::V p = a.centre + test::V{o.x, o.y, o.z};
                const double outside =
                    std::max(test::point_to_core(p, a) - a.radius, test::point_to_core(p, unmoved) - unmoved.radius);
                if (outside > 0.03 + std::max(-0.5 * m.points[k].depth, 0.15 * std::abs(deepest(m)))) ++wrong_side;
            }
        }
        MESSAGE("touching " << touching << ", largest depth error of cores apart, m: " << worst);
        CHECK(touching > kPairs / 2);
        CHECK(wrong_touch == 0);
        CHECK(wrong_depth == 0);
        CHECK(wrong_normal == 0);
        CHECK(wrong_side == 0);
    }
}

TEST_CASE("two boxes: every overlap has a manifold, along an axis that is nearly the least, with no point outside") {
    const struct { const ShapeDef &a, &b; } cases[] = {{kCube, kCube}, {kCube, kPlank}, {kPlank, kPlank}};
    std::uint64_t seed = 101;
    for (const auto& shapes : cases) {
        const Case c = random_pairs(shapes.a, shapes.b, seed++);
        int overlapping = 0, missing = 0, too_far = 0, poor_axis = 0, wrong_depth = 0, outside = 0;
        for (std::size_t i = 0; i < c.pairs.size(); ++i) {
            const test::Core a = core_of(c.world, c.pairs[i].a), b = core_of(c.world, c.pairs[i].b);
            const test::Separation truth = test::separation(a, b);
            const Manifold& m = c.by_pair[i];
            if (truth.distance < -kTolerance) {
                ++overlapping;
                missing += m.count == 0;
            }
            // What counts as near is the separation along an axis; an edge has to win by half a millimetre and a
            // twentieth. The distance would be no bound: corner to corner it is up to sqrt(3) times as much.
            too_far += truth.along_axis > kMargin + 0.0005 + 0.05 * kMargin + kTolerance && m.count != 0;
            if (m.count == 0 || truth.distance > 0) continue;
            const test::V n{m.normal.x, m.normal.y, m.normal.z};
            // Parted along the normal by the deepest point's depth, they no longer overlap but for a little.
            const Vec3 moved{float(b.centre.x + n.x * deepest(m)), float(b.centre.y + n.y * deepest(m)),
                             float(b.centre.z + n.z * deepest(m))};
            const double after =
                test::separation(a, test::make_core(c.world.shapes[body_info(c.world.bodies, m.b).shape],
                                                    {moved, pose_of(c.world, m.b).orientation}))
                    .distance;
            poor_axis += after < -0.0012 + 0.12 * truth.distance;
            // Corners past the edge by less than the slack (5 mm here) count as on it.
            wrong_depth += deepest(m) > 0.004 - 1.12 * truth.distance;
            for (std::uint32_t k = 0; k < m.count; ++k) {
                const Vec3 o = m.points[k].offset_a;
                const test::V p = a.centre + test::V{o.x, o.y, o.z};
                // Midway along the normal between two tilted faces is beside the boxes by a part of the depth.
                const double allowed = 0.012 + std::max(-0.5 * m.points[k].depth, 0.15 * std::abs(deepest(m)));
                outside += std::max(test::point_to_core(p, a), test::point_to_core(p, b)) > allowed;
            }
        }
        MESSAGE("overlapping " << overlapping);
        CHECK(overlapping > kPairs / 2);
        CHECK(missing == 0);
        CHECK(too_far == 0);
        CHECK(poor_axis == 0);
        CHECK(wrong_depth == 0);
        CHECK(outside == 0);
    }
}

namespace {

struct Axis {
    double x, y, z;
};
double along(const Axis& a, const Axis& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Axis product(const Axis& a, const Axis& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
void axes_of_pose(const Quat& q, Axis out[3]) {
    const double x = q.x, y = q.y, z = q.z, w = q.w, n = 2.0 / (x * x + y * y + z * z + w * w);
    out[0] = {1 - n * (y * y + z * z), n * (x * y + w * z), n * (x * z - w * y)};
    out[1] = {n * (x * y - w * z), 1 - n * (x * x + z * z), n * (y * z + w * x)};
    out[2] = {n * (x * z + w * y), n * (y * z - w * x), 1 - n * (x * x + y * y)};
}
// How far two boxes of these half extents are apart, by all fifteen axes.
double boxes_apart(const Pose& pa, const Pose& pb, Vec3 ha, Vec3 hb) {
    Axis a[3], b[3];
    axes_of_pose(pa.orientation, a), axes_of_pose(pb.orientation, b);
    const Axis way{double(pb.position.x) - pa.position.x, double(pb.position.y) - pa.position.y,
                   double(pb.position.z) - pa.position.z};
    const auto gap = [&](const Axis& n) {
        const double length = std::sqrt(along(n, n));
        if (length < 1e-7) return -1e300;
        const double reach = ha.x * std::fabs(along(n, a[0])) + ha.y * std::fabs(along(n, a[1])) +
                             ha.z * std::fabs(along(n, a[2])) + hb.x * std::fabs(along(n, b[0])) +
                             hb.y * std::fabs(along(n, b[1])) + hb.z * std::fabs(along(n, b[2]));
        return (std::fabs(along(n, way)) - reach) / length;
    };
    double most = -1e300;
    for (int i = 0; i < 3; ++i) {
        most = std::max({most, gap(a[i]), gap(b[i])});
        for (int k = 0; k < 3; ++k) most = std::max(most, gap(product(a[i], b[k])));
    }
    return most;
}

}  // namespace

TEST_CASE("long boxes that lie nearly along each other do not overlap where they are apart") {
    test::Random random(test::seeded(77));
    // Not sheets: what lies beside a wide face by a little of its size counts as on it.
    const Vec3 kinds[] = {{2.0f, 0.02f, 0.02f}, {3.0f, 0.1f, 0.02f}, {0.5f, 0.05f, 0.05f}, {8.0f, 0.05f, 0.03f}};
    for (const Vec3& half : kinds) {
        CAPTURE(half.x);
        int apart = 0;
        double worst = 0.0;
        for (int batch = 0; batch < test::sampled(40); ++batch) {
            test::TestBodies world;
            const std::uint32_t shape = world.box(half.x, half.y, half.z);
            std::vector<Pair> pairs;
            std::vector<double> gaps;
            for (int i = 0; i < 500; ++i) {
                const Quat q = random.rotation();
                // A little turn about any axis, by up to two degrees, and a way across that lets them just touch or
                // not.
                const Vec3 turn = random.vec(0.02f);
                const float n = 1.0f / std::sqrt(1.0f + turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
                const Quat t{turn.x * n, turn.y * n, turn.z * n, n};
                const Quat r{
                    t.w * q.x + t.x * q.w + t.y * q.z - t.z * q.y, t.w * q.y - t.x * q.z + t.y * q.w + t.z * q.x,
                    t.w * q.z + t.x * q.y - t.y * q.x + t.z * q.w, t.w * q.w - t.x * q.x - t.y * q.y - t.z * q.z};
                const Vec3 off = {random.in(-0.5f, 0.5f) * half.x,
                                  random.in(-1.0f, 1.0f) * (2.0f * half.y + 0.02f * half.x),
                                  random.in(-1.0f, 1.0f) * (2.0f * half.z + 0.02f * half.x)};
                Axis a[3];
                axes_of_pose(q, a);
                const Vec3 base = random.vec(10.0f);
                const Vec3 at{static_cast<float>(base.x + off.x * a[0].x + off.y * a[1].x + off.z * a[2].x),
                              static_cast<float>(base.y + off.x * a[0].y + off.y * a[1].y + off.z * a[2].y),
                              static_cast<float>(base.z + off.x * a[0].z + off.y * a[1].z + off.z * a[2].z)};
                const std::uint32_t first = world.add(shape, kBodyDynamic, {base, q}),
                                    second = world.add(shape, kBodyDynamic, {at, r});
                const double gap = boxes_apart({base, q}, {at, r}, half, half);
                if (gap <= 0.0) continue;
                pairs.push_back({first, second});
                gaps.push_back(gap);
            }
            apart += static_cast<int>(pairs.size());
            for (const Manifold& m : collide(world, pairs)) {
                for (std::uint32_t i = 0; i < m.count; ++i) worst = std::max(worst, double(m.points[i].depth));
            }
        }
        REQUIRE(apart > test::sampled(40) * 10);
        CHECK(worst < 2e-4 + 5e-4 * double(half.x));
    }
}

}  // namespace orrery::sim
