#pragma once

#include "sim/constraints/settings.h"
#include "sim/lanes/types.h"

namespace orrery::sim {

// Holds a point of A on a point of B: 3 degrees of freedom.
struct BallSocket {
    Vec3 anchor_a;  // m, in the frame of A (the world frame when A is the world)
    Vec3 anchor_b;  // m, in the frame of B
    Spring spring;
};

}  // namespace orrery::sim
