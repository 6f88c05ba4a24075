// A span of a tree (sim/rigs/tree/tree.h): two ball sockets of the same two bodies, at arms p1, p2 on either. Rows and
// impulses of it
//
//   s   the middle:      (v1 + v2) / 2 of the points' velocities, an impulse of which each joint takes one half
//   q_k two differences: t_k . (v1 - v2), an impulse of which the first takes as much as the second gives
//
// with the t_k across the line through both points, so that x1 = s / 2 + t_k q_k, x2 = s / 2 - t_k q_k. On a body with
// p = (p1 + p2) / 2 and e_k = (p1 - p2) x t_k
//
//   J v = [v + w x p, e_k . w]        J^T (s, q) = (s, p x s + e_k q_k)
//
// What the joints' impulses have along the line does nothing that a body would feel, and is dropped.

#if defined(ORRERY_RIGS_TREE_TREE_SPAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_RIGS_TREE_TREE_SPAN_INL_H_
#undef ORRERY_RIGS_TREE_TREE_SPAN_INL_H_
#else
#define ORRERY_RIGS_TREE_TREE_SPAN_INL_H_
#endif

#include "sim/constraints/block-inl.h"
#include "sim/rigs/rig-inl.h"
#include "sim/rigs/tree/tree_response-inl.h"

ORRERY_LANES_BEGIN

inline constexpr std::size_t kSpanRows = 5;

// An impulse of it, or a velocity.
template <class F>
struct SpanVec {
    Vec3T<F> s;
    F q[2];
};
template <class F>
ORRERY_FN Vec3T<F> middle(Vec3T<F> a, Vec3T<F> b) {
    return (a + b) * F(0.5f);
}

// How it holds one of its bodies.
template <class F>
struct SpanSide {
    Vec3T<F> arm, turn[2];
    ORRERY_FN SpanVec<F> speed(Vec3T<F> linear, Vec3T<F> angular) const {
        return {linear + cross(angular, arm), {dot(turn[0], angular), dot(turn[1], angular)}};
    }
    ORRERY_FN Vec3T<F> torque(const SpanVec<F>& x) const {
        return (cross(arm, x.s) + turn[0] * x.q[0]) + turn[1] * x.q[1];
    }
};
template <class F>
ORRERY_FN SpanSide<F> span_side(const TreeWork& w, const TreeSpanWork& span, std::size_t lane) {
    return {middle(get<F>(w.in_arm, lane), get<F>(span.in_arm, lane)),
            {get<F>(span.turn[0], lane), get<F>(span.turn[1], lane)}};
}
template <class F>
ORRERY_FN SpanSide<F> span_side_above(const TreeWork& w, const TreeSpanWork& span, std::size_t lane) {
    return {middle(get<F>(w.out_arm, lane), get<F>(span.out_arm, lane)),
            {get<F>(span.turn_above[0], lane), get<F>(span.turn_above[1], lane)}};
}

// W J^T: what a unit of each row does to a body.
template <class F>
struct SpanResponse {
    PointResponse<F> point;
    Vec3T<F> linear[2], angular[2];
    ORRERY_FN static SpanResponse of(const Sym6T<F>& w, const SpanSide<F>& side) {
        return {PointResponse<F>::of(w, side.arm),
                {w.b * side.turn[0], w.b * side.turn[1]},
                {w.d * side.turn[0], w.d * side.turn[1]}};
    }
    // k + J W J^T
    ORRERY_FN void add_to(LowerT<kSpanRows, F>& k, const SpanSide<F>& side) const {
        const Sym3T<F> p = point.at(side.arm);
        k.v[0] = k.v[0] + p.xx, k.v[1] = k.v[1] + p.xy, k.v[2] = k.v[2] + p.yy;
        k.v[3] = k.v[3] + p.xz, k.v[4] = k.v[4] + p.yz, k.v[5] = k.v[5] + p.zz;
        for (std::size_t i = 0; i < 2; ++i) {
            const Vec3T<F> c = linear[i] + cross(angular[i], side.arm);
            F* const row = k.v + lower_index(3 + i, 0);
            row[0] = row[0] + c.x, row[1] = row[1] + c.y, row[2] = row[2] + c.z;
            for (std::size_t j = 0; j <= i; ++j) row[3 + j] = row[3 + j] + dot(side.turn[j], angular[i]);
        }
    }
};

