// What the solvers of rigs share: joints' springs, the stiffness that tension adds, and the forces of the last substep.
//
// Springs. One that the user set is the soft form of spring-inl.h, q / (1 + q) of the effective mass and 1 / (1 + q) of
// the impulse, which is a softness e = 1 / q of the joint's block here. Other joints are as stiff as the rig's
// compliance says and lose kShare of their error in a substep, at most at SolverSettings::joint_recovery_speed: an
// exact solve needs no softness to be stable. More at once holds the crack of a whip together better, but leaves its
// energy in the rig.
//
// Geometric stiffness. Under a pull of P = F . r (force times arm) a body turns about its joints at w^2 = P i, which
// explicit rotation follows only where h w < 2. What is above x0 = 1.5 of x = h^2 w^2 is taken implicitly, across the
// arm:
//
//   (I + K) w' = I w + K w_f + torques,   K = (1 - x0 / x) h^2 sum of P (E - r r^T / r.r)
//
// where w_f is how the pull's direction turns by itself: between bodies that are alike, as the line d from the body's
// centre to that of the one that pulls. But what bears no torque sets that direction itself, so between a light link
// and a crate it turns as the link. With w_n of the one that pulls, and r_n its arm, the body's point and the other's
// being one,
//
//   w_f - w = (w_n - w) s |r_n| / |d|   across r,   s = min(1, 2 P_n i_n / (P i + P_n i_n)),   P_n = F . r_n
//
// and 0 of what is not dynamic (i_n = 0). i is the body's own in chains alone, elsewhere what stiffness has left of it:
// a light link then still heeds a somewhat heavier one. So what swings, whirls or spins as a whole does so freely, and
// what links turn against each other is damped, the same for both if they are alike: P |r_n| / |d| is. K w_f is
// momentum that comes from nowhere and goes there again. Where the two turn alike, and slowly, that is as well as
// inertia, but as a rope cracks it would add energy. So w_f counts by how alike they turn, c^8 with c = 2 w . w_f /
// (w^2 + w_f^2), and fades, to be gone at h w_f = 1/8. (With w_f = w, inertia alone, every tenth rope that falls with a
// heavy load on light links gains energy, up to a hundredfold; with w_f = 0 none does, but a loaded ladder stops
// spinning at once. With this one in a hundred does, by as much as half.) Contacts and other joints of a chain's or a
// tree's bodies see I + K, too, contacts that of the tick's start: each solve takes away what another gives it in turn,
// by an inertia of its own it would take another part, and a ball on a taut bridge of narrow planks, which are light to
// turn, gained up to 10,000 times its energy.
//
// Differences. Two bodies' positions are subtracted first, which is exact between neighbours, then the arm of the
// first, which is a position where that is the world, then the other is added. Points in the world would each be
// rounded by themselves, to 0.06 mm a kilometre out, and each joint of a rope would be pushed for that by itself: what
// N of them push adds up to N^1.5 times as much, with 4,000 links to more than their weight. What positions are rounded
// by takes itself away again from joint to joint. Speeds likewise.
//
// Curving. A point at r of a body that turns at w leaves its tangent: in a substep it moves by h w x r + h^2/2 w x (w x
// r) + ... . A joint that wants h J v = -C misses by the second term, and that is nearly all that it ever misses by. So
// that term counts as speed, taken at the w before the solve: what is wanted then holds at the substep's end (as in
// SHAKE, whose energy does not drift, where tangents lose it). Of chains that are solved again in a substep each solve
// takes it anew, but for what is kFarOut_m from the origin: with what is pushed for rounded positions (above), which
// does not take itself away in a product, ropes gained energy from solve to solve there. Where a body turns far in a
// substep, in the crack of a whip, the w before says little, and energy would grow: the term fades, and is gone at h w
// = 1/8.
//
// Refinement. What a substep's solve asks of a joint is linear in how bodies turn. As a rope cracks, or was slack and
// snaps taut, they turn by so much that this means little: of 1,000 links laid in folds of ten and let go, joints came
// centimetres apart, were pulled together by as much, with thousands of links on their way, and came metres apart. So
// where the poses that a solve led to miss what it asked for,
//
//   C(x) = C - h bias - h e D impulse
//
// by more than kMiss of the joint's arms, the same equation is solved again there for what is left, Newton's method:
// impulses, velocities and poses go on by it, until no joint of the chain or tree misses or kMostRefinements are done.
// Most substeps need none: where no body turns by kFarTurn none misses, so that chains by themselves are not even
// looked at. A user's spring misses nothing either: how hard it is depends on where its bodies' arms point (as D), so
// that following these within a substep would pump energy from one direction into another. Contacts and other joints do
// not follow, so that what they act on may miss kMissActedOn. What refines is an implicit step: poses become the
// nearest that joints allow to where bodies flew to, in the measure of their masses, and energy goes where a linear
// step would gain some. Lanes that miss nothing keep their bits, whatever those beside them miss. max has the new
// number first, so that it passes a NaN over.

