// The bundle of one_body_angular_servo.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_BUNDLE_
#define ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_BUNDLE_

#include "sim/constraints/one_body_angular_servo.h"
#include "sim/constraints/three_form.h"

namespace orrery::sim {

struct OneBodyAngularServoBundle : AngularThree {
    QuatRows target;
};

inline void load_lane(OneBodyAngularServoBundle& bundle, std::uint32_t lane, const OneBodyAngularServo& joint,
                      const float* impulse) {
    set_lane(bundle.target, lane, joint.target_orientation);
    set_servo(bundle, lane, joint.spring, joint.servo);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_FUNCTIONS_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// With e = qb q_target^-1 the rotation from where B should point to where it points:
//
//   C = axis(e) angle(e),  C' = wb along C, and everywhere at C = 0
struct OneBodyAngularServoFunctions : ThreeFunctions<OneBodyAngularServoFunctions, AngularThree> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const OneBodyAngularServoBundle& bundle, std::size_t lane,
                                       const PoseT<F>& pose_a, const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        static_cast<void>(pose_a);
        rows.error = rotation_vector(pose_b.orientation * conjugate(get<F>(bundle.target, lane)));
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
