// The bundle of twist_limit.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_TWIST_LIMIT_BUNDLE_
#define ORRERY_CONSTRAINTS_TWIST_LIMIT_BUNDLE_

#include "sim/constraints/twist_form.h"
#include "sim/constraints/twist_limit.h"

namespace orrery::sim {

struct TwistLimitBundle : TwistRow {};

inline void load_lane(TwistLimitBundle& bundle, std::uint32_t lane, const TwistLimit& joint, const float* impulse) {
    load_twist(bundle, lane, joint);
    set_limit(bundle.drive, lane, joint.min_angle_rad, joint.max_angle_rad, joint.spring);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_TWIST_LIMIT_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_TWIST_LIMIT_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_TWIST_LIMIT_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_TWIST_LIMIT_FUNCTIONS_
#endif

#include "sim/constraints/twist_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of twist_form-inl.h.
struct TwistLimitFunctions : TwistFunctions<> {};

ORRERY_LANES_END

#endif
#endif
