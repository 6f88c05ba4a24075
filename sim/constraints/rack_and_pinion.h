#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Couples the angle of a pinion, body A, about an axis of its own with the travel of a rack, body B, along one of its own:
// radius * angle = travel, as they stood when the joint began. The travel is that of B's centre from A's. By position, as a
// Gear.
//
// What is remembered beside the impulse (Joint::impulse): 1 angle of A, 2 its turns, 3 the offset of the beginning, 4 the
// reference (turns-inl.h).
struct RackAndPinion {
    Vec3 axis_a{0.0f, 0.0f, 1.0f};  // unit, local: the pinion's
    Vec3 axis_b{1.0f, 0.0f, 0.0f};  // unit, local: where the rack goes when the pinion turns by the right-hand rule
    float radius_m = 0.1f;          // negative: it goes the other way
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
