// Rotations with locked world axes.
//
// A lock is a bearing: it takes any torque about its axis, and gives none about the free axes. So the inverse inertia
// is the inverse of the block of the inertia I (world axes) that belongs to the free axes, with zeros in the rows and
// columns of locked axes. Let W = I^-1, C the adjugate of W and D its determinant, so that I = C / D. Then the inverse
// E of the block is:
//
//   one locked axis l, free axes i and j:  E_ii = C_jj / W_ll, E_jj = C_ii / W_ll, E_ij = -C_ij / W_ll
//   one free axis k:                       E_kk = 1 / I_kk = D / C_kk
//
// The Schur complement W_ff - W_fl W_lf / W_ll is the same, but loses its digits where a body is slender. Here no sum
// on a diagonal has terms of both signs. W is scaled to a trace of one: the cube of an inverse inertia may exceed the
// range of float.
//
// The gyroscopic torque is w x (I w). Where two axes are free, its part in their plane turns the body, and the bearing
// takes the rest. With b = l . I w and M w = -E (w x l):
//
//   w' = b M w,   M^2 = -det E
//
// This is a rotation in the norm of the energy w . I w, which it keeps. A step from w by the rule of gyroscopic_change
// (theta 1/2: midpoint, theta 1: implicit Euler) has a closed form:
//
//   d = s (M w - theta s det E w) / (1 + theta^2 s^2 det E),   s = h b
//
// b is taken in the middle of the step, from a first step with the b of its start. Where one axis is free, the torque
// has no part along it.

#if defined(ORRERY_BODIES_LOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_BODIES_LOCKS_INL_H_
#undef ORRERY_BODIES_LOCKS_INL_H_
#else
#define ORRERY_BODIES_LOCKS_INL_H_
#endif

#include "sim/lanes/matrix-inl.h"

ORRERY_LANES_BEGIN

// Whether one or two axes are locked; `free` has 0 for a locked axis, else 1.
template <class F>
ORRERY_FN MaskOf<F> some_locked(Vec3T<F> free) {
    const F count = (free.x + free.y) + free.z;
    return (count > F(0.5f)) & (count < F(2.5f));
}

template <class F>
struct LockedInertia {
    F trace;            // of W: what follows is of W / trace
    Sym3T<F> inverse;   // E
    Sym3T<F> adjugate;  // C
    F determinant;      // D
    F held;             // W_ll, where one axis is locked
};

// An entry on the diagonal whose axis is free, by which of the two other axes are free.
template <class F>
ORRERY_FN F diagonal_entry(MaskOf<F> second, MaskOf<F> third, F free_alone, F second_locked, F third_locked, F whole) {
    return select(second, select(third, whole, third_locked), select(third, second_locked, free_alone));
}

// `rotation` turns body axes to world axes; `inverse_inertia` is in body axes. At least one axis has to be free.
template <class F>
ORRERY_FN LockedInertia<F> locked_inertia(const Mat3T<F>& rotation, const Sym3T<F>& inverse_inertia, Vec3T<F> free) {
    const F zero(0.0f), half(0.5f);
    const F trace = (inverse_inertia.xx + inverse_inertia.yy) + inverse_inertia.zz;
    const F s = inverse_or_zero(trace);
    const Sym3T<F> m{inverse_inertia.xx * s, inverse_inertia.xy * s, inverse_inertia.xz * s,
                     inverse_inertia.yy * s, inverse_inertia.yz * s, inverse_inertia.zz * s};
    const Sym3T<F> adjugate{m.yy * m.zz - m.yz * m.yz, m.xz * m.yz - m.xy * m.zz, m.xy * m.yz - m.xz * m.yy,
                            m.xx * m.zz - m.xz * m.xz, m.xy * m.xz - m.xx * m.yz, m.xx * m.yy - m.xy * m.xy};
    const F d = (m.xx * adjugate.xx + m.xy * adjugate.xy) + m.xz * adjugate.xz;
    const Sym3T<F> w = sandwich(rotation, m), c = sandwich(rotation, adjugate);
    const MaskOf<F> x = free.x > half, y = free.y > half, z = free.z > half;
    const F by_x = inverse_or_zero(w.xx), by_y = inverse_or_zero(w.yy), by_z = inverse_or_zero(w.zz);
    const Sym3T<F> inverse{
        select(x, diagonal_entry<F>(y, z, d * inverse_or_zero(c.xx), c.zz * by_y, c.yy * by_z, w.xx), zero),
        select(x & y, select(z, w.xy, zero - c.xy * by_z), zero),
        select(x & z, select(y, w.xz, zero - c.xz * by_y), zero),
        select(y, diagonal_entry<F>(x, z, d * inverse_or_zero(c.yy), c.zz * by_x, c.xx * by_z, w.yy), zero),
        select(y & z, select(x, w.yz, zero - c.yz * by_x), zero),
        select(z, diagonal_entry<F>(x, y, d * inverse_or_zero(c.zz), c.yy * by_x, c.xx * by_y, w.zz), zero)};
    return {trace, inverse, c, d, select(x, select(y, w.zz, w.yy), w.xx)};
}

