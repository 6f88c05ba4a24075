// The bundle of swing_limit.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_SWING_LIMIT_BUNDLE_
#define ORRERY_CONSTRAINTS_SWING_LIMIT_BUNDLE_

#include "sim/constraints/row_form.h"
#include "sim/constraints/swing_limit.h"

namespace orrery::sim {

struct SwingLimitBundle : AngularRow {
    Vec3Rows axis_a, axis_b;  // local
};

inline void load_lane(SwingLimitBundle& bundle, std::uint32_t lane, const SwingLimit& joint, const float* impulse) {
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.axis_b, lane, joint.axis_b);
    set_limit(bundle.drive, lane, kNeverBelow_rad, joint.max_angle_rad, joint.spring);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_SWING_LIMIT_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_SWING_LIMIT_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_SWING_LIMIT_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_SWING_LIMIT_FUNCTIONS_
#endif

#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

// With a, b the axes in world axes and n the unit vector along a x b:
//
//   value = angle(a, b) = atan2(|a x b|, a . b)
//   (a . b)' = (wa x a) . b + a . (wb x b) = -(wb - wa) . (a x b),  so that  value' = (wb - wa) . n
//
// The angle itself rather than its cosine, whose derivative vanishes where the axes are parallel. There n has no
// direction, and any will do: only a cone of no width is at its limit there.
struct SwingLimitFunctions : RowFunctions<SwingLimitFunctions, AngularRow> {
    template <class F>
    ORRERY_FN static RowT<F> measure(const SwingLimitBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const F zero(0.0f), one(1.0f);
        const Vec3T<F> a = rotate(pose_a.orientation, get<F>(bundle.axis_a, lane));
        const Vec3T<F> b = rotate(pose_b.orientation, get<F>(bundle.axis_b, lane));
        const Vec3T<F> across = cross(a, b);
        RowT<F> row;
        row.angular_a = row.angular_b = normalize_or(across, Vec3T<F>{one, zero, zero}, F(1.0e-6f));
        row.value = atan2(length(across), dot(a, b));
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
