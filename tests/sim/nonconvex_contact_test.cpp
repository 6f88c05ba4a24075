// Guards: several one-point manifolds of the same two bodies are solved as nonconvex contacts, each point with a normal
// and friction of its own: grooves bear what lies in them, legs slide, turn and stand by Coulomb's law, whatever the
// target and the thread count.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/support/about.h"
#include "tests/support/executors.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr double kGravity = 10.0, kDt = 1.0 / 60.0;

Quat about_x(double angle) { return {float(std::sin(0.5 * angle)), 0.0f, 0.0f, float(std::cos(0.5 * angle))}; }
Quat about_z(double angle) { return {0.0f, 0.0f, float(std::sin(0.5 * angle)), float(std::cos(0.5 * angle))}; }

// Balls of 0.1 m at these places, one rigid body.
std::uint32_t add_legs(WorldDef& def, const std::vector<Vec3>& at) {
    ShapeDef whole;
    whole.type = ShapeType::compound;
    const std::uint32_t leg = add_sphere_shape(def, 0.1f);
    for (const Vec3& place : at) whole.children.push_back({leg, {place, {}}});
    return add_shape(def, whole);
}
const std::vector<Vec3> kTable = {{-0.5f, 0, -0.5f}, {0.5f, 0, -0.5f}, {-0.5f, 0, 0.5f}, {0.5f, 0, 0.5f}};

// A groove along z, its flanks at `angle` from the horizontal, its edge in the origin.
std::uint32_t add_groove(WorldDef& def, double angle) {
    ShapeDef whole;
    whole.type = ShapeType::compound;
    const std::uint32_t flank = add_box_shape(def, {2.0f, 0.1f, 3.0f});
    for (const double side : {-1.0, 1.0}) {
        const double x = side * (2.0 * std::cos(angle) + 0.1 * std::sin(angle)),
                     y = 2.0 * std::sin(angle) - 0.1 * std::cos(angle);
        whole.children.push_back({flank, {{float(x), float(y), 0}, about_z(side * angle)}});
    }
    const std::uint32_t shape = add_shape(def, whole);
    const Vec3 centre = *shape_centre(def.shapes[shape], def.shapes);
    const std::uint32_t body = add_body(def, shape, centre);
    def.bodies[body].type = BodyType::fixed;
    return body;
}

double planar(Vec3 v) { return std::hypot(v.x, v.z); }

}  // namespace

TEST_CASE("a ball in a groove lies on both flanks: one contact of two points, at the height that geometry says") {
    for (const double angle : {0.4, 0.7854, 1.1}) {
        CAPTURE(angle);
        WorldDef def;
        def.solver.sleep = false;
        add_groove(def, angle);
        const std::uint32_t ball =
            add_body(def, add_sphere_shape(def, 0.5f), {0, float(0.5 / std::cos(angle) + 0.05), 0});
        const auto world = make_world(def);
        run(*world, 240);
        CHECK(world->stats().manifolds == 2);
        CHECK(world->stats().solved_constraints == 1);
        const BodyState s = state_of(*world, ball);
        CHECK(std::abs(s.pose.position.y - 0.5 / std::cos(angle)) < 0.002);
        CHECK(std::abs(s.pose.position.x) < 1e-4);
        CHECK(std::abs(s.linear_velocity.y) < 1e-3);
        CHECK(world->stats().max_penetration_m < 0.002f);
    }
}

// Along the groove friction's limit is mu times both normal forces, m g / (2 cos) each.
TEST_CASE("what slides along a groove is braked by both flanks: mu g / cos, more than on flat ground") {
    for (const double angle : {0.4, 0.9}) {
        CAPTURE(angle);
        WorldDef def;
        def.materials[0].friction = 0.3f;
        add_groove(def, angle);
        std::vector<Vec3> row;
        for (int k = 0; k < 2; ++k)
            row.push_back({0, 0, k - 0.5f});  // a dumbbell: four points, and it cannot roll along
        const std::uint32_t bar = add_body(def, add_legs(def, row), {0, float(0.1 / std::cos(angle)), -1.5f});
        def.bodies[bar].linear_velocity = {0, 0, 2.0f};
        const auto world = make_world(def);
        run(*world, 3);
        CHECK(world->stats().manifolds == 4);
        CHECK(world->stats().solved_constraints == 1);
        const double before = state_of(*world, bar).linear_velocity.z;
        run(*world, 15);
        const double slowed = (before - state_of(*world, bar).linear_velocity.z) / (15 * kDt),
                     expected = 0.3 * kGravity / std::cos(angle);
        MESSAGE("slowed by ", slowed, " m/s^2, ", expected, " expected");
        CHECK(slowed == about(expected, 0.03));
        run(*world, 120);
        CHECK(std::abs(state_of(*world, bar).linear_velocity.z) < 1e-3);
    }
}

