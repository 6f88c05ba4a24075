#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives a point of one body to a point of the world (a grab): 3 degrees of freedom. Speed and force are bounded. The
// body is B of the joint; A is the world.
struct OneBodyLinearServo {
    Vec3 anchor_b;  // m, local
    Vec3 target;    // m, world
    Spring spring{5.0f, 1.0f};
    Servo servo;

    static constexpr int kBodies = 1;
    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::b, "anchor_b", s.anchor_b), v.point(Side::a, "target", s.target);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
