#ifndef ORRERY_CONSTRAINTS_ANGULAR_MOTOR_H_
#define ORRERY_CONSTRAINTS_ANGULAR_MOTOR_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the angular velocity of B relative to A: 3 degrees of freedom, torque bounded.
struct AngularMotor {
    Vec3 target_radps;  // in the frame of A
    Motor motor;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.velocity(Side::a, "target_radps", s.target_radps, kMaxAngularSpeed_radps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_ANGULAR_MOTOR_DATA_)
#define ORRERY_CONSTRAINTS_ANGULAR_MOTOR_DATA_

#include "sim/constraints/three_form.h"

namespace orrery::sim {

struct AngularMotorBundle : AngularThree {
    Vec3Rows target;  // in the frame of A
};

inline void load_lane(AngularMotorBundle& bundle, std::uint32_t lane, const AngularMotor& joint, const float* impulse) {
    set_lane(bundle.target, lane, joint.target_radps);
    set_motor(bundle, lane, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_ANGULAR_MOTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ANGULAR_MOTOR_INL_H_
#undef ORRERY_CONSTRAINTS_ANGULAR_MOTOR_INL_H_
#else
#define ORRERY_CONSTRAINTS_ANGULAR_MOTOR_INL_H_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// C' = wb - wa - target, with the target turned to world axes.
struct AngularMotorFunctions : ThreeFunctions<AngularMotorFunctions, AngularThree, Drive::motor> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const AngularMotorBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                       const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        static_cast<void>(pose_b);
        rows.error = rotate(pose_a.orientation, get<F>(bundle.target, lane));
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
