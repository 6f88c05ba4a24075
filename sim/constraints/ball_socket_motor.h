#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the velocity of a point of B relative to the point of A at the same place: 3 degrees of freedom. The force is
// bounded.
struct BallSocketMotor {
    Vec3 anchor_b;    // m, local
    Vec3 target_mps;  // in the frame of A
    Motor motor;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::b, "anchor_b", s.anchor_b);
        v.velocity(Side::a, "target_mps", s.target_mps, kMaxLinearSpeed_mps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
