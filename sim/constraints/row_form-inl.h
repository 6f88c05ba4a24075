// The functions of row_form.h. With the Jacobian row J of a constraint and its value x:
//
//   hold     x' = J v, within [low, high]: limit-inl.h.
//   servo    the same with ends that meet, approached as fast as the spring says, at least base_speed until there is no
//   more
//            than one substep to go, at most max_speed. Relax keeps the default rigidity too: a servo of bounded force
//            is on its way for many substeps, and a pass that asks for rest would take its speed again.
//   motor    J v = target, no position. Damping c makes it soft: the force is c (target - J v), so that with g = 1 / (c
//   h), 0 if
//            c = 0, the change is -(J v - target + g accumulated) / (k + g): a spring's with a mass of 1 / (k + g), all
//            of it, and an impulse scale of g / (k + g). Both passes do the same.
//
// A whole substep's impulse is at most max_force h.

#if defined(ORRERY_CONSTRAINTS_ROW_FORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ROW_FORM_INL_H_
#undef ORRERY_CONSTRAINTS_ROW_FORM_INL_H_
#else
#define ORRERY_CONSTRAINTS_ROW_FORM_INL_H_
#endif

#include "sim/constraints/limit-inl.h"
#include "sim/constraints/row_form.h"

ORRERY_LANES_BEGIN

// ---- drives: what is asked of a row

enum class Drive { hold, servo, motor };

template <class F>
ORRERY_FN void prepare_hold(DriveRows& rows, std::size_t lane, const StepConstants& step) {
    prepare_spring<F>(rows.hold.spring, lane, step);
    put(rows.max_impulse, lane, get<F>(rows.max_force, lane) * F(step.h_s));
}
template <class F>
ORRERY_FN void prepare_servo(DriveRows& rows, std::size_t lane, const StepConstants& step) {
    prepare_hold<F>(rows, lane, step);
    put(rows.hold.spring.is_user_spring, lane, F(1.0f));
    put(rows.hold.spring.recovery_speed, lane, get<F>(rows.max_speed, lane));
}
template <class F>
ORRERY_FN void prepare_motor(DriveRows& rows, std::size_t lane, const StepConstants& step) {
    const F h(step.h_s), one(1.0f);
    put(rows.softness, lane, min(inverse_or_zero(get<F>(rows.damping, lane) * h), F(1.0e30f)));
    put(rows.hold.spring.mass_scale, lane, one);
    put(rows.hold.spring.is_user_spring, lane, one);
    put(rows.max_impulse, lane, get<F>(rows.max_force, lane) * h);
}

template <Drive kDrive, class F>
ORRERY_FN void prepare_drive(DriveRows& rows, std::size_t lane, const StepConstants& step) {
    if constexpr (kDrive == Drive::motor)
        prepare_motor<F>(rows, lane, step);
    else if constexpr (kDrive == Drive::servo)
        prepare_servo<F>(rows, lane, step);
    else
        prepare_hold<F>(rows, lane, step);
}

// How fast to go for something that is `distance` away.
template <class F>
ORRERY_FN F servo_speed(F distance, F rate, F base_speed, F max_speed, F inverse_h) {
    return min(max(distance * rate, min(base_speed, distance * inverse_h)), max_speed);
}

// `response` is J M^-1 J^T.
template <class F>
ORRERY_FN void refresh_hold(DriveRows& rows, std::size_t lane, const StepConstants& step, F value, F response) {
    LimitRows& hold = rows.hold;
    refresh_limit(hold, lane, step, value, inverse_or_zero(response));
    const F zero(0.0f), one(1.0f), inverse_h(step.inverse_h);
    const F low = get<F>(hold.low, lane), high = get<F>(hold.high, lane), most = get<F>(rows.max_impulse, lane);
    const F above_low = value - low, above_high = value - high;
    const F error = select(above_low < -above_high, above_low, above_high);
    const F speed = servo_speed(abs(error), get<F>(hold.spring.rate, lane), get<F>(rows.base_speed, lane),
                                get<F>(hold.spring.recovery_speed, lane), inverse_h);
    const MaskOf<F> beyond = get<F>(hold.beyond, lane) > zero;
    put(hold.bias, lane, select(beyond, speed * copy_sign(one, error), error * inverse_h));
    put(hold.min_impulse, lane, max(get<F>(hold.min_impulse, lane), -most));
    put(hold.max_impulse, lane, min(get<F>(hold.max_impulse, lane), most));
}
template <class F>
ORRERY_FN void refresh_motor(DriveRows& rows, std::size_t lane, F response) {
    LimitRows& hold = rows.hold;
    const F zero(0.0f), g = get<F>(rows.softness, lane), most = get<F>(rows.max_impulse, lane);
    const F mass = select(response > zero, inverse_or_zero(response + g), zero);
    put(hold.mass, lane, mass);
    put(hold.spring.impulse_scale, lane, g * mass);
    put(hold.bias, lane, -get<F>(hold.low, lane));
    put(hold.beyond, lane, F(1.0f));
    put(hold.min_impulse, lane, -most);
    put(hold.max_impulse, lane, most);
}

// ---- the row

template <class F>
struct RowT {
    Vec3T<F> linear_a, linear_b, angular_a,
        angular_b;  // C' = linear_b . vb - linear_a . va + angular_b . wb - angular_a . wa
    F value;        // not read for motors
    // Spelled out because an implicit one would be compiled without the target's instructions.
    ORRERY_FN RowT() : linear_a(zero()), linear_b(zero()), angular_a(zero()), angular_b(zero()), value(0.0f) {}
    ORRERY_FN static Vec3T<F> zero() { return {F(0.0f), F(0.0f), F(0.0f)}; }
};

