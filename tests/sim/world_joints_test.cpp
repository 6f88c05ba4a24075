// Joints, motors, grabs and breaking as a game meets them, through the public interface.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/about.h"
#include "tests/support/seed.h"
#include "tests/support/varied_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

double distance(Vec3 a, Vec3 b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

}  // namespace

TEST_CASE("a wheel that a motor turns rolls without slipping") {
    WorldDef def;
    add_ground(def);
    const auto wheel = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 0.5f, 0.0f});
    AngularAxisMotor motor;
    motor.axis_a = {0.0f, 0.0f, 1.0f};
    motor.target_radps = -4.0f;
    motor.motor.max_force = 500.0f;
    add_joint(def, kNone, wheel, motor);
    auto world = make_world(def);
    run(*world, 180);
    const BodyState before = state_of(*world, wheel);
    CHECK(before.angular_velocity.z == about(-4.0, 0.01));
    CHECK(before.linear_velocity.x == about(2.0, 0.02));
    run(*world, 60);
    CHECK(state_of(*world, wheel).pose.position.x - before.pose.position.x == about(2.0, 0.02));
}

// With a row that grew where the axes point apart they got up to 4,000 times their energy.
TEST_CASE("what swings over its pivot with its twist limited or braked gains no energy") {
    Lcg random(5);
    for (int kind = 0; kind < 4; ++kind) {
        double worst = 0.0;
        for (int round = 0; round < sampled(12); ++round) {
            WorldDef def;
            def.solver.sleep = false;
            const bool pair = kind == 3;  // no socket: two free bodies, whose axes come to point apart
            if (pair) def.gravity = {};
            const std::uint32_t ball = add_body(def, add_sphere_shape(def, 0.2f), {0.0f, 2.0f, 0.0f});
            BodyDef& body = def.bodies[ball];
            body.mass_kg = 4.0f;
            Vec3 w;
            w.x = random.between(-15.0f, 15.0f), w.y = random.between(-4.0f, 4.0f), w.z = random.between(-15.0f, 15.0f);
            body.angular_velocity = w;
            if (!pair) body.linear_velocity = {0.5f * w.z, 0.0f, -0.5f * w.x};
            const std::uint32_t other = pair ? add_body(def, 0, {3.0f, 2.0f, 0.0f}) : kNone;
            if (pair)
                def.bodies[other].mass_kg = 4.0f;
            else
                add_joint(def, kNone, ball, BallSocket{{0.0f, 2.5f, 0.0f}, {0.0f, 0.5f, 0.0f}, {}});
            TwistLimit limit;
            limit.min_angle_rad = kind == 0 ? -0.35f : 0.0f, limit.max_angle_rad = kind == 0 ? 0.35f : 0.0f;
            if (kind == 2)
                add_joint(def, kNone, ball, TwistMotor{});
            else
                add_joint(def, other, ball, limit);
            auto world = make_world(def);
            const auto energy = [&] {
                double e = 0.0;
                for (std::uint32_t i = 0; i < def.bodies.size(); ++i) {
                    const BodyState s = state_of(*world, i);
                    const Vec3 v = s.linear_velocity, u = s.angular_velocity;
                    e += 2.0 * (v.x * v.x + v.y * v.y + v.z * v.z) +
                         0.5 * 4.0 * 0.016 * (u.x * u.x + u.y * u.y + u.z * u.z);
                    if (!pair) e += 40.0 * (s.pose.position.y - 2.0);
                }
                return e;
            };
            const double start = energy();
            for (int tick = 0; tick < 300; ++tick) {
                world->step();
                worst = std::max(worst, energy() / start);
                CHECK(count_events(*world, EventKind::quarantined) == 0);
            }
        }
        CAPTURE(kind);
        CHECK(worst < 1.06);
    }
}

TEST_CASE("a player drives a cart, turns it by skidding and stops it") {
    WorldDef def;
    add_ground(def);
    const auto chassis = add_box_shape(def, {1.2f, 0.2f, 0.5f}), wheel = add_sphere_shape(def, 0.3f);
    def.prefabs.push_back(cart_prefab(chassis, wheel));
    def.slots.push_back({"one", 0, {{0.0f, 0.52f, 0.0f}, {}}});
    auto world = make_world(def);
    world->step(std::array{command(CommandKind::join)});
    const BodyId cart = world->events()[0].a;
    run(*world, 60);
    const Vec3 start = world->body(cart).pose.position;
    Command control = command(CommandKind::control);
    control.channels[0] = 1.0f;
    world->step(std::array{control});
    run(*world, 239);
    const BodyState driven = world->body(cart);
    CHECK(driven.pose.position.x - start.x > 5.0f);  // 3 m/s at full speed
    CHECK(driven.linear_velocity.x == about(3.0, 0.1));
    CHECK(std::abs(driven.pose.position.z - start.z) < 0.5f);
    control.channels[0] = 0.0f;
    world->step(std::array{control});
    run(*world, 180);
    CHECK(std::abs(world->body(cart).linear_velocity.x) < 0.1f);
    world->step(std::array{command(CommandKind::leave)});
    CHECK_FALSE(world->alive(cart));
    CHECK(world->stats().joints == 0);
}

