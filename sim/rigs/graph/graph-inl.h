// Iterations over all joints of a rig at once (Jacobi), for rigs of any shape.
//
// The velocities that the impulses x of the joints make are v + M^-1 J^T x; wanted is (A + e D) x = r with A = J M^-1
// J^T, D its diagonal blocks, e the softness. One iteration goes over the joints, each by itself, and then over the
// bodies:
//
//   z = P^-1 (-(J v + bias + e D x)),   d <- keep d + step z,   x += d,   v += M^-1 J^T d
//
// Mass splitting. A body that n joints hold counts n times as light in P: with P = J (n M^-1) J^T + e D, taken block by
// block, the eigenvalues of P^-1 (A + e D) are at most 1 whatever the graph and the masses (Tonge, Benevolenski,
// Voroshilov 2012: each joint holds a body of its own, and their mean is the body). `keep` and `step` are then those of
// Chebyshev's polynomials over [a, 1] (make_graph_steps). A polynomial never goes on behind contacts: what they changed
// would meet late steps, which make it larger. Nor has one a degree above kMostDegree: what is not linear (arms turn, a
// pull turns with them) meets the late steps of long ones, too, and a ring that carries a hundred times its beads' mass
// flies apart by one of 128.
//
// A graph has as many iterations in a substep whether something touches it or not: else it would hang slack while what
// lies on it is in the air, and be drawn taut where it lands, which throws it up again, ever higher. And solves have no
// more of them than twice relax's: what they add to take errors back is for relax to take from the velocities again,
// and where it takes much less, nets of rods gain energy, and what hangs in a net swings for ever.
//
// Where P is (s + e) D, as it is between bodies that equally many joints hold, or beside one that is not dynamic, P^-1
// e D x is e / (s + e) x (GraphForm).
//
// A substep begins with a share c of the impulses of the last. Of an error, what the iterations of a substep take away
// is p, hardly anything where it is spread over a whole net. Position error, speed and impulse of such a mode, from one
// substep to the next:
//
//   x <- c x,  v <- v + x,   d = -p (v + b e / h),  v <- v + d, x <- x + d,   e <- e + h v,   d = -p v,  v <- v + d, x
//   <- x + d
//
// with b the share of an error that is to go in a substep. With c = 1 that grows for small p (with b = 0.3 below 0.07):
// what is carried on pushes for longer than the error lasts. With c = 1 - b, which a joint's own b gives, it shrinks
// for all p and b, and what is hardly reached about as fast as any c makes it: with b = 0.3 and p = 0.03 by 6.6 % a
// substep, by 3 with c = 0.
//
// Block Jacobi is the same with P = (1 + e) D, keep 0 and step 1, and an even number of iterations.
//
// A rod, which holds a distance, is a ball socket that knows one direction, n from the other body's anchor to that at
// home: with k = n . D n its block is k n n^T and its inverse n n^T / k. A rod of length L under a pull T holds its
// bodies across at w^2 = T / (L m), as a string does, which explicit steps follow only where h w < 2: above h^2 w^2 = 2
// a body counts as heavier, so that it is 2 at most, but at most four times, for what is heavier pulls more, and
// without a bound that would feed itself.

#if defined(ORRERY_RIGS_GRAPH_GRAPH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_RIGS_GRAPH_GRAPH_INL_H_
#undef ORRERY_RIGS_GRAPH_GRAPH_INL_H_
#else
#define ORRERY_RIGS_GRAPH_GRAPH_INL_H_
#endif

#include "sim/rigs/rig-inl.h"

ORRERY_LANES_BEGIN

inline constexpr float kHeaviest = 2.0f;   // h^2 w^2 above which bodies count as heavier
inline constexpr float kLightest = 0.25f;  // of its inverse mass, where taut rods hold a body

// Of a slice.
#define ORRERY_FOR_EACH_JOINT_VECTOR                                        \
    for (GraphJoints* j = slice.joints; j != slice.joints_end; ++j)         \
        for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>()) \
            if (vector_bits<F>(j->jointed, lane) != 0)
#define ORRERY_FOR_EACH_BODY_VECTOR                                         \
    for (const GraphBodies* b = slice.bodies; b != slice.bodies_end; ++b)   \
        for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>()) \
            if (vector_bits<F>(b->dynamic, lane) != 0)
