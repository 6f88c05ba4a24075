#pragma once

#include "sim/constraints/settings.h"
#include "sim/lanes/types.h"

namespace orrery::sim {

// Holds a point of A on a point of B and their axes parallel: 5 degrees of freedom, solved together, and optionally
// limits the angle of B relative to A about the axis. The angle is 0 when normal_b points along normal_a, grows
// by the right-hand rule about axis_a, and lies in (-pi, pi].
struct Hinge {
    Vec3 anchor_a, anchor_b;                                 // m, local
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};  // unit, local
    Vec3 normal_a{1.0f, 0.0f, 0.0f}, normal_b{1.0f, 0.0f, 0.0f};  // unit, local, perpendicular to the axis
    bool limited = false;
    float min_angle_rad = 0.0f, max_angle_rad = 0.0f;  // -pi <= min <= max <= pi
    Spring spring;        // of the five held degrees
    Spring limit_spring;  // of the limit
};

}  // namespace orrery::sim
