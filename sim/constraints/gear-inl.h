// The bundle of gear.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_GEAR_BUNDLE_
#define ORRERY_CONSTRAINTS_GEAR_BUNDLE_

#include "sim/constraints/gear.h"
#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct GearBundle : AngularRow {
    Vec3Rows axis_a, axis_b;  // local
    Row ratio;
    Row state[6];  // of Joint::impulse, from 1 on
};

inline void load_lane(GearBundle& bundle, std::uint32_t lane, const Gear& joint, const float* impulse) {
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.axis_b, lane, joint.axis_b);
    set_lane(bundle.ratio, lane, joint.ratio);
    set_servo(bundle.drive, lane, 0.0f, joint.spring, {});
    for (int i = 0; i < 6; ++i) set_lane(bundle.state[i], lane, impulse[Gear::kFirstState + i]);
    load_impulses(bundle, lane, impulse);
}
inline void store_lane(const GearBundle& bundle, std::uint32_t lane, float* impulse) {
    store_lane(static_cast<const RowForm&>(bundle), lane, impulse);
    for (int i = 0; i < 6; ++i) impulse[Gear::kFirstState + i] = bundle.state[i].lane[lane];
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_GEAR_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_GEAR_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_GEAR_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_GEAR_FUNCTIONS_
#endif

#include "sim/constraints/turns-inl.h"

ORRERY_LANES_BEGIN

// With a, b the axes in world axes and r the ratio:
//
//   value = (r theta_a - theta_b) + 2 pi (r turns_a - turns_b) - offset,  value' = r (wa . a) - wb . b
//   J = [0, r a, 0, -b], here with the signs of RowT: angular_a = -r a, angular_b = -b
//
// The turns are summed with the error of the sum kept: multiples of the ratio and ones that nearly cancel fit two
// floats.
struct GearFunctions : RowFunctions<GearFunctions, AngularRow> {
    template <class F>
    ORRERY_FN static RowT<F> measure(GearBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const F zero(0.0f), eight(8.0f), ratio = get<F>(bundle.ratio, lane);
        const Vec3T<F> local_a = get<F>(bundle.axis_a, lane), local_b = get<F>(bundle.axis_b, lane);
        const F kept = get<F>(bundle.state[5], lane);
        const MaskOf<F> begun = kept > zero;
        const F of_b = round_to_whole(kept * F(0.125f) - F(0.25f)), of_a = kept - of_b * eight;  // of_a is 1 to 4
        const F reference_a = select(begun, of_a, choose_reference(pose_a.orientation, local_a));
        const F reference_b = select(begun, of_b, choose_reference(pose_b.orientation, local_b));
        const F angle_a = twist_angle(pose_a.orientation, local_a, reference_a);
        const F angle_b = twist_angle(pose_b.orientation, local_b, reference_b);
        const F gap = ratio * angle_a - angle_b;
        const F new_a = turn_between(get<F>(bundle.state[0], lane), angle_a);
        const F new_b = turn_between(get<F>(bundle.state[1], lane), angle_b);
        const F offset = select(begun, get<F>(bundle.state[4], lane), gap);
        F high = get<F>(bundle.state[2], lane), low = get<F>(bundle.state[3], lane);
        add_exactly(high, low, ratio * new_a);
        add_exactly(high, low, -new_b);
        high = select(begun, high, zero);
        low = select(begun, low, zero);
        put(bundle.state[0], lane, angle_a + zero);
        put(bundle.state[1], lane, angle_b + zero);
        put(bundle.state[2], lane, high + zero);
        put(bundle.state[3], lane, low + zero);
        put(bundle.state[4], lane, offset + zero);
        put(bundle.state[5], lane, reference_a + reference_b * eight);

        RowT<F> row;
        row.angular_a = rotate(pose_a.orientation, local_a) * (-ratio);
        row.angular_b = -rotate(pose_b.orientation, local_b);
        row.value = (gap - offset) + F(2.0f * kPi) * (high + low);
        return row;
    }

    // high + low + x, with high the rounded sum and low what rounding left of it.
    template <class F>
    ORRERY_FN static void add_exactly(F& high, F& low, F x) {
        const F sum = high + x, part = sum - high;
        const F left = ((high - (sum - part)) + (x - part)) + low;
        high = sum + left;
        low = left - (high - sum);
    }
};

ORRERY_LANES_END

#endif
#endif
