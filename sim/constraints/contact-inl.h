// A convex contact of two bodies: one to four points with one normal, friction at their depth-weighted centre, twist
// friction about the normal, restitution; a surface that runs, rolling resistance, and a spring and a recovery speed of
// its own where the materials ask for them. Its description is the Manifold, and the ContactSurface where there is one
// (sim/collision/manifold.h).

#ifndef ORRERY_CONSTRAINTS_CONTACT_BUNDLE_
#define ORRERY_CONSTRAINTS_CONTACT_BUNDLE_

#include "sim/collision/manifold.h"
#include "sim/constraints/bundle.h"

namespace orrery::sim {

struct ContactPointRows {
    Row separation;  // m, at the tick's start; the depth until prepare
    Row gap;         // m, now: what relax finds serves the next substep's solve, for no pose moves between them
    Row mass;        // effective, kg
    Row impulse;     // N s of one substep
    Row total;       // N s of the tick
    // Not kept where no lane has more than one point (BundleHead::points), which is the friction centre:
    Vec3Rows angular;  // s x n, m, with s from the friction centre
    Row lever;         // m, from the friction centre: what twist friction acts by
};

// Rows that are used before prepare or after finish alone lie where others are used between.
struct ContactBundle {
    static constexpr bool kSurface = false;
    BundleHead head;
    Vec3Rows normal;
    union {
        Vec3Rows tangent;  // the second tangent is normal x tangent
        Vec3Rows moved;    // m, until prepare: how far B's centre moves from A's until they touch
    };
    InertiaRows a, b;
    union {
        Vec3Rows arm_a;           // m, from each centre to the friction centre
        Vec3Rows world_friction;  // carried friction impulse until prepare, the one to carry after finish
    };
    union {
        Vec3Rows arm_b;
        Row point_count;  // until prepare
        Row total;        // after finish: N s over all points and substeps
    };
    union {
        Sym2Rows friction_mass;  // kg
        Vec3Rows first_offset;   // until prepare: m, from A's centre to the first point; those of the others lie in
                                 // their `angular`
    };
    Row friction_least;  // the lesser eigenvalue of friction_mass
    Row twist_mass;      // kg m^2
    Row friction;
    Vec2Rows friction_impulse;  // along the tangents, N s
    Row twist_impulse;          // N m s
    // Last: memory ends where the bundle's kind has no more points.
    ContactPointRows one, two;
    Row coupling_of_two;  // 1/kg: what a unit of one point's impulse does to the speed at another
    Row slender;          // 1 where the contact is, else 0
    Vec3Rows held_a,
        held_b;  // m, from each centre to the points' middle, as far as it is held; until prepare the tick before's
    ContactPointRows three, four;
    Row coupling_of_more[kMaxManifoldPoints * (kMaxManifoldPoints - 1) / 2 - 1];
};
constexpr std::size_t contact_bundle_bytes(std::size_t points) {
    return points == 1   ? offsetof(ContactBundle, one) + offsetof(ContactPointRows, angular)
           : points == 2 ? offsetof(ContactBundle, slender)
                         : sizeof(ContactBundle);
}

// Contacts with restitution lie in bundles of their own, and so do those with a ContactSurface that is not plain:
// others neither hold nor solve it.
struct BouncingContactBundle : ContactBundle {
    Row restitution;
    Row speed[kMaxManifoldPoints];  // m/s, J v before the first push of the tick, by point
};
struct SurfaceContactBundle : BouncingContactBundle {
    static constexpr bool kSurface = true;
    Row rate, mass_scale, impulse_scale;  // softness
    Vec3Rows runs;             // m/s, world, in the tangent plane: B's surface less A's, beside the bodies' motion
    Row rolling;               // N m per N
    LdltRows<3> rolling_mass;  // kg m^2
    Vec3Rows rolling_impulse;  // N m s of one substep, on B, world axes
    Row frequency_hz, damping_ratio;  // of the contact's own spring; frequency 0: the solver's
    Row recovery;                     // m/s; 0 until prepare: the solver's
};

inline constexpr std::size_t kContactPointAt[kMaxManifoldPoints] = {
    offsetof(ContactBundle, one), offsetof(ContactBundle, two), offsetof(ContactBundle, three),
    offsetof(ContactBundle, four)};
inline ContactPointRows& point_rows(ContactBundle& bundle, std::uint32_t k) {
    return *reinterpret_cast<ContactPointRows*>(reinterpret_cast<std::byte*>(&bundle) + kContactPointAt[k]);
}
inline const ContactPointRows& point_rows(const ContactBundle& bundle, std::uint32_t k) {
    return *reinterpret_cast<const ContactPointRows*>(reinterpret_cast<const std::byte*>(&bundle) + kContactPointAt[k]);
}
// Of points j < k.
inline std::size_t coupling_at(std::uint32_t k, std::uint32_t j) {
    return k == 1 ? offsetof(ContactBundle, coupling_of_two)
                  : offsetof(ContactBundle, coupling_of_more) + (k * (k - 1) / 2 + j - 1) * sizeof(Row);
}
inline Row& coupling(ContactBundle& bundle, std::uint32_t k, std::uint32_t j) {
    return *reinterpret_cast<Row*>(reinterpret_cast<std::byte*>(&bundle) + coupling_at(k, j));
}
inline const Row& coupling(const ContactBundle& bundle, std::uint32_t k, std::uint32_t j) {
    return *reinterpret_cast<const Row*>(reinterpret_cast<const std::byte*>(&bundle) + coupling_at(k, j));
}

inline constexpr float kPointCounts[kMaxManifoldPoints + 1] = {0.0f, 1.0f, 2.0f, 3.0f, 4.0f};

inline void load_lane(ContactBundle& bundle, std::uint32_t lane, const Manifold& m) {
    set_lane(bundle.normal, lane, m.normal);
    set_lane(bundle.moved, lane, m.moved);
    set_lane(bundle.world_friction, lane, m.friction_impulse);
    if (bundle.head.points > 2) {
        constexpr Vec3 kNowhere{kNoArm, kNoArm, kNoArm};
        set_lane(bundle.held_a, lane, may_hold(m) ? m.held_a : kNowhere);
        set_lane(bundle.held_b, lane, may_hold(m) ? m.held_b : kNowhere);
    }
    set_lane(bundle.twist_impulse, lane, m.twist_impulse);
    set_lane(bundle.friction, lane, m.friction);
    set_lane(bundle.point_count, lane, kPointCounts[m.count]);
    for (std::uint32_t k = 0; k < bundle.head.points; ++k) {
        ContactPointRows& rows = point_rows(bundle, k);
        const ManifoldPoint point = k < m.count ? m.points[k] : ManifoldPoint{};
        set_lane(k == 0 ? bundle.first_offset : rows.angular, lane, point.offset_a);
        set_lane(rows.separation, lane, point.depth);
        set_lane(rows.impulse, lane, point.normal_impulse);
    }
}
inline void load_lane(BouncingContactBundle& bundle, std::uint32_t lane, const Manifold& m) {
    load_lane(static_cast<ContactBundle&>(bundle), lane, m);
    set_lane(bundle.restitution, lane, m.restitution);
}
inline void load_surface(SurfaceContactBundle& bundle, std::uint32_t lane, const ContactSurface& surface) {
    set_lane(bundle.runs, lane, surface.velocity);
    set_lane(bundle.rolling, lane, surface.rolling_m);
    set_lane(bundle.rolling_impulse, lane, surface.rolling_impulse);
    set_lane(bundle.frequency_hz, lane, surface.frequency_hz);
    set_lane(bundle.damping_ratio, lane, surface.damping_ratio);
    set_lane(bundle.recovery, lane, surface.max_recovery_speed_mps);
}
inline void store_surface(const SurfaceContactBundle& bundle, std::uint32_t lane, ContactSurface& surface) {
    surface.rolling_impulse = get_lane(bundle.rolling_impulse, lane);
}
inline void store_lane(const ContactBundle& bundle, std::uint32_t lane, Manifold& m) {
    for (std::uint32_t k = 0; k < m.count; ++k) m.points[k].normal_impulse = point_rows(bundle, k).impulse.lane[lane];
    m.friction_impulse = get_lane(bundle.world_friction, lane);
    if (may_hold(m)) {
        m.held_a = get_lane(bundle.held_a, lane);
        m.held_b = get_lane(bundle.held_b, lane);
    }
    m.twist_impulse = bundle.twist_impulse.lane[lane];
    m.total_normal_impulse = bundle.total.lane[lane];
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_CONTACT_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_CONTACT_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_CONTACT_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_CONTACT_FUNCTIONS_
#endif

#include "sim/constraints/block-inl.h"

ORRERY_LANES_BEGIN

// Penetration, a point. With contact offsets ra, rb from the centres and normal n from A to B:
//
//   C  = n . (xb + rb - xa - ra) >= 0
//   C' = n . (vb + wb x rb - va - wa x ra) = n . vb + (rb x n) . wb - n . va - (ra x n) . wa
//   J  = [-n, -(ra x n), n, rb x n]          m_eff = 1 / (J M^-1 J^T)
//
// All points have one normal, and with s from the friction centre, whose arms are ca and cb, ra = ca + s and rb = cb +
// s: both bodies see a point by the same s x n beside what the centre has of its own, la = ca x n and lb = cb x n,
//
//   J v = n . (vb - va) + lb . wb - la . wa + (s x n) . (wb - wa)
//
// of which all but the last is found once for all points. Points are solved one after the other. What the impulse at j
// does to the speed at k is known beforehand,
//
//   J_k M^-1 J_j^T = 1/ma + 1/mb + (la + s_k x n) . Ia^-1 (la + s_j x n) + (lb + s_k x n) . Ib^-1 (lb + s_j x n)
//
// so that the bodies' velocities are read and written once for all of them. In the relax pass, whose velocities are
// kept, they are gone through five times, up and down: after once a crate that is struck full in the face turns, and
// leaves by 3 % too fast. In the solve pass more than once makes tall pyramids slower to come to rest.
//
// Of a pair that meets within the tick arms and normal are those of that moment (sim/collision/sweep/fast_pairs.h).
//
// Within a tick the constraint is kept linear about the tick's start: C(t) = C(0) + J dx, where dx is the integral of
// the velocities. A point fixed to the bodies instead would ride up the surface of a rolling sphere and report a gap
// that is not there; the linear form is exact for spheres and needs no rotation at all.
//
// C > 0: the bodies may close the gap in this substep, no more: bias C / h, rigid. C <= 0: soft, C + slop is driven to
// zero at most at the maximum recovery speed; in the relax pass only the velocity counts, rigid. The impulse only
// pushes.
//
// What stands on three or four points stands still. A column of n rigid blocks does not buckle; one of blocks on
// springs does, and so does one of contacts that a sweep or two a substep solve: each tilt of a block moves the weight
// above it to the side of its foot, which tilts it further (Greenhill's column; by the spring's stiffness alone ten
// blocks of 1 x 1 x 5 are near it, fifteen are beyond). That tilt is an error of the solver, and the moment that it
// makes is one, too: the arms from the centres to the points' middle are those of the tick before, as long as these are
// within a play of what they are. The play is 1 mm, but not less than a twenty-fifth nor more than an eighth of the
// half width of what the points span (the root mean square of their distances along the direction in which it is least:
// 0 of two points); what leaves it draws the arms along. So a contact bears as if it lay by at most the play beside its
// place. It is held in the world's axes, which is wrong for what turns as a whole: of two bodies that turn together the
// one is pushed beside where the other is, a couple that no free pair may feel (rows of boxes drawn together in free
// space gained energy without bound; what a crane swings swung a quarter too fast; what turntables carry crept by the
// play times their speed). And of what hangs an arm that lags behind makes a swing grow, where it damps what has its
// centre above its foot; one behind the middle of points that rolls along with a hull drives it. So arms are held of
// what stands alone: touching, its centre above the contact and three points of it near, held by no joint, borne,
// within 60 degrees of gravity, by what does not turn or stands itself, and no faster than a tenth of sqrt(g / radius);
// they turn about gravity with what bears (world/contacts.cpp). Box3D's manifolds of what moves by less than 5 cm
// against each other are reused, arms in the world's axes and all: its stacks stand by that.
//
// Slender: where a push along the worst tangent moves the bodies by more than 1.5 times what one at a point along the
// normal does, they tip easier than they are lifted, and what a sweep leaves of the springs' pushes swings columns ever
// higher, the stiffer they are. So the frequency of all contacts is bound to 0.22 of the substep rate (at 0.25 columns
// of cubes swing twice as far), of slender ones to 0.175.
//
// Friction: J v along two tangents at the weighted centre of the points, rigid, solved as one 2x2 block and clamped to
// the circle of mu times the sum of normal impulses. Twist: (wb - wa) . n, clamped to mu times the sum of normal
// impulses, each by its lever arm about that centre. Both are solved in the relax pass only, after penetration: there
// the normal impulses are free of the push that recovers penetration, which friction would else turn into creep.
//
// A surface that runs over its body at sa, sb (m/s, in the tangent plane): what friction brings to rest is not the
// bodies' slip but that of their surfaces, J v + (sb - sa). The matrix and the bound stay, and so does the reaction on
// the body that carries the belt.
//
// A push at the side of a stick turns it about its length as easily as it moves it: penetration and friction of one
// contact each undo there what the other has done, and what is carried from the substep of an impact has nothing to do
// with the next. Contacts of thin bodies are gone through eight times, friction with penetration (with three times some
// of 400 sticks that are thrown to the ground still gain energy). After the second time the bound of friction grows no
// more: where friction drives a stick into the ground harder than what bears it (Painleve), the two would drive each
// other up for ever; with a bound that stands they are a convex problem, which no sweep makes worse.
//
// Rolling resistance: C' = wb - wa, three rows, K = Ia^-1 + Ib^-1, rigid, the impulse clamped to a ball of rolling_m
// times the sum of normal impulses. All three, for a ball that spins on the spot turns against its contact too. It is
// solved where friction is, before it, and carried like friction's impulse: a heap is held by both together.
struct ContactFunctions {
    using Bundle = ContactBundle;
    static constexpr float kLeastFrictionWeight = 0.01f;  // of a point at the speculative margin
    static constexpr float kPlay_m = 1e-3f, kLeastPlay = 0.04f,
                           kMostPlay = 0.125f;    // of the arms; least and most of the half width
    static constexpr float kOtherPlace2 = 16.0f;  // of the play, squared: what has moved on by more is another contact
    static constexpr float kSlender = 1.5f;  // K along the worst tangent to K of the point that turns the bodies most
    static constexpr int kMoreSweeps = 2;    // down the points and up again, in the relax pass
    static constexpr int kThinSweeps = 8;    // of normals and friction in the relax pass, where a body is thin
    static constexpr std::uint32_t kBounceSweeps = 8;  // along the points, one way, of the restitution pass
    static constexpr float kMoreBorne =
        1.25f;  // of what the first bears, by the second; by later ones no more than before

    template <class F>
    struct Frame {
        Vec3T<F> n, t, u;
        InertiaT<F> a, b;
        ORRERY_FN static Frame of(const Bundle& bundle, std::size_t lane) {
            const Vec3T<F> n = get<F>(bundle.normal, lane), t = get<F>(bundle.tangent, lane);
            return {n, t, cross(n, t), get<F>(bundle.a, lane), get<F>(bundle.b, lane)};
        }
    };

    // A place on both bodies, along n: how fast they part there (J v), and what a push does. `turn`, beside it: s x n
    // of a point that lies s away, or what several points' impulses come to.
    template <class F>
    struct Along {
        Vec3T<F> n, a, b;  // a, b: r x n of each body
        ORRERY_FN F speed(const VelocityT<F>& va, const VelocityT<F>& vb) const {
            return (dot(n, vb.linear - va.linear) + dot(b, vb.angular)) - dot(a, va.angular);
        }
        ORRERY_FN F speed(Vec3T<F> turn, const VelocityT<F>& va, const VelocityT<F>& vb) const {
            return speed(va, vb) + dot(turn, vb.angular - va.angular);
        }
        ORRERY_FN void push(F impulse, const InertiaT<F>& of_a, const InertiaT<F>& of_b, VelocityT<F>& va,
                            VelocityT<F>& vb) const {
            const Vec3T<F> linear = n * impulse;
            subtract_impulse(va, of_a, linear, a * impulse);
            add_impulse(vb, of_b, linear, b * impulse);
        }
        ORRERY_FN void push(F impulse, Vec3T<F> turn, const InertiaT<F>& of_a, const InertiaT<F>& of_b,
                            VelocityT<F>& va, VelocityT<F>& vb) const {
            const Vec3T<F> linear = n * impulse;
            subtract_impulse(va, of_a, linear, a * impulse + turn);
            add_impulse(vb, of_b, linear, b * impulse + turn);
        }
    };
    template <class F>
    ORRERY_FN static Along<F> at_centre(const Bundle& bundle, std::size_t lane, Vec3T<F> n) {
        return {n, cross(get<F>(bundle.arm_a, lane), n), cross(get<F>(bundle.arm_b, lane), n)};
    }

    // Stiffer where one of the bodies does not give way.
    template <class F>
    ORRERY_FN static SoftT<F> softness(const StepConstants& step, const InertiaT<F>& a, const InertiaT<F>& b) {
        return either<F>(step.contact_fixed, step.contact, is_fixed(a, b));
    }
    template <class F>
    ORRERY_FN static SoftT<F> softness(const StepConstants& step, const InertiaT<F>& a, const InertiaT<F>& b,
                                       MaskOf<F> slender) {
        const MaskOf<F> fixed = is_fixed(a, b);
        const SoftT<F> soft = either<F>(step.slender_fixed, step.slender, fixed),
                       other = either<F>(step.contact_fixed, step.contact, fixed);
        return {select(slender, soft.rate, other.rate), select(slender, soft.mass_scale, other.mass_scale),
                select(slender, soft.impulse_scale, other.impulse_scale)};
    }
    template <class F>
    ORRERY_FN static MaskOf<F> is_fixed(const InertiaT<F>& a, const InertiaT<F>& b) {
        return (a.inverse_mass == F(0.0f)) | (b.inverse_mass == F(0.0f));
    }
    template <class F>
    ORRERY_FN static SoftT<F> either(const SoftConstants& yes, const SoftConstants& no, MaskOf<F> which) {
        return {select(which, F(yes.rate), F(no.rate)), select(which, F(yes.mass_scale), F(no.mass_scale)),
                select(which, F(yes.impulse_scale), F(no.impulse_scale))};
    }
    template <class F>
    ORRERY_FN static MaskOf<F> is_slender(const Bundle& bundle, std::size_t lane) {
        return get<F>(bundle.slender, lane) > F(0.0f);
    }

    // The mean of the points, from A's centre; until their `angular` is made.
    template <class F>
    ORRERY_FN static Vec3T<F> middle_of(const Bundle& bundle, std::size_t lane, Vec3T<F> first, F count) {
        const F zero(0.0f);
        Vec3T<F> sum{zero, zero, zero};
        for (std::uint32_t k = 1; k < bundle.head.points; ++k) {
            const F there = select(F(static_cast<float>(k)) < count, F(1.0f), zero);
            sum = sum + (get<F>(point_rows(bundle, k).angular, lane) - first) * there;
        }
        return first + sum * inverse_or_zero(count);
    }
    template <class F>
    ORRERY_FN static F play_of(const Bundle& bundle, std::size_t lane, Vec3T<F> first, Vec3T<F> middle,
                               const Mat23T<F>& tangents, F count) {
        const F zero(0.0f);
        const F x = dot(first, tangents.x), y = dot(first, tangents.y);
        Sym2T<F> spread{x * x, x * y, y * y};
        for (std::uint32_t k = 1; k < bundle.head.points; ++k) {
            const Vec3T<F> s = get<F>(point_rows(bundle, k).angular, lane) - middle;
            const F there = select(F(static_cast<float>(k)) < count, F(1.0f), zero);
            const F x_k = dot(s, tangents.x) * there, y_k = dot(s, tangents.y) * there;
            spread = {spread.xx + x_k * x_k, spread.xy + x_k * y_k, spread.yy + y_k * y_k};
        }
        const F half = select(count > F(2.0f), sqrt(least_of(spread) * inverse_or_zero(count)), zero);
        return max(half * F(kLeastPlay), min(half * F(kMostPlay), F(kPlay_m)));
    }
    // `kept`, as far as it is within `play` of what it is `now`.
    template <class F>
    ORRERY_FN static Vec3T<F> follow(Vec3T<F> kept, Vec3T<F> now, F play) {
        const Vec3T<F> behind = kept - now;
        const F distance2 = length_squared(behind), play2 = play * play;
        const MaskOf<F> within = distance2 <= play2, here = distance2 <= play2 * F(kOtherPlace2);
        const Vec3T<F> drawn = now + behind * (play / sqrt(select(within, F(1.0f), distance2)));
        return select<F>(within, kept, select<F>(here, drawn, now));
    }

    template <class F>
    ORRERY_FN static void prepare(Bundle& bundle, std::size_t lane, const StepConstants& step, const PoseT<F>& pose_a,
                                  const PoseT<F>& pose_b, const InertiaT<F>& a, const InertiaT<F>& b) {
        const F zero(0.0f), one(1.0f);
        const Vec3T<F> n = get<F>(bundle.normal, lane), t = perpendicular(n), u = cross(n, t),
                       moved = get<F>(bundle.moved, lane);
        put(bundle.tangent, lane, t);
        put(bundle.a, lane, a);
        put(bundle.b, lane, b);

        // Touching points weigh alike, those within the speculative margin less the farther they are: a weight that
        // follows the depth of resting points would make the centre wander with every micrometre.
        const F count = get<F>(bundle.point_count, lane);
        const Vec3T<F> to_b = (pose_a.position - pose_b.position) - moved;
        const Vec3T<F> first = get<F>(bundle.first_offset, lane), carried = get<F>(bundle.world_friction, lane);
        const std::uint32_t points = bundle.head.points;
        F weights = zero;
        Vec3T<F> weighted{zero, zero, zero};
        for (std::uint32_t k = 0; k < points; ++k) {
            const ContactPointRows& rows = point_rows(bundle, k);
            const MaskOf<F> present = F(static_cast<float>(k)) < count;
            const F nearness = one + get<F>(rows.separation, lane) * F(step.inverse_margin);
            const F weight = select(present, clamp(nearness, F(kLeastFrictionWeight), one), zero);
            weights += weight;
            if (k > 0) weighted = weighted + (get<F>(rows.angular, lane) - first) * weight;
        }
        const Vec3T<F> at = first + weighted * inverse_or_zero(weights);  // of one point its own place
        Vec3T<F> arm_a = at, arm_b = at + to_b;
        if (points > 2) {
            const Vec3T<F> middle_a = middle_of(bundle, lane, first, count), middle_b = middle_a + to_b;
            const F play = play_of(bundle, lane, first - middle_a, middle_a, Mat23T<F>{t, u}, count);
            const Vec3T<F> held_a = follow(get<F>(bundle.held_a, lane), middle_a, play),
                           held_b = follow(get<F>(bundle.held_b, lane), middle_b, play);
            put(bundle.held_a, lane, held_a);
            put(bundle.held_b, lane, held_b);
            arm_a = at + (held_a - middle_a), arm_b = arm_b + (held_b - middle_b);
        }
        put(bundle.arm_a, lane, arm_a);
        put(bundle.arm_b, lane, arm_b);

        const F linear = a.inverse_mass + b.inverse_mass;
        const Along<F> centre = at_centre(bundle, lane, n);
        const Vec3T<F> turn_a = a.inverse_inertia * centre.a, turn_b = b.inverse_inertia * centre.b,
                       turn = turn_a + turn_b;
        const F alone = (linear + dot(centre.a, turn_a)) + dot(centre.b, turn_b);
        const Sym3T<F> spin = a.inverse_inertia + b.inverse_inertia;
        F share[kMaxManifoldPoints] = {zero, zero, zero, zero}, hardest = zero;
        for (std::uint32_t k = 0; k < points; ++k) {
            ContactPointRows& rows = point_rows(bundle, k);
            const MaskOf<F> present = F(static_cast<float>(k)) < count;
            const Vec3T<F> s = (k == 0 ? first : get<F>(rows.angular, lane)) - at, g = cross(s, n), spun = spin * g;
            share[k] = dot(g, turn);
            const F here = alone + share[k];
            for (std::uint32_t j = 0; j < k; ++j) {
                put(coupling(bundle, k, j), lane,
                    (here + share[j]) + dot(get<F>(point_rows(bundle, j).angular, lane), spun));
            }
            if (points > 1) {
                put(rows.angular, lane, g);
                put(rows.lever, lane, length(s));
            }
            const F separation = -get<F>(rows.separation, lane);
            put(rows.separation, lane, separation);
            put(rows.gap, lane, separation);
            const F response = (here + share[k]) + dot(g, spun);
            hardest = select(present, max(hardest, response), hardest);
            put(rows.mass, lane, select(present, inverse_or_zero(response), zero));
            put(rows.total, lane, zero);
        }

        const Mat23T<F> fa{cross(arm_a, t), cross(arm_a, u)}, fb{cross(arm_b, t), cross(arm_b, u)};
        const Sym2T<F> ka = sandwich(fa, a.inverse_inertia), kb = sandwich(fb, b.inverse_inertia);
        const Sym2T<F> friction_mass =
            inverse_or_zero(Sym2T<F>{(linear + ka.xx) + kb.xx, ka.xy + kb.xy, (linear + ka.yy) + kb.yy});
        put(bundle.friction_mass, lane, friction_mass);
        const F least = least_of(friction_mass), twist_mass = inverse_or_zero(dot(n, spin * n));
        put(bundle.friction_least, lane, least);
        put(bundle.twist_mass, lane, twist_mass);
        if (points > 2)
            put(bundle.slender, lane,
                select((count > F(2.0f)) & (least * hardest < F(1.0f / kSlender)), F(1.0f), zero));
        put(bundle.friction_impulse, lane, Vec2T<F>{dot(carried, t), dot(carried, u)});
    }

    template <class F>
    ORRERY_FN static void warm_start(const Bundle& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        const Frame<F> f = Frame<F>::of(bundle, lane);
        const Vec2T<F> friction = get<F>(bundle.friction_impulse, lane);
        Vec3T<F> turn = f.n * get<F>(bundle.twist_impulse, lane);
        F normal(0.0f);
        for (std::uint32_t k = 0; k < bundle.head.points; ++k) {
            const ContactPointRows& rows = point_rows(bundle, k);
            const F impulse = get<F>(rows.impulse, lane);
            normal += impulse;
            if (bundle.head.points > 1) turn = turn + get<F>(rows.angular, lane) * impulse;
        }
        const Vec3T<F> push = (f.t * friction.x + f.u * friction.y) + f.n * normal;
        subtract_impulse(va, f.a, push, cross(get<F>(bundle.arm_a, lane), push) + turn);
        add_impulse(vb, f.b, push, cross(get<F>(bundle.arm_b, lane), push) + turn);
    }

    template <class F>
    ORRERY_FN static void solve_rolling(SurfaceContactBundle& bundle, std::size_t lane, const Frame<F>& f, F normal,
                                        VelocityT<F>& va, VelocityT<F>& vb) {
        const Vec3T<F> spin = vb.angular - va.angular;
        F change[3] = {spin.x, spin.y, spin.z};
        solve_ldlt(get<F>(bundle.rolling_mass, lane), change);
        const Vec3T<F> old = get<F>(bundle.rolling_impulse, lane);
        const Vec3T<F> now =
            clamp_length(old - Vec3T<F>{change[0], change[1], change[2]}, get<F>(bundle.rolling, lane) * normal);
        put(bundle.rolling_impulse, lane, now);
        va.angular = va.angular - f.a.inverse_inertia * (now - old);
        vb.angular = vb.angular + f.b.inverse_inertia * (now - old);
    }

    // The least that a unit of speed along any tangent asks for: the lesser eigenvalue.
    template <class F>
    ORRERY_FN static F least_of(const Sym2T<F>& m) {
        const F half(0.5f), mean = (m.xx + m.yy) * half, apart = (m.xx - m.yy) * half;
        const F most = mean + sqrt(apart * apart + m.xy * m.xy);
        return max((m.xx * m.yy - m.xy * m.xy) * inverse_or_zero(most), F(0.0f));
    }
    // What stops the slip, if the circle of `limit` holds it. Else friction is as large as it may be and points against
    // the slip, along which the exact answer does not lie where one tangent moves the bodies more than the other: the
    // step that turns it there is the same along both, and the longest that does not swing.
    template <class F>
    ORRERY_FN static Vec2T<F> coulomb(Vec2T<F> old, Vec2T<F> slip, const Sym2T<F>& mass, F least, F limit) {
        const Vec2T<F> change = mass * slip;
        const F x = old.x - change.x, y = old.y - change.y;
        const MaskOf<F> slides = x * x + y * y > limit * limit;
        const F ox = old.x - slip.x * least, oy = old.y - slip.y * least;
        const F size = sqrt(ox * ox + oy * oy);
        const MaskOf<F> some = size > F(0.0f);
        const F scale = select(some, limit / select(some, size, F(1.0f)), F(1.0f));
        return {select(slides, ox * scale, x), select(slides, oy * scale, y)};
    }

    template <class F, class AnyBundle>
    ORRERY_FN static void solve_friction(AnyBundle& bundle, std::size_t lane, const Frame<F>& f, F normal, F levered,
                                         VelocityT<F>& va, VelocityT<F>& vb) {
        const F mu = get<F>(bundle.friction, lane);

        const F twist = get<F>(bundle.twist_impulse, lane), twist_limit = mu * levered;
        const F spin = dot(f.n, vb.angular - va.angular);
        const F new_twist = clamp(twist - get<F>(bundle.twist_mass, lane) * spin, -twist_limit, twist_limit);
        const Vec3T<F> turn = f.n * (new_twist - twist);
        put(bundle.twist_impulse, lane, new_twist);
        va.angular = va.angular - f.a.inverse_inertia * turn;
        vb.angular = vb.angular + f.b.inverse_inertia * turn;

        const Vec3T<F> arm_a = get<F>(bundle.arm_a, lane), arm_b = get<F>(bundle.arm_b, lane);
        Vec3T<F> slip = (vb.linear + cross(vb.angular, arm_b)) - (va.linear + cross(va.angular, arm_a));
        if constexpr (AnyBundle::kSurface) slip = slip + get<F>(bundle.runs, lane);
        const Vec2T<F> old = get<F>(bundle.friction_impulse, lane);
        const Vec2T<F> now = coulomb(old, Vec2T<F>{dot(slip, f.t), dot(slip, f.u)}, get<F>(bundle.friction_mass, lane),
                                     get<F>(bundle.friction_least, lane), mu * normal);
        put(bundle.friction_impulse, lane, now);
        const Vec3T<F> push = f.t * (now.x - old.x) + f.u * (now.y - old.y);
        subtract_impulse(va, f.a, push, cross(arm_a, push));
        add_impulse(vb, f.b, push, cross(arm_b, push));
    }

    // The points of a pass: what each would come to were the others left as they are, and what it has come to.
    template <class F>
    struct Points {
        F approach,
            moved;  // along the normal: the friction centre's speed, its displacement since the tick began (for relax)
        Vec3T<F> spin, spun;  // of B against A: angular velocity, displacement (for relax)
        F rate, soft_mass, soft_impulse;
        F old[kMaxManifoldPoints], now[kMaxManifoldPoints], alone[kMaxManifoldPoints], mass[kMaxManifoldPoints];
        F give[kMaxManifoldPoints][kMaxManifoldPoints];  // [k][j]: by how much less k comes to for a unit of j
        ORRERY_FN Points(const Along<F>& centre, const VelocityT<F>& da, const VelocityT<F>& db, const VelocityT<F>& va,
                         const VelocityT<F>& vb)
            : approach(centre.speed(va, vb)),
              moved(centre.speed(da, db)),
              spin(vb.angular - va.angular),
              spun(db.angular - da.angular) {}
    };

    template <bool kRelax, std::uint32_t K, std::uint32_t N, class F, class AnyBundle>
    ORRERY_FN static void read_points(AnyBundle& bundle, std::size_t lane, const StepConstants& step, Points<F>& p) {
        const F zero(0.0f);
        ContactPointRows& rows = point_rows(bundle, K);
        F s = get<F>(kRelax ? rows.separation : rows.gap, lane), speed = p.approach;
        if constexpr (kRelax) s += p.moved;
        if constexpr (N > 1) {  // the only point is the centre
            const Vec3T<F> g = get<F>(rows.angular, lane);
            speed += dot(g, p.spin);
            if constexpr (kRelax) s += dot(g, p.spun);
        }
        if constexpr (kRelax) put(rows.gap, lane, s);
        const MaskOf<F> apart = s > zero;
        F bias = select(apart, s * F(step.inverse_h), zero);
        const F old = get<F>(rows.impulse, lane), mass = get<F>(rows.mass, lane);
        p.old[K] = old;
        if constexpr (kRelax) {
            p.mass[K] = mass;
            p.alone[K] = old - mass * (speed + bias);
        } else {
            F most(step.max_recovery_speed_mps);
            if constexpr (AnyBundle::kSurface) most = get<F>(bundle.recovery, lane);
            const F pull = max(p.rate * min(s + F(step.slop_m), zero), -most);
            bias = select(apart, bias, pull);
            p.mass[K] = mass * select(apart, F(1.0f), p.soft_mass);
            p.alone[K] = (old - p.mass[K] * (speed + bias)) - select(apart, zero, p.soft_impulse) * old;
        }
        if constexpr (K + 1 < N) read_points<kRelax, K + 1, N>(bundle, lane, step, p);
    }

    // What is known before any point is solved, so that each waits for the one before it no longer than a product and a
    // difference.
    template <std::uint32_t K, std::uint32_t N, class F>
    ORRERY_FN static void couple_points(const ContactBundle& bundle, std::size_t lane, Points<F>& p) {
        for (std::uint32_t j = 0; j < N; ++j) {
            if (j == K) continue;
            p.give[K][j] = p.mass[K] * get<F>(j < K ? coupling(bundle, K, j) : coupling(bundle, j, K), lane);
            p.alone[K] = p.alone[K] + p.give[K][j] * p.old[j];
        }
        p.now[K] = p.old[K];
        if constexpr (K + 1 < N) couple_points<K + 1, N>(bundle, lane, p);
    }
    // `last` was solved just before.
    template <std::uint32_t K, std::uint32_t N, std::uint32_t kLast, class F>
    ORRERY_FN static void solve_point(Points<F>& p) {
        F alone = p.alone[K];
        for (std::uint32_t j = 0; j < N; ++j) {
            if (j != K && j != kLast) alone = alone - p.give[K][j] * p.now[j];
        }
        if constexpr (kLast != K) alone = alone - p.give[K][kLast] * p.now[kLast];
        p.now[K] = max(alone, F(0.0f));
    }
    template <std::uint32_t K, std::uint32_t N, class F>
    ORRERY_FN static void sweep_up(Points<F>& p) {
        solve_point<K, N, K == 0 ? 0 : K - 1>(p);
        if constexpr (K + 1 < N) sweep_up<K + 1, N>(p);
    }
    template <std::uint32_t K, std::uint32_t N, class F>
    ORRERY_FN static void sweep_down(Points<F>& p) {
        solve_point<K, N, K + 1>(p);
        if constexpr (K > 0) sweep_down<K - 1, N>(p);
    }

    template <std::uint32_t N, class F, class AnyBundle>
    ORRERY_FN static SoftT<F> softness_of(const AnyBundle& bundle, std::size_t lane, const StepConstants& step,
                                          const Frame<F>& f) {
        if constexpr (AnyBundle::kSurface)
            return {get<F>(bundle.rate, lane), get<F>(bundle.mass_scale, lane), get<F>(bundle.impulse_scale, lane)};
        else if constexpr (N > 2)
            return softness(step, f.a, f.b, is_slender<F>(bundle, lane));
        else
            return softness(step, f.a, f.b);
    }

    template <bool kRelax, std::uint32_t N, class F, class AnyBundle>
    ORRERY_FN static void solve_points(AnyBundle& bundle, std::size_t lane, const StepConstants& step,
                                       const Frame<F>& f, const VelocityT<F>& da, const VelocityT<F>& db,
                                       VelocityT<F>& va, VelocityT<F>& vb, F& normal, F& levered) {
        const Along<F> centre = at_centre(bundle, lane, f.n);
        Points<F> p(centre, da, db, va, vb);
        if constexpr (!kRelax) {
            const SoftT<F> soft = softness_of<N>(bundle, lane, step, f);
            p.rate = soft.rate, p.soft_mass = soft.mass_scale, p.soft_impulse = soft.impulse_scale;
        }
        read_points<kRelax, 0, N>(bundle, lane, step, p);
        couple_points<0, N>(bundle, lane, p);
        sweep_up<0, N>(p);
        if constexpr (kRelax && N > 1) {
            for (int k = 0; k < kMoreSweeps; ++k) {
                sweep_down<N - 2, N>(p);
                sweep_up<1, N>(p);
            }
        }
        const F zero(0.0f);
        F push = zero;
        Vec3T<F> turn{zero, zero, zero};
        AnyBundle& to = *forget_origin(&bundle);
        for (std::uint32_t k = 0; k < N; ++k) {
            ContactPointRows& rows = point_rows(to, k);
            const F now = p.now[k], change = now - p.old[k];
            put(rows.impulse, lane, now);
            if constexpr (kRelax) {
                put(rows.total, lane, get<F>(rows.total, lane) + now);
                normal = normal + now;
                if constexpr (N > 1) levered = levered + now * get<F>(rows.lever, lane);
            }
            push = push + change;
            if constexpr (N > 1) turn = turn + get<F>(rows.angular, lane) * change;
        }
        centre.push(push, turn, f.a, f.b, va, vb);
    }

    // Normal impulses that friction is bound by: their sum, and that by their levers.
    template <class F>
    struct Borne {
        F normal, levered;
    };
    // kThin: friction is bound by no more than `most`, which is then what it was bound by.
    template <bool kRelax, bool kThin, class F, class AnyBundle>
    ORRERY_FN static void solve_once(AnyBundle& bundle, std::size_t lane, const StepConstants& step, Borne<F>& most,
                                     const VelocityT<F>& da, const VelocityT<F>& db, VelocityT<F>& va,
                                     VelocityT<F>& vb) {
        const Frame<F> f = Frame<F>::of(bundle, lane);
        F normal(0.0f), levered(0.0f);
        switch (bundle.head.points) {
            case 1:
                solve_points<kRelax, 1>(bundle, lane, step, f, da, db, va, vb, normal, levered);
                break;
            case 2:
                solve_points<kRelax, 2>(bundle, lane, step, f, da, db, va, vb, normal, levered);
                break;
            case 3:
                solve_points<kRelax, 3>(bundle, lane, step, f, da, db, va, vb, normal, levered);
                break;
            default:
                solve_points<kRelax, 4>(bundle, lane, step, f, da, db, va, vb, normal, levered);
                break;
        }
        if constexpr (kThin) {
            normal = min(normal, most.normal), levered = min(levered, most.levered);
            most = {normal, levered};
        }
        if constexpr (kRelax && AnyBundle::kSurface) solve_rolling(bundle, lane, f, normal, va, vb);
        if constexpr (kRelax) solve_friction(bundle, lane, f, normal, levered, va, vb);
    }
    // da, db: displacement since the tick began, which relax alone looks at.
    template <bool kRelax, class F, class AnyBundle>
    ORRERY_FN static void solve(AnyBundle& bundle, std::size_t lane, const StepConstants& step, const VelocityT<F>& da,
                                const VelocityT<F>& db, VelocityT<F>& va, VelocityT<F>& vb) {
        Borne<F> none{F(0.0f), F(0.0f)};
        solve_once<kRelax, false, F>(bundle, lane, step, none, da, db, va, vb);
    }
    // Of thin bodies.
    template <class F, class AnyBundle>
    ORRERY_FN static void relax_thin(AnyBundle& bundle, std::size_t lane, const StepConstants& step,
                                     const VelocityT<F>& da, const VelocityT<F>& db, VelocityT<F>& va,
                                     VelocityT<F>& vb) {
        Borne<F> most{F(kNoLimit), F(kNoLimit)};
        for (int sweep = 0; sweep < kThinSweeps; ++sweep) {
            if (sweep == 1) most = {most.normal * F(kMoreBorne), most.levered * F(kMoreBorne)};
            for (std::uint32_t k = 0; k < bundle.head.points && sweep > 0; ++k)
                take_back<F>(point_rows(bundle, k), lane);
            solve_once<true, true, F>(bundle, lane, step, most, da, db, va, vb);
        }
    }
    // What a pass summed up, before another of the same substep.
    template <class F, class Rows>
    ORRERY_FN static void take_back(Rows& rows, std::size_t lane) {
        put(rows.total, lane, get<F>(rows.total, lane) - get<F>(rows.impulse, lane));
    }

    // s x n of a point.
    template <class F>
    ORRERY_FN static Vec3T<F> turn_of(const Bundle& bundle, std::size_t lane, std::uint32_t k) {
        if (bundle.head.points > 1) return get<F>(point_rows(bundle, k).angular, lane);
        const F zero(0.0f);
        return {zero, zero, zero};
    }
    template <class F, class AnyBundle>
    ORRERY_FN static F any_push(const AnyBundle& bundle, std::size_t lane) {
        F most(0.0f);
        for (std::uint32_t k = 0; k < bundle.head.points; ++k)
            most = max(most, get<F>(point_rows(bundle, k).total, lane));
        return most;
    }
    // How fast points come in while none of them has been pushed yet, once forces have acted in the substep. With x' =
    // x + h v', v' = v - h g, a fall conserves v^2 / 2 + g x - h g v / 2: what comes back with -v' from x to 0 loses g
    // x of it and gains nothing; and x is at most 2 h |v'|, for relax looks a substep ahead. What the first push does
    // to the others' speeds is no part of theirs.
    template <class F>
    ORRERY_FN static void note_speed(BouncingContactBundle& bundle, std::size_t lane, const VelocityT<F>& va,
                                     const VelocityT<F>& vb) {
        const Along<F> centre = at_centre(bundle, lane, get<F>(bundle.normal, lane));
        const MaskOf<F> pushed = any_push<F>(bundle, lane) > F(0.0f);
        for (std::uint32_t k = 0; k < bundle.head.points; ++k) {
            put(bundle.speed[k], lane,
                select(pushed, get<F>(bundle.speed[k], lane), centre.speed(turn_of<F>(bundle, lane, k), va, vb)));
        }
    }

    static constexpr std::uint32_t bounce_visits(std::uint32_t points) {
        return points > 1 ? (points - 1) * kBounceSweeps + 1 : points;
    }
    // 0, 1, .., n - 1, n - 2, .., 0, 1, ..
    static constexpr std::uint32_t there_and_back(std::uint32_t visit, std::uint32_t points) {
        if (points < 2) return 0;
        const std::uint32_t at = visit % (2 * (points - 1));
        return at < points ? at : 2 * (points - 1) - at;
    }
    // After the last substep: points that came in faster than the threshold and were pushed leave with e times that
    // speed. Gone through up and down, so that what comes down flat goes up flat: after a single pass the first point
    // has had the last ones' share.
    template <class F>
    ORRERY_FN static void restitute(BouncingContactBundle& bundle, std::size_t lane, const StepConstants& step,
                                    VelocityT<F>& va, VelocityT<F>& vb) {
        const Frame<F> f = Frame<F>::of(bundle, lane);
        const Along<F> centre = at_centre(bundle, lane, f.n);
        const F zero(0.0f), restitution = get<F>(bundle.restitution, lane);
        const std::uint32_t points = bundle.head.points, visits = bounce_visits(points);
        for (std::uint32_t k = 0; k < points; ++k)
            put(bundle.speed[k], lane,
                bounce<F>(get<F>(bundle.speed[k], lane), restitution, get<F>(point_rows(bundle, k).total, lane), step));
        for (std::uint32_t visit = 0; visit < visits; ++visit) {
            const std::uint32_t k = there_and_back(visit, points);
            ContactPointRows& rows = point_rows(bundle, k);
            const Vec3T<F> g = turn_of<F>(bundle, lane, k);
            const F asked = get<F>(bundle.speed[k], lane), total = get<F>(rows.total, lane),
                    old = get<F>(rows.impulse, lane);
            const F change = get<F>(rows.mass, lane) * (centre.speed(g, va, vb) + asked);
            const F now = select(asked < zero, max(old - change, zero), old);
            put(rows.impulse, lane, now);
            put(rows.total, lane, total + (now - old));
            centre.push(now - old, g * (now - old), f.a, f.b, va, vb);
        }
    }
    // Less the speed to leave with; 0 of what does not bounce.
    template <class F>
    ORRERY_FN static F bounce(F before, F restitution, F total, const StepConstants& step) {
        const F zero(0.0f);
        return select((before < F(-step.restitution_threshold_mps)) & (total > zero) & (restitution > zero),
                      restitution * before, zero);
    }

    // The impulses to carry, in canonical form (no -0).
    template <class F>
    ORRERY_FN static void finish(Bundle& bundle, std::size_t lane) {
        const F zero(0.0f);
        const Vec3T<F> n = get<F>(bundle.normal, lane), t = get<F>(bundle.tangent, lane), u = cross(n, t);
        const Vec2T<F> friction = get<F>(bundle.friction_impulse, lane);
        put(bundle.world_friction, lane, (t * friction.x + u * friction.y) + Vec3T<F>{zero, zero, zero});
        put(bundle.twist_impulse, lane, get<F>(bundle.twist_impulse, lane) + zero);
        F total(0.0f);
        for (std::uint32_t k = 0; k < bundle.head.points; ++k) {
            ContactPointRows& rows = point_rows(bundle, k);
            put(rows.impulse, lane, get<F>(rows.impulse, lane) + zero);
            total += get<F>(rows.total, lane);
        }
        put(bundle.total, lane, total);
    }
};

struct SurfaceContactFunctions : ContactFunctions {
    using Bundle = SurfaceContactBundle;

    // After the plain part's.
    template <class F>
    ORRERY_FN static void prepare_rolling(Bundle& bundle, std::size_t lane) {
        const Sym3T<F> response = get<F>(bundle.a, lane).inverse_inertia + get<F>(bundle.b, lane).inverse_inertia;
        LowerT<3, F> k;
        k.v[0] = response.xx, k.v[1] = response.xy, k.v[2] = response.yy;
        k.v[3] = response.xz, k.v[4] = response.yz, k.v[5] = response.zz;
        put(bundle.rolling_mass, lane, factor_ldlt(k));
    }
    // A spring of the contact's own serves whatever it touches; at most a quarter of the substep rate.
    template <class F>
    ORRERY_FN static void prepare_spring(Bundle& bundle, std::size_t lane, const StepConstants& step) {
        const F frequency = get<F>(bundle.frequency_hz, lane), recovery = get<F>(bundle.recovery, lane);
        const MaskOf<F> own = frequency > F(0.0f);
        const SoftT<F> soft = soften(select(own, min(frequency, F(0.25f * step.inverse_h)), F(1.0f)),
                                     get<F>(bundle.damping_ratio, lane), F(step.h_s));
        const MaskOf<F> slender = bundle.head.points > 2 ? is_slender<F>(bundle, lane) : F(0.0f) > F(0.0f);
        const SoftT<F> solvers = softness(step, get<F>(bundle.a, lane), get<F>(bundle.b, lane), slender);
        put(bundle.rate, lane, select(own, soft.rate, solvers.rate));
        put(bundle.mass_scale, lane, select(own, soft.mass_scale, solvers.mass_scale));
        put(bundle.impulse_scale, lane, select(own, soft.impulse_scale, solvers.impulse_scale));
        put(bundle.recovery, lane, select(recovery > F(0.0f), recovery, F(step.max_recovery_speed_mps)));
    }
    template <class F>
    ORRERY_FN static void warm_start(const Bundle& bundle, std::size_t lane, VelocityT<F>& va, VelocityT<F>& vb) {
        ContactFunctions::warm_start<F>(bundle, lane, va, vb);
        const Vec3T<F> rolling = get<F>(bundle.rolling_impulse, lane);
        va.angular = va.angular - get<F>(bundle.a, lane).inverse_inertia * rolling;
        vb.angular = vb.angular + get<F>(bundle.b, lane).inverse_inertia * rolling;
    }
    template <class F>
    ORRERY_FN static void finish_rolling(Bundle& bundle, std::size_t lane) {
        canonicalise<F>(bundle.rolling_impulse, lane);
    }
};

ORRERY_LANES_END

#endif
#endif