#define ORRERY_FOR_EACH_PLACE_VECTOR                                      \
    for (const GraphBodies* b = slice.bodies; b != slice.places_end; ++b) \
        for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>())

// ---- planes

// Three planes one after the other; `at`: how to read one.
template <class F, class At>
ORRERY_FN Vec3T<F> read3(const float* plane, std::size_t stride, const At& at) {
    return {at(plane), at(plane + stride), at(plane + 2 * stride)};
}
template <class F>
ORRERY_FN Vec3T<F> load3(const float* plane, std::size_t stride) {
    return {load<F>(plane), load<F>(plane + stride), load<F>(plane + 2 * stride)};
}
template <class F>
ORRERY_FN void write3(float* plane, std::size_t stride, std::size_t at, Vec3T<F> v) {
    store(plane + at, v.x), store(plane + stride + at, v.y), store(plane + 2 * stride + at, v.z);
}
template <class F>
struct AtHome {
    std::size_t place;
    ORRERY_FN explicit AtHome(std::size_t p) : place(p) {}
    ORRERY_FN F operator()(const float* plane) const { return load<F>(plane + place); }
};
template <class F>
struct AtEnds {
    const std::uint32_t* at;
    std::size_t first;
    bool run;
    ORRERY_FN AtEnds(const GraphEnds& ends, std::uint32_t is_run, std::size_t lane)
        : at(ends.at + lane), first(ends.at[0] + lane), run(is_run != 0) {}
    ORRERY_FN F operator()(const float* plane) const { return run ? load<F>(plane + first) : gather<F>(plane, at); }
};

template <class F, bool kTurns>
ORRERY_FN VelocityT<F> load_velocity(const float* plane, std::size_t stride) {
    const F zero(0.0f);
    const Vec3T<F> linear = load3<F>(plane, stride);
    if constexpr (!kTurns) return {linear, {zero, zero, zero}};
    return {linear, load3<F>(plane + 3 * stride, stride)};
}
template <class F, bool kTurns>
ORRERY_FN VelocityT<F> read_velocity(const float* plane, std::size_t stride, const AtEnds<F>& at) {
    const F zero(0.0f);
    const Vec3T<F> linear = read3<F>(plane, stride, at);
    if constexpr (!kTurns) return {linear, {zero, zero, zero}};
    return {linear, read3<F>(plane + 3 * stride, stride, at)};
}
template <class F, class At>
ORRERY_FN InertiaT<F> read_inertia(const GraphView& g, const At& at) {
    const float* const plane = g.plane + kGraphInertia * g.stride;
    const std::size_t s = g.stride;
    return {{at(plane), at(plane + s), at(plane + 2 * s), at(plane + 3 * s), at(plane + 4 * s), at(plane + 5 * s)},
            at(plane + 6 * s)};
}
template <class F, class At>
ORRERY_FN PoseT<F> read_pose(const GraphView& g, const At& at) {
    const float* const plane = g.plane + kGraphPose * g.stride;
    const std::size_t s = g.stride;
    return {read3<F>(plane, s, at), {at(plane + 3 * s), at(plane + 4 * s), at(plane + 5 * s), at(plane + 6 * s)}};
}
ORRERY_FN std::size_t place_of(const GraphView& g, const GraphBodies* b, std::size_t lane) {
    return (1 + static_cast<std::size_t>(b - g.bodies)) * kBundleLanes + lane;
}
template <class F>
ORRERY_FN Vec3T<F> where_used(const Row& used, std::size_t lane, Vec3T<F> v) {
    const F zero(0.0f);
    return select<F>(get<F>(used, lane) > zero, v, Vec3T<F>{zero, zero, zero});
}

template <class F>
ORRERY_FN bool all_lanes(std::uint32_t mask, std::size_t lane) {
    return vector_bits<F>(mask, lane) == (1u << lanes<F>()) - 1u;
}

// Velocities of all places from the bodies, and of the dynamic ones back.
template <class F>
ORRERY_FN void load_place(const StepContext& context, const GraphView& g, const GraphBodies* b, std::size_t lane) {
    const std::size_t s = g.stride;
    float* const plane = g.plane + kGraphVelocity * s;
    const VelocityT<F> v = gather_velocity<F>(context.velocity->linear, b->body + lane);
    write3(plane, s, place_of(g, b, lane), v.linear);
    write3(plane + 3 * s, s, place_of(g, b, lane), v.angular);
}
template <class F>
ORRERY_FN void unload_place(const StepContext& context, const GraphView& g, const GraphBodies* b, std::size_t lane) {
    const VelocityT<F> v = load_velocity<F, true>(g.plane + kGraphVelocity * g.stride + place_of(g, b, lane), g.stride);
    scatter_velocity<F>(context.velocity->linear, b->body + lane, vector_bits<F>(b->dynamic, lane), v);
}

