// The table of a target: the passes over bodies and contacts, compiled here, and those over joints (joints_<part>.cpp).

#if defined(ORRERY_SOLVER_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_SOLVER_KERNELS_INL_H_
#undef ORRERY_SOLVER_KERNELS_INL_H_
#else
#define ORRERY_SOLVER_KERNELS_INL_H_
#endif

#include "sim/solver/integrate-inl.h"
#include "sim/solver/passes-inl.h"

ORRERY_LANES_BEGIN

inline constexpr KindKernels kContactKernels = contact_kernels<Number>();
inline constexpr KindKernels kBouncingContactKernels = bouncing_contact_kernels<Number>();
inline constexpr KindKernels kSurfaceContactKernels = surface_contact_kernels<Number>();
inline constexpr KindKernels kNonconvexContactKernels = nonconvex_contact_kernels<Number>();

// In the order of Kind.
#define ORRERY_CONSTRAINT(T, name) &k##T##Kernels,
constexpr SolverKernels make_solver_kernels() {
    using F = Number;
    return {move_bodies<false, F>,
            integrate_velocities<F>,
            move_bodies<true, F>,
            {ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT) & kContactKernels, &kContactKernels, &kContactKernels,
             &kBouncingContactKernels, &kSurfaceContactKernels, &kNonconvexContactKernels}};
}
#undef ORRERY_CONSTRAINT

ORRERY_LANES_END

#endif
