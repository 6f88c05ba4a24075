// Guards: every Spring of every constraint of the list, whatever rows it holds and whatever moves on it, is the
// oscillator that settings.h promises: as stiff and as damped as implicit Euler makes it, and as its frequency and
// ratio say where the substep is short. Beside it the Jacobians that constraint_jacobian_test.cpp and
// constraint_list_test.cpp leave out: those of motors, which have no value of their own to differentiate, and of what
// stands outside of the forms.
//
// What is measured is a pole: a free swing is fitted by x[k+2] = p x[k+1] + q x[k], whose roots are Z, and ln Z over
// the time of a sample is compared with ln z / h, z = 1 / (1 - s h), s = w (-zeta + i sqrt(1 - zeta^2)). Half a percent
// of frequency shows as such, which the residual of the recurrence alone hides where a sample is a small part of a
// period.
#include "sim/lanes/ref_pass.h"

#include "sim/solver/kernels-inl.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <numbers>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/constraints/fields.h"
#include "sim/solver/solver.h"
#include "tests/support/about.h"
#include "tests/support/bodies.h"
#include "tests/support/double_math.h"
#include "tests/support/seeded_random.h"

namespace orrery::sim::test {
namespace {

constexpr Vec3 kX{1.0f, 0.0f, 0.0f}, kY{0.0f, 1.0f, 0.0f}, kZ{0.0f, 0.0f, 1.0f};

struct Scene {
    Bodies bodies = make_bodies();
    std::vector<Joint> joints;
    std::vector<JointImpulse> impulses;
    ShuffledExecutor executor{1};
    StepInput input = make_input(executor);
    Solver solver;

