// Geometry for loading, in double precision, rounded to float once. It uses only operations that are correctly rounded
// everywhere (+ - * / sqrt, and the exact fmod) and its own sine and cosine. So a scene loads to the same bits on every
// machine.
#pragma once

#include <cmath>
#include <cstdint>

#include "orrery/types.hpp"

namespace orrery::protocol::scene {

struct DVec {
    double x = 0.0, y = 0.0, z = 0.0;
};
struct DQuat {
    double x = 0.0, y = 0.0, z = 0.0, w = 1.0;
};

inline DVec operator+(DVec a, DVec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline DVec operator-(DVec a, DVec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline DVec operator*(double s, DVec a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(DVec a, DVec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline DVec cross(DVec a, DVec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double length(DVec a) { return std::sqrt(dot(a, a)); }

inline DQuat conjugate(DQuat q) { return {-q.x, -q.y, -q.z, q.w}; }
inline DQuat operator*(DQuat a, DQuat b) {
    return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
inline double norm_squared(DQuat q) { return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w; }
inline DQuat normalized(DQuat q) {
    const double scale = 1.0 / std::sqrt(norm_squared(q));
    return {q.x * scale, q.y * scale, q.z * scale, q.w * scale};
}
inline DVec rotate(DQuat q, DVec v) {
    const DVec u{q.x, q.y, q.z};
    const DVec t = 2.0 * cross(u, v);
    return v + q.w * t + cross(u, t);
}

inline DVec to_double(const sim::Vec3& v) { return {v.x, v.y, v.z}; }
inline DQuat to_double(const sim::Quat& q) { return {q.x, q.y, q.z, q.w}; }
inline sim::Vec3 to_float(DVec v) {
    return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}
inline sim::Quat to_float(DQuat q) {
    return {static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z), static_cast<float>(q.w)};
}

inline constexpr double kRadiansADegree = 3.14159265358979323846 / 180.0;

struct SinCos {
    double sine = 0.0, cosine = 1.0;
};
// Of an angle in degrees. Exact at multiples of 90, otherwise within 2 units in the last place.
SinCos sin_cos_deg(double angle_deg);

// The rotation about world x, then y, then z.
DQuat from_rotation_deg(DVec angles_deg);

// A unit vector perpendicular to a unit vector.
DVec any_perpendicular(DVec unit);

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
