// The bundle of distance_servo.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_DISTANCE_SERVO_BUNDLE_
#define ORRERY_CONSTRAINTS_DISTANCE_SERVO_BUNDLE_

#include "sim/constraints/distance_servo.h"
#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct DistanceServoBundle : PointRow {
    Vec3Rows anchor_a, anchor_b;  // local
};

inline void load_lane(DistanceServoBundle& bundle, std::uint32_t lane, const DistanceServo& joint,
                      const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_servo(bundle.drive, lane, joint.target_m, joint.spring, joint.servo);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_DISTANCE_SERVO_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_DISTANCE_SERVO_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_DISTANCE_SERVO_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_DISTANCE_SERVO_FUNCTIONS_
#endif

#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

// As a DistanceLimit: with d = (xb + rb) - (xa + ra) and n = d / |d|,
//
//   value = |d|,  value' = n . (vb + wb x rb - va - wa x ra),  J = [-n, -(ra x n), n, rb x n]
struct DistanceServoFunctions : RowFunctions<DistanceServoFunctions, PointRow, Drive::servo> {
    template <class F>
    ORRERY_FN static RowT<F> measure(const DistanceServoBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const F zero(0.0f), one(1.0f);
        const Vec3T<F> ra = rotate(pose_a.orientation, get<F>(bundle.anchor_a, lane));
        const Vec3T<F> rb = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        const Vec3T<F> d = (pose_b.position - pose_a.position) + (rb - ra);
        RowT<F> row;
        row.linear_a = row.linear_b = normalize_or(d, Vec3T<F>{zero, one, zero}, F(1.0e-6f));
        row.angular_a = cross(ra, row.linear_a);
        row.angular_b = cross(rb, row.linear_b);
        row.value = length(d);
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
