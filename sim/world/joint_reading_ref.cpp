#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/lanes/quat-inl.h"
#include "sim/lanes/trig-inl.h"
#include "sim/world/joint_reading.h"

namespace orrery::sim::ref {

namespace {

using D3 = Vec3T<double>;
using DQuat = QuatT<double>;

D3 wide(Vec3 v) { return {v.x, v.y, v.z}; }

// A side in the world.
struct Side3 {
    D3 position, linear, angular;
    DQuat turn;
    explicit Side3(const JointSide& side)
        : position(wide(side.pose.position)),
          linear(wide(side.linear_velocity)),
          angular(wide(side.angular_velocity)),
          turn{side.pose.orientation.x, side.pose.orientation.y, side.pose.orientation.z, side.pose.orientation.w} {}
    D3 direction(Vec3 local) const { return rotate(turn, wide(local)); }
};

template <class T, class... List>
constexpr bool kIsOneOf = (std::is_same_v<T, List> || ...);

struct Reader {
    const Side3 a, b;
    JointReading& out;

    // The way from an anchor of A to one of B, and its rate of change.
    struct Way {
        D3 way, rate;
    };
    Way way_between(Vec3 anchor_a, Vec3 anchor_b) const {
        const D3 ra = a.direction(anchor_a), rb = b.direction(anchor_b);
        return {(b.position + rb) - (a.position + ra),
                (b.linear + cross(b.angular, rb)) - (a.linear + cross(a.angular, ra))};
    }
    void set_distance(Vec3 anchor_a, Vec3 anchor_b) {
        const Way w = way_between(anchor_a, anchor_b);
        const double distance = length(w.way);
        out.length_m = static_cast<float>(distance);
        out.speed_mps = static_cast<float>(distance > 0.0 ? dot(w.way, w.rate) / distance : length(w.rate));
    }
    void set_offset(Vec3 anchor_a, Vec3 anchor_b, Vec3 axis_a) {
        const Way w = way_between(anchor_a, anchor_b);
        const D3 axis = a.direction(axis_a);
        out.length_m = static_cast<float>(dot(axis, w.way));
        out.speed_mps = static_cast<float>(dot(axis, w.rate) + dot(cross(a.angular, axis), w.way));
    }
    void set_turn_speed(const D3& axis) { out.turn_speed_radps = static_cast<float>(dot(axis, b.angular - a.angular)); }
    // Of `of` from `from` about the axis.
    void set_angle(const D3& axis, const D3& from, const D3& of) {
        out.angle_rad = static_cast<float>(atan2(dot(cross(from, of), axis), dot(from, of)));
    }
    // See constraints/twist_form-inl.h.
    void set_twist(Vec3 axis_a, Vec3 axis_b, Vec3 normal_a, Vec3 normal_b) {
        const D3 p = a.direction(axis_a), q = b.direction(axis_b);
        const double opening = 1.0 + dot(p, q);
        const D3 u = a.direction(normal_a), v = cross(p, u), n = b.direction(normal_b);
        const double away = dot(p, n);
        out.angle_rad =
            static_cast<float>(atan2(dot(v, n) * opening - away * dot(v, q), dot(u, n) * opening - away * dot(u, q)));
        set_turn_speed((p + q) * (1.0 / max(opening, 1.0e-6)));
    }

    template <class T>
    void operator()(const T& c) {
        if constexpr (kIsOneOf<T, DistanceServo, DistanceLimit>) {
            set_distance(c.anchor_a, c.anchor_b);
        } else if constexpr (kIsOneOf<T, CenterDistance, CenterDistanceLimit>) {
            set_distance({}, {});
        } else if constexpr (kIsOneOf<T, Slider, LinearAxisServo, LinearAxisLimit, LinearAxisMotor, PointOnLineServo>) {
            set_offset(c.anchor_a, c.anchor_b, c.axis_a);
        } else if constexpr (kIsOneOf<T, TwistServo, TwistLimit, TwistMotor>) {
            set_twist(c.axis_a, c.axis_b, c.normal_a, c.normal_b);
        } else if constexpr (kIsOneOf<T, AngularHinge, AngularAxisMotor>) {
            set_turn_speed(a.direction(c.axis_a));
        } else if constexpr (kIsOneOf<T, Hinge>) {
            const D3 axis = a.direction(c.axis_a);
            set_angle(axis, a.direction(c.normal_a), b.direction(c.normal_b));
            set_turn_speed(axis);
        } else if constexpr (kIsOneOf<T, Wheel>) {
            const D3 axle = b.direction(c.axle_b);
            set_offset(c.anchor_a, c.anchor_b, c.suspension_a);
            set_angle(a.direction(c.suspension_a), a.direction(c.axle_a), axle);
            set_turn_speed(axle);
        }
    }
};

}  // namespace

void read_place(const Constraint& constraint, const JointSide& a, const JointSide& b, JointReading& out) {
    std::visit(Reader{Side3(a), Side3(b), out}, constraint);
}

float size_of(const float vector[3]) { return length(Vec3T<float>{vector[0], vector[1], vector[2]}); }

}  // namespace orrery::sim::ref
