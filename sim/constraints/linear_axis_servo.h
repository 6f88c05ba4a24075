#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the offset of a point of B from a point of A, along an axis of A. Speed and force are bounded.
struct LinearAxisServo {
    Vec3 anchor_a, anchor_b;        // m, local
    Vec3 axis_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A
    float target_m = 0.0f;          // m, within kMaxTravel_m
    Spring spring;
    Servo servo;

    static constexpr auto kTarget = &LinearAxisServo::target_m;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "axis_a", s.axis_a);
        v.number("target_m", s.target_m, -kMaxTravel_m, kMaxTravel_m);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
