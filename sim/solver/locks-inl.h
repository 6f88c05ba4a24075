// Rotations about locked world axes. A lock is a bearing: it takes any torque about its axis and gives none about the others. So of the
// inertia I in world axes only the block of the free axes counts, and the inverse inertia is the inverse of that block, with zeros in the
// rows and columns of locked axes. With W = I^-1, its adjugate C and its determinant D, of which I = C / D:
//
//   one locked axis l:  the inverse of I's block has the entries C_jj / W_ll, C_ii / W_ll and -C_ij / W_ll of the free axes i, j
//   one free axis k:    1 / I_kk = D / C_kk
//
// The other way, W_ff - W_fl W_lf / W_ll, takes a difference of what is nearly equal where a body is slender; here no sum on the diagonal
// has terms of both signs. Ratios are taken of W with a trace of one, for cubes of inverse inertias leave the range of single precision.
//
// The gyroscopic torque w x (I w) turns a body whose rotation is free about two axes by its part in their plane alone. With b = l . I w,
// which the bearing holds, E the inverse above and M w = -E (w x l),
//
//   w' = b M w,   M^2 = -det E,   so that w . I w stays as it is: it is a rotation, in the measure of the energy.
//
// A step from w by the rule of gyroscopic_change, theta 1/2 the midpoint (no energy is lost or won) and 1 implicit Euler, is then
//
//   d = s (M w - theta s det E w) / (1 + theta^2 s^2 det E),   s = h b.
//
// b is that of the step's middle, by one step from its start. Free about one axis a body feels no such torque: I_kk does not change.

#if defined(ORRERY_SOLVER_LOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_SOLVER_LOCKS_INL_H_
#undef ORRERY_SOLVER_LOCKS_INL_H_
#else
#define ORRERY_SOLVER_LOCKS_INL_H_
#endif

#include "sim/constraints/bundle-inl.h"

ORRERY_LANES_BEGIN

// Of one or two axes; `free` has 0 where an axis is locked, else 1.
template <class F>
ORRERY_FN MaskOf<F> some_locked(Vec3T<F> free) {
    const F count = (free.x + free.y) + free.z;
    return (count > F(0.5f)) & (count < F(2.5f));
}

template <class F>
struct LockedInertia {
    F trace;           // of W: what follows is of W / trace
    Sym3T<F> inverse;  // E
    Sym3T<F> adjugate; // C
    F determinant;     // D
    F held;            // W_ll, where one axis is locked
};

// An entry on the diagonal whose axis is free: the two others are both locked, one of them is, or neither.
template <class F>
ORRERY_FN F diagonal_entry(MaskOf<F> second, MaskOf<F> third, F free_alone, F second_locked, F third_locked, F whole) {
    return select(second, select(third, whole, third_locked), select(third, second_locked, free_alone));
}

// `rotation`: body to world; `inverse_inertia` in body axes. Where all axes are locked, or none, `inverse` has no meaning.
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
    const Sym3T<F> inverse{select(x, diagonal_entry<F>(y, z, d * inverse_or_zero(c.xx), c.zz * by_y, c.yy * by_z, w.xx), zero),
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

// R S R^T without locks; else the inverse of the free block of the inertia. Zero where all axes are locked.
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

// A step of s: d above.
template <class F>
ORRERY_FN Vec3T<F> locked_turn(const Sym3T<F>& inverse, Vec3T<F> w, Vec3T<F> locked_axis, F det, F s, F theta) {
    const F part = theta * s, scale = s / (F(1.0f) + part * part * det);
    return (-(inverse * cross(w, locked_axis)) - w * (part * det)) * scale;
}

// The change of angular velocity w (world axes) by the gyroscopic torque in a substep of h seconds, where one or two axes are locked.
template <class F>
ORRERY_FN Vec3T<F> locked_gyroscopic_change(const Mat3T<F>& rotation, const Sym3T<F>& inverse_inertia, Vec3T<F> free, Vec3T<F> w, F h, F theta) {
    const F zero(0.0f), one(1.0f);
    const LockedInertia<F> locked = locked_inertia(rotation, inverse_inertia, free);
    const Vec3T<F> v{w.x * free.x, w.y * free.y, w.z * free.z}, l{one - free.x, one - free.y, one - free.z};
    const MaskOf<F> turns = ((free.x + free.y) + free.z > F(1.5f)) & (locked.determinant > zero) & (locked.held > zero);
    const F per_determinant = one / select(turns, locked.determinant, one), det = locked.determinant / select(turns, locked.held, one);
    const F b = dot(l, locked.adjugate * v) * per_determinant;
    const Vec3T<F> first = locked_turn(locked.inverse, v, l, det, h * b, theta);
    const F middle = b + dot(l, locked.adjugate * first) * per_determinant * F(0.5f);
    return select<F>(turns, locked_turn(locked.inverse, v, l, det, h * middle, theta), Vec3T<F>{zero, zero, zero});
}

ORRERY_LANES_END

#endif
