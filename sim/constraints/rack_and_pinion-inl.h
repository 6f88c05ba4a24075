// The bundle of rack_and_pinion.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_RACK_AND_PINION_BUNDLE_
#define ORRERY_CONSTRAINTS_RACK_AND_PINION_BUNDLE_

#include "sim/constraints/rack_and_pinion.h"
#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct RackAndPinionBundle : PointRow {
    Vec3Rows axis_a, axis_b;  // local
    Row radius;
    Row state[4];  // of Joint::impulse, from 1 on
};

inline void load_lane(RackAndPinionBundle& bundle, std::uint32_t lane, const RackAndPinion& joint,
                      const float* impulse) {
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.axis_b, lane, joint.axis_b);
    set_lane(bundle.radius, lane, joint.radius_m);
    set_servo(bundle.drive, lane, 0.0f, joint.spring, {});
    for (int i = 0; i < 4; ++i) set_lane(bundle.state[i], lane, impulse[RackAndPinion::kFirstState + i]);
    load_impulses(bundle, lane, impulse);
}
inline void store_lane(const RackAndPinionBundle& bundle, std::uint32_t lane, float* impulse) {
    store_lane(static_cast<const RowForm&>(bundle), lane, impulse);
    for (int i = 0; i < 4; ++i) impulse[RackAndPinion::kFirstState + i] = bundle.state[i].lane[lane];
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_RACK_AND_PINION_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_RACK_AND_PINION_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_RACK_AND_PINION_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_RACK_AND_PINION_FUNCTIONS_
#endif

#include "sim/constraints/turns-inl.h"

ORRERY_LANES_BEGIN

// With a and n the axes in world axes, d = xb - xa and r the radius:
//
//   value = r (theta + 2 pi turns) - n . d - offset
//   value' = r (wa . a) - n . (vb - va) - (wb x n) . d,  and (wb x n) . d = wb . (n x d)
//   J = [n, r a, -n, -(n x d)]: linear_a = linear_b = -n, angular_a = -r a, angular_b = -(n x d)
struct RackAndPinionFunctions : RowFunctions<RackAndPinionFunctions, PointRow> {
    template <class F>
    ORRERY_FN static RowT<F> measure(RackAndPinionBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const F zero(0.0f), radius = get<F>(bundle.radius, lane), kept = get<F>(bundle.state[3], lane);
        const Vec3T<F> local = get<F>(bundle.axis_a, lane);
        const MaskOf<F> begun = kept > zero;
        const F reference = select(begun, kept, choose_reference(pose_a.orientation, local));
        const F angle = twist_angle(pose_a.orientation, local, reference);
        const F turns =
            select(begun, get<F>(bundle.state[1], lane) + turn_between(get<F>(bundle.state[0], lane), angle), zero);
        const Vec3T<F> n = rotate(pose_b.orientation, get<F>(bundle.axis_b, lane));
        const Vec3T<F> d = pose_b.position - pose_a.position;
        const F gap = radius * (angle + F(2.0f * kPi) * turns) - dot(n, d);
        const F offset = select(begun, get<F>(bundle.state[2], lane), gap);
        put(bundle.state[0], lane, angle + zero);
        put(bundle.state[1], lane, turns + zero);
        put(bundle.state[2], lane, offset + zero);
        put(bundle.state[3], lane, reference);

        RowT<F> row;
        row.linear_a = row.linear_b = -n;
        row.angular_a = rotate(pose_a.orientation, local) * (-radius);
        row.angular_b = -cross(n, d);
        row.value = gap - offset;
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