#if defined(ORRERY_RIGS_RIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_RIGS_RIG_INL_H_
#undef ORRERY_RIGS_RIG_INL_H_
#else
#define ORRERY_RIGS_RIG_INL_H_
#endif

#include "sim/constraints/spring-inl.h"
#include "sim/lanes/quads-inl.h"
#include "sim/rigs/kernels.h"
#include "sim/solver/integrate-inl.h"

ORRERY_LANES_BEGIN

inline constexpr float kShare = 0.3f;       // of a joint's error, in a substep
inline constexpr float kStiffest = 1.5f;    // h^2 w^2 above which it is implicit
inline constexpr float kWild = 64.0f;       // w_f fades with this times h^2 w_f^2, and is gone at 1
inline constexpr float kCurve = 0.5f;       // Taylor's
inline constexpr float kCurveFade = 32.0f;  // of h^2 w^2 of a body's own turning
inline constexpr float kFarOut_m = 512.0f;
inline constexpr float kMiss = 0.003f;        // of its arms that a joint may miss what it was asked for by,
inline constexpr float kMissActedOn = 0.02f;  // where something else acts on the rig, too,
inline constexpr float kMissLocked = 1.0e6f;  // or an axis is locked along which bodies move
inline constexpr float kRounding =
    1.0f / (1 << 21);  // of a position or an arm, at least of a metre: more than a miss is rounded by
inline constexpr float kFarTurn = 0.05f;  // rad in a substep: what turns by less makes no joint miss
inline constexpr std::uint32_t kMostRefinements = 12;

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

