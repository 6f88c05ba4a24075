// Guards: that rigs and what touches them come to rest together, sleep and wake, with joints no further apart than
// stated.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/rigs/rigs.h"
#include "tests/support/about.h"
#include "tests/support/bodies.h"
#include "tests/support/rigs.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

double fastest(const World& world, const std::vector<std::uint32_t>& bodies, const D3& than = {}) {
    double most = 0.0;
    for (const std::uint32_t body : bodies)
        most = std::max(most, size(minus(d(state_of(world, body).linear_velocity), than)));
    return most;
}
bool all_asleep(const World& world, const std::vector<std::uint32_t>& bodies) {
    return std::ranges::all_of(bodies, [&](std::uint32_t body) { return state_of(world, body).asleep; });
}
bool none_asleep(const World& world, const std::vector<std::uint32_t>& bodies) {
    return std::ranges::none_of(bodies, [&](std::uint32_t body) { return state_of(world, body).asleep; });
}

// Of all ticks so far.
struct Worst {
    double apart_m = 0.0, depth_m = 0.0;
    std::uint32_t least_rigs = kNone, most_rigs = 0;
    void look(const World& world) {
        apart_m = std::max(apart_m, largest_separation(world));
        const WorldStats stats = world.stats();
        depth_m = std::max(depth_m, static_cast<double>(stats.max_penetration_m));
        least_rigs = std::min(least_rigs, stats.rigs), most_rigs = std::max(most_rigs, stats.rigs);
    }
};

const double kQuarter = std::tan(3.14159265358979 / 8);  // exact_turn of this is one of 90 degrees

WorldDef rig_world() {
    WorldDef def;
    def.solver.rig_joints = 8;
    add_sphere_shape(def, kRadius);
    return def;
}
void damp(WorldDef& def, const std::vector<std::uint32_t>& bodies, float damping) {
    for (const std::uint32_t body : bodies)
        def.bodies[body].linear_damping = def.bodies[body].angular_damping = damping;
}

// A rope that lies over the upper half of a drum about z or of a ball, bead kLeft to bead kLeft + kOver, and hangs down
// on both sides.
constexpr int kOver = 8, kLeft = 10, kRight = 14;
const float kDrum = static_cast<float>(kGap / 2 / std::tan(3.14159265358979 / 2 / kOver)) - kRadius;
std::vector<std::uint32_t> drape(WorldDef& def, float height) {
    std::vector<std::uint32_t> rope;
    for (int k = -kLeft; k <= kOver + kRight; ++k) {
        const int over = std::clamp(k, 0, kOver);
        const double angle = 3.14159265358979 * (1.0 - static_cast<double>(over) / kOver), out = kDrum + kRadius;
        const double y = height + out * std::sin(angle) - kGap * std::abs(k - over);
        const auto bead = add_body(def, 0, {static_cast<float>(out * std::cos(angle)), static_cast<float>(y), 0.0f},
                                   exact_turn(static_cast<float>(std::tan((angle - 3.14159265358979 / 2) / 4))));
        if (!rope.empty())
            add_joint(def, rope.back(), bead, BallSocket{{kGap / 2, 0.0f, 0.0f}, {-kGap / 2, 0.0f, 0.0f}, {}});
        rope.push_back(bead);
    }
    return rope;
}

ActuatorDef kinematic_drive(std::uint32_t body, Vec3 way, float reach_m, float speed_mps) {
    ActuatorDef drive;
    drive.kind = ActuatorKind::kinematic;
    drive.body = body;
    drive.weights[0] = reach_m;
    drive.direction = way;
    drive.max_speed = speed_mps;
    return drive;
}
void step_with(World& world, float first, float second = 0.0f) {
    Command control = command(CommandKind::control);
    control.channels[0] = first, control.channels[1] = second;
    REQUIRE(world.step(std::array{control}) == StepStatus::ok);
}

}  // namespace

