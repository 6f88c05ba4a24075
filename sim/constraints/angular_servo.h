#ifndef ORRERY_CONSTRAINTS_ANGULAR_SERVO_H_
#define ORRERY_CONSTRAINTS_ANGULAR_SERVO_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the orientation of B relative to A: 3 degrees of freedom, torque bounded.
struct AngularServo {
    Quat relative_orientation;  // B in the frame of A: orientation_b = orientation_a * relative_orientation
    Spring spring;
    Servo servo;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.turn("relative_orientation", s.relative_orientation);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_ANGULAR_SERVO_DATA_)
#define ORRERY_CONSTRAINTS_ANGULAR_SERVO_DATA_

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

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_ANGULAR_SERVO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ANGULAR_SERVO_INL_H_
#undef ORRERY_CONSTRAINTS_ANGULAR_SERVO_INL_H_
#else
#define ORRERY_CONSTRAINTS_ANGULAR_SERVO_INL_H_
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
        rows.error = rotation_vector(pose_b.orientation * conjugate(pose_a.orientation * get<F>(bundle.relative, lane)));
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
