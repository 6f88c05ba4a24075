// Guards: characters. They go as fast as they are told, stand on slopes, climb and descend stairs, ride platforms, jump
// once a landing, push what they can and push off from what they stand on; and all of it is the same bits whatever the
// way.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "server/room/thread_pool.h"
#include "tests/support/about.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr float kRadius = 0.3f, kHalf = 0.6f, kFoot = kRadius + kHalf;

// A floor without friction for all, one slot, and a character of 80 kg whose feet stand at `foot`. Channels: x, z,
// jump.
struct Setting {
    WorldDef def;
    std::uint32_t hero = 0;

    explicit Setting(Vec3 foot = {}, float step_height = 0.3f) {
        def.materials.resize(2);
        def.materials[1].friction = 0.0f;
        def.slots.resize(1);
        add_ground(def);
        hero = add_character(foot, step_height);
    }
    std::uint32_t add_character(Vec3 foot, float step_height) {
        const std::uint32_t body =
            add_body(def, add_capsule_shape(def, kRadius, kHalf), {foot.x, foot.y + kFoot, foot.z});
        BodyDef& b = def.bodies[body];
        b.material = 1;
        b.mass_kg = 80.0f;
        b.locks = kLockAngularX | kLockAngularY | kLockAngularZ;
        for (int channel = 0; channel < 3; ++channel) {
            ActuatorDef a;
            a.kind = channel < 2 ? ActuatorKind::walk : ActuatorKind::jump;
            a.body = body;
            a.weights[static_cast<std::size_t>(channel)] = 5.0f;
            a.direction = channel == 0 ? Vec3{1.0f, 0.0f, 0.0f} : Vec3{0.0f, 0.0f, 1.0f};
            a.max_speed = 5.0f;
            a.step_height = step_height;
            def.actuators.push_back(a);
        }
        return body;
    }
    std::uint32_t add_block(Vec3 half, Vec3 at, BodyType type = BodyType::fixed, Quat turn = {}) {
        const std::uint32_t body = add_body(def, add_box_shape(def, half), at, turn);
        def.bodies[body].type = type;
        return body;
    }
};

struct Play {
    std::unique_ptr<World> world;
    std::uint32_t hero;
    float highest = -1e9f, lowest = 1e9f;

    explicit Play(const Setting& stage, Target target = Target::automatic)
        : world(make_world(stage.def, target)), hero(stage.hero) {
        const Command join = command(CommandKind::join);
        world->step(std::span(&join, 1));
    }
    void go(double time_s, float x, float z = 0.0f, float jump = 0.0f, Executor* executor = nullptr) {
        Command control = command(CommandKind::control);
        control.channels = {x, z, jump};
        for (int n = static_cast<int>(std::lround(time_s * 60.0)); n > 0; --n) {
            REQUIRE(world->step(std::span(&control, 1), executor) == StepStatus::ok);
            highest = std::max(highest, foot().y);
            lowest = std::min(lowest, foot().y);
        }
    }
    BodyState state() const { return state_of(*world, hero); }
    Vec3 foot() const {
        const Vec3 p = state().pose.position;
        return {p.x, p.y - kFoot, p.z};
    }
    Vec3 velocity() const { return state().linear_velocity; }
};

// A ramp that begins at x = 0, rises along x and is `length` long.
void add_ramp(Setting& stage, float angle_rad, float length) {
    const float c = std::cos(angle_rad), s = std::sin(angle_rad);
    stage.add_block({length / 2, 0.5f, 3.0f}, {c * length / 2 + s * 0.5f, s * length / 2 - c * 0.5f, 0.0f},
                    BodyType::fixed, turn_about_z(angle_rad));
}

}  // namespace

