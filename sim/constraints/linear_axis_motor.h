#ifndef ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_H_
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the rate of the offset of a point of B from one of A along an axis of A, force bounded.
struct LinearAxisMotor {
    Vec3 anchor_a, anchor_b;        // m, local
    Vec3 axis_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A
    float target_mps = 0.0f;
    Motor motor;

    static constexpr auto kTarget = &LinearAxisMotor::target_mps;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "axis_a", s.axis_a);
        v.speed("target_mps", s.target_mps, kMaxLinearSpeed_mps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_DATA_)
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_DATA_

#include "sim/constraints/line_form.h"

namespace orrery::sim {

struct LinearAxisMotorBundle : LineRow {};

inline void load_lane(LinearAxisMotorBundle& bundle, std::uint32_t lane, const LinearAxisMotor& joint, const float* impulse) {
    load_line(bundle, lane, joint);
    set_motor(bundle.drive, lane, joint.target_mps, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_INL_H_
#undef ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_INL_H_
#else
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_INL_H_
#endif

#include "sim/constraints/line_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of line_form-inl.h.
struct LinearAxisMotorFunctions : LineFunctions<Drive::motor> {};

ORRERY_LANES_END

#endif
#endif
