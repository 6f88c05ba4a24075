// Arithmetic of vectors, quaternions and poses, for games and tools. The engine does not use it: it computes over lanes
// (sim/lanes). Single precision, from + - * / and sqrt alone: a program that is built without fast-math and contraction
// gets the same bits everywhere.
#pragma once

#include <cmath>

#include "orrery/types.hpp"

namespace orrery::sim {

// Component by component, in the unit and frame of the operands.
inline Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator-(const Vec3& v) { return {-v.x, -v.y, -v.z}; }
inline Vec3 operator*(const Vec3& v, float s) { return {v.x * s, v.y * s, v.z * s}; }
inline Vec3 operator*(float s, const Vec3& v) { return v * s; }
inline Vec3 operator/(const Vec3& v, float s) { return {v.x / s, v.y / s, v.z / s}; }
inline Vec3& operator+=(Vec3& a, const Vec3& b) { return a = a + b; }
inline Vec3& operator-=(Vec3& a, const Vec3& b) { return a = a - b; }
inline Vec3& operator*=(Vec3& v, float s) { return v = v * s; }

// The scalar product, the vector product, the length of a vector, and the distance of two points.
inline float dot(const Vec3& a, const Vec3& b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
inline Vec3 cross(const Vec3& a, const Vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline float length(const Vec3& v) { return std::sqrt(dot(v, v)); }
inline float distance(const Vec3& a, const Vec3& b) { return length(b - a); }
// The direction of `v`; zero if `v` is zero.
inline Vec3 normalised(const Vec3& v) {
    const float l = length(v);
    return l > 0.0f ? v / l : Vec3{};
}

// Turns by `b`, then by `a`.
inline Quat operator*(const Quat& a, const Quat& b) {
    return {((a.w * b.x + a.x * b.w) + a.y * b.z) - a.z * b.y, ((a.w * b.y - a.x * b.z) + a.y * b.w) + a.z * b.x,
            ((a.w * b.z + a.x * b.y) - a.y * b.x) + a.z * b.w, ((a.w * b.w - a.x * b.x) - a.y * b.y) - a.z * b.z};
}
// The inverse of a quaternion of unit length.
inline Quat conjugate(const Quat& q) { return {-q.x, -q.y, -q.z, q.w}; }
// Of unit length; the identity if `q` is zero.
inline Quat normalised(const Quat& q) {
    const float n = std::sqrt(((q.x * q.x + q.y * q.y) + q.z * q.z) + q.w * q.w);
    return n > 0.0f ? Quat{q.x / n, q.y / n, q.z / n, q.w / n} : Quat{};
}
namespace ref {
// turn_about by the engine's own trigonometry, since that of libm differs between machines.
Quat quat_about(const Vec3& axis, float angle_rad);
}  // namespace ref
// By `angle_rad`, to 16,384 in magnitude, about `axis`, which is of unit length.
inline Quat turn_about(const Vec3& axis, float angle_rad) { return ref::quat_about(axis, angle_rad); }
// `v`, turned by `q`, which is of unit length.
inline Vec3 rotate(const Quat& q, const Vec3& v) {
    const Vec3 u{q.x, q.y, q.z}, t = 2.0f * cross(u, v);
    return (v + q.w * t) + cross(u, t);
}

// A point of the frame of `pose` in the world, and the other way round.
inline Vec3 to_world(const Pose& pose, const Vec3& local) { return pose.position + rotate(pose.orientation, local); }
inline Vec3 to_local(const Pose& pose, const Vec3& world) {
    return rotate(conjugate(pose.orientation), world - pose.position);
}
// `inner`, which stands in the frame of `outer`, in the world; and the pose with inverse(p) * p = {}.
inline Pose operator*(const Pose& outer, const Pose& inner) {
    return {to_world(outer, inner.position), normalised(outer.orientation * inner.orientation)};
}
inline Pose inverse(const Pose& pose) {
    const Quat back = conjugate(pose.orientation);
    return {rotate(back, -pose.position), back};
}

}  // namespace orrery::sim
