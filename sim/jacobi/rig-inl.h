// What the solvers of rigs share: joints' springs, the stiffness that tension adds, and the forces of the last substep.
//
// Springs. One that the user set is the soft form of spring-inl.h, q / (1 + q) of the effective mass and 1 / (1 + q) of
// the impulse, which is a softness e = 1 / q of the joint's block here. Other joints are as stiff as the rig's compliance
// says and lose kShare of their error in a substep, at most at SolverSettings::joint_recovery_speed: an exact solve needs no
// softness to be stable. More at once holds the crack of a whip together better, but leaves its energy in the rig.
//
// Geometric stiffness. Under a pull of F r (force times arm) a body turns about its joints at w^2 = F r i, which
// explicit rotation follows only where h w < 2. What is above x0 = 1.5 of x = h^2 w^2 is taken implicitly: (I + h^2 K) w' = I w + torques with
// h^2 K = (x - x0) I, so that the solve has the inertia I (1 + x - x0), and begins at w / (1 + x - x0). The joints' impulses turn along with
// the body, and give back what of w was no swinging. (With the inertia alone momentum would come from nowhere wherever the pull grows: heavy
// loads on thin links gained energy a hundredfold. With x0 = 1 a little less is gained in the worst cases, and what is taut over a drum rests later.)
//
// Curving. A point at r of a body that turns at w leaves its tangent: in a substep it moves by h w x r + h^2/2 w x (w x r) + ... .
// A joint that wants h J v = -C misses by the second term, and that is nearly all that it ever misses by. So that term counts as speed,
// taken at the w before the solve: what is wanted then holds at the substep's end (as in SHAKE, whose energy does not drift, where tangents
// lose it). Where a body turns far in a substep, in the crack of a whip, or is held so stiffly that it swings from substep to substep,
// the w before says little, and energy would grow: the term fades, and is gone at h w = 1/8 or at x = 2.

#if defined(ORRERY_JACOBI_RIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_JACOBI_RIG_INL_H_
#undef ORRERY_JACOBI_RIG_INL_H_
#else
#define ORRERY_JACOBI_RIG_INL_H_
#endif

#include "sim/constraints/spring-inl.h"
#include "sim/jacobi/kernels.h"
#include "sim/lanes/quads-inl.h"
#include "sim/solver/integrate-inl.h"

ORRERY_LANES_BEGIN

inline constexpr float kShare = 0.3f;     // of a joint's error, in a substep
inline constexpr float kStiffest = 1.5f;  // h^2 w^2 above which it is implicit
inline constexpr float kCurve = 0.5f;     // Taylor's
inline constexpr float kCurveFade = 32.0f;     // of h^2 w^2 of a body's own turning
inline constexpr float kCurveStiffFade = 0.125f; // of h^2 w^2 of what holds it

template <class F>
ORRERY_FN void put(QuatRows& r, std::size_t lane, QuatT<F> q) {
    put(r.x, lane, q.x), put(r.y, lane, q.y), put(r.z, lane, q.z), put(r.w, lane, q.w);
}
template <class F>
ORRERY_FN Mat3T<F> get(const Mat3Rows& r, std::size_t lane) {
    return {get<F>(r.x, lane), get<F>(r.y, lane), get<F>(r.z, lane)};
}
template <class F>
ORRERY_FN void put(Mat3Rows& r, std::size_t lane, const Mat3T<F>& m) {
    put(r.x, lane, m.x), put(r.y, lane, m.y), put(r.z, lane, m.z);
}

template <class F>
ORRERY_FN Sym3T<F> operator-(const Sym3T<F>& a, const Sym3T<F>& b) {
    return {a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yy - b.yy, a.yz - b.yz, a.zz - b.zz};
}
template <class F>
ORRERY_FN Sym3T<F> operator*(const Sym3T<F>& m, F s) {
    return {m.xx * s, m.xy * s, m.xz * s, m.yy * s, m.yz * s, m.zz * s};
}

// What a joint's force, or impulse, does to turn a body's arm back, N m; never negative.
template <class F>
ORRERY_FN F pull(Vec3T<F> force, Vec3T<F> arm) {
    return max(dot(force, arm), F(0.0f));
}

// That times the inverse inertia about axes across the arm, on average: (trace I - r I r / r.r) / 2.
template <class F>
ORRERY_FN F turn_back(Vec3T<F> force, Vec3T<F> arm, const Sym3T<F>& inertia) {
    const F squared = dot(arm, arm);
    const MaskOf<F> some = squared > F(0.0f);
    const F along = dot(arm, inertia * arm) / select(some, squared, F(1.0f));
    return pull(force, arm) * ((((inertia.xx + inertia.yy) + inertia.zz) - along) * F(0.5f));
}

