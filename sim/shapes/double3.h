// Vectors, rotations and poses of double precision, for what runs once a world or once a pair rather than in lanes:
// hulls, mass properties, distances of general convex shapes, scenes. Plain IEEE arithmetic and square roots only, in a
// fixed order.
#pragma once

#include "orrery/types.hpp"

namespace orrery::sim::ref {

struct D3 {
    double x = 0.0, y = 0.0, z = 0.0;
};

inline D3 operator+(D3 a, D3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline D3 operator-(D3 a, D3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline D3 operator-(D3 a) { return {-a.x, -a.y, -a.z}; }
inline D3 operator*(D3 a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline D3 operator*(double s, D3 a) { return a * s; }
inline double dot(D3 a, D3 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
inline D3 cross(D3 a, D3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double length(D3 a) { return __builtin_sqrt(dot(a, a)); }
inline double absolute(double x) { return __builtin_fabs(x); }
inline double smaller(double a, double b) { return a < b ? a : b; }
inline double larger(double a, double b) { return b < a ? a : b; }
inline double clamped(double x, double low, double high) { return smaller(larger(x, low), high); }
// The unit vector along v, or `fallback` where v is too short to point anywhere.
inline D3 unit_or(D3 v, D3 fallback) {
    const double n = length(v);
    return n > 1e-150 ? v * (1.0 / n) : fallback;
}
// Some unit vector at right angles to the unit vector u.
inline D3 across(D3 u) {
    const D3 v = absolute(u.x) < 0.6 ? D3{0.0, u.z, -u.y} : D3{-u.z, 0.0, u.x};
    return v * (1.0 / length(v));
}
// The unit vector along v, or some unit vector at right angles to u where v is too short.
inline D3 unit_or_across(D3 v, D3 u) {
    const double n = length(v);
    return n > 1e-150 ? v * (1.0 / n) : across(u);
}

inline D3 widened(Vec3 v) { return {v.x, v.y, v.z}; }
inline Vec3 narrowed(D3 v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }

struct DAxes {
    D3 x{1.0, 0.0, 0.0}, y{0.0, 1.0, 0.0},
        z{0.0, 0.0, 1.0};  // of a body, in the outer frame: the columns of its rotation
};
inline D3 outward(const DAxes& a, D3 v) { return (a.x * v.x + a.y * v.y) + a.z * v.z; }
inline D3 inward(const DAxes& a, D3 v) { return {dot(a.x, v), dot(a.y, v), dot(a.z, v)}; }

struct DQuat {
    double x = 0.0, y = 0.0, z = 0.0, w = 1.0;
};
inline DQuat widened(Quat q) { return {q.x, q.y, q.z, q.w}; }
inline double norm_squared(DQuat q) { return ((q.x * q.x + q.y * q.y) + q.z * q.z) + q.w * q.w; }
inline DQuat normalized(DQuat q) {
    const double by = 1.0 / __builtin_sqrt(norm_squared(q));
    return {q.x * by, q.y * by, q.z * by, q.w * by};
}
// Normalises what single precision left of unit length.
inline DQuat normalized(Quat q) { return normalized(widened(q)); }
inline DQuat conjugate(DQuat q) { return {-q.x, -q.y, -q.z, q.w}; }
// First q, then p.
inline DQuat operator*(DQuat p, DQuat q) {
    return {((p.w * q.x + p.x * q.w) + p.y * q.z) - p.z * q.y, ((p.w * q.y - p.x * q.z) + p.y * q.w) + p.z * q.x,
            ((p.w * q.z + p.x * q.y) - p.y * q.x) + p.z * q.w, ((p.w * q.w - p.x * q.x) - p.y * q.y) - p.z * q.z};
}
inline Quat narrowed(DQuat q) {
    return {static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z), static_cast<float>(q.w)};
}

// Normalises what single precision left of unit length.
inline DAxes axes_of_turn(DQuat q) {
    const double qx = q.x, qy = q.y, qz = q.z, qw = q.w;
    const double s = 2.0 / (((qx * qx + qy * qy) + qz * qz) + qw * qw);
    const double xx = s * qx * qx, yy = s * qy * qy, zz = s * qz * qz, xy = s * qx * qy, xz = s * qx * qz,
                 yz = s * qy * qz;
    const double wx = s * qw * qx, wy = s * qw * qy, wz = s * qw * qz;
    return {
        {1.0 - (yy + zz), xy + wz, xz - wy}, {xy - wz, 1.0 - (xx + zz), yz + wx}, {xz + wy, yz - wx, 1.0 - (xx + yy)}};
}

inline DAxes axes_of(Quat q) { return axes_of_turn(widened(q)); }

struct DPose {
    D3 position;
    DAxes axes;
};
inline D3 outward(const DPose& p, D3 point) { return p.position + outward(p.axes, point); }
inline D3 inward(const DPose& p, D3 point) { return inward(p.axes, point - p.position); }
inline DPose inverse(const DPose& p) {
    const DAxes& a = p.axes;
    return {-inward(a, p.position), {{a.x.x, a.y.x, a.z.x}, {a.x.y, a.y.y, a.z.y}, {a.x.z, a.y.z, a.z.z}}};
}
inline DAxes outward(const DAxes& a, const DAxes& b) { return {outward(a, b.x), outward(a, b.y), outward(a, b.z)}; }
inline DPose outward(const DPose& p, const DPose& inner) {
    return {outward(p, inner.position), outward(p.axes, inner.axes)};
}
// The pose of q in p's frame.
inline DPose relative(const DPose& p, const DPose& q) {
    return {inward(p, q.position), {inward(p.axes, q.axes.x), inward(p.axes, q.axes.y), inward(p.axes, q.axes.z)}};
}

}  // namespace orrery::sim::ref