TEST_CASE("what a character steps down onto gives way as much in a restored world") {
    Setting stage({-1.0f, 3.4f, 0.0f});
    stage.def.solver.rig_joints = 2;
    stage.add_block({1.0f, 0.5f, 1.0f}, {-1.0f, 2.9f, 0.0f});
    const std::uint32_t bead = add_sphere_shape(stage.def, 0.24f);
    constexpr std::uint32_t kBeads = 14;
    std::uint32_t before = kNone;
    for (std::uint32_t k = 0; k <= kBeads; ++k) {  // a rope bridge, taut, whose beads turn about it
        const float x = 0.3f + 0.5f * static_cast<float>(k);
        const std::uint32_t body = k < kBeads ? add_body(stage.def, bead, {x + 0.25f, 3.0f, 0.0f}) : kNone;
        if (body != kNone) {
            stage.def.bodies[body].angular_velocity = {3.0f + static_cast<float>(k), 0.0f, 0.0f};
            stage.def.bodies[body].gravity_scale = 0.0f;
        }
        const Vec3 anchor{x, 3.0f, 0.0f};
        add_joint(stage.def, before, body,
                  BallSocket{before == kNone ? anchor : Vec3{0.25f, 0.0f, 0.0f},
                             body == kNone ? anchor : Vec3{-0.25f, 0.0f, 0.0f},
                             {}});
        before = body;
    }
    Play straight(stage), restored(stage);
    std::vector<std::uint8_t> saved;
    for (int tick = 0; tick < 240; ++tick) {
        CAPTURE(tick);
        straight.world->save(saved);
        REQUIRE(restored.world->restore(saved).ok());
        straight.go(1.0 / 60.0, 0.2f);
        restored.go(1.0 / 60.0, 0.2f);
        REQUIRE(straight.world->hash().root == restored.world->hash().root);
    }
    CHECK(straight.foot().x > 1.0f);
}

TEST_CASE("a character goes as fast as it is told, reaches it by a bounded force, and stops") {
    Play play{Setting()};
    play.go(0.1, 1.0f);
    CHECK(play.velocity().x == about(2000.0f / 80.0f * 0.1f, 0.05));
    play.go(0.9, 1.0f);
    CHECK(play.velocity().x == about(5.0f, 0.01));
    play.go(1.0, 1.0f, 1.0f);  // no faster on the diagonal
    CHECK(std::hypot(play.velocity().x, play.velocity().z) == about(5.0f, 0.01));
    CHECK(play.velocity().x == about(play.velocity().z, 0.01));
    play.go(1.0, 0.0f);
    CHECK(std::hypot(play.velocity().x, play.velocity().z) < 0.01f);
    CHECK(play.lowest > -0.01f);
    CHECK(play.highest < 0.01f);
}

TEST_CASE("slopes: it stands and walks where the ground is not too steep, and slides where it is") {
    for (const float degrees : {20.0f, 40.0f}) {
        CAPTURE(degrees);
        const float angle = degrees * kPi / 180.0f;
        Setting stage({-1.0f, 0.0f, 0.0f});
        add_ramp(stage, angle, 30.0f);
        Play play(stage);
        play.go(1.0, 1.0f);
        const float x = play.foot().x;
        play.go(2.0, 0.6f);
        CHECK(play.foot().x - x == about(6.0f, 0.1));  // 3 m/s as seen from above
        CHECK(play.foot().y == about(play.foot().x * std::tan(angle), 0.05));
        play.go(0.5, 0.0f);
        const Vec3 rest = play.foot();
        play.go(3.0, 0.0f);
        CHECK(std::hypot(play.foot().x - rest.x, play.foot().y - rest.y) < 0.02f);
        // Down again, without leaving the ground.
        for (int n = 0; n < 60; ++n) {
            play.go(1.0 / 60.0, -1.0f);
            const float above = play.foot().y - std::max(play.foot().x, 0.0f) * std::tan(angle);
            CHECK(above < 0.15f);
        }
    }
    Setting stage({4.0f, 4.0f * std::tan(55.0f * kPi / 180.0f) + 0.4f, 0.0f});
    add_ramp(stage, 55.0f * kPi / 180.0f, 30.0f);
    Play play(stage);
    play.go(3.0, 0.2f);
    CHECK(play.foot().y < 0.3f);  // it slid down, though it wanted up
}