TEST_CASE("a rope that hangs over a drum comes to rest on it and sleeps, whether laid there or thrown" *
          doctest::test_suite("quality")) {
    struct Way {
        const char* name;
        float height_m, damping;
        double on_drum_mps, ends_mps, apart_m, depth_m;  // at most
    };
    // Without damping nothing takes the ends' swinging, which shakes what lies on the drum. What comes down on the drum
    // neither sinks in nor comes apart by much: the two share what no pass of either solves alone.
    for (const Way& way : {Way{"laid", 0.0f, 0.0f, 0.0005, 0.03, 1.0e-6, 0.0008},
                           Way{"laid, damped", 0.0f, 1.0f, 0.000025, 0.00004, 1.0e-6, 0.0008},
                           Way{"thrown, damped", 0.2f, 1.0f, 0.00003, 0.002, 0.0015, 0.0012}}) {
        for (const bool sleep : {false, true}) {
            CAPTURE(std::string(way.name));
            CAPTURE(sleep);
            WorldDef def = rig_world();
            def.solver.sleep = sleep;
            ShapeDef shape;
            shape.type = ShapeType::cylinder;
            shape.radius = kDrum, shape.half_height = 1.0f;
            const auto drum = add_body(def, add_shape(def, shape), {}, {0.70710678f, 0.0f, 0.0f, 0.70710678f});
            def.bodies[drum].type = BodyType::fixed;
            const auto rope = drape(def, way.height_m);
            damp(def, rope, way.damping);
            const std::vector<std::uint32_t> on_drum(rope.begin() + kLeft + 1, rope.begin() + kLeft + kOver);
            auto world = make_world(def);
            Worst worst;
            double residual = 0.0, of_ends = 0.0;
            for (int tick = 0; tick < 900; ++tick) {
                world->step();
                worst.look(*world);
                if (tick < 780) continue;
                residual = std::max(residual, fastest(*world, on_drum));
                of_ends = std::max(of_ends, fastest(*world, rope));
            }
            CHECK(worst.least_rigs == 1);
            CHECK(worst.most_rigs == 1);
            CHECK(state_of(*world, rope[kLeft + kOver / 2]).pose.position.y > kDrum);  // still across it
            if (sleep) {
                CHECK(all_asleep(*world, rope));
                continue;
            }
            MESSAGE(std::string(way.name) << ": in the last 2 s " << residual * 1e3 << " mm/s on the drum, "
                                          << of_ends * 1e3 << " mm/s at the ends; joints apart " << worst.apart_m * 1e3
                                          << " mm, depth " << worst.depth_m * 1e3 << " mm");
            CHECK(residual < way.on_drum_mps);
            CHECK(of_ends < way.ends_mps);
            CHECK(worst.apart_m < way.apart_m);
            CHECK(worst.depth_m < way.depth_m);
        }
    }
}

