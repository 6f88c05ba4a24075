// Chains of round bodies by themselves (chain-inl.h), all substeps of a tick. `work` may be anything whose work[s] has
// the members of AloneSlot.

#if defined(ORRERY_RIGS_CHAIN_CHAIN_ALONE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_RIGS_CHAIN_CHAIN_ALONE_INL_H_
#undef ORRERY_RIGS_CHAIN_CHAIN_ALONE_INL_H_
#else
#define ORRERY_RIGS_CHAIN_CHAIN_ALONE_INL_H_
#endif

#include "sim/rigs/chain/chain-inl.h"

ORRERY_LANES_BEGIN

// Of a body, what the next slot needs and its row does not hold.
template <class F>
struct BodyBefore {
    Vec3T<F> turn;      // how the point where the joint after it holds it turns about its centre
    Sym3T<F> response;  // of that point: m E + i [q]x [q]x^T
    bool held = false;  // hold_alone has turned it
    // Spelled out because an implicit one would be compiled without the target's instructions.
    ORRERY_FN BodyBefore() : turn(zero3()), response{F(0.0f), F(0.0f), F(0.0f), F(0.0f), F(0.0f), F(0.0f)} {}
    ORRERY_FN static Vec3T<F> zero3() { return {F(0.0f), F(0.0f), F(0.0f)}; }
};

// m E + i [r]x [r]x^T, with [r]x [r]x^T = r.r E - r r^T.
template <class F>
ORRERY_FN Sym3T<F> round_response(F m, F i, Vec3T<F> r) {
    const Vec3T<F> ir = r * i;
    const F d = m + dot(ir, r);
    return {d - ir.x * r.x, -(ir.x * r.y), -(ir.x * r.z), d - ir.y * r.y, -(ir.y * r.z), d - ir.z * r.z};
}

template <class F>
ORRERY_FN void integrate_alone(const ChainView& chains, std::uint32_t s, std::size_t lane, const StepConstants& step,
                               VelocityT<F>& v) {
    const ChainSlot& slot = chains.slots[s];
    const bool resting = slot.resting != 0;
    const F h(step.h_s), one(1.0f);
    VelocityT<F> next = v;
    if (chains.bundle->plain) {
        next.linear = v.linear + splat<F>(step.gravity) * h;
    } else {
        const ChainExtras& extras = chains.extras[s];
        next.linear = v.linear + splat<F>(step.gravity) * get<F>(extras.gravity_scale, lane) * h;
        next.linear = next.linear * (one / (one + get<F>(extras.linear_damping, lane) * h));
        next.angular = next.angular * (one / (one + get<F>(extras.angular_damping, lane) * h));
    }
    next.linear = bounded(next.linear, kMaxLinearSpeed_mps);
    next.angular = bounded(next.angular, kMaxAngularSpeed_radps);
    if (resting) {
        const MaskOf<F> moves = get<F>(slot.inverse_mass, lane) > F(0.0f);
        next.linear = select<F>(moves, next.linear, v.linear);
        next.angular = select<F>(moves, next.angular, v.angular);
    }
    v = next;
}

// The geometric stiffness turns bodies one after the other, in `angular`, where `turned` keeps for the next one how
// they turned before; or in any order, into `turned`.
enum class Turning { along, apart };
template <Turning kTurning, class Slot>
ORRERY_FN Vec3Rows& turned_row(Slot&& w) {
    if constexpr (kTurning == Turning::along)
        return w.angular;
    else
        return w.turned;
}

