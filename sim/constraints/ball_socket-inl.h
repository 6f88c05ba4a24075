// The bundle of ball_socket.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_BALL_SOCKET_BUNDLE_
#define ORRERY_CONSTRAINTS_BALL_SOCKET_BUNDLE_

#include "sim/constraints/ball_socket.h"
#include "sim/constraints/bundle.h"

namespace orrery::sim {

struct BallSocketBundle {
    BundleHead head;
    Vec3Rows anchor_a, anchor_b;  // local
    SpringRows spring;
    Vec3Rows impulse;  // N s of one substep, world axes
    JointForceRows force;
    // Of the current poses:
    InertiaRows a, b;
    Vec3Rows arm_a, arm_b;  // world
    Sym3Rows mass;          // effective
    Vec3Rows bias;          // m/s
};

inline void load_lane(BallSocketBundle& bundle, std::uint32_t lane, const BallSocket& joint, const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.spring, lane, joint.spring);
    set_lane(bundle.impulse, lane, impulse);
}
inline void store_lane(const BallSocketBundle& bundle, std::uint32_t lane, float* impulse) {
    get_lane(bundle.impulse, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_BALL_SOCKET_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_BALL_SOCKET_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_BALL_SOCKET_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_BALL_SOCKET_FUNCTIONS_
#endif

#include "sim/constraints/joint-inl.h"

ORRERY_LANES_BEGIN

// With ra, rb the anchors turned to world axes:
//
//   C  = (xb + rb) - (xa + ra) = 0
//   C' = vb + wb x rb - va - wa x ra
//   J  = [-E, [ra]x, E, -[rb]x]       since w x r = -[r]x w
//   K  = J M^-1 J^T = (1/ma + 1/mb) E + [ra]x Ia^-1 [ra]x^T + [rb]x Ib^-1 [rb]x^T,  m_eff = K^-1
//
// K is inverted rather than factored: three rows by cofactors cost one division, and solving is then one product.
struct BallSocketFunctions {
    using Bundle = BallSocketBundle;

    template <class F>
    using Bias = Vec3T<F>;
    template <class F>
    ORRERY_FN static Bias<F> bias(const Bundle& bundle, std::size_t lane) {
        return get<F>(bundle.bias, lane);
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
        put(bundle.mass, lane, inverse_or_zero(point_response(ra, rb, a, b)));
        const Vec3T<F> error = (pose_b.position - pose_a.position) + (rb - ra);
        put(bundle.bias, lane, recovery(bundle.spring, lane, error));
    }

    template <class F>
    ORRERY_FN static void apply(const Bundle& bundle, std::size_t lane, Vec3T<F> impulse, VelocityT<F>& va,
                                VelocityT<F>& vb) {
        subtract_impulse(va, get<F>(bundle.a, lane), impulse, cross(get<F>(bundle.arm_a, lane), impulse));
        add_impulse(vb, get<F>(bundle.b, lane), impulse, cross(get<F>(bundle.arm_b, lane), impulse));
    }

    template <class F>
    ORRERY_FN static void warm_start(const Bundle& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        apply(bundle, lane, get<F>(bundle.impulse, lane), va, vb);
    }

    template <bool kRelax, class F>
    ORRERY_FN static void solve(Bundle& bundle, std::size_t lane, const StepConstants&, const Bias<F>& bias,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        const auto spring = PassSpring<kRelax, F>::of(bundle.spring, lane);
        const Vec3T<F> ra = get<F>(bundle.arm_a, lane), rb = get<F>(bundle.arm_b, lane);
        const Vec3T<F> speed = (vb.linear + cross(vb.angular, rb)) - (va.linear + cross(va.angular, ra));
        const Vec3T<F> old = get<F>(bundle.impulse, lane);
        const Vec3T<F> change = -((get<F>(bundle.mass, lane) * (speed + bias * spring.bias_scale)) * spring.mass_scale +
                                  old * spring.impulse_scale);
        put(bundle.impulse, lane, old + change);
        apply(bundle, lane, change, va, vb);
    }

    // Adds the substep's impulse to the tick's.
    template <class F>
    ORRERY_FN static void accumulate(Bundle& bundle, std::size_t lane) {
        add_rows<F>(bundle.force.linear, lane, get<F>(bundle.impulse, lane));
    }
    template <class F>
    ORRERY_FN static void finish(Bundle& bundle, std::size_t lane) {
        canonicalise<F>(bundle.impulse, lane);
    }
};

ORRERY_LANES_END

#endif
#endif
