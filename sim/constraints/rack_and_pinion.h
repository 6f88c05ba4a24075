#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Couples the angle of a pinion, body A, about its own axis with the travel of a rack, body B, along its own axis:
// radius * angle = travel, counted from the moment at which the joint is made. The travel is that of B's centre of mass
// relative to A's. It couples positions and not only velocities, as a Gear does.
//
// Internal state beside the impulse in Joint::impulse: 1: the angle of A. 2: its turns. 3: the offset at the start. 4:
// the reference (turns-inl.h).
struct RackAndPinion {
    Vec3 axis_a{0.0f, 0.0f, 1.0f};  // unit, local: the axis of the pinion
    Vec3 axis_b{1.0f, 0.0f, 0.0f};  // unit, local: direction of the rack when the pinion turns by the right-hand rule
    float radius_m = 0.1f;          // m, within kMaxRatio; negative: the rack moves the other way
    Spring spring;

    static constexpr int kFirstState = 1;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.number("radius_m", s.radius_m, -kMaxRatio, kMaxRatio);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
