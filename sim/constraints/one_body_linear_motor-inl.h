// The bundle of one_body_linear_motor.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_BUNDLE_
#define ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_BUNDLE_

#include "sim/constraints/one_body_linear_motor.h"
#include "sim/constraints/three_form.h"

namespace orrery::sim {

struct OneBodyLinearMotorBundle : PointThree {
    Vec3Rows anchor_b;  // local
    Vec3Rows target;    // m/s, world
};

inline void load_lane(OneBodyLinearMotorBundle& bundle, std::uint32_t lane, const OneBodyLinearMotor& joint,
                      const float* impulse) {
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.target, lane, joint.target_mps);
    set_motor(bundle, lane, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_FUNCTIONS_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// C' = vb + wb x rb - target. A does not move, so its arm does not matter.
struct OneBodyLinearMotorFunctions : ThreeFunctions<OneBodyLinearMotorFunctions, PointThree, Drive::motor> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const OneBodyLinearMotorBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                       const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        static_cast<void>(pose_a);
        rows.arm_b = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        rows.error = get<F>(bundle.target, lane);
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
