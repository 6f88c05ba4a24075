#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Holds a point of A on a point of B and their axes parallel: 5 degrees of freedom, solved together. Optionally it
// limits the angle of B relative to A about the axis. The angle is 0 if normal_b points along normal_a, grows by the
// right-hand rule about axis_a, and lies in (-pi, pi].
struct Hinge {
    Vec3 anchor_a, anchor_b;                                      // m, local
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};      // unit, local
    Vec3 normal_a{1.0f, 0.0f, 0.0f}, normal_b{1.0f, 0.0f, 0.0f};  // unit, local, perpendicular to the axis
    bool limited = false;                                         // true: the angle is limited
    float min_angle_rad = 0.0f, max_angle_rad = 0.0f;             // -pi <= min <= max <= pi
    Spring spring;                                                // of the five held degrees of freedom
    Spring limit_spring;                                          // of the limit

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.direction(Side::a, "normal_a", s.normal_a), v.direction(Side::b, "normal_b", s.normal_b);
        v.flag(s.limited);
        v.number("min_angle_rad", s.min_angle_rad, -kAboutPi, kAboutPi);
        v.number("max_angle_rad", s.max_angle_rad, -kAboutPi, kAboutPi);
        v.spring("spring", s.spring), v.spring("limit_spring", s.limit_spring);
        v.perpendicular("normal_a", s.normal_a, "axis_a", s.axis_a);
        v.perpendicular("normal_b", s.normal_b, "axis_b", s.axis_b);
        v.ordered("min_angle_rad", s.min_angle_rad, "max_angle_rad", s.max_angle_rad);
    }
};

}  // namespace orrery::sim