// What of it is implicit (rig-inl.h), for a body whose arms are known: turns it, and gives its inverse inertia. Both
// pulls act along one line, from joint to joint, which they nearly do where they are strong. A sphere with more inertia
// across it would be none, so it counts as more about the line, too. x: h^2 w^2. before_held: the body before this one
// has been turned.
template <Turning kTurning, class F, class Work>
ORRERY_ONCE F hold_alone(const ChainView& chains, Work work, std::uint32_t s, std::size_t lane, F h, F i, F x,
                         bool before_held) {
    const F zero(0.0f);
    const ChainSlot& slot = chains.slots[s];
    auto&& w = work[s];
    const Vec3T<F> in = get<F>(w.in_arm, lane), out = get<F>(w.out_arm, lane), own = get<F>(w.angular, lane);
    const MaskOf<F> stiff = x > F(kStiffest);
    F pulls = zero;
    Vec3T<F> turns{zero, zero, zero};
    if (s > 0) {
        pulls = pull(get<F>(w.force, lane), in);
        const Vec3T<F> before =
            get<F>(kTurning == Turning::along && before_held ? work[s - 1].turned : work[s - 1].angular, lane);
        turns = (before - own) * (pulls * get<F>(slot.lever_before, lane));
    }
    if (s < chains.bundle->links) {
        const F after = pull(-get<F>(work[s + 1].force, lane), out);
        turns = turns + (get<F>(work[s + 1].angular, lane) - own) * (after * get<F>(slot.lever_after, lane));
        pulls = pulls + after;
    }
    const Vec3T<F> line = in - out;
    const F over_line = some_inverse(dot(line, line)), over_pulls = some_inverse(pulls), held = stiffened(x);
    const Vec3T<F> goes = own + turns * over_pulls, spin = line * (dot(line, own) * over_line),
                   w_f = goes - line * (dot(line, goes) * over_line);
    const Vec3T<F> across = own - spin;
    if constexpr (kTurning == Turning::along) put(w.turned, lane, own);
    put(turned_row<kTurning>(w), lane,
        select<F>(stiff, (spin + across * held) + w_f * (calm(across, w_f, h) * (F(1.0f) - held)), own));
    return select(stiff, i * held, i);
}

// h^2 w^2 of the tension that the last substep left.
template <class F, class Work>
ORRERY_FN F stiffness_alone(const ChainView& chains, Work work, std::uint32_t s, std::size_t lane, F h, F i,
                            Vec3T<F> in, Vec3T<F> out) {
    F pulls = pull(get<F>(work[s].force, lane), in);
    if (s < chains.bundle->links) pulls = pulls + pull(-get<F>(work[s + 1].force, lane), out);
    return ((h * h) * pulls) * i;
}

// How a body turns and how hard it is to turn where the joints hold it by these arms: its rows, but for those of its
// joint; and its inverse inertia. `held`: whether the body before has been turned; then this one.
template <Turning kTurning, class F, class Work>
ORRERY_FN F settle_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s,
                         std::size_t lane, Vec3T<F> in, Vec3T<F> out, bool& held) {
    const ChainSlot& slot = chains.slots[s];
    auto&& w = work[s];
    const F h(step.h_s);
    F i = get<F>(slot.inverse_inertia, lane);
    const F stiffness = stiffness_alone<F>(chains, work, s, lane, h, i, in, out);
    put(w.in_arm, lane, in);
    put(w.out_arm, lane, out);
    const bool stiff = any(stiffness > F(kStiffest));
    if (stiff)
        i = hold_alone<kTurning, F>(chains, work, s, lane, h, i, stiffness, held);
    else if constexpr (kTurning == Turning::apart)
        put(w.turned, lane, get<F>(w.angular, lane));
    held = stiff;
    put(w.inertia, lane, i);
    put(w.alpha, lane, get<F>(slot.inverse_mass, lane) + i * dot(in, out));
    return i;
}

// A body as a substep's solve finds it.
template <class F>
struct AloneBody {
    Vec3T<F> position, linear, turned, in, out;
    F m, i, curve;
};
template <class F>
ORRERY_FN void come_before(const AloneBody<F>& body, BodyBefore<F>& before) {
    before.turn = point_turn(body.turned, body.out, body.curve);
    before.response = round_response(body.m, body.i, body.out);
}

