// The bundle of center_distance.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_CENTER_DISTANCE_BUNDLE_
#define ORRERY_CONSTRAINTS_CENTER_DISTANCE_BUNDLE_

#include "sim/constraints/center_distance.h"
#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct CenterDistanceBundle : CentreRow {};

inline void load_lane(CenterDistanceBundle& bundle, std::uint32_t lane, const CenterDistance& joint,
                      const float* impulse) {
    set_servo(bundle.drive, lane, joint.target_m, joint.spring, {});
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_CENTER_DISTANCE_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_CENTER_DISTANCE_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_CENTER_DISTANCE_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_CENTER_DISTANCE_FUNCTIONS_
#endif

#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

// With d = xb - xa and n = d / |d|, linear alone, so that it costs half of a DistanceServo:
//
//   value = |d|,  value' = n . (vb - va)
struct CenterDistanceFunctions : RowFunctions<CenterDistanceFunctions, CentreRow> {
    template <class F>
    ORRERY_FN static RowT<F> measure(const CenterDistanceBundle&, std::size_t, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const F zero(0.0f), one(1.0f);
        const Vec3T<F> d = pose_b.position - pose_a.position;
        RowT<F> row;
        row.linear_a = row.linear_b = normalize_or(d, Vec3T<F>{zero, one, zero}, F(1.0e-6f));
        row.value = length(d);
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
