// Guards: that sticks, which turn about their length by a push that would hardly move them, get no energy out of
// contacts, in any mode and from any shape that they meet; that what is small or thin may be turned beyond the limit by
// a blow and is none the worse; and that they move alike on all targets, threads and ways through save and restore.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/bodies/numbers.h"
#include "tests/support/body_worlds.h"
#include "tests/support/courses.h"
#include "tests/support/rigs.h"
#include "tests/support/seed.h"
#include "tests/support/varied_world.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr CollisionMode kModes[] = {CollisionMode::discrete, CollisionMode::passive, CollisionMode::continuous};
constexpr float kG = 10.0f;

// A stick of 1 m and 1 kg along y, so thick, and its principal inertias.
struct Stick {
    std::string name;
    ShapeDef shape;
    double across, along;  // kg m^2
};
Stick box_stick(float half) {
    return {"box",
            {{}, ShapeType::box, 0.0f, 0.0f, {half, 0.5f, half}},
            (4.0 * half * half + 1.0) / 12.0,
            8.0 * half * half / 12.0};
}
Stick cylinder_stick(float radius) {
    return {"cylinder", cylinder(radius, 0.5f), (3.0 * radius * radius + 1.0) / 12.0, 0.5 * radius * radius};
}
Stick capsule_stick(float radius) {
    const double r = radius, l = 1.0 - 2.0 * r, rod = l / (l + 4.0 / 3.0 * r), ball = 1.0 - rod;  // of its mass
    const double across = rod * (l * l / 12.0 + r * r / 4.0) + ball * (0.4 * r * r + l * l / 4.0 + 0.375 * l * r);
    return {
        "capsule", {{}, ShapeType::capsule, radius, 0.5f - radius, {}}, across, rod * 0.5 * r * r + ball * 0.4 * r * r};
}

double energy(const BodyState& s, const Stick& stick) {
    const D3 v = d(s.linear_velocity), w = turned(back(d(s.pose.orientation)), d(s.angular_velocity));
    return 0.5 * along(v, v) + 0.5 * (stick.across * (w[0] * w[0] + w[2] * w[2]) + stick.along * w[1] * w[1]) +
           double(kG) * s.pose.position.y;
}

// So many sticks, turned at random, thrown down.
WorldDef shower(const Stick& stick, int count, float spin, float speed, CollisionMode mode, Random& random) {
    WorldDef def;
    def.gravity = {0.0f, -kG, 0.0f};
    def.solver.sleep = false;
    const std::uint32_t shape = add_shape(def, stick.shape);
    for (int i = 0; i < count; ++i) {
        const Quat turn = random.rotation();
        BodyDef& body = def.bodies[add_body(
            def, shape, {3.0f * static_cast<float>(i % 10), 0.9f, 3.0f * static_cast<float>(i / 10)}, turn)];
        body.mass_kg = 1.0f;
        body.linear_velocity = {0.0f, -speed, 0.0f};
        const Vec3 w = random.vec(1.0f);
        const float size = std::sqrt(w.x * w.x + w.y * w.y + w.z * w.z);
        body.angular_velocity = {spin * w.x / size, spin * w.y / size, spin * w.z / size};
        body.collision_mode = mode;
    }
    return def;
}
void add_box_floor(WorldDef& def) {
    def.bodies[add_body(def, add_box_shape(def, {40.0f, 1.0f, 40.0f}), {0.0f, -1.0f, 0.0f})].type = BodyType::fixed;
}
void add_field(WorldDef& def) {
    ShapeDef field;
    field.type = ShapeType::height_field;
    field.columns = 60;
    field.heights.assign(60 * 60, 0.0f);
    def.bodies[add_body(def, add_shape(def, field), {10.0f, 0.0f, 10.0f})].type = BodyType::fixed;
}

struct Landed {
    int gained = 0, quarantined = 0;
    double most = 0.0;  // of what each began with
};
Landed land(const WorldDef& def, const Stick& stick, int count, int ticks) {
    auto world = make_world(def);
    std::vector<double> start, most(static_cast<std::size_t>(count), 0.0);
    for (int i = 0; i < count; ++i) start.push_back(energy(state_of(*world, static_cast<std::uint32_t>(i)), stick));
    Landed out;
    for (int tick = 0; tick < ticks; ++tick) {
        world->step();
        out.quarantined += count_events(*world, EventKind::quarantined);
        for (int i = 0; i < count; ++i) {
            const auto k = static_cast<std::size_t>(i);
            most[k] = std::max(most[k], energy(state_of(*world, static_cast<std::uint32_t>(i)), stick) / start[k]);
        }
    }
    for (const double m : most) out.gained += m > 1.05 ? 1 : 0, out.most = std::max(out.most, m);
    return out;
}

}  // namespace

