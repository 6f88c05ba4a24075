// Guards: bodies of the general shapes behave as things do: what stands stands, what is round rolls, and none of it
// depends on the target, the threads, or a save and restore on the way.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/about.h"
#include "tests/support/courses.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

std::uint32_t add_cylinder_shape(WorldDef& def, float radius, float half_height) {
    return add_shape(def, {"", ShapeType::cylinder, radius, half_height, {}});
}
std::uint32_t add_hull_shape(WorldDef& def, std::vector<Vec3> points) {
    ShapeDef shape;
    shape.type = ShapeType::hull;
    shape.points = std::move(points);
    return add_shape(def, shape);
}
// A prism on a regular polygon, standing along y.
std::vector<Vec3> prism(int sides, float radius, float half_height) {
    std::vector<Vec3> points;
    for (int i = 0; i < sides; ++i) {
        const double a = 2.0 * 3.14159265358979 * i / sides;
        for (const float y : {-half_height, half_height})
            points.push_back({radius * float(std::cos(a)), y, radius * float(std::sin(a))});
    }
    return points;
}
std::uint32_t add_box_ground(WorldDef& def, Quat turn = {}) {
    const std::uint32_t body = add_body(def, add_box_shape(def, {50, 1, 50}), {0, -1, 0}, turn);
    def.bodies[body].type = BodyType::fixed;
    return body;
}

double moved(const World& world, const WorldDef& def, std::uint32_t body) {
    const Vec3 p = state_of(world, body).pose.position, q = def.bodies[body].pose.position;
    return std::hypot(p.x - q.x, p.y - q.y, p.z - q.z);
}
double tilt(const World& world, std::uint32_t body) {  // of local y against the world's, rad
    const Quat q = state_of(world, body).pose.orientation;
    return std::acos(std::min(1.0, 1.0 - 2.0 * (double(q.x) * q.x + double(q.z) * q.z)));
}

}  // namespace

TEST_CASE("a cylinder on its cap stands still on box, plane and hull for ten seconds") {
    for (const int ground : {0, 1, 2}) {
        CAPTURE(ground);
        WorldDef def;
        if (ground == 0) add_box_ground(def);
        if (ground == 1) add_ground(def);
        if (ground == 2) {
            const std::uint32_t body = add_body(def, add_hull_shape(def, prism(7, 5.0f, 1.0f)), {0, -1, 0});
            def.bodies[body].type = BodyType::fixed;
        }
        const std::uint32_t drum = add_body(def, add_cylinder_shape(def, 0.5f, 0.75f), {0.1f, 0.75f, 0.2f},
                                            {0.0f, 0.38268343f, 0.0f, 0.92387953f});
        auto world = make_world(def);
        run(*world, 600);
        CHECK(moved(*world, def, drum) < 0.005);
        CHECK(tilt(*world, drum) < 1e-3);
    }
}

TEST_CASE("stacks of ten cylinders, hulls and both in turn stand for ten seconds") {
    for (const int kind : {0, 1, 2}) {
        CAPTURE(kind);
        WorldDef def;
        add_box_ground(def);
        const std::uint32_t drum = add_cylinder_shape(def, 0.5f, 0.5f),
                            block = add_hull_shape(def, prism(6, 0.6f, 0.5f));
        std::vector<std::uint32_t> bodies;
        for (int i = 0; i < 10; ++i)
            bodies.push_back(add_body(def, kind == 0 || (kind == 2 && i % 2 == 0) ? drum : block, {0, 0.5f + i, 0}));
        auto world = make_world(def);
        run(*world, 600);
        for (const std::uint32_t body : bodies) {
            CHECK(moved(*world, def, body) < 0.03);
            CHECK(tilt(*world, body) < 0.01);
        }
    }
}