// Of the joint before a body: its block of A + e D, and its right-hand side.
template <class F>
ORRERY_FN Sym3T<F> own_block(const BodyBefore<F>& before, const AloneBody<F>& body, F softness) {
    return (before.response + round_response(body.m, body.i, body.in)) * (F(1.0f) + softness);
}
template <class F>
struct OwnSide {
    Vec3T<F> side, goal;
};
template <class F, class Slot>
ORRERY_FN Vec3T<F> joint_error(const Slot& row_before, std::size_t lane, Vec3T<F> position, Vec3T<F> in) {
    return ((position - get<F>(row_before.position, lane)) - get<F>(row_before.out_arm, lane)) + in;
}
template <class F, class Slot>
ORRERY_FN OwnSide<F> own_side(const StepConstants& step, const JointSpring<F>& spring, const Slot& row_before,
                              std::size_t lane, const BodyBefore<F>& before, const AloneBody<F>& body) {
    const Vec3T<F> speed =
        (body.linear - get<F>(row_before.linear, lane)) + (point_turn(body.turned, body.in, body.curve) - before.turn);
    const Vec3T<F> error = joint_error<F>(row_before, lane, body.position, body.in),
                   bias = joint_bias(error, spring, step);
    return {-(speed + bias), joint_goal(error, bias, step)};
}
// B(s) = alpha E - p out^T
template <class F>
struct ChainCoupling {
    Vec3T<F> p, out;
    F alpha;
};
template <class F, class Slot>
ORRERY_FN ChainCoupling<F> coupling_of(const Slot& w, std::size_t lane) {
    return {get<F>(w.in_arm, lane) * get<F>(w.inertia, lane), get<F>(w.out_arm, lane), get<F>(w.alpha, lane)};
}
// Less what the joint before it takes, whose eliminated block and right-hand side are n and r, through the body between
// them.
template <class F>
ORRERY_FN void reduce_row(const ChainCoupling<F>& b, const Sym3T<F>& n, Vec3T<F> r, Sym3T<F>& block,
                          Vec3T<F>& reduced) {
    const Vec3T<F> p = b.p, out = b.out;
    const F alpha = b.alpha, a = alpha * alpha;
    const Vec3T<F> u = n * out;
    const Vec3T<F> z = u * alpha - p * (dot(out, u) * F(0.5f));
    const F xx = z.x * p.x, yy = z.y * p.y, zz = z.z * p.z;
    block =
        block - Sym3T<F>{a * n.xx - (xx + xx), a * n.xy - (z.x * p.y + z.y * p.x), a * n.xz - (z.x * p.z + z.z * p.x),
                         a * n.yy - (yy + yy), a * n.yz - (z.y * p.z + z.z * p.y), a * n.zz - (zz + zz)};
    const Vec3T<F> y = n * r;
    reduced = reduced + (y * alpha - p * dot(out, y));
}
template <class F>
ORRERY_FN Sym3T<F> invert_row(const ChainView& chains, bool ragged, std::uint32_t s, std::size_t lane,
                              const Sym3T<F>& block) {
    const Sym3T<F> inverse = inverse_or_zero(block);
    if (ragged) return inverse * get<F>(chains.extras[s].active, lane);
    return inverse;
}

template <class F, class Work>
ORRERY_FN AloneBody<F> meet_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s,
                                  std::size_t lane, bool& held) {
    const ChainSlot& slot = chains.slots[s];
    auto&& w = work[s];
    const QuatT<F> q = get<F>(w.orientation, lane);
    const Vec3T<F> in = rotate(q, get<F>(slot.in, lane)), out = rotate(q, get<F>(slot.out, lane));
    const F i = settle_alone<Turning::along, F>(step, chains, work, s, lane, in, out, held);
    const Vec3T<F> turned = get<F>(w.angular, lane);
    return {get<F>(w.position, lane),    get<F>(w.linear, lane), turned, in, out, get<F>(slot.inverse_mass, lane), i,
            curving(turned, F(step.h_s))};
}
// The recurrence takes what it can from the row of the slot before: kept in registers, it would be spilled.
// What meet_alone does is written out: with a call of it the sweep takes 1.09 of the instructions (gcc 12, avx2).
template <class F, class Work>
ORRERY_FN void eliminate_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s,
                               std::size_t lane, BodyBefore<F>& before) {
    const ChainSlot& slot = chains.slots[s];
    auto&& w = work[s];
    const QuatT<F> q = get<F>(w.orientation, lane);
    const Vec3T<F> in = rotate(q, get<F>(slot.in, lane)), out = rotate(q, get<F>(slot.out, lane));
    const F i = settle_alone<Turning::along, F>(step, chains, work, s, lane, in, out, before.held);
    const Vec3T<F> turned = get<F>(w.angular, lane);
    const AloneBody<F> body{
        get<F>(w.position, lane),    get<F>(w.linear, lane), turned, in, out, get<F>(slot.inverse_mass, lane), i,
        curving(turned, F(step.h_s))};
    if (s > 0) {
        const JointSpring<F> spring = joint_spring<F>(chains, s, lane, step);
        Sym3T<F> block = own_block<F>(before, body, spring.softness);
        const OwnSide<F> own = own_side<F>(step, spring, work[s - 1], lane, before, body);
        put(w.goal, lane, own.goal);
        Vec3T<F> reduced = own.side;
        if (s > 1)
            reduce_row<F>(coupling_of<F>(work[s - 1], lane), get<F>(work[s - 1].inverse, lane),
                          get<F>(work[s - 1].reduced, lane), block, reduced);
        put(w.inverse, lane, invert_row<F>(chains, chains.bundle->ragged, s, lane, block));
        put(w.reduced, lane, reduced);
    }
    come_before<F>(body, before);
}

