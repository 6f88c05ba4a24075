#ifndef ORRERY_CONSTRAINTS_ANGULAR_HINGE_H_
#define ORRERY_CONSTRAINTS_ANGULAR_HINGE_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Holds an axis of A along one of B: 2 degrees of freedom, what a hinge holds of the rotation.
struct AngularHinge {
    Vec3 axis_a{0.0f, 1.0f, 0.0f}, axis_b{0.0f, 1.0f, 0.0f};  // unit, local
    Spring spring;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a), v.direction(Side::b, "axis_b", s.axis_b);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_ANGULAR_HINGE_DATA_)
#define ORRERY_CONSTRAINTS_ANGULAR_HINGE_DATA_

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

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_ANGULAR_HINGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ANGULAR_HINGE_INL_H_
#undef ORRERY_CONSTRAINTS_ANGULAR_HINGE_INL_H_
#else
#define ORRERY_CONSTRAINTS_ANGULAR_HINGE_INL_H_
#endif

#include "sim/constraints/block_form-inl.h"

ORRERY_LANES_BEGIN

// As in a Hinge: with a, b the axes, u any direction of A across a, and v = a x u, all in world axes,
//
//   C  = [ -v . b ;  u . b ],  C' = [ (wb - wa) . (v x b) ;  (wb - wa) . (b x u) ]
struct AngularHingeFunctions : BlockFunctions<AngularHingeFunctions, AngularHingeRows> {
    template <class F>
    ORRERY_FN static BlockT<AngularHingeRows, F> measure(const AngularHingeBundle& bundle, std::size_t lane,
                                                         const PoseT<F>& pose_a,
                                              const PoseT<F>& pose_b) {
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
