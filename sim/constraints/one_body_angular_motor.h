#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives one body's angular velocity in the world: 3 degrees of freedom. The torque is bounded. The body is B of the
// joint; A is the world.
struct OneBodyAngularMotor {
    Vec3 target_radps;  // rad/s, world, each component within kMaxAngularSpeed_radps
    Motor motor;

    static constexpr int kBodies = 1;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.velocity(Side::a, "target_radps", s.target_radps, kMaxAngularSpeed_radps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
