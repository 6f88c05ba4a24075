#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the orientation of B relative to A: 3 degrees of freedom. Speed and torque are bounded.
struct AngularServo {
    Quat relative_orientation;  // B in the frame of A: orientation_b = orientation_a * relative_orientation
    Spring spring;
    Servo servo;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.turn("relative_orientation", s.relative_orientation);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
