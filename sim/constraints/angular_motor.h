#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the angular velocity of B relative to A: 3 degrees of freedom. The torque is bounded.
struct AngularMotor {
    Vec3 target_radps;  // rad/s, in the frame of A, each component within kMaxAngularSpeed_radps
    Motor motor;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.velocity(Side::a, "target_radps", s.target_radps, kMaxAngularSpeed_radps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
