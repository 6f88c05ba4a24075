// The bundle of ball_socket_servo.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_BUNDLE_
#define ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_BUNDLE_

#include "sim/constraints/ball_socket_servo.h"
#include "sim/constraints/three_form.h"

namespace orrery::sim {

struct BallSocketServoBundle : PointThree {
    Vec3Rows anchor_a, anchor_b;  // local
};

inline void load_lane(BallSocketServoBundle& bundle, std::uint32_t lane, const BallSocketServo& joint,
                      const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_servo(bundle, lane, joint.spring, joint.servo);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_FUNCTIONS_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// A BallSocket with servo settings: C = (xb + rb) - (xa + ra).
struct BallSocketServoFunctions : ThreeFunctions<BallSocketServoFunctions, PointThree> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const BallSocketServoBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                       const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        rows.arm_a = rotate(pose_a.orientation, get<F>(bundle.anchor_a, lane));
        rows.arm_b = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        rows.error = (pose_b.position - pose_a.position) + (rows.arm_b - rows.arm_a);
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
