// The functions of block_form.h. With J_i = [-n_i, -aa_i, n_i, ab_i] for a line and [0, -g_i, 0, g_i] for a turn:
//
//   K_ij = (1/ma + 1/mb) n_i . n_j + aa_i . Ia^-1 aa_j + ab_i . Ib^-1 ab_j
//
// factored as in ldlt-inl.h. A single row is solved together with the block. Alone it would move a body along a
// direction in which the block does not let it go alone: what is pushed beside its centre turns, where a slider holds
// its orientation. With j the row's own Jacobian, c = J M^-1 j^T and s the block's share of the soft form, an impulse d
// of the row changes the block's answer by -s K^-1 c d, so that it is met by
//
//   j M^-1 j^T - s c . K^-1 c
//
// The block comes first in a pass, then the rows one by one, each with the block's answer to it: what is held stays so.

#if defined(ORRERY_CONSTRAINTS_BLOCK_FORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_BLOCK_FORM_INL_H_
#undef ORRERY_CONSTRAINTS_BLOCK_FORM_INL_H_
#else
#define ORRERY_CONSTRAINTS_BLOCK_FORM_INL_H_
#endif

#include "sim/constraints/block-inl.h"
#include "sim/constraints/block_form.h"
#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

// One row of a block: along a line of a point, or (with a line of zero) a turn.
template <class F>
struct LineT {
    Vec3T<F> line, arm_a, arm_b;
    F value;
    // Spelled out because an implicit one would be compiled without the target's instructions.
    ORRERY_FN LineT() : line(RowT<F>::zero()), arm_a(RowT<F>::zero()), arm_b(RowT<F>::zero()), value(0.0f) {}
    ORRERY_FN LineT(Vec3T<F> n, Vec3T<F> ra, Vec3T<F> rb, F x) : line(n), arm_a(ra), arm_b(rb), value(x) {}
    ORRERY_FN static LineT turn(Vec3T<F> axis, F x) { return {RowT<F>::zero(), axis, axis, x}; }
};

// The offset along a direction n that turns with A of a point of B from one of A: with d = (xb + rb) - (xa + ra),
//   C = n . d,  C' = n . (vb + wb x rb - va - wa x ra) + (wa x n) . d,  since d . (wa x n) = -wa . (d x n)
template <class F>
ORRERY_FN LineT<F> along(Vec3T<F> n, Vec3T<F> ra, Vec3T<F> rb, Vec3T<F> d) {
    return {n, cross(ra + d, n), cross(rb, n), dot(n, d)};
}

// A unit vector across a unit vector, the same for the same one.
template <class F>
ORRERY_FN Vec3T<F> any_across(Vec3T<F> n) {
    const F zero(0.0f), one(1.0f);
    const MaskOf<F> steep = abs(n.x) > F(0.6f);
    const Vec3T<F> other{select(steep, zero, one), select(steep, one, zero), zero};
    return normalize_or(cross(n, other), Vec3T<F>{zero, zero, one}, F(1.0e-6f));
}

template <class Rows, class F>
struct BlockT {
    LineT<F> row[Rows::kRows];                    // lines, then turns
    LineT<F> drive[at_least_one(Rows::kDrives)];  // lines, then turns
    ORRERY_FN BlockT() {}
};

template <class F>
ORRERY_FN LineT<F> get(const LineRows& r, std::size_t lane) {
    return {get<F>(r.line, lane), get<F>(r.arm_a, lane), get<F>(r.arm_b, lane), F(0.0f)};
}
template <class F>
ORRERY_FN void put(LineRows& r, std::size_t lane, const LineT<F>& line) {
    put(r.line, lane, line.line), put(r.arm_a, lane, line.arm_a), put(r.arm_b, lane, line.arm_b);
}

template <class F>
ORRERY_FN F line_speed(const LineT<F>& n, const VelocityT<F>& va, const VelocityT<F>& vb) {
    return (dot(n.line, vb.linear - va.linear) + dot(n.arm_b, vb.angular)) - dot(n.arm_a, va.angular);
}

// `Rows` is a BlockForm; kServo: its block is driven with at most a force.
template <class Rows, bool kServo>
struct BlockFormFunctions {
    using Bundle = Rows;
    static constexpr std::size_t N = Rows::kRows, L = Rows::kLines, D = Rows::kDrives, DL = Rows::kLineDrives;
    static_assert(!kServo || D == 0, "what a block of bounded force answers would be bounded, too");
    // Of a single row's response; a direction that the block holds altogether would leave only rounding.
    static constexpr float kLeastLeft = 1.0e-5f;

