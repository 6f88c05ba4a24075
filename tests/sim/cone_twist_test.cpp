// Guards the joint of a ragdoll: a ball socket with a swing limit and a twist limit of the same two bodies.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sim/solver/solver.h"
#include "tests/support/about.h"
#include "tests/support/bodies.h"

namespace orrery::sim::test {
namespace {

struct Swing {
    double swing, twist;
};

// Of the rotation of B relative to A, whose frames agree at rest: twist about y, the rest is swing.
Swing swing_and_twist(const Bodies& bodies, std::uint32_t a, std::uint32_t b) {
    const float *p = bodies.pose[a].orientation, *q = bodies.pose[b].orientation;
    const double ax = -p[0], ay = -p[1], az = -p[2], aw = p[3], bx = q[0], by = q[1], bz = q[2], bw = q[3];
    const double x = aw * bx + ax * bw + ay * bz - az * by, y = aw * by - ax * bz + ay * bw + az * bx;
    const double z = aw * bz + ax * by - ay * bx + az * bw, w = aw * bw - ax * bx - ay * by - az * bz;
    const double s = w < 0 ? -1 : 1;
    return {std::acos(std::clamp(1 - 2 * (x * x + z * z), -1.0, 1.0)), 2 * std::atan2(s * y, s * w)};
}

std::vector<Joint> cone_twist(std::uint32_t a, std::uint32_t b, Vec3 anchor_a, Vec3 anchor_b, float cone, float twist) {
    SwingLimit swing;
    swing.max_angle_rad = cone;
    TwistLimit limit;
    limit.min_angle_rad = -twist, limit.max_angle_rad = twist;
    return {make_joint(a, b, BallSocket{anchor_a, anchor_b, {}}), make_joint(a, b, swing), make_joint(a, b, limit)};
}

}  // namespace

TEST_CASE("a cone-twist joint keeps swing and twist under load, at mass ratios 1, 10 and 100") {
    for (const float ratio : {1.0f, 10.0f, 100.0f}) {
        CAPTURE(ratio);
        Bodies bodies = make_bodies();
        ShuffledExecutor executor{1};
        StepInput input = make_input(executor);
        input.gravity = {6.0f, -2.0f, 7.0f};  // swings them out of their cones
        Solver solver;
        BodySpec light = box_spec({0.0f, 0.5f, 0.0f}, {0.1f, 0.4f, 0.2f}),
                 heavy = box_spec({0.0f, 1.5f, 0.0f}, {0.2f, 0.4f, 0.1f});
        const float scale = ratio * light.mass / heavy.mass;
        heavy.mass *= scale,
            heavy.inertia = {heavy.inertia.x * scale, heavy.inertia.y * scale, heavy.inertia.z * scale};
        heavy.angular = {0.0f, 6.0f, 0.0f};
        const std::uint32_t a = add_body(bodies, light), b = add_body(bodies, heavy);
        std::vector<Joint> joints = cone_twist(kWorldBody, a, {}, {0.0f, -0.5f, 0.0f}, 0.5f, 0.3f);
        for (const Joint& joint : cone_twist(a, b, {0.0f, 0.5f, 0.0f}, {0.0f, -0.5f, 0.0f}, 0.7f, 0.4f))
            joints.push_back(joint);
        std::vector<JointImpulse> impulses(joints.size());
        input.impulses = impulses;
        double swing = 0, twist = 0;
        for (int tick = 0; tick < 600; ++tick) {
            solver.step(input, bodies, joints, {});
            const Swing first = swing_and_twist(bodies, kWorldBody, a), second = swing_and_twist(bodies, a, b);
            swing = std::max({swing, first.swing - 0.5, second.swing - 0.7});
            twist = std::max({twist, std::abs(first.twist) - 0.3, std::abs(second.twist) - 0.4});
        }
        const Swing first = swing_and_twist(bodies, kWorldBody, a), second = swing_and_twist(bodies, a, b);
        // The default rigidity acts on the effective inertia, which the light body governs: it yields with the ratio.
        CHECK(first.swing < 0.5 + 0.01 + 0.0015 * ratio);
        CHECK(second.swing < 0.7 + 0.01 + 0.0005 * ratio);
        CHECK(first.swing > 0.45);  // it does lie on its cone
        CHECK(std::abs(first.twist) < 0.3 + 0.01);
        CHECK(std::abs(second.twist) < 0.4 + 0.01);
        CHECK(swing < 0.05 + 0.008 * ratio);
        CHECK(twist < 0.05 + 0.002 * ratio);
    }
}

TEST_CASE("inside its limits a cone-twist joint is a ball socket: no torque acts") {
    Bodies bodies = make_bodies();
    ShuffledExecutor executor{1};
    StepInput input = make_input(executor);
    input.gravity = {};
    Solver solver;
    BodySpec spec;
    spec.angular = {0.2f, 0.1f, 0.0f};
    const std::uint32_t body = add_body(bodies, spec);
    std::vector<Joint> joints = cone_twist(kWorldBody, body, {}, {}, 1.0f, 0.5f);
    std::vector<JointImpulse> impulses(joints.size());
    input.impulses = impulses;
    for (int tick = 0; tick < 120; ++tick) solver.step(input, bodies, joints, {});
    CHECK(angular_velocity(bodies, body).x == orrery::test::about(0.2, 1e-4));
    CHECK(angular_velocity(bodies, body).y == orrery::test::about(0.1, 1e-4));
    CHECK(joints[1].torque_nm == 0.0f);
    CHECK(joints[2].torque_nm == 0.0f);
}

TEST_CASE("a twist servo goes to its angle with its torque and no more, a twist motor to its rate") {
    Bodies bodies = make_bodies();
    ShuffledExecutor executor{1};
    StepInput input = make_input(executor);
    input.gravity = {};
    Solver solver;
    BodySpec spec;
    spec.inertia = {2.0f, 2.0f, 2.0f};
    const std::uint32_t weak = add_body(bodies, spec), there = add_body(bodies, spec), motor = add_body(bodies, spec);
    TwistServo servo;
    servo.target_rad = 1.0f, servo.servo.max_force = 0.5f;
    TwistServo quick;
    quick.target_rad = -0.8f, quick.spring = {10.0f, 1.0f}, quick.servo.max_speed = 2.0f;
    TwistMotor turn;
    turn.target_radps = 3.0f, turn.motor.max_force = 4.0f;
    std::vector<Joint> joints = {make_joint(kWorldBody, weak, servo), make_joint(kWorldBody, there, quick),
                                 make_joint(kWorldBody, motor, turn)};
    std::vector<JointImpulse> impulses(joints.size());
    input.impulses = impulses;
    for (int tick = 0; tick < 60; ++tick) solver.step(input, bodies, joints, {});
    CHECK(angular_velocity(bodies, weak).y == orrery::test::about(0.25, 0.01));
    CHECK(joints[0].torque_nm == orrery::test::about(0.5, 0.01));
    CHECK(angular_velocity(bodies, motor).y == orrery::test::about(2.0, 0.01));
    for (int tick = 0; tick < 120; ++tick) solver.step(input, bodies, joints, {});
    CHECK(swing_and_twist(bodies, kWorldBody, there).twist == orrery::test::about(-0.8, 0.001));
    CHECK(angular_velocity(bodies, motor).y == orrery::test::about(3.0, 0.01));
}

}  // namespace orrery::sim::test
