#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the velocity of a point of B relative to the point of A that coincides with it: 3 degrees of freedom. The
// force is bounded.
struct BallSocketMotor {
    Vec3 anchor_b;    // m, local
    Vec3 target_mps;  // m/s, in the frame of A, each component within kMaxLinearSpeed_mps
    Motor motor;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::b, "anchor_b", s.anchor_b);
        v.velocity(Side::a, "target_mps", s.target_mps, kMaxLinearSpeed_mps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
