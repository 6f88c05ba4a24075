#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the angular velocity of B relative to A about an axis: (w_b - w_a) . axis = target_radps. The torque is
// bounded.
struct AngularAxisMotor {
    Vec3 axis_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A (the world frame when A is the world)
    float target_radps = 0.0f;      // rad/s, within kMaxAngularSpeed_radps
    Motor motor;

    static constexpr auto kTarget = &AngularAxisMotor::target_radps;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a);
        v.speed("target_radps", s.target_radps, kMaxAngularSpeed_radps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
