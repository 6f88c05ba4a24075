// Guards what constraint_behaviour_test.cpp and constraint_drives_test.cpp leave out of what every constraint promises:
// held degrees of freedom and contacts stay held for 10 s under load at mass ratios 1, 10 and 100, free ones keep their
// momentum, a joint breaks above its torque and holds below it, and masses 1,000 and 10,000 times apart stay finite and
// in bounds.
//
// Errors are measured in double precision, after every tick. A rigid joint is a spring of w = 2 pi 60 Hz and the
// damping ratio 2 on the effective mass, which the lighter body governs: under a load F it rests F / (m w^2) out of
// place, 0.07 mm a unit of the mass ratio where it carries a weight, and peaks at up to three times that as the load
// comes on or swings. The bounds are 1.3 to 3 times what is measured.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>

#include "sim/solver/solver.h"
#include "tests/support/about.h"
#include "tests/support/bodies.h"
#include "tests/support/worlds.h"

namespace orrery::sim::test {
namespace {

constexpr int kTicks = 600;  // 10 s
constexpr float kRatios[] = {1.0f, 10.0f, 100.0f};
constexpr Vec3 kX{1.0f, 0.0f, 0.0f}, kY{0.0f, 1.0f, 0.0f}, kZ{0.0f, 0.0f, 1.0f};
constexpr Vec3 kLeft{-0.5f, 0.0f, 0.0f}, kRight{0.5f, 0.0f, 0.0f};

// The largest error of the whole run, which takes in how the load comes on, and that of its last second.
struct Worst {
    double peak = 0, late = 0;
};

struct Scene {
    Bodies bodies = make_bodies();
    std::vector<Joint> joints;
    std::vector<JointImpulse> impulses;
    ShuffledExecutor executor{1};
    StepInput input = make_input(executor);
    Solver solver;

