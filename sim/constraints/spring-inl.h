// The soft form shared by all constraints. With w = 2 pi f, damping ratio z and substep h, implicit Euler of the damped
// oscillator m (x'' + 2 z w x' + w^2 x) = 0 asks for the impulse
//
//   increment = -mass_scale * m_eff (J v + rate * C) - impulse_scale * accumulated
//
//   rate = w / (w h + 2 z),  q = w h (w h + 2 z),  mass_scale = q / (1 + q),  impulse_scale = 1 / (1 + q)
//
// which needs no mass but the effective one: stiffness m w^2 and damping 2 m z w scale with it and cancel.
// Source: Catto, "Soft Constraints" (GDC 2011); the long derivation in the reference on constraint functions.

#if defined(ORRERY_CONSTRAINTS_SPRING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_SPRING_INL_H_
#undef ORRERY_CONSTRAINTS_SPRING_INL_H_
#else
#define ORRERY_CONSTRAINTS_SPRING_INL_H_
#endif

#include "sim/constraints/bundle-inl.h"
#include "sim/lanes/trig-inl.h"

ORRERY_LANES_BEGIN

template <class F>
struct SoftT {
    F rate, mass_scale, impulse_scale;
};

// frequency_hz > 0 and damping_ratio >= 0.
template <class F>
ORRERY_FN SoftT<F> soften(F frequency_hz, F damping_ratio, F h) {
    const F w = F(2.0f * kPi) * frequency_hz;
    const F wh = w * h, c = wh + (damping_ratio + damping_ratio);
    const F q = wh * c;
    const F impulse_scale = F(1.0f) / (F(1.0f) + q);
    return {w / c, q * impulse_scale, impulse_scale};
}

// Makes coefficients of frequency and ratio; where the frequency is 0 the default rigidity takes their place.
template <class F>
ORRERY_FN void prepare_spring(SpringRows& rows, std::size_t lane, const StepConstants& step) {
    const F frequency = get<F>(rows.frequency_hz, lane), ratio = get<F>(rows.damping_ratio, lane);
    const MaskOf<F> user = frequency > F(0.0f);
    const SoftT<F> soft = soften(select(user, frequency, F(1.0f)), ratio, F(step.h_s));
    put(rows.rate, lane, select(user, soft.rate, F(step.joint.rate)));
    put(rows.mass_scale, lane, select(user, soft.mass_scale, F(step.joint.mass_scale)));
    put(rows.impulse_scale, lane, select(user, soft.impulse_scale, F(step.joint.impulse_scale)));
    put(rows.is_user_spring, lane, select(user, F(1.0f), F(0.0f)));
    const F limit = get<F>(rows.max_recovery_speed, lane);
    put(rows.recovery_speed, lane,
        select(limit > F(0.0f), limit, select(user, F(kNoLimit), F(step.joint_recovery_speed))));
}

// The speed at which a row's error is asked to shrink, and that of three rows along it.
template <class F>
ORRERY_FN F recovery(const SpringRows& rows, std::size_t lane, F error) {
    const F limit = get<F>(rows.recovery_speed, lane);
    return clamp(error * get<F>(rows.rate, lane), -limit, limit);
}
template <class F>
ORRERY_FN Vec3T<F> recovery(const SpringRows& rows, std::size_t lane, Vec3T<F> error) {
    const F limit = get<F>(rows.recovery_speed, lane), one(1.0f);
    const Vec3T<F> speed = error * get<F>(rows.rate, lane);
    const F squared = length_squared(speed);
    const MaskOf<F> over = squared > limit * limit;
    if (!any(over)) return speed;  // as good as always: the root is dear
    return select<F>(over, speed * (limit / sqrt(select(over, squared, one))), speed);
}

// In the solve pass all of it; in relax a user's spring only, where the default rigidity holds velocity alone.
// Relax of a user's spring repeats the solve pass, bias included, so that its oscillator is integrated once a substep:
// bias_scale is 1 there, and 0 for the default rigidity.
template <bool kRelax, class F>
struct PassSpring {
    F mass_scale, impulse_scale, bias_scale;
    ORRERY_FN static PassSpring of(const SpringRows& rows, std::size_t lane) {
        const F mass_scale = get<F>(rows.mass_scale, lane), impulse_scale = get<F>(rows.impulse_scale, lane);
        if constexpr (!kRelax) return {mass_scale, impulse_scale, F(1.0f)};
        const F is_user_spring = get<F>(rows.is_user_spring, lane);
        const MaskOf<F> user = is_user_spring > F(0.0f);
        return {select(user, mass_scale, F(1.0f)), select(user, impulse_scale, F(0.0f)), is_user_spring};
    }
};

ORRERY_LANES_END

#endif