template <class F>
ORRERY_FN Vec3T<F> span_line(const TreeSpanWork& span, std::size_t lane) {
    return cross(get<F>(span.across[0], lane), get<F>(span.across[1], lane));
}

// Of a body of which nothing hangs.
template <class F>
ORRERY_FN Sym6T<F> own_response(const InertiaT<F>& mass) {
    const F zero(0.0f), m = mass.inverse_mass;
    const Vec3T<F> none{zero, zero, zero};
    return {{m, zero, zero, m, zero, m}, {none, none, none}, mass.inverse_inertia};
}

// As turn_back, of a span: it leaves a body to turn about the line through its points, with what an arm has across it
// for a lever.
template <class F>
ORRERY_FN Vec3T<F> off_line(Vec3T<F> arm, Vec3T<F> line) {
    return arm - line * dot(line, arm);
}
template <class F>
ORRERY_FN F turn_about(Vec3T<F> force, Vec3T<F> arm, Vec3T<F> line, const Sym3T<F>& inertia) {
    return pull(force, off_line(arm, line)) * dot(line, inertia * line);
}

// Axes, what is left of both impulses, stiffness, and of the second joint what refresh_tree does with every slot's
// first, whose arms it wants.
template <class F>
ORRERY_ONCE void refresh_span(const StepContext& context, const RigTreeView& trees, std::uint32_t s, std::size_t lane,
                              MaskOf<F> moved) {
    const F half(0.5f);
    const TreeSlot& slot = trees.slots[s];
    const TreeSpan& joint = trees.spans[slot.span];
    TreeSpanWork& span = trees.span_work[slot.span];
    TreeWork &w = trees.work[s], &above = trees.work[slot.parent];
    const PoseT<F> pose = gather_pose<F>(context.pose->position, slot.body + lane),
                   parent = gather_pose<F>(context.pose->position, trees.slots[slot.parent].body + lane);
    const Vec3T<F> in = rotate(pose.orientation, get<F>(joint.in, lane)),
                   out = rotate(parent.orientation, get<F>(joint.out, lane));
    const Vec3T<F> apart = get<F>(w.in_arm, lane) - in, apart_above = get<F>(w.out_arm, lane) - out;
    const Vec3T<F> line = normalize_or(apart + apart_above, Vec3T<F>{F(1.0f), F(0.0f), F(0.0f)}, F(0.0f)),
                   side = perpendicular(line);
    const Vec3T<F> across[2] = {side, cross(line, side)};
    put(span.in_arm, lane, in);
    put(span.out_arm, lane, out);
    for (std::size_t k = 0; k < 2; ++k) {
        put(span.across[k], lane, across[k]);
        put(span.turn[k], lane, cross(apart, across[k]));
        put(span.turn_above[k], lane, cross(apart_above, across[k]));
    }
    const Vec3T<F> first = get<F>(w.impulse, lane), second = get<F>(span.impulse, lane), mean = middle(first, second),
                   difference = (first - second) * half;
    const Vec3T<F> q = across[0] * dot(across[0], difference) + across[1] * dot(across[1], difference);
    const Vec3T<F> first_left = select<F>(moved, mean + q, first), second_left = select<F>(moved, mean - q, second);
    put(w.impulse, lane, first_left);
    put(span.impulse, lane, second_left);
    const Vec3T<F> both = first_left + second_left, middle_in = middle(get<F>(w.in_arm, lane), in),
                   middle_out = middle(get<F>(w.out_arm, lane), out);
    const F stiffness = turn_about(both, middle_in, line, get<F>(w.inertia.inverse_inertia, lane)),
            stiffness_above = turn_about(-both, middle_out, line, get<F>(above.inertia.inverse_inertia, lane));
    put(w.stiffness, lane, get<F>(w.stiffness, lane) + stiffness);
    put(above.stiffness, lane, get<F>(above.stiffness, lane) + stiffness_above);
    put(span.error, lane, ((pose.position - parent.position) - out) + in);
}

