#ifndef ORRERY_CONSTRAINTS_TWIST_SERVO_H_
#define ORRERY_CONSTRAINTS_TWIST_SERVO_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the twist of B relative to A (see TwistLimit) to an angle: beside a Hinge, its spring or its servo drive.
struct TwistServo {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};      // unit, local
    Vec3 normal_a{1.0f, 0.0f, 0.0f}, normal_b{1.0f, 0.0f, 0.0f};  // unit, local, perpendicular to the axis
    float target_rad = 0.0f;                                      // -pi to pi
    Spring spring;
    Servo servo;

    static constexpr auto kTarget = &TwistServo::target_rad;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.direction(Side::a, "normal_a", s.normal_a), v.direction(Side::b, "normal_b", s.normal_b);
        v.number("target_rad", s.target_rad, -kAboutPi, kAboutPi);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
        v.perpendicular("normal_a", s.normal_a, "axis_a", s.axis_a);
        v.perpendicular("normal_b", s.normal_b, "axis_b", s.axis_b);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_TWIST_SERVO_DATA_)
#define ORRERY_CONSTRAINTS_TWIST_SERVO_DATA_

#include "sim/constraints/twist_form.h"

namespace orrery::sim {

struct TwistServoBundle : TwistRow {};

inline void load_lane(TwistServoBundle& bundle, std::uint32_t lane, const TwistServo& joint, const float* impulse) {
    load_twist(bundle, lane, joint);
    set_servo(bundle.drive, lane, joint.target_rad, joint.spring, joint.servo);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_TWIST_SERVO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_TWIST_SERVO_INL_H_
#undef ORRERY_CONSTRAINTS_TWIST_SERVO_INL_H_
#else
#define ORRERY_CONSTRAINTS_TWIST_SERVO_INL_H_
#endif

#include "sim/constraints/twist_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of twist_form-inl.h.
struct TwistServoFunctions : TwistFunctions<Drive::servo> {};

ORRERY_LANES_END

#endif
#endif
