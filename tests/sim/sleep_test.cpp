// Contract: islands at rest fall asleep as one and wake as one; sleep changes nothing but the cost, and is state like
// any other: the same on every target and thread count and after a restore.
#include <doctest/doctest.h>

#include "server/room/thread_pool.h"
#include "tests/support/about.h"
#include "tests/support/seeded_random.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// Ground, then stacks of three boxes, 4 m apart: bodies 1 to 3, 4 to 6, ...
WorldDef stacks(int count) {
    WorldDef def;
    add_ground(def);
    const auto box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    for (int i = 0; i < 3 * count; ++i)
        add_body(def, box, {4.0f * static_cast<float>(i / 3), 0.5f + static_cast<float>(i % 3), 0.0f});
    return def;
}

bool asleep(const World& world, std::uint32_t body) { return state_of(world, body).asleep; }
bool all_asleep(const World& world, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t i = first; i <= last; ++i) {
        if (!asleep(world, i)) return false;
    }
    return true;
}
bool none_asleep(const World& world, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t i = first; i <= last; ++i) {
        if (asleep(world, i)) return false;
    }
    return true;
}

Command push(std::uint32_t body, Vec3 impulse) {
    Command c = command(CommandKind::impulse);
    c.body = {body + 1, 0};
    c.linear = impulse;
    return c;
}
Command despawn(std::uint32_t body) {
    Command c = command(CommandKind::despawn);
    c.body = {body + 1, 0};
    return c;
}

}  // namespace

TEST_CASE("what rests falls asleep after sleep_time_s, with no velocity, and then does not move by a bit") {
    auto world = make_world(stacks(2));
    run(*world, 20);
    CHECK(world->stats().sleeping_bodies == 0);
    run(*world, 100);
    REQUIRE(all_asleep(*world, 1, 6));
    CHECK(world->stats().sleeping_bodies == 6);
    CHECK(world->stats().candidate_pairs == 0);
    const BodyState before = state_of(*world, 3);
    CHECK(before.linear_velocity.y == 0.0f);
    run(*world, 100);
    const BodyState after = state_of(*world, 3);
    CHECK(after.pose.position.y == before.pose.position.y);
    CHECK(after.pose.orientation.z == before.pose.orientation.z);
}

TEST_CASE("sleep ends no contact, and none begins on waking") {
    auto world = make_world(stacks(1));
    int begins = 0, ends = 0;
    for (int t = 0; t < 300; ++t) {
        const bool poke = t == 200;
        world->step(poke ? std::vector<Command>{push(2, {0.0f, -1.0f, 0.0f})} : std::vector<Command>{});
        begins += count_events(*world, EventKind::contact_begin);
        ends += count_events(*world, EventKind::contact_end);
        if (t == 199) CHECK(all_asleep(*world, 1, 3));
        if (t == 200) CHECK(none_asleep(*world, 1, 3));
    }
    CHECK(begins == 3);
    CHECK(ends == 0);
    CHECK(all_asleep(*world, 1, 3));
}

TEST_CASE("a push wakes its own island alone") {
    auto world = make_world(stacks(3));
    run(*world, 120);
    REQUIRE(all_asleep(*world, 1, 9));
    world->step(std::vector{push(5, {10.0f, 0.0f, 0.0f})});
    CHECK(all_asleep(*world, 1, 3));
    CHECK(none_asleep(*world, 4, 6));
    CHECK(all_asleep(*world, 7, 9));
}

TEST_CASE("a ball that strikes a sleeping stack finds it as heavy as it is, in the very tick") {
    // One box on ice, hit in its middle by a ball of the same mass: what the box gains, the ball has lost.
    WorldDef def;
    add_ground(def);
    def.materials[0].friction = 0.0f;
    const auto box = add_box_shape(def, {0.5f, 0.5f, 0.5f}), ball = add_sphere_shape(def, 0.4f);
    const auto target = add_body(def, box, {0.0f, 0.5f, 0.0f});
    const auto striker = add_body(def, ball, {-30.0f, 0.5f, 0.0f});
    def.bodies[target].mass_kg = def.bodies[striker].mass_kg = 10.0f;
    def.bodies[striker].gravity_scale = 0.0f;
    def.bodies[striker].linear_velocity = {10.0f, 0.0f, 0.0f};
    auto world = make_world(def);
    run(*world, 120);
    REQUIRE(asleep(*world, target));
    for (int t = 0; t < 120 && asleep(*world, target); ++t) world->step();
    REQUIRE(!asleep(*world, target));
    run(*world, 2);
    CHECK(state_of(*world, striker).linear_velocity.x == about(5.0, 0.02));
    CHECK(state_of(*world, target).linear_velocity.x == about(5.0, 0.02));
}

