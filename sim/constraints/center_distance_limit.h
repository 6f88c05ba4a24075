#ifndef ORRERY_CONSTRAINTS_CENTER_DISTANCE_LIMIT_H_
#define ORRERY_CONSTRAINTS_CENTER_DISTANCE_LIMIT_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Keeps the distance of two centres of mass within [min, max]; turns nothing.
struct CenterDistanceLimit {
    float min_m = 0.0f, max_m = 1.0f;
    Spring spring;

    template <class Start>
    static double at_start(const CenterDistanceLimit&, const Start& start) { return length(start.b() - start.a()); }

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.amount("min_m", s.min_m), v.amount("max_m", s.max_m);
        v.spring("spring", s.spring);
        v.ordered("min_m", s.min_m, "max_m", s.max_m);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_CENTER_DISTANCE_LIMIT_DATA_)
#define ORRERY_CONSTRAINTS_CENTER_DISTANCE_LIMIT_DATA_

#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct CenterDistanceLimitBundle : CentreRow {};

inline void load_lane(CenterDistanceLimitBundle& bundle, std::uint32_t lane, const CenterDistanceLimit& joint,
                      const float* impulse) {
    set_limit(bundle.drive, lane, lower_end(joint.min_m, joint.max_m), joint.max_m, joint.spring);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_CENTER_DISTANCE_LIMIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_CENTER_DISTANCE_LIMIT_INL_H_
#undef ORRERY_CONSTRAINTS_CENTER_DISTANCE_LIMIT_INL_H_
#else
#define ORRERY_CONSTRAINTS_CENTER_DISTANCE_LIMIT_INL_H_
#endif

#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

// With d = xb - xa and n = d / |d|, linear alone, so that it costs half of a DistanceServo:
//
//   value = |d|,  value' = n . (vb - va)
struct CenterDistanceLimitFunctions : RowFunctions<CenterDistanceLimitFunctions, CentreRow> {
    template <class F>
    ORRERY_FN static RowT<F> measure(const CenterDistanceLimitBundle&, std::size_t, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const F zero(0.0f), one(1.0f);
        const Vec3T<F> d = pose_b.position - pose_a.position;
        RowT<F> row;
        row.linear_a = row.linear_b = normalize_or(d, Vec3T<F>{zero, one, zero}, F(1.0e-6f));
        row.value = length(d);
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