// Each joint gives way by itself, as much as its own block D_i says: (D1 + D2) / 4 of the middle, t_j . (D1 + D2) t_k
// of the differences, and (D1 - D2) t_k / 2 of one for the other.
template <class F>
ORRERY_ONCE void put_span_block(const RigTreeView& trees, std::uint32_t s, std::size_t lane) {
    const TreeSlot& slot = trees.slots[s];
    TreeSpanWork& span = trees.span_work[slot.span];
    const TreeWork &w = trees.work[s], &above = trees.work[slot.parent];
    const InertiaT<F> mass = get<F>(w.inertia, lane), mass_above = get<F>(above.inertia, lane);
    const Sym3T<F> first = point_response(get<F>(w.in_arm, lane), get<F>(w.out_arm, lane), mass, mass_above),
                   second = point_response(get<F>(span.in_arm, lane), get<F>(span.out_arm, lane), mass, mass_above);
    const Sym3T<F> both = first + second, middle = both * F(0.25f), unlike = (first - second) * F(0.5f);
    const F point[6] = {middle.xx, middle.xy, middle.yy, middle.xz, middle.yz, middle.zz};
    for (std::size_t i = 0; i < 6; ++i) put(span.block[i], lane, point[i]);
    for (std::size_t k = 0; k < 2; ++k) {
        const Vec3T<F> t = get<F>(span.across[k], lane), cross_terms = unlike * t, given = both * t;
        const std::size_t row = lower_index(3 + k, 0);
        put(span.block[row], lane, cross_terms.x);
        put(span.block[row + 1], lane, cross_terms.y);
        put(span.block[row + 2], lane, cross_terms.z);
        for (std::size_t j = 0; j <= k; ++j)
            put(span.block[row + 3 + j], lane, dot(get<F>(span.across[j], lane), given));
    }
}

// One row of six of P = W_c J_c^T, with (L D)^-1 before it.
template <class F>
struct SpanColumn {
    F v[kSpanRows];
    ORRERY_FN static SpanColumn of(const LdltT<kSpanRows, F>& k, Vec3T<F> point, F first, F second) {
        SpanColumn c{{point.x, point.y, point.z, first, second}};
        for (std::size_t i = 1; i < kSpanRows; ++i) {
            for (std::size_t j = 0; j < i; ++j) c.v[i] = c.v[i] - k.l[strict_index(i, j)] * c.v[j];
        }
        return c;
    }
    // Of P T P^T.
    ORRERY_FN F times(const LdltT<kSpanRows, F>& k, const SpanColumn& other) const {
        F sum = (v[0] * k.inverse_d[0]) * other.v[0];
        for (std::size_t i = 1; i < kSpanRows; ++i) sum = sum + (v[i] * k.inverse_d[i]) * other.v[i];
        return sum;
    }
};

