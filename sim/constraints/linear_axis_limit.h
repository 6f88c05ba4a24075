#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Keeps the offset of a point of B from a point of A, along an axis of A, within [min, max].
struct LinearAxisLimit {
    Vec3 anchor_a, anchor_b;           // m, local
    Vec3 axis_a{0.0f, 1.0f, 0.0f};     // unit, in the frame of A
    float min_m = 0.0f, max_m = 0.0f;  // m, min <= max, both within kMaxTravel_m
    Spring spring;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "axis_a", s.axis_a);
        v.number("min_m", s.min_m, -kMaxTravel_m, kMaxTravel_m),
            v.number("max_m", s.max_m, -kMaxTravel_m, kMaxTravel_m);
        v.spring("spring", s.spring);
        v.ordered("min_m", s.min_m, "max_m", s.max_m);
    }
};

}  // namespace orrery::sim