TEST_CASE("stairs: up and down whatever the speed, not higher steps than it may, no walls") {
    for (const float height : {0.15f, 0.29f}) {
        for (const float speed : {0.2f, 0.5f, 1.0f}) {
            CAPTURE(height);
            CAPTURE(speed);
            Setting stage({-1.5f, 0.0f, 0.0f});
            for (int k = 0; k < 8; ++k)
                stage.add_block({10.0f, height / 2, 2.0f},
                                {10.0f + 0.4f * static_cast<float>(k), height * (static_cast<float>(k) + 0.5f), 0.0f});
            Play play(stage);
            const double time_s = 6.0 / (5.0 * static_cast<double>(speed)) + 1.0;
            play.go(time_s, speed);
            CHECK(play.foot().y == about(8.0f * height, 0.05));
            CHECK(play.highest < 8.0f * height + 0.1f);
            float above = 0.0f;
            while (play.foot().x > -1.0f && play.world->tick() < 5000) {
                play.go(1.0 / 60.0, -speed);
                const float step = std::clamp(std::ceil((play.foot().x + kRadius) / 0.4f), 0.0f, 8.0f) * height;
                above = std::max(above, play.foot().y - step);
            }
            CHECK(play.foot().y < 0.05f);
            CHECK(above < 0.2f);
        }
    }
    for (const float step_height : {0.0f, 0.3f}) {
        Setting stage({-1.5f, 0.0f, 0.0f}, step_height);
        stage.add_block({5.0f, 0.25f, 2.0f}, {5.0f, 0.25f, 0.0f});  // 0.5 m
        Play play(stage);
        play.go(3.0, 1.0f);
        CHECK(play.foot().x < -kRadius + 0.05f);
        CHECK(play.foot().y < 0.05f);
    }
}

TEST_CASE("moving platforms carry it, sideways, up and down, and it walks on them") {
    Setting stage({0.0f, 1.0f, 0.0f});
    const std::uint32_t platform = stage.add_block({2.0f, 0.5f, 2.0f}, {0.0f, 0.5f, 0.0f}, BodyType::kinematic);
    stage.def.bodies[platform].linear_velocity = {1.0f, 0.0f, 0.0f};
    Play play(stage);
    play.go(1.0, 0.0f);
    const auto apart = [&] { return play.state().pose.position.x - state_of(*play.world, platform).pose.position.x; };
    const float begin = apart();
    play.go(5.0, 0.0f);
    CHECK(std::fabs(apart() - begin) < 0.02f);
    play.go(1.0, 0.2f);
    CHECK(apart() - begin == about(1.0f, 0.1));

    for (const float speed : {1.5f, -1.5f}) {
        Setting lift({0.0f, 10.0f, 0.0f});
        const std::uint32_t floor = lift.add_block({2.0f, 0.5f, 2.0f}, {0.0f, 9.5f, 0.0f}, BodyType::kinematic);
        lift.def.bodies[floor].linear_velocity = {0.0f, speed, 0.0f};
        Play ride(lift);
        float least = 1e9f, most = -1e9f;
        for (int n = 0; n < 180; ++n) {
            ride.go(1.0 / 60.0, 0.0f);
            const float gap = ride.foot().y - (state_of(*ride.world, floor).pose.position.y + 0.5f);
            least = std::min(least, gap);
            most = std::max(most, gap);
        }
        CHECK(least > -0.05f);
        CHECK(most < (speed > 0.0f ? 0.05f : 0.15f));  // the floor goes from under its feet at once
    }
}

