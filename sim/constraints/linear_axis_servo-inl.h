// The bundle of linear_axis_servo.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_BUNDLE_
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_BUNDLE_

#include "sim/constraints/line_form.h"
#include "sim/constraints/linear_axis_servo.h"

namespace orrery::sim {

struct LinearAxisServoBundle : LineRow {};

inline void load_lane(LinearAxisServoBundle& bundle, std::uint32_t lane, const LinearAxisServo& joint,
                      const float* impulse) {
    load_line(bundle, lane, joint);
    set_servo(bundle.drive, lane, joint.target_m, joint.spring, joint.servo);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_SERVO_FUNCTIONS_
#endif

#include "sim/constraints/line_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of line_form-inl.h.
struct LinearAxisServoFunctions : LineFunctions<Drive::servo> {};

ORRERY_LANES_END

#endif
#endif
