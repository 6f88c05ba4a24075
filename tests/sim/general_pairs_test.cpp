// Guards: pairs of general convex shapes say the truth. Whatever the shapes, no direction parts them better than the
// manifold's normal but by the tolerance that keeps faces preferred, 0.5 mm and 5 %, twice where edges meet nearly as a
// face does; the depth is what the normal says, by the same tolerance; points lie where both shapes are, to the slack
// of clipping: 5 thousandths of a face's size.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sim/collision/collision.h"
#include "sim/collision/convex/convex.h"
#include "sim/shapes/hull.h"
#include "tests/support/about.h"
#include "tests/support/executors.h"
#include "tests/support/seed.h"
#include "tests/support/solids.h"

namespace orrery::sim {
namespace {

constexpr float kMargin = 0.02f;
constexpr int kPairs = 300;        // of each two shapes; the long run goes through more seeds
constexpr double kSlack = 0.0085;  // of shapes up to 1.2 m wide, where two edges meet
constexpr double kDeep =
    0.01;  // below it what is midway between two surfaces may have left thin shapes on the other side

double twice_the_bias(double separation) { return 0.0011 + 0.105 * std::abs(separation); }

using test::cylinder, test::hull_of;

struct Kind {
    ShapeDef def;
    Shape shape;
    std::vector<Vec3> corners;
};
bool equal(const ref::ConvexContacts& x, const ref::ConvexContacts& y) {
    const auto same = [](ref::D3 a, ref::D3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
    if (x.count != y.count || !same(x.normal, y.normal)) return false;
    for (std::uint32_t i = 0; i < x.count; ++i) {
        const ref::ConvexPoint &a = x.point[i], &b = y.point[i];
        if (!same(a.point, b.point) || a.depth != b.depth || a.feature != b.feature) return false;
    }
    return true;
}
Kind kind(const ShapeDef& def) {
    Kind k{def, *make_shape(def, "shape"), {}};
    if (k.shape.hull) k.corners = k.shape.hull->vertex;
    return k;
}

}  // namespace

TEST_CASE("general convex pairs: no direction parts them better, depths follow the normal, points lie in both") {
    const Kind sphere = kind({{}, ShapeType::sphere, 0.4f, 0.5f, {}}),
               capsule = kind({{}, ShapeType::capsule, 0.2f, 0.6f, {}});
    const Kind box = kind({{}, ShapeType::box, 0.5f, 0.5f, {0.6f, 0.2f, 0.5f}}), drum = kind(cylinder(0.5f, 0.4f)),
               rod = kind(cylinder(0.1f, 0.9f));
    const Kind coin = kind(cylinder(0.6f, 0.05f)), rock = kind(hull_of(5, 40, {0.6f, 0.5f, 0.4f})),
               chip = kind(hull_of(6, 8, {0.7f, 0.2f, 0.5f}));
    const Kind* const pairs[][2] = {{&sphere, &drum},  {&drum, &capsule}, {&box, &drum},  {&drum, &drum},
                                    {&rod, &coin},     {&rod, &rod},      {&coin, &box},  {&rock, &sphere},
                                    {&capsule, &rock}, {&rock, &box},     {&rock, &drum}, {&chip, &rod},
                                    {&rock, &rock},    {&chip, &rock},    {&box, &chip},  {&sphere, &chip},
                                    {&chip, &chip},    {&coin, &coin},    {&drum, &coin}};
    std::uint64_t seed = 900;
    const int drawn = test::sampled(kPairs);
    for (const auto& two : pairs) {
        const Kind &ka = *two[0], &kb = *two[1];
        CAPTURE(seed);
        test::Random random(test::seeded(seed++));
        const bool smooth = ka.def.type == ShapeType::sphere || kb.def.type == ShapeType::sphere;
        int touching = 0, missing = 0, phantom = 0, poor_axis = 0, wrong_depth = 0, wrong_place = 0, different = 0;
        double worst_axis = 0, worst_depth = 0, worst_place = 0;
        for (int i = 0; i < drawn; ++i) {
            const Vec3 way = random.vec(1.0f);
            const Quat q = random.rotation(), r = random.rotation();
            const double n = test::length(test::vec(way)) + 1e-6, wanted = random.in(-0.1f, 0.04f);
            const test::Solid sa = test::make_solid(ka.def, ka.corners, {{}, q});
            float near = 0.0f, far = 4.0f;
            const auto pose_at = [&](float d) {
                return Pose{{float(way.x / n * d), float(way.y / n * d), float(way.z / n * d)}, r};
            };
            test::V along;
            for (int k = 0; k < 12; ++k) {
                const float mid = 0.5f * (near + far);
                (test::separation_along(sa, test::make_solid(kb.def, kb.corners, pose_at(mid)),
                                        (1.0 / n) * test::vec(way)) < wanted
                     ? near
                     : far) = mid;
            }
            const Pose pose = pose_at(far);
            const test::Solid sb = test::make_solid(kb.def, kb.corners, pose);
            ref::Convex ca, cb;
            ref::place_convex(ka.shape, {{}, ref::axes_of(q)}, ca);
            ref::place_convex(kb.shape, {ref::widened(pose.position), ref::axes_of(r)}, cb);
            ref::ConvexContacts got;
            const bool touches = ref::collide_convex(*polytope_kernels_for(best_target()), ca, cb, {}, kMargin, got);
            for (const Target target : available_targets()) {
                ref::ConvexContacts other;
                const bool same =
                    ref::collide_convex(*polytope_kernels_for(target), ca, cb, {}, kMargin, other) == touches;
                different += !same || (touches && !equal(got, other));
            }
            std::vector<test::V> starts;
            if (touches) starts.push_back({got.normal.x, got.normal.y, got.normal.z});
            double truth = test::largest_separation(sa, sb, random, starts, &along);
            for (int more = 0; more < 20 && !touches && truth < -1e-4; ++more)
                truth = std::max(truth, test::largest_separation(sa, sb, random, starts, &along));
            missing += !touches && truth < -1e-4;
            phantom += touches && truth > kMargin + kSlack;  // a corner past an edge by the slack
            if (!touches) continue;
            ++touching;
            const test::V normal{got.normal.x, got.normal.y, got.normal.z};
            const double here = test::separation_along(sa, sb, normal), allowed = smooth ? 1e-5 : twice_the_bias(here);
            worst_axis = std::max(worst_axis, truth - here);
            poor_axis += truth - here > allowed;
            double depth = -1e300;
            for (std::uint32_t k = 0; k < got.count; ++k) depth = std::max(depth, got.point[k].depth);
            const double depth_error = std::abs(depth + here);
            worst_depth = std::max(worst_depth, depth_error);
            wrong_depth += depth > -here + 1e-5 || depth < -here - twice_the_bias(here);
            for (std::uint32_t k = 0; k < got.count; ++k) {
                const test::V p{got.point[k].point.x, got.point[k].point.y, got.point[k].point.z};
                const double beside_b = test::outside(sb, p, random), beside_a = test::outside(sa, p, random);
                const double beside = std::max(beside_a, beside_b) - std::max(0.0, -0.5 * got.point[k].depth);
                worst_place = std::max(worst_place, beside);
                wrong_place += beside > kSlack + (here < -kDeep ? 0.6 * -here : 0.0);
            }
        }
        INFO(shape_type_name(ka.def.type)
             << " " << shape_type_name(kb.def.type) << ": touching " << touching << ", axis " << worst_axis
             << ", depth " << worst_depth << ", place " << worst_place);
        CHECK((touching > 3 || drawn < kPairs));
        CHECK(missing == 0);
        CHECK(phantom == 0);
        CHECK(poor_axis == 0);
        CHECK(wrong_depth == 0);
        CHECK(wrong_place == 0);
        CHECK(different == 0);
    }
}

TEST_CASE(
    "two polytopes that are apart are said to be, where no face and no two edges but nearly parallel ones part them") {
    // Long beams, each on an edge, those edges face to face and turned by less than a thousandth.
    const Kind beam = kind({{}, ShapeType::box, 0.5f, 0.5f, {5.0f, 0.1f, 0.1f}});
    for (const double yaw : {1e-6, 1e-4, 5e-4, 9e-4, 2e-3}) {
        for (const double apart : {0.002, 0.001}) {
            CAPTURE(yaw);
            CAPTURE(apart);
            const float eighth = 0.38268343f, rest = 0.92387953f;  // of a turn about x
            const auto half = static_cast<float>(yaw / 2);
            ref::Convex lower, upper;
            ref::place_convex(beam.shape, {{}, ref::axes_of({eighth, 0.0f, 0.0f, rest})}, lower);
            // about x, then about y
            const Quat turned{eighth, half * rest, -half * eighth, rest};
            ref::place_convex(beam.shape, {{0.0, 2 * 0.1 * std::sqrt(2.0) + apart, 0.0}, ref::axes_of(turned)}, upper);
            ref::ConvexGap gap;
            const ref::ConvexAxis axis = ref::find_axis(*polytope_kernels_for(best_target()), lower, upper, 0.02, gap);
            REQUIRE(axis.kind != ref::ConvexAxis::Kind::none);
            CHECK(axis.separation >= ref::least_preferred(apart) - 1e-6);
            CHECK(axis.separation <= apart + 1e-6);
        }
    }
    // Slender spikes, tip to tip: a face of the blunter one parts them by less than what makes it preferred to the
    // other's.
    const auto spike = [](double degrees, double way) {
        ShapeDef def;
        def.type = ShapeType::hull;
        const auto wide = static_cast<float>(0.25 * std::tan(degrees * 0.017453292519943295)),
                   high = static_cast<float>(0.25 * way);
        def.points = {
            {0.0f, 0.0f, 0.0f}, {wide, high, wide}, {-wide, high, wide}, {wide, high, -wide}, {-wide, high, -wide}};
        return kind(def);
    };
    const Kind sharp = spike(5.0, -1.0), blunt = spike(5.1, 1.0);
    for (const double apart : {0.004, 0.002, 0.006}) {
        CAPTURE(apart);
        ref::Convex a, b;
        ref::place_convex(sharp.shape, {sharp.shape.hull->centre, ref::DAxes{}}, a);
        const ref::D3 at = blunt.shape.hull->centre;
        ref::place_convex(blunt.shape, {{at.x, at.y + apart, at.z}, ref::DAxes{}}, b);
        ref::ConvexGap gap;
        const ref::ConvexAxis axis = ref::find_axis(*polytope_kernels_for(best_target()), a, b, 0.02, gap);
        REQUIRE(axis.kind != ref::ConvexAxis::Kind::none);
        CHECK(axis.separation == test::about(apart, 0.001));
        CHECK(axis.normal.y > 0.999);
    }
}

}  // namespace orrery::sim