// What the impulse of the joint before a body is made of, but for the one after it.
template <class F>
struct ImpulseRow {
    Vec3T<F> in, out, reduced;
    Sym3T<F> inverse;
    F alpha, i;
};
// What a solve is for: a substep's velocities, or poses that miss what they asked for.
enum class Solve { velocities, poses };
template <Solve kSolve, class Slot>
ORRERY_FN Sym3Rows& inverse_row(Slot&& w) {
    if constexpr (kSolve == Solve::velocities)
        return w.inverse;
    else
        return w.refined();
}
template <class F, Solve kSolve = Solve::velocities, class Slot>
ORRERY_FN ImpulseRow<F> impulse_row(Slot&& w, std::size_t lane) {
    return {get<F>(w.in_arm, lane),  get<F>(w.out_arm, lane),
            get<F>(w.reduced, lane), get<F>(inverse_row<kSolve>(w), lane),
            get<F>(w.alpha, lane),   get<F>(w.inertia, lane)};
}
template <class F>
ORRERY_FN Vec3T<F> asked_of_joint(const ImpulseRow<F>& row, Vec3T<F> after) {
    const Vec3T<F> coupled = after * row.alpha - row.out * (row.i * dot(row.in, after));
    return row.reduced + coupled;
}
template <class F>
ORRERY_FN Vec3T<F> joint_impulse(const ImpulseRow<F>& row, Vec3T<F> after) {
    return row.inverse * asked_of_joint<F>(row, after);
}
// Without the parts that are less.
template <class F>
ORRERY_FN Vec3T<F> at_least(Vec3T<F> v, F least) {
    const F zero(0.0f);
    return {select(abs(v.x) < least, zero, v.x), select(abs(v.y) < least, zero, v.y),
            select(abs(v.z) < least, zero, v.z)};
}
inline constexpr float kLeastSpeed = 1.0f / (std::uint64_t{1} << 40);  // m/s, rad/s

// Forces, velocities and poses; but in the tick's last substep velocities go on to the next one. The square of how fast
// it turns, before or after. kQuiet: speeds below kLeastSpeed count as 0.
template <Turning kTurning, bool kLast, class F, bool kQuiet = false, class Work>
ORRERY_FN F push_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s, std::size_t lane,
                       Vec3T<F> impulse, Vec3T<F> after) {
    auto&& w = work[s];
    const F h(step.h_s), m = get<F>(chains.slots[s].inverse_mass, lane), i = get<F>(w.inertia, lane);
    const Vec3T<F> in = get<F>(w.in_arm, lane), out = get<F>(w.out_arm, lane);
    if (s > 0) {
        put(w.force, lane, impulse * F(step.inverse_h));
        if (chains.forces.breakable) put(w.total, lane, get<F>(w.total, lane) + impulse);
    }
    const Vec3T<F> turned = get<F>(turned_row<kTurning>(w), lane);
    VelocityT<F> v{get<F>(w.linear, lane) + (impulse - after) * m,
                   turned + (cross(in, impulse) - cross(out, after)) * i};
    if constexpr (kQuiet) v = {at_least(v.linear, F(kLeastSpeed)), at_least(v.angular, F(kLeastSpeed))};
    const F fast = max(length_squared(turned), length_squared(v.angular));
    put(w.position, lane, get<F>(w.position, lane) + v.linear * h);
    put(w.orientation, lane, integrate(get<F>(w.orientation, lane), v.angular * h));
    if constexpr (!kLast) integrate_alone(chains, s, lane, step, v);
    put(w.linear, lane, v.linear);
    put(w.angular, lane, v.angular);
    return fast;
}
template <bool kLast, class F, class Work>
ORRERY_FN F substitute_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s,
                             std::size_t lane, Vec3T<F>& after) {
    const F zero(0.0f);
    const Vec3T<F> impulse =
        s > 0 ? joint_impulse<F>(impulse_row<F>(work[s], lane), after) : Vec3T<F>{zero, zero, zero};
    const F fast = push_alone<Turning::along, kLast, F>(step, chains, work, s, lane, impulse, after);
    after = impulse;
    return fast;
}

template <class F, class Work>
ORRERY_FN void load_alone(const StepContext& context, const ChainView& chains, Work work, std::uint32_t s,
                          std::size_t lane) {
    const F zero(0.0f);
    auto&& w = work[s];
    const std::uint32_t* rows = chains.slots[s].body + lane;
    const PoseT<F> pose = gather_pose<F>(context.pose->position, rows);
    VelocityT<F> velocity = gather_velocity<F>(context.velocity->linear, rows);
    const Vec3T<F> force = load_force<F>(chains, s, lane);
    integrate_alone(chains, s, lane, context.step, velocity);
    put(w.position, lane, pose.position);
    put(w.orientation, lane, pose.orientation);
    put(w.linear, lane, velocity.linear);
    put(w.angular, lane, velocity.angular);
    put(w.force, lane, force);
    if (chains.forces.breakable) put(w.total, lane, Vec3T<F>{zero, zero, zero});
}

