#pragma once

#include "sim/constraints/settings.h"
#include "sim/lanes/types.h"

namespace orrery::sim {

// Drives the angular velocity of B relative to A about an axis: (w_b - w_a) . axis = target_radps, torque bounded.
struct AngularAxisMotor {
    Vec3 axis_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A (the world frame when A is the world)
    float target_radps = 0.0f;
    Motor motor;
};

}  // namespace orrery::sim
