// Geometry for loading, in double precision, rounded to float once. It uses only operations that are correctly rounded
// everywhere (+ - * / sqrt, and the exact fmod) and its own sine and cosine. So a scene loads to the same bits on every
// machine.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/shapes/double3.h"

namespace orrery::protocol::scene {

using sim::ref::D3;
using sim::ref::DQuat;
using sim::ref::narrowed;
using sim::ref::widened;

inline D3 rotate(DQuat q, D3 v) {
    const D3 u{q.x, q.y, q.z};
    const D3 t = 2.0 * cross(u, v);
    return v + q.w * t + cross(u, t);
}

inline constexpr double kRadiansADegree = 3.14159265358979323846 / 180.0;

struct SinCos {
    double sine = 0.0, cosine = 1.0;
};
// Of an angle in degrees. Exact at multiples of 90, otherwise within 2 units in the last place.
SinCos sin_cos_deg(double angle_deg);

// The rotation about world x, then y, then z.
DQuat from_rotation_deg(D3 angles_deg);

// A unit vector perpendicular to a unit vector.
D3 any_perpendicular(D3 unit);

// The random numbers of the benchmark scenes: the upper 24 bits of a 32-bit linear congruential generator, as [0, 1).
class Lcg {
  public:
    explicit Lcg(std::uint32_t seed) : state_(seed) {}
    double unit() {
        state_ = state_ * 1664525u + 1013904223u;
        return static_cast<double>(state_ >> 8) / 16777216.0;
    }
    // Four values in [-1, 1) as x, y, z, w, repeated until 0.01 < |q|^2 < 1, then normalised.
    DQuat rotation();

  private:
    std::uint32_t state_;
};

}  // namespace orrery::protocol::scene
