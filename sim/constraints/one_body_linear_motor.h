#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the velocity of a point of one body in the world: 3 degrees of freedom. The force is bounded. The body is B of
// the joint; A is the world.
struct OneBodyLinearMotor {
    Vec3 anchor_b;    // m, local
    Vec3 target_mps;  // m/s, world, each component within kMaxLinearSpeed_mps
    Motor motor;

    static constexpr int kBodies = 1;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::b, "anchor_b", s.anchor_b);
        v.velocity(Side::a, "target_mps", s.target_mps, kMaxLinearSpeed_mps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