// Contacts under tension: a bead is pressed on the drum by hundreds of times its weight. While these and the rope
// disagreed about the velocities that a substep leaves, they drove each other, and nothing that damps ever took as
// much.
TEST_CASE("a rope that two crates hold taut over a drum comes to rest" * doctest::test_suite("quality")) {
    struct Load {
        std::uint32_t iterations;
        float crate_kg;
        std::uint32_t substeps;
    };
    const std::uint32_t usual = SolverSettings{}.coupling_iterations;
    for (const Load& load :
         {Load{2, 20.0f, 4}, Load{usual, 20.0f, 4}, Load{usual, 50.0f, 4}, Load{usual, 50.0f, 2}, Load{4, 80.0f, 4}}) {
        WorldDef def = rig_world();
        def.substeps = load.substeps;
        def.solver.sleep = false;
        def.solver.coupling_iterations = load.iterations;
        ShapeDef shape;
        shape.type = ShapeType::cylinder;
        shape.radius = 0.3f, shape.half_height = 1.0f;
        const auto drum = add_body(def, add_shape(def, shape), {}, {0.70710678f, 0.0f, 0.0f, 0.70710678f});
        def.bodies[drum].type = BodyType::fixed;
        const std::uint32_t bead = add_sphere_shape(def, 0.06f), crate = add_box_shape(def, {0.2f, 0.2f, 0.2f});
        std::vector<std::uint32_t> rope;
        constexpr int kBeads = 31;
        constexpr float kPitch = 0.15f, kHigh = 0.36f;
        const auto at = [&](int k) { return Vec3{kPitch * static_cast<float>(k - kBeads / 2), kHigh, 0.0f}; };
        const auto joined = [&](std::uint32_t a, std::uint32_t b, Vec3 here) {
            const Vec3 pa = def.bodies[a].pose.position, pb = def.bodies[b].pose.position;
            add_joint(def, a, b,
                      BallSocket{{here.x - pa.x, here.y - pa.y, 0.0f}, {here.x - pb.x, here.y - pb.y, 0.0f}, {}});
        };
        for (int k = 0; k < kBeads; ++k) {
            rope.push_back(add_body(def, bead, at(k)));
            def.bodies[rope.back()].mass_kg = 0.5f;
            if (k > 0) joined(rope[rope.size() - 2], rope.back(), {at(k).x - kPitch / 2, kHigh, 0.0f});
        }
        for (const float side : {-1.0f, 1.0f}) {
            const std::uint32_t end = side < 0.0f ? rope.front() : rope[kBeads - 1];
            const float x = def.bodies[end].pose.position.x;
            rope.push_back(add_body(def, crate, {x + side * 0.3f, kHigh, 0.0f}));
            def.bodies[rope.back()].mass_kg = load.crate_kg;
            joined(end, rope.back(), {x + side * 0.07f, kHigh, 0.0f});
        }
        damp(def, rope, 1.0f);
        auto world = make_world(def);
        double residual = 0.0;
        for (int tick = 0; tick < 1800; ++tick) {
            world->step();
            if (tick >= 1680) residual = std::max(residual, fastest(*world, rope));
        }
        CAPTURE(load.iterations);
        CAPTURE(load.crate_kg);
        CHECK(world->stats().rigs == 1);
        CHECK(state_of(*world, rope[kBeads / 2]).pose.position.y > 0.3f);  // still across it
        CHECK(residual < 0.001);
        MESSAGE("residual speed " << residual * 1e3 << " mm/s");
    }
}

TEST_CASE("a rope over a ball that moves goes along with it, and lets it through nowhere" *
          doctest::test_suite("quality")) {
    constexpr int kLeg = 240;
    for (const Vec3 way : {Vec3{0.0f, 1.0f, 0.0f}, Vec3{1.0f, 0.0f, 0.0f}}) {
        WorldDef def = rig_world();
        def.solver.sleep = false;
        const auto ball = add_body(def, add_sphere_shape(def, kDrum), {});
        def.bodies[ball].type = BodyType::kinematic;
        def.actuators.push_back(kinematic_drive(ball, way, 1.25f, 0.3f));
        def.slots.emplace_back();
        const auto rope = drape(def, 0.0f);
        damp(def, rope, 1.0f);
        const std::vector<std::uint32_t> on_top(rope.begin() + kLeft + 2, rope.begin() + kLeft + kOver - 1);
        auto world = make_world(def);
        world->step(std::array{command(CommandKind::join)});
        run(*world, 120);
        Worst worst;
        double residual = 0.0, deepest = 0.0, thrown = 0.0;
        D3 before{};
        for (int tick = 0; tick < 3 * kLeg; ++tick) {
            step_with(*world, tick / kLeg == 1 ? -1.0f : 1.0f);
            worst.look(*world);
            const D3 centre = d(state_of(*world, ball).pose.position), velocity = times(minus(centre, before), 60.0);
            before = centre;
            for (const std::uint32_t bead : rope) {
                const double away = size(minus(d(state_of(*world, bead).pose.position), centre));
                deepest = std::max(deepest, kDrum + kRadius - away);
            }
            const double speed = fastest(*world, on_top, velocity);
            thrown = std::max(thrown, speed);
            if (tick % kLeg >= kLeg - 60) residual = std::max(residual, speed);
        }
        MESSAGE(std::string(way.y > 0.0f ? "up and down" : "to and fro")
                << ": " << residual * 1e3 << " mm/s on the ball at a leg's end, " << thrown * 1e3
                << " mm/s at most; joints apart " << worst.apart_m * 1e3 << " mm, beads " << deepest * 1e3
                << " mm deep");
        CHECK(residual < 0.0025);
        CHECK(worst.apart_m < 0.00004);
        CHECK(deepest < 0.002);
        CHECK(worst.least_rigs == 1);
    }
}

