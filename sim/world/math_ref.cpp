#include "sim/lanes/ref_pass.h"

#include "orrery/math.hpp"
#include "sim/lanes/trig-inl.h"

namespace orrery::sim::ref {

Quat quat_about(const Vec3& axis, float angle_rad) {
    const SinCos<float> half = sin_cos(0.5f * angle_rad);
    return {axis.x * half.sin, axis.y * half.sin, axis.z * half.sin, half.cos};
}

}  // namespace orrery::sim::ref
