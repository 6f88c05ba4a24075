#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Holds an axis of A parallel to an axis of B, in the same direction: 2 degrees of freedom, the rotational part of a
// hinge.
struct AngularHinge {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};  // unit, local
    Spring spring;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
