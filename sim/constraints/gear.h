#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Couples the angles of two bodies, each about an axis of its own: ratio * angle_a = angle_b, as they stood when the joint
// began. By position: load, slip and time do not make it drift. The axes keep their directions in the world: bodies on hinges
// of a frame that stands. On a frame that itself turns about them use an AngularAxisGearMotor.
//
// What is remembered beside the impulse (Joint::impulse): 1, 2 angles of A and B; 3, 4 turns, ratio * those of A - those of B,
// as the sum of two floats, which is exact; 5 the offset of the beginning; 6 the references, A + 8 B (turns-inl.h).
struct Gear {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};  // unit, local
    float ratio = 1.0f;                                       // negative where the wheels turn against each other
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