TEST_CASE("what loses its support wakes and falls") {
    auto world = make_world(stacks(1));
    run(*world, 120);
    REQUIRE(all_asleep(*world, 1, 3));
    SUBCASE("the lowest box goes") { world->step(std::vector{despawn(1)}); }
    SUBCASE("the ground goes") { world->step(std::vector{despawn(0)}); }
    SUBCASE("the lowest box is teleported away") {
        Command c = command(CommandKind::teleport);
        c.body = {2, 0};
        c.pose.position = {50.0f, 0.5f, 0.0f};
        world->step(std::vector{c});
    }
    run(*world, 30);
    CHECK(state_of(*world, 3).pose.position.y < 2.2f);
    CHECK(!asleep(*world, 3));
}

TEST_CASE("joints hold islands together, and a command on one wakes both ends") {
    WorldDef def;
    add_ground(def);
    const auto box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    const auto a = add_body(def, box, {0.0f, 0.5f, 0.0f}), b = add_body(def, box, {3.0f, 0.5f, 0.0f});
    add_joint(def, a, b, DistanceLimit{{}, {}, 0.0f, 5.0f, {}});
    add_joint(def, a, b, AngularAxisMotor{{0.0f, 1.0f, 0.0f}, 0.0f, {500.0f, 0.0f}});
    auto world = make_world(def);
    run(*world, 120);
    REQUIRE(all_asleep(*world, a, b));
    Command c = command(CommandKind::motor_target);
    SUBCASE("a motor's target") {
        c.joint = {1, 0};
        c.value = 1.0f;
    }
    SUBCASE("a push at one") { c = push(b, {0.0f, 1.0f, 0.0f}); }
    SUBCASE("the joint's removal") {
        c.kind = CommandKind::remove_joint;
        c.joint = {0, 0};
    }
    SUBCASE("a grab") {
        c.kind = CommandKind::grab;
        c.body = {a + 1, 0};
        c.linear = {0.0f, 3.0f, 0.0f};
        c.value = 1e5f;
    }
    world->step(std::vector{c});
    CHECK(none_asleep(*world, a, b));
}

TEST_CASE("nothing sleeps on what moves, however slowly, and a lift that stops lets it") {
    WorldDef def;
    const auto slab = add_box_shape(def, {2.0f, 0.25f, 2.0f}), box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    const auto lift = add_body(def, slab, {0.0f, 0.0f, 0.0f}), load = add_body(def, box, {0.0f, 0.75f, 0.0f});
    def.bodies[lift].type = BodyType::kinematic;
    def.bodies[lift].linear_velocity = {0.0f, 0.01f, 0.0f};
    auto world = make_world(def);
    run(*world, 300);
    CHECK(!asleep(*world, load));
    Command c = command(CommandKind::teleport);
    c.body = {lift + 1, 0};
    c.pose = state_of(*world, lift).pose;
    world->step(std::vector{c});
    run(*world, 60);
    CHECK(asleep(*world, load));
    c.linear = {0.0f, 0.01f, 0.0f};
    world->step(std::vector{c});
    CHECK(!asleep(*world, load));
}

