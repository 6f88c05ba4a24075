// The functions of three_form.h. With arms ra, rb and error e:
//
//   point    C' = vb + wb x rb - va - wa x ra,   K = (1/ma + 1/mb) E + [ra]x Ia^-1 [ra]x^T + [rb]x Ib^-1 [rb]x^T
//   angular  C' = wb - wa,                       K = Ia^-1 + Ib^-1
//
//   servo    C = e: approached along e as fast as the spring says, within base_speed and max_speed (row_form-inl.h)
//   motor    C' = target. With damping c and g = 1 / (c h), 0 if c = 0: change = -(K + g E)^-1 (C' - target + g
//   accumulated)
//
// A whole substep's impulse is at most max_force h long.

#if defined(ORRERY_CONSTRAINTS_THREE_FORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_THREE_FORM_INL_H_
#undef ORRERY_CONSTRAINTS_THREE_FORM_INL_H_
#else
#define ORRERY_CONSTRAINTS_THREE_FORM_INL_H_
#endif

#include "sim/constraints/row_form-inl.h"
#include "sim/constraints/three_form.h"

ORRERY_LANES_BEGIN

template <class F>
struct ThreeT {
    Vec3T<F> arm_a, arm_b;  // world; not read for angular ones
    Vec3T<F> error;         // of a servo; a motor's target velocity
    // Spelled out because an implicit one would be compiled without the target's instructions.
    ORRERY_FN ThreeT() : arm_a(RowT<F>::zero()), arm_b(RowT<F>::zero()), error(RowT<F>::zero()) {}
};

// The rotation vector of a unit quaternion: axis times angle, the short way round.
template <class F>
ORRERY_FN Vec3T<F> rotation_vector(QuatT<F> q) {
    const F zero(0.0f), one(1.0f), two(2.0f);
    const Vec3T<F> v{q.x, q.y, q.z};
    const F n = length(v);
    const MaskOf<F> turned = n > F(1.0e-6f);
    const F side = select(q.w < zero, -one, one);
    return v * (side * select(turned, two * atan2(n, abs(q.w)) / select(turned, n, one), two));
}

// `Rows` is PointThree or AngularThree.
template <class Rows>
struct ThreeFormFunctions {
    using Bundle = Rows;
    static constexpr bool kPoint = requires(Rows rows) { rows.arm_a; };

    template <class F>
    using Bias = Vec3T<F>;
    template <class F>
    ORRERY_FN static Bias<F> bias(const Rows& bundle, std::size_t lane) {
        return get<F>(bundle.bias, lane);
    }

    // Keeps what the velocities need; gives K.
    template <class F>
    ORRERY_FN static Sym3T<F> put_rows(Rows& bundle, std::size_t lane, const ThreeT<F>& rows, const InertiaT<F>& a,
                                       const InertiaT<F>& b) {
        if constexpr (kPoint) {
            put(bundle.a, lane, a);
            put(bundle.b, lane, b);
            put(bundle.arm_a, lane, rows.arm_a);
            put(bundle.arm_b, lane, rows.arm_b);
            return point_response(rows.arm_a, rows.arm_b, a, b);
        } else {
            put(bundle.inertia_a, lane, a.inverse_inertia);
            put(bundle.inertia_b, lane, b.inverse_inertia);
            return a.inverse_inertia + b.inverse_inertia;
        }
    }

    template <class F>
    ORRERY_FN static void apply(const Rows& bundle, std::size_t lane, Vec3T<F> impulse, VelocityT<F>& va,
                                VelocityT<F>& vb) {
        if constexpr (kPoint) {
            subtract_impulse(va, get<F>(bundle.a, lane), impulse, cross(get<F>(bundle.arm_a, lane), impulse));
            add_impulse(vb, get<F>(bundle.b, lane), impulse, cross(get<F>(bundle.arm_b, lane), impulse));
        } else {
            va.angular = va.angular - get<F>(bundle.inertia_a, lane) * impulse;
            vb.angular = vb.angular + get<F>(bundle.inertia_b, lane) * impulse;
        }
    }

    template <class F>
    ORRERY_FN static void warm_start(const Rows& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        apply(bundle, lane, get<F>(bundle.impulse, lane), va, vb);
    }

    template <bool kRelax, class F>
    ORRERY_FN static void solve(Rows& bundle, std::size_t lane, const StepConstants&, const Bias<F>& bias,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        const auto spring = PassSpring<kRelax, F>::of(bundle.spring, lane);
        Vec3T<F> speed = vb.angular - va.angular;
        if constexpr (kPoint) {
            speed = (vb.linear + cross(vb.angular, get<F>(bundle.arm_b, lane))) -
                    (va.linear + cross(va.angular, get<F>(bundle.arm_a, lane)));
        }
        const Vec3T<F> old = get<F>(bundle.impulse, lane);
        const Vec3T<F> wanted =
            old - ((get<F>(bundle.mass, lane) * (speed + bias * spring.bias_scale)) * spring.mass_scale +
                   old * spring.impulse_scale);
        const Vec3T<F> now = clamp_length(wanted, get<F>(bundle.max_impulse, lane));
        put(bundle.impulse, lane, now);
        apply(bundle, lane, now - old, va, vb);
    }

