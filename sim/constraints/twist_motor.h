#ifndef ORRERY_CONSTRAINTS_TWIST_MOTOR_H_
#define ORRERY_CONSTRAINTS_TWIST_MOTOR_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the rate at which B twists relative to A (see TwistLimit), torque bounded.
struct TwistMotor {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};      // unit, local
    Vec3 normal_a{1.0f, 0.0f, 0.0f}, normal_b{1.0f, 0.0f, 0.0f};  // unit, local, perpendicular to the axis
    float target_radps = 0.0f;
    Motor motor;

    static constexpr auto kTarget = &TwistMotor::target_radps;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.direction(Side::a, "normal_a", s.normal_a), v.direction(Side::b, "normal_b", s.normal_b);
        v.speed("target_radps", s.target_radps, kMaxAngularSpeed_radps);
        v.motor("motor", s.motor);
        v.perpendicular("normal_a", s.normal_a, "axis_a", s.axis_a);
        v.perpendicular("normal_b", s.normal_b, "axis_b", s.axis_b);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_TWIST_MOTOR_DATA_)
#define ORRERY_CONSTRAINTS_TWIST_MOTOR_DATA_

#include "sim/constraints/twist_form.h"

namespace orrery::sim {

struct TwistMotorBundle : TwistRow {};

inline void load_lane(TwistMotorBundle& bundle, std::uint32_t lane, const TwistMotor& joint, const float* impulse) {
    load_twist(bundle, lane, joint);
    set_motor(bundle.drive, lane, joint.target_radps, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_TWIST_MOTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_TWIST_MOTOR_INL_H_
#undef ORRERY_CONSTRAINTS_TWIST_MOTOR_INL_H_
#else
#define ORRERY_CONSTRAINTS_TWIST_MOTOR_INL_H_
#endif

#include "sim/constraints/twist_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of twist_form-inl.h.
struct TwistMotorFunctions : TwistFunctions<Drive::motor> {};

ORRERY_LANES_END

#endif
#endif