    Scene() { input.gravity = {}; }
    void step() {
        impulses.resize(joints.size());
        input.impulses = impulses;
        solver.step(input, bodies, joints, {});
    }
};

// ---- poles

using Complex = std::complex<double>;

Complex continuous_pole(Spring spring) {
    const double w = 2 * std::numbers::pi * double(spring.frequency_hz), ratio = spring.damping_ratio;
    return {-ratio * w, w * std::sqrt(1 - ratio * ratio)};
}
Complex discrete_pole(Spring spring, double h) { return -std::log(1.0 - continuous_pole(spring) * h) / h; }

// Of samples `dt` apart, by least squares; not a number where they do not swing.
Complex fitted_pole(const std::vector<double>& x, double dt) {
    double a = 0, b = 0, c = 0, f = 0, g = 0;
    for (std::size_t k = 0; k + 2 < x.size(); ++k) {
        a += x[k + 1] * x[k + 1], b += x[k + 1] * x[k], c += x[k] * x[k];
        f += x[k + 1] * x[k + 2], g += x[k] * x[k + 2];
    }
    const double det = a * c - b * b, p = (f * c - g * b) / det, q = (g * a - f * b) / det;
    return std::log(Complex(p / 2, std::sqrt(-q - p * p / 4))) / dt;
}

// ---- what swings

// A is the world; a body of its own; the world, and B is held beside its centre; a body of its own, and both are held
// so.
enum class Hold { world, free, lever, free_levers };
constexpr bool is_free(Hold hold) { return hold == Hold::free || hold == Hold::free_levers; }
constexpr bool has_lever(Hold hold) { return hold == Hold::lever || hold == Hold::free_levers; }

// How far it is out of place; read after every tick.
using Reading = std::function<double()>;
struct Swing {
    std::string spring;  // its type and field
    std::string what;
    std::function<Reading(Scene&, Hold, Spring)> begin;
    bool levers = false, one_sided = false, stands_free = true;
};

std::uint32_t add_holder(Scene& s, Hold hold) {
    if (!is_free(hold)) return kWorldBody;
    BodySpec spec;
    spec.mass = 3.0f, spec.inertia = {2.0f, 2.0f, 2.0f};
    return add_body(s.bodies, spec);
}
constexpr BodySpec swinger() {
    BodySpec spec;
    spec.mass = 7.0f, spec.inertia = {3.0f, 3.0f, 3.0f};
    return spec;
}
constexpr Vec3 kArm{0.2f, 0.3f, -0.25f}, kHand{0.1f, 0.25f, 0.15f};

// B stands `out` off along x, and goes outward at `speed`; `rest` is where it is held.
template <class Make>
Swing along_x(std::string spring, std::string what, Make make, float rest = 0.0f, float out = 0.02f, float speed = 0.0f,
              bool inward = false) {
    Swing swing{std::move(spring), std::move(what), {}};
    using T = decltype(make(Spring{}));
    swing.levers = requires(T t) { t.anchor_b; };
    swing.one_sided = speed != 0.0f;
    const float sign = inward ? -1.0f : 1.0f;
    swing.begin = [=](Scene& s, Hold hold, Spring settings) -> Reading {
        T constraint = make(settings);
        const std::uint32_t a = add_holder(s, hold);
        BodySpec spec = swinger();
        Vec3 arm{}, hand{};
        if constexpr (requires { constraint.anchor_b; }) {
            if (has_lever(hold)) constraint.anchor_b = arm = kArm;
        }
        if constexpr (requires { constraint.anchor_a; }) {
            Vec3& anchor = constraint.anchor_a;
            if (hold == Hold::free_levers)
                hand = kHand, anchor = {anchor.x + hand.x, anchor.y + hand.y, anchor.z + hand.z};
        }
        spec.position = {rest + sign * out + hand.x - arm.x, hand.y - arm.y, hand.z - arm.z};
        spec.linear.x = sign * speed;
        const std::uint32_t b = add_body(s.bodies, spec);
        s.joints.push_back(make_joint(a, b, constraint));
        return [&s, a, b, arm, hand, rest, sign] {
            return double(sign) * (to_world(s.bodies, b, arm).x - to_world(s.bodies, a, hand).x - double(rest));
        };
    };
    return swing;
}

// About an axis, 0 to 2, of the world: the turn of B as A sees it.
double turn_about(const Scene& s, std::uint32_t a, std::uint32_t b, int axis) {
    const float *p = s.bodies.pose[a].orientation, *q = s.bodies.pose[b].orientation;
    const double px = -double(p[0]), py = -double(p[1]), pz = -double(p[2]), pw = p[3], qx = q[0], qy = q[1], qz = q[2],
                 qw = q[3];
    const double r[4] = {pw * qx + px * qw + py * qz - pz * qy, pw * qy - px * qz + py * qw + pz * qx,
                         pw * qz + px * qy - py * qx + pz * qw, pw * qw - px * qx - py * qy - pz * qz};
    return 2 * std::atan2(r[axis], r[3]);
}
Quat about(int axis, float angle) {
    Quat q{0.0f, 0.0f, 0.0f, std::cos(angle / 2)};
    (axis == 0 ? q.x : axis == 1 ? q.y : q.z) = std::sin(angle / 2);
    return q;
}
Vec3 cross(Vec3 a, Vec3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
Vec3 turned(Quat q, Vec3 v) {
    const Vec3 u{q.x, q.y, q.z}, t = cross(u, v), tt = cross(u, t);
    return {v.x + 2 * (q.w * t.x + tt.x), v.y + 2 * (q.w * t.y + tt.y), v.z + 2 * (q.w * t.z + tt.z)};
}
// On a lever it turns about the point at which it is held.
template <class Make>
Swing about_axis(std::string spring, std::string what, int axis, Make make, float rest = 0.0f, float out = 0.02f,
                 float speed = 0.0f, bool inward = false) {
    Swing swing{std::move(spring), std::move(what), {}};
    using T = decltype(make(Spring{}));
    swing.levers = requires(T t) { t.anchor_b; };
    swing.one_sided = speed != 0.0f;
    const float sign = inward ? -1.0f : 1.0f;
    swing.begin = [=](Scene& s, Hold hold, Spring settings) -> Reading {
        T constraint = make(settings);
        const std::uint32_t a = add_holder(s, hold);
        BodySpec spec = swinger();
        spec.orientation = about(axis, rest + sign * out);
        (axis == 0 ? spec.angular.x : axis == 1 ? spec.angular.y : spec.angular.z) = sign * speed;
        if constexpr (requires { constraint.anchor_b; }) {
            Vec3 hand{};
            if (hold == Hold::free_levers) constraint.anchor_a = hand = kHand;
            if (has_lever(hold)) constraint.anchor_b = kArm;
            const Vec3 arm = turned(spec.orientation, constraint.anchor_b);
            spec.position = {hand.x - arm.x, hand.y - arm.y, hand.z - arm.z};
            spec.linear = cross(arm, spec.angular);
        }
        const std::uint32_t b = add_body(s.bodies, spec);
        s.joints.push_back(make_joint(a, b, constraint));
        return [&s, a, b, axis, rest, sign] { return double(sign) * (turn_about(s, a, b, axis) - double(rest)); };
    };
    return swing;
}

Hinge z_hinge() {
    Hinge hinge;
    hinge.axis_a = hinge.axis_b = kZ;
    return hinge;
}
Slider slider_along(Vec3 axis) {
    Slider slider;
    slider.axis_a = axis;
    return slider;
}
Hinge limited_hinge(Spring spring, float low, float high) {
    Hinge hinge = z_hinge();
    hinge.limited = true, hinge.min_angle_rad = low, hinge.max_angle_rad = high, hinge.limit_spring = spring;
    return hinge;
}
Slider limited_slider(Spring spring, float low, float high) {
    Slider slider = slider_along(kX);
    slider.limited = true, slider.min_m = low, slider.max_m = high, slider.limit_spring = spring;
    return slider;
}
TwistLimit z_twist_limit(Spring spring, float low, float high) {
    TwistLimit limit;
    limit.axis_a = limit.axis_b = kZ, limit.min_angle_rad = low, limit.max_angle_rad = high, limit.spring = spring;
    return limit;
}
TwistServo z_twist_servo(Spring spring) {
    TwistServo servo;
    servo.axis_a = servo.axis_b = kZ, servo.spring = spring;
    return servo;
}
Wheel wheel_of(Spring held, Spring suspension, Vec3 up) {
    Wheel wheel;
    wheel.suspension_a = up, wheel.spring = held, wheel.suspension = suspension;
    return wheel;
}
// Nothing holds it along the suspension nor about it.
Wheel let_go(Wheel wheel) {
    wheel.max_suspension_n = wheel.steering.max_force = 0.0f;
    return wheel;
}
Slider sprung_slider(Spring spring) {
    Slider slider = slider_along(kX);
    slider.drive_spring = spring, slider.drive = {};
    return slider;
}

// The sum of whole turns about z.
class Turns {
  public:
    double follow(const Scene& s, std::uint32_t body) {
        const double now = turn_about(s, kWorldBody, body, 2);
        total_ += std::remainder(now - last_, 2 * std::numbers::pi);
        last_ = now;
        return total_;
    }

  private:
    double last_ = 0, total_ = 0;
};

Reading begin_gear(Scene& s, Hold, Spring spring) {
    BodySpec first = swinger(), second = swinger();
    first.angular = {0.0f, 0.0f, 2.0f};
    second.inertia = {0.7f, 0.7f, 0.7f}, second.position = kX;
    const std::uint32_t a = add_body(s.bodies, first), b = add_body(s.bodies, second);
    Gear gear;
    gear.axis_a = gear.axis_b = kZ, gear.ratio = -1.5f, gear.spring = spring;
    s.joints.push_back(make_joint(a, b, gear));
    return [&s, a, b, of_a = std::make_shared<Turns>(), of_b = std::make_shared<Turns>()] {
        return -1.5 * of_a->follow(s, a) - of_b->follow(s, b);
    };
}

Reading begin_rack(Scene& s, Hold, Spring spring) {
    BodySpec pinion = swinger(), rack = swinger();
    pinion.angular = {0.0f, 0.0f, 2.0f};
    rack.position = kX, rack.mass = 2.0f;
    const std::uint32_t a = add_body(s.bodies, pinion), b = add_body(s.bodies, rack);
    s.joints.push_back(make_joint(a, b, RackAndPinion{kZ, kX, 0.5f, spring}));
    return [&s, a, b, turns = std::make_shared<Turns>()] {
        return 0.5 * turns->follow(s, a) - (to_world(s.bodies, b, {}).x - to_world(s.bodies, a, {}).x - 1);
    };
}

// Two masses on a block and tackle; `out` is of the rope's length, at first or (one-sided) by the speed.
auto begin_pulley(float low, float high, float out, float speed) {
    return [=](Scene& s, Hold hold, Spring spring) -> Reading {
        const float rest = out > 0.0f ? high : low;
        const Vec3 hand = has_lever(hold) ? kHand : Vec3{}, arm = has_lever(hold) ? kArm : Vec3{};
        BodySpec left = swinger(), right = swinger();
        left.mass = 2.0f;
        left.position = {-1.0f - hand.x, 3.0f - (rest - 2.0f * 1.0f + out) - hand.y, -hand.z};
        right.position = {1.0f - arm.x, 2.0f - arm.y, -arm.z};
        left.linear.y = -speed;
        const std::uint32_t a = add_body(s.bodies, left), b = add_body(s.bodies, right);
        Pulley pulley;
        pulley.anchor_a = hand, pulley.anchor_b = arm;
        pulley.wheel_a = {-1.0f, 3.0f, 0.0f}, pulley.wheel_b = {1.0f, 3.0f, 0.0f}, pulley.ratio = 2.0f;
        pulley.min_m = low, pulley.max_m = high, pulley.spring = spring;
        s.joints.push_back(make_joint(a, b, pulley));
        return [&s, a, b, hand, arm, rest, out] {
            const Point p = to_world(s.bodies, a, hand), q = to_world(s.bodies, b, arm);
            const double longer =
                std::hypot(p.x + 1, p.y - 3, p.z) + 2 * std::hypot(q.x - 1, q.y - 3, q.z) - double(rest);
            return out > 0.0f ? longer : -longer;
        };
    };
}

Point minus(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Point cross(Point a, Point b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
double dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Corners of a triangle or a tetrahedron that are a little too far out.
Reading begin_many(Scene& s, Spring spring, bool volume) {
    const Vec3 corner[] = {{-0.6f, -0.4f, -0.2f}, {0.7f, -0.5f, -0.3f}, {0.1f, 0.8f, -0.25f}, {0.05f, 0.1f, 0.75f}};
    const float mass[] = {1.0f, 2.0f, 3.0f, 1.5f};
    const std::uint32_t count = volume ? 4 : 3;
    std::uint32_t id[4] = {};
    for (std::uint32_t k = 0; k < count; ++k) {
        BodySpec spec;
        spec.position = {1.002f * corner[k].x, 1.002f * corner[k].y, 1.002f * corner[k].z}, spec.mass = mass[k];
        id[k] = add_body(s.bodies, spec);
    }
    const auto size = [volume](Point a, Point b, Point c, Point d) {
        const Point across = cross(minus(b, a), minus(c, a));
        return volume ? dot(across, minus(d, a)) / 6 : std::sqrt(dot(across, across)) / 2;
    };
    const auto wide = [](Vec3 v) { return Point{v.x, v.y, v.z}; };
    const double rest = size(wide(corner[0]), wide(corner[1]), wide(corner[2]), wide(corner[3]));
    const auto target = static_cast<float>(rest);
    Joint joint =
        volume ? make_joint(id[0], id[1], Volume{target, spring}) : make_joint(id[0], id[1], Area{target, spring});
    joint.c = id[2];
    if (volume) joint.d = id[3];
    s.joints.push_back(joint);
    return [&s, i = std::vector<std::uint32_t>(id, id + 4), size, target] {
        const auto at = [&](std::size_t k) { return to_world(s.bodies, i[k], {}); };
        return size(at(0), at(1), at(2), at(3)) - double(target);
    };
}

// Two-sided springs: held rows, servos and limits whose ends meet.
std::vector<Swing> all_swings() {
    std::vector<Swing> all{
        along_x("ball_socket.spring", "point",
                [](Spring s) {
                    return BallSocket{{}, {}, s};
                }),
        along_x("hinge.spring", "point",
                [](Spring s) {
                    Hinge h = z_hinge();
                    h.spring = s;
                    return h;
                }),
        about_axis("hinge.spring", "axis", 0,
                   [](Spring s) {
                       Hinge h = z_hinge();
                       h.spring = s;
                       return h;
                   }),
        about_axis("hinge.limit_spring", "met", 2, [](Spring s) { return limited_hinge(s, 0.0f, 0.0f); }),
        along_x("weld.spring", "point",
                [](Spring s) {
                    return Weld{{}, {}, {}, s};
                }),
        about_axis("weld.spring", "rotation", 1,
                   [](Spring s) {
                       return Weld{{}, {}, {}, s};
                   }),
        along_x("distance_limit.spring", "met",
                [](Spring s) {
                    return DistanceLimit{{-2.0f, 0.0f, 0.0f}, {}, 2.0f, 2.0f, s};
                }),
        along_x("distance_servo.spring", "distance",
                [](Spring s) {
                    return DistanceServo{{-2.0f, 0.0f, 0.0f}, {}, 2.0f, s, {}};
                }),
        along_x(
            "center_distance.spring", "distance",
            [](Spring s) {
                return CenterDistance{2.0f, s};
            },
            2.0f),
        along_x(
            "center_distance_limit.spring", "met",
            [](Spring s) {
                return CenterDistanceLimit{2.0f, 2.0f, s};
            },
            2.0f),
        along_x("one_body_linear_servo.spring", "point",
                [](Spring s) {
                    return OneBodyLinearServo{{}, {}, s, {}};
                }),
        along_x("ball_socket_servo.spring", "point",
                [](Spring s) {
                    return BallSocketServo{{}, {}, s, {}};
                }),
        along_x("linear_axis_servo.spring", "offset",
                [](Spring s) { return LinearAxisServo{{}, {}, kX, 0.0f, s, {}}; }),
        along_x("linear_axis_limit.spring", "met", [](Spring s) { return LinearAxisLimit{{}, {}, kX, 0.0f, 0.0f, s}; }),
        along_x("point_on_line_servo.spring", "line",
                [](Spring s) {
                    return PointOnLineServo{{}, {}, kY, s, {}};
                }),
        along_x("swivel_hinge.spring", "point",
                [](Spring s) {
                    return SwivelHinge{{}, {}, kY, kX, s};
                }),
        about_axis("swivel_hinge.spring", "axes", 2,
                   [](Spring s) {
                       return SwivelHinge{{}, {}, kY, kX, s};
                   }),
        along_x("slider.spring", "line",
                [](Spring s) {
                    Slider t = slider_along(kY);
                    t.spring = s;
                    return t;
                }),
        about_axis("slider.spring", "rotation", 2,
                   [](Spring s) {
                       Slider t = slider_along(kY);
                       t.spring = s;
                       return t;
                   }),
        along_x("slider.limit_spring", "met", [](Spring s) { return limited_slider(s, 0.0f, 0.0f); }),
        along_x("slider.drive_spring", "offset", sprung_slider),
        along_x("wheel.spring", "hub", [](Spring s) { return wheel_of(s, {}, kY); }),
        about_axis("wheel.spring", "axle", 0, [](Spring s) { return wheel_of(s, {}, kY); }),
        along_x("wheel.spring", "hub, alone", [](Spring s) { return let_go(wheel_of(s, {}, kY)); }),
        about_axis("wheel.spring", "axle, alone", 0, [](Spring s) { return let_go(wheel_of(s, {}, kY)); }),
        along_x("wheel.suspension", "hub", [](Spring s) { return wheel_of({}, s, kX); }),
        about_axis("twist_servo.spring", "twist", 2, z_twist_servo),
        about_axis("twist_limit.spring", "met", 2, [](Spring s) { return z_twist_limit(s, 0.0f, 0.0f); }),
        about_axis("angular_servo.spring", "rotation", 0,
                   [](Spring s) {
                       return AngularServo{{}, s, {}};
                   }),
        about_axis("one_body_angular_servo.spring", "rotation", 1,
                   [](Spring s) {
                       return OneBodyAngularServo{{}, s, {}};
                   }),
        about_axis("angular_hinge.spring", "axes", 2,
                   [](Spring s) {
                       return AngularHinge{kY, kY, s};
                   }),
        about_axis("angular_swivel_hinge.spring", "axes", 2,
                   [](Spring s) {
                       return AngularSwivelHinge{kY, kX, s};
                   }),
        {"gear.spring", "angles", begin_gear},
        {"rack_and_pinion.spring", "travel", begin_rack},
        {"pulley.spring", "met", begin_pulley(4.0f, 4.0f, 0.02f, 0.0f)},
        {"area.spring", "area", [](Scene& s, Hold, Spring spring) { return begin_many(s, spring, false); }},
        {"volume.spring", "volume", [](Scene& s, Hold, Spring spring) { return begin_many(s, spring, true); }},
    };
    for (Swing& swing : all) {
        const bool alone = swing.spring.starts_with("one_body"),
                   own = swing.what == "angles" || swing.what == "travel" || swing.spring.starts_with("pulley") ||
                         swing.what == "area" || swing.what == "volume";
        swing.stands_free = !alone && !own;
        if (swing.spring.starts_with("pulley")) swing.levers = true;
        // Suspension and steering, where they stand, hold a wheel on a lever too: see its own case below.
        if (swing.spring == "wheel.spring" && !swing.what.ends_with("alone")) swing.levers = false;
    }
    return all;
}

// Beyond one end of a limit, on the way out and half of the way back.
std::vector<Swing> all_limits() {
    constexpr float out = 0.01f, speed = 0.06f;  // so little that what turns on a lever goes along a line
    const auto swing = [](Spring s) { return SwingLimit{kY, kY, 0.4f, s}; };
    std::vector<Swing> all{
        about_axis("swing_limit.spring", "above", 2, swing, 0.4f, out, speed),
        {"pulley.spring", "above", begin_pulley(3.0f, 4.0f, out, speed)},
        {"pulley.spring", "below", begin_pulley(4.0f, 5.0f, -out, -speed)},
    };
    for (const bool low : {false, true}) {
        const float rest = low ? 1.5f : 2.0f, end = low ? -0.2f : 0.3f;
        const auto add = [&](const char* spring, float from, auto make) {
            all.push_back(along_x(spring, low ? "below" : "above", make, from, out, speed, low));
        };
        const auto add_turning = [&](const char* spring, auto make) {
            all.push_back(about_axis(spring, low ? "below" : "above", 2, make, end, out, speed, low));
        };
        add("distance_limit.spring", rest, [](Spring s) { return DistanceLimit{{}, {}, 1.5f, 2.0f, s}; });
        add("center_distance_limit.spring", rest, [](Spring s) { return CenterDistanceLimit{1.5f, 2.0f, s}; });
        add("linear_axis_limit.spring", end, [](Spring s) { return LinearAxisLimit{{}, {}, kX, -0.2f, 0.3f, s}; });
        add("slider.limit_spring", end, [](Spring s) { return limited_slider(s, -0.2f, 0.3f); });
        add_turning("hinge.limit_spring", [](Spring s) { return limited_hinge(s, -0.2f, 0.3f); });
        add_turning("twist_limit.spring", [](Spring s) { return z_twist_limit(s, -0.2f, 0.3f); });
    }
    for (Swing& s : all) {
        s.one_sided = true;
        if (s.spring.starts_with("pulley")) s.stands_free = false, s.levers = true;
    }
    return all;
}

std::vector<Hold> holds_of(const Swing& swing) {
    std::vector<Hold> holds{Hold::world};
    if (swing.stands_free) holds.push_back(Hold::free);
    if (swing.levers) holds.push_back(Hold::lever);
    if (swing.levers && swing.stands_free) holds.push_back(Hold::free_levers);
    return holds;
}

struct Run {
    Spring spring;
    std::uint32_t substeps;
    int ticks, stride;  // of the whole, and of a sample
};

// The pole of what was measured. One-sided, that is until it has come back by a third: a limit pushes one way, and lets
// go where its damping would pull.
Complex measured_pole(const Swing& swing, Hold hold, const Run& run) {
    Scene s;
    s.input.substeps = run.substeps;
    const Reading reading = swing.begin(s, hold, run.spring);
    std::vector<double> x{reading()};
    double most = x[0];
    for (int tick = 1; tick <= run.ticks; ++tick) {
        s.step();
        const double now = reading();
        most = std::max(most, now);
        if (swing.one_sided && now < 0.66 * most) break;
        if (tick % run.stride == 0) x.push_back(now);
    }
    REQUIRE(x.size() > 8);
    return fitted_pole(x, double(s.input.dt_s) * run.stride);
}

// How many springs a type has, by the names that its fields give them.
class SpringNames : public FieldVisitor<SpringNames> {
  public:
    std::vector<std::string> names;
    void spring(const char* name, Spring&) { names.push_back(name); }
};

}  // namespace

TEST_CASE("every spring that a constraint of the list has is among those that are tested here") {
    std::set<std::string> known;
    for (const Swing& swing : all_swings()) known.insert(swing.spring);
    for (const Swing& swing : all_limits()) known.insert(swing.spring);
    std::size_t springs = 0;
#define ORRERY_CONSTRAINT(T, name)                                   \
    {                                                                \
        T constraint;                                                \
        SpringNames visitor;                                         \
        T::fields(constraint, visitor);                              \
        for (const std::string& field : visitor.names) {             \
            ++springs;                                               \
            CAPTURE(std::string(#name "." + field));                 \
            CHECK(known.count(std::string(#name ".") + field) == 1); \
        }                                                            \
    }
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
#undef ORRERY_CONSTRAINT
    CHECK(springs == known.size());
}

TEST_CASE(
    "every spring follows the pole of its integrator within 1 %: on the world, between two bodies and on a lever") {
    double worst = 0;
    std::string where;
    for (const Swing& swing : all_swings()) {
        CAPTURE(swing.spring);
        CAPTURE(swing.what);
        for (const Hold hold : holds_of(swing)) {
            CAPTURE(static_cast<int>(hold));
            for (const std::uint32_t substeps : {1u, 4u}) {
                CAPTURE(substeps);
                const Run run{{1.5f, 0.2f}, substeps, 100, 1};
                const Complex wanted = discrete_pole(run.spring, 1.0 / 60 / substeps),
                              is = measured_pole(swing, hold, run);
                const double off = std::abs(is - wanted) / std::abs(wanted);
                CHECK(off < (has_lever(hold) ? 0.004 : 0.001));
                if (off > worst) worst = off, where = swing.spring + ", " + swing.what;
            }
        }
    }
    MESSAGE("the worst is off by " << worst << ": " << where);
}

TEST_CASE("every limit's spring follows the pole of its integrator within 1 % beyond either end, on a lever, too") {
    double worst = 0;
    std::string where;
    for (const Swing& swing : all_limits()) {
        CAPTURE(swing.spring);
        CAPTURE(swing.what);
        for (const Hold hold : holds_of(swing)) {
            CAPTURE(static_cast<int>(hold));
            const Run run{{0.5f, 0.2f}, 4, 100, 2};
            const Complex wanted = discrete_pole(run.spring, 1.0 / 240), is = measured_pole(swing, hold, run);
            const double off = std::abs(is - wanted) / std::abs(wanted);
            CHECK(off < (has_lever(hold) ? 0.003 : 0.0003));
            if (off > worst) worst = off, where = swing.spring + ", " + swing.what;
        }
    }
    MESSAGE("the worst is off by " << worst << ": " << where);
}

TEST_CASE("every spring's period and decay are the continuous ones within 2 % where w h is small") {
    double worst = 0;
    std::string where;
    for (const Swing& swing : all_swings()) {
        CAPTURE(swing.spring);
        CAPTURE(swing.what);
        for (const Hold hold : holds_of(swing)) {
            CAPTURE(static_cast<int>(hold));
            const Run run{{0.3f, 0.45f}, 4, 300, 12};  // w h = 0.0079 < 0.02 ratio
            const Complex wanted = continuous_pole(run.spring), is = measured_pole(swing, hold, run);
            const double period = std::abs(wanted.imag() / is.imag() - 1),
                         decay = std::abs(is.real() / wanted.real() - 1);
            CHECK(period < 0.01);
            CHECK(decay < 0.01);
            if (std::max(period, decay) > worst)
                worst = std::max(period, decay), where = swing.spring + ", " + swing.what;
        }
    }
    MESSAGE("the worst is off by " << worst << ": " << where);
}

// ---- a wheel that is held beside its centre

namespace {

template <std::size_t N>
using Square = std::array<std::array<double, N>, N>;

// x of a x = b, by elimination; a is positive definite.
template <std::size_t N>
std::array<double, N> solved(Square<N> a, std::array<double, N> b) {
    for (std::size_t k = 0; k < N; ++k) {
        for (std::size_t i = k + 1; i < N; ++i) {
            const double f = a[i][k] / a[k][k];
            for (std::size_t j = k; j < N; ++j) a[i][j] -= f * a[k][j];
            b[i] -= f * b[k];
        }
    }
    for (std::size_t k = N; k-- > 0;) {
        for (std::size_t j = k + 1; j < N; ++j) b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return b;
}

// A row of the Jacobian of a body that is held at `arm` from its centre, and J M^-1 J^T of two of them.
struct HeldRow {
    Point line, turn;
};
HeldRow line_row(Point axis, Point arm) { return {axis, cross(arm, axis)}; }
double response(const HeldRow& i, const HeldRow& j, const BodySpec& spec) {
    return dot(i.line, j.line) / double(spec.mass) + dot(i.turn, j.turn) / double(spec.inertia.x);
}

// What the errors of three rows of a soft block do where two more rows stand firm. With K the block's response, K' that
// which the two leave it, and stiffness and damping made for K,
//
//   c'' = -K' K^-1 (w^2 c + 2 zeta w c')
//
// by implicit Euler; c_row after each tick, where c_row = 1 is out of place at first.
std::vector<double> coupled_swing(const HeldRow (&held)[3], const HeldRow (&firm)[2], std::size_t row,
                                  const BodySpec& spec, const Run& run) {
    Square<2> s{};
    for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) s[i][j] = response(firm[i], firm[j], spec);
    }
    Square<3> k{}, left{}, share{};
    for (std::size_t i = 0; i < 3; ++i) {
        const std::array<double, 2> relief =
            solved<2>(s, {response(held[i], firm[0], spec), response(held[i], firm[1], spec)});
        for (std::size_t j = 0; j < 3; ++j) {
            k[i][j] = response(held[i], held[j], spec);
            left[i][j] =
                k[i][j] - relief[0] * response(held[j], firm[0], spec) - relief[1] * response(held[j], firm[1], spec);
        }
    }
    for (std::size_t i = 0; i < 3; ++i) share[i] = solved<3>(k, left[i]);
    const double h = 1.0 / 60 / run.substeps, w = 2 * std::numbers::pi * double(run.spring.frequency_hz);
    const double stiffness = w * w, damping = 2 * double(run.spring.damping_ratio) * w + h * stiffness;
    std::array<double, 3> c{}, v{};
    c[row] = 1;
    std::vector<double> x{c[row]};
    for (int tick = 0; tick < run.ticks; ++tick) {
        for (std::uint32_t n = 0; n < run.substeps; ++n) {
            Square<3> a{};
            for (std::size_t i = 0; i < 3; ++i) {
                a[i][i] = 1;
                for (std::size_t j = 0; j < 3; ++j)
                    a[i][j] += h * damping * share[i][j], v[i] -= h * stiffness * share[i][j] * c[j];
            }
            v = solved<3>(a, v);
            for (std::size_t i = 0; i < 3; ++i) c[i] += h * v[i];
        }
        x.push_back(c[row]);
    }
    return x;
}

}  // namespace

// The spring of what is held has the effective mass of the hub's two lines and of the axle, as if nothing else held the
// wheel. Where suspension and steering stand firm they do, and on a lever it swings more slowly, by 6 % here: as the
// coupled mode says.
TEST_CASE(
    "the spring of a wheel that is held beside its centre swings as it does together with a firm suspension and "
    "steering") {
    const Point x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1}, arm{kArm.x, kArm.y, kArm.z};
    const HeldRow held[3] = {line_row(z, arm), line_row(x, arm), {{}, x}}, firm[2] = {line_row(y, arm), {{}, y}};
    const auto make = [](Spring s) { return wheel_of(s, {}, kY); };
    const Swing swings[] = {along_x("wheel.spring", "hub", make), about_axis("wheel.spring", "axle", 0, make)};
    for (std::size_t row = 1; row < 3; ++row) {
        for (const std::uint32_t substeps : {1u, 4u}) {
            CAPTURE(row);
            CAPTURE(substeps);
            const Run run{{1.5f, 0.2f}, substeps, 100, 1};
            const Complex wanted = fitted_pole(coupled_swing(held, firm, row, swinger(), run), 1.0 / 60);
            const Complex is = measured_pole(swings[row - 1], Hold::lever, run),
                          alone = discrete_pole(run.spring, 1.0 / 60 / substeps);
            MESSAGE(swings[row - 1].what << ": off by " << std::abs(is - wanted) / std::abs(wanted)
                                         << "; alone it would swing " << alone.imag() / wanted.imag()
                                         << " times as fast");
            CHECK(std::abs(is - wanted) < 0.002 * std::abs(wanted));
        }
    }
}

// ---- what once were faults

namespace {

// The fastest that B gets on a free flight of 40 ticks across the middle of the limit's range, without reaching either
// end.
template <class Make>
double fastest_inside(Make make, bool turning, float frequency_hz) {
    Scene s;
    BodySpec spec = swinger();
    if (turning)
        spec.angular = {0.0f, 0.0f, 2.0f}, spec.orientation = about(2, -0.8f);
    else
        spec.linear = {2.0f, 0.0f, 0.0f}, spec.position = {0.5f, 0.0f, 0.0f};
    const std::uint32_t body = add_body(s.bodies, spec);
    s.joints.push_back(make_joint(kWorldBody, body, make(Spring{frequency_hz, 0.5f})));
    double fastest = 0;
    for (int tick = 0; tick < 40; ++tick) {
        s.step();
        const Vec3 v = linear_velocity(s.bodies, body), w = angular_velocity(s.bodies, body);
        fastest = std::max(fastest, std::hypot(double(v.x), double(v.y), double(v.z)) +
                                        std::hypot(double(w.x), double(w.y), double(w.z)));
    }
    return fastest;
}

template <class Check>
void for_each_limit(Check check) {
    check(
        "distance_limit",
        [](Spring s) {
            return DistanceLimit{{}, {}, 0.2f, 3.0f, s};
        },
        false);
    check(
        "center_distance_limit",
        [](Spring s) {
            return CenterDistanceLimit{0.2f, 3.0f, s};
        },
        false);
    check(
        "linear_axis_limit", [](Spring s) { return LinearAxisLimit{{}, {}, kX, -1.0f, 3.0f, s}; }, false);
    check(
        "slider", [](Spring s) { return limited_slider(s, -1.0f, 3.0f); }, false);
    check(
        "hinge", [](Spring s) { return limited_hinge(s, -1.0f, 1.0f); }, true);
    check(
        "twist_limit", [](Spring s) { return z_twist_limit(s, -1.0f, 1.0f); }, true);
    check(
        "swing_limit",
        [](Spring s) {
            return SwingLimit{kY, kY, 1.2f, s};
        },
        true);
    check(
        "pulley",
        [](Spring s) {
            Pulley pulley;
            pulley.wheel_b = {-1.0f, 0.0f, 0.0f}, pulley.anchor_a = kY, pulley.min_m = 2.0f, pulley.max_m = 4.0f,
            pulley.spring = s;
            return pulley;
        },
        false);
}

}  // namespace

TEST_CASE("a rigid limit leaves alone what moves inside it") {
    for_each_limit([](const char* name, auto make, bool turning) {
        CAPTURE(std::string(name));
        CHECK(fastest_inside(make, turning, 0.0f) == orrery::test::about(2.0, 1e-5));
    });
}

// Where the nearer end changes between the solve pass and relax, the first one's bias must keep its sign.
TEST_CASE("a limit with a spring leaves alone what moves inside it, across the middle of its range, too") {
    for_each_limit([](const char* name, auto make, bool turning) {
        CAPTURE(std::string(name));
        const double fastest = fastest_inside(make, turning, 1.0f);
        if (fastest > 2.001) MESSAGE(std::string(name) << ": what goes at 2 leaves the middle at " << fastest);
        CHECK(fastest == orrery::test::about(2.0, 1e-5));
    });
}

// The lower end of 0 has no direction to hold anything along.
TEST_CASE("a rope is slack where its anchors meet, whichever way it is left") {
    for (const Vec3 down : {Vec3{0.0f, -10.0f, 0.0f}, Vec3{0.0f, 10.0f, 0.0f}, Vec3{10.0f, 0.0f, 0.0f}}) {
        for (const bool centres : {false, true}) {
            Scene s;
            s.input.gravity = down;
            const std::uint32_t body = add_body(s.bodies, swinger());
            s.joints.push_back(centres ? make_joint(kWorldBody, body, CenterDistanceLimit{0.0f, 1.0f, {}})
                                       : make_joint(kWorldBody, body, DistanceLimit{{}, {}, 0.0f, 1.0f, {}}));
            for (int tick = 0; tick < 15; ++tick) s.step();
            const Vec3 v = linear_velocity(s.bodies, body);
            CHECK(std::hypot(double(v.x), double(v.y), double(v.z)) == orrery::test::about(2.5, 1e-4));
        }
    }
}

// Relax must not ask it for rest and take its speed again.
TEST_CASE("a rigid one-body servo pushes with its force, as other servos do") {
    for (const bool grab : {false, true}) {
        Scene s;
        const std::uint32_t body = add_body(s.bodies, swinger());
        const Servo weak{kNoLimit, 0.0f, 21.0f};
        const Vec3 far{100.0f, 0.0f, 0.0f};
        s.joints.push_back(grab ? make_joint(kWorldBody, body, OneBodyLinearServo{{}, far, {}, weak})
                                : make_joint(kWorldBody, body, BallSocketServo{far, {}, {}, weak}));
        for (int tick = 0; tick < 60; ++tick) s.step();
        MESSAGE(std::string(grab ? "grab: " : "ball socket servo: ")
                << linear_velocity(s.bodies, body).x << " m/s after 1 s at 3 m/s^2");
        CHECK(linear_velocity(s.bodies, body).x == orrery::test::about(3.0, 0.01));
    }
}

}  // namespace orrery::sim::test

// ---- Jacobians

namespace orrery::sim::ref {
namespace {

struct Random : testing::Random {
    Random() : testing::Random(815) {}
    float operator()(float low = -1.0f, float high = 1.0f) { return in(low, high); }
    Vec3 vector() { return {(*this)(), (*this)(), (*this)()}; }
    Vec3 unit() {
        for (;;) {
            const Vec3 v = vector();
            const float n = std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
            if (n > 0.3f) return {v.x / n, v.y / n, v.z / n};
        }
    }
};

// Poses in double precision, so that a difference quotient is worth its name.
using V = D3;
using Q = DQuat;
V wide(Vec3 v) { return widened(v); }
double component(V v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }
Q back(Q q) { return conjugate(q); }
V turn(Q q, V v) { return turned(q, v); }
struct DoublePose {
    V position;
    Q orientation;
};
DoublePose random_pose(Random& random) {
    const V at = wide(random.vector()), v = wide(random.vector());
    const double n = 1 / std::sqrt(1 + dot(v, v));
    return {at, {v.x * n, v.y * n, v.z * n, n}};
}
// One of six motions by e: along, then about, a world axis.
DoublePose moved(DoublePose p, int axis, double e) {
    const V unit{axis % 3 == 0 ? 1.0 : 0.0, axis % 3 == 1 ? 1.0 : 0.0, axis % 3 == 2 ? 1.0 : 0.0};
    if (axis < 3) return {p.position + unit * e, p.orientation};
    const V h = unit * std::sin(e / 2);
    return {p.position, Q{h.x, h.y, h.z, std::cos(e / 2)} * p.orientation};
}
PoseT<float> narrow(DoublePose p) {
    const auto f = [](double x) { return static_cast<float>(x); };
    return {{f(p.position.x), f(p.position.y), f(p.position.z)},
            {f(p.orientation.x), f(p.orientation.y), f(p.orientation.z), f(p.orientation.w)}};
}
V gap(DoublePose a, DoublePose b, Vec3 la, Vec3 lb) {
    return (b.position + turn(b.orientation, wide(lb))) - (a.position + turn(a.orientation, wide(la)));
}
V spin(DoublePose from, DoublePose to) {
    const Q q = to.orientation * back(from.orientation);
    return {2 * q.x, 2 * q.y, 2 * q.z};
}
// What the point of a body that is at `arm` from its centre moves by.
V moved_by(DoublePose from, DoublePose to, V arm) {
    return to.position + turn(to.orientation * back(from.orientation), arm) - from.position - arm;
}

enum class Moves { both, b_alone };

// With unit masses the velocities that a unit impulse of a row gives are that row of J. `load` sets a bundle up,
// `set_row` its impulse; `value(row, a, b)` is what the row drives, whose difference quotient J is compared with. Of
// what holds one body A is the world, which nothing moves.
template <class Functions, class Load, class SetRow, class Value>
void check_rows(int rows, DoublePose a, DoublePose b, Moves moves, Load load, SetRow set_row, Value value) {
    const InertiaT<float> unit{{1.0f, 0.0f, 0.0f, 1.0f, 0.0f, 1.0f}, 1.0f};
    StepConstants step{};
    step.dt_s = 1.0f / 60, step.inverse_dt = 60.0f, step.h_s = 1.0f / 240, step.inverse_h = 240.0f;
    step.joint = {80.0f, 0.9f, 0.1f};
    auto held = std::make_unique<std::remove_reference_t<decltype(*load())>>(*load());
    auto& bundle = *held;
    Functions::template prepare<float>(bundle, 0, step);
    Functions::template refresh<float>(bundle, 0, step, narrow(a), narrow(b), unit, unit);
    for (int row = 0; row < rows; ++row) {
        CAPTURE(row);
        set_row(bundle, row);
        VelocityT<float> va{}, vb{};
        Functions::template warm_start<float>(bundle, 0, va, vb);
        const float j[12] = {va.linear.x, va.linear.y, va.linear.z, va.angular.x, va.angular.y, va.angular.z,
                             vb.linear.x, vb.linear.y, vb.linear.z, vb.angular.x, vb.angular.y, vb.angular.z};
        for (int k = moves == Moves::b_alone ? 6 : 0; k < 12; ++k) {
            CAPTURE(k);
            constexpr double e = 1e-5;
            const auto at = [&](double by) {
                return k < 6 ? value(row, moved(a, k, by), b) : value(row, a, moved(b, k - 6, by));
            };
            CHECK(std::abs(double(j[k]) - (at(e) - at(-e)) / (2 * e)) < 2e-5);
        }
    }
}

// A filled bundle of a joint that has no impulse yet.
template <class Bundle, class T>
auto loaded(const T& joint) {
    return [joint] {
        auto bundle = std::make_unique<Bundle>();
        const float none[kMaxJointRows] = {};
        load_lane(*bundle, 0, joint, none);
        return bundle;
    };
}
constexpr auto kOneRow = [](auto& bundle, int) { put(bundle.drive.hold.impulse, 0, 1.0f); };
constexpr auto kThreeRows = [](auto& bundle, int row) {
    put(bundle.impulse, 0, Vec3T<float>{row == 0 ? 1.0f : 0.0f, row == 1 ? 1.0f : 0.0f, row == 2 ? 1.0f : 0.0f});
};

}  // namespace

TEST_CASE("the Jacobian of every motor, and of a grab, is the finite difference of what it drives") {
    Random random;
    for (int trial = 0; trial < 20; ++trial) {
        CAPTURE(trial);
        const DoublePose a = random_pose(random), b = random_pose(random);
        const Vec3 la = random.vector(), lb = random.vector(), target = random.vector();
        const Vec3 axis = random.unit(), normal = random.unit();
        const V world_axis = turn(a.orientation, wide(axis));
        const float ratio = random(-2.0f, 2.0f);
        {
            INFO("one_body_linear_servo");
            check_rows<OneBodyLinearServoFunctions>(
                3, a, b, Moves::b_alone, loaded<OneBodyLinearServoBundle>(OneBodyLinearServo{lb, target, {}, {}}),
                kThreeRows, [&](int row, DoublePose, DoublePose q) {
                    return component(q.position + turn(q.orientation, wide(lb)) - wide(target), row);
                });
        }
        {
            INFO("angular_axis_motor");
            check_rows<AngularAxisMotorFunctions>(
                1, a, b, Moves::both, loaded<AngularAxisMotorBundle>(AngularAxisMotor{axis, 3.0f, {}}),
                [](auto& bundle, int) { put(bundle.impulse, 0, 1.0f); },
                [&](int, DoublePose p, DoublePose q) { return dot(world_axis, spin(b, q) - spin(a, p)); });
        }
        {
            INFO("angular_axis_gear_motor");
            check_rows<AngularAxisGearMotorFunctions>(
                1, a, b, Moves::both, loaded<AngularAxisGearMotorBundle>(AngularAxisGearMotor{axis, ratio, {}}),
                kOneRow, [&](int, DoublePose p, DoublePose q) {
                    return dot(world_axis, spin(b, q) - spin(a, p) * double(ratio));
                });
        }
        {
            INFO("angular_motor, one_body_angular_motor");
            check_rows<AngularMotorFunctions>(
                3, a, b, Moves::both, loaded<AngularMotorBundle>(AngularMotor{target, {}}), kThreeRows,
                [&](int row, DoublePose p, DoublePose q) { return component(spin(b, q) - spin(a, p), row); });
            check_rows<OneBodyAngularMotorFunctions>(
                3, a, b, Moves::b_alone, loaded<OneBodyAngularMotorBundle>(OneBodyAngularMotor{target, {}}), kThreeRows,
                [&](int row, DoublePose, DoublePose q) { return component(spin(b, q), row); });
        }
        {
            INFO("ball_socket_motor, one_body_linear_motor");
            const V arm_b = turn(b.orientation, wide(lb)), arm_a = b.position + arm_b - a.position;
            check_rows<BallSocketMotorFunctions>(
                3, a, b, Moves::both, loaded<BallSocketMotorBundle>(BallSocketMotor{lb, target, {}}), kThreeRows,
                [&](int row, DoublePose p, DoublePose q) {
                    return component(moved_by(b, q, arm_b) - moved_by(a, p, arm_a), row);
                });
            check_rows<OneBodyLinearMotorFunctions>(
                3, a, b, Moves::b_alone, loaded<OneBodyLinearMotorBundle>(OneBodyLinearMotor{lb, target, {}}),
                kThreeRows, [&](int row, DoublePose, DoublePose q) { return component(moved_by(b, q, arm_b), row); });
        }
        const auto offset = [&](int, DoublePose p, DoublePose q) {
            return dot(turn(p.orientation, wide(axis)), gap(p, q, la, lb));
        };
        {
            INFO("linear_axis_motor");
            check_rows<LinearAxisMotorFunctions>(1, a, b, Moves::both,
                                                 loaded<LinearAxisMotorBundle>(LinearAxisMotor{la, lb, axis, 1.0f, {}}),
                                                 kOneRow, offset);
        }
        {
            INFO("slider's limit, drive and motor");
            Slider slider;
            slider.anchor_a = la, slider.anchor_b = lb, slider.axis_a = axis;
            check_rows<SliderFunctions>(
                3, a, b, Moves::both, loaded<SliderBundle>(slider),
                [](auto& bundle, int row) {
                    for (int k = 0; k < 3; ++k) put(bundle.drive[k].hold.impulse, 0, k == row ? 1.0f : 0.0f);
                },
                offset);
        }
        {
            INFO("wheel's drive and brake");
            Wheel wheel;
            wheel.anchor_a = la, wheel.anchor_b = lb, wheel.axle_b = axis;
            const V axle = turn(b.orientation, wide(axis));
            check_rows<WheelFunctions>(
                2, a, b, Moves::both, loaded<WheelBundle>(wheel),
                [](auto& bundle, int row) {
                    for (int k = 0; k < 5; ++k) put(bundle.drive[k].hold.impulse, 0, k == 3 + row ? 1.0f : 0.0f);
                },
                [&](int, DoublePose p, DoublePose q) { return dot(axle, spin(b, q) - spin(a, p)); });
        }
        {
            INFO("twist_motor");
            TwistMotor twist;
            twist.axis_a = axis, twist.axis_b = normal;
            const V across_a = cross(wide(axis), V{0.3, -0.5, 0.9}), across_b = cross(wide(normal), V{-0.4, 0.8, 0.2});
            const auto unit = [](V v) {
                const double n = 1 / std::sqrt(dot(v, v));
                return Vec3{static_cast<float>(v.x * n), static_cast<float>(v.y * n), static_cast<float>(v.z * n)};
            };
            twist.normal_a = unit(across_a), twist.normal_b = unit(across_b);
            if (dot(world_axis, turn(b.orientation, wide(normal))) < -0.5) continue;  // twist loses its meaning there
            check_rows<TwistMotorFunctions>(
                1, a, b, Moves::both, loaded<TwistMotorBundle>(twist), kOneRow, [&](int, DoublePose p, DoublePose q) {
                    // n turned by the shortest way from B's axis to A's: n + c x n + c x (c x n) / (1 + cos), c the
                    // cross of the axes.
                    const V of_a = turn(p.orientation, wide(twist.axis_a)),
                            of_b = turn(q.orientation, wide(twist.axis_b));
                    const V u = turn(p.orientation, wide(twist.normal_a)),
                            n = turn(q.orientation, wide(twist.normal_b));
                    const V c = cross(of_b, of_a),
                            laid = n + cross(c, n) + cross(c, cross(c, n)) * (1 / (1 + dot(of_a, of_b)));
                    return std::atan2(dot(cross(of_a, u), laid), dot(u, laid));
                });
        }
    }
}

}  // namespace orrery::sim::ref
