// The bundle of distance_limit.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_DISTANCE_LIMIT_BUNDLE_
#define ORRERY_CONSTRAINTS_DISTANCE_LIMIT_BUNDLE_

#include "sim/constraints/bundle.h"
#include "sim/constraints/distance_limit.h"

namespace orrery::sim {

struct DistanceLimitBundle {
    BundleHead head;
    Vec3Rows anchor_a, anchor_b;  // local
    LimitRows limit;              // of the distance, m
    JointForceRows force;
    // Of the current poses:
    InertiaRows a, b;
    Vec3Rows axis;                  // unit, from anchor A to anchor B
    Vec3Rows angular_a, angular_b;  // r x axis, m
};

inline void load_lane(DistanceLimitBundle& bundle, std::uint32_t lane, const DistanceLimit& joint,
                      const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.limit.low, lane, lower_end(joint.min_m, joint.max_m));
    set_lane(bundle.limit.high, lane, joint.max_m);
    set_lane(bundle.limit.spring, lane, joint.spring);
    set_lane(bundle.limit.impulse, lane, impulse[0]);
}
inline void store_lane(const DistanceLimitBundle& bundle, std::uint32_t lane, float* impulse) {
    impulse[0] = bundle.limit.impulse.lane[lane];
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_DISTANCE_LIMIT_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_DISTANCE_LIMIT_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_DISTANCE_LIMIT_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_DISTANCE_LIMIT_FUNCTIONS_
#endif

#include "sim/constraints/limit-inl.h"

ORRERY_LANES_BEGIN

// With d = (xb + rb) - (xa + ra) and n = d / |d|:
//
//   value  = |d|,  value' = n . d' = n . (vb + wb x rb - va - wa x ra)
//   J = [-n, -(ra x n), n, rb x n],  m_eff = 1 / (J M^-1 J^T)
//
// Where the anchors meet there is no direction, and any will do: a rope is slack there.
struct DistanceLimitFunctions {
    using Bundle = DistanceLimitBundle;

    template <class F>
    using Bias = LimitBias<F>;
    template <class F>
    ORRERY_FN static Bias<F> bias(const Bundle& bundle, std::size_t lane) {
        return limit_bias<F>(bundle.limit, lane);
    }

    template <class F>
    ORRERY_FN static void prepare(Bundle& bundle, std::size_t lane, const StepConstants& step) {
        prepare_spring<F>(bundle.limit.spring, lane, step);
    }

    template <class F>
    ORRERY_FN static void refresh(Bundle& bundle, std::size_t lane, const StepConstants& step, const PoseT<F>& pose_a,
                                  const PoseT<F>& pose_b, const InertiaT<F>& a, const InertiaT<F>& b) {
        const F zero(0.0f), one(1.0f);
        const Vec3T<F> ra = rotate(pose_a.orientation, get<F>(bundle.anchor_a, lane));
        const Vec3T<F> rb = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        const Vec3T<F> d = (pose_b.position - pose_a.position) + (rb - ra);
        const Vec3T<F> n = normalize_or(d, Vec3T<F>{zero, one, zero}, F(1.0e-6f));
        const Vec3T<F> ja = cross(ra, n), jb = cross(rb, n);
        const F response =
            ((a.inverse_mass + b.inverse_mass) + dot(ja, a.inverse_inertia * ja)) + dot(jb, b.inverse_inertia * jb);
        put(bundle.a, lane, a);
        put(bundle.b, lane, b);
        put(bundle.axis, lane, n);
        put(bundle.angular_a, lane, ja);
        put(bundle.angular_b, lane, jb);
        refresh_limit(bundle.limit, lane, step, length(d), inverse_or_zero(response));
    }

    template <class F>
    ORRERY_FN static void apply(const Bundle& bundle, std::size_t lane, F impulse, VelocityT<F>& va, VelocityT<F>& vb) {
        const Vec3T<F> push = get<F>(bundle.axis, lane) * impulse;
        subtract_impulse(va, get<F>(bundle.a, lane), push, get<F>(bundle.angular_a, lane) * impulse);
        add_impulse(vb, get<F>(bundle.b, lane), push, get<F>(bundle.angular_b, lane) * impulse);
    }

    template <class F>
    ORRERY_FN static void warm_start(const Bundle& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        apply(bundle, lane, get<F>(bundle.limit.impulse, lane), va, vb);
    }

    template <bool kRelax, class F>
    ORRERY_FN static void solve(Bundle& bundle, std::size_t lane, const StepConstants&, const Bias<F>& bias,
                                VelocityT<F>& va, VelocityT<F>& vb) {
        const F speed =
            (dot(get<F>(bundle.axis, lane), vb.linear - va.linear) + dot(get<F>(bundle.angular_b, lane), vb.angular)) -
            dot(get<F>(bundle.angular_a, lane), va.angular);
        apply(bundle, lane, limit_change<kRelax>(bundle.limit, lane, bias, speed), va, vb);
    }

    template <class F>
    ORRERY_FN static void accumulate(Bundle& bundle, std::size_t lane) {
        add_rows<F>(bundle.force.linear, lane, get<F>(bundle.axis, lane) * get<F>(bundle.limit.impulse, lane));
    }
    template <class F>
    ORRERY_FN static void finish(Bundle& bundle, std::size_t lane) {
        canonicalise<F>(bundle.limit.impulse, lane);
    }
};

ORRERY_LANES_END

#endif
#endif