// v += M^-1 J^T d
template <class F, bool kTurns>
ORRERY_FN void push_vector(const GraphView& g, const GraphBodies* b, std::size_t lane) {
    const F zero(0.0f);
    const std::size_t s = g.stride, t = g.change_stride;
    Vec3T<F> linear{zero, zero, zero}, angular = linear;
    const GraphJoints* const own = g.joints + b->first_own;
    for (const GraphJoints* j = own; j != own + b->own; ++j) {
        const Vec3T<F> change = load3<F>(g.change + j->change + lane, t);
        linear = linear + change;
        if constexpr (kTurns) angular = angular + cross(get<F>(j->arm_home, lane), change);
    }
    const GraphSides* const sides = g.sides + b->first_side;
    for (const GraphSides* side = sides; side != sides + b->sides; ++side) {
        const Vec3T<F> change =
            side->whole != 0
                ? load3<F>(g.change + side->change.at[0] + lane, t)
                : where_used(side->used, lane, read3<F>(g.change, t, AtEnds<F>(side->change, side->run, lane)));
        linear = linear - change;
        if constexpr (kTurns) angular = angular - cross(get<F>(side->arm, lane), change);
    }
    float* const at = g.plane + place_of(g, b, lane);
    float* const v = at + kGraphVelocity * s;
    const float* const inertia = at + kGraphInertia * s;
    write3(v, s, 0, load3<F>(v, s) + linear * load<F>(inertia + 6 * s));
    if constexpr (kTurns) {
        const Sym3T<F> inverse{load<F>(inertia),         load<F>(inertia + s),     load<F>(inertia + 2 * s),
                               load<F>(inertia + 3 * s), load<F>(inertia + 4 * s), load<F>(inertia + 5 * s)};
        write3(v + 3 * s, s, 0, load3<F>(v + 3 * s, s) + inverse * angular);
    }
}
template <class F>
ORRERY_FN void push_body(const GraphView& g, const GraphBodies* b, std::size_t lane) {
    if (b->turns != 0)
        push_vector<F, true>(g, b, lane);
    else
        push_vector<F, false>(g, b, lane);
}
// What inverse inertia and inverse mass are multiplied with, where x = h^2 w^2.
template <class F>
ORRERY_FN F lightened(F x) {
    return F(1.0f) / (max(x, F(kHeaviest)) - F(kHeaviest - 1.0f));
}

// ---- what depends on poses, in this order: of all places, of joints, of members, of joints

