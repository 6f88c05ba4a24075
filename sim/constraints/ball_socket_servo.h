#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives a point of B onto a point of A: 3 degrees of freedom. Speed and force are bounded.
struct BallSocketServo {
    Vec3 anchor_a, anchor_b;  // m, local
    Spring spring;
    Servo servo;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
