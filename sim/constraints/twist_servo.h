#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the twist of B relative to A (see TwistLimit) to an angle. Speed and torque are bounded. Beside a Hinge of the
// same bodies and axes it is the spring or servo of the hinge's angle.
struct TwistServo {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};      // unit, local
    Vec3 normal_a{1.0f, 0.0f, 0.0f}, normal_b{1.0f, 0.0f, 0.0f};  // unit, local, perpendicular to the axis
    float target_rad = 0.0f;                                      // -pi to pi
    Spring spring;
    Servo servo;

    static constexpr auto kTarget = &TwistServo::target_rad;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.direction(Side::a, "normal_a", s.normal_a), v.direction(Side::b, "normal_b", s.normal_b);
        v.number("target_rad", s.target_rad, -kAboutPi, kAboutPi);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
        v.perpendicular("normal_a", s.normal_a, "axis_a", s.axis_a);
        v.perpendicular("normal_b", s.normal_b, "axis_b", s.axis_b);
    }
};

}  // namespace orrery::sim