    std::uint32_t add(const BodySpec& spec) { return add_body(bodies, spec); }
    void join(std::uint32_t a, std::uint32_t b, const Constraint& constraint) {
        joints.push_back(make_joint(a, b, constraint));
    }
    void step() {
        impulses.resize(joints.size());
        input.impulses = impulses;
        solver.step(input, bodies, joints, {});
    }
    // What `error` says after each tick of the run. What is not a number counts as infinite.
    template <class Error>
    Worst worst(const Error& error) {
        Worst worst;
        for (int tick = 0; tick < kTicks; ++tick) {
            step();
            const double now = std::abs(error());
            worst.peak = now < 1e9 ? std::max(worst.peak, now) : std::numeric_limits<double>::infinity();
            if (tick >= kTicks - 60) worst.late = std::max(worst.late, worst.peak < 1e9 ? now : worst.peak);
        }
        return worst;
    }
    void run() {
        for (int tick = 0; tick < kTicks; ++tick) step();
    }
    double mass(std::uint32_t body) const { return 1.0 / mass_record(bodies, body).inverse_mass; }
};

Point minus(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
double dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Point cross(Point a, Point b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
double size(Point a) { return std::hypot(a.x, a.y, a.z); }
Point turned(const Scene& s, std::uint32_t body, Vec3 local) {
    return minus(to_world(s.bodies, body, local), to_world(s.bodies, body, {}));
}
Point between(const Scene& s, std::uint32_t a, Vec3 on_a, std::uint32_t b, Vec3 on_b) {
    return minus(to_world(s.bodies, b, on_b), to_world(s.bodies, a, on_a));
}
double angle_between(Point u, Point v) { return std::atan2(size(cross(u, v)), dot(u, v)); }
double off_line(Point d, Point axis) { return size(cross(axis, d)) / size(axis); }

// The same body, `times` as heavy.
BodySpec heavier(BodySpec spec, float times) {
    spec.mass *= times;
    spec.inertia = {spec.inertia.x * times, spec.inertia.y * times, spec.inertia.z * times};
    return spec;
}
BodySpec unturning(BodySpec spec) {
    constexpr float kInfinite = std::numeric_limits<float>::infinity();
    spec.inertia = {kInfinite, kInfinite, kInfinite};
    return spec;
}

BodySpec bar(float x) { return box_spec({x, 0.0f, 0.0f}, {0.5f, 0.1f, 0.1f}); }
BodySpec ball(Vec3 at) { return sphere_spec(at, 0.1f); }

// A light bar at the world and a heavy one off its end, sticking out level: its weight bends what holds their angles.
struct Cantilever : Scene {
    std::uint32_t light, heavy;
    explicit Cantilever(float ratio) {
        light = add(bar(0.5f));
        heavy = add(heavier(bar(1.5f), ratio));
    }
    void hinge_both(const Constraint& first, const Constraint& second) {
        join(kWorldBody, light, BallSocket{{}, kLeft, {}}), join(light, heavy, BallSocket{kRight, kLeft, {}});
        join(kWorldBody, light, first), join(light, heavy, second);
    }
};

Hinge fixed_hinge(Vec3 at, Vec3 axis) {
    Hinge hinge;
    hinge.anchor_a = at, hinge.axis_a = hinge.axis_b = axis;
    if (axis.x == 0.0f && axis.y == 0.0f) hinge.normal_a = hinge.normal_b = kX;
    return hinge;
}

// An angle about z, followed from tick to tick over any number of turns.
class Turns {
  public:
    double follow(const Scene& s, std::uint32_t body) {
        const float* q = s.bodies.pose[body].orientation;
        const double now = 2 * std::atan2(double(q[2]), double(q[3]));
        total_ += std::remainder(now - last_, 2 * std::numbers::pi);
        last_ = now;
        return total_;
    }

  private:
    double last_ = 0, total_ = 0;
};

double off_right_angle(Point u, Point v) { return std::asin(dot(u, v) / (size(u) * size(v))); }
double turn_between(const Scene& s, std::uint32_t a, std::uint32_t b) {
    return std::max(angle_between(turned(s, a, kX), turned(s, b, kX)),
                    angle_between(turned(s, a, kY), turned(s, b, kY)));
}
Point spin(const Scene& s, std::uint32_t body) {
    const Vec3 w = angular_velocity(s.bodies, body);
    return {w.x, w.y, w.z};
}
double off_level(const Scene& s, std::uint32_t a, Vec3 axis_a, std::uint32_t b, Vec3 axis_b) {
    return std::abs(off_right_angle(turned(s, a, axis_a), turned(s, b, axis_b)));
}

// A bound of a mass ratio: what is there at any, and more a unit of it.
struct Bound {
    double least, more;
    double at(float ratio) const { return least + more * double(ratio); }
};

void check_held(std::string_view what, float ratio, const Worst& measured, Bound late, Bound peak) {
    CAPTURE(std::string(what));
    CHECK(measured.late < late.at(ratio));
    CHECK(measured.peak < peak.at(ratio));
}

void check_same(Vec3 is, Vec3 was, double tolerance) {
    CHECK(std::abs(double(is.x) - double(was.x)) < tolerance);
    CHECK(std::abs(double(is.y) - double(was.y)) < tolerance);
    CHECK(std::abs(double(is.z) - double(was.z)) < tolerance);
}

Gear z_gear(float ratio) {
    Gear gear;
    gear.axis_a = gear.axis_b = kZ, gear.ratio = ratio;
    return gear;
}

}  // namespace

// ---- held degrees of freedom

TEST_CASE("axes held along or across each other stay so under load for 10 s, at mass ratios 1, 10 and 100" *
          doctest::test_suite("quality")) {
    for (const float ratio : kRatios) {
        CAPTURE(ratio);
        {
            Cantilever s(ratio);
            s.hinge_both(AngularHinge{kY, kY, {}}, AngularHinge{kY, kY, {}});
            const Worst off = s.worst([&] {
                return std::max(angle_between(turned(s, kWorldBody, kY), turned(s, s.light, kY)),
                                angle_between(turned(s, s.light, kY), turned(s, s.heavy, kY)));
            });
            check_held("angular hinge, rad", ratio, off, {0.001, 0.0018}, {0.002, 0.0032});
        }
        {
            Cantilever s(ratio);
            s.hinge_both(AngularSwivelHinge{kY, kX, {}}, AngularSwivelHinge{kY, kX, {}});
            const Worst off = s.worst([&] {
                return std::max(off_level(s, kWorldBody, kY, s.light, kX), off_level(s, s.light, kY, s.heavy, kX));
            });
            check_held("angular swivel hinge, rad", ratio, off, {0.001, 0.0018}, {0.002, 0.0032});
        }
        {
            Cantilever s(ratio);
            s.join(kWorldBody, s.light, SwivelHinge{{}, kLeft, kY, kX, {}});
            s.join(s.light, s.heavy, SwivelHinge{kRight, kLeft, kY, kX, {}});
            const Worst off = s.worst([&] {
                return std::max(off_level(s, kWorldBody, kY, s.light, kX), off_level(s, s.light, kY, s.heavy, kX));
            });
            check_held("swivel hinge, rad", ratio, off, {0.001, 0.0012}, {0.001, 0.0021});
        }
        {
            Cantilever s(ratio);
            Slider first;
            first.axis_a = kZ, first.anchor_b = kLeft;
            Slider second = first;
            second.anchor_a = kRight;
            s.join(kWorldBody, s.light, first), s.join(s.light, s.heavy, second);
            const Worst off = s.worst(
                [&] { return std::max(turn_between(s, kWorldBody, s.light), turn_between(s, s.light, s.heavy)); });
            check_held("slider's orientation, rad", ratio, off, {0.001, 0.0012}, {0.001, 0.0021});
        }
    }
}

TEST_CASE("lengths stay as held while a heavy ball swings below a light one for 10 s, at mass ratios 1, 10 and 100") {
    const Constraint rods[] = {DistanceServo{{}, {}, 1.0f, {}, {}}, CenterDistance{1.0f, {}},
                               CenterDistanceLimit{0.0f, 1.0f, {}}};
    for (const float ratio : kRatios) {
        CAPTURE(ratio);
        for (const Constraint& rod : rods) {
            const bool slack = std::holds_alternative<CenterDistanceLimit>(rod);
            Scene s;
            const std::uint32_t light = s.add(ball(kX)), heavy = s.add(heavier(ball({2.0f, 0.0f, 0.0f}), ratio));
            s.join(kWorldBody, light, rod), s.join(light, heavy, rod);
            const auto off = [&](std::uint32_t a, std::uint32_t b) {
                const double longer = size(between(s, a, {}, b, {})) - 1;
                return slack ? std::max(longer, 0.0) : std::abs(longer);
            };
            const Worst worst = s.worst([&] { return std::max(off(kWorldBody, light), off(light, heavy)); });
            check_held(kConstraintNames[rod.index()], ratio, worst, {0.008, 0.0003}, {0.015, 0.0003});
        }
    }
}

TEST_CASE("lines and offsets stay as held under load for 10 s, at mass ratios 1, 10 and 100") {
    for (const float ratio : kRatios) {
        CAPTURE(ratio);
        {  // the heavy ball hangs out of plumb below the light one, and swings along the line and across it
            Scene s;
            const std::uint32_t light = s.add(ball({})), heavy = s.add(heavier(ball({0.3f, -1.0f, 0.0f}), ratio));
            s.bodies.velocity[heavy].angular[0] = 1.0f;
            PointOnLineServo first, second;
            first.axis_a = second.axis_a = kZ, second.anchor_b = {-0.3f, 1.0f, 0.0f};
            s.join(kWorldBody, light, first), s.join(light, heavy, second);
            const Worst off = s.worst([&] {
                return std::max(off_line(between(s, kWorldBody, {}, light, {}), turned(s, kWorldBody, kZ)),
                                off_line(between(s, light, {}, heavy, second.anchor_b), turned(s, light, kZ)));
            });
            check_held("point on line, m", ratio, off, {0.001, 0.00002}, {0.001, 0.00002});
        }
        LinearAxisServo servo, servo_below;
        servo_below.target_m = -1.0f;
        LinearAxisLimit limit, limit_below;
        limit.max_m = 1.0f, limit_below.min_m = -1.0f;
        const Constraint pairs[][2] = {{servo, servo_below}, {limit, limit_below}};
        for (const auto& pair : pairs) {  // the heavy ball lies in a plane of the light one, and slides over it
            Scene s;
            BodySpec lower = heavier(ball({0.0f, -1.0f, 0.0f}), ratio);
            lower.linear = kX, lower.angular = kZ;
            const std::uint32_t light = s.add(unturning(ball({}))), heavy = s.add(lower);
            s.join(kWorldBody, light, pair[0]), s.join(light, heavy, pair[1]);
            const Worst off = s.worst([&] {
                return std::max(std::abs(between(s, kWorldBody, {}, light, {}).y),
                                std::abs(between(s, light, {}, heavy, {}).y + 1));
            });
            check_held(kConstraintNames[pair[0].index()], ratio, off, {0.0003, 0.0002}, {0.0003, 0.0002});
            CHECK(linear_velocity(s.bodies, heavy).x == orrery::test::about(1.0, 1e-5));
            CHECK(spin(s, heavy).z == orrery::test::about(1.0, 1e-5));
        }
    }
}

TEST_CASE("gears, racks and pulleys stay in mesh under load for 10 s, at mass ratios 1, 10 and 100" *
          doctest::test_suite("quality")) {
    for (const float ratio : kRatios) {
        CAPTURE(ratio);
        {  // a drive at its limit turns a heavy wheel with a brake through a light one
            Scene s;
            BodySpec wheel;
            const std::uint32_t light = s.add(wheel);
            wheel.position = kX;
            const std::uint32_t heavy = s.add(heavier(wheel, ratio));
            s.join(kWorldBody, light, fixed_hinge({}, kZ)), s.join(kWorldBody, heavy, fixed_hinge(kX, kZ));
            s.join(light, heavy, z_gear(-1.5f));
            s.join(kWorldBody, light, AngularAxisMotor{kZ, 100.0f, {6.0f * ratio, 0.0f}});
            s.join(kWorldBody, heavy, AngularAxisMotor{kZ, 0.0f, {2.0f * ratio, 0.0f}});
            Turns of_light, of_heavy;
            const Worst off = s.worst([&] { return -1.5 * of_light.follow(s, light) - of_heavy.follow(s, heavy); });
            check_held("gear, rad", ratio, off, {0.0002, 0.0001}, {0.0002, 0.00015});
            // 1.5 times the brake's 2 N m are 3 of the drive's 6, which turn 1 kg m^2 a unit of the ratio and 2.25
            // times that.
            const double inertia = 1.0 + 2.25 * double(ratio);
            CHECK(spin(s, light).z == orrery::test::about(10 * 3.0 * double(ratio) / inertia, 0.01));
        }
        {  // a light pinion lifts a heavy rack: the motor that is solved against it doubles what it yields
            Scene s;
            BodySpec pinion, rack;
            pinion.inertia = {0.1f, 0.1f, 0.1f}, rack.position = kRight;
            const std::uint32_t light = s.add(pinion), heavy = s.add(heavier(rack, ratio));
            Slider rail;
            rail.axis_a = kY, rail.anchor_a = kRight;
            s.join(kWorldBody, light, fixed_hinge({}, kZ)), s.join(kWorldBody, heavy, rail);
            s.join(light, heavy, RackAndPinion{kZ, kY, 0.5f, {}});
            s.join(kWorldBody, light, AngularAxisMotor{kZ, 2.0f, {}});
            Turns turns;
            const Worst off =
                s.worst([&] { return 0.5 * turns.follow(s, light) - double(position(s.bodies, heavy).y); });
            check_held("rack and pinion, m", ratio, off, {0.001, 0.0005}, {0.004, 0.002});
        }
        {  // two light blocks on a rope carry heavy balls, which swing
            Scene s;
            std::uint32_t block[2], load[2];
            for (int k = 0; k < 2; ++k) {
                const float x = k == 0 ? -1.0f : 1.0f;
                block[k] = s.add(ball({x, 0.0f, 0.0f}));
                BodySpec heavy = heavier(ball({x, -1.0f, 0.0f}), ratio);
                heavy.linear = k == 0 ? Vec3{0.0f, 0.0f, 0.3f} : Vec3{0.3f, 0.0f, 0.0f};
                load[k] = s.add(heavy);
                s.join(block[k], load[k], BallSocket{{}, kY, {}});
            }
            Pulley pulley;
            pulley.wheel_a = {-1.0f, 3.0f, 0.0f}, pulley.wheel_b = {1.0f, 3.0f, 0.0f},
            pulley.min_m = pulley.max_m = 6.0f;
            s.join(block[0], block[1], pulley);
            const Worst off = s.worst([&] {
                return size(between(s, kWorldBody, pulley.wheel_a, block[0], {})) +
                       size(between(s, kWorldBody, pulley.wheel_b, block[1], {})) - 6;
            });
            check_held("pulley, m", ratio, off, {0.0003, 0.0002}, {0.0005, 0.00035});
        }
    }
}

// Light balls that are held in the world are two corners of a triangle or three of a tetrahedron; a heavy one hangs at
// the last.
TEST_CASE("an area and a volume stay as held under load for 10 s, at mass ratios 1, 10 and 100") {
    for (const float ratio : kRatios) {
        CAPTURE(ratio);
        for (const bool volume : {false, true}) {
            Scene s;
            const Vec3 foot[] = {{-0.5f, 0.0f, -0.3f}, {0.5f, 0.0f, -0.3f}, {0.0f, 0.0f, 0.6f}};
            std::uint32_t id[4] = {};
            const std::uint32_t light = volume ? 3 : 2;
            for (std::uint32_t k = 0; k < light; ++k) {
                id[k] = s.add(ball(foot[k]));
                s.join(kWorldBody, id[k], BallSocket{foot[k], {}, {}});
            }
            BodySpec heavy = heavier(ball({0.0f, -1.0f, volume ? 0.0f : -0.3f}), ratio);
            if (!volume) heavy.linear = {0.0f, 0.0f, 0.3f};
            id[light] = s.add(heavy);
            constexpr double kArea = 0.5, kVolume = 0.15;
            Joint joint = volume ? make_joint(id[0], id[1], Volume{float(kVolume), {}})
                                 : make_joint(id[0], id[1], Area{float(kArea), {}});
            joint.c = id[2];
            if (volume) joint.d = id[3];
            s.joints.push_back(joint);
            const Worst off = s.worst([&] {
                const Point p = between(s, id[0], {}, id[1], {}), q = between(s, id[0], {}, id[2], {}),
                            across = cross(p, q);
                return volume ? dot(across, between(s, id[0], {}, id[3], {})) / 6 / kVolume - 1
                              : size(across) / 2 / kArea - 1;
            });
            if (volume)
                check_held("volume, of its size", ratio, off, {0.0002, 0.0004}, {0.0002, 0.0007});
            else
                check_held("area, of its size", ratio, off, {0.0002, 0.00022}, {0.0001, 0.0004});
        }
    }
}

TEST_CASE("a hinge's limit holds a light bar and a heavy one off its end for 10 s, at mass ratios 1, 10 and 100") {
    for (const float ratio : kRatios) {
        CAPTURE(ratio);
        Cantilever s(ratio);
        Hinge first = fixed_hinge({}, kZ), second = fixed_hinge(kRight, kZ);
        first.anchor_b = second.anchor_b = kLeft;
        first.limited = second.limited = true, first.max_angle_rad = second.max_angle_rad = 0.5f;
        s.join(kWorldBody, s.light, first), s.join(s.light, s.heavy, second);
        const auto below = [&](std::uint32_t a, std::uint32_t b) {
            return std::max(0.0, std::asin(-cross(turned(s, a, kX), turned(s, b, kX)).z));
        };
        const Worst off = s.worst([&] { return std::max(below(kWorldBody, s.light), below(s.light, s.heavy)); });
        check_held("hinge's limit, rad", ratio, off, {0.001, 0.0005}, {0.001, 0.0011});
    }
}

// The hubs are held in the world, and the load comes from the side too.
TEST_CASE(
    "four wheels hold their chassis on their lines, their axles and their stops for 10 s, at mass ratios 1, 10 and "
    "100") {
    for (const float ratio : kRatios) {
        CAPTURE(ratio);
        Scene s;
        s.input.gravity = {2.0f, -10.0f, 3.0f};
        const BodySpec chassis = box_spec({}, {1.0f, 0.2f, 0.5f});
        const std::uint32_t body = s.add(chassis);
        Vec3 place[4];
        std::uint32_t wheel[4];
        for (int k = 0; k < 4; ++k) {
            place[k] = {k % 2 == 0 ? -1.0f : 1.0f, -0.3f, k < 2 ? -0.6f : 0.6f};
            BodySpec hub = ball(place[k]);
            hub = heavier(hub, chassis.mass / hub.mass / ratio);
            hub.angular = {0.0f, 0.0f, 20.0f};
            wheel[k] = s.add(hub);
            Wheel joint;
            joint.anchor_a = place[k];
            s.join(kWorldBody, wheel[k], BallSocket{place[k], {}, {}}), s.join(body, wheel[k], joint);
        }
        double axle = 0, beyond = 0, slowed = 0;
        const Worst line = s.worst([&] {
            double off = 0;
            for (int k = 0; k < 4; ++k) {
                const Point d = between(s, body, place[k], wheel[k], {}), up = turned(s, body, kY),
                            x = turned(s, wheel[k], kZ);
                off = std::max(off, off_line(d, up));
                axle = std::max(axle, angle_between(x, turned(s, body, kZ)));
                beyond = std::max(beyond, std::abs(dot(d, up)) - 0.2);
                slowed = std::max(slowed, std::abs(dot(spin(s, wheel[k]), x) - 20));
            }
            return off;
        });
        check_held("wheel's line, m", ratio, line, {0.0002, 0.00001}, {0.0005, 0.00005});
        CHECK(axle < 0.003);
        CHECK(beyond < 0.001 + 0.0002 * double(ratio));
        CHECK(slowed < 0.005);
    }
}

// ---- free degrees of freedom

TEST_CASE("what slides or turns in a joint to the world keeps its speed for 10 s") {
    Scene s;
    s.input.gravity = {};
    BodySpec slid = ball({}), swivelled = ball({}), on_line = ball({}), wheel = ball({}), loose = ball({});
    slid.linear = {3.0f, 0.0f, 0.0f};
    swivelled.angular = {2.0f, 5.0f, 0.0f};
    on_line.linear = {0.0f, 0.0f, 2.0f}, on_line.angular = {3.0f, -4.0f, 5.0f};
    wheel.angular = {0.0f, 0.0f, 20.0f};
    loose.linear = {1.0f, 2.0f, 3.0f}, loose.angular = swivelled.angular;
    const std::uint32_t slider = s.add(slid), universal = s.add(swivelled), threaded = s.add(on_line),
                        wheeled = s.add(wheel);
    const std::uint32_t flying = s.add(loose);
    Slider rail;
    rail.axis_a = kX;
    PointOnLineServo line;
    line.axis_a = kZ;
    s.join(kWorldBody, slider, rail), s.join(kWorldBody, universal, SwivelHinge{{}, {}, kY, kX, {}});
    s.join(kWorldBody, threaded, line), s.join(kWorldBody, wheeled, Wheel{});
    s.join(kWorldBody, flying, AngularSwivelHinge{kY, kX, {}});
    // A ball on a universal joint turns about both axes at constant rates.
    const auto changed = [&](std::uint32_t body) {
        const Point w = spin(s, body);
        return std::max(std::abs(w.y - 5), std::abs(dot(w, turned(s, body, kX)) - 2));
    };
    const Worst swivel = s.worst([&] { return std::max(changed(universal), changed(flying)); });
    CHECK(swivel.peak < 1e-4);
    check_same(linear_velocity(s.bodies, flying), loose.linear, 1e-5);
    check_same(linear_velocity(s.bodies, slider), slid.linear, 1e-5);
    CHECK(position(s.bodies, slider).x == orrery::test::about(30.0, 1e-4));
    check_same(linear_velocity(s.bodies, threaded), on_line.linear, 1e-5);
    check_same(angular_velocity(s.bodies, threaded), on_line.angular, 1e-4);
    check_same(angular_velocity(s.bodies, wheeled), wheel.angular, 1e-3);
    CHECK(size(between(s, kWorldBody, {}, wheeled, {})) < 1e-5);
}

TEST_CASE("what slides or turns between two free bodies keeps each one's share of the momentum for 10 s") {
    Scene s;
    s.input.gravity = {};
    BodySpec rail = bar(0.0f), sledge = heavier(bar(2.0f), 3.0f);
    rail.linear = {1.0f, 2.0f, 3.0f}, sledge.linear = {3.0f, 2.0f, 3.0f};
    BodySpec top = ball({0.0f, 5.0f, 0.0f}), other = heavier(ball({1.0f, 5.0f, 0.0f}), 10.0f);
    top.linear = {1.0f, 2.0f, 3.0f}, other.linear = {-1.0f, 0.0f, 2.0f};
    top.angular = {0.0f, 0.0f, 5.0f}, other.angular = {0.0f, 0.0f, -3.0f};
    BodySpec chassis = box_spec({0.0f, 9.0f, 0.0f}, {1.0f, 0.2f, 0.5f}), hub = ball({0.0f, 9.0f, 0.0f});
    chassis.linear = hub.linear = {1.0f, 2.0f, 3.0f}, hub.angular = {0.0f, 0.0f, 20.0f};
    BodySpec yoke = ball({0.0f, 12.0f, 0.0f}), cross_piece = heavier(ball({1.0f, 12.0f, 0.0f}), 10.0f);
    yoke.linear = top.linear, cross_piece.linear = other.linear;
    yoke.angular = {0.0f, 3.0f, 0.0f}, cross_piece.angular = {-4.0f, 0.0f, 0.0f};
    BodySpec pinion = ball({0.0f, 15.0f, 0.0f}), rack = heavier(ball({1.0f, 15.5f, 0.0f}), 10.0f);
    pinion.linear = {1.0f, 2.0f, 3.0f}, pinion.angular = {0.0f, 0.0f, 4.0f};
    rack.linear = {3.0f, 1.9f, 2.9f},
    rack.angular = {5.0f, 0.0f, 0.0f};  // 2 m/s along itself from the pinion, half a metre a radian
    const BodySpec specs[] = {rail, sledge, top, other, chassis, hub, yoke, cross_piece, pinion, rack};
    const std::uint32_t first = s.bodies.size();
    for (const BodySpec& spec : specs) s.add(spec);
    Slider slider;
    slider.axis_a = kX, slider.anchor_a = {2.0f, 0.0f, 0.0f};
    s.join(first, first + 1, slider), s.join(first + 2, first + 3, AngularHinge{kZ, kZ, {}}),
        s.join(first + 4, first + 5, Wheel{});
    s.join(first + 6, first + 7, AngularSwivelHinge{kY, kX, {}}),
        s.join(first + 8, first + 9, RackAndPinion{kZ, kX, 0.5f, {}});
    s.run();
    for (std::uint32_t k = 0; k < std::size(specs); ++k) {
        CAPTURE(k);
        check_same(linear_velocity(s.bodies, first + k), specs[k].linear, 1e-4);
        check_same(angular_velocity(s.bodies, first + k), specs[k].angular, 1e-3);
    }
}

// Two balls that turn in all directions while the constraint holds or drives one of them: what it takes from one it
// gives to the other, and once the twist is what it should be it does no work.
TEST_CASE(
    "a pair on an angular swivel hinge, a twist's servo or its motor keeps its momentum, and its energy but for what "
    "drives it") {
    TwistMotor motor;
    motor.target_radps = 2.0f;
    const Constraint constraints[] = {AngularSwivelHinge{kY, kX, {}}, TwistServo{}, TwistMotor{}, motor};
    for (const Constraint& constraint : constraints) {
        CAPTURE(std::string(kConstraintNames[constraint.index()]));
        Scene s;
        s.input.gravity = {};
        BodySpec first = ball({}), second = heavier(ball(kX), 3.0f);
        first.linear = {0.5f, 1.0f, 0.0f}, second.linear = {-1.0f, 0.0f, 2.0f};
        first.angular = {0.5f, 3.0f, 0.3f}, second.angular = {0.4f, 1.0f, 0.35f};
        const std::uint32_t a = s.add(first), b = s.add(second);
        s.join(a, b, constraint);
        const double of_a = 1 / double(mass_record(s.bodies, a).inverse_inertia[0]), of_b = 3 * of_a;
        const auto momentum = [&] {
            const Point u = spin(s, a), v = spin(s, b);
            return Point{of_a * u.x + of_b * v.x, of_a * u.y + of_b * v.y, of_a * u.z + of_b * v.z};
        };
        const auto energy = [&] { return of_a * dot(spin(s, a), spin(s, a)) + of_b * dot(spin(s, b), spin(s, b)); };
        const Point begin = momentum();
        double driven = 0;
        int ticks = 0;
        const Worst changed = s.worst([&] {
            if (++ticks == 60) driven = energy();
            return size(minus(momentum(), begin)) / size(begin);
        });
        CHECK(changed.peak < 1e-5);
        if (const auto* const twist = std::get_if<TwistMotor>(&constraint); !twist || twist->target_radps == 0.0f)
            CHECK(std::abs(energy() - driven) < 0.00002 * driven);
        check_same(linear_velocity(s.bodies, a), first.linear, 1e-5);
        check_same(linear_velocity(s.bodies, b), second.linear, 1e-5);
    }
}

TEST_CASE("a spinning pair on a slider keeps its linear and angular momentum for 10 s while it flies apart") {
    Scene s;
    s.input.gravity = {};
    BodySpec left = ball({-0.5f, 0.0f, 0.0f}), right = heavier(ball({0.5f, 0.0f, 0.0f}), 2.0f);
    left.linear = {0.5f, -1.0f, 0.2f}, right.linear = {0.8f, 1.0f, -0.4f};
    left.angular = {3.0f, 0.0f, 0.0f};
    const std::uint32_t a = s.add(left), b = s.add(right);
    Slider slider;
    slider.anchor_a = kX;
    s.join(a, b, slider);
    const auto momentum = [&](Point& linear, Point& angular) {
        linear = angular = {};
        for (const std::uint32_t body : {a, b}) {
            const double m = s.mass(body), i = 1.0 / double(mass_record(s.bodies, body).inverse_inertia[0]);
            const Vec3 v = linear_velocity(s.bodies, body);
            const Point p{m * double(v.x), m * double(v.y), m * double(v.z)},
                l = cross(to_world(s.bodies, body, {}), p), w = spin(s, body);
            linear = {linear.x + p.x, linear.y + p.y, linear.z + p.z};
            angular = {angular.x + l.x + i * w.x, angular.y + l.y + i * w.y, angular.z + l.z + i * w.z};
        }
    };
    Point linear_before{}, angular_before{}, linear_after{}, angular_after{};
    momentum(linear_before, angular_before);
    s.run();
    momentum(linear_after, angular_after);
    CHECK(size(minus(linear_after, linear_before)) < 1e-4 * size(linear_before));
    CHECK(size(minus(angular_after, angular_before)) < 0.01 * size(angular_before));
    CHECK(size(between(s, a, {}, b, {})) > 2.0);
}

// In no gravity, thrown and spinning. What they leave free is how the bodies move on the surface where the value is
// held.
TEST_CASE("bodies of a held distance, area or volume keep their energy and both momenta for 10 s") {
    DistanceServo distance;
    distance.anchor_a = {0.0f, 0.3f, 0.0f}, distance.anchor_b = {0.0f, 0.3f, 0.0f};
    distance.target_m = 1.0f;
    CenterDistance centres;
    centres.target_m = 1.0f;
    CenterDistanceLimit rope;
    rope.max_m = 1.0f;
    DistanceLimit anchored_rope;
    anchored_rope.anchor_a = {0.0f, 0.3f, 0.0f}, anchored_rope.anchor_b = {0.0f, 0.3f, 0.0f};
    anchored_rope.max_m = 1.0f;
    const Constraint constraints[] = {distance, centres, rope, anchored_rope, Area{0.5f, {}}, Volume{1.0f / 6.0f, {}}};
    const Vec3 places[] = {{}, kX, kY, kZ},
               ways[] = {{0.1f, -0.4f, 0.0f}, {0.1f, 0.4f, 0.1f}, {0.15f, 0.1f, -0.1f}, {0.0f, 0.05f, 0.1f}};
    for (const Constraint& constraint : constraints) {
        CAPTURE(std::string(kConstraintNames[constraint.index()]));
        Scene s;
        s.input.gravity = {};
        const std::uint32_t count = body_count(constraint);
        std::uint32_t id[4] = {};
        for (std::uint32_t k = 0; k < count; ++k) {
            BodySpec spec = heavier(ball(places[k]), 1.0f + static_cast<float>(k));
            spec.linear = ways[k], spec.angular = {0.5f, -1.0f, 0.3f};
            id[k] = s.add(spec);
        }
        Joint joint = make_joint(id[0], id[1], constraint);
        if (count > 2) joint.c = id[2];
        if (count > 3) joint.d = id[3];
        s.joints.push_back(joint);
        struct Sum {
            Point linear{}, angular{};
            double energy = 0;
        };
        const auto sum = [&] {
            Sum all;
            for (std::uint32_t k = 0; k < count; ++k) {
                const double m = s.mass(id[k]), i = 1.0 / double(mass_record(s.bodies, id[k]).inverse_inertia[0]);
                const Vec3 v = linear_velocity(s.bodies, id[k]);
                const Point p{m * double(v.x), m * double(v.y), m * double(v.z)},
                    l = cross(to_world(s.bodies, id[k], {}), p), w = spin(s, id[k]);
                all.linear = {all.linear.x + p.x, all.linear.y + p.y, all.linear.z + p.z};
                all.angular = {all.angular.x + l.x + i * w.x, all.angular.y + l.y + i * w.y,
                               all.angular.z + l.z + i * w.z};
                all.energy += dot(p, p) / (2 * m) + i * dot(w, w) / 2;
            }
            return all;
        };
        s.step();  // takes what of the throw was against what is held
        const Sum before = sum();
        double linear = 0, angular = 0, most = 0, least = 0;
        s.worst([&] {
            const Sum now = sum();
            linear = std::max(linear, size(minus(now.linear, before.linear)) / size(before.linear));
            angular = std::max(angular, size(minus(now.angular, before.angular)) / size(before.angular));
            most = std::max(most, now.energy / before.energy - 1),
            least = std::min(least, now.energy / before.energy - 1);
            return 0.0;
        });
        MESSAGE(std::string(kConstraintNames[constraint.index()])
                << ": momentum off by " << linear << ", angular " << angular << ", energy " << least * 100 << " to "
                << most * 100 << " %");
        CHECK(linear < 1e-5);
        CHECK(angular < 1e-4);
        CHECK(most < 0.0001);
        CHECK(least > -0.015);
    }
}

TEST_CASE("two geared wheels share a spin by their ratio and keep the momentum that the gear leaves them") {
    Scene s;
    s.input.gravity = {};
    BodySpec wheel;
    wheel.angular = {0.0f, 0.0f, 10.0f};
    const std::uint32_t a = s.add(wheel);
    wheel.position = kX, wheel.angular = {};
    const std::uint32_t b = s.add(heavier(wheel, 4.0f));
    s.join(kWorldBody, a, fixed_hinge({}, kZ)), s.join(kWorldBody, b, fixed_hinge(kX, kZ)), s.join(a, b, z_gear(-1.5f));
    Turns of_a, of_b;
    const Worst off = s.worst([&] { return -1.5 * of_a.follow(s, a) - of_b.follow(s, b); });
    CHECK(off.peak < 0.01);
    CHECK(off.late < 1e-4);
    // The gear's impulse is -1.5 p on A and -p on B: Ia wa - 1.5 Ib wb stays 10, and wb comes to -1.5 wa.
    CHECK(spin(s, a).z - 1.5 * 4 * spin(s, b).z == orrery::test::about(10.0, 1e-4));
    CHECK(spin(s, a).z == orrery::test::about(10 / (1 + 2.25 * 4), 1e-4));
    CHECK(spin(s, b).z == orrery::test::about(-1.5 * spin(s, a).z, 1e-4));
}

TEST_CASE("a pinion and its rack share a motion by the radius and keep the momentum that the joint leaves them") {
    Scene s;
    s.input.gravity = {};
    BodySpec pinion, rack;
    pinion.angular = {0.0f, 0.0f, 10.0f}, rack.position = {0.0f, -0.5f, 0.0f};
    const std::uint32_t a = s.add(pinion), b = s.add(heavier(rack, 4.0f));
    Slider rail;
    rail.axis_a = kX, rail.anchor_a = rack.position;
    s.join(kWorldBody, a, fixed_hinge({}, kZ)), s.join(kWorldBody, b, rail),
        s.join(a, b, RackAndPinion{kZ, kX, 0.5f, {}});
    s.run();
    // The joint's impulse is 0.5 p on the pinion and -p on the rack: I w + 0.5 m v stays 10, and v comes to 0.5 w.
    const double w = spin(s, a).z, v = linear_velocity(s.bodies, b).x;
    CHECK(w + 0.5 * 4 * v == orrery::test::about(10.0, 1e-4));
    CHECK(w == orrery::test::about(10 / (1 + 0.25 * 4), 1e-4));
    CHECK(v == orrery::test::about(0.5 * w, 1e-4));
}

// ---- the torque at which a joint breaks

// A bar of 40 kg that sticks out level from the world, by half a metre to its centre: 200 N m.
TEST_CASE("a joint breaks above its torque and holds below it") {
    Slider slider;
    slider.axis_a = kZ, slider.anchor_b = kLeft;
    Hinge hinge;
    hinge.anchor_b = kLeft;
    const Constraint constraints[] = {Weld{{}, kLeft, {}, {}},
                                      hinge,
                                      slider,
                                      SwivelHinge{{}, kLeft, kY, kX, {}},
                                      AngularHinge{kY, kY, {}},
                                      AngularSwivelHinge{kY, kX, {}},
                                      AngularServo{}};
    for (const Constraint& constraint : constraints) {
        CAPTURE(std::string(kConstraintNames[constraint.index()]));
        Scene s;
        const std::uint32_t arm = s.add(bar(0.5f));
        s.join(kWorldBody, arm, constraint);
        const bool turns_alone = std::holds_alternative<AngularHinge>(constraint) ||
                                 std::holds_alternative<AngularSwivelHinge>(constraint) ||
                                 std::holds_alternative<AngularServo>(constraint);
        if (turns_alone) s.join(kWorldBody, arm, BallSocket{{}, kLeft, {}});
        s.joints[0].break_torque_nm = 230.0f;  // the load comes on at up to 221
        bool broke = false;
        for (int tick = 0; tick < kTicks; ++tick) {
            s.step();
            broke = broke || s.joints[0].broken;
        }
        CHECK_FALSE(broke);
        CHECK(s.joints[0].torque_nm == orrery::test::about(200.0, 0.01));
        s.joints[0].break_torque_nm = 202.0f;
        s.step();
        CHECK_FALSE(s.joints[0].broken);
        s.joints[0].break_torque_nm = 198.0f;
        s.step();
        CHECK(s.joints[0].broken);
    }
}

}  // namespace orrery::sim::test

using namespace orrery::sim;
using namespace orrery::test;

namespace {

double separation(const World& world, JointId id) {
    const JointState joint = world.joint(id);
    const auto& socket = std::get<BallSocket>(joint.constraint);
    const auto place = [&](BodyId body, Vec3 local) {
        if (!body.valid()) return std::array<double, 3>{local.x, local.y, local.z};
        const BodyState state = world.body(body);
        const Vec3 p = state.pose.position;
        const double x = state.pose.orientation.x, y = state.pose.orientation.y, z = state.pose.orientation.z;
        const double w = state.pose.orientation.w;
        const double tx = 2 * (y * local.z - z * local.y), ty = 2 * (z * local.x - x * local.z),
                     tz = 2 * (x * local.y - y * local.x);
        return std::array<double, 3>{p.x + local.x + w * tx + y * tz - z * ty, p.y + local.y + w * ty + z * tx - x * tz,
                                     p.z + local.z + w * tz + x * ty - y * tx};
    };
    const std::array<double, 3> a = place(joint.a, socket.anchor_a), b = place(joint.b, socket.anchor_b);
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

double speed(const BodyState& body) {
    const Vec3 v = body.linear_velocity;
    return std::hypot(double(v.x), double(v.y), double(v.z));
}

// A box of 10 kg on the ground, and on it one that is `ratio` times as heavy.
WorldDef stack_of_two(float ratio, std::uint32_t substeps) {
    WorldDef def;
    def.solver.sleep = false;
    def.substeps = substeps;
    def.solver.contact_frequency_hz = 13.2f * static_cast<float>(substeps);  // 0.22 of the substep rate: the stiffest
    add_ground(def);
    const std::uint32_t shape = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    const std::uint32_t light = add_body(def, shape, {0.0f, 0.5f, 0.0f}),
                        heavy = add_body(def, shape, {0.0f, 1.5f, 0.0f});
    def.bodies[light].mass_kg = 10.0f, def.bodies[heavy].mass_kg = 10.0f * ratio;
    return def;
}

// Beads of 1 kg below each other on ball sockets, and at the end one of `end_kg`, which is pushed aside.
WorldDef heavy_ended_chain(std::uint32_t links, float end_kg) {
    WorldDef def;
    def.solver.sleep = false;
    const std::uint32_t shape = add_sphere_shape(def, 0.1f);
    std::uint32_t above = kNone;
    for (std::uint32_t k = 0; k <= links; ++k) {
        const std::uint32_t bead = add_body(def, shape, {0.0f, -0.125f - 0.25f * static_cast<float>(k), 0.0f});
        def.bodies[bead].mask = 0;
        def.bodies[bead].mass_kg = k == links ? end_kg : 1.0f;
        add_joint(def, above, bead, BallSocket{k == 0 ? Vec3{} : Vec3{0.0f, -0.125f, 0.0f}, {0.0f, 0.125f, 0.0f}, {}});
        above = bead;
    }
    def.bodies[above].linear_velocity = {1.0f, 0.0f, 0.0f};
    return def;
}

double worst_separation(World& world, std::uint32_t joints) {
    double largest = 0;
    for (int tick = 0; tick < 600; ++tick) {
        world.step();
        for (std::uint32_t k = 0; k < joints; ++k) {
            const double now = separation(world, {k, 0});
            largest = now < 1e9 ? std::max(largest, now) : std::numeric_limits<double>::infinity();
        }
    }
    return largest;
}

}  // namespace

TEST_CASE("a joint that breaks by its torque says so once and is gone, one just stronger carries on") {
    WorldDef def;
    const std::uint32_t shape = add_box_shape(def, {0.5f, 0.1f, 0.1f});
    for (const float strength : {230.0f, 190.0f}) {  // each carries 200 N m
        const float z = strength;
        const std::uint32_t arm = add_body(def, shape, {0.5f, 0.0f, z});
        def.bodies[arm].mass_kg = 40.0f;
        const std::uint32_t joint = add_joint(def, kNone, arm, Weld{{0.0f, 0.0f, z}, {-0.5f, 0.0f, 0.0f}, {}, {}});
        def.joints[joint].break_torque_nm = strength;
    }
    const auto world = make_world(def);
    int broken = 0;
    for (int tick = 0; tick < 600; ++tick) {
        world->step();
        broken += count_events(*world, EventKind::joint_broken);
    }
    CHECK(broken == 1);
    CHECK(world->alive(JointId{0, 0}));
    CHECK_FALSE(world->alive(JointId{1, 0}));
    CHECK(std::abs(state_of(*world, 0).pose.position.y) < 0.01f);
    CHECK(state_of(*world, 1).pose.position.y < -10.0f);
}

// ---- masses far apart

// At 16 substeps and contacts as stiff as they allow: the weight rests ratio g / (2 pi 240 Hz)^2 = 4 mm deep, and comes
// on at twice that.
TEST_CASE("a box stands on one that is 1,000 times lighter for 10 s") {
    const auto world = make_world(stack_of_two(1000.0f, 16));
    double deepest = 0, lowest = 2, aside = 0;
    for (int tick = 0; tick < 600; ++tick) {
        world->step();
        const Vec3 top = state_of(*world, 2).pose.position;
        deepest = std::max(deepest, double(world->stats().max_penetration_m));
        lowest = std::min(lowest, double(top.y));
        aside = std::max(aside, std::hypot(double(top.x), double(top.z)));
    }
    CHECK(deepest < 0.02);
    CHECK(lowest > 1.475);
    CHECK(aside < 0.02);
    CHECK(world->stats().max_penetration_m < 0.01f);
    CHECK(speed(state_of(*world, 2)) < 0.1);
}

// A contact is a spring of w = 2 pi 52.8 Hz on the effective mass: a light body under a heavy one sinks into the ground
// by g / w^2, 0.09 mm, times what it bears of its own weight, and by up to twice that as the load comes on.
TEST_CASE("boxes, balls and tables lie on each other for 10 s at mass ratios 1, 10 and 100, whichever is on top" *
          doctest::test_suite("quality")) {
    WorldDef shapes;
    const std::uint32_t box = add_box_shape(shapes, {0.5f, 0.5f, 0.5f}), sphere = add_sphere_shape(shapes, 0.5f);
    ShapeDef on_four_balls;
    on_four_balls.type = ShapeType::compound;
    const std::uint32_t foot = add_sphere_shape(shapes, 0.1f);
    for (const float x : {-0.4f, 0.4f}) {
        for (const float z : {-0.4f, 0.4f}) on_four_balls.children.push_back({foot, {{x, 0.0f, z}, {}}});
    }
    const std::uint32_t table = add_shape(shapes, on_four_balls);
    struct Pair {
        std::uint32_t lower, upper;
        float lower_half, upper_half;  // of their heights, m
    };
    const Pair pairs[] = {
        {box, box, 0.5f, 0.5f}, {box, sphere, 0.5f, 0.5f}, {box, table, 0.5f, 0.1f}, {table, box, 0.1f, 0.5f}};
    for (const Pair& pair : pairs) {
        for (const float ratio : {1.0f, 10.0f, 100.0f}) {
            for (const bool heavy_above : {false, true}) {
                CAPTURE(pair.lower);
                CAPTURE(pair.upper);
                CAPTURE(ratio);
                CAPTURE(heavy_above);
                WorldDef def = shapes;
                def.solver.sleep = false;
                add_ground(def);
                const std::uint32_t lower = add_body(def, pair.lower, {0.0f, pair.lower_half, 0.0f});
                const std::uint32_t upper =
                    add_body(def, pair.upper, {0.0f, 2 * pair.lower_half + pair.upper_half, 0.0f});
                def.bodies[lower].mass_kg = heavy_above ? 10.0f : 10.0f * ratio;
                def.bodies[upper].mass_kg = heavy_above ? 10.0f * ratio : 10.0f;
                const auto world = make_world(def);
                double deepest = 0, late = 0;
                for (int tick = 0; tick < 600; ++tick) {
                    world->step();
                    const double now = world->stats().max_penetration_m;
                    deepest = std::max(deepest, now);
                    if (tick >= 540) late = std::max(late, now);
                }
                const Vec3 top = state_of(*world, upper).pose.position;
                const double bears = 1 + (heavy_above ? double(ratio) : 1 / double(ratio));
                const double yields = bears * 10 / std::pow(2 * std::numbers::pi * 52.8, 2);
                CHECK(world->stats().solved_constraints == 2);
                CHECK(late < 1.1 * yields);
                CHECK(deepest < 2.2 * yields);
                CHECK(double(2 * pair.lower_half + pair.upper_half) - double(top.y) < 1.3 * yields);
                // Under the heaviest the light one rocks as the load comes on: a table's balls slide on it, a ball
                // rolls.
                CHECK(std::hypot(double(top.x), double(top.z)) < (ratio > 10.0f ? 0.12 : 0.0008));
            }
        }
    }
}

// At 4 substeps no contact of the light box carries such a weight, and what is to be kept is the rest of the world: the
// heavy box comes down on the ground beside it or in its place, and nothing is flung.
TEST_CASE("a box on one that is too light for the substeps sinks to the ground and no further, and flings nothing") {
    for (const float ratio : {1000.0f, 10000.0f}) {
        CAPTURE(ratio);
        const auto world = make_world(stack_of_two(ratio, 4));
        double lowest_centre = 2, lowest = 2, highest = 0, fastest = 0;
        for (int tick = 0; tick < 600; ++tick) {
            world->step();
            REQUIRE(world->alive(BodyId{2, 0}));
            REQUIRE(world->alive(BodyId{3, 0}));
            for (const std::uint32_t box : {1u, 2u}) {
                const BodyState state = state_of(*world, box);
                if (box == 2) lowest = std::min(lowest, double(state.pose.position.y));
                lowest_centre = std::min(lowest_centre, double(state.pose.position.y));
                highest = std::max(highest, double(state.pose.position.y));
                fastest = std::max(fastest, speed(state));
            }
        }
        CHECK(lowest > 0.49);
        CHECK(lowest_centre > 0.1);
        CHECK(highest < 1.55);
        CHECK(fastest < 6.0);
        CHECK(speed(state_of(*world, 2)) < 0.01);
    }
}

TEST_CASE("a chain whose end is 1,000 or 10,000 times heavier keeps its joints as a rig for 10 s of swinging") {
    for (const float ratio : {1000.0f, 10000.0f}) {
        for (const std::uint32_t links : {1u, 4u, 8u}) {
            CAPTURE(ratio);
            CAPTURE(links);
            WorldDef def = heavy_ended_chain(links, ratio);
            def.solver.rig_joints = 1;
            const auto world = make_world(def);
            CHECK(worst_separation(*world, links + 1) < 0.0003);
            CHECK(world->stats().rigs == 1);
        }
    }
}

// The coloured solver needs as many substeps as make ratio g / w^2 small, w a quarter of the substep rate.
TEST_CASE(
    "a chain whose end is 1,000 or 10,000 times heavier keeps its joints in the coloured solver, given the substeps" *
    doctest::test_suite("quality")) {
    struct Case {
        float ratio;
        std::uint32_t substeps;
        double bound;
    };
    for (const Case& c : {Case{1000.0f, 16, 0.03}, Case{1000.0f, 32, 0.01}, Case{10000.0f, 64, 0.02}}) {
        for (const std::uint32_t links : {1u, 4u}) {
            CAPTURE(c.ratio);
            CAPTURE(c.substeps);
            CAPTURE(links);
            WorldDef def = heavy_ended_chain(links, c.ratio);
            def.substeps = c.substeps;
            def.solver.joint_frequency_hz = 15.0f * static_cast<float>(c.substeps);
            const auto world = make_world(def);
            CHECK(worst_separation(*world, links + 1) < c.bound);
            CHECK(world->stats().rigs == 0);
        }
    }
}
