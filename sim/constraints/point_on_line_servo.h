#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives a point of B onto a line of A: 2 degrees of freedom. Speed and force are bounded.
struct PointOnLineServo {
    Vec3 anchor_a, anchor_b;        // m, local; the line goes through anchor_a
    Vec3 axis_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A: along the line
    Spring spring;
    Servo servo;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "axis_a", s.axis_a);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
