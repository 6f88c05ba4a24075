// The bundle of pulley.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_PULLEY_BUNDLE_
#define ORRERY_CONSTRAINTS_PULLEY_BUNDLE_

#include "sim/constraints/pulley.h"
#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct PulleyBundle : PointRow {
    Vec3Rows anchor_a, anchor_b;  // local
    Vec3Rows wheel_a, wheel_b;    // world
    Row ratio;
};

inline void load_lane(PulleyBundle& bundle, std::uint32_t lane, const Pulley& joint, const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.wheel_a, lane, joint.wheel_a);
    set_lane(bundle.wheel_b, lane, joint.wheel_b);
    set_lane(bundle.ratio, lane, joint.ratio);
    set_limit(bundle.drive, lane, joint.min_m, joint.max_m, joint.spring);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_PULLEY_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_PULLEY_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_PULLEY_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_PULLEY_FUNCTIONS_
#endif

#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

// With ga, gb the wheels, la = xa + ra - ga, lb = xb + rb - gb, n = l / |l| and q the ratio:
//
//   value = |la| + q |lb|,  value' = na . (va + wa x ra) + q nb . (vb + wb x rb)
//   J = [na, ra x na, q nb, q (rb x nb)]: linear_a = -na, angular_a = -(ra x na)
//
// Where an anchor is at its wheel there is no direction, and that side pulls up.
struct PulleyFunctions : RowFunctions<PulleyFunctions, PointRow> {
    template <class F>
    ORRERY_FN static RowT<F> measure(const PulleyBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const F zero(0.0f), ratio = get<F>(bundle.ratio, lane);
        const Vec3T<F> down{zero, F(-1.0f), zero};
        const Vec3T<F> ra = rotate(pose_a.orientation, get<F>(bundle.anchor_a, lane));
        const Vec3T<F> rb = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        const Vec3T<F> la = (pose_a.position - get<F>(bundle.wheel_a, lane)) + ra;
        const Vec3T<F> lb = (pose_b.position - get<F>(bundle.wheel_b, lane)) + rb;
        RowT<F> row;
        row.linear_a = -normalize_or(la, down, F(1.0e-6f));
        row.linear_b = normalize_or(lb, down, F(1.0e-6f)) * ratio;
        row.angular_a = cross(ra, row.linear_a);
        row.angular_b = cross(rb, row.linear_b);
        row.value = length(la) + ratio * length(lb);
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