TEST_CASE("a grab pulls a body to its target with at most its force") {
    WorldDef def;
    const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 10.0f, 0.0f});
    auto world = make_world(def);
    Command grab = command(CommandKind::grab);
    grab.body = {ball + 1, 0};
    grab.linear = {3.0f, 12.0f, 0.0f};
    grab.value = 50'000.0f;
    world->step(std::array{grab});
    run(*world, 240);
    CHECK(distance(state_of(*world, ball).pose.position, grab.linear) < 0.05);
    REQUIRE(world->stats().joints == 1);

    auto weak = make_world(def);
    grab.value = 1'000.0f;  // a fifth of its weight: 524 kg
    weak->step(std::array{grab});
    run(*weak, 59);
    CHECK(state_of(*weak, ball).linear_velocity.y == about(-10.0 + 1'000.0 / 523.6, 0.1));
}

TEST_CASE("a rope holds at its length and is slack below it") {
    WorldDef def;
    const auto ball = add_body(def, add_sphere_shape(def, 0.2f), {0.0f, 0.0f, 0.0f});
    add_joint(def, kNone, ball, DistanceLimit{{0.0f, 1.0f, 0.0f}, {}, 0.0f, 3.0f, {}});
    auto world = make_world(def);
    run(*world, 30);
    CHECK(state_of(*world, ball).linear_velocity.y == about(-5.0, 1e-4));  // falls freely
    run(*world, 300);
    CHECK(state_of(*world, ball).pose.position.y == about(-2.0, 0.01));
}

TEST_CASE("a welded pair moves as one, and a hinge leaves its axis free within its limits") {
    WorldDef def;
    def.gravity = {};
    const auto box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    const auto a = add_body(def, box, {}), b = add_body(def, box, {1.2f, 0.0f, 0.0f});
    add_joint(def, a, b, Weld{{0.6f, 0.0f, 0.0f}, {-0.6f, 0.0f, 0.0f}, {}, {}});
    def.bodies[a].angular_velocity = {0.0f, 2.0f, 0.0f};
    const auto frame = add_body(def, box, {0.0f, 10.0f, 0.0f}), door = add_body(def, box, {1.2f, 10.0f, 0.0f});
    def.bodies[frame].type = BodyType::fixed;
    Hinge hinge;
    hinge.anchor_a = {0.6f, 0.0f, 0.0f};
    hinge.anchor_b = {-0.6f, 0.0f, 0.0f};
    hinge.limited = true;
    hinge.min_angle_rad = -0.25f;
    hinge.max_angle_rad = 0.75f;
    add_joint(def, frame, door, hinge);
    def.bodies[door].angular_velocity = {0.0f, 3.0f, 0.0f};
    def.bodies[door].linear_velocity = {0.0f, 0.0f, -1.8f};
    auto world = make_world(def);
    double largest = 0.0;
    for (int n = 0; n < 240; ++n) {
        world->step();
        const Quat q = state_of(*world, door).pose.orientation;
        largest = std::max(largest, 2.0 * std::atan2(q.y, q.w));
        CHECK(std::abs(q.x) < 0.01);
        CHECK(std::abs(q.z) < 0.01);
    }
    CHECK(largest > 0.70);
    CHECK(largest < 0.80);
    CHECK(distance(state_of(*world, a).pose.position, state_of(*world, b).pose.position) == about(1.2, 0.005));
    const Quat p = state_of(*world, a).pose.orientation, q = state_of(*world, b).pose.orientation;
    CHECK(std::abs(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w) > 0.9999);
}

TEST_CASE("a joint that is to stay says in each tick that it is overloaded, and stays") {
    for (const std::uint32_t rig_joints : {0u, 1u}) {  // by the coloured solver, as a rig
        CAPTURE(rig_joints);
        WorldDef def;
        def.solver.rig_joints = rig_joints;
        const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 10.0f, 0.0f});
        add_joint(def, kNone, ball, BallSocket{{0.0f, 10.0f, 0.0f}, {}, {}});
        def.joints[0].name = "hook";
        def.joints[0].break_force_n = 8'000.0f;  // the ball weighs 5,236 N
        def.joints[0].break_removes = false;
        auto world = make_world(def);
        const JointId hook = world->find_joint("hook");
        run(*world, 10);
        for (int pulls = 0; pulls < 3; ++pulls) {
            Command pull = command(CommandKind::impulse);
            pull.body = {ball + 1, 0};
            pull.linear = {0.0f, -200.0f, 0.0f};
            world->step(std::array{pull});
            REQUIRE(count_events(*world, EventKind::joint_overloaded) == 1);
            CHECK(count_events(*world, EventKind::joint_broken) == 0);
            for (const Event& event : world->events()) {
                if (event.kind != EventKind::joint_overloaded) continue;
                CHECK(event.joint == hook);
                CHECK(event.b == BodyId{ball + 1, 0});
                CHECK(event.impulse > 8'000.0f);
            }
        }
        std::vector<std::uint8_t> saved;
        world->save(saved);
        const auto again = make_world(def);
        REQUIRE(again->restore(saved).ok());
        for (World* w : {world.get(), again.get()}) {
            CHECK(w->alive(hook));
            run(*w, 5);
            CHECK(count_events(*w, EventKind::joint_overloaded) == 0);
            Command pull = command(CommandKind::impulse);
            pull.body = {ball + 1, 0};
            pull.linear = {0.0f, -200.0f, 0.0f};
            w->step(std::array{pull});
            CHECK(count_events(*w, EventKind::joint_overloaded) == 1);
            CHECK(w->alive(hook));
        }
        CHECK(world->hash() == again->hash());
        // By command: of two that are the same but for that, one is gone.
        std::array<Command, 2> orders{command(CommandKind::create_joint), command(CommandKind::create_joint)};
        for (std::size_t k = 0; k < 2; ++k) {
            orders[k].order.b = {ball + 1, 0};
            orders[k].order.constraint = BallSocket{{0.0f, 10.0f, 0.0f}, {}, {}};
            orders[k].order.break_force_n = 100.0f;
            orders[k].order.break_removes = k == 0;
            orders[k].tag = k + 1;
            orders[k].sequence = static_cast<std::uint32_t>(k);
        }
        const std::uint32_t before = world->stats().joints;
        world->step(orders);
        run(*world, 3);
        CHECK(world->stats().joints == before + 1);
    }
}

