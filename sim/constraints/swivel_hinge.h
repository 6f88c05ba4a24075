#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Holds a point of A on a point of B, and an axis of A perpendicular to an axis of B. This is a universal joint: 4
// degrees of freedom, solved together.
struct SwivelHinge {
    Vec3 anchor_a, anchor_b;                                  // m, local
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{1.0f, 0.0f, 0.0f};  // unit, local
    Spring spring;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
