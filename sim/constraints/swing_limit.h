#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Keeps the angle between an axis of A and an axis of B at max_angle_rad or less: a cone.
struct SwingLimit {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};  // unit, local
    float max_angle_rad = 0.5f;                               // 0 to pi
    Spring spring;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.number("max_angle_rad", s.max_angle_rad, 0.0f, kAboutPi);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