namespace {

constexpr float kPlankStep = 0.5f, kBridge = 8.0f;

struct Crossing {
    WorldDef def;
    std::vector<std::uint32_t> planks;
    std::uint32_t car = 0;
};
// A bridge as scenes generate it, along -z from 0, between two banks, and the car of deploy/scenes/vehicle.json, a
// little shorter, before it. It weighs as much as 27 planks. Channels: throttle, brake.
Crossing crossing() {
    Crossing c;
    WorldDef& def = c.def;
    def.solver.rig_joints = 8;
    def.materials.push_back({"asphalt", 0.8f});
    def.materials.push_back({"wood", 0.5f, 0.0f, 300.0f});
    def.materials.push_back({"rubber", 1.0f, 0.0f, 1000.0f, 0.015f});
    const auto plank = add_box_shape(def, {1.4f, 0.06f, 0.22f}), bank = add_box_shape(def, {3.0f, 0.5f, 5.0f}),
               chassis = add_box_shape(def, {0.85f, 0.25f, 1.6f});
    for (const float z : {5.02f, -kBridge - 5.02f}) {
        const auto body = add_body(def, bank, {0.0f, -0.5f, z});
        def.bodies[body].type = BodyType::fixed;
        def.bodies[body].material = 1;
    }
    const auto join = [&](std::uint32_t a, std::uint32_t b, Vec3 in_a, Vec3 in_b) {
        for (const float x : {-1.2f, 1.2f})
            add_joint(def, a, b, BallSocket{{x, in_a.y, in_a.z}, {x, in_b.y, in_b.z}, {}});
    };
    const Vec3 front{0.0f, 0.0f, -kPlankStep / 2}, back{0.0f, 0.0f, kPlankStep / 2};
    for (float z = 0.0f; z > -kBridge; z -= kPlankStep) {
        const auto body = add_body(def, plank, {0.0f, -0.06f, z - kPlankStep / 2});
        def.bodies[body].material = 2;
        if (c.planks.empty())
            join(kNone, body, {0.0f, -0.06f, 0.0f}, back);
        else
            join(c.planks.back(), body, front, back);
        c.planks.push_back(body);
    }
    join(kNone, c.planks.back(), {0.0f, -0.06f, -kBridge}, front);
    damp(def, c.planks, 1.0f);

    c.car = add_body(def, chassis, {0.0f, 0.7f, 6.0f});
    def.bodies[c.car].mass_kg = 1100.0f;
    ShapeDef shape;
    shape.type = ShapeType::cylinder;
    shape.radius = 0.38f, shape.half_height = 0.12f;
    const auto tyre = add_shape(def, shape);
    for (const Vec3 hub :
         {Vec3{-1.0f, -0.3f, -1.3f}, Vec3{1.0f, -0.3f, -1.3f}, Vec3{-1.0f, -0.3f, 1.3f}, Vec3{1.0f, -0.3f, 1.3f}}) {
        const auto body =
            add_body(def, tyre, {hub.x, 0.7f + hub.y, 6.0f + hub.z}, exact_turn(static_cast<float>(kQuarter)));
        def.bodies[body].mass_kg = 25.0f;
        def.bodies[body].material = 3;
        Wheel wheel;
        wheel.anchor_a = hub;
        wheel.axle_a = {1.0f, 0.0f, 0.0f}, wheel.axle_b = {0.0f, -1.0f, 0.0f};
        wheel.suspension = {6.0f, 1.7f};
        wheel.min_m = -0.15f, wheel.max_m = 0.15f;
        if (hub.z > 0.0f) wheel.drive = {700.0f, 40.0f};
        ActuatorDef actuator;
        actuator.joint = add_joint(def, c.car, body, wheel);
        actuator.kind = ActuatorKind::brake;
        actuator.weights[1] = 1500.0f, actuator.min = 0.0f;
        def.actuators.push_back(actuator);
        if (hub.z < 0.0f) continue;
        actuator.kind = ActuatorKind::motor;
        actuator.weights = {-10.0f}, actuator.min = -kNoLimit;
        def.actuators.push_back(actuator);
    }
    def.slots.emplace_back();
    return c;
}

}  // namespace