// The bodies of a slot lie anywhere: reading them ahead hides what memory takes.
ORRERY_FN void fetch_slot(const StepContext& context, const ChainView& chains, const ChainSlot& slot) {
    for (std::size_t k = 0; k < kBundleLanes; ++k) {
        prefetch(context.pose + slot.body[k]);
        prefetch(context.velocity + slot.body[k]);
        prefetch(chains.forces.force + slot.force[k]);
    }
}

// The sweeps are functions of their own: together they would need more registers than there are.
// `next`: slots whose bodies are to be read ahead, or null.
template <class F, class Work>
ORRERY_ONCE void eliminate_all_alone(const StepContext& context, const ChainView& chains, Work work,
                                     const ChainSlot* next, std::size_t lane) {
    BodyBefore<F> before;
    for (std::uint32_t s = 0; s <= chains.bundle->links; ++s) {
        if (next != nullptr) fetch_slot(context, chains, next[s]);
        eliminate_alone<F>(context.step, chains, work, s, lane, before);
    }
}
// The same for bodies in any order, or at once, but for what goes along the chain: turn_alone of all, begin_joint_alone
// of all joints, sweep_alone, and push_alone of all bodies with the impulses that this leaves in `reduced`.
template <class F, class Work>
ORRERY_FN void turn_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s,
                          std::size_t lane) {
    const ChainSlot& slot = chains.slots[s];
    const QuatT<F> q = get<F>(work[s].orientation, lane);
    bool held = false;
    settle_alone<Turning::apart, F>(step, chains, work, s, lane, rotate(q, get<F>(slot.in, lane)),
                                    rotate(q, get<F>(slot.out, lane)), held);
}
template <class F, class Work>
ORRERY_FN AloneBody<F> turned_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s,
                                    std::size_t lane) {
    auto&& w = work[s];
    const Vec3T<F> turned = get<F>(w.turned, lane);
    return {get<F>(w.position, lane), get<F>(w.linear, lane),      turned,
            get<F>(w.in_arm, lane),   get<F>(w.out_arm, lane),     get<F>(chains.slots[s].inverse_mass, lane),
            get<F>(w.inertia, lane),  curving(turned, F(step.h_s))};
}
template <class F, class Work>
ORRERY_FN void begin_joint_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s,
                                 std::size_t lane) {
    const JointSpring<F> spring = joint_spring<F>(chains, s, lane, step);
    BodyBefore<F> before;
    come_before<F>(turned_alone<F>(step, chains, work, s - 1, lane), before);
    const AloneBody<F> body = turned_alone<F>(step, chains, work, s, lane);
    const OwnSide<F> own = own_side<F>(step, spring, work[s - 1], lane, before, body);
    put(work[s].inverse, lane, own_block<F>(before, body, spring.softness));
    put(work[s].reduced, lane, own.side);
    put(work[s].goal, lane, own.goal);
}
// What is read does not depend on what was computed just before, so that it comes meanwhile.
template <bool kRagged, Solve kSolve, class F, class Work>
ORRERY_FN void sweep_lane(const ChainView& chains, Work work, std::size_t lane) {
    const F zero(0.0f);
    const std::uint32_t links = chains.bundle->links;
    Sym3T<F> n = invert_row<F>(chains, kRagged, 1, lane, get<F>(inverse_row<kSolve>(work[1]), lane));
    Vec3T<F> r = get<F>(work[1].reduced, lane);
    put(inverse_row<kSolve>(work[1]), lane, n);
    std::uint32_t next = links > 1 ? 2 : 1;
    Sym3T<F> next_block = get<F>(inverse_row<kSolve>(work[next]), lane);
    Vec3T<F> next_side = get<F>(work[next].reduced, lane);
    ChainCoupling<F> next_coupling = coupling_of<F>(work[next - 1], lane);
#ifdef __CUDACC__
#pragma unroll 2
#endif
    for (std::uint32_t s = 2; s <= links; ++s) {
        Sym3T<F> block = next_block;
        Vec3T<F> reduced = next_side;
        const ChainCoupling<F> coupling = next_coupling;
        next = s < links ? s + 1 : s;
        next_block = get<F>(inverse_row<kSolve>(work[next]), lane);
        next_side = get<F>(work[next].reduced, lane);
        next_coupling = coupling_of<F>(work[next - 1], lane);
        reduce_row<F>(coupling, n, r, block, reduced);
        n = invert_row<F>(chains, kRagged, s, lane, block);
        r = reduced;
        put(inverse_row<kSolve>(work[s]), lane, n);
        put(work[s].reduced, lane, r);
    }
    Vec3T<F> after{zero, zero, zero};
    ImpulseRow<F> row = impulse_row<F, kSolve>(work[links], lane);
    for (std::uint32_t s = links; s > 0; --s) {
        const ImpulseRow<F> before = impulse_row<F, kSolve>(work[s > 1 ? s - 1 : 1], lane);  // slot 0 has none
        after = joint_impulse<F>(row, after);
        put(work[s].reduced, lane, after);
        row = before;
    }
}
template <Solve kSolve, class F, class Work>
ORRERY_FN void sweep_alone(const ChainView& chains, Work work, std::size_t lane) {
    if (chains.bundle->ragged)
        sweep_lane<true, kSolve, F>(chains, work, lane);
    else
        sweep_lane<false, kSolve, F>(chains, work, lane);
}