template <class F>
ORRERY_FN void refresh_place(const StepContext& context, const GraphView& g, const GraphBodies* b, std::size_t lane) {
    const std::size_t s = g.stride;
    const PoseT<F> pose = gather_pose<F>(context.pose->position, b->body + lane);
    const QuatT<F> q = pose.orientation;
    float* const plane = g.plane + kGraphPose * s + place_of(g, b, lane);
    write3(plane, s, 0, pose.position);
    write3(plane + 3 * s, s, 0, Vec3T<F>{q.x, q.y, q.z});
    store(plane + 6 * s, q.w);
}
// The impulse of each and, of rods, pull over length, for the members.
template <class F>
ORRERY_FN void show_impulse(const GraphView& g, const GraphJoints* j, std::size_t lane) {
    const F zero(0.0f);
    const Vec3T<F> impulse = get<F>(j->impulse, lane);
    write3(g.change, g.change_stride, j->change + lane, impulse);
    if (j->rods == 0) return;
    const AtHome<F> at_home(j->home + lane);
    const AtEnds<F> at_other(j->other, j->run, lane);
    const float* const position = g.plane + kGraphPose * g.stride;
    Vec3T<F> apart = read3<F>(position, g.stride, at_home) - read3<F>(position, g.stride, at_other);
    if (j->turns != 0)
        apart = apart + (rotate(read_pose<F>(g, at_home).orientation, get<F>(j->at_home, lane)) -
                         rotate(read_pose<F>(g, at_other).orientation, get<F>(j->at_other, lane)));
    const F pulled = max(-dot(impulse, apart), zero) * inverse_or_zero(dot(apart, apart));
    store(g.change + 3 * g.change_stride + j->change + lane, select(get<F>(j->rod, lane) > zero, pulled, zero));
}
template <class F>
ORRERY_FN void refresh_member(const StepContext& context, const GraphView& g, const GraphBodies* b, std::size_t lane) {
    const F zero(0.0f), h(context.step.h_s);
    const std::size_t s = g.stride;
    const float* const taut = g.change + 3 * g.change_stride;
    const std::size_t place = place_of(g, b, lane);
    const PoseT<F> pose = read_pose<F>(g, AtHome<F>(place));
    const InertiaT<F> mass = gather_inertia<F>(context.inertia->inverse_inertia, b->body + lane);
    F stiffness = zero, taut_across = zero;
    for (std::uint32_t k = 0; k < b->own; ++k) {
        GraphJoints& j = g.joints[b->first_own + k];
        if (j.rods != 0) taut_across = taut_across + load<F>(taut + j.change + lane);
        if (j.turns == 0) continue;
        const Vec3T<F> arm = rotate(pose.orientation, get<F>(j.at_home, lane));
        put(j.arm_home, lane, arm);
        stiffness = stiffness + turn_back(get<F>(j.impulse, lane), arm, mass.inverse_inertia);
    }
    for (std::uint32_t k = 0; k < b->sides; ++k) {
        GraphSides& side = g.sides[b->first_side + k];
        if (side.rods != 0)
            taut_across = taut_across +
                          select(get<F>(side.used, lane) > zero, AtEnds<F>(side.change, side.run, lane)(taut), zero);
        if (side.turns == 0) continue;
        const Vec3T<F> arm = rotate(pose.orientation, get<F>(side.at, lane));
        put(side.arm, lane, arm);
        const Vec3T<F> impulse =
            where_used(side.used, lane, read3<F>(g.change, g.change_stride, AtEnds<F>(side.change, side.run, lane)));
        stiffness = stiffness + turn_back(-impulse, arm, mass.inverse_inertia);
    }
    const Sym3T<F> inertia = mass.inverse_inertia * lightened(h * stiffness);
    float* const plane = g.plane + kGraphInertia * s + place;
    const F row[7] = {inertia.xx,
                      inertia.xy,
                      inertia.xz,
                      inertia.yy,
                      inertia.yz,
                      inertia.zz,
                      mass.inverse_mass * max(lightened(h * (taut_across * mass.inverse_mass)), F(kLightest))};
    for (std::size_t k = 0; k < 7; ++k) store(plane + k * s, row[k]);
}

