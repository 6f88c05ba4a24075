#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Keeps the twist of B relative to A about an axis within [min, max]. The shortest rotation that turns axis_b onto
// axis_a leaves a rotation about axis_a between the bodies: its angle is the twist. It is 0 if normal_b then points
// along normal_a, grows by the right-hand rule about axis_a, and lies in (-pi, pi]. If the axes point in opposite
// directions, the twist is not defined; limits, servos and motors of twist fade from 120 degrees between the axes on.
// With a BallSocket and a SwingLimit it makes a cone-twist joint.
struct TwistLimit {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};      // unit, local
    Vec3 normal_a{1.0f, 0.0f, 0.0f}, normal_b{1.0f, 0.0f, 0.0f};  // unit, local, perpendicular to the axis
    float min_angle_rad = 0.0f, max_angle_rad = 0.0f;             // -pi <= min <= max <= pi
    Spring spring;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.direction(Side::a, "normal_a", s.normal_a), v.direction(Side::b, "normal_b", s.normal_b);
        v.number("min_angle_rad", s.min_angle_rad, -kAboutPi, kAboutPi);
        v.number("max_angle_rad", s.max_angle_rad, -kAboutPi, kAboutPi);
        v.spring("spring", s.spring);
        v.perpendicular("normal_a", s.normal_a, "axis_a", s.axis_a);
        v.perpendicular("normal_b", s.normal_b, "axis_b", s.axis_b);
        v.ordered("min_angle_rad", s.min_angle_rad, "max_angle_rad", s.max_angle_rad);
    }
};

}  // namespace orrery::sim
