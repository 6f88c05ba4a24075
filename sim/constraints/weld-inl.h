// The bundle of weld.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_WELD_BUNDLE_
#define ORRERY_CONSTRAINTS_WELD_BUNDLE_

#include "sim/constraints/bundle.h"
#include "sim/constraints/weld.h"

namespace orrery::sim {

struct WeldBundle {
    BundleHead head;
    Vec3Rows anchor_a, anchor_b;  // local
    QuatRows relative;
    SpringRows spring;
    Vec3Rows impulse, turn;  // N s and N m s of one substep, world axes
    JointForceRows force;
    // Of the current poses:
    InertiaRows a, b;
    Vec3Rows arm_a, arm_b;  // world
    LdltRows<6> mass;
    Vec3Rows bias, turn_bias;  // m/s, rad/s
};

inline void load_lane(WeldBundle& bundle, std::uint32_t lane, const Weld& joint, const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.relative, lane, joint.relative_orientation);
    set_lane(bundle.spring, lane, joint.spring);
    set_lane(bundle.impulse, lane, impulse);
    set_lane(bundle.turn, lane, impulse + 3);
}
inline void store_lane(const WeldBundle& bundle, std::uint32_t lane, float* impulse) {
    get_lane(bundle.impulse, lane, impulse);
    get_lane(bundle.turn, lane, impulse + 3);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_WELD_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_WELD_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_WELD_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_WELD_FUNCTIONS_
#endif

#include "sim/constraints/block-inl.h"

ORRERY_LANES_BEGIN

// With ra, rb the anchors turned to world axes and e = qb (qa q_rel)^-1 the rotation, in world axes, from where B
// should point to where it points:
//
//   C  = [ (xb + rb) - (xa + ra) ;  2 e.xyz sign(e.w) ]
//   C' = [ vb + wb x rb - va - wa x ra ;  wb - wa ]        the second exact at C = 0, where e' = (wb - wa, 0) / 2
//   J  = [ -E, [ra]x, E, -[rb]x ;  0, -E, 0, E ]
//
// A welded beam is loaded in rotation through its lever, so point and rotation are solved together as one 6x6 block.
struct WeldFunctions {
    using Bundle = WeldBundle;

    template <class F>
    struct Bias {
        Vec3T<F> linear, angular;
    };
    template <class F>
    ORRERY_FN static Bias<F> bias(const Bundle& bundle, std::size_t lane) {
        return {get<F>(bundle.bias, lane), get<F>(bundle.turn_bias, lane)};
    }

    template <class F>
    ORRERY_FN static void prepare(Bundle& bundle, std::size_t lane, const StepConstants& step) {
        prepare_spring<F>(bundle.spring, lane, step);
    }

    template <class F>
    ORRERY_FN static void refresh(Bundle& bundle, std::size_t lane, const StepConstants&, const PoseT<F>& pose_a,
                                  const PoseT<F>& pose_b, const InertiaT<F>& a, const InertiaT<F>& b) {
        const Vec3T<F> ra = rotate(pose_a.orientation, get<F>(bundle.anchor_a, lane));
        const Vec3T<F> rb = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        put(bundle.a, lane, a);
        put(bundle.b, lane, b);
        put(bundle.arm_a, lane, ra);
        put(bundle.arm_b, lane, rb);
        const F zero(0.0f), one(1.0f);
        const Vec3T<F> axes[3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
        put(bundle.mass, lane, factor_block(ra, rb, axes, a, b));

        const QuatT<F> e = pose_b.orientation * conjugate(pose_a.orientation * get<F>(bundle.relative, lane));
        const F two = select(e.w < zero, F(-2.0f), F(2.0f));
        put(bundle.bias, lane, recovery(bundle.spring, lane, (pose_b.position - pose_a.position) + (rb - ra)));
        put(bundle.turn_bias, lane, recovery(bundle.spring, lane, Vec3T<F>{e.x, e.y, e.z} * two));
    }

    template <class F>
    ORRERY_FN static void apply(const Bundle& bundle, std::size_t lane, Vec3T<F> impulse, Vec3T<F> turn,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        subtract_impulse(va, get<F>(bundle.a, lane), impulse, cross(get<F>(bundle.arm_a, lane), impulse) + turn);
        add_impulse(vb, get<F>(bundle.b, lane), impulse, cross(get<F>(bundle.arm_b, lane), impulse) + turn);
    }

    template <class F>
    ORRERY_FN static void warm_start(const Bundle& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        apply(bundle, lane, get<F>(bundle.impulse, lane), get<F>(bundle.turn, lane), va, vb);
    }

    template <bool kRelax, class F>
    ORRERY_FN static void solve(Bundle& bundle, std::size_t lane, const StepConstants&, const Bias<F>& bias,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        const auto spring = PassSpring<kRelax, F>::of(bundle.spring, lane);
        const Vec3T<F> ra = get<F>(bundle.arm_a, lane), rb = get<F>(bundle.arm_b, lane);
        const Vec3T<F> slip = (vb.linear + cross(vb.angular, rb)) - (va.linear + cross(va.angular, ra));
        const Vec3T<F> spin = vb.angular - va.angular;
        const Vec3T<F> p = get<F>(bundle.impulse, lane), t = get<F>(bundle.turn, lane);
        const F speed[6] = {slip.x, slip.y, slip.z, spin.x, spin.y, spin.z};
        const F wanted[6] = {bias.linear.x,  bias.linear.y,  bias.linear.z,
                             bias.angular.x, bias.angular.y, bias.angular.z};
        const F old[6] = {p.x, p.y, p.z, t.x, t.y, t.z};
        F change[6];
        soft_change(get<F>(bundle.mass, lane), spring, speed, wanted, old, change);
        const Vec3T<F> dp{change[0], change[1], change[2]}, dt{change[3], change[4], change[5]};
        put(bundle.impulse, lane, p + dp);
        put(bundle.turn, lane, t + dt);
        apply(bundle, lane, dp, dt, va, vb);
    }

    template <class F>
    ORRERY_FN static void accumulate(Bundle& bundle, std::size_t lane) {
        add_rows<F>(bundle.force.linear, lane, get<F>(bundle.impulse, lane));
        add_rows<F>(bundle.force.angular, lane, get<F>(bundle.turn, lane));
    }
    template <class F>
    ORRERY_FN static void finish(Bundle& bundle, std::size_t lane) {
        canonicalise<F>(bundle.impulse, lane), canonicalise<F>(bundle.turn, lane);
    }
};

ORRERY_LANES_END

#endif
#endif