template <class F>
ORRERY_ONCE void eliminate_span(const RigTreeView& trees, std::uint32_t s, std::size_t lane) {
    const TreeSlot& slot = trees.slots[s];
    TreeSpanWork& span = trees.span_work[slot.span];
    TreeWork &w = trees.work[s], &above = trees.work[slot.parent];
    const SpanSide<F> in = span_side<F>(w, span, lane), out = span_side_above<F>(w, span, lane);
    Sym6T<F> response = get_response<F>(above, lane);
    const SpanResponse<F> here = SpanResponse<F>::of(response, out);
    const F softness = get<F>(w.softness, lane);
    LowerT<kSpanRows, F> sum;
    for (std::size_t i = 0; i < 15; ++i) sum.v[i] = get<F>(span.block[i], lane) * softness;
    SpanResponse<F>::of(get_response<F>(w, lane), in).add_to(sum, in);
    here.add_to(sum, out);
    const LdltT<kSpanRows, F> k = factor_ldlt(sum);
    put(span.inverse, lane, k);
    put(w.linear, lane, here.point.linear);
    put(w.angular, lane, here.point.angular);
    for (std::size_t i = 0; i < 2; ++i) {
        put(span.linear[i], lane, here.linear[i]);
        put(span.angular[i], lane, here.angular[i]);
    }
    using Column = SpanColumn<F>;
    const Mat3T<F>&p = here.point.linear, &r = here.point.angular;
    const Vec3T<F>*pl = here.linear, *pa = here.angular;
    const Column x = Column::of(k, p.x, pl[0].x, pl[1].x), y = Column::of(k, p.y, pl[0].y, pl[1].y),
                 z = Column::of(k, p.z, pl[0].z, pl[1].z);
    const Column u = Column::of(k, r.x, pa[0].x, pa[1].x), v = Column::of(k, r.y, pa[0].y, pa[1].y),
                 t = Column::of(k, r.z, pa[0].z, pa[1].z);
    response.a =
        response.a - Sym3T<F>{x.times(k, x), x.times(k, y), x.times(k, z), y.times(k, y), y.times(k, z), z.times(k, z)};
    response.b = response.b - Mat3T<F>{{x.times(k, u), x.times(k, v), x.times(k, t)},
                                       {y.times(k, u), y.times(k, v), y.times(k, t)},
                                       {z.times(k, u), z.times(k, v), z.times(k, t)}};
    response.d =
        response.d - Sym3T<F>{u.times(k, u), u.times(k, v), u.times(k, t), v.times(k, v), v.times(k, t), t.times(k, t)};
    put_response<F>(above, lane, response);
}

// What a span's rows are asked for, of what both joints are, less what their softness gives.
template <class F>
ORRERY_ONCE void span_rows(const RigTreeView& trees, std::uint32_t s, std::size_t lane, Vec3T<F> first, Vec3T<F> second,
                           F keep, F* r) {
    const F zero(0.0f), half(0.5f);
    const TreeSpanWork& span = trees.span_work[trees.slots[s].span];
    const TreeWork& w = trees.work[s];
    const Vec3T<F> across[2] = {get<F>(span.across[0], lane), get<F>(span.across[1], lane)};
    const Vec3T<F> x1 = get<F>(w.impulse, lane), x2 = get<F>(span.impulse, lane), q = (x1 - x2) * half;
    const F had[kSpanRows] = {x1.x + x2.x, x1.y + x2.y, x1.z + x2.z, dot(across[0], q), dot(across[1], q)};
    const Vec3T<F> mean = middle(first, second), apart = first - second;
    r[0] = mean.x, r[1] = mean.y, r[2] = mean.z, r[3] = dot(across[0], apart), r[4] = dot(across[1], apart);
    const F give = get<F>(w.softness, lane) * keep;
    for (std::size_t i = 0; i < kSpanRows; ++i) {
        F soft = zero;
        for (std::size_t j = 0; j < kSpanRows; ++j)
            soft = soft + get<F>(span.block[i < j ? lower_index(j, i) : lower_index(i, j)], lane) * had[j];
        r[i] = r[i] - soft * give;
    }
}
// What a solve is for, and what it asks of a joint.
enum class TreeSolve { velocities, relax, poses };

