// The functions of many_form.h: J = [direction_i] on the linear velocities alone, held as in row_form-inl.h.
//
// The unit of the value, m^2 or m^3, says nothing of how fast bodies go: an impulse l changes C' by K l, K = sum
// |direction_i|^2 / m_i, and the speed of a body by |direction_i| / m_i l. So C' is bounded by what gives the greatest
// of these the speed of recovery.

#if defined(ORRERY_CONSTRAINTS_MANY_FORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_MANY_FORM_INL_H_
#undef ORRERY_CONSTRAINTS_MANY_FORM_INL_H_
#else
#define ORRERY_CONSTRAINTS_MANY_FORM_INL_H_
#endif

#include "sim/constraints/many_form.h"
#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

template <class F>
struct ManyT {
    Vec3T<F> direction[4];
    F value;
    // Spelled out because an implicit one would be compiled without the target's instructions.
    ORRERY_FN ManyT() : direction{RowT<F>::zero(), RowT<F>::zero(), RowT<F>::zero(), RowT<F>::zero()}, value(0.0f) {}
};

struct ManyFormFunctions {
    using Bundle = ManyForm;

    template <class F>
    using Bias = LimitBias<F>;
    template <class F>
    ORRERY_FN static Bias<F> bias(const ManyForm& bundle, std::size_t lane) {
        return limit_bias<F>(bundle.drive.hold, lane);
    }

    template <class F>
    ORRERY_FN static void prepare(ManyForm& bundle, std::size_t lane, const StepConstants& step) {
        prepare_hold<F>(bundle.drive, lane, step);
        put(bundle.recovery, lane, get<F>(bundle.drive.hold.spring.recovery_speed, lane));
    }

    template <class F>
    ORRERY_FN static void apply(const ManyForm& bundle, std::size_t lane, F impulse, VelocityT<F> (&v)[4]) {
        for (std::size_t i = 0; i < 4; ++i) {
            const F push = impulse * get<F>(bundle.inverse_mass[i], lane);
            v[i].linear = v[i].linear + get<F>(bundle.direction[i], lane) * push;
        }
    }
    template <class F>
    ORRERY_FN static void warm_start(const ManyForm& bundle, std::size_t lane, VelocityT<F> (&v)[4]) {
        apply(bundle, lane, get<F>(bundle.drive.hold.impulse, lane), v);
    }
    template <bool kRelax, class F>
    ORRERY_FN static void solve(ManyForm& bundle, std::size_t lane, const Bias<F>& bias, VelocityT<F> (&v)[4]) {
        F speed(0.0f);
        for (std::size_t i = 0; i < 4; ++i) speed = speed + dot(get<F>(bundle.direction[i], lane), v[i].linear);
        apply(bundle, lane, limit_change<kRelax>(bundle.drive.hold, lane, bias, speed), v);
    }
    template <class F>
    ORRERY_FN static void accumulate(ManyForm& bundle, std::size_t lane) {
        add_rows<F>(bundle.force.linear, lane,
                    get<F>(bundle.direction[1], lane) * get<F>(bundle.drive.hold.impulse, lane));
    }
    template <class F>
    ORRERY_FN static void finish(ManyForm& bundle, std::size_t lane) {
        canonicalise<F>(bundle.drive.hold.impulse, lane);
    }
};

// What a constraint of this form derives from: it has `measure<F>(positions)`, which gives its ManyT.
template <class Constraint>
struct ManyFunctions : ManyFormFunctions {
    using ManyBodies = ManyFormFunctions;
    template <class F>
    ORRERY_FN static void refresh(ManyForm& bundle, std::size_t lane, const StepConstants& step,
                                  const Vec3T<F> (&positions)[4], const F (&inverse_mass)[4]) {
        const ManyT<F> row = Constraint::template measure<F>(positions);
        F response(0.0f), fastest(0.0f);
        for (std::size_t i = 0; i < 4; ++i) {
            put(bundle.direction[i], lane, row.direction[i]);
            put(bundle.inverse_mass[i], lane, inverse_mass[i]);
            const F squared = length_squared(row.direction[i]);
            response = response + squared * inverse_mass[i];
            fastest = max(fastest, sqrt(squared) * inverse_mass[i]);
        }
        const F limit = get<F>(bundle.recovery, lane) * (response * inverse_or_zero(fastest));
        put(bundle.drive.hold.spring.recovery_speed, lane, min(limit, F(kNoLimit)));
        refresh_hold(bundle.drive, lane, step, row.value, response);
    }
};

ORRERY_LANES_END

#endif
