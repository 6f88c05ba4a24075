// The bundle of angular_swivel_hinge.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_ANGULAR_SWIVEL_HINGE_BUNDLE_
#define ORRERY_CONSTRAINTS_ANGULAR_SWIVEL_HINGE_BUNDLE_

#include "sim/constraints/angular_swivel_hinge.h"
#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct AngularSwivelHingeBundle : AngularRow {
    Vec3Rows axis_a, axis_b;  // local
};

inline void load_lane(AngularSwivelHingeBundle& bundle, std::uint32_t lane, const AngularSwivelHinge& joint,
                      const float* impulse) {
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.axis_b, lane, joint.axis_b);
    set_servo(bundle.drive, lane, 0.0f, joint.spring, {});
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_ANGULAR_SWIVEL_HINGE_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ANGULAR_SWIVEL_HINGE_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_ANGULAR_SWIVEL_HINGE_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_ANGULAR_SWIVEL_HINGE_FUNCTIONS_
#endif

#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

// With a, b the axes in world axes:
//
//   C = a . b,  C' = (wa x a) . b + a . (wb x b) = (wb - wa) . (b x a)
struct AngularSwivelHingeFunctions : RowFunctions<AngularSwivelHingeFunctions, AngularRow> {
    template <class F>
    ORRERY_FN static RowT<F> measure(const AngularSwivelHingeBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const Vec3T<F> a = rotate(pose_a.orientation, get<F>(bundle.axis_a, lane));
        const Vec3T<F> b = rotate(pose_b.orientation, get<F>(bundle.axis_b, lane));
        RowT<F> row;
        row.angular_a = row.angular_b = cross(b, a);
        row.value = dot(a, b);
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