// Of a group that is GraphForm::axes.
template <class F>
ORRERY_FN Vec3T<F> get_axis(const GraphJoints* j, std::size_t lane) {
    return {get<F>(j->inverse.xx, lane), get<F>(j->inverse.xy, lane), get<F>(j->inverse.xz, lane)};
}
template <class F>
ORRERY_FN Sym3T<F> squared(Vec3T<F> n) {
    return {n.x * n.x, n.x * n.y, n.x * n.z, n.y * n.y, n.y * n.z, n.z * n.z};
}
template <class F>
ORRERY_FN void refresh_joint(const StepContext& context, const GraphView& g, GraphJoints* j, std::size_t lane) {
    const F zero(0.0f), one(1.0f);
    const AtHome<F> at_home(j->home + lane);
    const AtEnds<F> at_other(j->other, j->run, lane);
    const float* const position = g.plane + kGraphPose * g.stride;
    Vec3T<F> apart = read3<F>(position, g.stride, at_home) - read3<F>(position, g.stride, at_other);
    const InertiaT<F> ih = read_inertia<F>(g, at_home), io = read_inertia<F>(g, at_other);
    Sym3T<F> of_home{ih.inverse_mass, zero, zero, ih.inverse_mass, zero, ih.inverse_mass},
        of_other{io.inverse_mass, zero, zero, io.inverse_mass, zero, io.inverse_mass};
    if (j->turns != 0) {
        const Vec3T<F> rh = get<F>(j->arm_home, lane),
                       ro = rotate(read_pose<F>(g, at_other).orientation, get<F>(j->at_other, lane));
        put(j->arm_other, lane, ro);
        apart = apart + (rh - ro);
        of_home = add_diagonal(lever_sandwich(rh, ih.inverse_inertia), ih.inverse_mass);
        of_other = add_diagonal(lever_sandwich(ro, io.inverse_inertia), io.inverse_mass);
    }
    const JointSpring<F> spring{get<F>(j->softness, lane), get<F>(j->rate, lane), get<F>(j->is_user_spring, lane)};
    const F split_home = get<F>(j->split_home, lane), split_other = get<F>(j->split_other, lane);
    if (j->form == GraphForm::axes) {
        const Sym3T<F> parts = (of_home * split_home + of_other * split_other) + (of_home + of_other) * spring.softness;
        const Vec3T<F> n = normalize_or(apart, Vec3T<F>{zero, one, zero}, F(1.0e-6f));
        put(j->held_bias.x, lane, (get<F>(j->bias.x, lane) * spring.is_user_spring) * dot(n, get_axis<F>(j, lane)));
        put(j->inverse.xx, lane, n.x), put(j->inverse.xy, lane, n.y), put(j->inverse.xz, lane, n.z);
        put(j->inverse.yy, lane, inverse_or_zero(dot(n, parts * n)));
        // What a carried impulse has across the rod, which has turned since, nothing would ever take back.
        const Vec3T<F> impulse = get<F>(j->impulse, lane);
        put(j->impulse, lane, select<F>(get<F>(j->rod, lane) > zero, n * dot(n, impulse), impulse));
        put(j->bias.x, lane,
            joint_bias(Vec3T<F>{dot(n, apart) - get<F>(j->length, lane), zero, zero}, spring, context.step).x);
        return;
    }
    const Sym3T<F> block = of_home + of_other;
    Sym3T<F> soft = block * spring.softness;
    const Sym3T<F> split = (of_home * split_home + of_other * split_other) + soft;
    Sym3T<F> inverse = split;
    if (j->rods != 0) {
        const MaskOf<F> rod = get<F>(j->rod, lane) > zero;
        const Vec3T<F> n = normalize_or(apart, Vec3T<F>{zero, one, zero}, F(1.0e-6f));
        const Sym3T<F> along = squared(n);
        apart = select<F>(rod, n * (dot(n, apart) - get<F>(j->length, lane)), apart);
        const Vec3T<F> impulse = get<F>(j->impulse, lane);
        put(j->impulse, lane, select<F>(rod, n * dot(n, impulse), impulse));
        soft = select_sym<F>(rod, along * dot(n, soft * n), soft);
        inverse = along * inverse_or_zero(dot(n, split * n));
        if (!all(rod)) inverse = select_sym<F>(rod, inverse, inverse_or_zero(split));
    } else {
        inverse = inverse_or_zero(split);
    }
    put(j->held_bias, lane, get<F>(j->bias, lane) * spring.is_user_spring);
    if (j->form == GraphForm::blocks) put(j->soft_block, lane, soft);
    put(j->inverse, lane, inverse);
    put(j->bias, lane, joint_bias(apart, spring, context.step));
}

// ---- an iteration

// solve takes errors back, the others those alone that the user's springs are to: relax with the poses before the last
// move, hold, which comes before the contacts, with the present ones.
enum class GraphHold { all, sprung, none };

// The first iteration of a polynomial looks at no change before it. before_move: with the biases of the poses before
// the last move.
struct GraphIteration {
    GraphStep by;
    bool first, before_move;
};
template <GraphPart kPart>
ORRERY_FN GraphIteration iteration_of(GraphStep by) {
    return {by, by.keep == 0.0f, kPart == GraphPart::relax};
}

