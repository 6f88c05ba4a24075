// The bundle of linear_axis_limit.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_BUNDLE_
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_BUNDLE_

#include "sim/constraints/line_form.h"
#include "sim/constraints/linear_axis_limit.h"

namespace orrery::sim {

struct LinearAxisLimitBundle : LineRow {};

inline void load_lane(LinearAxisLimitBundle& bundle, std::uint32_t lane, const LinearAxisLimit& joint,
                      const float* impulse) {
    load_line(bundle, lane, joint);
    set_limit(bundle.drive, lane, joint.min_m, joint.max_m, joint.spring);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_FUNCTIONS_
#endif

#include "sim/constraints/line_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of line_form-inl.h.
struct LinearAxisLimitFunctions : LineFunctions<> {};

ORRERY_LANES_END

#endif
#endif
