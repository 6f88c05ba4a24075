// Unit quaternions x, y, z, w, body to world.

#if defined(ORRERY_LANES_QUAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_LANES_QUAT_INL_H_
#undef ORRERY_LANES_QUAT_INL_H_
#else
#define ORRERY_LANES_QUAT_INL_H_
#endif

#include "sim/lanes/vec3-inl.h"

ORRERY_LANES_BEGIN

template <class F>
struct QuatT {
    F x, y, z, w;
};

template <class F>
ORRERY_FN QuatT<F> splat(Quat q) {
    return {F(q.x), F(q.y), F(q.z), F(q.w)};
}
template <class F>
ORRERY_FN QuatT<F> conjugate(QuatT<F> q) {
    return {-q.x, -q.y, -q.z, q.w};
}

// Hamilton product: rotates by b, then by a.
template <class F>
ORRERY_FN QuatT<F> operator*(QuatT<F> a, QuatT<F> b) {
    return {((a.w * b.x + a.x * b.w) + a.y * b.z) - a.z * b.y, ((a.w * b.y - a.x * b.z) + a.y * b.w) + a.z * b.x,
            ((a.w * b.z + a.x * b.y) - a.y * b.x) + a.z * b.w, ((a.w * b.w - a.x * b.x) - a.y * b.y) - a.z * b.z};
}

// v + 2w (u x v) + 2 u x (u x v), with t = 2 (u x v).
template <class F>
ORRERY_FN Vec3T<F> rotate(QuatT<F> q, Vec3T<F> v) {
    const Vec3T<F> u{q.x, q.y, q.z};
    const Vec3T<F> c = cross(u, v);
    const Vec3T<F> t = c + c;
    return (v + t * q.w) + cross(u, t);
}
template <class F>
ORRERY_FN Vec3T<F> rotate_inverse(QuatT<F> q, Vec3T<F> v) {
    return rotate(conjugate(q), v);
}

template <class F>
ORRERY_FN QuatT<F> normalize(QuatT<F> q) {
    const F scale = F(1.0f) / sqrt(((q.x * q.x + q.y * q.y) + q.z * q.z) + q.w * q.w);
    return {q.x * scale, q.y * scale, q.z * scale, q.w * scale};
}

// q after rotating for a time at world angular velocity w, as q + dt/2 (w, 0) q, normalised; rotation = w * dt.
template <class F>
ORRERY_FN QuatT<F> integrate(QuatT<F> q, Vec3T<F> rotation) {
    const F half(0.5f);
    const QuatT<F> spin = QuatT<F>{rotation.x * half, rotation.y * half, rotation.z * half, F(0.0f)} * q;
    return normalize(QuatT<F>{q.x + spin.x, q.y + spin.y, q.z + spin.z, q.w + spin.w});
}

template <class F>
ORRERY_FN QuatT<F> select(MaskOf<F> mask, QuatT<F> yes, QuatT<F> no) {
    return {select(mask, yes.x, no.x), select(mask, yes.y, no.y), select(mask, yes.z, no.z), select(mask, yes.w, no.w)};
}

ORRERY_LANES_END

#endif