TEST_CASE("belts carry it as platforms do, and it walks on them") {
    for (const bool turned : {false, true}) {
        for (const float walk : {0.0f, 1.0f}) {
            CAPTURE(turned);
            CAPTURE(walk);
            Setting setting({0.0f, 0.4f, 0.0f});
            setting.def.materials.push_back(setting.def.materials[0]);
            setting.def.materials.back().surface_velocity = {turned ? 0.0f : 1.0f, 0.0f,
                                                             turned ? 1.0f : 0.0f};  // along x
            const std::uint32_t belt = setting.add_block({20.0f, 0.2f, 20.0f}, {0.0f, 0.2f, 0.0f}, BodyType::fixed,
                                                         turned ? Quat{0.0f, 0.70710678f, 0.0f, 0.70710678f} : Quat{});
            setting.def.bodies[belt].material = 2;
            Play play(setting);
            play.go(5.0, 0.0f, walk / 5.0f);
            const BodyState hero = play.state();
            CHECK(hero.linear_velocity.x == doctest::Approx(1.0).epsilon(0.001));
            CHECK(hero.pose.position.x == doctest::Approx(5.0).epsilon(0.02));
            CHECK(hero.linear_velocity.z == doctest::Approx(walk).epsilon(0.001));
            CHECK(play.foot().y == doctest::Approx(0.4).epsilon(0.01));
        }
    }
}

TEST_CASE("ground that turns takes it round, and neither in nor out" * doctest::test_suite("quality")) {
    struct Round {
        float speed_radps, radius_m;
        std::uint32_t substeps;
    };
    for (const Round round : {Round{0.5f, 0.5f, 4}, Round{1.0f, 2.0f, 4}, Round{-2.0f, 3.0f, 4}, Round{4.0f, 1.0f, 4},
                              Round{2.0f, 2.0f, 1}, Round{2.0f, 2.0f, 8}}) {
        Setting stage({round.radius_m, 1.0f, 0.0f});
        stage.def.substeps = round.substeps;
        const std::uint32_t disc = stage.add_block({6.0f, 0.5f, 6.0f}, {0.0f, 0.5f, 0.0f}, BodyType::kinematic);
        stage.def.bodies[disc].angular_velocity = {0.0f, round.speed_radps, 0.0f};
        Play play(stage);
        play.go(1.0, 0.0f);  // it comes to ride
        // Where it stands on the disc.
        const auto place = [&] {
            const Pose at = state_of(*play.world, disc).pose;
            const Vec3 p = play.foot();
            const double c = 1.0 - 2.0 * double(at.orientation.y) * at.orientation.y,
                         s = 2.0 * double(at.orientation.y) * at.orientation.w;
            return std::pair(c * p.x - s * p.z, s * p.x + c * p.z);
        };
        const auto [x, z] = place();
        play.go(30.0, 0.0f);
        const auto [x_now, z_now] = place();
        CAPTURE(round.speed_radps);
        CAPTURE(round.substeps);
        CHECK(std::fabs(std::hypot(x_now, z_now) - std::hypot(x, z)) < 1e-4);
        CHECK(std::hypot(x_now - x, z_now - z) < 0.02);
        CHECK(play.highest < 1.02f);
    }
}

TEST_CASE("it jumps as high as its speed takes it, from the ground alone, and not at all without being told") {
    Play play{Setting()};
    play.go(0.2, 0.0f);
    play.go(0.1, 0.0f, 0.0f, 1.0f);
    play.go(1.0, 0.0f, 0.0f, 0.0f);
    CHECK(play.highest == about(5.0f * 5.0f / (2.0f * 9.81f), 0.05));
    CHECK(play.foot().y < 0.02f);
    // Held, it jumps again at each landing: about 1.02 s a jump.
    int landings = 0;
    bool up = false;
    for (int n = 0; n < 5 * 60; ++n) {
        play.go(1.0 / 60.0, 0.0f, 0.0f, 1.0f);
        if (up && play.foot().y < 0.05f) ++landings, up = false;
        if (play.foot().y > 0.5f) up = true;
    }
    CHECK(landings >= 4);
    CHECK(landings <= 5);
    CHECK(play.highest < 1.4f);  // never a second jump on the way
    // A slow jump at a run is not led back down.
    play.go(1.0, 0.0f);
    play.go(1.0, 1.0f);
    play.highest = 0.0f;
    play.go(1.0 / 60.0, 1.0f, 0.0f, 0.5f);
    play.go(0.6, 1.0f);
    CHECK(play.highest == about(2.5f * 2.5f / (2.0f * 9.81f), 0.1));
}