// Of a joint without a user's spring nothing, where those alone count.
template <GraphHold kHold, class F, class V>
ORRERY_FN V held(const GraphJoints* j, std::size_t lane, V v) {
    if constexpr (kHold == GraphHold::sprung) return v * get<F>(j->is_user_spring, lane);
    return v;
}
// P^-1 (J v + bias + e D x)
template <class F, GraphHold kHold, GraphForm kForm>
ORRERY_FN Vec3T<F> asked(const GraphJoints* j, const Vec3Rows& bias, std::size_t lane, Vec3T<F> rest,
                         Vec3T<F> impulse) {
    constexpr bool kHolds = kHold != GraphHold::none;
    if constexpr (kForm == GraphForm::axes) {
        const Vec3T<F> n = get_axis<F>(j, lane);
        F along = dot(n, rest);
        if constexpr (kHolds) along = along + held<kHold, F>(j, lane, get<F>(bias.x, lane));
        rest = n * (along * get<F>(j->inverse.yy, lane));
    } else {
        if constexpr (kHolds) rest = rest + held<kHold, F>(j, lane, get<F>(bias, lane));
        if constexpr (kHolds && kForm == GraphForm::blocks)
            rest = rest + held<kHold, F>(j, lane, get<F>(j->soft_block, lane) * impulse);
        rest = get<F>(j->inverse, lane) * rest;
    }
    if constexpr (kHolds && kForm != GraphForm::blocks)
        rest = rest + impulse * held<kHold, F>(j, lane, get<F>(j->lost, lane));
    return rest;
}
// The change of the impulses, which are changed.
template <class F, GraphHold kHold, GraphForm kForm, bool kTurns>
ORRERY_FN Vec3T<F> step_vector(GraphJoints* j, const GraphIteration& by, std::size_t lane, const VelocityT<F>& home,
                               const VelocityT<F>& other, Vec3T<F> before) {
    Vec3T<F> rest = home.linear - other.linear;
    if constexpr (kTurns)
        rest =
            rest + (cross(home.angular, get<F>(j->arm_home, lane)) - cross(other.angular, get<F>(j->arm_other, lane)));
    const Vec3T<F> impulse = get<F>(j->impulse, lane);
    const Vec3T<F> change =
        before * F(by.by.keep) -
        asked<F, kHold, kForm>(j, by.before_move ? j->held_bias : j->bias, lane, rest, impulse) * F(by.by.step);
    put(j->impulse, lane, impulse + change);
    return change;
}
// Of sixteen joints whose other bodies are a run.
template <class F, GraphHold kHold, GraphForm kForm, bool kTurns>
ORRERY_FN void step_whole(const GraphView& g, GraphJoints* j, const GraphIteration& by) {
    alignas(64) static constexpr float kNoChange[kBundleLanes] = {};
    const std::size_t s = g.stride, t = g.change_stride;
    const float* const velocity = g.plane + kGraphVelocity * s;
    const float *const home = velocity + j->home, *const other = velocity + j->other.at[0];
    float* const change = g.change + j->change;
    const float* const before = by.first ? kNoChange : change;
    const std::size_t of_before = by.first ? 0 : t;
    for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>())
        write3(change, t, lane,
               step_vector<F, kHold, kForm, kTurns>(j, by, lane, load_velocity<F, kTurns>(home + lane, s),
                                                    load_velocity<F, kTurns>(other + lane, s),
                                                    load3<F>(before + lane, of_before)));
}
// Of any, a vector of them.
template <class F, GraphHold kHold, GraphForm kForm, bool kTurns>
ORRERY_FN void step_some(const GraphView& g, GraphJoints* j, const GraphIteration& by, std::size_t lane) {
    const F zero(0.0f);
    const std::size_t s = g.stride, t = g.change_stride;
    const float* const velocity = g.plane + kGraphVelocity * s;
    float* const at = g.change + j->change + lane;
    const Vec3T<F> before = by.first ? Vec3T<F>{zero, zero, zero} : load3<F>(at, t);
    const Vec3T<F> kept = get<F>(j->impulse, lane);
    const Vec3T<F> change = step_vector<F, kHold, kForm, kTurns>(
        j, by, lane, load_velocity<F, kTurns>(velocity + j->home + lane, s),
        read_velocity<F, kTurns>(velocity, s, AtEnds<F>(j->other, j->run, lane)), before);
    if (!all_lanes<F>(j->jointed, lane))
        put(j->impulse, lane, select<F>(get<F>(j->used, lane) > zero, get<F>(j->impulse, lane), kept));
    write3(at, t, 0, where_used(j->used, lane, change));
}
template <class F, GraphHold kHold>
struct StepLane {
    const GraphView& g;
    GraphJoints* j;
    const GraphIteration& by;
    std::size_t lane;
    template <GraphForm kForm, bool kTurns>
    ORRERY_FN void run() const {
        step_some<F, kHold, kForm, kTurns>(g, j, by, lane);
    }
};
template <class F, GraphHold kHold>
struct StepGroup {
    const GraphView& g;
    GraphJoints* j;
    const GraphIteration& by;
    template <GraphForm kForm, bool kTurns>
    ORRERY_FN void run() const {
        if (j->whole != 0) return step_whole<F, kHold, kForm, kTurns>(g, j, by);
        for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>())
            if (vector_bits<F>(j->jointed, lane) != 0) step_some<F, kHold, kForm, kTurns>(g, j, by, lane);
    }
};
template <bool kTurns, class Step>
ORRERY_FN void step_form(const Step& step) {
    switch (step.j->form) {
        case GraphForm::blocks:
            return step.template run<GraphForm::blocks, kTurns>();
        case GraphForm::even:
            return step.template run<GraphForm::even, kTurns>();
        case GraphForm::axes:
            return step.template run<GraphForm::axes, kTurns>();
    }
}
template <class Step>
ORRERY_FN void step_as(const Step& step) {
    if (step.j->turns != 0)
        step_form<true>(step);
    else
        step_form<false>(step);
}
template <class F, GraphPart kPart>
ORRERY_FN void step_group(const GraphView& g, GraphJoints* j, const GraphIteration& by) {
    if constexpr (kPart == GraphPart::solve)
        step_as(StepGroup<F, GraphHold::all>{g, j, by});
    else if (j->sprung != 0)
        step_as(StepGroup<F, GraphHold::sprung>{g, j, by});
    else
        step_as(StepGroup<F, GraphHold::none>{g, j, by});
}
template <class F, GraphPart kPart>
ORRERY_FN void step_joint(const GraphView& g, GraphJoints* j, const GraphIteration& by, std::size_t lane) {
    if constexpr (kPart == GraphPart::solve)
        step_as(StepLane<F, GraphHold::all>{g, j, by, lane});
    else if (j->sprung != 0)
        step_as(StepLane<F, GraphHold::sprung>{g, j, by, lane});
    else
        step_as(StepLane<F, GraphHold::none>{g, j, by, lane});
}

