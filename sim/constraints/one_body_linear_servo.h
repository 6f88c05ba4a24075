#pragma once

#include "sim/constraints/settings.h"
#include "sim/lanes/types.h"

namespace orrery::sim {

// Drives one body's point to a point of the world (a grab): 3 degrees of freedom, force bounded. The body is B of the
// joint; A is the world.
struct OneBodyLinearServo {
    Vec3 anchor_b;  // m, local
    Vec3 target;    // m, world
    Spring spring{5.0f, 1.0f};
    Servo servo;
};

}  // namespace orrery::sim