TEST_CASE("it pushes what it can, and pushes off from what it stands on") {
    Setting stage;
    const std::uint32_t light = stage.add_block({0.4f, 0.4f, 0.4f}, {2.0f, 0.4f, 0.0f}, BodyType::dynamic);
    const std::uint32_t heavy = stage.add_block({0.4f, 0.4f, 0.4f}, {0.0f, 0.4f, 3.0f}, BodyType::dynamic);
    stage.def.bodies[light].mass_kg = 20.0f;
    stage.def.bodies[heavy].mass_kg = 5000.0f;
    Play play(stage);
    play.go(3.0, 1.0f);
    CHECK(state_of(*play.world, light).pose.position.x > 6.0f);
    Play wall(stage);
    wall.go(3.0, 0.0f, 1.0f);
    CHECK(state_of(*wall.world, heavy).pose.position.z == about(3.0f, 0.01));
    CHECK(wall.foot().z < 2.4f);

    Setting sea({0.0f, 1.0f, 0.0f});
    const std::uint32_t raft = sea.add_block({4.0f, 0.5f, 2.0f}, {0.0f, 0.5f, 0.0f}, BodyType::dynamic);
    sea.def.bodies[raft].mass_kg = 160.0f;
    sea.def.bodies[raft].material = 1;
    Play run(sea);
    run.go(0.5, 1.0f);
    const double own = 80.0 * run.velocity().x, other = 160.0 * state_of(*run.world, raft).linear_velocity.x;
    CHECK(own > 100.0);
    CHECK(other == about(-own, 0.05));
}

TEST_CASE("what it stands on may be as light as itself, or lighter, or itself a character") {
    // On a raft's end, on a light box, and on another's head: it stands still, walks off, jumps; nothing is shot away.
    for (const int kind : {0, 1, 2}) {
        CAPTURE(kind);
        Setting stage({kind == 0 ? 3.0f : 0.0f, kind == 2 ? 2.0f * kFoot : 0.6f, 0.0f});
        std::uint32_t ground = 0;
        if (kind == 2) {
            ground = stage.add_character({}, 0.3f);
            stage.def.actuators.resize(6);
            for (std::size_t k = 3; k < 6; ++k) stage.def.actuators[k].weights = {};
        } else {
            ground = stage.add_block(kind == 0 ? Vec3{4.0f, 0.3f, 2.0f} : Vec3{0.3f, 0.3f, 0.3f}, {0.0f, 0.3f, 0.0f},
                                     BodyType::dynamic);
            stage.def.bodies[ground].mass_kg = kind == 0 ? 100.0f : 5.0f;
            stage.def.bodies[ground].material = 1;
        }
        Play play(stage);
        play.go(2.0, 0.0f);
        const auto fastest = [&] {
            const Vec3 v = state_of(*play.world, ground).linear_velocity;
            return std::hypot(v.x, v.y, v.z);
        };
        CHECK(fastest() < 0.05f);
        CHECK(std::fabs(play.velocity().x) < 0.05f);
        float most = 0.0f;
        for (int n = 0; n < 120; ++n) {
            play.go(1.0 / 60.0, n < 60 ? -0.1f : 0.0f, 0.0f, n == 30 ? 0.6f : 0.0f);
            most = std::max(most, fastest());
        }
        CHECK(most < 20.0f);
    }
}