TEST_CASE("a cylinder on its side rolls straight, without slowing down or hopping") {
    WorldDef def;
    add_box_ground(def);
    const Quat lying{std::sqrt(0.5f), 0.0f, 0.0f, std::sqrt(0.5f)};  // axis along z
    const std::uint32_t log = add_body(def, add_cylinder_shape(def, 0.5f, 1.0f), {-10, 0.5f, 0}, lying);
    def.bodies[log].linear_velocity = {2, 0, 0};
    def.bodies[log].angular_velocity = {0, 0, -4};
    auto world = make_world(def);
    double highest = 0;
    for (int i = 0; i < 600; ++i) {
        world->step();
        highest = std::max(highest, double(state_of(*world, log).pose.position.y));
    }
    const BodyState end = state_of(*world, log);
    CHECK(end.pose.position.x > 9.5);
    CHECK(std::abs(end.pose.position.z) < 0.02);
    CHECK(end.linear_velocity.x > 1.9);
    CHECK(highest < 0.502);
}

TEST_CASE("a pile of logs between posts rests") {
    WorldDef def;
    add_box_ground(def);
    const Quat lying{std::sqrt(0.5f), 0.0f, 0.0f, std::sqrt(0.5f)};
    const std::uint32_t log = add_cylinder_shape(def, 0.5f, 1.5f), post = add_box_shape(def, {0.2f, 2.0f, 2.0f});
    for (const float x : {-2.25f, 2.25f}) def.bodies[add_body(def, post, {x, 2.0f, 0})].type = BodyType::fixed;
    std::vector<std::uint32_t> logs;
    for (int row = 0; row < 3; ++row) {
        for (int i = 0; i < 4 - row % 2; ++i)
            logs.push_back(add_body(def, log, {-1.5f + (row % 2) * 0.5f + i, 0.5f + row * 0.88f, 0}, lying));
    }
    auto world = make_world(def);
    run(*world, 600);
    for (const std::uint32_t body : logs) {
        const BodyState s = state_of(*world, body);
        CHECK(moved(*world, def, body) < 0.15);
        CHECK(std::hypot(s.linear_velocity.x, s.linear_velocity.y, s.linear_velocity.z) < 0.02);
    }
}

TEST_CASE("a hull of a box's corners behaves as the box") {
    WorldDef def;
    add_box_ground(def);
    std::vector<Vec3> corners;
    for (int k = 0; k < 8; ++k)
        corners.push_back({(k & 1) ? 0.5f : -0.5f, (k & 2) ? 0.25f : -0.25f, (k & 4) ? 0.75f : -0.75f});
    const std::uint32_t hull = add_hull_shape(def, corners), box = add_box_shape(def, {0.5f, 0.25f, 0.75f});
    const std::uint32_t a = add_body(def, hull, {-3, 0.25f, 0}), b = add_body(def, box, {3, 0.25f, 0});
    def.bodies[a].linear_velocity = def.bodies[b].linear_velocity = {0, 0, 4};
    auto world = make_world(def);
    run(*world, 120);
    const BodyState x = state_of(*world, a), y = state_of(*world, b);
    CHECK(x.pose.position.z == about(y.pose.position.z, 0.01));
    CHECK(x.pose.position.y == about(y.pose.position.y, 0.001));
    CHECK(tilt(*world, a) < 0.002);
}

TEST_CASE("general shapes: the same bits for every target, thread count and way through save and restore") {
    WorldDef def;
    add_box_ground(def);
    const std::uint32_t shapes[] = {add_cylinder_shape(def, 0.4f, 0.3f), add_hull_shape(def, prism(5, 0.5f, 0.3f)),
                                    add_sphere_shape(def, 0.3f), add_box_shape(def, {0.3f, 0.3f, 0.4f}),
                                    add_capsule_shape(def, 0.2f, 0.4f)};
    Lcg random(static_cast<std::uint32_t>(77));
    for (int i = 0; i < 60; ++i) {
        const float x = random.between(-1.5f, 1.5f), z = random.between(-1.5f, 1.5f);
        add_body(def, shapes[i % 5], {x, 0.6f + 0.35f * static_cast<float>(i), z}, exact_turn(random.unit()));
    }
    check_one_course({def, 150, {}, [](const World& world) {
                          if (world.tick() == 150) CHECK(world.stats().touching_pairs > 40);
                      }});
}