// What inverse inertia, and the angular velocity at a substep's start, are multiplied with, where x = h^2 w^2.
template <class F>
ORRERY_FN F stiffened(F x) {
    return F(1.0f) / (max(x, F(kStiffest)) - F(kStiffest - 1.0f));
}

// `rows`, `bits`: of bodies, and which of them move.
template <class F>
ORRERY_ONCE void hold_turning(const StepContext& context, const std::uint32_t* rows, std::uint32_t bits, F x) {
    if (!any(x > F(kStiffest))) return;
    VelocityT<F> v = gather_velocity<F>(context.velocity->linear, rows);
    v.angular = v.angular * stiffened(x);
    scatter_velocity<F>(context.velocity->linear, rows, bits, v);
}

// v, no longer than `most`. What few do, so that the division is seldom computed.
template <class F>
ORRERY_FN Vec3T<F> shortened(Vec3T<F> v, F most) {
    const F squared = dot(v, v);
    const MaskOf<F> longer = squared > most * most;
    if (!any(longer)) return v;
    return select<F>(longer, v * (most / sqrt(select(longer, squared, F(1.0f)))), v);
}
// at_most, which leaves alone what is not over.
template <class F>
ORRERY_FN Vec3T<F> bounded(Vec3T<F> v, float limit) {
    if (!any(length_squared(v) > F(limit * limit))) return v;
    return at_most(v, limit);
}

// What w x (w x r) is multiplied with to count as speed, s. x: h^2 w^2 of the geometric stiffness.
template <class F>
ORRERY_FN F curving(Vec3T<F> angular, F x, F h) {
    return h * max((F(kCurve) - (h * h) * length_squared(angular) * F(kCurveFade)) - (x * x) * F(kCurveStiffFade), F(0.0f));
}
// What a point at an arm moves by in a substep, less its centre, for each second of it.
template <class F>
ORRERY_FN Vec3T<F> point_turn(Vec3T<F> angular, Vec3T<F> arm, F curve) {
    const Vec3T<F> tangent = cross(angular, arm);
    return tangent + cross(angular, tangent) * curve;
}

template <class F>
struct JointSpring {
    F softness, rate, keep;  // keep: 1 where the user set it, else 0
};
// frequency 0: rigid, with the rig's own softness.
template <class F>
ORRERY_FN JointSpring<F> joint_spring(F frequency, F damping_ratio, F own, const StepConstants& step) {
    const F zero(0.0f), one(1.0f);
    const MaskOf<F> user = frequency > zero;
    const SoftT<F> soft = soften(select(user, frequency, one), damping_ratio, F(step.h_s));
    return {select(user, soft.impulse_scale / soft.mass_scale, own), select(user, soft.rate, F(kShare * step.inverse_h)),
            select(user, one, zero)};
}
template <class F>
ORRERY_FN Vec3T<F> joint_bias(Vec3T<F> error, const JointSpring<F>& spring, const StepConstants& step) {
    const Vec3T<F> bias = error * spring.rate;
    return select<F>(spring.keep > F(0.0f), bias, shortened(bias, F(step.joint_recovery_speed)));
}

// ---- the forces of the last substep, from the joint's side to the rig's: `sign` is -1 where they differ

template <class F>
ORRERY_FN Vec3T<F> load_force(const RigForces& forces, const std::uint32_t* rows, F sign) {
    F c[kQuadFloats];
    Quads<F>::gather(forces.force->force, rows, c);
    return Vec3T<F>{c[0], c[1], c[2]} * sign;
}
// `bits`: lanes that have the joint.
template <class F>
ORRERY_FN void store_force(const RigForces& forces, const std::uint32_t* rows, std::uint32_t bits, F sign, Vec3T<F> force,
                           Vec3T<F> total, const StepConstants& step) {
    const F zero(0.0f);
    force = force * sign;
    const F c[kQuadFloats] = {force.x + zero, force.y + zero, force.z + zero, zero};
    Quads<F>::scatter(forces.force->force, rows, bits, c);
    if (!forces.breakable) return;
    float n[kBundleLanes];
    store(n, length(total) * F(step.inverse_dt));
    for (std::size_t k = 0; k < lanes<F>(); ++k) {
        if (((bits >> k) & 1u) != 0) forces.mean_n[rows[k]] = n[k];
    }
}

template <class F>
ORRERY_FN std::uint32_t vector_bits(std::uint32_t mask, std::size_t lane) {
    return (mask >> lane) & ((1u << lanes<F>()) - 1u);
}

ORRERY_LANES_END

#endif