// ---- refinement (rig-inl.h), of lanes in which some body turns far: place_alone of all bodies; missed_alone of all
// joints; where some lane's misses, begin_refining_alone of all bodies, sweep_alone and refine_alone of all bodies of
// that lane; and again.

// rad^2 / s^2; above 0 where a body that turns this fast may make a joint miss.
template <class F>
ORRERY_FN F turns_far(const StepConstants& step, F fast) {
    return fast - F((kFarTurn * kFarTurn) * (step.inverse_h * step.inverse_h));
}
// Where the joints hold a body.
template <class F, class Work>
ORRERY_FN void place_alone(const ChainView& chains, Work work, std::uint32_t s, std::size_t lane) {
    const ChainSlot& slot = chains.slots[s];
    auto&& w = work[s];
    const QuatT<F> q = get<F>(w.orientation, lane);
    put(w.in_arm, lane, rotate(q, get<F>(slot.in, lane)));
    put(w.out_arm, lane, rotate(q, get<F>(slot.out, lane)));
}

template <class F, class Work>
ORRERY_FN Vec3T<F> rigid_miss_alone(Work work, std::uint32_t s, std::size_t lane) {
    auto&& w = work[s];
    return joint_error<F>(work[s - 1], lane, get<F>(w.position, lane), get<F>(w.in_arm, lane)) - get<F>(w.goal, lane);
}
// And where it gives way: m.
template <class F, class Work>
ORRERY_FN Vec3T<F> give_alone(const StepConstants& step, Work work, std::uint32_t s, std::size_t lane,
                              const Sym3T<F>& block, F softness) {
    return (block * get<F>(work[s].force, lane)) * (softness * F(step.h_s * step.h_s));
}
template <class F, class Work>
ORRERY_FN Sym3T<F> block_alone(const ChainView& chains, Work work, std::uint32_t s, std::size_t lane) {
    auto&& w = work[s];
    auto&& before = work[s - 1];
    return round_response(get<F>(chains.slots[s - 1].inverse_mass, lane), get<F>(before.inertia, lane),
                          get<F>(before.out_arm, lane)) +
           round_response(get<F>(chains.slots[s].inverse_mass, lane), get<F>(w.inertia, lane), get<F>(w.in_arm, lane));
}
// beyond_miss; nothing is where the joint is rigidly what it was to be, which nearly all are and is seen soon.
template <class F, class Work>
ORRERY_FN F missed_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s,
                         std::size_t lane) {
    const Vec3T<F> in = get<F>(work[s].in_arm, lane), out = get<F>(work[s - 1].out_arm, lane),
                   miss = rigid_miss_alone<F>(work, s, lane);
    const F levers = lever_squared<F>(in, get<F>(chains.slots[s].inverse_inertia, lane)) +
                     lever_squared<F>(out, get<F>(chains.slots[s - 1].inverse_inertia, lane));
    const F reach = reach_squared(get<F>(work[s].position, lane), in, out);
    F beyond = beyond_miss(miss, levers, reach);
    if (chains.bundle->ragged) beyond = select(get<F>(chains.extras[s].active, lane) > F(0.0f), beyond, F(0.0f));
    if (!any(beyond > F(0.0f))) return beyond;
    const JointSpring<F> spring = joint_spring<F>(chains, s, lane, step);
    const Vec3T<F> give = give_alone<F>(step, work, s, lane, block_alone<F>(chains, work, s, lane), spring.softness);
    return rigid_only(spring.is_user_spring, min(beyond, beyond_miss(miss + give, levers, reach)));
}
template <class F, class Work>
ORRERY_FN void begin_refining_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s,
                                    std::size_t lane) {
    auto&& w = work[s];
    put(w.alpha, lane,
        get<F>(chains.slots[s].inverse_mass, lane) +
            get<F>(w.inertia, lane) * dot(get<F>(w.in_arm, lane), get<F>(w.out_arm, lane)));
    if (s == 0) return;
    const JointSpring<F> spring = joint_spring<F>(chains, s, lane, step);
    const Sym3T<F> block = block_alone<F>(chains, work, s, lane);
    put(inverse_row<Solve::poses>(w), lane, block * (F(1.0f) + spring.softness));
    const Vec3T<F> miss =
        rigid_miss_alone<F>(work, s, lane) + give_alone<F>(step, work, s, lane, block, spring.softness);
    put(w.reduced, lane, rigid_only(spring.is_user_spring, miss * F(-step.inverse_h)));
}
template <class F, class Work>
ORRERY_FN void refine_alone(const StepConstants& step, const ChainView& chains, Work work, std::uint32_t s,
                            std::size_t lane, MaskOf<F> misses) {
    const F zero(0.0f), h(step.h_s), m = get<F>(chains.slots[s].inverse_mass, lane);
    auto&& w = work[s];
    const Vec3T<F> none{zero, zero, zero}, impulse = s > 0 ? get<F>(w.reduced, lane) : none,
                                           after = s < chains.bundle->links ? get<F>(work[s + 1].reduced, lane) : none;
    const Vec3T<F> linear = (impulse - after) * m,
                   angular = (cross(get<F>(w.in_arm, lane), impulse) - cross(get<F>(w.out_arm, lane), after)) *
                             get<F>(w.inertia, lane);
    add_where<F>(w.position, lane, misses, linear * h);
    const QuatT<F> had = get<F>(w.orientation, lane), turned = integrate(had, angular * h);
    put(w.orientation, lane,
        QuatT<F>{select(misses, turned.x, had.x), select(misses, turned.y, had.y), select(misses, turned.z, had.z),
                 select(misses, turned.w, had.w)});
    add_where<F>(w.linear, lane, misses, linear);
    add_where<F>(w.angular, lane, misses, angular);
    if (s > 0) add_where<F>(w.force, lane, misses, impulse * F(step.inverse_h));
    if (s > 0 && chains.forces.breakable) add_where<F>(w.total, lane, misses, impulse);
}

