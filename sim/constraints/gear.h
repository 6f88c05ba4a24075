#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Couples the angles of two bodies, each about its own axis: ratio * angle_a = angle_b, both counted from the moment at
// which the joint is made. It couples angles and not only velocities, so that the angles do not drift apart, under load
// or with time. The axes must keep their directions in the world, as in a frame that does not turn. If the frame turns
// the axes, use an AngularAxisGearMotor.
//
// Internal state beside the impulse in Joint::impulse: 1, 2: the angles of A and B. 3, 4: turns, ratio * those of A
// minus those of B, as an exact sum of two floats. 5: the offset at the start. 6: the references, A + 8 B
// (turns-inl.h).
struct Gear {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};  // unit, local
    float ratio = 1.0f;  // negative if they turn in opposite directions; within kMaxRatio
    Spring spring;

    static constexpr int kFirstState = 1;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.number("ratio", s.ratio, -kMaxRatio, kMaxRatio);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