template <class F>
ORRERY_FN Sym3T<F> select_sym(MaskOf<F> mask, const Sym3T<F>& yes, const Sym3T<F>& no) {
    return {select(mask, yes.xx, no.xx), select(mask, yes.xy, no.xy), select(mask, yes.xz, no.xz),
            select(mask, yes.yy, no.yy), select(mask, yes.yz, no.yz), select(mask, yes.zz, no.zz)};
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

// How much of the geometric stiffness is taken implicitly, where x = h^2 w^2.
template <class F>
ORRERY_FN F implicit_share(F x) {
    return F(1.0f) - F(kStiffest) / max(x, F(kStiffest));
}
// What is left of inverse inertia across an arm.
template <class F>
ORRERY_FN F stiffened(F x) {
    return F(1.0f) / (max(x, F(kStiffest)) - F(kStiffest - 1.0f));
}
// I + k t t^T instead of I, of the inverses.
template <class F>
ORRERY_FN Sym3T<F> stiffened(const Sym3T<F>& inverse, Vec3T<F> t, F k) {
    const Vec3T<F> g = inverse * t;
    const Vec3T<F> s = g * (k / (F(1.0f) + k * max(dot(t, g), F(0.0f))));
    return {inverse.xx - g.x * s.x, inverse.xy - g.x * s.y, inverse.xz - g.x * s.z,
            inverse.yy - g.y * s.y, inverse.yz - g.y * s.z, inverse.zz - g.z * s.z};
}
// And across an arm: k (E - r r^T / r.r).
template <class F>
ORRERY_FN Sym3T<F> stiffened_across(const Sym3T<F>& inverse, Vec3T<F> arm, F k) {
    const Vec3T<F> line = normalize_or(arm, Vec3T<F>{F(1.0f), F(0.0f), F(0.0f)}, F(0.0f));
    const Vec3T<F> t = perpendicular(line);
    return stiffened(stiffened(inverse, t, k), cross(line, t), k);
}
// 1 / of what is not negative; 0 where that might overflow.
template <class F>
ORRERY_FN F some_inverse(F squared) {
    const MaskOf<F> usable = squared > F(1.0e-20f);
    return select(usable, F(1.0f) / select(usable, squared, F(1.0f)), F(0.0f));
}
// s, less where the other one is harder to turn. x: P i of either.
template <class F>
ORRERY_FN F heed(F x, F other_x) {
    const F both = x + other_x;
    return min((other_x + other_x) / select(both > F(0.0f), both, F(1.0f)), F(1.0f));
}
// |r_n| / |d| s, where both arms lie in line
template <class F>
ORRERY_FN F lever_share(Vec3T<F> arm, F x, Vec3T<F> other_arm, F other_x) {
    const Vec3T<F> d = arm - other_arm;
    return min(max(-dot(d, other_arm), F(0.0f)) * some_inverse(dot(d, d)), F(1.0f)) * heed(x, other_x);
}
// How much of w_f counts, where the body turns by w.
template <class F>
ORRERY_FN F calm(Vec3T<F> w, Vec3T<F> w_f, F h) {
    const F c = max(dot(w, w_f) * F(2.0f), F(0.0f)) * some_inverse(dot(w, w) + dot(w_f, w_f));
    const F c4 = (c * c) * (c * c), turn = ((h * h) * F(kWild)) * dot(w_f, w_f);
    return (c4 * c4) * max(F(1.0f) - turn * turn, F(0.0f));
}
// c w_f - w across the arm, where the other turns by `turns` more than the body.
template <class F>
ORRERY_FN Vec3T<F> follow(Vec3T<F> arm, F share, Vec3T<F> own, Vec3T<F> turns, F h) {
    const F scale = some_inverse(dot(arm, arm));
    const Vec3T<F> w = own - arm * (dot(arm, own) * scale), w_f = w + (turns - arm * (dot(arm, turns) * scale)) * share;
    return w_f * calm(w, w_f, h) - w;
}
// And about a line.
template <class F>
ORRERY_FN Vec3T<F> follow_about(Vec3T<F> line, F share, Vec3T<F> own, Vec3T<F> turns, F h) {
    const Vec3T<F> w = line * dot(line, own), w_f = w + line * (dot(line, turns) * share);
    return w_f * calm(w, w_f, h) - w;
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

// What w x (w x r) is multiplied with to count as speed, s.
template <class F>
ORRERY_FN F curving(Vec3T<F> angular, F h) {
    return h * max(F(kCurve) - (h * h) * length_squared(angular) * F(kCurveFade), F(0.0f));
}
// What a point at an arm moves by in a substep, less its centre, for each second of it.
template <class F>
ORRERY_FN Vec3T<F> point_turn(Vec3T<F> angular, Vec3T<F> arm, F curve) {
    const Vec3T<F> tangent = cross(angular, arm);
    return tangent + cross(angular, tangent) * curve;
}

template <class F>
struct JointSpring {
    F softness, rate, is_user_spring;  // the last: 1 where the user set it, else 0
};
// frequency 0: rigid, with the rig's own softness.
template <class F>
ORRERY_FN JointSpring<F> joint_spring(F frequency, F damping_ratio, F own, const StepConstants& step) {
    const F zero(0.0f), one(1.0f);
    const MaskOf<F> user = frequency > zero;
    const SoftT<F> soft = soften(select(user, frequency, one), damping_ratio, F(step.h_s));
    return {select(user, soft.impulse_scale / soft.mass_scale, own),
            select(user, soft.rate, F(kShare * step.inverse_h)), select(user, one, zero)};
}
template <class F>
ORRERY_FN Vec3T<F> joint_bias(Vec3T<F> error, const JointSpring<F>& spring, const StepConstants& step) {
    const Vec3T<F> bias = error * spring.rate;
    return select<F>(spring.is_user_spring > F(0.0f), bias, shortened(bias, F(step.joint_recovery_speed)));
}

// What a joint is to be apart by when a substep ends, but for what its softness leaves.
template <class F>
ORRERY_FN Vec3T<F> joint_goal(Vec3T<F> error, Vec3T<F> bias, const StepConstants& step) {
    return error - bias * F(step.h_s);
}
// Of a joint that the user did not make a spring (JointSpring::keep), else 0.
template <class F>
ORRERY_FN F rigid_only(F keep, F x) {
    return select(keep > F(0.0f), F(0.0f), x);
}
template <class F>
ORRERY_FN Vec3T<F> rigid_only(F keep, Vec3T<F> v) {
    const F zero(0.0f);
    return select<F>(keep > zero, Vec3T<F>{zero, zero, zero}, v);
}
// Of an arm of a body with this inverse inertia, m^2: none of what does not turn, as the world does not.
template <class F>
ORRERY_FN F lever_squared(Vec3T<F> arm, F inverse_inertia) {
    return select(inverse_inertia > F(0.0f), dot(arm, arm), F(0.0f));
}
template <class F>
ORRERY_FN F lever_squared(Vec3T<F> arm, const Sym3T<F>& inverse_inertia) {
    return lever_squared(arm, (inverse_inertia.xx + inverse_inertia.yy) + inverse_inertia.zz);
}
// What a joint may miss, m^2, and what calls for refinement: above 0. `levers`: lever_squared of both. `reach`: of what
// it was computed from.
template <class F>
ORRERY_FN F reach_squared(Vec3T<F> position, Vec3T<F> arm, Vec3T<F> other_arm) {
    return F(1.0f) + (dot(position, position) + (dot(arm, arm) + dot(other_arm, other_arm)));
}
template <class F>
ORRERY_FN F beyond_miss(Vec3T<F> miss, F levers, F reach, F may_miss = F(kMiss)) {
    return dot(miss, miss) - (levers * (may_miss * may_miss) + reach * F(kRounding * kRounding));
}
// Bits of the lanes where `beyond` is above 0.
template <class F>
ORRERY_FN std::uint32_t lanes_beyond(F beyond) {
    if (!any(beyond > F(0.0f))) return 0;
    float each[kBundleLanes];
    store(each, beyond);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < lanes<F>(); ++k) bits |= each[k] > 0.0f ? 1u << k : 0u;
    return bits;
}

template <class F>
ORRERY_FN MaskOf<F> lanes_with(std::uint32_t bits) {
    float each[kBundleLanes];
    for (std::size_t k = 0; k < lanes<F>(); ++k) each[k] = ((bits >> k) & 1u) != 0 ? 1.0f : 0.0f;
    return load<F>(each) > F(0.0f);
}
// What joints may miss, by the lanes that something else acts on, and those in which locks do: no solve knows of these,
// so that what they leave would be missed for ever.
template <class F>
ORRERY_FN F may_miss(std::uint32_t acted_on, std::uint32_t locked) {
    if ((acted_on | locked) == 0) return F(kMiss);
    return select(lanes_with<F>(locked), F(kMissLocked), select(lanes_with<F>(acted_on), F(kMissActedOn), F(kMiss)));
}
template <class F>
ORRERY_FN void add_where(Vec3Rows& row, std::size_t lane, MaskOf<F> where, Vec3T<F> by) {
    const Vec3T<F> had = get<F>(row, lane);
    put(row, lane, select<F>(where, had + by, had));
}

// A body's velocity and pose go on by a change of velocity.
template <class F>
ORRERY_ONCE void refine_body(const StepContext& context, const std::uint32_t* rows, std::uint32_t bits,
                             const VelocityT<F>& change) {
    if (bits == 0) return;
    VelocityT<F> v = gather_velocity<F>(context.velocity->linear, rows);
    v.linear = v.linear + change.linear;
    v.angular = v.angular + change.angular;
    scatter_velocity<F>(context.velocity->linear, rows, bits, v);
    move_on<F>(context, rows, bits, change);
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
ORRERY_FN void store_force(const RigForces& forces, const std::uint32_t* rows, std::uint32_t bits, F sign,
                           Vec3T<F> force, Vec3T<F> total, const StepConstants& step) {
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
