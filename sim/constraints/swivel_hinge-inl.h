// The bundle of swivel_hinge.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_SWIVEL_HINGE_BUNDLE_
#define ORRERY_CONSTRAINTS_SWIVEL_HINGE_BUNDLE_

#include "sim/constraints/block_form.h"
#include "sim/constraints/swivel_hinge.h"

namespace orrery::sim {

struct SwivelHingeBundle : SwivelHingeRows {
    Vec3Rows anchor_a, anchor_b, axis_a, axis_b;  // local
};

inline void load_lane(SwivelHingeBundle& bundle, std::uint32_t lane, const SwivelHinge& joint, const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.axis_b, lane, joint.axis_b);
    set_lane(bundle.spring, lane, joint.spring);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_SWIVEL_HINGE_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_SWIVEL_HINGE_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_SWIVEL_HINGE_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_SWIVEL_HINGE_FUNCTIONS_
#endif

#include "sim/constraints/block_form-inl.h"

ORRERY_LANES_BEGIN

// With ra, rb the anchors and a, b the axes in world axes:
//
//   C  = [ (xb + rb) - (xa + ra) ;  a . b ]
//   C' = [ vb + wb x rb - va - wa x ra ;  (wb - wa) . (b x a) ]
//
// Along a world axis e the first three are e . (vb - va) + wb . (rb x e) - wa . (ra x e).
struct SwivelHingeFunctions : BlockFunctions<SwivelHingeFunctions, SwivelHingeRows> {
    template <class F>
    ORRERY_FN static BlockT<SwivelHingeRows, F> measure(const SwivelHingeBundle& bundle, std::size_t lane,
                                                        const PoseT<F>& pose_a, const PoseT<F>& pose_b) {
        const F zero(0.0f), one(1.0f);
        const Vec3T<F> axes[3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
        const Vec3T<F> ra = rotate(pose_a.orientation, get<F>(bundle.anchor_a, lane));
        const Vec3T<F> rb = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        const Vec3T<F> a = rotate(pose_a.orientation, get<F>(bundle.axis_a, lane));
        const Vec3T<F> b = rotate(pose_b.orientation, get<F>(bundle.axis_b, lane));
        const Vec3T<F> d = (pose_b.position - pose_a.position) + (rb - ra);
        BlockT<SwivelHingeRows, F> block;
        for (std::size_t i = 0; i < 3; ++i)
            block.row[i] = {axes[i], cross(ra, axes[i]), cross(rb, axes[i]), dot(axes[i], d)};
        block.row[3] = LineT<F>::turn(cross(b, a), dot(a, b));
        return block;
    }
};

ORRERY_LANES_END

#endif
#endif