TEST_CASE("other things than its own walking lift it, and a low jump or a fall are not hurried") {
    Play thrown{Setting()};
    thrown.go(0.5, 0.0f);
    Command blow = command(CommandKind::impulse);
    blow.body = thrown.state().id;
    blow.linear = {0.0f, 400.0f, 0.0f};  // 5 m/s
    thrown.world->step(std::span(&blow, 1));
    CHECK(thrown.velocity().y > 4.5f);
    thrown.go(1.0, 0.0f);
    CHECK(thrown.highest > 1.1f);

    Setting rocket;
    ActuatorDef jet;
    jet.kind = ActuatorKind::force;
    jet.body = rocket.hero;
    jet.offset = 80.0f * 9.81f * 1.5f;
    jet.direction = {0.0f, 1.0f, 0.0f};
    rocket.def.actuators.push_back(jet);
    Play flies(rocket);
    flies.go(1.0, 0.0f);
    CHECK(flies.highest > 1.5f);

    Setting nimble({}, 0.3f);
    Play low(nimble);
    low.go(1.0, 1.0f);
    low.go(1.0 / 60.0, 1.0f, 0.0f, 0.4f);  // 2 m/s: 0.2 m, less than its steps
    float slowest = 0.0f;
    for (int n = 0; n < 24; ++n) {
        low.go(1.0 / 60.0, 1.0f);
        if (low.foot().y > 0.03f) slowest = std::min(slowest, low.velocity().y);
    }
    CHECK(slowest > -2.2f);
    CHECK(low.highest == about(0.2f, 0.15));

    // Downhill from rest by the force that it has, and no faster.
    Setting hill({6.0f, 6.0f * std::tan(0.6f) + 0.1f, 0.0f});
    add_ramp(hill, 0.6f, 30.0f);
    Play down(hill);
    down.go(1.0, 0.0f);
    down.go(1.0 / 60.0, -1.0f);
    CHECK(std::hypot(down.velocity().x, down.velocity().y) < 0.6f);
}

TEST_CASE("a tap of the jump wakes it, wishing keeps it awake, and it may stay in the air for as long as it likes") {
    Play play{Setting()};
    play.go(3.0, 0.0f);
    CHECK(play.state().asleep);
    play.go(1.0 / 60.0, 0.0f, 0.0f, 1.0f);
    CHECK(play.velocity().y > 4.0f);
    play.go(2.0, 0.0f);
    play.go(3.0, 0.005f);
    CHECK_FALSE(play.state().asleep);

    Setting floating;
    floating.def.gravity = {};
    Play drifts(floating);
    drifts.go(1.0 / 60.0, 0.0f, 0.0f, 0.05f);
    drifts.go(80.0, 0.0f);
    std::vector<std::uint8_t> saved;
    drifts.world->save(saved);
    Play again(floating);
    CHECK(again.world->restore(saved).ok());
}

TEST_CASE(
    "steps are as high as it may climb and no higher, below ceilings too, and what it carries does not hide the "
    "ground") {
    for (const float height : {0.28f, 0.33f}) {
        Setting stage({-1.5f, 0.0f, 0.0f});
        stage.add_block({5.0f, height / 2, 2.0f}, {5.0f, height / 2, 0.0f});
        Play play(stage);
        play.go(2.0, 1.0f);
        CHECK((play.foot().y > height - 0.02f) == (height < 0.3f));
    }
    Setting low({-1.5f, 0.0f, 0.0f});
    low.add_block({5.0f, 0.1f, 2.0f}, {5.0f, 0.1f, 0.0f});
    low.add_block({8.0f, 0.1f, 2.0f}, {5.0f, 2.0f * kFoot + 0.1f + 0.1f, 0.0f});  // 0.1 m above its head, the step 0.2
    Play play(low);
    play.go(2.0, 1.0f);
    CHECK(play.foot().x < 0.0f);
    CHECK(play.highest < 0.1f);

    Setting pack;
    const std::uint32_t bag = pack.add_block({0.2f, 0.2f, 0.2f}, {0.0f, 0.3f, 0.0f}, BodyType::dynamic);
    pack.def.bodies[bag].mass_kg = 5.0f;
    pack.def.bodies[bag].mask = ~0u;
    Weld weld;
    weld.anchor_a = {0.0f, 0.3f - kFoot, 0.0f};
    add_joint(pack.def, pack.hero, bag, weld);
    Play carries(pack);
    carries.go(1.0, 1.0f);
    CHECK(carries.velocity().x > 4.5f);
}