TEST_CASE("a joint breaks above its force, says so once, and is gone") {
    WorldDef def;
    const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 10.0f, 0.0f});
    add_joint(def, kNone, ball, BallSocket{{0.0f, 10.0f, 0.0f}, {}, {}});
    def.joints[0].name = "hook";
    def.joints[0].break_force_n = 8'000.0f;  // the ball weighs 5,236 N
    auto world = make_world(def);
    const JointId hook = world->find_joint("hook");
    run(*world, 60);
    CHECK(world->alive(hook));
    Command pull = command(CommandKind::impulse);
    pull.body = {ball + 1, 0};
    pull.linear = {0.0f, -200.0f, 0.0f};  // over a tick 12,000 N
    world->step(std::array{pull});
    REQUIRE(count_events(*world, EventKind::joint_broken) == 1);
    for (const Event& event : world->events()) {
        if (event.kind != EventKind::joint_broken) continue;
        CHECK(event.joint == hook);
        CHECK(event.b == BodyId{ball + 1, 0});
        CHECK(event.impulse > 8'000.0f);
    }
    CHECK_FALSE(world->alive(hook));
    world->step();
    CHECK(world->events().empty());
    run(*world, 30);
    CHECK(state_of(*world, ball).linear_velocity.y < -4.0f);
}

