// A one-sided row: a value with a derivative J v that is to stay within [low, high]. The nearer end counts. Inside, the
// row lets the value come as far as the end in this substep and no farther (bias e / h, rigid); beyond it, the row is a
// spring. Ends that meet make an equality. A positive impulse raises the value.

#if defined(ORRERY_CONSTRAINTS_LIMIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_LIMIT_INL_H_
#undef ORRERY_CONSTRAINTS_LIMIT_INL_H_
#else
#define ORRERY_CONSTRAINTS_LIMIT_INL_H_
#endif

#include "sim/constraints/joint-inl.h"

ORRERY_LANES_BEGIN

template <class F>
struct LimitBias {
    F bias, beyond, min_impulse, max_impulse;
    ORRERY_FN LimitBias() {}
    ORRERY_FN LimitBias(F b, F o, F low, F high) : bias(b), beyond(o), min_impulse(low), max_impulse(high) {}
};
template <class F>
ORRERY_FN LimitBias<F> limit_bias(const LimitRows& rows, std::size_t lane) {
    return {get<F>(rows.bias, lane), get<F>(rows.beyond, lane), get<F>(rows.min_impulse, lane),
            get<F>(rows.max_impulse, lane)};
}

// The same angle, at most half a turn from the middle of the row's range: what has turned past pi is beyond the end
// that it passed, and a servo turns back by the short way.
template <class F>
ORRERY_FN F unwound(const LimitRows& rows, std::size_t lane, F angle) {
    const F beside = angle - (get<F>(rows.low, lane) + get<F>(rows.high, lane)) * F(0.5f);
    return select(beside > F(kPi), angle - F(2.0f * kPi), select(beside < F(-kPi), angle + F(2.0f * kPi), angle));
}

template <class F>
ORRERY_FN void refresh_limit(LimitRows& rows, std::size_t lane, const StepConstants& step, F value, F mass) {
    const F low = get<F>(rows.low, lane), high = get<F>(rows.high, lane), zero(0.0f), one(1.0f);
    const MaskOf<F> both = low >= high;
    const F above_low = value - low, above_high = value - high;
    const MaskOf<F> at_low = above_low < -above_high;
    const F error = select(at_low, above_low, above_high);
    const MaskOf<F> beyond = both | (at_low & (above_low < zero)) | ((!at_low) & (above_high > zero));
    put(rows.bias, lane, select(beyond, recovery(rows.spring, lane, error), error * F(step.inverse_h)));
    put(rows.beyond, lane, select(beyond, one, zero));
    put(rows.min_impulse, lane, select(both | (!at_low), F(-kNoLimit), zero));
    put(rows.max_impulse, lane, select(both | at_low, F(kNoLimit), zero));
    put(rows.mass, lane, mass);
}

// The change of the row's impulse for the speed J v, which `mass` makes vanish. As for all springs, relax repeats the
// solve pass for a user's, at the end that was the nearer one then.
template <bool kRelax, class F>
ORRERY_FN F limit_change(LimitRows& rows, std::size_t lane, LimitBias<F> bias, F speed, F mass, F own_impulse_scale) {
    const F zero(0.0f), one(1.0f);
    LimitBias<F> now = bias;
    F bias_scale = one;
    if constexpr (kRelax) {
        bias_scale = get<F>(rows.spring.is_user_spring, lane);
        const MaskOf<F> user = bias_scale > zero;
        const LimitBias<F> fresh = limit_bias<F>(rows, lane);
        now = {select(user, bias.bias, fresh.bias), select(user, bias.beyond, fresh.beyond),
               select(user, bias.min_impulse, fresh.min_impulse), select(user, bias.max_impulse, fresh.max_impulse)};
    }
    const MaskOf<F> beyond = now.beyond > zero, soft = beyond & (bias_scale > zero);
    const F mass_scale = select(soft, get<F>(rows.spring.mass_scale, lane), one);
    const F impulse_scale = select(soft, own_impulse_scale, zero);
    const F wanted = select(beyond, now.bias * bias_scale, now.bias);
    const F old = get<F>(rows.impulse, lane);
    const F change = mass * mass_scale * (speed + wanted) + impulse_scale * old;
    const F total = clamp(old - change, now.min_impulse, now.max_impulse);
    put(rows.impulse, lane, total);
    return total - old;
}
template <bool kRelax, class F>
ORRERY_FN F limit_change(LimitRows& rows, std::size_t lane, LimitBias<F> bias, F speed, F mass) {
    return limit_change<kRelax>(rows, lane, bias, speed, mass, get<F>(rows.spring.impulse_scale, lane));
}
template <bool kRelax, class F>
ORRERY_FN F limit_change(LimitRows& rows, std::size_t lane, LimitBias<F> bias, F speed) {
    return limit_change<kRelax>(rows, lane, bias, speed, get<F>(rows.mass, lane));
}

ORRERY_LANES_END

#endif