TEST_CASE("what counts as a stick") {
    const auto thin = [](Vec3 half_extents, std::uint8_t locks = 0) {
        WorldDef def;
        def.bodies[add_body(def, add_box_shape(def, half_extents), {})].locks = locks;
        MassRecord mass;
        const BodyState s = state_of(*make_world(def), 0);
        const float k = 1.0f / (3.0f * s.inverse_mass);
        const Vec3 h = half_extents;
        mass.inverse_inertia[0] = 1.0f / (k * (h.y * h.y + h.z * h.z));
        mass.inverse_inertia[3] = 1.0f / (k * (h.x * h.x + h.z * h.z));
        mass.inverse_inertia[5] = 1.0f / (k * (h.x * h.x + h.y * h.y));
        for (int axis = 0; axis < 3; ++axis)
            mass.angular_lock[axis] = (locks & kLockAngularX << axis) != 0 ? 0.0f : 1.0f;
        return ref::is_thin(mass);
    };
    CHECK(thin({0.5f, 0.1f, 0.1f}));
    CHECK(thin({0.005f, 0.5f, 0.005f}));
    CHECK(thin({1.4f, 0.06f, 0.22f}));
    CHECK_FALSE(thin({0.4f, 0.1f, 0.1f}));
    CHECK_FALSE(thin({0.5f, 0.5f, 0.001f}));  // a plate turns about no axis much more easily
    CHECK_FALSE(thin({0.5f, 0.1f, 0.1f}, kLockAngularY));
}

// With contacts that pushed by the inertia of the tick's start every fifth gained energy, a hundred times what it had,
// and some were quarantined.
TEST_CASE("sticks that are thrown to the ground gain no energy" * doctest::test_suite("quality")) {
    Random random(seeded(1));
    constexpr int kSticks = 60;
    struct Throw {
        float spin, speed;
    };
    for (const Stick& stick :
         {box_stick(0.0025f), box_stick(0.005f), box_stick(0.01f), box_stick(0.1f), capsule_stick(0.005f),
          capsule_stick(0.02f), cylinder_stick(0.005f), cylinder_stick(0.02f)}) {
        for (const Throw& thrown : {Throw{0.0f, 0.0f}, Throw{10.0f, 5.0f}, Throw{50.0f, 5.0f}}) {
            for (const CollisionMode mode : kModes) {
                for (int floor = 0; floor < 3; ++floor) {
                    if (few() && floor != static_cast<int>(mode)) continue;
                    CAPTURE(stick.name);
                    CAPTURE(stick.along);
                    CAPTURE(thrown.spin);
                    CAPTURE(floor);
                    CAPTURE(static_cast<int>(mode));
                    WorldDef def = shower(stick, kSticks, thrown.spin, thrown.speed, mode, random);
                    if (floor == 0) add_ground(def);
                    if (floor == 1) add_box_floor(def);
                    if (floor == 2) add_field(def);
                    const Landed landed = land(def, stick, kSticks, 90);
                    CHECK(landed.quarantined == 0);
                    // Of those that are not discrete some that spin by 50 rad/s do (KNOWN_ISSUES.md), else hardly any.
                    const bool fast = thrown.spin >= 50.0f;
                    CHECK(landed.gained <= (mode == CollisionMode::discrete ? (fast ? 1 : 0) : (fast ? 7 : 1)));
                }
            }
        }
    }
}

