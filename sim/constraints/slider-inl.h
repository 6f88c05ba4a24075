// The bundle of slider.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_SLIDER_BUNDLE_
#define ORRERY_CONSTRAINTS_SLIDER_BUNDLE_

#include "sim/constraints/block_form.h"
#include "sim/constraints/slider.h"

namespace orrery::sim {

struct SliderBundle : SliderRows {
    Vec3Rows anchor_a, anchor_b, axis_a;  // local
    QuatRows relative;
};

inline void load_lane(SliderBundle& bundle, std::uint32_t lane, const Slider& joint, const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.spring, lane, joint.spring);
    set_lane(bundle.relative, lane, joint.relative_orientation);
    set_limit(bundle.drive[0], lane, joint.limited ? joint.min_m : -kNeverBeyond_m,
              joint.limited ? joint.max_m : kNeverBeyond_m, joint.limit_spring);
    set_servo(bundle.drive[1], lane, joint.rest_m, joint.drive_spring, joint.drive);
    set_motor(bundle.drive[2], lane, joint.target_mps, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_SLIDER_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_SLIDER_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_SLIDER_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_SLIDER_FUNCTIONS_
#endif

#include "sim/constraints/block_form-inl.h"

ORRERY_LANES_BEGIN

// With n the axis, u and v two directions of A across it, ra, rb the anchors, d = (xb + rb) - (xa + ra), all in world
// axes, and e the rotation from where B should point to where it points:
//
//   C = [ u . d ; v . d ; 2 e.xyz sign(e.w) ]      along() of block_form-inl.h for the first two, wb - wa for the rest,
//   exact at 0 limit, drive, motor: n . d, along() too
struct SliderFunctions : BlockFunctions<SliderFunctions, SliderRows> {
    static constexpr Drive kDrives[] = {Drive::hold, Drive::servo, Drive::motor};

    template <class F>
    ORRERY_FN static BlockT<SliderRows, F> measure(const SliderBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                                   const PoseT<F>& pose_b) {
        const F zero(0.0f), one(1.0f);
        const Vec3T<F> axes[3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
        const Vec3T<F> local = get<F>(bundle.axis_a, lane);
        const Vec3T<F> n = rotate(pose_a.orientation, local), u = rotate(pose_a.orientation, any_across(local));
        const Vec3T<F> v = cross(n, u);
        const Vec3T<F> ra = rotate(pose_a.orientation, get<F>(bundle.anchor_a, lane));
        const Vec3T<F> rb = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        const Vec3T<F> d = (pose_b.position - pose_a.position) + (rb - ra);
        const QuatT<F> e = pose_b.orientation * conjugate(pose_a.orientation * get<F>(bundle.relative, lane));
        const F two = select(e.w < zero, F(-2.0f), F(2.0f));
        const Vec3T<F> off = Vec3T<F>{e.x, e.y, e.z} * two;
        BlockT<SliderRows, F> block;
        block.row[0] = along(u, ra, rb, d);
        block.row[1] = along(v, ra, rb, d);
        for (std::size_t i = 0; i < 3; ++i) block.row[2 + i] = LineT<F>::turn(axes[i], dot(axes[i], off));
        for (std::size_t i = 0; i < 3; ++i) block.drive[i] = along(n, ra, rb, d);
        return block;
    }
};

ORRERY_LANES_END

#endif
#endif
