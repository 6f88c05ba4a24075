// Guards what drives, gears and their like promise, on the solver alone: the greatest force within 1 %, speeds reached,
// lengths, angles, areas and volumes kept.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "sim/solver/solver.h"
#include "tests/support/about.h"
#include "tests/support/bodies.h"

namespace orrery::sim::test {
namespace {

struct Scene {
    Bodies bodies = make_bodies();
    std::vector<Joint> joints;
    std::vector<JointImpulse> impulses;
    ShuffledExecutor executor{1};
    StepInput input = make_input(executor);
    Solver solver;

    Scene() { input.gravity = {}; }
    void run(int ticks) {
        impulses.resize(joints.size());
        input.impulses = impulses;
        for (int tick = 0; tick < ticks; ++tick) solver.step(input, bodies, joints, {});
    }
};

// Relative, also where little is wanted: doctest's epsilon is one of 1 more.
bool near(double is, double wanted, double part = 0.01) { return std::abs(is - wanted) <= part * std::abs(wanted); }

constexpr float kForce = 6.0f;
constexpr Servo kWeak{kNoLimit, 0.0f, kForce};
constexpr Motor kMotor{kForce, 0.0f};
constexpr Vec3 kX{1.0f, 0.0f, 0.0f}, kFar{100.0f, 0.0f, 0.0f};

Slider x_slider() {
    Slider slider;
    slider.axis_a = kX;
    return slider;
}
Slider driven_slider() {
    Slider slider = x_slider();
    slider.rest_m = 100.0f, slider.drive = kWeak;
    return slider;
}
Slider motor_slider() {
    Slider slider = x_slider();
    slider.target_mps = 50.0f, slider.motor = kMotor;
    return slider;
}
// Its suspension, its steering or its axle lies along x.
Wheel pushed_wheel() {
    Wheel wheel;
    wheel.suspension_a = kX, wheel.rest_m = 100.0f, wheel.min_m = -200.0f, wheel.max_m = 200.0f,
    wheel.max_suspension_n = kForce;
    return wheel;
}
Wheel steered_wheel(float angle_rad, Servo steering) {
    Wheel wheel;
    wheel.suspension_a = kX, wheel.steer_rad = angle_rad, wheel.steering = steering;
    return wheel;
}
Wheel driven_wheel() {
    Wheel wheel;
    wheel.axle_a = wheel.axle_b = kX, wheel.target_radps = 50.0f, wheel.drive = kMotor;
    return wheel;
}
TwistServo x_twist(float target_rad, Servo servo) {
    TwistServo twist;
    twist.axis_a = twist.axis_b = kX, twist.normal_a = twist.normal_b = {0.0f, 1.0f, 0.0f};
    twist.target_rad = target_rad, twist.servo = servo;
    return twist;
}
double turned_about_x(const Bodies& bodies, std::uint32_t body) {
    const float* const q = bodies.pose[body].orientation;
    return 2.0 * std::atan2(double(q[0]), double(q[3]));
}

}  // namespace

TEST_CASE("a servo or motor along a line pushes with its force and no more") {
    const Constraint constraints[] = {
        DistanceServo{{-1.0f, 0.0f, 0.0f}, {}, 100.0f, {}, kWeak},
        LinearAxisServo{{}, {}, kX, 100.0f, {}, kWeak},
        LinearAxisMotor{{}, {}, kX, 50.0f, kMotor},
        BallSocketServo{kFar, {}, {}, kWeak},
        BallSocketMotor{{}, {50.0f, 0.0f, 0.0f}, kMotor},
        OneBodyLinearMotor{{}, {50.0f, 0.0f, 0.0f}, kMotor},
        PointOnLineServo{kFar, {}, {0.0f, 1.0f, 0.0f}, {}, kWeak},
        driven_slider(),
        motor_slider(),
        pushed_wheel(),
    };
    for (const Constraint& constraint : constraints) {
        CAPTURE(std::string(kConstraintNames[constraint.index()]));
        Scene s;
        BodySpec spec;
        spec.mass = 2.0f;
        const std::uint32_t body = add_body(s.bodies, spec);
        s.joints = {make_joint(kWorldBody, body, constraint)};
        s.run(60);
        CHECK(near(linear_velocity(s.bodies, body).x, 3.0));
        CHECK(near(s.joints[0].force_n, kForce));
    }
}

TEST_CASE("a servo or motor of a rotation turns with its torque and no more") {
    const Quat quarter{std::sin(0.75f), 0.0f, 0.0f, std::cos(0.75f)};
    TwistMotor twist_motor;
    twist_motor.axis_a = twist_motor.axis_b = kX, twist_motor.normal_a = twist_motor.normal_b = {0.0f, 1.0f, 0.0f};
    twist_motor.target_radps = 50.0f, twist_motor.motor = kMotor;
    const Constraint constraints[] = {
        x_twist(3.0f, kWeak),
        twist_motor,
        AngularServo{quarter, {}, kWeak},
        AngularMotor{{50.0f, 0.0f, 0.0f}, kMotor},
        OneBodyAngularServo{quarter, {}, kWeak},
        steered_wheel(3.0f, kWeak),
        driven_wheel(),
        OneBodyAngularMotor{{50.0f, 0.0f, 0.0f}, kMotor},
    };
    for (const Constraint& constraint : constraints) {
        CAPTURE(std::string(kConstraintNames[constraint.index()]));
        Scene s;
        BodySpec spec;
        spec.inertia = {4.0f, 4.0f, 4.0f};
        const std::uint32_t body = add_body(s.bodies, spec);
        s.joints = {make_joint(kWorldBody, body, constraint)};
        s.run(30);
        CHECK(near(angular_velocity(s.bodies, body).x, 0.75));
        CHECK(near(s.joints[0].torque_nm, kForce));
    }
}

TEST_CASE("a gear motor turns its second body with its torque and no more, up to the ratio of the first one's speed") {
    for (const float ratio : {2.0f, -0.5f}) {
        CAPTURE(ratio);
        Scene s;
        BodySpec spec;
        spec.inertia = {4.0f, 4.0f, 4.0f};
        const std::uint32_t first = add_body(s.bodies, spec), second = add_body(s.bodies, spec);
        AngularAxisGearMotor gear;
        gear.axis_a = kX, gear.ratio = ratio, gear.motor = kMotor;
        s.joints = {make_joint(kWorldBody, first, OneBodyAngularMotor{{3.0f, 0.0f, 0.0f}, {}}),
                    make_joint(first, second, gear)};
        s.run(1);  // in which the first comes to its speed
        const double before = angular_velocity(s.bodies, second).x;
        s.run(30);
        CHECK(near(angular_velocity(s.bodies, second).x - before, ratio < 0.0f ? -0.75 : 0.75));
        CHECK(near(s.joints[1].torque_nm, kForce));
        CHECK(angular_velocity(s.bodies, first).x == orrery::test::about(3.0, 0.001));
        s.run(600);
        CHECK(angular_velocity(s.bodies, second).x == orrery::test::about(3.0 * ratio, 0.001));
        CHECK(angular_velocity(s.bodies, second).y == doctest::Approx(0.0));
    }
}

// Both chains yield as springs of the default rigidity do, w = 2 pi 60 Hz on the effective mass, which the light body
// governs: 0.07 mm, and 0.07 mrad under 10 N m for each kg m^2, times the ratio.
TEST_CASE("servos of places hold a light body and a heavy one below it after 10 s, at mass ratios 1, 10 and 100") {
    OneBodyLinearServo one_body;
    one_body.anchor_b = {0.0f, 1.0f, 0.0f}, one_body.spring = {};
    const Constraint firsts[] = {BallSocketServo{{}, {0.0f, 1.0f, 0.0f}, {}, {}}, one_body};
    for (const Constraint& first : firsts) {
        for (const float ratio : {1.0f, 10.0f, 100.0f}) {
            CAPTURE(std::string(kConstraintNames[first.index()]));
            CAPTURE(ratio);
            Scene s;
            s.input.gravity = {0.0f, -10.0f, 0.0f};
            BodySpec light, heavy;
            light.position = {0.0f, -1.0f, 0.0f}, heavy.position = {0.0f, -2.0f, 0.0f};
            heavy.mass = ratio, heavy.inertia = {ratio, ratio, ratio};
            const std::uint32_t a = add_body(s.bodies, light), b = add_body(s.bodies, heavy);
            s.joints = {make_joint(kWorldBody, a, first),
                        make_joint(a, b, BallSocketServo{{0.0f, -0.5f, 0.0f}, {0.0f, 0.5f, 0.0f}, {}, {}})};
            s.run(600);
            const double within = 0.0005 + 0.00008 * ratio;
            CHECK(std::abs(position(s.bodies, a).y + 1.0) < within);
            CHECK(std::abs(position(s.bodies, b).y - position(s.bodies, a).y + 1.0) < within);
            CHECK(s.joints[0].force_n == orrery::test::about(10.0 * (1.0 + ratio), 0.01));
            CHECK(s.joints[1].force_n == orrery::test::about(10.0 * ratio, 0.01));
        }
    }
}
TEST_CASE(
    "servos of rotations hold a light body and a heavy one that is turned by it after 10 s, at ratios of inertia 1, 10 "
    "and 100") {
    const TwistServo twist = x_twist(0.0f, {});
    OneBodyAngularServo one_body;
    one_body.spring = {};
    const std::pair<Constraint, Constraint> chains[] = {
        {AngularServo{}, AngularServo{}}, {twist, twist}, {one_body, AngularServo{}}};
    for (const auto& chain : chains) {
        for (const float ratio : {1.0f, 10.0f, 100.0f}) {
            CAPTURE(std::string(kConstraintNames[chain.first.index()]));
            CAPTURE(ratio);
            Scene s;
            BodySpec light, heavy;
            heavy.mass = ratio, heavy.inertia = {ratio, ratio, ratio};
            const std::uint32_t a = add_body(s.bodies, light), b = add_body(s.bodies, heavy);
            s.joints = {make_joint(kWorldBody, a, chain.first), make_joint(a, b, chain.second)};
            std::vector<Vec3> force(s.bodies.size()), torque(s.bodies.size());
            torque[b] = {10.0f * ratio, 0.0f, 0.0f};
            s.input.force = force, s.input.torque = torque;
            s.run(600);
            const double within = 0.0005 + 0.00015 * ratio;
            CHECK(std::abs(turned_about_x(s.bodies, a)) < within);
            CHECK(std::abs(turned_about_x(s.bodies, b) - turned_about_x(s.bodies, a)) < within);
            CHECK(s.joints[0].torque_nm == orrery::test::about(10.0 * ratio, 0.01));
            CHECK(s.joints[1].torque_nm == orrery::test::about(10.0 * ratio, 0.01));
        }
    }
}

TEST_CASE("a servo goes at its greatest speed and arrives, a motor keeps its speed") {
    Scene s;
    BodySpec spec;
    const std::uint32_t servo = add_body(s.bodies, spec), motor = add_body(s.bodies, spec),
                        point = add_body(s.bodies, spec);
    s.joints = {make_joint(kWorldBody, servo, LinearAxisServo{{}, {}, kX, 3.0f, {}, {1.5f, 0.0f, kNoLimit}}),
                make_joint(kWorldBody, motor, LinearAxisMotor{{}, {}, kX, 2.0f, {}}),
                make_joint(kWorldBody, point, BallSocketServo{{0.0f, 3.0f, 0.0f}, {}, {}, {1.5f, 0.0f, kNoLimit}})};
    s.run(60);
    CHECK(linear_velocity(s.bodies, servo).x == orrery::test::about(1.5, 0.01));
    CHECK(linear_velocity(s.bodies, motor).x == orrery::test::about(2.0, 0.01));
    CHECK(linear_velocity(s.bodies, point).y == orrery::test::about(1.5, 0.01));
    s.run(240);
    CHECK(position(s.bodies, servo).x == orrery::test::about(3.0, 0.001));
    CHECK(position(s.bodies, point).y == orrery::test::about(3.0, 0.001));
}

// The spring alone goes at 4.6 times the distance a second, and never quite arrives.
TEST_CASE("a servo goes at its base speed at least until it is there, and at its greatest speed at most") {
    constexpr float kMost = 2.0f, kBase = 0.5f;
    constexpr Spring slow{30.0f, 20.0f};
    const double w = 2 * std::numbers::pi * 30, rate = w / (w / 240 + 40);
    const Quat one_rad{std::sin(0.5f), 0.0f, 0.0f, std::cos(0.5f)};
    for (const float base : {0.0f, kBase, 9.0f}) {
        CAPTURE(base);
        const Servo servo{kMost, base, kNoLimit};
        Slider slider = x_slider();
        slider.rest_m = 1.0f, slider.drive = servo, slider.drive_spring = slow;
        TwistServo twist = x_twist(1.0f, servo);
        twist.spring = slow;
        const Constraint constraints[] = {
            LinearAxisServo{{}, {}, kX, 1.0f, slow, servo},
            DistanceServo{{-1.0f, 0.0f, 0.0f}, {}, 2.0f, slow, servo},
            BallSocketServo{kX, {}, slow, servo},
            OneBodyLinearServo{{}, kX, slow, servo},
            PointOnLineServo{kX, {}, {0.0f, 1.0f, 0.0f}, slow, servo},
            slider,
            twist,
            AngularServo{one_rad, slow, servo},
            OneBodyAngularServo{one_rad, slow, servo},
        };
        for (const Constraint& constraint : constraints) {
            CAPTURE(std::string(kConstraintNames[constraint.index()]));
            Scene s;
            const std::uint32_t body = add_body(s.bodies, {});
            s.joints = {make_joint(kWorldBody, body, constraint)};
            const auto left = [&] { return 1 - double(position(s.bodies, body).x) - turned_about_x(s.bodies, body); };
            double before = left(), slowest = double(kMost), fastest = 0;
            int arrived = 0;
            for (int tick = 1; tick <= 120; ++tick) {
                s.run(1);
                const double now = left(), speed = (before - now) * 60;
                CHECK(now > -0.0001);
                if (arrived == 0 && now < 0.001) arrived = tick;
                fastest = std::max(fastest, speed);
                if (arrived == 0 && tick > 2) slowest = std::min(slowest, speed);
                before = now;
            }
            // At the greatest speed, by the spring, and at the base speed, as far as each is what counts.
            const double floor = std::min(double(base), double(kMost));
            const double by_spring = double(kMost) / rate, by_base = std::max(floor / rate, 0.001);
            const double time = (1 - by_spring) / double(kMost) + std::log(by_spring / by_base) / rate +
                                (floor > 0 ? by_base / floor : 0);
            CAPTURE(time);
            CHECK(fastest < 1.001 * double(kMost));
            CHECK(slowest > 0.999 * floor);
            CHECK(std::abs(arrived / 60.0 - time) < 0.02);
            if (base > 0.0f) CHECK(std::abs(left()) < 1e-5);
        }
    }
    // What steers a wheel is as stiff as the substeps let it be: it would slow down over the last 2 / 68 rad only.
    for (const float base : {0.0f, kMost}) {
        Scene s;
        const std::uint32_t body = add_body(s.bodies, {});
        s.joints = {make_joint(kWorldBody, body, steered_wheel(1.0f, {kMost, base, kNoLimit}))};
        s.run(31);
        const double left = std::abs(1 - turned_about_x(s.bodies, body));
        if (base > 0.0f)
            CHECK(left < 0.0001);
        else
            CHECK(left > 0.002);
    }
}

TEST_CASE("a gear keeps its wheels in mesh for 60 s of fast turns under load: no drift") {
    Scene s;
    BodySpec first, second;
    first.angular = {0.0f, 0.0f, 40.0f};
    second.position = {1.0f, 0.0f, 0.0f}, second.angular = {0.0f, 0.0f, -60.0f};
    second.orientation = {1.0f, 0.0f, 0.0f, 0.0f};  // turned over: its axis points the other way in the world
    const std::uint32_t a = add_body(s.bodies, first), b = add_body(s.bodies, second);
    Hinge hinge_a, hinge_b;
    hinge_a.axis_a = hinge_a.axis_b = {0.0f, 0.0f, 1.0f};
    hinge_b.anchor_a = {1.0f, 0.0f, 0.0f};
    hinge_b.axis_a = {0.0f, 0.0f, 1.0f}, hinge_b.axis_b = {0.0f, 0.0f, -1.0f};
    hinge_b.normal_b = {1.0f, 0.0f, 0.0f};
    Gear gear;
    gear.axis_a = {0.0f, 0.0f, 1.0f}, gear.axis_b = {0.0f, 0.0f, -1.0f}, gear.ratio = -1.5f;
    AngularAxisMotor load{{0.0f, 0.0f, 1.0f}, 0.0f, {0.05f, 0.0f}};
    s.joints = {make_joint(kWorldBody, a, hinge_a), make_joint(kWorldBody, b, hinge_b), make_joint(a, b, gear),
                make_joint(kWorldBody, b, load)};
    // Angles in the world about z, b's from its start.
    const auto angle = [&](std::uint32_t body) {
        const float* q = s.bodies.pose[body].orientation;
        return body == a ? 2 * std::atan2(double(q[2]), double(q[3])) : 2 * std::atan2(double(q[1]), double(q[0]));
    };
    double worst = 0;
    for (int tick = 0; tick < 3600; ++tick) {
        s.run(1);
        // Whole turns of A are 3 pi of B: the mesh is known to half a turn.
        const double off = std::remainder(-1.5 * angle(a) - angle(b), std::numbers::pi);
        worst = std::max(worst, std::abs(off));
    }
    CHECK(worst < 0.01);
    CHECK(angular_velocity(s.bodies, b).z == orrery::test::about(-1.5 * angular_velocity(s.bodies, a).z, 0.01));
    CHECK(std::abs(angular_velocity(s.bodies, a).z) > 5.0f);
}

TEST_CASE("a rack goes by the radius times the pinion's angle, over many turns") {
    Scene s;
    BodySpec pinion, rack;
    rack.position = {0.0f, -0.5f, 0.0f};
    const std::uint32_t a = add_body(s.bodies, pinion), b = add_body(s.bodies, rack);
    Hinge hinge;
    hinge.axis_a = hinge.axis_b = {0.0f, 0.0f, 1.0f};
    Slider rail = x_slider();
    rail.anchor_a = {0.0f, -0.5f, 0.0f};
    s.joints = {make_joint(kWorldBody, a, hinge), make_joint(kWorldBody, b, rail),
                make_joint(kWorldBody, a, AngularAxisMotor{{0.0f, 0.0f, 1.0f}, 5.0f, {}}),
                make_joint(a, b, RackAndPinion{{0.0f, 0.0f, 1.0f}, kX, 0.5f, {}})};
    s.run(600);
    CHECK(linear_velocity(s.bodies, b).x == orrery::test::about(2.5, 0.01));
    CHECK(position(s.bodies, b).x == orrery::test::about(25.0, 0.02));
    const float* q = s.bodies.pose[a].orientation;
    const double off = std::remainder(position(s.bodies, b).x / 0.5 - 2 * std::atan2(double(q[2]), double(q[3])),
                                      2 * std::numbers::pi);
    CHECK(std::abs(off) < 0.01);
}

TEST_CASE("a pulley keeps its rope's length while a heavier load lifts a lighter one with the right acceleration") {
    Scene s;
    s.input.gravity = {0.0f, -10.0f, 0.0f};
    BodySpec light, heavy;
    light.position = {-1.0f, 0.0f, 0.0f}, light.mass = 2.0f;
    heavy.position = {1.0f, 0.0f, 0.0f}, heavy.mass = 3.0f;
    const std::uint32_t a = add_body(s.bodies, light), b = add_body(s.bodies, heavy);
    Pulley pulley;
    pulley.wheel_a = {-1.0f, 10.0f, 0.0f}, pulley.wheel_b = {1.0f, 10.0f, 0.0f}, pulley.max_m = 20.0f;
    s.joints = {make_joint(a, b, pulley)};
    s.run(60);
    CHECK(linear_velocity(s.bodies, a).y == orrery::test::about(2.0, 0.01));  // (3 - 2) / (3 + 2) g
    CHECK(linear_velocity(s.bodies, b).y == orrery::test::about(-2.0, 0.01));
    CHECK(20.0 - position(s.bodies, a).y - position(s.bodies, b).y == orrery::test::about(20.0, 0.001));
}

TEST_CASE("an area and a volume are kept while their corners are thrown about") {
    Scene s;
    BodySpec p[4];
    p[0].position = {0.0f, 0.0f, 0.0f}, p[1].position = {1.0f, 0.0f, 0.0f}, p[2].position = {0.0f, 1.0f, 0.0f},
    p[3].position = {0.2f, 0.2f, 1.0f};
    p[1].linear = {0.5f, 0.2f, 0.1f}, p[2].linear = {-0.2f, 0.3f, -0.4f}, p[3].linear = {0.1f, 0.0f, 0.3f};
    std::uint32_t ids[8];
    for (int i = 0; i < 8; ++i) {
        BodySpec spec = p[i % 4];
        if (i >= 4) spec.position.x += 10.0f;
        ids[i] = add_body(s.bodies, spec);
    }
    Joint area = make_joint(ids[0], ids[1], Area{0.5f, {}}),
          volume = make_joint(ids[4], ids[5], Volume{1.0f / 6.0f, {}});
    area.c = ids[2];
    volume.c = ids[6], volume.d = ids[7];
    s.joints = {area, volume};
    s.run(60);
    const auto at = [&](int i) { return to_world(s.bodies, ids[i], {}); };
    const auto minus = [](Point x, Point y) { return Point{x.x - y.x, x.y - y.y, x.z - y.z}; };
    const auto across = [](Point x, Point y) {
        return Point{x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z, x.x * y.y - x.y * y.x};
    };
    const Point m = across(minus(at(1), at(0)), minus(at(2), at(0)));
    CHECK(0.5 * std::hypot(m.x, m.y, m.z) == orrery::test::about(0.5, 0.01));
    const Point n = across(minus(at(5), at(4)), minus(at(6), at(4))), r = minus(at(7), at(4));
    CHECK((n.x * r.x + n.y * r.y + n.z * r.z) / 6 == orrery::test::about(1.0 / 6, 0.01));
    double momentum = 0;
    for (int i = 0; i < 4; ++i) momentum += linear_velocity(s.bodies, ids[i]).x;
    CHECK(momentum == orrery::test::about(0.4, 1e-4));
}

TEST_CASE("a wheel carries its chassis on its spring, is steered, driven and braked") {
    Scene s;
    s.input.gravity = {0.0f, -10.0f, 0.0f};
    BodySpec hub, chassis;
    hub.mass = 20.0f;
    chassis.mass = 100.0f, chassis.inertia = {1e6f, 1e6f, 1e6f};
    const std::uint32_t body = add_body(s.bodies, chassis), wheel = add_body(s.bodies, hub);
    Wheel joint;
    joint.suspension = {2.0f, 1.0f};
    joint.steer_rad = 0.5f;
    joint.target_radps = 30.0f, joint.drive.max_force = 4.0f;
    // The hub is held in the world: the chassis sinks on the spring of the reduced mass, which here is the chassis' and
    // hub's.
    s.joints = {make_joint(kWorldBody, wheel, BallSocket{}), make_joint(body, wheel, joint),
                make_joint(kWorldBody, body, AngularServo{})};
    s.run(60);
    const Vec3 spin = angular_velocity(s.bodies, wheel);
    CHECK(near(std::hypot(spin.x, spin.z), 4.0, 0.0002));
    CHECK(near(std::atan2(spin.x, spin.z), 0.5, 0.0002));
    CHECK(near(s.joints[1].torque_nm, 4.0, 0.0002));
    CHECK(position(s.bodies, body).y < -0.03f);
    CHECK(position(s.bodies, body).y > -0.21f);
    std::get<Wheel>(s.joints[1].constraint).drive.max_force = 0.0f;
    std::get<Wheel>(s.joints[1].constraint).brake_nm = 8.0f;
    s.run(20);
    CHECK(near(angular_velocity(s.bodies, wheel).z, std::cos(0.5) * (4.0 - 8.0 / 3), 0.0005));
    CHECK(near(s.joints[1].torque_nm, 8.0, 0.0002));
    s.run(60);
    CHECK(std::abs(angular_velocity(s.bodies, wheel).z) < 1e-4f);
}

TEST_CASE("a universal joint and a slider under load keep what they hold, at mass ratios 1, 10 and 100") {
    for (const float ratio : {1.0f, 10.0f, 100.0f}) {
        CAPTURE(ratio);
        Scene s;
        s.input.gravity = {0.0f, -10.0f, 0.0f};
        BodySpec light = box_spec({0.5f, 0.0f, 0.0f}, {0.5f, 0.1f, 0.1f}),
                 heavy = box_spec({1.5f, 0.0f, 0.0f}, {0.5f, 0.3f, 0.3f});
        const float scale = ratio * light.mass / heavy.mass;
        heavy.mass *= scale,
            heavy.inertia = {heavy.inertia.x * scale, heavy.inertia.y * scale, heavy.inertia.z * scale};
        const std::uint32_t a = add_body(s.bodies, light), b = add_body(s.bodies, heavy);
        Slider slider;
        slider.axis_a = {0.0f, 0.0f, 1.0f}, slider.anchor_b = {-0.5f, 0.0f, 0.0f};
        slider.limited = true, slider.min_m = -0.1f, slider.max_m = 0.1f;
        SwivelHinge swivel;
        swivel.anchor_a = {0.5f, 0.0f, 0.0f}, swivel.anchor_b = {-0.5f, 0.0f, 0.0f};
        s.joints = {make_joint(kWorldBody, a, slider), make_joint(a, b, swivel)};
        s.run(600);
        const Point hand = to_world(s.bodies, a, {-0.5f, 0.0f, 0.0f});
        CHECK(std::hypot(hand.x, hand.y) < 0.002 + 0.0008 * ratio);
        const Point end = to_world(s.bodies, a, {0.5f, 0.0f, 0.0f}), start = to_world(s.bodies, b, {-0.5f, 0.0f, 0.0f});
        CHECK(std::hypot(end.x - start.x, end.y - start.y, end.z - start.z) < 0.002 + 0.0005 * ratio);
    }
}

// An arm swings past the angle on the far side of which its servo, or the limit of its hinge, would seem to be nearer
// the other way.
TEST_CASE("a servo near half a turn settles, and a limit is left at the end that was passed") {
    for (const float target : {160.0f, 170.0f, 180.0f, -175.0f}) {
        CAPTURE(target);
        Scene s;
        BodySpec arm;
        arm.position = {0.5f, 0.0f, 0.0f};
        arm.mass = 5.0f;
        arm.inertia = {0.0333f, 0.4333f, 0.4333f};
        const std::uint32_t body = add_body(s.bodies, arm);
        Hinge hinge;
        hinge.anchor_b = {-0.5f, 0.0f, 0.0f};
        hinge.axis_a = hinge.axis_b = {0.0f, 0.0f, 1.0f};
        hinge.normal_a = hinge.normal_b = kX;
        s.joints.push_back(make_joint(kWorldBody, body, hinge));
        TwistServo servo;
        servo.axis_a = servo.axis_b = {0.0f, 0.0f, 1.0f};
        servo.normal_a = servo.normal_b = kX;
        servo.target_rad = target / 180.0f * std::numbers::pi_v<float>;
        servo.spring = {2.0f, 1.0f};
        s.joints.push_back(make_joint(kWorldBody, body, servo));
        s.run(900);
        const float* q = s.bodies.pose[body].orientation;
        const double off = std::remainder(2.0 * std::atan2(double(q[2]), double(q[3])) - double(servo.target_rad),
                                          2.0 * std::numbers::pi);
        CHECK(std::abs(off) < 0.01);
        CHECK(std::abs(s.bodies.velocity[body].angular[2]) < 0.01f);
    }
    for (const float side : {1.0f, -1.0f}) {
        Scene s;
        BodySpec wheel;
        const float start = side * 3.3f;  // 189 degrees, 19 beyond
        wheel.orientation = {0.0f, 0.0f, std::sin(start / 2), std::cos(start / 2)};
        const std::uint32_t body = add_body(s.bodies, wheel);
        Hinge hinge;
        hinge.axis_a = hinge.axis_b = {0.0f, 0.0f, 1.0f};
        hinge.normal_a = hinge.normal_b = kX;
        hinge.limited = true;
        hinge.min_angle_rad = side > 0 ? 0.0f : -2.967f, hinge.max_angle_rad = side > 0 ? 2.967f : 0.0f;
        s.joints.push_back(make_joint(kWorldBody, body, hinge));
        s.run(120);
        const float* q = s.bodies.pose[body].orientation;
        CHECK(std::abs(2.0 * std::atan2(double(q[2]), double(q[3])) - double(side) * 2.967) < 0.01);
    }
}

}  // namespace orrery::sim::test