TEST_CASE(
    "of rods that spin at 50 rad/s beside a thin plate, free to turn any way, hardly any gains energy, and none a "
    "discrete one" *
    doctest::test_suite("quality")) {
    Random random(seeded(2));
    for (const Stick& stick : {box_stick(0.005f), box_stick(0.01f), capsule_stick(0.005f), cylinder_stick(0.01f)}) {
        for (const CollisionMode mode : kModes) {
            WorldDef def;
            def.gravity = {};
            const std::uint32_t shape = add_shape(def, stick.shape), plate = add_box_shape(def, {0.005f, 2.0f, 0.4f});
            constexpr int kRods = 60;
            for (int i = 0; i < kRods; ++i) {
                const float z = static_cast<float>(i);
                BodyDef& rod = def.bodies[add_body(def, shape, {-random.in(0.1f, 0.45f), -100.0f, z},
                                                   turn_about_z(random.in(-0.14f, 0.14f)))];
                rod.pose.position.y = 0.0f;
                rod.mass_kg = 1.0f;
                rod.angular_velocity = {0.0f, 0.0f, i % 2 == 0 ? 50.0f : -50.0f};
                rod.collision_mode = mode;
            }
            for (int i = 0; i < kRods; ++i)
                def.bodies[add_body(def, plate, {0.0f, 0.0f, static_cast<float>(i)})].type = BodyType::fixed;
            CAPTURE(stick.name);
            CAPTURE(static_cast<int>(mode));
            auto world = make_world(def);
            const double start = 0.5 * stick.across * 2500.0;
            std::vector<bool> gained(kRods);
            for (int tick = 0; tick < 30; ++tick) {
                world->step();
                CHECK(count_events(*world, EventKind::quarantined) == 0);
                for (std::uint32_t i = 0; i < kRods; ++i) {
                    const BodyState s = state_of(*world, i);
                    if (energy(s, stick) - double(kG) * s.pose.position.y > 1.1 * start) gained[i] = true;
                }
            }
            CHECK(std::ranges::count(gained, true) <= (mode == CollisionMode::discrete ? 0 : 6));
        }
    }
}

// Rolling: g sin a / (1 + 1 / 2). What contacts make of a stick must not keep it from that.
TEST_CASE("a thin pole rolls down a slope as fast as any cylinder") {
    for (const float radius : {0.01f, 0.05f, 0.3f}) {
        WorldDef def;
        def.gravity = {0.0f, -kG, 0.0f};
        const float angle = 0.1f;
        add_ground(def, turn_about_z(-angle));  // falls towards +x
        const Vec3 normal{std::sin(angle), std::cos(angle), 0.0f};
        // Its axis, y, along z.
        const Quat lies{0.70710678f, 0.0f, 0.0f, 0.70710678f};
        const std::uint32_t pole =
            add_body(def, add_shape(def, cylinder(radius, 0.5f)), {radius * normal.x, radius * normal.y, 0.0f}, lies);
        auto world = make_world(def);
        run(*world, 120);
        const BodyState s = state_of(*world, pole);
        const double speed = std::hypot(s.linear_velocity.x, s.linear_velocity.y);
        CAPTURE(radius);
        // The thinnest comes near the fastest that anything may turn.
        const double wanted = 2.0 / 3.0 * double(kG) * std::sin(double(angle)) * 2.0;
        CHECK(speed == doctest::Approx(wanted).epsilon(0.02));
        CHECK(std::fabs(s.angular_velocity.z) * radius == doctest::Approx(wanted).epsilon(0.02));
        CHECK(std::fabs(s.pose.position.z) < 0.01f);
    }
}

// As it lay is not as it was turned about its length: what rolls by half a turn a tick must not be pushed the wrong way
// across.
TEST_CASE("a pole that rolls fast on level ground goes on") {
    for (const float speed : {0.5f, 1.0f, 1.5f}) {
        WorldDef def;
        def.gravity = {0.0f, -kG, 0.0f};
        def.solver.sleep = false;
        add_ground(def);
        const std::uint32_t pole = add_body(def, add_shape(def, cylinder(0.01f, 0.5f)), {0.0f, 0.01f, 0.0f},
                                            {0.70710678f, 0.0f, 0.0f, 0.70710678f});
        def.bodies[pole].linear_velocity = {speed, 0.0f, 0.0f};
        def.bodies[pole].angular_velocity = {0.0f, 0.0f, -speed / 0.01f};
        auto world = make_world(def);
        run(*world, 240);
        CAPTURE(speed);
        CHECK(state_of(*world, pole).linear_velocity.x == doctest::Approx(speed).epsilon(0.01));
    }
}

