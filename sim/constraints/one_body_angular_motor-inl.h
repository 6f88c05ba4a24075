// The bundle of one_body_angular_motor.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_BUNDLE_
#define ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_BUNDLE_

#include "sim/constraints/one_body_angular_motor.h"
#include "sim/constraints/three_form.h"

namespace orrery::sim {

struct OneBodyAngularMotorBundle : AngularThree {
    Vec3Rows target;  // rad/s, world
};

inline void load_lane(OneBodyAngularMotorBundle& bundle, std::uint32_t lane, const OneBodyAngularMotor& joint,
                      const float* impulse) {
    set_lane(bundle.target, lane, joint.target_radps);
    set_motor(bundle, lane, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_FUNCTIONS_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// C' = wb - target.
struct OneBodyAngularMotorFunctions : ThreeFunctions<OneBodyAngularMotorFunctions, AngularThree, Drive::motor> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const OneBodyAngularMotorBundle& bundle, std::size_t lane,
                                       const PoseT<F>& pose_a, const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        static_cast<void>(pose_a), static_cast<void>(pose_b);
        rows.error = get<F>(bundle.target, lane);
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