// `Rows` is one of AngularRow, CentreRow, PointRow.
template <class Rows>
struct RowFormFunctions {
    using Bundle = Rows;
    static constexpr bool kLinear = requires(Rows rows) { rows.linear; };
    static constexpr bool kAngular = requires(Rows rows) { rows.angular; };

    template <class F>
    using Bias = LimitBias<F>;
    template <class F>
    ORRERY_FN static Bias<F> bias(const Rows& bundle, std::size_t lane) {
        return limit_bias<F>(bundle.drive.hold, lane);
    }

    // Keeps the Jacobian; gives J M^-1 J^T.
    template <class F>
    ORRERY_FN static F put_row(Rows& bundle, std::size_t lane, const RowT<F>& row, const InertiaT<F>& a,
                               const InertiaT<F>& b) {
        F response(0.0f);
        if constexpr (kLinear) {
            put(bundle.linear.a, lane, row.linear_a);
            put(bundle.linear.b, lane, row.linear_b);
            put(bundle.linear.inverse_mass_a, lane, a.inverse_mass);
            put(bundle.linear.inverse_mass_b, lane, b.inverse_mass);
            response =
                dot(row.linear_a, row.linear_a) * a.inverse_mass + dot(row.linear_b, row.linear_b) * b.inverse_mass;
        }
        if constexpr (kAngular) {
            const Vec3T<F> ra = a.inverse_inertia * row.angular_a, rb = b.inverse_inertia * row.angular_b;
            put(bundle.angular.a, lane, row.angular_a);
            put(bundle.angular.b, lane, row.angular_b);
            put(bundle.angular.response_a, lane, ra);
            put(bundle.angular.response_b, lane, rb);
            response = (response + dot(row.angular_a, ra)) + dot(row.angular_b, rb);
        }
        return response;
    }

    template <class F>
    ORRERY_FN static void apply(const Rows& bundle, std::size_t lane, F impulse, VelocityT<F>& va, VelocityT<F>& vb) {
        if constexpr (kLinear) {
            const F ia = impulse * get<F>(bundle.linear.inverse_mass_a, lane);
            const F ib = impulse * get<F>(bundle.linear.inverse_mass_b, lane);
            va.linear = va.linear - get<F>(bundle.linear.a, lane) * ia;
            vb.linear = vb.linear + get<F>(bundle.linear.b, lane) * ib;
        }
        if constexpr (kAngular) {
            va.angular = va.angular - get<F>(bundle.angular.response_a, lane) * impulse;
            vb.angular = vb.angular + get<F>(bundle.angular.response_b, lane) * impulse;
        }
    }

    template <class F>
    ORRERY_FN static void warm_start(const Rows& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        apply(bundle, lane, get<F>(bundle.drive.hold.impulse, lane), va, vb);
    }

    template <bool kRelax, class F>
    ORRERY_FN static void solve(Rows& bundle, std::size_t lane, const StepConstants&, const Bias<F>& bias,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        F speed(0.0f);
        if constexpr (kLinear)
            speed = dot(get<F>(bundle.linear.b, lane), vb.linear) - dot(get<F>(bundle.linear.a, lane), va.linear);
        if constexpr (kAngular) {
            const F turning =
                dot(get<F>(bundle.angular.b, lane), vb.angular) - dot(get<F>(bundle.angular.a, lane), va.angular);
            speed = speed + turning;
        }
        apply(bundle, lane, limit_change<kRelax>(bundle.drive.hold, lane, bias, speed), va, vb);
    }

    template <class F>
    ORRERY_FN static void accumulate(Rows& bundle, std::size_t lane) {
        const F impulse = get<F>(bundle.drive.hold.impulse, lane);
        if constexpr (kLinear)
            add_rows<F>(bundle.force.linear, lane, get<F>(bundle.linear.b, lane) * impulse);
        else
            add_rows<F>(bundle.force.angular, lane, get<F>(bundle.angular.b, lane) * impulse);
    }
    template <class F>
    ORRERY_FN static void finish(Rows& bundle, std::size_t lane) {
        canonicalise<F>(bundle.drive.hold.impulse, lane);
    }
};

// What a constraint of this form derives from: it has `measure<F>(bundle, lane, pose_a, pose_b)`, which gives its RowT.
template <class Constraint, class Rows, Drive kDrive = Drive::hold>
struct RowFunctions : RowFormFunctions<Rows> {
    using Form = RowFormFunctions<Rows>;

    template <class F>
    ORRERY_FN static void prepare(Rows& bundle, std::size_t lane, const StepConstants& step) {
        prepare_drive<kDrive, F>(bundle.drive, lane, step);
    }
    template <class F, class Bundle>
    ORRERY_FN static void refresh(Bundle& bundle, std::size_t lane, const StepConstants& step, const PoseT<F>& pose_a,
                                  const PoseT<F>& pose_b, const InertiaT<F>& a, const InertiaT<F>& b) {
        const RowT<F> row = Constraint::template measure<F>(bundle, lane, pose_a, pose_b);
        const F response = Form::put_row(bundle, lane, row, a, b);
        if constexpr (kDrive == Drive::motor)
            refresh_motor(bundle.drive, lane, response);
        else
            refresh_hold(bundle.drive, lane, step, row.value, response);
    }
};

ORRERY_LANES_END

#endif