template <class F>
ORRERY_FN Sym3T<F> select_scaled(MaskOf<F> mask, const Sym3T<F>& yes, F by, const Sym3T<F>& no) {
    return {select(mask, yes.xx * by, no.xx), select(mask, yes.xy * by, no.xy), select(mask, yes.xz * by, no.xz),
            select(mask, yes.yy * by, no.yy), select(mask, yes.yz * by, no.yz), select(mask, yes.zz * by, no.zz)};
}

// World inverse inertia: R S R^T without locks, E with one or two locked axes, zero with three.
template <class F>
ORRERY_FN Sym3T<F> locked_inverse_inertia(const Mat3T<F>& rotation, const Sym3T<F>& inverse_inertia, Vec3T<F> free) {
    const Sym3T<F> s = sandwich(rotation, inverse_inertia);
    const Sym3T<F> of_all_or_none{s.xx * free.x, s.xy * (free.x * free.y), s.xz * (free.x * free.z),
                                  s.yy * free.y, s.yz * (free.y * free.z), s.zz * free.z};
    const MaskOf<F> some = some_locked(free);
    if (!any(some)) return of_all_or_none;
    const LockedInertia<F> locked = locked_inertia(rotation, inverse_inertia, free);
    return select_scaled<F>(some, locked.inverse, locked.trace, of_all_or_none);
}

// The step d above.
template <class F>
ORRERY_FN Vec3T<F> locked_turn(const Sym3T<F>& inverse, Vec3T<F> w, Vec3T<F> locked_axis, F det, F s, F theta) {
    const F part = theta * s, scale = s / (F(1.0f) + part * part * det);
    return (-(inverse * cross(w, locked_axis)) - w * (part * det)) * scale;
}

// The change of angular velocity w (world axes) by the gyroscopic torque in a substep of h seconds. One or two axes are
// locked.
template <class F>
ORRERY_FN Vec3T<F> locked_gyroscopic_change(const Mat3T<F>& rotation, const Sym3T<F>& inverse_inertia, Vec3T<F> free,
                                            Vec3T<F> w, F h, F theta) {
    const F zero(0.0f), one(1.0f);
    const LockedInertia<F> locked = locked_inertia(rotation, inverse_inertia, free);
    const Vec3T<F> v{w.x * free.x, w.y * free.y, w.z * free.z}, l{one - free.x, one - free.y, one - free.z};
    const F free_axes = (free.x + free.y) + free.z;
    const MaskOf<F> turns = (free_axes > F(1.5f)) & (locked.determinant > zero) & (locked.held > zero);
    const F per_determinant = one / select(turns, locked.determinant, one);
    const F det = locked.determinant / select(turns, locked.held, one);
    const F b = dot(l, locked.adjugate * v) * per_determinant;
    const Vec3T<F> first = locked_turn(locked.inverse, v, l, det, h * b, theta);
    const F middle = b + dot(l, locked.adjugate * first) * per_determinant * F(0.5f);
    return select<F>(turns, locked_turn(locked.inverse, v, l, det, h * middle, theta), Vec3T<F>{zero, zero, zero});
}

ORRERY_LANES_END

#endif
