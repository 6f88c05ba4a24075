// 3x3 matrices (rows) and symmetric 3x3 matrices of lane numbers.

#if defined(ORRERY_LANES_MATRIX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_LANES_MATRIX_INL_H_
#undef ORRERY_LANES_MATRIX_INL_H_
#else
#define ORRERY_LANES_MATRIX_INL_H_
#endif

#include "sim/lanes/quat-inl.h"

ORRERY_LANES_BEGIN

template <class F>
struct Mat3T {
    Vec3T<F> x, y, z;  // rows
};

template <class F>
struct Sym3T {
    F xx, xy, xz, yy, yz, zz;
};

template <class F>
ORRERY_FN Vec3T<F> operator*(const Mat3T<F>& m, Vec3T<F> v) { return {dot(m.x, v), dot(m.y, v), dot(m.z, v)}; }
template <class F>
ORRERY_FN Vec3T<F> transpose_times(const Mat3T<F>& m, Vec3T<F> v) { return (m.x * v.x + m.y * v.y) + m.z * v.z; }

template <class F>
ORRERY_FN Vec3T<F> operator*(const Sym3T<F>& m, Vec3T<F> v) {
    return {(m.xx * v.x + m.xy * v.y) + m.xz * v.z, (m.xy * v.x + m.yy * v.y) + m.yz * v.z,
            (m.xz * v.x + m.yz * v.y) + m.zz * v.z};
}
template <class F>
ORRERY_FN Sym3T<F> operator+(const Sym3T<F>& a, const Sym3T<F>& b) {
    return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}

// The rotation matrix of a unit quaternion, in the x2 = x + x form.
template <class F>
ORRERY_FN Mat3T<F> to_matrix(QuatT<F> q) {
    const F x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    const F xx = q.x * x2, xy = q.x * y2, xz = q.x * z2, yy = q.y * y2, yz = q.y * z2, zz = q.z * z2;
    const F wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    const F one(1.0f);
    return {{one - (yy + zz), xy - wz, xz + wy}, {xy + wz, one - (xx + zz), yz - wx}, {xz - wy, yz + wx, one - (xx + yy)}};
}

// R diag(d) R^T: a body's world inverse inertia from its principal one.
template <class F>
ORRERY_FN Sym3T<F> rotate_diagonal(const Mat3T<F>& r, Vec3T<F> d) {
    const Vec3T<F> x{r.x.x * d.x, r.x.y * d.y, r.x.z * d.z};
    const Vec3T<F> y{r.y.x * d.x, r.y.y * d.y, r.y.z * d.z};
    const Vec3T<F> z{r.z.x * d.x, r.z.y * d.y, r.z.z * d.z};
    return {dot(x, r.x), dot(x, r.y), dot(x, r.z), dot(y, r.y), dot(y, r.z), dot(z, r.z)};
}

// Inverse by six cofactors and one division.
template <class F>
ORRERY_FN Sym3T<F> inverse(const Sym3T<F>& m) {
    const F xx = m.yy * m.zz - m.yz * m.yz, xy = m.xz * m.yz - m.xy * m.zz, xz = m.xy * m.yz - m.xz * m.yy;
    const F yy = m.xx * m.zz - m.xz * m.xz, yz = m.xy * m.xz - m.xx * m.yz, zz = m.xx * m.yy - m.xy * m.xy;
    const F scale = F(1.0f) / ((m.xx * xx + m.xy * xy) + m.xz * xz);
    return {xx * scale, xy * scale, xz * scale, yy * scale, yz * scale, zz * scale};
}

ORRERY_LANES_END

#endif