template <class F, class Work>
ORRERY_ONCE F most_missed_alone(const StepConstants& step, const ChainView& chains, Work work, std::size_t lane) {
    F most(0.0f);
    for (std::uint32_t s = 0; s <= chains.bundle->links; ++s) {
        place_alone<F>(chains, work, s, lane);
        if (s > 0) most = max(missed_alone<F>(step, chains, work, s, lane), most);
    }
    return most;
}
template <class F, class Work>
ORRERY_ONCE void refine_once_alone(const StepConstants& step, const ChainView& chains, Work work, std::size_t lane,
                                   MaskOf<F> misses) {
    for (std::uint32_t s = 0; s <= chains.bundle->links; ++s) begin_refining_alone<F>(step, chains, work, s, lane);
    sweep_alone<Solve::poses, F>(chains, work, lane);
    for (std::uint32_t s = 0; s <= chains.bundle->links; ++s) refine_alone<F>(step, chains, work, s, lane, misses);
}
// Of the body that turns fastest.
template <bool kLast, class F, class Work>
ORRERY_ONCE F substitute_all_alone(const StepConstants& step, const ChainView& chains, Work work, std::size_t lane) {
    const F zero(0.0f);
    Vec3T<F> after{zero, zero, zero};
    F fast = zero;
    for (std::uint32_t s = chains.bundle->links + 1; s-- > 0;)
        fast = max(substitute_alone<kLast, F>(step, chains, work, s, lane, after), fast);
    return fast;
}
template <bool kLast, class F, class Work>
ORRERY_FN void finish_all_alone(const StepConstants& step, const ChainView& chains, Work work, std::size_t lane) {
    const F far = turns_far(step, substitute_all_alone<kLast, F>(step, chains, work, lane));
    const std::uint32_t turn_far = lanes_beyond(far) & vector_bits<F>(chains.bundle->alone, lane);
    if (turn_far == 0) return;
    for (std::uint32_t k = 0; k < kMostRefinements; ++k) {
        const std::uint32_t misses = lanes_beyond(most_missed_alone<F>(step, chains, work, lane)) & turn_far;
        if (misses == 0) return;
        refine_once_alone<F>(step, chains, work, lane, lanes_with<F>(misses));
    }
}

