// The bundle of twist_motor.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_TWIST_MOTOR_BUNDLE_
#define ORRERY_CONSTRAINTS_TWIST_MOTOR_BUNDLE_

#include "sim/constraints/twist_form.h"
#include "sim/constraints/twist_motor.h"

namespace orrery::sim {

struct TwistMotorBundle : TwistRow {};

inline void load_lane(TwistMotorBundle& bundle, std::uint32_t lane, const TwistMotor& joint, const float* impulse) {
    load_twist(bundle, lane, joint);
    set_motor(bundle.drive, lane, joint.target_radps, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_TWIST_MOTOR_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_TWIST_MOTOR_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_TWIST_MOTOR_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_TWIST_MOTOR_FUNCTIONS_
#endif

#include "sim/constraints/twist_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of twist_form-inl.h.
struct TwistMotorFunctions : TwistFunctions<Drive::motor> {};

ORRERY_LANES_END

#endif
#endif
