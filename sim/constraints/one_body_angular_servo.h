#ifndef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_H_
#define ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives one body's orientation in the world: 3 degrees of freedom, torque bounded. The body is B of the joint; A is the world.
struct OneBodyAngularServo {
    Quat target_orientation;  // world
    Spring spring{5.0f, 1.0f};
    Servo servo;

    static constexpr int kBodies = 1;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.turn("target_orientation", s.target_orientation);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_DATA_)
#define ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_DATA_

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

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_INL_H_
#undef ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_INL_H_
#else
#define ORRERY_CONSTRAINTS_ONE_BODY_ANGULAR_SERVO_INL_H_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// With e = qb q_target^-1 the rotation from where B should point to where it points:
//
//   C = axis(e) angle(e),  C' = wb along C, and everywhere at C = 0
struct OneBodyAngularServoFunctions : ThreeFunctions<OneBodyAngularServoFunctions, AngularThree> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const OneBodyAngularServoBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                       const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        static_cast<void>(pose_a);
        rows.error = rotation_vector(pose_b.orientation * conjugate(get<F>(bundle.target, lane)));
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
