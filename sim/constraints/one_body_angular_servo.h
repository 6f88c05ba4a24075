#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives one body's orientation in the world: 3 degrees of freedom. Speed and torque are bounded. The body is B of the
// joint; A is the world.
struct OneBodyAngularServo {
    Quat target_orientation;  // unit; body to world
    Spring spring{5.0f, 1.0f};
    Servo servo;

    static constexpr int kBodies = 1;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.turn("target_orientation", s.target_orientation);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