// Up: the right-hand side, and what the parent is left to do.
template <class F>
ORRERY_ONCE void reduce_span(const StepContext& context, const RigTreeView& trees, std::uint32_t s, std::size_t lane,
                             TreeSolve solve) {
    const F zero(0.0f), one(1.0f), h(context.step.h_s), inverse_h(context.step.inverse_h);
    const bool relax = solve == TreeSolve::relax;
    const TreeSlot& slot = trees.slots[s];
    TreeSpanWork& span = trees.span_work[slot.span];
    TreeWork &w = trees.work[s], &above = trees.work[slot.parent];
    const SpanSide<F> in = span_side<F>(w, span, lane), out = span_side_above<F>(w, span, lane);
    const F keep = relax ? get<F>(w.is_user_spring, lane) : one;
    F r[kSpanRows];
    if (solve == TreeSolve::poses) {
        span_rows<F>(trees, s, lane, (get<F>(w.goal, lane) - get<F>(w.error, lane)) * inverse_h,
                     (get<F>(span.goal, lane) - get<F>(span.error, lane)) * inverse_h, keep, r);
        for (F& row : r) row = rigid_only(get<F>(w.is_user_spring, lane), row);
    } else {
        const VelocityT<F> v = gather_velocity<F>(context.velocity->linear, slot.body + lane),
                           parent = gather_velocity<F>(context.velocity->linear, trees.slots[slot.parent].body + lane);
        const F curve = relax ? zero : curving(v.angular, h), curve_above = relax ? zero : curving(parent.angular, h);
        const Vec3T<F> first = -(
                           come_apart(v, get<F>(w.in_arm, lane), curve, parent, get<F>(w.out_arm, lane), curve_above) +
                           get<F>(relax ? w.held_bias : w.bias, lane) * keep),
                       second = -(come_apart(v, get<F>(span.in_arm, lane), curve, parent, get<F>(span.out_arm, lane),
                                             curve_above) +
                                  get<F>(relax ? span.held_bias : span.bias, lane) * keep);
        span_rows<F>(trees, s, lane, first, second, keep, r);
    }
    const SpanVec<F> own = in.speed(get<F>(w.u_linear, lane), get<F>(w.u_angular, lane));
    const Vec3T<F> up = get<F>(above.u_linear, lane), turn = get<F>(above.u_angular, lane);
    const SpanVec<F> there = out.speed(up, turn);
    r[0] = (r[0] - own.s.x) + there.s.x, r[1] = (r[1] - own.s.y) + there.s.y, r[2] = (r[2] - own.s.z) + there.s.z;
    r[3] = (r[3] - own.q[0]) + there.q[0], r[4] = (r[4] - own.q[1]) + there.q[1];
    put(w.reduced, lane, Vec3T<F>{r[0], r[1], r[2]});
    put(span.reduced[0], lane, r[3]);
    put(span.reduced[1], lane, r[4]);
    solve_ldlt(get<F>(span.inverse, lane), r);
    const Vec3T<F> y{r[0], r[1], r[2]};
    put(above.u_linear, lane,
        ((up - get<F>(w.linear, lane) * y) - get<F>(span.linear[0], lane) * r[3]) -
            get<F>(span.linear[1], lane) * r[4]);
    put(above.u_angular, lane,
        ((turn - get<F>(w.angular, lane) * y) - get<F>(span.angular[0], lane) * r[3]) -
            get<F>(span.angular[1], lane) * r[4]);
}

// Down: the impulses.
template <class F>
ORRERY_ONCE void substitute_span(const RigTreeView& trees, std::uint32_t s, std::size_t lane, MaskOf<F> solved) {
    const TreeSlot& slot = trees.slots[s];
    TreeSpanWork& span = trees.span_work[slot.span];
    TreeWork &w = trees.work[s], &above = trees.work[slot.parent];
    const Vec3T<F> push = get<F>(above.f_linear, lane), turn = get<F>(above.f_angular, lane);
    const Vec3T<F> r = get<F>(w.reduced, lane) +
                       (transpose_times(get<F>(w.linear, lane), push) + transpose_times(get<F>(w.angular, lane), turn));
    F x[kSpanRows] = {r.x, r.y, r.z, get<F>(span.reduced[0], lane), get<F>(span.reduced[1], lane)};
    for (std::size_t k = 0; k < 2; ++k)
        x[3 + k] = x[3 + k] + (dot(get<F>(span.linear[k], lane), push) + dot(get<F>(span.angular[k], lane), turn));
    solve_ldlt(get<F>(span.inverse, lane), x);
    const SpanVec<F> change{{x[0], x[1], x[2]}, {x[3], x[4]}};
    const Vec3T<F> mean = change.s * F(0.5f),
                   q = get<F>(span.across[0], lane) * change.q[0] + get<F>(span.across[1], lane) * change.q[1];
    add_where<F>(w.impulse, lane, solved, mean + q);
    add_where<F>(span.impulse, lane, solved, mean - q);
    load_body(above, lane, -change.s, -span_side_above<F>(w, span, lane).torque(change));
    load_body(w, lane, change.s, span_side<F>(w, span, lane).torque(change));
}

ORRERY_LANES_END

#endif