template <class F>
ORRERY_FN void prepare_joint(const StepContext& context, const GraphView& g, GraphJoints* j, std::size_t lane) {
    const F zero(0.0f), h(context.step.h_s);
    const Vec3T<F> none{zero, zero, zero};
    const JointSpring<F> spring = joint_spring(get<F>(j->frequency_hz, lane), get<F>(j->damping_ratio, lane),
                                               F(g.graph->compliance), context.step);
    put(j->softness, lane, spring.softness);
    put(j->rate, lane, spring.rate);
    put(j->is_user_spring, lane, spring.is_user_spring);
    put(j->lost, lane, spring.softness * inverse_or_zero(get<F>(j->split_home, lane) + spring.softness));
    put(j->bias, lane, none);
    put(j->impulse, lane, load_force(g.forces, j->force + lane, get<F>(j->sign, lane)) * h);
    put(j->total, lane, none);
}
template <class F>
ORRERY_FN void warm_start_joint(const StepContext& context, const GraphView& g, GraphJoints* j, std::size_t lane) {
    const F one(1.0f), h(context.step.h_s);
    const Vec3T<F> impulse = get<F>(j->impulse, lane) * (one - get<F>(j->rate, lane) * h);
    put(j->impulse, lane, impulse);
    write3(g.change, g.change_stride, j->change + lane, impulse);
}
template <class F>
ORRERY_FN void sum_up_joint(GraphJoints* j, std::size_t lane) {
    put(j->total, lane, get<F>(j->total, lane) + get<F>(j->impulse, lane));
}
template <class F>
ORRERY_FN void take_back_joint(GraphJoints* j, std::size_t lane) {
    put(j->total, lane, get<F>(j->total, lane) - get<F>(j->impulse, lane));
}
template <class F>
ORRERY_FN void finish_joint(const StepContext& context, const GraphView& g, GraphJoints* j, std::size_t lane) {
    store_force(g.forces, j->force + lane, vector_bits<F>(j->jointed, lane), get<F>(j->sign, lane),
                get<F>(j->impulse, lane) * F(context.step.inverse_h), get<F>(j->total, lane), context.step);
}

// ---- the parts of passes (GraphPart), of groups of places [begin, end); graph_passes.cpp says which come after which