TEST_CASE("what a motor drives, however slowly, does not sleep, nor does what a servo has still to bring home") {
    WorldDef def;
    const auto box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    const auto turned = add_body(def, box, {0.0f, 0.0f, 0.0f}), slid = add_body(def, box, {4.0f, 0.0f, 0.0f}),
               crept = add_body(def, box, {8.0f, 0.0f, 0.0f}), idle = add_body(def, box, {12.0f, 0.0f, 0.0f}),
               powerless = add_body(def, box, {16.0f, 0.0f, 0.0f}), shifted = add_body(def, box, {20.0f, 0.0f, 0.0f});
    for (BodyDef& body : def.bodies) body.gravity_scale = 0.0f;
    const Vec3 up{0.0f, 1.0f, 0.0f};
    add_joint(def, kNone, turned, AngularAxisMotor{up, 0.01f, {500.0f, 0.0f}});
    Slider slider;
    slider.anchor_a = {4.0f, 0.0f, 0.0f};
    slider.target_mps = 0.005f, slider.motor.max_force = 1e4f;
    add_joint(def, kNone, slid, slider);
    OneBodyLinearServo servo;
    servo.target = {8.0f, 0.06f, 0.0f};
    servo.servo.max_speed = 0.02f;
    add_joint(def, kNone, crept, servo);
    add_joint(def, kNone, idle, AngularAxisMotor{up, 0.0f, {500.0f, 0.0f}});
    add_joint(def, kNone, powerless, AngularAxisMotor{up, 1.0f, {0.0f, 0.0f}});
    OneBodyLinearMotor push;
    push.target_mps = {0.0f, 0.0f, 0.01f};
    add_joint(def, kNone, shifted, push);
    auto world = make_world(def);
    run(*world, 120);
    CHECK(all_asleep(*world, idle, powerless));
    CHECK(!asleep(*world, crept));
    run(*world, 240);  // the servo has 3 s to go
    CHECK(asleep(*world, crept));
    CHECK(state_of(*world, crept).pose.position.y == about(0.06, 0.01));
    run(*world, 240);
    CHECK(none_asleep(*world, turned, slid));
    CHECK(!asleep(*world, shifted));
    CHECK(state_of(*world, slid).pose.position.x == about(4.05, 0.001));
    CHECK(state_of(*world, shifted).pose.position.z == about(0.1, 0.02));
    Command stop = command(CommandKind::motor_target);
    stop.joint = {0, 0};
    world->step(std::vector{stop});
    run(*world, 60);
    CHECK(asleep(*world, turned));
}

TEST_CASE("a servo that rests short of its goal, too weak or too soft for its load, lets it sleep") {
    WorldDef def;
    add_ground(def);
    const auto box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    const auto heavy = add_body(def, box, {0.0f, 0.5f, 0.0f}), hung = add_body(def, box, {4.0f, 3.0f, 0.0f});
    OneBodyLinearServo weak;
    weak.target = {0.0f, 5.0f, 0.0f};
    weak.servo.max_force = 1000.0f;  // a tenth of the weight
    add_joint(def, kNone, heavy, weak);
    OneBodyLinearServo soft;
    soft.target = {4.0f, 3.0f, 0.0f};
    soft.spring = {1.0f, 1.0f};  // sags by g / w^2 = 0.25 m
    add_joint(def, kNone, hung, soft);
    auto world = make_world(def);
    run(*world, 400);
    CHECK(asleep(*world, heavy));
    CHECK(asleep(*world, hung));
    CHECK(state_of(*world, hung).pose.position.y == about(3.0 - 0.2533, 0.01));
}

// Relax leaves them no velocity, for nothing is to come of being driven out: by that alone they rest.
TEST_CASE("what is driven out of an overlap, or brought home by a joint, does not sleep on its way") {
    SUBCASE("out of the ground") {
        WorldDef def;
        add_ground(def);
        const std::uint32_t ball = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, -1.5f, 0.0f});
        auto world = make_world(def);
        run(*world, 300);
        CHECK(state_of(*world, ball).pose.position.y == doctest::Approx(0.5f).epsilon(0.02));
        CHECK(asleep(*world, ball));
    }
    SUBCASE("out of each other, slowly") {
        WorldDef def;
        def.gravity = {};
        def.materials.resize(1);
        def.materials[0].max_recovery_speed_mps = 0.2f;
        const std::uint32_t box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
        add_body(def, box, {}), add_body(def, box, {0.5f, 0.1f, 0.0f});
        auto world = make_world(def);
        run(*world, 600);
        CHECK(state_of(*world, 1).pose.position.x - state_of(*world, 0).pose.position.x > 0.97f);
        CHECK(all_asleep(*world, 0, 1));
    }
    SUBCASE("home to where a joint holds it") {
        for (const bool turned : {false, true}) {
            CAPTURE(turned);
            WorldDef def;
            def.gravity = {};
            const std::uint32_t box = add_body(def, add_box_shape(def, {0.5f, 0.5f, 0.5f}), {0.0f, 0.0f, 0.0f},
                                               turned ? turn_about_z(1.5f) : Quat{});
            Weld weld;
            weld.anchor_a = {turned ? 0.0f : 2.0f, 0.0f, 0.0f};
            weld.spring.max_recovery_speed = 0.5f;
            add_joint(def, kNone, box, weld);
            auto world = make_world(def);
            run(*world, 600);
            const Pose pose = state_of(*world, box).pose;
            CHECK(pose.position.x == doctest::Approx(turned ? 0.0 : 2.0).epsilon(0.01));
            CHECK(std::abs(pose.orientation.z) < 0.01f);
            CHECK(asleep(*world, box));
        }
    }
}

