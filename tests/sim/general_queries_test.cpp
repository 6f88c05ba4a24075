// Guards: rays and closest points of cylinders and hulls agree with the shapes' support functions: a point reported
// lies on the surface with its normal outward, and nothing nearer is passed over.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/seed.h"
#include "tests/support/solids.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
namespace test = orrery::test;

namespace {

// How far outside the solid a point is along the best of many directions: at most its distance.
double outside(const test::Solid& s, test::V p, test::Random& random, int tries) {
    double most = -1e300;
    for (int i = 0; i < tries; ++i) {
        const test::V d = test::vec(random.vec(1.0f));
        if (test::length(d) < 1e-3) continue;
        const test::V n = (1.0 / test::length(d)) * d;
        most = std::max(most, test::dot(p - s.support(n), n));
    }
    return most;
}

}  // namespace

TEST_CASE("rays and closest points of cylinders and hulls lie on the surface, and nothing nearer is passed over") {
    test::Random random(test::seeded(61));
    WorldDef def;
    ShapeDef hull;
    hull.type = ShapeType::hull;
    for (int i = 0; i < 30; ++i) hull.points.push_back(random.vec(0.8f));
    const Vec3 centre = *shape_centre(hull);
    std::vector<Vec3> corners;
    for (const Vec3& p : hull.points) corners.push_back({p.x - centre.x, p.y - centre.y, p.z - centre.z});
    const ShapeDef drum{{}, ShapeType::cylinder, 0.5f, 0.7f, {}};
    for (const ShapeDef& shape : {drum, hull}) {
        def = {};
        const Pose pose{random.vec(2.0f), random.rotation()};
        const std::uint32_t body = test::add_body(def, test::add_shape(def, shape), pose.position, pose.orientation);
        def.bodies[body].type = BodyType::fixed;
        const auto world = test::make_world(def);
        const test::Solid solid = test::make_solid(shape, corners, pose);
        int hits = 0, off_surface = 0, passed = 0, wrong_normal = 0, far = 0;
        std::vector<QueryHit> found;
        for (int i = 0; i < 400; ++i) {
            RayCast ray;
            const Vec3 from = random.vec(3.0f), to = random.vec(0.6f);
            ray.origin = {pose.position.x + from.x, pose.position.y + from.y, pose.position.z + from.z};
            const test::V way = test::vec(to) - test::vec(from), unit = (1.0 / test::length(way)) * way;
            ray.translation = {float(10 * unit.x), float(10 * unit.y), float(10 * unit.z)};
            if (world->cast_ray(ray, found) != QueryStatus::hit || found[0].inside) continue;
            ++hits;
            const test::V p = test::vec(found[0].point), n = test::vec(found[0].normal);
            off_surface += std::abs(test::dot(p - solid.support(n), n)) > 1e-4 || outside(solid, p, random, 100) > 1e-4;
            wrong_normal += test::dot(n, unit) > 1e-5 || std::abs(test::length(n) - 1.0) > 1e-5;
            // Just before the hit the ray is still outside, along the normal at least.
            passed += test::dot(p - 0.01 * unit - solid.support(n), n) < -1e-4;

            ClosestPoint near;
            near.point = ray.origin;
            near.max_distance = 10.0f;
            if (world->closest_point(near, found) != QueryStatus::hit) continue;
            const double distance = found[0].distance;
            const test::V q = test::vec(found[0].point);
            far += outside(solid, test::vec(near.point), random, 200) > distance + 1e-4;
            off_surface += outside(solid, q, random, 100) > 1e-4;
            if (distance > 0) far += std::abs(test::length(test::vec(near.point) - q) - distance) > 1e-4;
        }
        CHECK(hits > 100);
        CHECK(off_surface == 0);
        CHECK(wrong_normal == 0);
        CHECK(passed == 0);
        CHECK(far == 0);
    }
}
