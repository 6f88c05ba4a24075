// The bundle of point_on_line_servo.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_POINT_ON_LINE_SERVO_BUNDLE_
#define ORRERY_CONSTRAINTS_POINT_ON_LINE_SERVO_BUNDLE_

#include "sim/constraints/block_form.h"
#include "sim/constraints/point_on_line_servo.h"

namespace orrery::sim {

struct PointOnLineServoBundle : PointOnLineRows {
    Vec3Rows anchor_a, anchor_b, axis_a;  // local
};

inline void load_lane(PointOnLineServoBundle& bundle, std::uint32_t lane, const PointOnLineServo& joint,
                      const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.spring, lane, joint.spring);
    set_lane(bundle.max_speed, lane, joint.servo.max_speed);
    set_lane(bundle.base_speed, lane, joint.servo.base_speed);
    set_lane(bundle.max_force, lane, joint.servo.max_force);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_POINT_ON_LINE_SERVO_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_POINT_ON_LINE_SERVO_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_POINT_ON_LINE_SERVO_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_POINT_ON_LINE_SERVO_FUNCTIONS_
#endif

#include "sim/constraints/block_form-inl.h"

ORRERY_LANES_BEGIN

// With u, v two directions of A across the line, in world axes, the offsets of B's point along them: along() of
// block_form-inl.h.
struct PointOnLineServoFunctions : BlockFunctions<PointOnLineServoFunctions, PointOnLineRows, true> {
    template <class F>
    ORRERY_FN static BlockT<PointOnLineRows, F> measure(const PointOnLineServoBundle& bundle, std::size_t lane,
                                                        const PoseT<F>& pose_a, const PoseT<F>& pose_b) {
        const Vec3T<F> local = get<F>(bundle.axis_a, lane);
        const Vec3T<F> n = rotate(pose_a.orientation, local), u = rotate(pose_a.orientation, any_across(local));
        const Vec3T<F> v = cross(n, u);
        const Vec3T<F> ra = rotate(pose_a.orientation, get<F>(bundle.anchor_a, lane));
        const Vec3T<F> rb = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        const Vec3T<F> d = (pose_b.position - pose_a.position) + (rb - ra);
        BlockT<PointOnLineRows, F> block;
        block.row[0] = along(u, ra, rb, d);
        block.row[1] = along(v, ra, rb, d);
        return block;
    }
};

ORRERY_LANES_END

#endif
#endif