TEST_CASE("a car drives over a bridge of planks, from bank to bank, and leaves it at rest" *
          doctest::test_suite("quality")) {
    for (const bool sleep : {false, true}) {
        Crossing c = crossing();
        c.def.solver.sleep = sleep;
        auto world = make_world(c.def);
        world->step(std::array{command(CommandKind::join)});
        run(*world, 300);  // until it hangs
        Worst worst;
        double upright = 1.0, clear = 1.0, aside = 0.0, residual = 0.0, lowest = 0.0;
        const double hangs = state_of(*world, c.planks[8]).pose.position.y, apart_empty = largest_separation(*world);
        int arrived = 0;
        for (int tick = 1; tick <= 1200; ++tick) {
            step_with(*world, arrived == 0 ? 1.0f : 0.0f, arrived == 0 ? 0.0f : 1.0f);
            const Pose car = state_of(*world, c.car).pose;
            if (arrived == 0 && car.position.z < -kBridge - 3.5f) arrived = tick;
            const D4 to_car = back(d(car.orientation));
            worst.look(*world);
            upright = std::min(upright, turned(d(car.orientation), {0.0, 1.0, 0.0})[1]);
            aside = std::max(aside, std::abs(static_cast<double>(car.position.x)));
            for (const std::uint32_t plank : c.planks) {
                const Pose pose = state_of(*world, plank).pose;
                lowest = std::min(lowest, static_cast<double>(pose.position.y));
                const D3 seen = turned(to_car, minus(d(pose.position), d(car.position)));  // in the chassis's frame
                if (std::abs(seen[2]) < 1.6) clear = std::min(clear, -0.25 - (seen[1] + 0.06));
            }
            if (tick > 1080) residual = std::max(residual, fastest(*world, c.planks));
        }
        CHECK(arrived > 0);
        CHECK(worst.least_rigs == 1);
        CHECK(std::abs(state_of(*world, c.car).pose.position.y - 0.592f) < 0.01f);  // it stands on the bank
        if (sleep) {
            CHECK(all_asleep(*world, c.planks));
            continue;
        }
        MESSAGE("over after " << arrived / 60.0 << " s, " << aside << " m aside; joints apart " << apart_empty * 1e3
                              << " mm empty, " << worst.apart_m * 1e3 << " mm under the car; hangs " << -hangs
                              << " m, under the car " << -lowest << " m; upright " << upright << ", clear by " << clear
                              << " m, depth " << worst.depth_m * 1e3 << " mm, residual " << residual * 1e3 << " mm/s");
        CHECK(arrived < 700);
        CHECK(aside < 0.03);
        CHECK(apart_empty < 0.0005);
        CHECK(worst.apart_m < 0.0015);
        CHECK(worst.depth_m < 0.004);
        CHECK(upright > 0.99);
        CHECK(clear > 0.2);
        CHECK(residual < 0.0025);
    }
}

namespace {

// Eight planks of 1 kg from x = 0 on, 5 m up, between two points of the world each.
constexpr int kNarrowPlanks = 8;
std::vector<std::uint32_t> taut_bridge(WorldDef& def, Vec3 half_extents, float step, float across) {
    const auto plank = add_box_shape(def, half_extents);
    std::vector<std::uint32_t> planks;
    for (int k = 0; k <= kNarrowPlanks; ++k) {
        if (k < kNarrowPlanks) {
            planks.push_back(add_body(def, plank, {step * (static_cast<float>(k) + 0.5f), 5.0f, 0.0f}));
            def.bodies[planks.back()].mass_kg = 1.0f;
        }
        for (const float side : {-across / 2, across / 2}) {
            const Vec3 ahead{step / 2, 0.0f, side}, behind{-step / 2, 0.0f, side};
            if (k == 0)
                add_joint(def, kNone, planks[0], BallSocket{{0.0f, 5.0f, side}, behind, {}});
            else if (k < kNarrowPlanks)
                add_joint(def, planks[static_cast<std::size_t>(k) - 1], planks.back(), BallSocket{ahead, behind, {}});
            else
                add_joint(def, kNone, planks.back(), BallSocket{{step * kNarrowPlanks, 5.0f, side}, ahead, {}});
        }
    }
    return planks;
}
// Holds a load, as if by a lever, above the fifth of them.
void weld_above(WorldDef& def, std::uint32_t plank, std::uint32_t load, Vec3 lever) {
    Weld weld;
    weld.anchor_a = lever;
    add_joint(def, plank, load, weld);
    def.bodies[load].mask = 0;
}

}  // namespace

