#ifndef ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_H_
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the offset of a point of B from one of A along an axis of A.
struct LinearAxisServo {
    Vec3 anchor_a, anchor_b;        // m, local
    Vec3 axis_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A
    float target_m = 0.0f;
    Spring spring;
    Servo servo;

    static constexpr auto kTarget = &LinearAxisServo::target_m;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "axis_a", s.axis_a);
        v.number("target_m", s.target_m, -kMaxTravel_m, kMaxTravel_m);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_DATA_)
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_DATA_

#include "sim/constraints/line_form.h"

namespace orrery::sim {

struct LinearAxisServoBundle : LineRow {};

inline void load_lane(LinearAxisServoBundle& bundle, std::uint32_t lane, const LinearAxisServo& joint, const float* impulse) {
    load_line(bundle, lane, joint);
    set_servo(bundle.drive, lane, joint.target_m, joint.spring, joint.servo);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_INL_H_
#undef ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_INL_H_
#else
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_INL_H_
#endif

#include "sim/constraints/line_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of line_form-inl.h.
struct LinearAxisServoFunctions : LineFunctions<Drive::servo> {};

ORRERY_LANES_END

#endif
#endif
