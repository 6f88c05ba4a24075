// A nonconvex contact of two bodies: two to four points, each with a normal and friction of its own, as where a
// compound or a ball touches several children or triangles. Its description is as many manifolds of one point of the
// same bodies, one behind the other in their order (sim/collision/manifold.h). What has several points with one normal
// is a convex contact by itself (contact-inl.h), and a single point is the same as either. Contacts with a surface of
// their own (ContactSurface) stay convex ones, one manifold each.

#ifndef ORRERY_CONSTRAINTS_NONCONVEX_CONTACT_BUNDLE_
#define ORRERY_CONSTRAINTS_NONCONVEX_CONTACT_BUNDLE_

#include <span>

#include "sim/constraints/contact-inl.h"

namespace orrery::sim {

struct NonconvexPointRows {
    Vec3Rows normal, tangent;       // the second tangent is normal x tangent
    Vec3Rows arm_a;                 // m, from A's centre to the point; B's is that and to_b
    Vec3Rows angular_a, angular_b;  // arm x normal of each body, m
    Row separation;                 // m, at the tick's start; the depth until prepare
    Row mass;                       // effective, kg; 0 where there is no such point
    Row impulse;                    // N s of one substep
    Row total;                      // N s of the tick
    Row speed;                      // m/s, J v before the first push of the tick; where something bounces
    Sym2Rows friction_mass;         // kg
    Row friction_least;             // its lesser eigenvalue
    Vec2Rows friction_impulse;      // along the tangents, N s
    Vec3Rows world_friction;        // carried friction impulse until prepare, the one to carry after finish
};

struct NonconvexContactBundle {
    BundleHead head;
    InertiaRows a, b;
    Vec3Rows to_b;                        // m, from B's centre to A's
    Row rate, mass_scale, impulse_scale;  // softness
    Row friction, restitution;
    Row point_count;
    NonconvexPointRows points[kMaxManifoldPoints];
};

inline NonconvexPointRows& point_rows(NonconvexContactBundle& bundle, std::uint32_t k) { return bundle.points[k]; }
inline const NonconvexPointRows& point_rows(const NonconvexContactBundle& bundle, std::uint32_t k) {
    return bundle.points[k];
}

inline void load_lane(NonconvexContactBundle& bundle, std::uint32_t lane, Manifolds points) {
    set_lane(bundle.friction, lane, points[0].friction);
    set_lane(bundle.restitution, lane, points[0].restitution);
    set_lane(bundle.point_count, lane, kPointCounts[points.size()]);
    for (std::uint32_t k = 0; k < bundle.head.points; ++k) {
        NonconvexPointRows& rows = bundle.points[k];
        static constexpr Manifold kNothing;
        const Manifold& m = k < points.size() ? points[k] : kNothing;
        set_lane(rows.normal, lane, m.normal);
        set_lane(rows.arm_a, lane, m.points[0].offset_a);
        set_lane(rows.separation, lane, m.points[0].depth);
        set_lane(rows.impulse, lane, m.points[0].normal_impulse);
        set_lane(rows.world_friction, lane, m.friction_impulse);
    }
}
inline void store_lane(const NonconvexContactBundle& bundle, std::uint32_t lane, Manifolds points) {
    for (std::uint32_t k = 0; k < points.size(); ++k) {
        const NonconvexPointRows& rows = bundle.points[k];
        points[k].points[0].normal_impulse = rows.impulse.lane[lane];
        points[k].friction_impulse = get_lane(rows.world_friction, lane);
        points[k].twist_impulse = 0.0f;
        points[k].total_normal_impulse = rows.total.lane[lane];
    }
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_NONCONVEX_CONTACT_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_NONCONVEX_CONTACT_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_NONCONVEX_CONTACT_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_NONCONVEX_CONTACT_FUNCTIONS_
#endif

#include "sim/constraints/contact-inl.h"

ORRERY_LANES_BEGIN

// At point k with offsets ra, rb from the centres, its normal n and tangents t, u = n x t:
//
//   C  = n . (xb + rb - xa - ra) >= 0        C' = n . (vb + wb x rb - va - wa x ra)      J = [-n, -(ra x n), n, rb x n]
//   friction: (C' along t, C' along u) = 0, within a circle of mu times the point's normal impulse
//
// with the same bias, softness and order as a convex contact's: C linear about the tick's start, friction in the relax
// pass after all normals. The points' normals differ, so that one point's impulse is felt by another through the
// velocities: they are solved one after the other, each on what the one before left. A lone point has no lever to twist
// about: there is no twist friction here.
struct NonconvexContactFunctions {
    using Bundle = NonconvexContactBundle;

    template <class F>
    ORRERY_FN static ContactFunctions::Along<F> along(const NonconvexPointRows& rows, std::size_t lane) {
        return {get<F>(rows.normal, lane), get<F>(rows.angular_a, lane), get<F>(rows.angular_b, lane)};
    }

    template <class F>
    ORRERY_FN static void prepare(Bundle& bundle, std::size_t lane, const StepConstants& step, const PoseT<F>& pose_a,
                                  const PoseT<F>& pose_b, const InertiaT<F>& a, const InertiaT<F>& b) {
        const F zero(0.0f), count = get<F>(bundle.point_count, lane), linear = a.inverse_mass + b.inverse_mass;
        const Vec3T<F> to_b = pose_a.position - pose_b.position;
        put(bundle.a, lane, a);
        put(bundle.b, lane, b);
        put(bundle.to_b, lane, to_b);
        const SoftT<F> soft = ContactFunctions::softness(step, a, b);
        put(bundle.rate, lane, soft.rate);
        put(bundle.mass_scale, lane, soft.mass_scale);
        put(bundle.impulse_scale, lane, soft.impulse_scale);
        for (std::uint32_t k = 0; k < bundle.head.points; ++k) {
            NonconvexPointRows& rows = bundle.points[k];
            const MaskOf<F> present = F(static_cast<float>(k)) < count;
            const Vec3T<F> n = get<F>(rows.normal, lane), t = perpendicular(n), u = cross(n, t);
            const Vec3T<F> ra = get<F>(rows.arm_a, lane), rb = ra + to_b, ja = cross(ra, n), jb = cross(rb, n);
            const F response = (linear + dot(ja, a.inverse_inertia * ja)) + dot(jb, b.inverse_inertia * jb);
            put(rows.tangent, lane, t);
            put(rows.angular_a, lane, ja);
            put(rows.angular_b, lane, jb);
            put(rows.separation, lane, -get<F>(rows.separation, lane));
            put(rows.mass, lane, select(present, inverse_or_zero(response), zero));
            put(rows.total, lane, zero);
            const Mat23T<F> fa{cross(ra, t), cross(ra, u)}, fb{cross(rb, t), cross(rb, u)};
            const Sym2T<F> ka = sandwich(fa, a.inverse_inertia), kb = sandwich(fb, b.inverse_inertia);
            const Sym2T<F> friction_mass =
                inverse_or_zero(Sym2T<F>{(linear + ka.xx) + kb.xx, ka.xy + kb.xy, (linear + ka.yy) + kb.yy});
            put(rows.friction_mass, lane, friction_mass);
            put(rows.friction_least, lane, ContactFunctions::least_of(friction_mass));
            const Vec3T<F> carried = get<F>(rows.world_friction, lane);
            put(rows.friction_impulse, lane, Vec2T<F>{dot(carried, t), dot(carried, u)});
        }
    }

    template <class F>
    ORRERY_FN static void warm_start(const Bundle& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        const F zero(0.0f);
        const Vec3T<F> to_b = get<F>(bundle.to_b, lane);
        Vec3T<F> linear{zero, zero, zero}, turn_a = linear, turn_b = linear;
        for (std::uint32_t k = 0; k < bundle.head.points; ++k) {
            const NonconvexPointRows& rows = bundle.points[k];
            const Vec3T<F> n = get<F>(rows.normal, lane), t = get<F>(rows.tangent, lane), ra = get<F>(rows.arm_a, lane);
            const Vec2T<F> friction = get<F>(rows.friction_impulse, lane);
            const Vec3T<F> push = (n * get<F>(rows.impulse, lane) + t * friction.x) + cross(n, t) * friction.y;
            linear = linear + push;
            turn_a = turn_a + cross(ra, push);
            turn_b = turn_b + cross(ra + to_b, push);
        }
        subtract_impulse(va, get<F>(bundle.a, lane), linear, turn_a);
        add_impulse(vb, get<F>(bundle.b, lane), linear, turn_b);
    }

    template <class F>
    ORRERY_FN static void solve_friction(Bundle& bundle, NonconvexPointRows& rows, std::size_t lane, F normal,
                                         const InertiaT<F>& a, const InertiaT<F>& b, VelocityT<F>& va,
                                         VelocityT<F>& vb) {
        const Vec3T<F> n = get<F>(rows.normal, lane), t = get<F>(rows.tangent, lane), u = cross(n, t);
        const Vec3T<F> ra = get<F>(rows.arm_a, lane), rb = ra + get<F>(bundle.to_b, lane);
        const Vec3T<F> slip = (vb.linear + cross(vb.angular, rb)) - (va.linear + cross(va.angular, ra));
        const Vec2T<F> old = get<F>(rows.friction_impulse, lane);
        const Vec2T<F> now =
            ContactFunctions::coulomb(old, Vec2T<F>{dot(slip, t), dot(slip, u)}, get<F>(rows.friction_mass, lane),
                                      get<F>(rows.friction_least, lane), get<F>(bundle.friction, lane) * normal);
        put(rows.friction_impulse, lane, now);
        const Vec3T<F> push = t * (now.x - old.x) + u * (now.y - old.y);
        subtract_impulse(va, a, push, cross(ra, push));
        add_impulse(vb, b, push, cross(rb, push));
    }

    // kThin: friction of each point is bound by no more than its `most`, which is then what it was bound by.
    template <bool kRelax, bool kThin, class F>
    ORRERY_FN static void solve_once(Bundle& bundle, std::size_t lane, const StepConstants& step, F* most,
                                     const VelocityT<F>& da, const VelocityT<F>& db, VelocityT<F>& va,
                                     VelocityT<F>& vb) {
        const F zero(0.0f), one(1.0f);
        const InertiaT<F> a = get<F>(bundle.a, lane), b = get<F>(bundle.b, lane);
        const std::uint32_t points = bundle.head.points;
        for (std::uint32_t k = 0; k < points; ++k) {
            NonconvexPointRows& rows = bundle.points[k];
            const auto p = along<F>(rows, lane);
            const F s = get<F>(rows.separation, lane) + p.speed(da, db);
            const MaskOf<F> apart = s > zero;
            F bias = select(apart, s * F(step.inverse_h), zero), mass = get<F>(rows.mass, lane), softness = zero;
            if constexpr (!kRelax) {
                const F pull =
                    max(get<F>(bundle.rate, lane) * min(s + F(step.slop_m), zero), F(-step.max_recovery_speed_mps));
                bias = select(apart, bias, pull);
                mass = mass * select(apart, one, get<F>(bundle.mass_scale, lane));
                softness = select(apart, zero, get<F>(bundle.impulse_scale, lane));
            }
            const F old = get<F>(rows.impulse, lane), speed = p.speed(va, vb);
            const F now = max((old - mass * (speed + bias)) - softness * old, zero);
            put(rows.impulse, lane, now);
            if constexpr (kRelax) put(rows.total, lane, get<F>(rows.total, lane) + now);
            p.push(now - old, a, b, va, vb);
        }
        if constexpr (kRelax) {
            for (std::uint32_t k = 0; k < points; ++k) {
                F normal = get<F>(bundle.points[k].impulse, lane);
                if constexpr (kThin) most[k] = normal = min(normal, most[k]);
                solve_friction(bundle, bundle.points[k], lane, normal, a, b, va, vb);
            }
        }
    }
    // da, db: displacement since the tick began.
    template <bool kRelax, class F>
    ORRERY_FN static void solve(Bundle& bundle, std::size_t lane, const StepConstants& step, const VelocityT<F>& da,
                                const VelocityT<F>& db, VelocityT<F>& va, VelocityT<F>& vb) {
        solve_once<kRelax, false, F>(bundle, lane, step, nullptr, da, db, va, vb);
    }
    // Of thin bodies, as ContactFunctions.
    template <class F>
    ORRERY_FN static void relax_thin(Bundle& bundle, std::size_t lane, const StepConstants& step,
                                     const VelocityT<F>& da, const VelocityT<F>& db, VelocityT<F>& va,
                                     VelocityT<F>& vb) {
        F most[kMaxManifoldPoints] = {F(kNoLimit), F(kNoLimit), F(kNoLimit), F(kNoLimit)};
        for (int sweep = 0; sweep < ContactFunctions::kThinSweeps; ++sweep) {
            for (std::uint32_t k = 0; k < bundle.head.points && sweep > 0; ++k) {
                if (sweep == 1) most[k] = most[k] * F(ContactFunctions::kMoreBorne);
                ContactFunctions::take_back<F>(bundle.points[k], lane);
            }
            solve_once<true, true, F>(bundle, lane, step, most, da, db, va, vb);
        }
    }

    // As a convex contact's, and what follows.
    template <class F>
    ORRERY_FN static void note_speed(Bundle& bundle, std::size_t lane, const VelocityT<F>& va, const VelocityT<F>& vb) {
        const MaskOf<F> pushed = ContactFunctions::any_push<F>(bundle, lane) > F(0.0f);
        for (std::uint32_t k = 0; k < bundle.head.points; ++k) {
            NonconvexPointRows& rows = bundle.points[k];
            const auto p = along<F>(rows, lane);
            const F now = p.speed(va, vb);
            put(rows.speed, lane, select(pushed, get<F>(rows.speed, lane), now));
        }
    }
    template <class F>
    ORRERY_FN static void restitute(Bundle& bundle, std::size_t lane, const StepConstants& step, VelocityT<F>& va,
                                    VelocityT<F>& vb) {
        const F zero(0.0f), restitution = get<F>(bundle.restitution, lane);
        const InertiaT<F> a = get<F>(bundle.a, lane), b = get<F>(bundle.b, lane);
        const std::uint32_t points = bundle.head.points, visits = ContactFunctions::bounce_visits(points);
        for (std::uint32_t k = 0; k < points; ++k) {
            NonconvexPointRows& rows = bundle.points[k];
            put(rows.speed, lane,
                ContactFunctions::bounce<F>(get<F>(rows.speed, lane), restitution, get<F>(rows.total, lane), step));
        }
        for (std::uint32_t visit = 0; visit < visits; ++visit) {
            NonconvexPointRows& rows = bundle.points[ContactFunctions::there_and_back(visit, points)];
            const auto p = along<F>(rows, lane);
            const F asked = get<F>(rows.speed, lane), total = get<F>(rows.total, lane),
                    old = get<F>(rows.impulse, lane);
            const F now =
                select(asked < zero, max(old - get<F>(rows.mass, lane) * (p.speed(va, vb) + asked), zero), old);
            put(rows.impulse, lane, now);
            put(rows.total, lane, total + (now - old));
            p.push(now - old, a, b, va, vb);
        }
    }

    // The impulses to carry, in canonical form (no -0).
    template <class F>
    ORRERY_FN static void finish(Bundle& bundle, std::size_t lane) {
        const F zero(0.0f);
        for (std::uint32_t k = 0; k < bundle.head.points; ++k) {
            NonconvexPointRows& rows = bundle.points[k];
            const Vec3T<F> t = get<F>(rows.tangent, lane), u = cross(get<F>(rows.normal, lane), t);
            const Vec2T<F> friction = get<F>(rows.friction_impulse, lane);
            put(rows.world_friction, lane, (t * friction.x + u * friction.y) + Vec3T<F>{zero, zero, zero});
            put(rows.impulse, lane, get<F>(rows.impulse, lane) + zero);
        }
    }
};

ORRERY_LANES_END

#endif
#endif
