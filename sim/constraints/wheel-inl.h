// The bundle of wheel.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_WHEEL_BUNDLE_
#define ORRERY_CONSTRAINTS_WHEEL_BUNDLE_

#include "sim/constraints/block_form.h"
#include "sim/constraints/wheel.h"

namespace orrery::sim {

struct WheelBundle : WheelRows {
    Vec3Rows anchor_a, anchor_b, suspension_a, axle_a, axle_b;  // local
};

inline void load_lane(WheelBundle& bundle, std::uint32_t lane, const Wheel& joint, const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.suspension_a, lane, joint.suspension_a);
    set_lane(bundle.axle_a, lane, joint.axle_a);
    set_lane(bundle.axle_b, lane, joint.axle_b);
    set_lane(bundle.spring, lane, joint.spring);
    set_servo(bundle.drive[0], lane, joint.rest_m, joint.suspension, {kNoLimit, 0.0f, joint.max_suspension_n});
    set_limit(bundle.drive[1], lane, joint.min_m, joint.max_m, {});
    set_servo(bundle.drive[2], lane, joint.steer_rad, {}, joint.steering);
    set_motor(bundle.drive[3], lane, joint.target_radps, joint.drive);
    set_motor(bundle.drive[4], lane, 0.0f, {joint.brake_nm, 0.0f});
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_WHEEL_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_WHEEL_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_WHEEL_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_WHEEL_FUNCTIONS_
#endif

#include "sim/constraints/block_form-inl.h"

ORRERY_LANES_BEGIN

// With s the suspension axis, u the straight axle and v = s x u of A, x the axle of B, and d the way from hub to
// centre, in world axes:
//
//   held      u . d and v . d, along() of block_form-inl.h; s . x, whose derivative is (wb - wa) . (x x s)
//   single    suspension and stops: s . d, along() too
//             steering: theta = atan2((u x x) . s, u . x), theta' = (wb - wa) . s where x is across s
//             drive and brake: (wb - wa) . x
struct WheelFunctions : BlockFunctions<WheelFunctions, WheelRows> {
    static constexpr Drive kDrives[] = {Drive::servo, Drive::hold, Drive::servo, Drive::motor, Drive::motor};

    template <class F>
    ORRERY_FN static BlockT<WheelRows, F> measure(const WheelBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                                  const PoseT<F>& pose_b) {
        const QuatT<F> qa = pose_a.orientation, qb = pose_b.orientation;
        const Vec3T<F> s = rotate(qa, get<F>(bundle.suspension_a, lane)), u = rotate(qa, get<F>(bundle.axle_a, lane));
        const Vec3T<F> v = cross(s, u);
        const Vec3T<F> x = rotate(qb, get<F>(bundle.axle_b, lane));
        const Vec3T<F> ra = rotate(qa, get<F>(bundle.anchor_a, lane)), rb = rotate(qb, get<F>(bundle.anchor_b, lane));
        const Vec3T<F> d = (pose_b.position - pose_a.position) + (rb - ra);
        BlockT<WheelRows, F> block;
        block.row[0] = along(u, ra, rb, d);
        block.row[1] = along(v, ra, rb, d);
        block.row[2] = LineT<F>::turn(cross(x, s), dot(s, x));
        block.drive[0] = block.drive[1] = along(s, ra, rb, d);
        block.drive[2] = LineT<F>::turn(s, unwound(bundle.drive[2].hold, lane, atan2(dot(cross(u, x), s), dot(u, x))));
        block.drive[3] = block.drive[4] = LineT<F>::turn(x, F(0.0f));
        return block;
    }
};

ORRERY_LANES_END

#endif
#endif
