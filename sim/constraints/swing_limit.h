#ifndef ORRERY_CONSTRAINTS_SWING_LIMIT_H_
#define ORRERY_CONSTRAINTS_SWING_LIMIT_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Keeps the angle between an axis of A and one of B within a cone.
struct SwingLimit {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};  // unit, local
    float max_angle_rad = 0.5f;                               // 0 to pi
    Spring spring;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.number("max_angle_rad", s.max_angle_rad, 0.0f, kAboutPi);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_SWING_LIMIT_DATA_)
#define ORRERY_CONSTRAINTS_SWING_LIMIT_DATA_

#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct SwingLimitBundle : AngularRow {
    Vec3Rows axis_a, axis_b;  // local
};

inline void load_lane(SwingLimitBundle& bundle, std::uint32_t lane, const SwingLimit& joint, const float* impulse) {
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.axis_b, lane, joint.axis_b);
    set_limit(bundle.drive, lane, kNeverBelow_rad, joint.max_angle_rad, joint.spring);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_SWING_LIMIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_SWING_LIMIT_INL_H_
#undef ORRERY_CONSTRAINTS_SWING_LIMIT_INL_H_
#else
#define ORRERY_CONSTRAINTS_SWING_LIMIT_INL_H_
#endif

#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

// With a, b the axes in world axes and n the unit vector along a x b:
//
//   value = angle(a, b) = atan2(|a x b|, a . b)
//   (a . b)' = (wa x a) . b + a . (wb x b) = -(wb - wa) . (a x b),  so that  value' = (wb - wa) . n
//
// The angle itself rather than its cosine, whose derivative vanishes where the axes are parallel. There n has no direction, and
// any will do: only a cone of no width is at its limit there.
struct SwingLimitFunctions : RowFunctions<SwingLimitFunctions, AngularRow> {
    template <class F>
    ORRERY_FN static RowT<F> measure(const SwingLimitBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const F zero(0.0f), one(1.0f);
        const Vec3T<F> a = rotate(pose_a.orientation, get<F>(bundle.axis_a, lane));
        const Vec3T<F> b = rotate(pose_b.orientation, get<F>(bundle.axis_b, lane));
        const Vec3T<F> across = cross(a, b);
        RowT<F> row;
        row.angular_a = row.angular_b = normalize_or(across, Vec3T<F>{one, zero, zero}, F(1.0e-6f));
        row.value = atan2(length(across), dot(a, b));
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
