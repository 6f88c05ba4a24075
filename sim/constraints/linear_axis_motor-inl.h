// The bundle of linear_axis_motor.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_BUNDLE_
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_BUNDLE_

#include "sim/constraints/line_form.h"
#include "sim/constraints/linear_axis_motor.h"

namespace orrery::sim {

struct LinearAxisMotorBundle : LineRow {};

inline void load_lane(LinearAxisMotorBundle& bundle, std::uint32_t lane, const LinearAxisMotor& joint,
                      const float* impulse) {
    load_line(bundle, lane, joint);
    set_motor(bundle.drive, lane, joint.target_mps, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_MOTOR_FUNCTIONS_
#endif

#include "sim/constraints/line_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of line_form-inl.h.
struct LinearAxisMotorFunctions : LineFunctions<Drive::motor> {};

ORRERY_LANES_END

#endif
#endif
