// The bundle of angular_axis_motor.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_ANGULAR_AXIS_MOTOR_BUNDLE_
#define ORRERY_CONSTRAINTS_ANGULAR_AXIS_MOTOR_BUNDLE_

#include "sim/constraints/angular_axis_motor.h"
#include "sim/constraints/bundle.h"

namespace orrery::sim {

struct AngularAxisMotorBundle {
    BundleHead head;
    Vec3Rows axis_a;  // local
    Row target;       // rad/s
    Row damping;      // N m s
    Row max_torque;   // N m
    Row softness;     // 1 / (damping h) or 0, and
    Row max_impulse;  // N m s of a substep, from prepare on
    Row impulse;      // N m s of one substep
    JointForceRows force;
    // Of the current poses:
    Sym3Rows inertia_a, inertia_b;
    Vec3Rows axis;  // world
    Row mass;
};

inline void load_lane(AngularAxisMotorBundle& bundle, std::uint32_t lane, const AngularAxisMotor& joint,
                      const float* impulse) {
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.target, lane, joint.target_radps);
    set_lane(bundle.damping, lane, joint.motor.damping);
    set_lane(bundle.max_torque, lane, joint.motor.max_force);
    set_lane(bundle.impulse, lane, impulse[0]);
}
inline void store_lane(const AngularAxisMotorBundle& bundle, std::uint32_t lane, float* impulse) {
    impulse[0] = bundle.impulse.lane[lane];
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_ANGULAR_AXIS_MOTOR_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ANGULAR_AXIS_MOTOR_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_ANGULAR_AXIS_MOTOR_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_ANGULAR_AXIS_MOTOR_FUNCTIONS_
#endif

#include "sim/constraints/joint-inl.h"

ORRERY_LANES_BEGIN

// With a the axis of A in world axes, a velocity constraint without a position:
//
//   C' = (wb - wa) . a - target,  J = [0, -a, 0, a],  k = a . (Ia^-1 + Ib^-1) a
//
// Damping c makes it soft: the torque is c (target - relative speed), so that with g = 1 / (c h), 0 if c = 0,
//
//   increment = -(J v - target + g accumulated) / (k + g),  |accumulated| <= max torque h
//
// A motor is what the user set: both passes do the same.
struct AngularAxisMotorFunctions {
    using Bundle = AngularAxisMotorBundle;

    template <class F>
    struct Bias {};
    template <class F>
    ORRERY_FN static Bias<F> bias(const Bundle&, std::size_t) {
        return {};
    }

    template <class F>
    ORRERY_FN static void prepare(Bundle& bundle, std::size_t lane, const StepConstants& step) {
        const F h(step.h_s);
        put(bundle.softness, lane, inverse_or_zero(get<F>(bundle.damping, lane) * h));
        put(bundle.max_impulse, lane, get<F>(bundle.max_torque, lane) * h);
    }

    template <class F>
    ORRERY_FN static void refresh(Bundle& bundle, std::size_t lane, const StepConstants&, const PoseT<F>& pose_a,
                                  const PoseT<F>&, const InertiaT<F>& a, const InertiaT<F>& b) {
        const F zero(0.0f);
        const Vec3T<F> axis = rotate(pose_a.orientation, get<F>(bundle.axis_a, lane));
        const F response = dot(axis, (a.inverse_inertia + b.inverse_inertia) * axis);
        put(bundle.inertia_a, lane, a.inverse_inertia);
        put(bundle.inertia_b, lane, b.inverse_inertia);
        put(bundle.axis, lane, axis);
        put(bundle.mass, lane,
            select(response > zero, inverse_or_zero(response + get<F>(bundle.softness, lane)), zero));
    }

    template <class F>
    ORRERY_FN static void apply(const Bundle& bundle, std::size_t lane, F impulse, VelocityT<F>& va, VelocityT<F>& vb) {
        const Vec3T<F> turn = get<F>(bundle.axis, lane) * impulse;
        va.angular = va.angular - get<F>(bundle.inertia_a, lane) * turn;
        vb.angular = vb.angular + get<F>(bundle.inertia_b, lane) * turn;
    }

    template <class F>
    ORRERY_FN static void warm_start(const Bundle& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        apply(bundle, lane, get<F>(bundle.impulse, lane), va, vb);
    }

    template <bool kRelax, class F>
    ORRERY_FN static void solve(Bundle& bundle, std::size_t lane, const StepConstants&, const Bias<F>&,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        const F speed = dot(get<F>(bundle.axis, lane), vb.angular - va.angular) - get<F>(bundle.target, lane);
        const F old = get<F>(bundle.impulse, lane), limit = get<F>(bundle.max_impulse, lane);
        const F change = (speed + get<F>(bundle.softness, lane) * old) * get<F>(bundle.mass, lane);
        const F now = clamp(old - change, -limit, limit);
        put(bundle.impulse, lane, now);
        apply(bundle, lane, now - old, va, vb);
    }

    template <class F>
    ORRERY_FN static void accumulate(Bundle& bundle, std::size_t lane) {
        add_rows<F>(bundle.force.angular, lane, get<F>(bundle.axis, lane) * get<F>(bundle.impulse, lane));
    }
    template <class F>
    ORRERY_FN static void finish(Bundle& bundle, std::size_t lane) {
        canonicalise<F>(bundle.impulse, lane);
    }
};

ORRERY_LANES_END

#endif
#endif