TEST_CASE("numbers that overflow end in quarantine, the same on every target, and harm no bystander") {
    WorldDef def;
    add_ground(def);
    const auto shape = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    const auto mad = add_body(def, shape, {0.0f, 0.5f, 0.0f});
    def.bodies[mad].mass_kg = 1e-3f;
    const auto on_top = add_body(def, shape, {0.0f, 1.5f, 0.0f}), jointed = add_body(def, shape, {3.0f, 0.5f, 0.0f});
    const auto far_off = add_body(def, shape, {20.0f, 0.5f, 0.0f});
    add_joint(def, mad, jointed, BallSocket{{1.5f, 0.0f, 0.0f}, {-1.5f, 0.0f, 0.0f}, {}});
    def.slots.push_back({"one", kNone, {}});
    ActuatorDef push;
    push.kind = ActuatorKind::force;
    push.body = mad;
    push.weights[0] = kNoLimit;
    def.actuators.push_back(push);
    Command control = command(CommandKind::control);
    control.channels[0] = 1.0f;
    std::vector<HashTree> reference;
    for (const Target target : available_targets()) {
        CAPTURE(std::string(target_name(target)));
        auto world = make_world(def, target);
        world->step(std::array{command(CommandKind::join)});
        run(*world, 20);
        world->step(std::array{control});
        CHECK(count_events(*world, EventKind::quarantined, EventCause::not_finite) >= 1);
        CHECK(state_of(*world, mad).type == BodyType::kinematic);
        CHECK(state_of(*world, mad).linear_velocity == Vec3{});
        std::vector<HashTree> course;
        for (int n = 0; n < 20; ++n) {
            course.push_back(world->hash());
            std::vector<std::uint8_t> bytes;
            world->save(bytes);
            auto next = make_world(def, target);
            REQUIRE(next->restore(bytes).ok());
            CHECK(next->hash() == world->hash());
            world->step();
            CHECK(count_events(*world, EventKind::quarantined, EventCause::not_finite) == 0);
        }
        for (const auto body : {on_top, jointed, far_off}) CHECK(std::isfinite(state_of(*world, body).pose.position.y));
        CHECK(state_of(*world, far_off).type == BodyType::dynamic);
        CHECK(std::abs(state_of(*world, far_off).pose.position.y - 0.5f) < 0.01f);
        if (reference.empty()) reference = course;
        CHECK(course == reference);
    }
}

// More joints on a hub than there are colours, then fewer; contacts beside them; every tick also from a save.
TEST_CASE(
    "joints that stay as they were solved go on like those of a world that was just restored, whatever is done to "
    "them") {
    WorldDef def;
    def.solver.sleep = false;
    add_ground(def);
    const auto hub = add_body(def, add_box_shape(def, {3.0f, 0.3f, 3.0f}), {0.0f, 4.0f, 0.0f});
    const auto arm = add_box_shape(def, {0.1f, 0.4f, 0.1f});
    std::vector<JointId> joints;
    std::uint32_t last = 0;
    for (int k = 0; k < 70; ++k) {
        const Vec3 top{-2.7f + 0.6f * static_cast<float>(k % 10), 3.7f, -2.7f + 0.9f * static_cast<float>(k / 10)};
        last = add_body(def, arm, {top.x, top.y - 0.4f, top.z});
        Hinge hinge;
        hinge.anchor_a = {top.x, -0.3f, top.z}, hinge.anchor_b = {0.0f, 0.4f, 0.0f};
        joints.push_back({add_joint(def, hub, last, hinge), 0});
    }
    const auto world = make_world(def);
    std::vector<std::uint8_t> saved;
    std::uint32_t most_overflow = 0;
    for (int tick = 0; tick < 160; ++tick) {
        world->save(saved);
        const auto fresh = make_world(def);
        REQUIRE(fresh->restore(saved).ok());
        std::vector<Command> orders;
        if (tick >= 40 && tick < 70) {
            orders.push_back(command(CommandKind::remove_joint));
            orders.back().joint = joints[static_cast<std::size_t>(tick)];
        }
        if (tick % 20 == 15) {  // to where it is: its impulses are forgotten all the same
            orders.push_back(command(CommandKind::teleport));
            orders.back().body = {last + 1, 0};
            orders.back().pose = state_of(*world, last).pose;
        }
        if (tick % 20 == 7) {
            orders.push_back(command(CommandKind::set_joint));
            orders.back().joint = joints[3];
            Hinge other = std::get<Hinge>(world->joint(joints[3]).constraint);
            other.spring = {static_cast<float>(tick), 1.0f};
            orders.back().order.constraint = other;
        }
        REQUIRE(world->step(orders) == StepStatus::ok);
        REQUIRE(fresh->step(orders) == StepStatus::ok);
        CHECK(count_events(*world, EventKind::command_rejected) == 0);
        CHECK(world->hash() == fresh->hash());
        most_overflow = std::max(most_overflow, world->stats().overflow_constraints);
    }
    CHECK(most_overflow > 0);
    CHECK(world->stats().overflow_constraints == 0);
    CHECK(world->stats().touching_pairs > 0);
}
