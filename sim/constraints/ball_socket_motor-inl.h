// The bundle of ball_socket_motor.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_BUNDLE_
#define ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_BUNDLE_

#include "sim/constraints/ball_socket_motor.h"
#include "sim/constraints/three_form.h"

namespace orrery::sim {

struct BallSocketMotorBundle : PointThree {
    Vec3Rows anchor_b, target;  // local
};

inline void load_lane(BallSocketMotorBundle& bundle, std::uint32_t lane, const BallSocketMotor& joint,
                      const float* impulse) {
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.target, lane, joint.target_mps);
    set_motor(bundle, lane, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_FUNCTIONS_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// The point of A is the one that is where B's point is: ra = xb + rb - xa.
struct BallSocketMotorFunctions : ThreeFunctions<BallSocketMotorFunctions, PointThree, Drive::motor> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const BallSocketMotorBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                       const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        rows.arm_b = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        rows.arm_a = (pose_b.position - pose_a.position) + rows.arm_b;
        rows.error = rotate(pose_a.orientation, get<F>(bundle.target, lane));
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
