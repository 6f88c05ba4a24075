// The bundle of twist_servo.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_TWIST_SERVO_BUNDLE_
#define ORRERY_CONSTRAINTS_TWIST_SERVO_BUNDLE_

#include "sim/constraints/twist_form.h"
#include "sim/constraints/twist_servo.h"

namespace orrery::sim {

struct TwistServoBundle : TwistRow {};

inline void load_lane(TwistServoBundle& bundle, std::uint32_t lane, const TwistServo& joint, const float* impulse) {
    load_twist(bundle, lane, joint);
    set_servo(bundle.drive, lane, joint.target_rad, joint.spring, joint.servo);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_TWIST_SERVO_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_TWIST_SERVO_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_TWIST_SERVO_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_TWIST_SERVO_FUNCTIONS_
#endif

#include "sim/constraints/twist_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of twist_form-inl.h.
struct TwistServoFunctions : TwistFunctions<Drive::servo> {};

ORRERY_LANES_END

#endif
#endif