TEST_CASE("what falls does not sleep where it turns, however weak gravity is, and without gravity it does") {
    for (const float g : {0.15f, 0.05f, 0.0f}) {
        CAPTURE(g);
        WorldDef def;
        def.gravity = {0.0f, -g, 0.0f};
        add_ground(def);
        const std::uint32_t ball = add_sphere_shape(def, 0.3f);
        add_body(def, ball, {0.0f, 1.0f, 0.0f});
        const std::uint32_t puck = add_body(def, ball, {2.0f, 1.0f, 0.0f}),
                            floating = add_body(def, ball, {4.0f, 1.0f, 0.0f});
        def.bodies[puck].locks = kLockLinearY;
        def.bodies[floating].gravity_scale = 0.0f;
        auto world = make_world(def);
        run(*world, 60);
        CHECK(all_asleep(*world, puck, floating));  // gravity does not move them
        CHECK(asleep(*world, 1) == (g == 0.0f));
        run(*world, 1140);
        CHECK(state_of(*world, 1).pose.position.y == doctest::Approx(g > 0.0f ? 0.3 : 1.0).epsilon(0.01));
        CHECK(asleep(*world, 1));
    }
}

TEST_CASE("nothing sleeps that only turns round at the moment, nor what drifts slightly faster than sleep_speed_mps") {
    SUBCASE("a pendulum that is let go at its apex, and each of its turns") {
        WorldDef def;
        const float angle = 0.05f;  // rad: 5 cm of way at the bob
        const std::uint32_t bob = add_body(def, add_sphere_shape(def, 0.1f), {std::sin(angle), -std::cos(angle), 0.0f});
        BallSocket pin;
        pin.anchor_b = {-std::sin(angle), std::cos(angle), 0.0f};
        add_joint(def, kNone, bob, pin);
        auto world = make_world(def);
        for (int tick = 0; tick < 600; ++tick) {
            run(*world, 1);
            REQUIRE(!asleep(*world, bob));
        }
    }
    SUBCASE("a box that drifts at 0.06 m/s, and one that turns as fast") {
        WorldDef def;
        def.gravity = {};
        const std::uint32_t box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
        add_body(def, box, {}), add_body(def, box, {5.0f, 0.0f, 0.0f}), add_body(def, box, {10.0f, 0.0f, 0.0f});
        def.bodies[0].linear_velocity = {0.06f, 0.0f, 0.0f};
        def.bodies[1].angular_velocity = {0.0f, 0.07f, 0.0f};  // of 0.87 m from its centre to a corner
        def.bodies[2].linear_velocity = {0.04f, 0.0f, 0.0f};
        auto world = make_world(def);
        run(*world, 600);
        CHECK(none_asleep(*world, 0, 1));
        CHECK(asleep(*world, 2));
    }
}