// Whether no number is near the limits of quarantine_lost_bodies: no length above half of one, no speed near one. A NaN
// is.
template <class F>
ORRERY_FN MaskOf<F> far_from_limits(const PoseT<F>& pose, const VelocityT<F>& v) {
    const QuatT<F> q = pose.orientation;
    constexpr float kNear =
        0.99f * kSpeedLimitReached * kSpeedLimitReached;  // below its square, whichever way that is rounded
    constexpr float kFar = 0.25f * kMaxCoordinate_m * kMaxCoordinate_m,
                    kFast = kNear * kMaxLinearSpeed_mps * kMaxLinearSpeed_mps,
                    kFastTurn = kNear * kMaxAngularSpeed_radps * kMaxAngularSpeed_radps;
    return ((length_squared(pose.position) < F(kFar)) & ((q.x * q.x + q.y * q.y) + (q.z * q.z + q.w * q.w) < F(2.0f))) &
           ((length_squared(v.linear) < F(kFast)) & (length_squared(v.angular) < F(kFastTurn)));
}

// For quarantine_lost_bodies: where the bodies of a slot were.
template <class F>
ORRERY_ONCE void keep_start_poses(const StepContext& context, const ChainView& chains, std::uint32_t s,
                                  std::size_t lane) {
    const ChainSlot& slot = chains.slots[s];
    for (std::size_t k = lane; k < lane + lanes<F>(); ++k) {
        if (((slot.dynamic & chains.bundle->alone) >> k & 1u) != 0)
            chains.start_pose[slot.body[k]] = context.pose[slot.body[k]];
    }
}

// Whether a body may be lost.
template <class F, class Work>
ORRERY_FN bool store_alone(const StepContext& context, const ChainView& chains, Work work, std::uint32_t s,
                           std::size_t lane) {
    auto&& w = work[s];
    const ChainSlot& slot = chains.slots[s];
    const std::uint32_t moved = vector_bits<F>(slot.dynamic & chains.bundle->alone, lane);
    const std::uint32_t jointed = vector_bits<F>(slot.jointed & chains.bundle->alone, lane);
    const PoseT<F> pose{get<F>(w.position, lane), get<F>(w.orientation, lane)};
    const VelocityT<F> v{get<F>(w.linear, lane), get<F>(w.angular, lane)};
    const bool lost = chains.start_pose != nullptr && !all(far_from_limits(pose, v));
    if (lost) keep_start_poses<F>(context, chains, s, lane);
    scatter_pose<F>(context.pose->position, slot.body + lane, moved, pose);
    scatter_velocity<F>(context.velocity->linear, slot.body + lane, moved, v);
    const F zero(0.0f);
    const Vec3T<F> total = chains.forces.breakable ? get<F>(w.total, lane) : Vec3T<F>{zero, zero, zero};
    store_force<F>(chains, s, lane, jointed, get<F>(w.force, lane), total, context.step);
    return lost;
}

template <class F, class Work>
ORRERY_FN bool solve_alone_lanes(const StepContext& context, std::uint32_t substeps, const ChainView& chains, Work work,
                                 const ChainSlot* next, std::size_t lane) {
    for (std::uint32_t s = 0; s <= chains.bundle->links; ++s) load_alone<F>(context, chains, work, s, lane);
    eliminate_all_alone<F>(context, chains, work, next, lane);
    for (std::uint32_t substep = 1; substep < substeps; ++substep) {
        finish_all_alone<false, F>(context.step, chains, work, lane);
        eliminate_all_alone<F>(context, chains, work, nullptr, lane);
    }
    finish_all_alone<true, F>(context.step, chains, work, lane);
    bool lost = false;
    for (std::uint32_t s = 0; s <= chains.bundle->links; ++s)
        lost = store_alone<F>(context, chains, work, s, lane) || lost;
    return lost;
}

template <class F>
bool solve_alone(const StepContext& context, std::uint32_t substeps, const ChainView& chains, AloneSlot* work,
                 const ChainSlot* next) {
    bool lost = false;
    for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>()) {
        if (vector_bits<F>(chains.bundle->alone, lane) == 0) continue;
        lost = solve_alone_lanes<F>(context, substeps, chains, work, next, lane) || lost;
        next = nullptr;
    }
    return lost;
}

ORRERY_LANES_END

#endif
