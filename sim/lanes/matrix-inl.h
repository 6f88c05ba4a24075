// Matrices of lane numbers: 3x3 and 2x3 by rows, symmetric 2x2, 3x3 and 6x6 by their upper triangle.

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
ORRERY_FN Vec3T<F> operator*(const Mat3T<F>& m, Vec3T<F> v) {
    return {dot(m.x, v), dot(m.y, v), dot(m.z, v)};
}
template <class F>
ORRERY_FN Vec3T<F> transpose_times(const Mat3T<F>& m, Vec3T<F> v) {
    return (m.x * v.x + m.y * v.y) + m.z * v.z;
}

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
    return {
        {one - (yy + zz), xy - wz, xz + wy}, {xy + wz, one - (xx + zz), yz - wx}, {xz - wy, yz + wx, one - (xx + yy)}};
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

template <class F>
ORRERY_FN Mat3T<F> operator*(const Mat3T<F>& a, const Mat3T<F>& b) {
    return {transpose_times(b, a.x), transpose_times(b, a.y), transpose_times(b, a.z)};
}
template <class F>
ORRERY_FN Mat3T<F> operator+(const Mat3T<F>& a, const Mat3T<F>& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class F>
ORRERY_FN Mat3T<F> transpose(const Mat3T<F>& m) {
    return {{m.x.x, m.y.x, m.z.x}, {m.x.y, m.y.y, m.z.y}, {m.x.z, m.y.z, m.z.z}};
}
// The matrix of v x.
template <class F>
ORRERY_FN Mat3T<F> cross_matrix(Vec3T<F> v) {
    const F zero(0.0f);
    return {{zero, -v.z, v.y}, {v.z, zero, -v.x}, {-v.y, v.x, zero}};
}
template <class F>
ORRERY_FN Mat3T<F> to_full(const Sym3T<F>& m) {
    return {{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}};
}

// A S A^T for a symmetric S.
template <class F>
ORRERY_FN Sym3T<F> sandwich(const Mat3T<F>& a, const Sym3T<F>& s) {
    const Vec3T<F> x = s * a.x, y = s * a.y, z = s * a.z;
    return {dot(x, a.x), dot(x, a.y), dot(x, a.z), dot(y, a.y), dot(y, a.z), dot(z, a.z)};
}
// [v]x S [v]x^T: what a lever arm v makes of an inverse inertia.
template <class F>
ORRERY_FN Sym3T<F> lever_sandwich(Vec3T<F> v, const Sym3T<F>& s) {
    return sandwich(cross_matrix(v), s);
}
template <class F>
ORRERY_FN Sym3T<F> add_diagonal(const Sym3T<F>& m, F d) {
    return {m.xx + d, m.xy, m.xz, m.yy + d, m.yz, m.zz + d};
}

template <class F>
struct Vec2T {
    F x, y;
};
template <class F>
struct Sym2T {
    F xx, xy, yy;
};
template <class F>
ORRERY_FN Vec2T<F> operator*(const Sym2T<F>& m, Vec2T<F> v) {
    return {m.xx * v.x + m.xy * v.y, m.xy * v.x + m.yy * v.y};
}
template <class F>
ORRERY_FN Sym2T<F> inverse(const Sym2T<F>& m) {
    const F scale = F(1.0f) / (m.xx * m.yy - m.xy * m.xy);
    return {m.yy * scale, -(m.xy * scale), m.xx * scale};
}

template <class F>
struct Mat23T {
    Vec3T<F> x, y;  // rows
};
template <class F>
ORRERY_FN Vec2T<F> operator*(const Mat23T<F>& m, Vec3T<F> v) {
    return {dot(m.x, v), dot(m.y, v)};
}
template <class F>
ORRERY_FN Vec3T<F> transpose_times(const Mat23T<F>& m, Vec2T<F> v) {
    return m.x * v.x + m.y * v.y;
}
template <class F>
ORRERY_FN Sym2T<F> sandwich(const Mat23T<F>& a, const Sym3T<F>& s) {
    const Vec3T<F> x = s * a.x, y = s * a.y;
    return {dot(x, a.x), dot(x, a.y), dot(y, a.y)};
}

// [a b; b^T d]: the inverse effective mass of a constraint with three linear and three angular rows.
template <class F>
struct Sym6T {
    Sym3T<F> a;
    Mat3T<F> b;
    Sym3T<F> d;
};
template <class F>
struct Vec6T {
    Vec3T<F> linear, angular;
};
template <class F>
ORRERY_FN Vec6T<F> operator*(const Sym6T<F>& m, const Vec6T<F>& v) {
    return {m.a * v.linear + m.b * v.angular, transpose_times(m.b, v.linear) + m.d * v.angular};
}
// By blocks: with S = d - b^T a^-1 b, the inverse is [a^-1 + (a^-1 b) S^-1 (a^-1 b)^T, -(a^-1 b) S^-1; ., S^-1].
template <class F>
ORRERY_FN Sym6T<F> inverse(const Sym6T<F>& m) {
    const Sym3T<F> a_inverse = inverse(m.a);
    const Mat3T<F> bt = transpose(m.b);
    const Sym3T<F> bab = sandwich(bt, a_inverse);
    const Sym3T<F> s = inverse(
        Sym3T<F>{m.d.xx - bab.xx, m.d.xy - bab.xy, m.d.xz - bab.xz, m.d.yy - bab.yy, m.d.yz - bab.yz, m.d.zz - bab.zz});
    const Mat3T<F> ab = to_full(a_inverse) * m.b;
    const Mat3T<F> abs_ = ab * to_full(s);
    return {a_inverse + sandwich(ab, s), {-abs_.x, -abs_.y, -abs_.z}, s};
}

// 1 / x, or 0 where x is not positive: a row that moves nothing (both bodies fixed or locked along it, or padding).
template <class F>
ORRERY_FN F inverse_or_zero(F x) {
    const MaskOf<F> usable = x > F(0.0f);
    return select(usable, F(1.0f) / select(usable, x, F(1.0f)), F(0.0f));
}
// The same for symmetric blocks that are positive definite unless they move nothing.
template <class F>
ORRERY_FN Sym2T<F> inverse_or_zero(const Sym2T<F>& m) {
    const F scale = inverse_or_zero(m.xx * m.yy - m.xy * m.xy);
    return {m.yy * scale, -(m.xy * scale), m.xx * scale};
}
template <class F>
ORRERY_FN Sym3T<F> inverse_or_zero(const Sym3T<F>& m) {
    const F xx = m.yy * m.zz - m.yz * m.yz, xy = m.xz * m.yz - m.xy * m.zz, xz = m.xy * m.yz - m.xz * m.yy;
    const F yy = m.xx * m.zz - m.xz * m.xz, yz = m.xy * m.xz - m.xx * m.yz, zz = m.xx * m.yy - m.xy * m.xy;
    const F scale = inverse_or_zero((m.xx * xx + m.xy * xy) + m.xz * xz);
    return {xx * scale, xy * scale, xz * scale, yy * scale, yz * scale, zz * scale};
}

ORRERY_LANES_END

#endif
