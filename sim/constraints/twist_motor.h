#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the rate at which B twists relative to A (see TwistLimit). The torque is bounded.
struct TwistMotor {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};      // unit, local
    Vec3 normal_a{1.0f, 0.0f, 0.0f}, normal_b{1.0f, 0.0f, 0.0f};  // unit, local, perpendicular to the axis
    float target_radps = 0.0f;                                    // rad/s, within kMaxAngularSpeed_radps
    Motor motor;

    static constexpr auto kTarget = &TwistMotor::target_radps;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.direction(Side::a, "normal_a", s.normal_a), v.direction(Side::b, "normal_b", s.normal_b);
        v.speed("target_radps", s.target_radps, kMaxAngularSpeed_radps);
        v.motor("motor", s.motor);
        v.perpendicular("normal_a", s.normal_a, "axis_a", s.axis_a);
        v.perpendicular("normal_b", s.normal_b, "axis_b", s.axis_b);
    }
};

}  // namespace orrery::sim