    template <class F>
    ORRERY_FN static void accumulate(Rows& bundle, std::size_t lane) {
        if constexpr (kPoint)
            add_rows<F>(bundle.force.linear, lane, get<F>(bundle.impulse, lane));
        else
            add_rows<F>(bundle.force.angular, lane, get<F>(bundle.impulse, lane));
    }
    template <class F>
    ORRERY_FN static void finish(Rows& bundle, std::size_t lane) {
        canonicalise<F>(bundle.impulse, lane);
    }
};

// A motor's own solve, for its softness stands with the matrix.
template <class Rows>
struct ThreeMotorFormFunctions : ThreeFormFunctions<Rows> {
    using Base = ThreeFormFunctions<Rows>;
    template <bool kRelax, class F>
    ORRERY_FN static void solve(Rows& bundle, std::size_t lane, const StepConstants&, const Vec3T<F>& bias,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        Vec3T<F> speed = vb.angular - va.angular;
        if constexpr (Base::kPoint) {
            speed = (vb.linear + cross(vb.angular, get<F>(bundle.arm_b, lane))) -
                    (va.linear + cross(va.angular, get<F>(bundle.arm_a, lane)));
        }
        const Vec3T<F> old = get<F>(bundle.impulse, lane);
        const Vec3T<F> wanted =
            old - get<F>(bundle.mass, lane) * ((speed + bias) + old * get<F>(bundle.softness, lane));
        const Vec3T<F> now = clamp_length(wanted, get<F>(bundle.max_impulse, lane));
        put(bundle.impulse, lane, now);
        Base::apply(bundle, lane, now - old, va, vb);
    }
};

// What a constraint of this form derives from: it has `measure<F>(bundle, lane, pose_a, pose_b)`, which gives its
// ThreeT.
template <class Constraint, class Rows, Drive kDrive = Drive::servo>
struct ThreeFunctions
    : std::conditional_t<kDrive == Drive::motor, ThreeMotorFormFunctions<Rows>, ThreeFormFunctions<Rows>> {
    using Form = std::conditional_t<kDrive == Drive::motor, ThreeMotorFormFunctions<Rows>, ThreeFormFunctions<Rows>>;

    template <class F>
    ORRERY_FN static void prepare(Rows& bundle, std::size_t lane, const StepConstants& step) {
        const F h(step.h_s);
        if constexpr (kDrive == Drive::motor) {
            put(bundle.softness, lane, inverse_or_zero(get<F>(bundle.damping, lane) * h));
        } else {
            prepare_spring<F>(bundle.spring, lane, step);
            put(bundle.spring.is_user_spring, lane, F(1.0f));  // as all servos
        }
        put(bundle.max_impulse, lane, get<F>(bundle.max_force, lane) * h);
    }
    template <class F, class Bundle>
    ORRERY_FN static void refresh(Bundle& bundle, std::size_t lane, const StepConstants& step, const PoseT<F>& pose_a,
                                  const PoseT<F>& pose_b, const InertiaT<F>& a, const InertiaT<F>& b) {
        const F zero(0.0f), one(1.0f);
        const ThreeT<F> rows = Constraint::template measure<F>(bundle, lane, pose_a, pose_b);
        const Sym3T<F> k = Form::put_rows(bundle, lane, rows, a, b);
        if constexpr (kDrive == Drive::motor) {
            const F movable = select((k.xx + k.yy) + k.zz > zero, one, zero);
            const Sym3T<F> m = inverse_or_zero(add_diagonal(k, get<F>(bundle.softness, lane)));
            put(bundle.mass, lane,
                Sym3T<F>{m.xx * movable, m.xy * movable, m.xz * movable, m.yy * movable, m.yz * movable,
                         m.zz * movable});
            put(bundle.bias, lane, -rows.error);
        } else {
            const F distance = length(rows.error);
            const F speed = servo_speed(distance, get<F>(bundle.spring.rate, lane), get<F>(bundle.base_speed, lane),
                                        get<F>(bundle.max_speed, lane), F(step.inverse_h));
            const MaskOf<F> away = distance > zero;
            put(bundle.mass, lane, inverse_or_zero(k));
            put(bundle.bias, lane, rows.error * select(away, speed / select(away, distance, one), zero));
        }
    }
};

ORRERY_LANES_END

#endif
