// The bundle of angular_servo.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_ANGULAR_SERVO_BUNDLE_
#define ORRERY_CONSTRAINTS_ANGULAR_SERVO_BUNDLE_

#include "sim/constraints/angular_servo.h"
#include "sim/constraints/three_form.h"

namespace orrery::sim {

struct AngularServoBundle : AngularThree {
    QuatRows relative;
};

inline void load_lane(AngularServoBundle& bundle, std::uint32_t lane, const AngularServo& joint, const float* impulse) {
    set_lane(bundle.relative, lane, joint.relative_orientation);
    set_servo(bundle, lane, joint.spring, joint.servo);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_ANGULAR_SERVO_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ANGULAR_SERVO_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_ANGULAR_SERVO_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_ANGULAR_SERVO_FUNCTIONS_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// With e = qb (qa q_rel)^-1 the rotation, in world axes, from where B should point to where it points:
//
//   C = axis(e) angle(e),  C' = wb - wa along C, and everywhere at C = 0
struct AngularServoFunctions : ThreeFunctions<AngularServoFunctions, AngularThree> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const AngularServoBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                       const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        rows.error =
            rotation_vector(pose_b.orientation * conjugate(pose_a.orientation * get<F>(bundle.relative, lane)));
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