TEST_CASE(
    "a taut bridge of narrow planks, light to turn, bears what is laid on it, falls on it and is welded to it, and "
    "gives nothing back" *
    doctest::test_suite("quality")) {
    struct Case {
        Vec3 plank;  // half extents
        float step, across;
        bool ball;  // or a crate
        float mass_kg, above_m;
        std::uint32_t substeps;
        bool welded = false;  // by a lever of a metre
    };
    const Vec3 rung{0.04f, 0.04f, 0.3f}, narrow{0.1f, 0.04f, 0.6f};
    const Case cases[] = {
        {rung, 0.3f, 0.5f, true, 100.0f, 0.01f, 4},     {narrow, 0.5f, 1.0f, true, 100.0f, 0.01f, 4},
        {rung, 0.3f, 0.5f, false, 30.0f, 1.5f, 4},      {rung, 0.3f, 0.5f, true, 30.0f, 1.5f, 4},
        {rung, 0.3f, 0.5f, true, 100.0f, 1.5f, 4},      {narrow, 0.5f, 1.0f, false, 100.0f, 1.5f, 4},
        {narrow, 0.5f, 1.0f, true, 100.0f, 1.0f, 8},    {rung, 0.3f, 0.5f, false, 30.0f, 0.5f, 2},
        {rung, 0.3f, 0.5f, true, 70.0f, 0.0f, 4, true}, {rung, 0.3f, 0.5f, true, 100.0f, 0.0f, 4, true}};
    for (const Case& c : cases) {
        for (const float aside : {0.0f, 0.13f, -0.31f}) {
            WorldDef def = rig_world();
            def.substeps = c.substeps;
            def.solver.sleep = false;
            const auto planks = taut_bridge(def, c.plank, c.step, c.across);
            const auto load_shape = c.ball ? add_sphere_shape(def, 0.4f) : add_box_shape(def, {0.4f, 0.4f, 0.4f});
            const float above = c.welded ? 1.0f : c.plank.y + 0.4f + c.above_m,
                        along_it = c.welded ? c.step * 4.5f : c.step * kNarrowPlanks / 2 + aside;
            const auto load = add_body(def, load_shape, {along_it, 5.0f + above, 0.1f * aside});
            def.bodies[load].mass_kg = c.mass_kg;
            if (c.welded) weld_above(def, planks[4], load, {0.0f, above, 0.1f * aside});
            auto world = make_world(def);
            const auto energy = [&] {
                double sum = 0.0;
                for (std::uint32_t i = 0; i < def.bodies.size(); ++i) {
                    const BodyState body = state_of(*world, i);
                    const D3 v = d(body.linear_velocity);
                    sum += (0.5 * along(v, v) + 10.0 * static_cast<double>(body.pose.position.y)) /
                           static_cast<double>(body.inverse_mass);
                }
                return sum;
            };
            CAPTURE(c.plank.x);
            CAPTURE(c.mass_kg);
            CAPTURE(c.above_m);
            CAPTURE(c.substeps);
            CAPTURE(aside);
            const double before = energy();
            double most = before;
            Worst worst;
            for (int tick = 0; tick < 400; ++tick) {
                world->step();
                most = std::max(most, energy());
                worst.look(*world);
                REQUIRE(count_events(*world, EventKind::quarantined, EventCause::not_finite) +
                            count_events(*world, EventKind::quarantined, EventCause::too_fast) ==
                        0);
            }
            CHECK(worst.least_rigs == 1);
            CHECK(most - before < 0.002 * 10.0 * static_cast<double>(c.mass_kg));  // 2 mm of the load's height
            CHECK(worst.apart_m < (c.substeps == 2 ? 0.05 : 0.02));
            if (c.above_m < 0.1f && !c.welded)
                CHECK(fastest(*world, planks) < 0.15);  // the ball still rolls to and fro
        }
    }
}