namespace {

void add_walls(WorldDef& def, float half) {
    for (int side = 0; side < 4; ++side) {
        const bool along_x = side % 2 == 0;
        const float away = side < 2 ? half + 0.5f : -half - 0.5f;
        const Vec3 half_extents = along_x ? Vec3{0.5f, 20.0f, half} : Vec3{half, 20.0f, 0.5f};
        const std::uint32_t wall = add_body(def, add_box_shape(def, half_extents),
                                            along_x ? Vec3{away, 20.0f, 0.0f} : Vec3{0.0f, 20.0f, away});
        def.bodies[wall].type = BodyType::fixed;
    }
}

// Layers of 5 by 5 bodies that fall on the ground, and into a pile.
void add_pile(WorldDef& def, std::uint32_t count, const std::vector<std::uint32_t>& shapes) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto along = [](std::uint32_t k) { return 1.2f * (static_cast<float>(k % 5) - 2.0f); };
        const float up = 1.5f + 1.2f * static_cast<float>(i / 25), aside = 0.1f * static_cast<float>(i / 25 % 3);
        add_body(def, shapes[i % shapes.size()], {along(i) + aside, up, along(i / 5) - aside});
    }
}

}  // namespace

TEST_CASE("piles fall asleep: of hulls within 800 ticks, of balls that have rolling resistance" *
          doctest::test_suite("quality")) {
    WorldDef def;
    add_ground(def);
    SUBCASE("400 hulls") {
        orrery::testing::Random random(7);
        std::vector<std::uint32_t> shapes;
        for (int k = 0; k < 3; ++k) {
            std::vector<Vec3> corners(8u << k);
            for (Vec3& corner : corners)
                corner = {random.in(-0.5f, 0.5f), random.in(-0.5f, 0.5f), random.in(-0.5f, 0.5f)};
            shapes.push_back(add_shape(def, ShapeDef::hull(corners)));
        }
        add_pile(def, 400, shapes);
    }
    SUBCASE("400 balls") {
        def.materials.resize(1);
        def.materials[0].rolling_resistance = 0.02f;
        add_walls(def, 4.0f);
        add_pile(def, 400, {add_sphere_shape(def, 0.5f)});
    }
    auto world = make_world(def);
    run(*world, 800);
    CHECK(world->stats().sleeping_bodies == 400);
}

TEST_CASE("a body that cannot sleep keeps awake what it touches, and sleep can be switched off") {
    WorldDef def = stacks(2);
    def.bodies[2].can_sleep = false;
    auto world = make_world(def);
    run(*world, 200);
    CHECK(none_asleep(*world, 1, 3));
    CHECK(all_asleep(*world, 4, 6));
    def.solver.sleep = false;
    world = make_world(def);
    run(*world, 200);
    CHECK(world->stats().sleeping_bodies == 0);
}

TEST_CASE("worlds that sleep and wake have one hash on every target and thread count, straight and restored") {
    WorldDef def = stacks(8);
    const auto ball = add_body(def, add_sphere_shape(def, 0.4f), {-12.0f, 0.6f, 0.2f});
    def.bodies[ball].linear_velocity = {14.0f, 0.0f, 0.0f};
    def.bodies[ball].mass_kg = 4000.0f;
    const auto commands = [](std::uint64_t tick) {
        std::vector<Command> list;
        if (tick == 60) list.push_back(push(20, {0.0f, 2000.0f, 0.0f}));
        if (tick == 90) list.push_back(despawn(22));
        if (tick == 150) list.push_back(push(11, {500.0f, 0.0f, 300.0f}));
        return list;
    };
    std::vector<HashTree> reference;
    bool slept = false, woke = false;
    {
        auto world = make_world(def, Target::scalar);
        std::uint32_t before = 0;
        for (int t = 0; t < 240; ++t) {
            world->step(commands(world->tick()));
            const std::uint32_t now = world->stats().sleeping_bodies;
            slept |= now > before, woke |= now < before;
            before = now;
            reference.push_back(world->hash());
        }
    }
    CHECK(slept);
    CHECK(woke);
    for (const Target target : available_targets()) {
        for (const std::uint32_t threads : {1u, 3u}) {
            CAPTURE(std::string(target_name(target)));
            CAPTURE(threads);
            orrery::server::ThreadPool pool(threads);
            auto straight = make_world(def, target), restored = make_world(def, target);
            std::vector<std::uint8_t> saved;
            bool same = true;
            for (std::size_t t = 0; t < reference.size() && same; ++t) {
                straight->step(commands(t), &pool);
                restored->step(commands(t), &pool);
                same = straight->hash() == reference[t] && restored->hash() == reference[t];
                restored->save(saved);
                restored = make_world(def, target);
                REQUIRE(restored->restore(saved).ok());
            }
            CHECK(same);
        }
    }
}
