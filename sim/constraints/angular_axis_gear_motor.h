#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Couples the angular velocities of two bodies about an axis of A: w_b . axis = ratio (w_a . axis). The torque is
// bounded. It couples velocities only, so that an error of the angle stays; a Gear couples angles.
struct AngularAxisGearMotor {
    Vec3 axis_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A
    float ratio = 1.0f;             // within kMaxRatio
    Motor motor;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a);
        v.number("ratio", s.ratio, -kMaxRatio, kMaxRatio);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
