#pragma once

#include "sim/constraints/settings.h"
#include "sim/lanes/types.h"

namespace orrery::sim {

// Keeps the distance of two anchors within [min, max]: a rope when min = 0, a rod when min = max.
struct DistanceLimit {
    Vec3 anchor_a, anchor_b;  // m, local
    float min_m = 0.0f, max_m = 1.0f;
    Spring spring;
};

}  // namespace orrery::sim