    template <class F>
    struct Bias {
        F row[N];
        LimitBias<F> drive[at_least_one(D)];
        ORRERY_FN Bias() {}
    };
    template <class F>
    ORRERY_FN static Bias<F> bias(const Rows& bundle, std::size_t lane) {
        Bias<F> all;
        for (std::size_t i = 0; i < N; ++i) all.row[i] = get<F>(bundle.bias[i], lane);
        for (std::size_t i = 0; i < D; ++i) all.drive[i] = limit_bias<F>(bundle.drive[i].hold, lane);
        return all;
    }

    template <class F>
    ORRERY_FN static LineT<F> row(const Rows& bundle, std::size_t lane, std::size_t i) {
        if (i < L) return get<F>(bundle.line[i], lane);
        return LineT<F>::turn(get<F>(bundle.turn[i - L], lane), F(0.0f));
    }
    template <class F>
    ORRERY_FN static LineT<F> drive(const Rows& bundle, std::size_t lane, std::size_t i) {
        if (i < DL) return get<F>(bundle.drive_line[i], lane);
        return LineT<F>::turn(get<F>(bundle.drive_turn[i - DL], lane), F(0.0f));
    }

    template <class F>
    ORRERY_FN static F response(const LineT<F>& i, const LineT<F>& j, const InertiaT<F>& a, const InertiaT<F>& b) {
        return (dot(i.line, j.line) * (a.inverse_mass + b.inverse_mass) + dot(i.arm_a, a.inverse_inertia * j.arm_a)) +
               dot(i.arm_b, b.inverse_inertia * j.arm_b);
    }

    template <class F>
    ORRERY_FN static void put_block(Rows& bundle, std::size_t lane, const StepConstants& step,
                                    const BlockT<Rows, F>& block, const InertiaT<F>& a, const InertiaT<F>& b) {
        const F zero(0.0f), one(1.0f);
        put(bundle.a, lane, a);
        put(bundle.b, lane, b);
        LowerT<N, F> k;
        F squared = zero;
        for (std::size_t i = 0; i < N; ++i) {
            if (i < L)
                put(bundle.line[i], lane, block.row[i]);
            else
                put(bundle.turn[i - L], lane, block.row[i].arm_a);
            for (std::size_t j = 0; j <= i; ++j) k.v[lower_index(i, j)] = response(block.row[i], block.row[j], a, b);
            squared = squared + block.row[i].value * block.row[i].value;
        }
        put(bundle.mass, lane, factor_ldlt(k));
        if constexpr (kServo) {
            const F distance = sqrt(squared);
            const MaskOf<F> away = distance > zero;
            const F speed = servo_speed(distance, get<F>(bundle.spring.rate, lane), get<F>(bundle.base_speed, lane),
                                        get<F>(bundle.max_speed, lane), F(step.inverse_h));
            const F rate = select(away, speed / select(away, distance, one), zero);
            for (std::size_t i = 0; i < N; ++i) put(bundle.bias[i], lane, block.row[i].value * rate);
        } else {
            for (std::size_t i = 0; i < N; ++i)
                put(bundle.bias[i], lane, recovery(bundle.spring, lane, block.row[i].value));
        }
    }
    // Gives the response of a single row. The block's mass is there.
    template <class F>
    ORRERY_FN static F put_drive(Rows& bundle, std::size_t lane, std::size_t i, const BlockT<Rows, F>& block,
                                 const InertiaT<F>& a, const InertiaT<F>& b) {
        const LineT<F>& line = block.drive[i];
        if (i < DL)
            put(bundle.drive_line[i], lane, line);
        else
            put(bundle.drive_turn[i - DL], lane, line.arm_a);
        F coupling[N], k_inv_c[N];
        for (std::size_t k = 0; k < N; ++k) coupling[k] = k_inv_c[k] = response(block.row[k], line, a, b);
        solve_ldlt(get<F>(bundle.mass, lane), k_inv_c);
        F relief = coupling[0] * k_inv_c[0];
        for (std::size_t k = 1; k < N; ++k) relief = relief + coupling[k] * k_inv_c[k];
        for (std::size_t k = 0; k < N; ++k) put(bundle.k_inv_c[i][k], lane, k_inv_c[k]);
        const F own = response(line, line, a, b);
        put(bundle.response[i], lane, own);
        put(bundle.relief[i], lane, relief);
        return own;
    }