TEST_CASE("a weld on a bridge that lies still, awake, is after a restore what it was") {
    WorldDef def = rig_world();
    def.solver.sleep = false;
    const auto planks = taut_bridge(def, {0.1f, 0.04f, 0.6f}, 0.5f, 1.0f);
    const auto load = add_body(def, add_sphere_shape(def, 0.4f), {2.25f, 6.0f, 0.0f});
    def.bodies[load].mass_kg = 30.0f;
    damp(def, planks, 3.0f);
    damp(def, {load}, 3.0f);
    weld_above(def, planks[4], load, {0.0f, 1.0f, 0.0f});
    auto world = make_world(def), twin = make_world(def);
    int still = 0;
    std::vector<std::uint8_t> saved;
    for (int tick = 0; tick < 1500; ++tick) {
        const Pose plank = state_of(*world, planks[4]).pose, ball = state_of(*world, load).pose;
        world->step();
        twin->step();
        still += plank == state_of(*world, planks[4]).pose && ball == state_of(*world, load).pose ? 1 : 0;
        REQUIRE(world->hash().root == twin->hash().root);
        if (tick % 7 != 0) continue;
        saved.clear();
        world->save(saved);
        REQUIRE(twin->restore(saved));
    }
    CHECK(still > 20);  // joints that stay as they were are not prepared again (Solver): these are
}

TEST_CASE("a rope bears a crate a hundred times as heavy as a bead, lays it down, and lies slack" *
          doctest::test_suite("quality")) {
    constexpr int kBeads = 12;
    for (const bool sleep : {false, true}) {
        WorldDef def = rig_world();
        def.solver.sleep = sleep;
        add_ground(def);
        const auto hook = add_body(def, 0, {0.0f, 5.0f, 0.0f});
        def.bodies[hook].type = BodyType::kinematic;
        def.bodies[hook].mask = 0;
        std::vector<std::uint32_t> all;
        for (int k = 0; k < kBeads; ++k) {
            const float y = 5.0f - kGap * (static_cast<float>(k) + 0.5f);
            const auto bead = add_body(def, 0, {0.0f, y, 0.0f}, exact_turn(-static_cast<float>(kQuarter)));
            def.bodies[bead].mass_kg = 1.0f;
            add_joint(def, k > 0 ? bead - 1 : hook, bead,
                      BallSocket{{k > 0 ? kGap / 2 : 0.0f, 0.0f, 0.0f}, {-kGap / 2, 0.0f, 0.0f}, {}});
            all.push_back(bead);
        }
        damp(def, all, 1.0f);
        const auto crate =
            add_body(def, add_box_shape(def, {0.4f, 0.4f, 0.4f}), {0.0f, 5.0f - kGap * kBeads - 0.4f, 0.0f});
        def.bodies[crate].mass_kg = 100.0f;
        add_joint(def, all.back(), crate, BallSocket{{kGap / 2, 0.0f, 0.0f}, {0.0f, 0.4f, 0.0f}, {}});
        all.push_back(crate);
        def.actuators.push_back(kinematic_drive(hook, {0.28f, -0.96f, 0.0f}, 4.0f, 1.0f));
        def.slots.emplace_back();
        auto world = make_world(def);
        world->step(std::array{command(CommandKind::join)});
        Worst hanging, lying;
        for (int tick = 0; tick < 120; ++tick) {
            step_with(*world, 0.0f);
            hanging.look(*world);
        }
        CHECK(all_asleep(*world, all) == sleep);
        double residual = 0.0;
        for (int tick = 0; tick < 1080; ++tick) {
            step_with(*world, 1.0f);
            lying.look(*world);
            if (tick >= 960) residual = std::max(residual, fastest(*world, all));
        }
        CHECK(state_of(*world, crate).pose.position.y == about(0.4, 0.001));
        CHECK(size(minus(d(state_of(*world, hook).pose.position), d(state_of(*world, crate).pose.position))) <
              0.6 * kGap * kBeads);
        if (sleep) {
            CHECK(all_asleep(*world, all));
            continue;
        }
        MESSAGE("joints apart " << hanging.apart_m * 1e3 << " mm hanging, " << lying.apart_m * 1e3
                                << " mm as it is laid down; depth " << lying.depth_m * 1e3 << " mm, residual "
                                << residual * 1e3 << " mm/s");
        CHECK(hanging.apart_m < 1.0e-6);
        CHECK(lying.apart_m < 0.0025);
        CHECK(lying.depth_m < 0.004);
        CHECK(residual < 0.005);
    }
}

