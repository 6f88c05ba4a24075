#ifndef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_H_
#define ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives one body's angular velocity in the world: 3 degrees of freedom, torque bounded. The body is B of the joint; A
// is the world.
struct OneBodyAngularMotor {
    Vec3 target_radps;  // world
    Motor motor;

    static constexpr int kBodies = 1;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.velocity(Side::a, "target_radps", s.target_radps, kMaxAngularSpeed_radps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_DATA_)
#define ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_DATA_

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

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_INL_H_
#undef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_INL_H_
#else
#define ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_MOTOR_INL_H_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// C' = wb - target.
struct OneBodyAngularMotorFunctions : ThreeFunctions<OneBodyAngularMotorFunctions, AngularThree, Drive::motor> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const OneBodyAngularMotorBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                       const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        static_cast<void>(pose_a), static_cast<void>(pose_b);
        rows.error = get<F>(bundle.target, lane);
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