TEST_CASE("a table on four balls slides by mu g, stops turning by mu m g r, and stands") {
    WorldDef def;
    def.materials[0].friction = 0.4f;
    add_ground(def);
    const std::uint32_t shape = add_legs(def, kTable);
    const std::uint32_t slides = add_body(def, shape, {0, 0.1f, 0}), turns = add_body(def, shape, {0, 0.1f, 10});
    def.bodies[slides].linear_velocity = {3.0f, 0, 1.0f};
    def.bodies[turns].angular_velocity = {0, 6.0f, 0};
    const auto world = make_world(def);
    run(*world, 3);
    CHECK(world->stats().manifolds == 8);
    CHECK(world->stats().solved_constraints == 2);
    const BodyState a = state_of(*world, slides), b = state_of(*world, turns);
    run(*world, 15);
    const BodyState a2 = state_of(*world, slides), b2 = state_of(*world, turns);
    CHECK(planar(a.linear_velocity) - planar(a2.linear_velocity) == about(0.4 * kGravity * 15 * kDt, 0.02));
    CHECK(a2.linear_velocity.x / a2.linear_velocity.z == about(3.0, 0.02));
    // Four balls at r = sqrt(1/2) from the axis: I = m (r^2 + 2/5 0.01).
    const double r = std::sqrt(0.5), braking = 0.4 * kGravity * r / (r * r + 0.004);
    CHECK(b.angular_velocity.y - b2.angular_velocity.y == about(braking * 15 * kDt, 0.02));
    run(*world, 300);
    for (const std::uint32_t body : {slides, turns}) {
        CHECK(planar(state_of(*world, body).linear_velocity) < 1e-3);
        CHECK(std::abs(state_of(*world, body).angular_velocity.y) < 1e-3);
        CHECK(std::abs(state_of(*world, body).pose.position.y - 0.1f) < 1e-3f);
    }
}

TEST_CASE("on a slope a table stands below the angle of friction and slides above it") {
    for (const double angle : {0.3, 0.6}) {  // tan 0.309, 0.684
        CAPTURE(angle);
        WorldDef def;
        def.solver.sleep = false;
        def.materials[0].friction = 0.5f;
        const std::uint32_t slope = add_body(def, add_box_shape(def, {20, 1, 5}), {0, 0, 0}, about_z(-angle));
        def.bodies[slope].type = BodyType::fixed;
        const Vec3 up{float(std::sin(angle)), float(std::cos(angle)), 0};
        const std::uint32_t table =
            add_body(def, add_legs(def, kTable), {1.1f * up.x, 1.1f * up.y, 0}, about_z(-angle));
        const auto world = make_world(def);
        run(*world, 30);
        const BodyState first = state_of(*world, table);
        run(*world, 30);
        const BodyState s = state_of(*world, table);
        const double along = s.linear_velocity.x * std::cos(angle) - s.linear_velocity.y * std::sin(angle),
                     before = first.linear_velocity.x * std::cos(angle) - first.linear_velocity.y * std::sin(angle);
        if (angle < 0.5) {
            run(*world, 540);
            const Vec3 p = state_of(*world, table).pose.position, q = first.pose.position;
            CHECK(std::hypot(p.x - q.x, p.y - q.y, p.z - q.z) < 1e-3);
        } else {
            const double wanted = kGravity * (std::sin(angle) - 0.5 * std::cos(angle));
            CHECK((along - before) / (30 * kDt) == about(wanted, 0.03));
        }
    }
}

TEST_CASE("more points than four make several contacts, fewer bounce as one") {
    WorldDef def;
    def.materials.push_back({});
    def.materials[1].restitution = 0.5f;
    add_ground(def);
    std::vector<Vec3> row;
    for (int k = 0; k < 10; ++k) row.push_back({0.3f * float(k), 0, 0.2f * float(k % 2)});
    const std::uint32_t long_one = add_legs(def, row), pair = add_legs(def, {{-0.5f, 0, 0}, {0.5f, 0, 0}});
    add_body(def, long_one, {0, 0.1f, 0});
    const std::uint32_t bounces = add_body(def, pair, {0, 1.35f, 10});
    def.bodies[bounces].material = 1;
    const auto world = make_world(def);
    double highest = 0.0, fastest = 0.0;
    for (int tick = 0; tick < 60; ++tick) {
        world->step();
        if (tick == 10) CHECK(world->stats().solved_constraints == 3);  // 4 + 4 + 2
        const BodyState s = state_of(*world, bounces);
        fastest = std::min(fastest, double(s.linear_velocity.y));
        highest = std::max(highest, double(s.linear_velocity.y));
        CHECK(std::abs(s.angular_velocity.z) < 0.05);
    }
    CHECK(-fastest > 4.5);
    CHECK(highest == about(-0.5 * fastest, 0.05));
}

TEST_CASE("a heap of jacks has the same bits for every target, thread count and way through save and restore") {
    WorldDef def;
    add_groove(def, 0.5);
    std::vector<Vec3> points = {{0.25f, 0, 0},  {-0.25f, 0, 0}, {0, 0.25f, 0},
                                {0, -0.25f, 0}, {0, 0, 0.25f},  {0, 0, -0.25f}};
    const std::uint32_t jack = add_legs(def, points);
    for (int k = 0; k < 24; ++k)
        add_body(def, jack, {0.2f * float(k % 3) - 0.2f, 1.5f + 0.5f * float(k / 3), 0.6f * float(k % 4) - 0.9f},
                 about_x(0.3 * k));
    const auto reference = make_world(def, Target::scalar);
    std::vector<HashTree> course;
    std::uint32_t fewer = 0;
    for (int tick = 0; tick < 200; ++tick) {
        reference->step();
        course.push_back(reference->hash());
        if (reference->stats().solved_constraints < reference->stats().manifolds) ++fewer;
    }
    CHECK(fewer > 100);  // there were nonconvex contacts
    for (const Target target : available_targets()) {
        CAPTURE(std::string(target_name(target)));
        for (const std::uint32_t threads : {1u, 3u}) {
            ThreadedExecutor executor(threads);
            auto world = make_world(def, target);
            for (std::size_t tick = 0; tick < course.size(); ++tick) {
                if (tick % 50 == 25) {
                    std::vector<std::uint8_t> saved;
                    world->save(saved);
                    world = make_world(def, target);
                    REQUIRE(world->restore(saved).ok());
                }
                REQUIRE(world->step({}, &executor) == StepStatus::ok);
                REQUIRE(world->hash() == course[tick]);
            }
        }
    }
}
