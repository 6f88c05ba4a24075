// Angles that a gear counts beyond a turn. The twist of a body about an axis n of its own, from its orientation q
// alone, is
//
//   theta = 2 atan2(q.v . n, q.w)
//
// in (-pi, pi], and its derivative is w . n while the axis keeps its direction in the world, but it has no meaning
// where n has been turned over: there q.v . n and q.w are both 0. Of q, i q, j q and k q, which differ by half turns of
// the world, one has at least half of its length in them: it is chosen when the joint begins and kept with its state (1
// to 4; 0 before it has begun). Nothing is integrated, so that nothing drifts: only the turns are counted, from one
// substep to the next, which is right while a body turns less than half a turn in a substep.

#if defined(ORRERY_CONSTRAINTS_TURNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_TURNS_INL_H_
#undef ORRERY_CONSTRAINTS_TURNS_INL_H_
#else
#define ORRERY_CONSTRAINTS_TURNS_INL_H_
#endif

#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

template <class F>
struct TwistParts {
    F along, w;
    ORRERY_FN TwistParts(F v, F x) : along(v), w(x) {}
    ORRERY_FN F size() const { return along * along + w * w; }
};

// Of i^k q: k = 1 is q itself.
template <class F>
ORRERY_FN TwistParts<F> twist_parts(QuatT<F> q, Vec3T<F> n, F reference) {
    const MaskOf<F> i = reference == F(2.0f), j = reference == F(3.0f), k = reference == F(4.0f);
    const Vec3T<F> v{q.x, q.y, q.z};
    // (e, 0) q = (e q.w + e x v, -e . v)
    const F zero(0.0f), one(1.0f);
    const Vec3T<F> e{select(i, one, zero), select(j, one, zero), select(k, one, zero)};
    const MaskOf<F> itself = (!i) & (!j) & (!k);
    const Vec3T<F> turned = e * q.w + cross(e, v);
    return {dot(select<F>(itself, v, turned), n), select(itself, q.w, -dot(e, v))};
}

template <class F>
ORRERY_FN F choose_reference(QuatT<F> q, Vec3T<F> n) {
    F best(1.0f), size = twist_parts(q, n, best).size();
    for (int k = 2; k <= 4; ++k) {
        const F other(static_cast<float>(k));
        const F its = twist_parts(q, n, other).size();
        const MaskOf<F> better = its > size;
        best = select(better, other, best);
        size = select(better, its, size);
    }
    return best;
}

template <class F>
ORRERY_FN F twist_angle(QuatT<F> q, Vec3T<F> n, F reference) {
    const TwistParts<F> parts = twist_parts(q, n, reference);
    // (v . n, w) and its negative are the same rotation: of the two that with w >= 0, so that the angle is in (-pi,
    // pi].
    const F side = select(parts.w < F(0.0f), F(-1.0f), F(1.0f));
    return F(2.0f) * atan2(parts.along * side, parts.w * side);
}

// -1, 0 or 1: the turn completed on the way from `before` to `now`.
template <class F>
ORRERY_FN F turn_between(F before, F now) {
    const F zero(0.0f), one(1.0f), step = now - before;
    return select(step < F(-kPi), one, select(step > F(kPi), -one, zero));
}

ORRERY_LANES_END

#endif
