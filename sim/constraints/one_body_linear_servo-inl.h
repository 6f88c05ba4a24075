// The bundle of one_body_linear_servo.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_SERVO_BUNDLE_
#define ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_SERVO_BUNDLE_

#include "sim/constraints/bundle.h"
#include "sim/constraints/one_body_linear_servo.h"

namespace orrery::sim {

struct OneBodyLinearServoBundle {
    BundleHead head;
    Vec3Rows anchor_b;  // local
    Vec3Rows target;    // m, world
    SpringRows spring;
    Row max_speed, base_speed, max_force;  // m/s, m/s, N
    Row max_impulse;                       // N s of a substep, from prepare on
    Vec3Rows impulse;                      // N s of one substep, world axes
    JointForceRows force;
    // Of the current poses:
    InertiaRows b;
    Vec3Rows arm_b;  // world
    Sym3Rows mass;
    Vec3Rows bias;  // m/s
};

inline void load_lane(OneBodyLinearServoBundle& bundle, std::uint32_t lane, const OneBodyLinearServo& joint,
                      const float* impulse) {
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.target, lane, joint.target);
    set_lane(bundle.spring, lane, joint.spring);
    set_lane(bundle.max_speed, lane, joint.servo.max_speed);
    set_lane(bundle.base_speed, lane, joint.servo.base_speed);
    set_lane(bundle.max_force, lane, joint.servo.max_force);
    set_lane(bundle.impulse, lane, impulse);
}
inline void store_lane(const OneBodyLinearServoBundle& bundle, std::uint32_t lane, float* impulse) {
    get_lane(bundle.impulse, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_SERVO_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_SERVO_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_SERVO_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_SERVO_FUNCTIONS_
#endif

#include "sim/constraints/joint-inl.h"

ORRERY_LANES_BEGIN

// With rb the anchor turned to world axes and t the target:
//
//   C  = (xb + rb) - t
//   C' = vb + wb x rb
//   J  = [E, -[rb]x],  K = (1/mb) E + [rb]x Ib^-1 [rb]x^T,  m_eff = K^-1
//
// The spring says how fast to approach; that speed is at most max_speed and at least base_speed until the target is
// within one substep. The whole impulse of a substep is at most max_force h long. A is not moved.
struct OneBodyLinearServoFunctions {
    using Bundle = OneBodyLinearServoBundle;

    template <class F>
    using Bias = Vec3T<F>;
    template <class F>
    ORRERY_FN static Bias<F> bias(const Bundle& bundle, std::size_t lane) {
        return get<F>(bundle.bias, lane);
    }

    template <class F>
    ORRERY_FN static void prepare(Bundle& bundle, std::size_t lane, const StepConstants& step) {
        prepare_spring<F>(bundle.spring, lane, step);
        put(bundle.spring.is_user_spring, lane, F(1.0f));  // what a servo wants is a speed, whatever its spring
        put(bundle.max_impulse, lane, get<F>(bundle.max_force, lane) * F(step.h_s));
    }

    template <class F>
    ORRERY_FN static void refresh(Bundle& bundle, std::size_t lane, const StepConstants& step, const PoseT<F>&,
                                  const PoseT<F>& pose_b, const InertiaT<F>&, const InertiaT<F>& b) {
        const F zero(0.0f);
        const Vec3T<F> rb = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        put(bundle.b, lane, b);
        put(bundle.arm_b, lane, rb);
        put(bundle.mass, lane, inverse_or_zero(add_diagonal(lever_sandwich(rb, b.inverse_inertia), b.inverse_mass)));

        const Vec3T<F> error = (pose_b.position - get<F>(bundle.target, lane)) + rb;
        const F distance = length(error);
        const F base = min(get<F>(bundle.base_speed, lane), distance * F(step.inverse_h));
        const F speed = min(max(distance * get<F>(bundle.spring.rate, lane), base), get<F>(bundle.max_speed, lane));
        const MaskOf<F> away = distance > zero;
        put(bundle.bias, lane, error * select(away, speed / select(away, distance, F(1.0f)), zero));
    }

    template <class F>
    ORRERY_FN static void apply(const Bundle& bundle, std::size_t lane, Vec3T<F> impulse, VelocityT<F>& vb) {
        add_impulse(vb, get<F>(bundle.b, lane), impulse, cross(get<F>(bundle.arm_b, lane), impulse));
    }

    template <class F>
    ORRERY_FN static void warm_start(const Bundle& bundle, std::size_t lane, VelocityT<F>&, VelocityT<F>& vb) {
        apply(bundle, lane, get<F>(bundle.impulse, lane), vb);
    }

    template <bool kRelax, class F>
    ORRERY_FN static void solve(Bundle& bundle, std::size_t lane, const StepConstants&, const Bias<F>& bias,
                                VelocityT<F>&, VelocityT<F>& vb) {
        const auto spring = PassSpring<kRelax, F>::of(bundle.spring, lane);
        const Vec3T<F> speed = vb.linear + cross(vb.angular, get<F>(bundle.arm_b, lane));
        const Vec3T<F> old = get<F>(bundle.impulse, lane);
        const Vec3T<F> wanted =
            old - ((get<F>(bundle.mass, lane) * (speed + bias * spring.bias_scale)) * spring.mass_scale +
                   old * spring.impulse_scale);
        const Vec3T<F> now = clamp_length(wanted, get<F>(bundle.max_impulse, lane));
        put(bundle.impulse, lane, now);
        apply(bundle, lane, now - old, vb);
    }

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
