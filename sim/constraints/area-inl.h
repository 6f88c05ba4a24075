// The bundle of area.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_AREA_BUNDLE_
#define ORRERY_CONSTRAINTS_AREA_BUNDLE_

#include "sim/constraints/area.h"
#include "sim/constraints/many_form.h"

namespace orrery::sim {

struct AreaBundle : ManyForm {};

inline void load_lane(AreaBundle& bundle, std::uint32_t lane, const Area& joint, const float* impulse) {
    set_servo(bundle.drive, lane, joint.target_m2, joint.spring, {});
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_AREA_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_AREA_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_AREA_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_AREA_FUNCTIONS_
#endif

#include "sim/constraints/many_form-inl.h"

ORRERY_LANES_BEGIN

// With p = xb - xa, q = xc - xa, m = p x q and n = m / |m|:
//
//   value = |m| / 2,  value' = n . (p' x q + p x q') / 2 = ((q x n) . p' + (n x p) . q') / 2
//   J_b = (q x n) / 2,  J_c = (n x p) / 2,  J_a = -(J_b + J_c)
//
// Where the three lie on a line the triangle has no plane: any across it would do, but none is as good as another, so
// the row does nothing there.
struct AreaFunctions : ManyFunctions<AreaFunctions> {
    template <class F>
    ORRERY_FN static ManyT<F> measure(const Vec3T<F> (&x)[4]) {
        const F half(0.5f);
        const Vec3T<F> p = x[1] - x[0], q = x[2] - x[0], m = cross(p, q);
        const Vec3T<F> n = normalize_or(m, RowT<F>::zero(), F(1.0e-9f));
        ManyT<F> row;
        row.direction[1] = cross(q, n) * half;
        row.direction[2] = cross(n, p) * half;
        row.direction[0] = -(row.direction[1] + row.direction[2]);
        row.value = length(m) * half;
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