    template <class F>
    ORRERY_FN static void apply(const Rows& bundle, std::size_t lane, Vec3T<F> push, Vec3T<F> turn_a, Vec3T<F> turn_b,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        subtract_impulse(va, get<F>(bundle.a, lane), push, turn_a);
        add_impulse(vb, get<F>(bundle.b, lane), push, turn_b);
    }
    template <class F>
    ORRERY_FN static void apply(const Rows& bundle, std::size_t lane, const F (&impulse)[N], VelocityT<F>& va,
                                VelocityT<F>& vb) {
        Vec3T<F> push = RowT<F>::zero(), turn_a = push, turn_b = push;
        for (std::size_t i = 0; i < N; ++i) {
            const LineT<F> n = row<F>(bundle, lane, i);
            if (i < L) push = push + n.line * impulse[i];
            turn_a = turn_a + n.arm_a * impulse[i];
            turn_b = turn_b + n.arm_b * impulse[i];
        }
        apply(bundle, lane, push, turn_a, turn_b, va, vb);
    }
    template <class F>
    ORRERY_FN static void apply_drive(const Rows& bundle, std::size_t lane, std::size_t i, F impulse, VelocityT<F>& va,
                                      VelocityT<F>& vb) {
        const LineT<F> n = drive<F>(bundle, lane, i);
        apply(bundle, lane, n.line * impulse, n.arm_a * impulse, n.arm_b * impulse, va, vb);
    }

    template <class F>
    ORRERY_FN static void warm_start(const Rows& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        for (std::size_t i = 0; i < D; ++i)
            apply_drive(bundle, lane, i, get<F>(bundle.drive[i].hold.impulse, lane), va, vb);
        F impulse[N];
        for (std::size_t i = 0; i < N; ++i) impulse[i] = get<F>(bundle.impulse[i], lane);
        apply(bundle, lane, impulse, va, vb);
    }

    template <bool kRelax, class F>
    ORRERY_FN static void solve(Rows& bundle, std::size_t lane, const StepConstants&, const Bias<F>& bias,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        const auto spring = PassSpring<kRelax, F>::of(bundle.spring, lane);
        F speed[N], old[N], change[N];
        for (std::size_t i = 0; i < N; ++i) {
            speed[i] = line_speed(row<F>(bundle, lane, i), va, vb);
            old[i] = get<F>(bundle.impulse[i], lane);
        }
        soft_change(get<F>(bundle.mass, lane), spring, speed, bias.row, old, change);
        if constexpr (kServo) {
            const F zero(0.0f), one(1.0f), most = get<F>(bundle.max_impulse, lane);
            F squared = zero;
            for (std::size_t i = 0; i < N; ++i) squared = squared + (old[i] + change[i]) * (old[i] + change[i]);
            const F size = sqrt(squared);
            const MaskOf<F> longer = size > most;
            const F scale = select(longer, most / select(longer, size, one), one);
            for (std::size_t i = 0; i < N; ++i) change[i] = (old[i] + change[i]) * scale - old[i];
        }
        for (std::size_t i = 0; i < N; ++i) put(bundle.impulse[i], lane, old[i] + change[i]);
        apply(bundle, lane, change, va, vb);
        for (std::size_t i = 0; i < D; ++i)
            solve_drive<kRelax>(bundle, lane, i, bias.drive[i], spring.mass_scale, va, vb);
    }
    template <bool kRelax, class F>
    ORRERY_FN static void solve_drive(Rows& bundle, std::size_t lane, std::size_t i, const LimitBias<F>& bias, F share,
                                      VelocityT<F>& va, VelocityT<F>& vb) {
        LimitRows& rows = bundle.drive[i].hold;
        const F zero(0.0f), own = get<F>(bundle.response[i], lane), softness = get<F>(bundle.softness[i], lane);
        const F left = max(own - get<F>(bundle.relief[i], lane) * share, own * F(kLeastLeft));
        const F mass = select(own > zero, inverse_or_zero(left + softness), zero);
        const F impulse_scale = select(softness > zero, softness * mass, get<F>(rows.spring.impulse_scale, lane));
        const LineT<F> n = drive<F>(bundle, lane, i);
        const F change = limit_change<kRelax>(rows, lane, bias, line_speed(n, va, vb), mass, impulse_scale);
        Vec3T<F> push = n.line * change, turn_a = n.arm_a * change, turn_b = n.arm_b * change;
        for (std::size_t k = 0; k < N; ++k) {
            const F answer = get<F>(bundle.k_inv_c[i][k], lane) * (change * share);
            put(bundle.impulse[k], lane, get<F>(bundle.impulse[k], lane) - answer);
            const LineT<F> held_row = row<F>(bundle, lane, k);
            if (k < L) push = push - held_row.line * answer;
            turn_a = turn_a - held_row.arm_a * answer;
            turn_b = turn_b - held_row.arm_b * answer;
        }
        apply(bundle, lane, push, turn_a, turn_b, va, vb);
    }

