// The bundle of hinge.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_HINGE_BUNDLE_
#define ORRERY_CONSTRAINTS_HINGE_BUNDLE_

#include "sim/constraints/bundle.h"
#include "sim/constraints/hinge.h"

namespace orrery::sim {

struct HingeBundle {
    BundleHead head;
    Vec3Rows anchor_a, anchor_b, axis_a, axis_b, normal_a, normal_b;  // local
    SpringRows spring;
    Row impulse[5];   // N s along world axes; N m s about row_u and row_v
    Row limited;      // 1 or 0
    LimitRows limit;  // of the angle, rad
    JointForceRows force;
    // Of the current poses:
    InertiaRows a, b;
    Vec3Rows arm_a, arm_b;  // world
    Vec3Rows axis, row_u, row_v;
    LdltRows<5> mass;
    Row bias[5];           // m/s, rad/s
    Row coupling[5];       // what an impulse of one of the five does to the limit's speed: c
    Row k_inv_c[5];        // what the five give way to an impulse of the limit: K^-1 c
    Row response, relief;  // of the limit's speed to its own impulse, and what of that the five take back: c . K^-1 c
};

// Angles lie in (-pi, pi]: these are never reached.
inline constexpr float kUnlimitedLow = -4.0f, kUnlimitedHigh = 4.0f;

inline void load_lane(HingeBundle& bundle, std::uint32_t lane, const Hinge& joint, const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.axis_b, lane, joint.axis_b);
    set_lane(bundle.normal_a, lane, joint.normal_a);
    set_lane(bundle.normal_b, lane, joint.normal_b);
    set_lane(bundle.spring, lane, joint.spring);
    for (int i = 0; i < 5; ++i) set_lane(bundle.impulse[i], lane, impulse[i]);
    set_lane(bundle.limited, lane, joint.limited ? 1.0f : 0.0f);
    set_lane(bundle.limit.low, lane, joint.limited ? joint.min_angle_rad : kUnlimitedLow);
    set_lane(bundle.limit.high, lane, joint.limited ? joint.max_angle_rad : kUnlimitedHigh);
    set_lane(bundle.limit.spring, lane, joint.limit_spring);
    set_lane(bundle.limit.impulse, lane, joint.limited ? impulse[5] : 0.0f);
}
inline void store_lane(const HingeBundle& bundle, std::uint32_t lane, float* impulse) {
    for (int i = 0; i < 5; ++i) impulse[i] = bundle.impulse[i].lane[lane];
    impulse[5] = bundle.limit.impulse.lane[lane];
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_HINGE_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_HINGE_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_HINGE_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_HINGE_FUNCTIONS_
#endif

#include "sim/constraints/block-inl.h"
#include "sim/constraints/limit-inl.h"

ORRERY_LANES_BEGIN

// With ra, rb the anchors, a and b the axes, u the normal of A and v = a x u, all in world axes:
//
//   C  = [ (xb + rb) - (xa + ra) ;  -v . b ;  u . b ]
//   C' = [ vb + wb x rb - va - wa x ra ;  (wb - wa) . (v x b) ;  (wb - wa) . (b x u) ]
//
// from (v . b)' = (wa x v) . b + v . (wb x b) = -(wb - wa) . (v x b), and likewise for u. On the axis the rows are u
// and v; C measures the sine of the angle between the axes. The five rows are one block: a wheel's axle is held by its
// lever, and solved apart the point and the axis would undo each other.
//
// The limit is one row more, on the angle of normal_b from normal_a about a:
//
//   theta = atan2((na x nb) . a, na . nb),  theta' = (wb - wa) . a
//
// It is solved together with the block. Alone it would turn a body about its centre, where the hinge lets it turn about
// the hinge only: what hangs on a lever is many times as heavy. With c = J M^-1 a the coupling, K the block and s its
// share of the soft form, an impulse d of the limit changes the block's answer by -s K^-1 c d, so that the limit's
// speed afterwards is
//
//   theta'(v + what the block alone would do) + (a . M^-1 a - s c . K^-1 c) d
struct HingeFunctions {
    using Bundle = HingeBundle;
    static constexpr float kLeastLeft = 1.0e-5f;

    template <class F>
    struct Bias {
        F row[5];
        LimitBias<F> limit;
        ORRERY_FN Bias() {}
    };
    template <class F>
    ORRERY_FN static Bias<F> bias(const Bundle& bundle, std::size_t lane) {
        Bias<F> all;
        for (int i = 0; i < 5; ++i) all.row[i] = get<F>(bundle.bias[i], lane);
        all.limit = limit_bias<F>(bundle.limit, lane);
        return all;
    }

    template <class F>
    ORRERY_FN static void prepare(Bundle& bundle, std::size_t lane, const StepConstants& step) {
        prepare_spring<F>(bundle.spring, lane, step);
        prepare_spring<F>(bundle.limit.spring, lane, step);
    }

    template <class F>
    ORRERY_FN static void refresh(Bundle& bundle, std::size_t lane, const StepConstants& step, const PoseT<F>& pose_a,
                                  const PoseT<F>& pose_b, const InertiaT<F>& a, const InertiaT<F>& b) {
        const QuatT<F> qa = pose_a.orientation, qb = pose_b.orientation;
        const Vec3T<F> ra = rotate(qa, get<F>(bundle.anchor_a, lane)), rb = rotate(qb, get<F>(bundle.anchor_b, lane));
        const Vec3T<F> axis = rotate(qa, get<F>(bundle.axis_a, lane)), other = rotate(qb, get<F>(bundle.axis_b, lane));
        const Vec3T<F> u = rotate(qa, get<F>(bundle.normal_a, lane)), v = cross(axis, u);
        const Vec3T<F> normal = rotate(qb, get<F>(bundle.normal_b, lane));
        const Vec3T<F> rows[2] = {cross(v, other), cross(other, u)};
        put(bundle.a, lane, a);
        put(bundle.b, lane, b);
        put(bundle.arm_a, lane, ra);
        put(bundle.arm_b, lane, rb);
        put(bundle.axis, lane, axis);
        put(bundle.row_u, lane, rows[0]);
        put(bundle.row_v, lane, rows[1]);
        const LdltT<5, F> mass = factor_block(ra, rb, rows, a, b);
        put(bundle.mass, lane, mass);

        const Vec3T<F> close = recovery(bundle.spring, lane, (pose_b.position - pose_a.position) + (rb - ra));
        const F bias[5] = {close.x, close.y, close.z, -recovery(bundle.spring, lane, dot(v, other)),
                           recovery(bundle.spring, lane, dot(u, other))};
        for (int i = 0; i < 5; ++i) put(bundle.bias[i], lane, bias[i]);

        const F angle = atan2(dot(cross(u, normal), axis), dot(u, normal));
        if (any(get<F>(bundle.limited, lane) > F(0.0f))) {
            const Vec3T<F> of_a = a.inverse_inertia * axis, of_b = b.inverse_inertia * axis, turn = of_a + of_b;
            const Vec3T<F> lever = cross(of_a, ra) + cross(of_b, rb);
            const F coupling[5] = {lever.x, lever.y, lever.z, dot(turn, rows[0]), dot(turn, rows[1])};
            F k_inv_c[5] = {coupling[0], coupling[1], coupling[2], coupling[3], coupling[4]};
            solve_ldlt(mass, k_inv_c);
            F relief = coupling[0] * k_inv_c[0];
            for (int i = 1; i < 5; ++i) relief = relief + coupling[i] * k_inv_c[i];
            for (int i = 0; i < 5; ++i)
                put(bundle.coupling[i], lane, coupling[i]), put(bundle.k_inv_c[i], lane, k_inv_c[i]);
            put(bundle.response, lane, dot(axis, turn));
            put(bundle.relief, lane, relief);
        }
        refresh_limit(bundle.limit, lane, step, unwound(bundle.limit, lane, angle),
                      F(0.0f));  // its mass is made with the block's, when it is solved
    }

    template <class F>
    ORRERY_FN static void apply(const Bundle& bundle, std::size_t lane, const F (&row)[5], VelocityT<F>& va,
                                VelocityT<F>& vb) {
        const Vec3T<F> push{row[0], row[1], row[2]};
        const Vec3T<F> turn = get<F>(bundle.row_u, lane) * row[3] + get<F>(bundle.row_v, lane) * row[4];
        subtract_impulse(va, get<F>(bundle.a, lane), push, cross(get<F>(bundle.arm_a, lane), push) + turn);
        add_impulse(vb, get<F>(bundle.b, lane), push, cross(get<F>(bundle.arm_b, lane), push) + turn);
    }
    template <class F>
    ORRERY_FN static void apply_limit(const Bundle& bundle, std::size_t lane, F impulse, VelocityT<F>& va,
                                      VelocityT<F>& vb) {
        const Vec3T<F> turn = get<F>(bundle.axis, lane) * impulse;
        va.angular = va.angular - get<F>(bundle.a.inverse_inertia, lane) * turn;
        vb.angular = vb.angular + get<F>(bundle.b.inverse_inertia, lane) * turn;
    }

    template <class F>
    ORRERY_FN static void warm_start(const Bundle& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        F row[5];
        for (int i = 0; i < 5; ++i) row[i] = get<F>(bundle.impulse[i], lane);
        apply(bundle, lane, row, va, vb);
        apply_limit(bundle, lane, get<F>(bundle.limit.impulse, lane), va, vb);
    }

    template <bool kRelax, class F>
    ORRERY_FN static void solve(Bundle& bundle, std::size_t lane, const StepConstants&, const Bias<F>& bias,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        const auto spring = PassSpring<kRelax, F>::of(bundle.spring, lane);
        const Vec3T<F> ra = get<F>(bundle.arm_a, lane), rb = get<F>(bundle.arm_b, lane),
                       axis = get<F>(bundle.axis, lane);
        const Vec3T<F> slip = (vb.linear + cross(vb.angular, rb)) - (va.linear + cross(va.angular, ra));
        const Vec3T<F> spin = vb.angular - va.angular;
        const F speed[5] = {slip.x, slip.y, slip.z, dot(spin, get<F>(bundle.row_u, lane)),
                            dot(spin, get<F>(bundle.row_v, lane))};
        F old[5], change[5];
        for (int i = 0; i < 5; ++i) old[i] = get<F>(bundle.impulse[i], lane);
        soft_change(get<F>(bundle.mass, lane), spring, speed, bias.row, old, change);
        const MaskOf<F> limited = get<F>(bundle.limited, lane) > F(0.0f);
        if (any(limited)) {
            F turning = dot(axis, spin);
            for (int i = 0; i < 5; ++i) turning = turning + get<F>(bundle.coupling[i], lane) * change[i];
            // On a lever hundreds of times the body's size rounding would be the most of what is left.
            const F response = get<F>(bundle.response, lane);
            const F left = max(response - get<F>(bundle.relief, lane) * spring.mass_scale, response * F(kLeastLeft));
            const F mass = select(limited, inverse_or_zero(left), F(0.0f));
            const F turn = limit_change<kRelax>(bundle.limit, lane, bias.limit, turning, mass),
                    share = turn * spring.mass_scale;
            // Others keep their bits, the sign of a zero too: whether they come this way depends on their neighbours.
            for (int i = 0; i < 5; ++i)
                change[i] = select(limited, change[i] - get<F>(bundle.k_inv_c[i], lane) * share, change[i]);
            VelocityT<F> a = va, b = vb;
            apply_limit(bundle, lane, turn, a, b);
            va.angular = select<F>(limited, a.angular, va.angular);
            vb.angular = select<F>(limited, b.angular, vb.angular);
        }
        for (int i = 0; i < 5; ++i) put(bundle.impulse[i], lane, old[i] + change[i]);
        apply(bundle, lane, change, va, vb);
    }

    template <class F>
    ORRERY_FN static void accumulate(Bundle& bundle, std::size_t lane) {
        const Row* p = bundle.impulse;
        add_rows<F>(bundle.force.linear, lane, Vec3T<F>{get<F>(p[0], lane), get<F>(p[1], lane), get<F>(p[2], lane)});
        add_rows<F>(
            bundle.force.angular, lane,
            (get<F>(bundle.row_u, lane) * get<F>(p[3], lane) + get<F>(bundle.row_v, lane) * get<F>(p[4], lane)) +
                get<F>(bundle.axis, lane) * get<F>(bundle.limit.impulse, lane));
    }
    template <class F>
    ORRERY_FN static void finish(Bundle& bundle, std::size_t lane) {
        for (Row& row : bundle.impulse) canonicalise<F>(row, lane);
        canonicalise<F>(bundle.limit.impulse, lane);
    }
};

ORRERY_LANES_END

#endif
#endif
