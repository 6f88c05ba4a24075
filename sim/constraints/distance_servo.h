#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the distance between two anchors to a target: a spring, or an actuator with a length. Speed and force are
// bounded.
struct DistanceServo {
    Vec3 anchor_a, anchor_b;  // m, local
    float target_m = 1.0f;    // m, at least 0
    Spring spring;
    Servo servo;

    static constexpr auto kTarget = &DistanceServo::target_m;

    template <class Start>
    static double at_start(const DistanceServo& s, const Start& start) {
        return length(start.b(s.anchor_b) - start.a(s.anchor_a));
    }

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.amount("target_m", s.target_m);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
