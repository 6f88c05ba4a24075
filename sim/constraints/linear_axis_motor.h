#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the rate of change of the offset of a point of B from a point of A, along an axis of A. The force is bounded.
struct LinearAxisMotor {
    Vec3 anchor_a, anchor_b;        // m, local
    Vec3 axis_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A
    float target_mps = 0.0f;        // m/s, within kMaxLinearSpeed_mps
    Motor motor;

    static constexpr auto kTarget = &LinearAxisMotor::target_mps;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "axis_a", s.axis_a);
        v.speed("target_mps", s.target_mps, kMaxLinearSpeed_mps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
