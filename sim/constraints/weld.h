#pragma once

#include "sim/constraints/settings.h"
#include "sim/lanes/types.h"

namespace orrery::sim {

// Holds the full relative pose of two bodies: 6 degrees of freedom, solved as one 6x6 block.
struct Weld {
    Vec3 anchor_a, anchor_b;     // m, local
    Quat relative_orientation;   // B in the frame of A: orientation_b = orientation_a * relative_orientation
    Spring spring;
};

}  // namespace orrery::sim