TEST_CASE("a rig that sleeps on the ground is woken by a box that falls on it, when it touches, and both sleep again") {
    enum Kind { chain, tree, net, rods };
    for (const Kind kind : {chain, tree, net, rods}) {
        CAPTURE(static_cast<int>(kind));
        WorldDef def = rig_world();
        def.materials[0].rolling_resistance = 0.05f;
        add_ground(def);
        std::vector<std::uint32_t> beads;
        for (std::uint32_t k = 0; k < 16; ++k) {
            const auto place = [&](std::uint32_t n) {
                const std::uint32_t columns = kind == chain ? 16 : 4;
                return Vec3{kGap * static_cast<float>(n % columns), kRadius, kGap * static_cast<float>(n / columns)};
            };
            const Vec3 at = place(k);
            const auto bead = add_body(def, 0, at);
            beads.push_back(bead);
            const auto join = [&](std::uint32_t to) {
                const Vec3 from = place(to), half{(at.x - from.x) / 2, 0.0f, (at.z - from.z) / 2};
                if (kind == rods)
                    add_joint(def, beads[to], bead, DistanceServo{{}, {}, kGap, {}, {}});
                else
                    add_joint(def, beads[to], bead, BallSocket{half, {-half.x, 0.0f, -half.z}, {}});
            };
            if (kind == chain && k > 0) join(k - 1);
            if (kind == tree && k > 0) join((k - 1) / 3);
            if (kind >= net && k % 4 > 0) join(k - 1);
            if (kind >= net && k >= 4) join(k - 4);
        }
        PrefabDef box;
        box.bodies.emplace_back().shape = add_box_shape(def, {0.06f, 0.06f, 0.06f});
        def.prefabs.push_back(box);
        auto world = make_world(def);
        run(*world, 120);
        REQUIRE(all_asleep(*world, beads));
        Command spawn = command(CommandKind::spawn);
        spawn.prefab = 0;
        spawn.pose.position = {kGap * 1.5f + 0.04f, 0.8f, 0.03f};
        world->step(std::array{spawn});
        BodyId fallen;
        for (const Event& event : world->events()) fallen = event.kind == EventKind::spawned ? event.a : fallen;
        int touched = 0, woken = 0, rested = 0;
        double stirred = 0.0;
        Worst worst;
        for (int tick = 1; tick <= 600; ++tick) {
            world->step();
            for (const Event& event : world->events()) {
                if (touched == 0 && event.kind == EventKind::contact_begin && (event.a == fallen || event.b == fallen))
                    touched = tick;
            }
            if (woken == 0 && none_asleep(*world, beads)) woken = tick;
            if (woken == 0) CHECK(all_asleep(*world, beads));  // together
            const bool rests = all_asleep(*world, beads) && world->body(fallen).asleep;
            if (woken > 0 && rested == 0 && rests) rested = tick;
            if (rested > 0) CHECK(rests);
            stirred = std::max(stirred, fastest(*world, beads));
            worst.look(*world);
        }
        MESSAGE("touched after " << touched << " ticks, awake after " << woken << ", asleep after " << rested
                                 << "; stirred to " << stirred << " m/s, joints apart " << worst.apart_m * 1e3
                                 << " mm");
        CHECK(touched > 0);
        CHECK(std::abs(woken - touched) <= 1);  // what comes near within the tick counts
        CHECK(stirred > 0.01);
        CHECK(rested > 0);
        CHECK(rested < 180);
        CHECK(worst.apart_m < 0.00004);
        CHECK(worst.least_rigs == 1);
    }
}