struct GraphSlice {
    const GraphBodies *bodies, *bodies_end, *places_end;  // members; they and, after the last of them, others
    GraphJoints* joints;                                  // that are at home there
    const GraphJoints* joints_end;
};
inline GraphSlice slice_of(const GraphView& g, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t members = g.graph->bodies, first = begin < members ? begin : members,
                        last = end < members ? end : members;
    if (first == last) return {g.bodies + begin, g.bodies + begin, g.bodies + end, g.joints, g.joints};
    const GraphBodies& final = g.bodies[last - 1];
    return {g.bodies + begin, g.bodies + last, g.bodies + end, g.joints + g.bodies[first].first_own,
            g.joints + final.first_own + final.own};
}

#define ORRERY_GRAPH_PART(name, each, work)                                                                            \
    template <class F>                                                                                                 \
    void name([[maybe_unused]] const StepContext& context, const GraphView& g, std::uint32_t begin, std::uint32_t end, \
              std::uint32_t) {                                                                                         \
        const GraphSlice slice = slice_of(g, begin, end);                                                              \
        each work;                                                                                                     \
    }
ORRERY_GRAPH_PART(prepare_slice, ORRERY_FOR_EACH_JOINT_VECTOR, prepare_joint<F>(context, g, j, lane))
ORRERY_GRAPH_PART(place_slice, ORRERY_FOR_EACH_PLACE_VECTOR, refresh_place<F>(context, g, b, lane))
ORRERY_GRAPH_PART(show_slice, ORRERY_FOR_EACH_JOINT_VECTOR, show_impulse<F>(g, j, lane))
ORRERY_GRAPH_PART(refresh_members_slice, ORRERY_FOR_EACH_BODY_VECTOR, refresh_member<F>(context, g, b, lane))
ORRERY_GRAPH_PART(refresh_joints_slice, ORRERY_FOR_EACH_JOINT_VECTOR, refresh_joint<F>(context, g, j, lane))
ORRERY_GRAPH_PART(load_slice, ORRERY_FOR_EACH_PLACE_VECTOR, load_place<F>(context, g, b, lane))
ORRERY_GRAPH_PART(unload_slice, ORRERY_FOR_EACH_BODY_VECTOR, unload_place<F>(context, g, b, lane))
ORRERY_GRAPH_PART(warm_start_slice, ORRERY_FOR_EACH_JOINT_VECTOR, warm_start_joint<F>(context, g, j, lane))
ORRERY_GRAPH_PART(push_slice, ORRERY_FOR_EACH_BODY_VECTOR, push_body<F>(g, b, lane))
ORRERY_GRAPH_PART(sum_up_slice, ORRERY_FOR_EACH_JOINT_VECTOR, sum_up_joint<F>(j, lane))
ORRERY_GRAPH_PART(take_back_slice, ORRERY_FOR_EACH_JOINT_VECTOR, take_back_joint<F>(j, lane))
ORRERY_GRAPH_PART(finish_slice, ORRERY_FOR_EACH_JOINT_VECTOR, finish_joint<F>(context, g, j, lane))
#undef ORRERY_GRAPH_PART
template <class F, GraphPart kPart>
void step_slice(const StepContext&, const GraphView& g, std::uint32_t begin, std::uint32_t end, std::uint32_t n) {
    const GraphSlice slice = slice_of(g, begin, end);
    const GraphIteration by = iteration_of<kPart>(g.graph->step[n]);
    for (GraphJoints* j = slice.joints; j != slice.joints_end; ++j) step_group<F, kPart>(g, j, by);
}

// In the order of GraphPart.
template <class F>
constexpr GraphKernels make_graph_kernels() {
    return {{prepare_slice<F>, place_slice<F>, show_slice<F>, refresh_members_slice<F>, refresh_joints_slice<F>,
             load_slice<F>, unload_slice<F>, warm_start_slice<F>, push_slice<F>, step_slice<F, GraphPart::solve>,
             step_slice<F, GraphPart::relax>, step_slice<F, GraphPart::hold>, sum_up_slice<F>, take_back_slice<F>,
             finish_slice<F>}};
}

#undef ORRERY_FOR_EACH_PLACE_VECTOR
#undef ORRERY_FOR_EACH_JOINT_VECTOR
#undef ORRERY_FOR_EACH_BODY_VECTOR

ORRERY_LANES_END

#endif
