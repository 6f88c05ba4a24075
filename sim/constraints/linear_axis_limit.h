#ifndef ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_H_
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Keeps the offset of a point of B from one of A along an axis of A within [min, max].
struct LinearAxisLimit {
    Vec3 anchor_a, anchor_b;        // m, local
    Vec3 axis_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A
    float min_m = 0.0f, max_m = 0.0f;
    Spring spring;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "axis_a", s.axis_a);
        v.number("min_m", s.min_m, -kMaxTravel_m, kMaxTravel_m), v.number("max_m", s.max_m, -kMaxTravel_m, kMaxTravel_m);
        v.spring("spring", s.spring);
        v.ordered("min_m", s.min_m, "max_m", s.max_m);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_DATA_)
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_DATA_

#include "sim/constraints/line_form.h"

namespace orrery::sim {

struct LinearAxisLimitBundle : LineRow {};

inline void load_lane(LinearAxisLimitBundle& bundle, std::uint32_t lane, const LinearAxisLimit& joint, const float* impulse) {
    load_line(bundle, lane, joint);
    set_limit(bundle.drive, lane, joint.min_m, joint.max_m, joint.spring);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_INL_H_
#undef ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_INL_H_
#else
#define ORRERY_CONSTRAINTS_LINEAR_AXIS_LIMIT_INL_H_
#endif

#include "sim/constraints/line_form-inl.h"

ORRERY_LANES_BEGIN

// Value and Jacobian are those of line_form-inl.h.
struct LinearAxisLimitFunctions : LineFunctions<> {};

ORRERY_LANES_END

#endif
#endif
