// Guards what each constraint promises, on the solver alone: held degrees of freedom stay held, free ones free, motors
// and servos keep their force limits. Springs: constraint_springs_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <numbers>

#include "sim/solver/solver.h"
#include "tests/support/about.h"
#include "tests/support/bodies.h"
#include "tests/support/seeded_random.h"

namespace orrery::sim::test {
namespace {

struct Scene {
    Bodies bodies = make_bodies();
    std::vector<Joint> joints;
    std::vector<JointImpulse> impulses;
    ShuffledExecutor executor{1};
    StepInput input = make_input(executor);
    Solver solver;

    void run(int ticks) {
        impulses.resize(joints.size());
        input.impulses = impulses;
        for (int tick = 0; tick < ticks; ++tick) solver.step(input, bodies, joints, {});
    }
    double kinetic_energy(std::uint32_t body) const {
        const MassRecord& m = mass_record(bodies, body);
        const Vec3 v = linear_velocity(bodies, body), w = angular_velocity(bodies, body);
        const Point l = to_local(body, w);
        return 0.5 * (double(v.x) * v.x + double(v.y) * v.y + double(v.z) * v.z) / m.inverse_mass +
               0.5 * (l.x * l.x / m.inverse_inertia[0] + l.y * l.y / m.inverse_inertia[3] +
                      l.z * l.z / m.inverse_inertia[5]);
    }
    Point to_local(std::uint32_t body, Vec3 v) const { return rotate(body, -1.0, {v.x, v.y, v.z}); }
    Point to_world(std::uint32_t body, Point v) const { return rotate(body, 1.0, v); }
    Point rotate(std::uint32_t body, double way, Point v) const {
        const float* q = bodies.pose[body].orientation;
        const double x = way * q[0], y = way * q[1], z = way * q[2], w = q[3];
        const double tx = 2 * (y * v.z - z * v.y), ty = 2 * (z * v.x - x * v.z), tz = 2 * (x * v.y - y * v.x);
        return {v.x + w * tx + y * tz - z * ty, v.y + w * ty + z * tx - x * tz, v.z + w * tz + x * ty - y * tx};
    }
};

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

double anchor_error(const Scene& s, const Joint& joint, Vec3 a, Vec3 b) {
    return distance(to_world(s.bodies, joint.a, a), to_world(s.bodies, joint.b, b));
}

// Angle between a local axis of A and one of B, as seen in the world.
double axis_error(const Scene& s, const Joint& joint, Vec3 a, Vec3 b) {
    const Point oa = to_world(s.bodies, joint.a, {}), ob = to_world(s.bodies, joint.b, {});
    const Point pa = to_world(s.bodies, joint.a, a), pb = to_world(s.bodies, joint.b, b);
    const Point u{pa.x - oa.x, pa.y - oa.y, pa.z - oa.z}, v{pb.x - ob.x, pb.y - ob.y, pb.z - ob.z};
    const double cx = u.y * v.z - u.z * v.y, cy = u.z * v.x - u.x * v.z, cz = u.x * v.y - u.y * v.x;
    return std::atan2(std::hypot(cx, cy, cz), u.x * v.x + u.y * v.y + u.z * v.z);
}

Hinge z_hinge(Vec3 a, Vec3 b) {
    Hinge hinge;
    hinge.anchor_a = a, hinge.anchor_b = b;
    hinge.axis_a = hinge.axis_b = {0.0f, 0.0f, 1.0f};
    return hinge;
}

}  // namespace

TEST_CASE("a loaded pair of joints keeps its held degrees within bounds after 10 s, at mass ratios 1, 10 and 100") {
    // A light bar joined to the world carries a heavy box off its end.
    const auto carry_load = [](const Constraint& first, const Constraint& second, float ratio) {
        auto scene = std::make_unique<Scene>();
        Scene& s = *scene;
        BodySpec light = box_spec({0.5f, 0.0f, 0.0f}, {0.5f, 0.1f, 0.1f});
        BodySpec heavy = box_spec({1.5f, 0.0f, 0.0f}, {0.5f, 0.3f, 0.3f});
        const float scale = ratio * light.mass / heavy.mass;
        heavy.mass *= scale,
            heavy.inertia = {heavy.inertia.x * scale, heavy.inertia.y * scale, heavy.inertia.z * scale};
        const std::uint32_t a = add_body(s.bodies, light), b = add_body(s.bodies, heavy);
        s.joints = {make_joint(kWorldBody, a, first), make_joint(a, b, second)};
        s.run(600);
        return scene;
    };
    const Vec3 left{-0.5f, 0.0f, 0.0f}, right{0.5f, 0.0f, 0.0f}, z{0.0f, 0.0f, 1.0f};
    for (const float ratio : {1.0f, 10.0f, 100.0f}) {
        CAPTURE(ratio);
        // The default rigidity is a spring of w = 2 pi 60 Hz on the effective mass, which the light body governs: it
        // yields by about ratio g / w^2, 0.07 mm times the ratio, and a weld by its lever more.
        const double point = 0.002 + 0.00008 * ratio, welded = 0.001 + 0.0005 * ratio, angle = 0.001 + 0.0009 * ratio;
        {
            const auto loaded = carry_load(BallSocket{{}, left, {}}, BallSocket{right, left, {}}, ratio);
            const Scene& s = *loaded;
            CHECK(anchor_error(s, s.joints[0], {}, left) < point);
            CHECK(anchor_error(s, s.joints[1], right, left) < point);
        }
        {
            const Hinge first = z_hinge({}, left), second = z_hinge(right, left);
            const auto loaded = carry_load(first, second, ratio);
            const Scene& s = *loaded;
            CHECK(anchor_error(s, s.joints[0], {}, left) < point);
            CHECK(anchor_error(s, s.joints[1], right, left) < point);
            CHECK(axis_error(s, s.joints[0], z, z) < 0.001);
            CHECK(axis_error(s, s.joints[1], z, z) < 0.001);
        }
        {
            const auto loaded = carry_load(Weld{{}, left, {}, {}}, Weld{right, left, {}, {}}, ratio);
            const Scene& s = *loaded;
            CHECK(anchor_error(s, s.joints[0], {}, left) < welded);
            CHECK(anchor_error(s, s.joints[1], right, left) < welded);
            CHECK(axis_error(s, s.joints[0], z, z) < angle);
            CHECK(axis_error(s, s.joints[1], {1.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}) < angle);
        }
        {
            const auto loaded = carry_load(DistanceLimit{{0.0f, 1.0f, 0.0f}, {}, 0.0f, 1.2f, {}},
                                           DistanceLimit{{}, {}, 1.0f, 1.0f, {}}, ratio);
            const Scene& s = *loaded;
            CHECK(distance(to_world(s.bodies, 0, {0.0f, 1.0f, 0.0f}), to_world(s.bodies, 1, {})) < 1.2 + 2 * point);
            CHECK(distance(to_world(s.bodies, 1, {}), to_world(s.bodies, 2, {})) ==
                  orrery::test::about(1.0, 2 * point));
        }
    }
}

TEST_CASE("what a joint leaves free stays free: a hinge's spin, a welded pair's momentum") {
    Scene s;
    s.input.gravity = {};
    BodySpec spec = box_spec({}, {0.5f, 0.2f, 0.1f});
    spec.angular = {0.0f, 0.0f, 5.0f};
    const std::uint32_t wheel = add_body(s.bodies, spec);
    BodySpec left = box_spec({0.0f, 5.0f, 0.0f}, {0.5f, 0.2f, 0.1f}),
             right = box_spec({1.0f, 5.0f, 0.0f}, {0.5f, 0.2f, 0.1f});
    left.linear = right.linear = {1.0f, 2.0f, 3.0f};
    const std::uint32_t a = add_body(s.bodies, left), b = add_body(s.bodies, right);
    s.joints = {make_joint(kWorldBody, wheel, z_hinge({}, {})),
                make_joint(a, b, Weld{{0.5f, 0.0f, 0.0f}, {-0.5f, 0.0f, 0.0f}, {}, {}})};
    s.run(600);
    CHECK(angular_velocity(s.bodies, wheel).z == orrery::test::about(5.0, 1e-4));
    const Vec3 va = linear_velocity(s.bodies, a), vb = linear_velocity(s.bodies, b);
    CHECK(0.5 * (va.x + vb.x) == orrery::test::about(1.0, 1e-5));
    CHECK(0.5 * (va.y + vb.y) == orrery::test::about(2.0, 1e-5));
    CHECK(0.5 * (va.z + vb.z) == orrery::test::about(3.0, 1e-5));
    CHECK(position(s.bodies, a).z == orrery::test::about(30.0, 1e-4));
}

TEST_CASE("a joint that starts metres out of place closes no faster than its recovery speed, and flings nothing") {
    const Vec3 la{0.3f, 0.2f, 0.1f}, lb{-0.2f, 0.3f, 0.0f};
    LinearAxisLimit along;
    along.anchor_a = la, along.anchor_b = lb, along.axis_a = {1.0f, 0.0f, 0.0f}, along.min_m = -0.5f,
    along.max_m = 0.5f;
    Pulley pulley;
    pulley.anchor_a = la, pulley.anchor_b = lb, pulley.wheel_a = {-1.0f, 9.0f, 0.0f},
    pulley.wheel_b = {7.0f, 9.0f, 0.0f};
    pulley.max_m = 4.0f;
    Slider slider;
    slider.anchor_a = la, slider.anchor_b = lb;
    SwivelHinge swivel;
    swivel.anchor_a = la, swivel.anchor_b = lb;
    const Constraint constraints[] = {BallSocket{la, lb, {}},
                                      z_hinge(la, lb),
                                      Weld{la, lb, {}, {}},
                                      swivel,
                                      slider,
                                      CenterDistance{1, {}},
                                      along,
                                      pulley,
                                      DistanceLimit{la, lb, 0.0f, 1.0f, {}},
                                      CenterDistanceLimit{0.0f, 1.0f, {}}};
    for (const Constraint& constraint : constraints) {
        CAPTURE(std::string(kConstraintNames[constraint.index()]));
        for (const float most : {0.0f, 2.0f}) {
            CAPTURE(most);
            Scene s;
            s.input.gravity = {};
            const std::uint32_t a = add_body(s.bodies, box_spec({}, {0.5f, 0.3f, 0.4f}));
            const std::uint32_t b = add_body(s.bodies, box_spec({6.0f, 4.0f, 1.0f}, {0.4f, 0.4f, 0.4f}));
            Joint joint = make_joint(a, b, constraint);
            std::visit(
                [&](auto& c) {
                    if constexpr (requires { c.spring; }) c.spring.max_recovery_speed = most;
                },
                joint.constraint);
            s.joints.push_back(joint);
            const double bound = most > 0 ? most : s.input.settings.joint_recovery_speed;
            double fastest = 0;
            Point before_a = to_world(s.bodies, a, la), before_b = to_world(s.bodies, b, lb);
            for (int tick = 0; tick < 300; ++tick) {
                s.run(1);
                const Point now_a = to_world(s.bodies, a, la), now_b = to_world(s.bodies, b, lb);
                fastest =
                    std::max(fastest, std::max(distance(now_a, before_a), distance(now_b, before_b)) / s.input.dt_s);
                before_a = now_a, before_b = now_b;
            }
            CHECK(fastest < 1.5 * bound);  // what turns on a lever goes faster than what is held
            CHECK(s.kinetic_energy(a) + s.kinetic_energy(b) < 500.0 * bound * bound);  // of 1 t
            if (constraint.index() == Constraint(BallSocket{}).index()) {
                CHECK(fastest > 0.5 * bound);  // it does close, and by now has
                CHECK(anchor_error(s, s.joints[0], la, lb) < 0.02);
            }
        }
    }
}

namespace {

// Twice the area of a, p, q; six times the volume of a, p, q, r.
double extent(Point a, Point p, Point q, Point r, bool volume) {
    const Point u{p.x - a.x, p.y - a.y, p.z - a.z}, v{q.x - a.x, q.y - a.y, q.z - a.z},
        w{r.x - a.x, r.y - a.y, r.z - a.z};
    const Point n{u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
    return volume ? n.x * w.x + n.y * w.y + n.z * w.z : std::hypot(n.x, n.y, n.z);
}

}  // namespace

TEST_CASE(
    "an area or a volume far from its own, or turned inside out, moves none of its bodies faster than its recovery "
    "speed") {
    for (const float edge : {0.05f, 1.0f, 20.0f}) {
        for (const bool volume : {false, true}) {
            for (const float times : {-1.0f, 0.0f, 4.0f}) {
                if (!volume && times < 0) continue;
                for (const float most : {0.0f, 0.5f}) {
                    for (const float ratio : {1.0f, 50.0f}) {
                        CAPTURE(edge);
                        CAPTURE(volume);
                        CAPTURE(times);
                        CAPTURE(most);
                        CAPTURE(ratio);
                        Scene s;
                        s.input.gravity = {};
                        const Vec3 corner[] = {
                            {0, 0, 0}, {edge, 0, 0}, {0.2f * edge, 0, -edge}, {0.1f * edge, 0.9f * edge, 0.1f * edge}};
                        std::uint32_t id[4] = {};
                        for (int k = 0; k < (volume ? 4 : 3); ++k) {
                            BodySpec spec = sphere_spec(corner[k], 0.05f);
                            if (k == 1) spec.mass *= ratio;
                            id[k] = add_body(s.bodies, spec);
                        }
                        const float area = 0.5f * edge * edge, size = 0.9f * edge * edge * edge / 6.0f;
                        Joint joint = volume ? make_joint(id[0], id[1], Volume{times * size, {0, 1, most}})
                                             : make_joint(id[0], id[1], Area{times * area, {0, 1, most}});
                        joint.c = id[2];
                        if (volume) joint.d = id[3];
                        s.joints.push_back(joint);
                        const double bound = most > 0 ? most : s.input.settings.joint_recovery_speed;
                        double fastest = 0;
                        for (int tick = 0; tick < 120; ++tick) {
                            s.run(1);
                            for (int k = 0; k < (volume ? 4 : 3); ++k) {
                                const Vec3 v = linear_velocity(s.bodies, id[k]);
                                fastest = std::max(fastest, std::hypot(double(v.x), double(v.y), double(v.z)));
                            }
                        }
                        // What an early push gave along a direction that has turned since stays, so that it may be more
                        // than the bound.
                        CHECK(fastest < 2.0 * bound);
                        if (most == 0 && edge <= 1 && times > 0) {
                            const Point a = to_world(s.bodies, id[0], {}), p = to_world(s.bodies, id[1], {}),
                                        q = to_world(s.bodies, id[2], {});
                            const Point r = to_world(s.bodies, id[volume ? 3 : 2], {});
                            CHECK(extent(a, p, q, r, volume) / (times * (volume ? 6 * size : 2 * area)) ==
                                  orrery::test::about(1.0, 0.0005));
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("a spring that is asked for a recovery speed keeps it, and swings free without") {
    for (const float most : {0.0f, 3.0f}) {
        Scene s;
        s.input.gravity = {};
        const std::uint32_t body = add_body(s.bodies, sphere_spec({10.0f, 0.0f, 0.0f}, 0.3f));
        s.joints.push_back(make_joint(kWorldBody, body, BallSocket{{}, {}, {1.0f, 1.0f, most}}));
        float fastest = 0;
        for (int tick = 0; tick < 60; ++tick) {
            s.run(1);
            fastest = std::max(fastest, -linear_velocity(s.bodies, body).x);
        }
        if (most > 0)
            CHECK(fastest < 1.01f * most);
        else
            CHECK(fastest > 20.0f);
    }
}

TEST_CASE("a pendulum on a ball socket loses little energy over 10 s and has its analytic period") {
    Scene s;
    s.input.substeps = 16;
    const std::uint32_t bob = add_body(s.bodies, sphere_spec({0.1f, -1.0f, 0.0f}, 0.05f));
    const Vec3 anchor{-0.1f, 1.0f, 0.0f};
    s.joints = {make_joint(kWorldBody, bob, BallSocket{{}, anchor, {}})};
    // Physical pendulum: the bob is fixed to its rod, so T = 2 pi sqrt((l^2 + 2/5 r^2) / (g l)).
    const double l = std::hypot(0.1, 1.0), amplitude = std::atan2(0.1, 1.0);
    const double period =
        2 * std::numbers::pi * std::sqrt((l * l + 0.4 * 0.05 * 0.05) / (10 * l)) * (1 + amplitude * amplitude / 16);
    // Above what it would have at rest in the lowest place.
    const auto energy = [&] {
        return s.kinetic_energy(bob) +
               10 * (double(position(s.bodies, bob).y) + l) / double(mass_record(s.bodies, bob).inverse_mass);
    };
    const double start = energy();
    double before = position(s.bodies, bob).x, first = 0, last = 0, lowest = start, highest = start;
    int crossings = 0;
    for (int tick = 1; tick <= 600; ++tick) {
        s.run(1);
        if (tick == 30) lowest = highest = energy();
        lowest = std::min(lowest, energy()), highest = std::max(highest, energy());
        const double now = position(s.bodies, bob).x;
        if (before > 0 && now <= 0) {
            last = (tick - 1 + before / (before - now)) / 60.0;
            if (crossings++ == 0) first = last;
        }
        before = now;
    }
    CHECK((last - first) / (crossings - 1) == orrery::test::about(period, 0.005));
    // The joint, a spring of w = 2 pi 60 Hz, yields to the weight by g / w^2 at once, 1.4 % of the 5 mm that the bob
    // falls.
    CHECK(highest < start);
    CHECK(lowest > 0.98 * start);
    CHECK(highest - lowest < 0.004 * start);
}

TEST_CASE("a motor drives with its torque and no more, and stops at its target") {
    for (const float damping : {0.0f, 40.0f}) {
        CAPTURE(damping);
        Scene s;
        s.input.gravity = {};
        BodySpec spec;
        spec.inertia = {2.0f, 2.0f, 2.0f};
        const std::uint32_t body = add_body(s.bodies, spec);
        s.joints = {make_joint(kWorldBody, body, AngularAxisMotor{{0.0f, 1.0f, 0.0f}, 30.0f, {6.0f, damping}})};
        s.run(60);
        CHECK(angular_velocity(s.bodies, body).y == orrery::test::about(3.0, 0.005));
        CHECK(s.joints[0].torque_nm == orrery::test::about(6.0, 0.005));
        s.run(1200);
        CHECK(angular_velocity(s.bodies, body).y == orrery::test::about(30.0, 0.01));
    }
}

TEST_CASE("a damped motor follows implicit Euler of torque = damping (target - speed)") {
    Scene s;
    s.input.gravity = {};
    BodySpec spec;
    spec.inertia = {2.0f, 2.0f, 2.0f};
    const std::uint32_t body = add_body(s.bodies, spec);
    s.joints = {make_joint(kWorldBody, body, AngularAxisMotor{{0.0f, 1.0f, 0.0f}, 10.0f, {kNoLimit, 1.0f}})};
    s.run(60);
    const double step = 1 / (1 + 1.0 / 2.0 / 240);
    CHECK(angular_velocity(s.bodies, body).y == orrery::test::about(10 * (1 - std::pow(step, 240)), 0.001));
}

TEST_CASE("a grab pulls with its force and no more, at its speed and no more, and arrives") {
    Scene s;
    s.input.gravity = {};
    BodySpec spec;
    spec.mass = 2.0f;
    const std::uint32_t strong = add_body(s.bodies, spec), fast = add_body(s.bodies, spec);
    OneBodyLinearServo weak;
    weak.target = {100.0f, 0.0f, 0.0f}, weak.servo.max_force = 4.0f;
    OneBodyLinearServo slow;
    slow.target = {3.0f, 0.0f, 0.0f}, slow.servo.max_speed = 1.5f, slow.spring = {30.0f, 1.0f};
    s.joints = {make_joint(kWorldBody, strong, weak), make_joint(kWorldBody, fast, slow)};
    s.run(60);
    CHECK(linear_velocity(s.bodies, strong).x == orrery::test::about(2.0, 0.005));
    CHECK(s.joints[0].force_n == orrery::test::about(4.0, 0.005));
    CHECK(linear_velocity(s.bodies, fast).x == orrery::test::about(1.5, 0.01));
    s.run(240);
    CHECK(position(s.bodies, fast).x == orrery::test::about(3.0, 0.001));
}

TEST_CASE("a hinge's limit holds a falling flap, and lets it swing inside") {
    Scene s;
    const std::uint32_t flap = add_body(s.bodies, box_spec({0.5f, 0.0f, 0.0f}, {0.5f, 0.05f, 0.3f}));
    Hinge hinge = z_hinge({}, {-0.5f, 0.0f, 0.0f});
    hinge.limited = true, hinge.min_angle_rad = -0.7f, hinge.max_angle_rad = 0.2f;
    s.joints = {make_joint(kWorldBody, flap, hinge)};
    const auto angle = [&] {
        return 2 * std::atan2(s.bodies.pose[flap].orientation[2], s.bodies.pose[flap].orientation[3]);
    };
    s.run(10);
    CHECK(angle() < -0.15f);
    CHECK(s.impulses[0].row[5] == 0.0f);
    float lowest = 0.0f;
    for (int k = 0; k < 300; ++k) s.run(1), lowest = std::min(lowest, float(angle()));
    CHECK(lowest > -0.72f);
    CHECK(angle() == orrery::test::about(-0.7, 0.01));
}

// An arm of a heavy rod, held beside its centre: what the limit stops is the rod's inertia about the hinge, not about
// its middle.
TEST_CASE("a hinge's limit is as stiff as what turns about the hinge is heavy") {
    for (const float lever : {0.0f, 0.5f, 5.0f, 20.0f}) {
        CAPTURE(lever);
        const float half = lever < 10.0f ? 0.2f : 0.02f;
        Scene s;
        Hinge hinge = z_hinge({}, {-lever, 0.0f, 0.0f});
        hinge.limited = true, hinge.min_angle_rad = -0.3f, hinge.max_angle_rad = 0.3f;
        const std::uint32_t arm = add_body(s.bodies, box_spec({lever, 0.0f, 0.0f}, {half, half, half}));
        s.bodies.velocity[arm].angular[2] = -2.0f;
        s.bodies.velocity[arm].linear[1] = -2.0f * lever;
        s.joints = {make_joint(kWorldBody, arm, hinge)};
        const auto angle = [&] {
            return 2 * std::atan2(s.bodies.pose[arm].orientation[2], s.bodies.pose[arm].orientation[3]);
        };
        float lowest = 0.0f;
        for (int k = 0; k < 120; ++k) s.run(1), lowest = std::min(lowest, float(angle()));
        CHECK(lowest > (lever < 10.0f ? -0.302f : -0.31f));
        CHECK(lowest < -0.29f);
    }
}

TEST_CASE("a rope is slack inside its length and a joint's mean force is the load it carries") {
    Scene s;
    const std::uint32_t ball = add_body(s.bodies, sphere_spec({0.0f, -0.5f, 0.0f}, 0.1f));
    const double weight = 10.0 / mass_record(s.bodies, ball).inverse_mass;
    s.joints = {make_joint(kWorldBody, ball, DistanceLimit{{}, {}, 0.0f, 1.0f, {}})};
    s.run(10);
    CHECK(linear_velocity(s.bodies, ball).y == orrery::test::about(-10.0 / 6, 1e-4));
    CHECK(s.joints[0].force_n == 0.0f);
    s.run(600);
    CHECK(position(s.bodies, ball).y == orrery::test::about(-1.0, 0.002));
    CHECK(s.joints[0].force_n == orrery::test::about(weight, 0.01));
    CHECK(!s.joints[0].broken);
    s.joints[0].break_force_n = 0.9f * float(weight);
    s.run(1);
    CHECK(s.joints[0].broken);
}

TEST_CASE("a joint that is not alive does nothing") {
    Scene s;
    const std::uint32_t body = add_body(s.bodies, {});
    s.joints = {make_joint(kWorldBody, body, BallSocket{})};
    s.joints[0].alive = false;
    s.run(60);
    CHECK(linear_velocity(s.bodies, body).y == orrery::test::about(-10.0, 1e-5));
}

namespace {

// Euler's equations of a box in its own axes, in steps of 50 us (Runge and Kutta's fourth order).
Point tumble(Point w, Point i, double time_s) {
    const auto change = [&](Point v) {
        return Point{(i.y - i.z) / i.x * v.y * v.z, (i.z - i.x) / i.y * v.z * v.x, (i.x - i.y) / i.z * v.x * v.y};
    };
    const auto by = [](Point v, Point d, double h) { return Point{v.x + d.x * h, v.y + d.y * h, v.z + d.z * h}; };
    constexpr double h = 5e-5;
    for (int n = static_cast<int>(std::lround(time_s / h)); n > 0; --n) {
        const Point a = change(w), b = change(by(w, a, h / 2)), c = change(by(w, b, h / 2)), d = change(by(w, c, h));
        w = by(w, {a.x + 2 * b.x + 2 * c.x + d.x, a.y + 2 * b.y + 2 * c.y + d.y, a.z + 2 * b.z + 2 * c.z + d.z}, h / 6);
    }
    return w;
}
double length_of(Point p) { return std::sqrt(p.x * p.x + p.y * p.y + p.z * p.z); }

}  // namespace

TEST_CASE("a freely tumbling box keeps its energy and its angular momentum, size and direction" *
          doctest::test_suite("quality")) {
    const Point inertia{0.17, 0.65, 0.80};  // times 3 / m
    for (const double speed : {1.0, 6.0, 20.0, 25.0}) {
        Scene s;
        s.input.gravity = {};
        BodySpec spec = box_spec({}, {0.8f, 0.4f, 0.1f});
        const auto v = static_cast<float>(speed);
        spec.angular = {0.05f * v, v, 0.03f * v};  // about the middle axis: it turns over
        const std::uint32_t box = add_body(s.bodies, spec);
        const auto spin = [&] { return s.to_local(box, angular_velocity(s.bodies, box)); };
        const auto momentum = [&] {
            const Point w = spin();
            return s.to_world(box, {w.x * inertia.x, w.y * inertia.y, w.z * inertia.z});
        };
        const Point begin = spin(), first = momentum();
        const double start = s.kinetic_energy(box), size = length_of(first);
        double energy = 0, momentum_size = 0, turned = 0, off = 0, spin_y = speed;
        for (int tick = 1; tick <= 1200; ++tick) {
            s.run(1);
            energy = std::max(energy, std::abs(s.kinetic_energy(box) / start - 1));
            const Point m = momentum(), w = spin();
            momentum_size = std::max(momentum_size, std::abs(length_of(m) / size - 1));
            turned = std::max(turned, std::acos(std::min(1.0, (m.x * first.x + m.y * first.y + m.z * first.z) /
                                                                  (length_of(m) * size))));
            spin_y = std::min(spin_y, w.y);
            if (tick * speed > 1200 || tick % 20 != 0) continue;  // three turns
            const Point is = tumble(begin, inertia, tick / 60.0);
            off = std::max(off, length_of({w.x - is.x, w.y - is.y, w.z - is.z}) / speed);
        }
        CAPTURE(speed);
        CHECK(energy < 1e-3);
        CHECK(momentum_size < 5e-4);
        CHECK(turned < 2e-3 * std::max(speed, 1.0));
        CHECK(off < 0.03);
        CHECK(spin_y < -0.5 * speed);  // it has turned over
        MESSAGE(speed << " rad/s, 20 s: energy off by " << energy << ", momentum by " << momentum_size << " and "
                      << turned << " rad, spin in its first turns by " << off);
    }
}

TEST_CASE("what tumbles by more than a radian a tick slows down, and never gains energy") {
    for (const double speed : {60.0, 100.0, 400.0}) {
        Scene s;
        s.input.gravity = {};
        BodySpec spec = box_spec({}, {0.8f, 0.4f, 0.1f});
        const auto v = static_cast<float>(speed);
        spec.angular = {0.05f * v, v, 0.03f * v};
        const std::uint32_t box = add_body(s.bodies, spec);
        const double start = s.kinetic_energy(box);
        double highest = 0;
        for (int tick = 0; tick < 1200; ++tick) {
            s.run(1);
            highest = std::max(highest, s.kinetic_energy(box));
        }
        CHECK(highest < start * 1.001);
        CHECK(s.kinetic_energy(box) > 0.5 * 0.05 * start / speed);  // and does not stop
    }
}

// Its body axes are not its principal ones, and what it weighs about its length is a thousandth to a ten-thousandth of
// the rest: single precision leaves little of that.
TEST_CASE("a thin pole that lies aslant in its own frame neither gains energy nor loses its spin") {
    testing::Random random(301);
    for (const double thinness : {1e2, 1e3, 1e4}) {
        for (const double speed : {2.0, 10.0, 25.0}) {
            for (int trial = 0; trial < 4; ++trial) {
                Scene s;
                s.input.gravity = {};
                const std::uint32_t pole = add_body(s.bodies, box_spec({}, {0.8f, 0.4f, 0.1f}));
                const auto r = [&] { return 2.0 * random.unit() - 1.0; };
                const Point raw{r() + 0.3, r(), r()};
                const Point u{raw.x / length_of(raw), raw.y / length_of(raw), raw.z / length_of(raw)};  // its length
                // Inverse inertia: 1 across, `thinness` along.
                float* const m = mass_record(s.bodies, pole).inverse_inertia;
                const double more = thinness - 1.0;
                m[0] = float(1 + more * u.x * u.x), m[1] = float(more * u.x * u.y), m[2] = float(more * u.x * u.z);
                m[3] = float(1 + more * u.y * u.y), m[4] = float(more * u.y * u.z), m[5] = float(1 + more * u.z * u.z);
                const Point w0{speed * r(), speed * r(), speed * r()};
                auto& v = s.bodies.velocity[pole].angular;
                v[0] = float(w0.x), v[1] = float(w0.y), v[2] = float(w0.z);
                const auto energy = [&] {
                    const Point w = s.to_local(pole, angular_velocity(s.bodies, pole));
                    const double along = w.x * u.x + w.y * u.y + w.z * u.z, all = w.x * w.x + w.y * w.y + w.z * w.z;
                    return (all - along * along) + along * along / thinness;
                };
                const double start = energy();
                double highest = 0, lowest = 1e9;
                for (int tick = 0; tick < 1200; ++tick) {
                    s.run(1);
                    highest = std::max(highest, energy() / start), lowest = std::min(lowest, energy() / start);
                }
                CAPTURE(thinness);
                CAPTURE(speed);
                CHECK(highest < 1.01);
                CHECK(lowest > 0.99);
            }
        }
    }
}

TEST_CASE("locked axes do not move and damping decays by implicit Euler") {
    Scene s;
    const std::uint32_t body = add_body(s.bodies, {.linear = {1.0f, 0.0f, 2.0f}, .angular = {1.0f, 1.0f, 1.0f}});
    mass_record(s.bodies, body).linear_lock[1] = 0.0f;
    mass_record(s.bodies, body).angular_lock[0] = 0.0f;
    mass_record(s.bodies, body).linear_damping = 0.5f;
    s.joints = {make_joint(kWorldBody, body, AngularAxisMotor{{1.0f, 0.0f, 0.0f}, 5.0f, {}})};
    s.run(60);
    CHECK(position(s.bodies, body).y == 0.0f);
    CHECK(angular_velocity(s.bodies, body).x == 0.0f);
    CHECK(angular_velocity(s.bodies, body).y == orrery::test::about(1.0, 1e-5));
    CHECK(linear_velocity(s.bodies, body).z == orrery::test::about(2 * std::pow(1 / (1 + 0.5 / 240), 240), 1e-4));
}

TEST_CASE("a bouncing ball leaves with its restitution, and not below the threshold") {
    const auto bounce = [](float speed) {
        Scene s;
        s.input.gravity = {};
        const std::uint32_t floor = add_body(s.bodies, {.kind = 0});
        const std::uint32_t ball =
            add_body(s.bodies, {.position = {0.0f, 0.51f, 0.0f}, .linear = {0.0f, -speed, 0.0f}});
        for (int tick = 0; tick < 10; ++tick) {
            Manifold m;
            m.a = floor, m.b = ball, m.normal = {0.0f, 1.0f, 0.0f}, m.count = 1, m.restitution = 0.5f;
            m.points[0].depth = 0.5f - position(s.bodies, ball).y;
            if (m.points[0].depth < -0.02f) m.count = 0;
            s.solver.step(s.input, s.bodies, {}, test::listed({&m, m.count}));
        }
        return linear_velocity(s.bodies, ball).y;
    };
    CHECK(bounce(4.0f) == orrery::test::about(2.0, 0.001));
    CHECK(std::abs(bounce(0.5f)) < 0.01f);
}

TEST_CASE("twist friction stops a spinning box by mu m g times the mean lever of its corners") {
    const Vec3 h{0.5f, 0.5f, 0.5f};
    Scene s;
    const std::uint32_t floor = add_body(s.bodies, {.kind = 0});
    BodySpec spec = box_spec({0.0f, 0.497f, 0.0f}, h);
    const std::uint32_t box = add_body(s.bodies, spec);
    Manifold last;
    const auto run = [&](int ticks) {
        for (int tick = 0; tick < ticks; ++tick) {
            Manifold m = box_on_floor(s.bodies, floor, box, h, 0.4f);
            carry(last, m);
            s.solver.step(s.input, s.bodies, {}, test::listed({&m, 1}));
            last = m;
        }
    };
    run(60);
    s.bodies.velocity[box].angular[1] = 8.0f;
    run(15);
    const double slowing = 0.4 * spec.mass * 10 * std::hypot(0.5, 0.5) / spec.inertia.y;
    CHECK(angular_velocity(s.bodies, box).y == orrery::test::about(8.0 - 0.25 * slowing, 0.02));
    CHECK(std::hypot(position(s.bodies, box).x, position(s.bodies, box).z) < 0.005);
}

}  // namespace orrery::sim::test
