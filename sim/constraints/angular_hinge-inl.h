// The bundle of angular_hinge.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_ANGULAR_HINGE_BUNDLE_
#define ORRERY_CONSTRAINTS_ANGULAR_HINGE_BUNDLE_

#include "sim/constraints/angular_hinge.h"
#include "sim/constraints/block_form.h"

namespace orrery::sim {

struct AngularHingeBundle : AngularHingeRows {
    Vec3Rows axis_a, axis_b;  // local
};

inline void load_lane(AngularHingeBundle& bundle, std::uint32_t lane, const AngularHinge& joint, const float* impulse) {
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.axis_b, lane, joint.axis_b);
    set_lane(bundle.spring, lane, joint.spring);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_ANGULAR_HINGE_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ANGULAR_HINGE_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_ANGULAR_HINGE_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_ANGULAR_HINGE_FUNCTIONS_
#endif

#include "sim/constraints/block_form-inl.h"

ORRERY_LANES_BEGIN

// As in a Hinge: with a, b the axes, u any direction of A across a, and v = a x u, all in world axes,
//
//   C  = [ -v . b ;  u . b ],  C' = [ (wb - wa) . (v x b) ;  (wb - wa) . (b x u) ]
struct AngularHingeFunctions : BlockFunctions<AngularHingeFunctions, AngularHingeRows> {
    template <class F>
    ORRERY_FN static BlockT<AngularHingeRows, F> measure(const AngularHingeBundle& bundle, std::size_t lane,
                                                         const PoseT<F>& pose_a, const PoseT<F>& pose_b) {
        const Vec3T<F> local = get<F>(bundle.axis_a, lane);
        const Vec3T<F> a = rotate(pose_a.orientation, local), u = rotate(pose_a.orientation, any_across(local));
        const Vec3T<F> v = cross(a, u);
        const Vec3T<F> b = rotate(pose_b.orientation, get<F>(bundle.axis_b, lane));
        BlockT<AngularHingeRows, F> block;
        block.row[0] = LineT<F>::turn(cross(v, b), -dot(v, b));
        block.row[1] = LineT<F>::turn(cross(b, u), dot(u, b));
        return block;
    }
};

ORRERY_LANES_END

#endif
#endif
