// What the functions of all joints share: see ball_socket-inl.h for their shape.
//
//   prepare     once a tick: springs and limits to coefficients
//   refresh     at the tick's start and after each substep's poses: arms, effective masses, bias
//   warm_start  applies the accumulated impulse
//   solve       one Gauss-Seidel step on the velocities; kRelax without the default rigidity's bias
//   accumulate  after a substep: adds its impulse to the tick's
//   finish      after the tick: the impulse to carry in canonical form
//
// Bundles stay from tick to tick, and the solver leaves prepare and refresh out where nothing changed: so both depend
// on description, persisted impulse, poses, inertias and StepConstants alone, refresh changes nothing at the poses that
// it has seen, and of a tick's own there is nothing but the force rows.

#if defined(ORRERY_CONSTRAINTS_JOINT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_JOINT_INL_H_
#undef ORRERY_CONSTRAINTS_JOINT_INL_H_
#else
#define ORRERY_CONSTRAINTS_JOINT_INL_H_
#endif

#include "sim/constraints/spring-inl.h"

ORRERY_LANES_BEGIN

template <class F>
ORRERY_FN void add_rows(Vec3Rows& rows, std::size_t lane, Vec3T<F> v) {
    put(rows, lane, get<F>(rows, lane) + v);
}

// x + 0 turns -0 into 0 and changes nothing else.
template <class F>
ORRERY_FN void canonicalise(Row& row, std::size_t lane) {
    put(row, lane, get<F>(row, lane) + F(0.0f));
}
template <class F>
ORRERY_FN void canonicalise(Vec3Rows& rows, std::size_t lane) {
    canonicalise<F>(rows.x, lane), canonicalise<F>(rows.y, lane), canonicalise<F>(rows.z, lane);
}

// v, shortened to `limit` where it is longer.
template <class F>
ORRERY_FN Vec3T<F> clamp_length(Vec3T<F> v, F limit) {
    const F size = length(v);
    const MaskOf<F> longer = size > limit;
    return select<F>(longer, v * (limit / select(longer, size, F(1.0f))), v);
}

ORRERY_LANES_END

#endif