TEST_CASE("a small die that is thrown hard is turned faster than anything may turn, and goes on") {
    Random random(seeded(3));
    WorldDef def;
    def.gravity = {0.0f, -kG, 0.0f};
    const std::uint32_t die = add_box_shape(def, {0.004f, 0.004f, 0.004f}),
                        pin = add_box_shape(def, {0.0005f, 0.02f, 0.0005f});
    constexpr std::uint32_t kEach = 40;
    for (std::uint32_t i = 0; i < 2 * kEach; ++i) {
        const Quat turn = random.rotation();
        BodyDef& body =
            def.bodies[add_body(def, i < kEach ? die : pin, {0.5f * static_cast<float>(i), 0.3f, 0.0f}, turn)];
        body.linear_velocity = {0.0f, -20.0f, 8.0f};
    }
    add_ground(def);
    auto world = make_world(def);
    int limited = 0;
    for (int tick = 0; tick < 240; ++tick) {
        world->step();
        CHECK(count_events(*world, EventKind::quarantined) == 0);
        limited += count_events(*world, EventKind::speed_limited, EventCause::turns_too_fast);
        for (std::uint32_t i = 0; i < 2 * kEach; ++i) {
            const Vec3 w = state_of(*world, i).angular_velocity;
            CHECK(std::max({std::fabs(w.x), std::fabs(w.y), std::fabs(w.z)}) <= 2.0f * kMaxAngularSpeed_radps);
        }
    }
    CHECK(limited > 0);
}

// Beside others, so that bundles of both are there, and joined to some.
TEST_CASE("sticks have the same bits on every target and thread count and through save and restore") {
    WorldDef def = varied_world();
    const std::uint32_t shapes[] = {add_box_shape(def, {0.01f, 0.5f, 0.01f}), add_shape(def, cylinder(0.01f, 0.4f)),
                                    add_capsule_shape(def, 0.02f, 0.4f)};
    ShapeDef field;
    field.type = ShapeType::height_field;
    field.columns = 5;
    field.heights.assign(25, 0.0f);
    def.bodies[add_body(def, add_shape(def, field), {30.0f, 0.2f, 0.0f})].type = BodyType::fixed;
    std::uint32_t before = kNone;
    for (int i = 0; i < 40; ++i) {
        const float x = static_cast<float>(i % 20) - 5.0f;
        const std::uint32_t stick =
            add_body(def, shapes[i % 3],
                     {i % 4 == 3 ? 29.0f + 0.1f * x : x, 1.2f + 0.3f * static_cast<float>(i % 5),
                      0.7f * static_cast<float>(i / 20)},
                     exact_turn(0.15f * static_cast<float>(i)));
        def.bodies[stick].angular_velocity = {5.0f, 1.0f, i % 2 == 0 ? -20.0f : 9.0f};
        def.bodies[stick].linear_velocity = {0.0f, -4.0f, 0.0f};
        def.bodies[stick].collision_mode = kModes[i % 3];
        if (i % 7 == 6) add_joint(def, before, stick, BallSocket{{0.0f, 0.4f, 0.0f}, {0.0f, -0.4f, 0.0f}, {}});
        before = stick;
    }
    check_one_course({def, 90, varied_commands});
}

// Whoever touches nothing thin has the bits that it would have without it.
TEST_CASE("what meets no stick has the same bits beside sticks") {
    WorldDef def;
    add_ground(def);
    const std::uint32_t box = add_box_shape(def, {0.3f, 0.2f, 0.4f});
    for (int i = 0; i < 30; ++i) {
        const std::uint32_t body =
            add_body(def, box, {1.1f * static_cast<float>(i % 6), 0.5f + 0.5f * static_cast<float>(i / 6), 0.0f},
                     exact_turn(0.02f * static_cast<float>(i)));
        def.bodies[body].angular_velocity = {1.0f, 2.0f, -1.0f};
    }
    WorldDef more = def;
    const std::uint32_t stick = add_box_shape(more, {0.01f, 0.5f, 0.01f});
    for (int i = 0; i < 20; ++i)
        more.bodies[add_body(more, stick, {200.0f + static_cast<float>(i), 1.0f, 0.0f},
                             exact_turn(0.3f * static_cast<float>(i)))]
            .linear_velocity = {0.0f, -5.0f, 0.0f};
    auto alone = make_world(def), beside = make_world(more);
    require_same_motion(*alone, *beside, static_cast<std::uint32_t>(def.bodies.size()), 180);
}