TEST_CASE("characters give the same bits on every target, with any number of workers, and restored at any tick") {
    Setting stage;
    for (int k = 0; k < 5; ++k) stage.add_character({static_cast<float>(k) * 1.5f - 3.0f, 0.0f, 2.0f}, 0.3f);
    add_ramp(stage, 0.5f, 4.0f);
    for (int k = 0; k < 4; ++k)
        stage.add_block({2.0f, 0.1f, 1.0f},
                        {-3.0f - 0.4f * static_cast<float>(k), 0.1f + 0.2f * static_cast<float>(k), 0.0f});
    for (int k = 0; k < 6; ++k)
        stage.add_block({0.3f, 0.3f, 0.3f}, {static_cast<float>(k) - 3.0f, 0.3f, 4.0f}, BodyType::dynamic);
    Lcg random(static_cast<std::uint32_t>(seeded(3)));
    std::vector<std::array<float, 3>> moves;
    for (int n = 0; n < 20; ++n) {
        const float x = random.between(-1.0f, 1.0f), z = random.between(-1.0f, 1.0f),
                    jump = random.between(-1.5f, 1.0f);
        moves.push_back({x, z, jump});
    }
    const auto play_all = [&](Play& play, Executor* executor, std::size_t from = 0) {
        for (std::size_t n = from; n < moves.size(); ++n)
            play.go(0.25, moves[n][0], moves[n][1], moves[n][2], executor);
        return play.world->hash();
    };
    Play straight(stage);
    std::vector<std::uint8_t> saved;
    for (std::size_t n = 0; n < 7; ++n) straight.go(0.25, moves[n][0], moves[n][1], moves[n][2]);
    straight.world->save(saved);
    const HashTree expected = play_all(straight, nullptr, 7);
    orrery::server::ThreadPool pool(3);
    for (const Target target : available_targets()) {
        CAPTURE(std::string(target_name(target)));
        Play other(stage, target);
        CHECK(play_all(other, &pool) == expected);
        Play again(stage, target);
        REQUIRE(again.world->restore(saved).ok());
        CHECK(play_all(again, nullptr, 7) == expected);
        if (few()) break;
    }
}

TEST_CASE("what is no character is refused, with the mend") {
    const auto refused = [](auto change, const char* says) {
        Setting stage;
        change(stage.def);
        const auto world = World::create(stage.def);
        REQUIRE_FALSE(world.ok());
        CHECK_MESSAGE(world.error().to_string().find(says) != std::string::npos, world.error().to_string());
    };
    refused([](WorldDef& def) { def.bodies[1].locks = 0; }, "lock its three rotations");
    refused([](WorldDef& def) { def.bodies[1].shape = add_sphere_shape(def, 1.0f); }, "dynamic capsule");
    refused([](WorldDef& def) { def.actuators[0].max_force = 0.0f; }, "max_force");
    refused([](WorldDef& def) { def.actuators[1].step_height = 11.0f; }, "step_height");
    refused([](WorldDef& def) { def.actuators[1].max_slope_rad = 1.5f; }, "max_slope_rad");
    refused([](WorldDef& def) { def.actuators.erase(def.actuators.begin(), def.actuators.begin() + 2); },
            "has no walk actuator");
}