    template <class F>
    ORRERY_FN static void accumulate(Rows& bundle, std::size_t lane) {
        Vec3T<F> push = RowT<F>::zero(), turn = push;
        for (std::size_t i = 0; i < N; ++i) {
            const F impulse = get<F>(bundle.impulse[i], lane);
            if (i < L)
                push = push + get<F>(bundle.line[i].line, lane) * impulse;
            else
                turn = turn + get<F>(bundle.turn[i - L], lane) * impulse;
        }
        for (std::size_t i = 0; i < D; ++i) {
            const F impulse = get<F>(bundle.drive[i].hold.impulse, lane);
            if (i < DL)
                push = push + get<F>(bundle.drive_line[i].line, lane) * impulse;
            else
                turn = turn + get<F>(bundle.drive_turn[i - DL], lane) * impulse;
        }
        add_rows<F>(bundle.force.linear, lane, push);
        add_rows<F>(bundle.force.angular, lane, turn);
    }
    template <class F>
    ORRERY_FN static void finish(Rows& bundle, std::size_t lane) {
        for (std::size_t i = 0; i < N; ++i) canonicalise<F>(bundle.impulse[i], lane);
        for (std::size_t i = 0; i < D; ++i) canonicalise<F>(bundle.drive[i].hold.impulse, lane);
    }
};

// What a constraint of this form derives from: it has `measure<F>(bundle, lane, pose_a, pose_b)`, which gives its
// BlockT, and where it has single rows `static constexpr Drive kDrives[]`.
template <class Constraint, class Rows, bool kServo = false>
struct BlockFunctions : BlockFormFunctions<Rows, kServo> {
    using Form = BlockFormFunctions<Rows, kServo>;

    template <class F>
    ORRERY_FN static void prepare(Rows& bundle, std::size_t lane, const StepConstants& step) {
        prepare_spring<F>(bundle.spring, lane, step);
        if constexpr (kServo) {
            put(bundle.spring.is_user_spring, lane, F(1.0f));  // as all servos
            put(bundle.max_impulse, lane, get<F>(bundle.max_force, lane) * F(step.h_s));
        }
        if constexpr (Form::D > 0) {
            for (std::size_t i = 0; i < Form::D; ++i) {
                if (Constraint::kDrives[i] == Drive::motor)
                    prepare_motor<F>(bundle.drive[i], lane, step);
                else if (Constraint::kDrives[i] == Drive::servo)
                    prepare_servo<F>(bundle.drive[i], lane, step);
                else
                    prepare_hold<F>(bundle.drive[i], lane, step);
            }
        }
    }
    template <class F, class Bundle>
    ORRERY_FN static void refresh(Bundle& bundle, std::size_t lane, const StepConstants& step, const PoseT<F>& pose_a,
                                  const PoseT<F>& pose_b, const InertiaT<F>& a, const InertiaT<F>& b) {
        const BlockT<Rows, F> block = Constraint::template measure<F>(bundle, lane, pose_a, pose_b);
        Form::put_block(bundle, lane, step, block, a, b);
        if constexpr (Form::D > 0) {
            for (std::size_t i = 0; i < Form::D; ++i) {
                const F response = Form::put_drive(bundle, lane, i, block, a, b);
                const bool motor = Constraint::kDrives[i] == Drive::motor;
                if (motor)
                    refresh_motor(bundle.drive[i], lane, response);
                else
                    refresh_hold(bundle.drive[i], lane, step, block.drive[i].value, response);
                put(bundle.softness[i], lane, motor ? get<F>(bundle.drive[i].softness, lane) : F(0.0f));
            }
        }
    }
};

ORRERY_LANES_END

#endif
