// The exact solve of trees, by elimination from the leaves to the root, any branching, any mass.
//
// What an impulse F (linear and angular) on body c does to its velocity, the joints below it holding: dv = u + W F, at
// first u = 0 and W = M^-1. Joint k holds body d, a child, at arm p on c at arm q; J v = v + w x p is the velocity of a
// body's point, and J^T f = (f, p x f). With r the wanted change of the joint's velocity and e D its softness,
//
//   J_d dv_d - J_c dv_c + e D x = r
//
// and the child's response J_d dv_d = J_d u_d + J_d W_d J_d^T x put into it, the joint is eliminated:
//
//   S = J_d W_d J_d^T + e D,   N = J_c W_c J_c^T,   T = (S + N)^-1,   s = r - J_d u_d + J_c u_c
//   u_c -= W_c J_c^T T s,      W_c -= W_c J_c^T T J_c W_c
//
// one child after the other, and then c is the next child. From the root down, children in the opposite order:
//
//   x = T (s + J_c W_c F_c),   F_c -= J_c^T x,   F_d = J_d^T x
//
// with the W_c of the joint's turn. Inverse masses are all that is needed, so that bodies that do not move or turn are
// like any other. The differences lose digits as the ratio of what hangs from a body to its own mass, no more.

#if defined(ORRERY_RIGS_TREE_TREE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_RIGS_TREE_TREE_INL_H_
#undef ORRERY_RIGS_TREE_TREE_INL_H_
#else
#define ORRERY_RIGS_TREE_TREE_INL_H_
#endif

#include "sim/rigs/tree/tree_span-inl.h"

ORRERY_LANES_BEGIN

// The part of the geometric stiffness that is implicit (rig-inl.h), of the joint to the parent, on the body or,
// `above`, on the parent. x: h^2 w^2 of that.
template <class F>
ORRERY_ONCE void stiffen_slot(const RigTreeView& trees, std::uint32_t s, bool above, std::size_t lane, F h, F x) {
    const TreeSlot& slot = trees.slots[s];
    TreeWork &w = trees.work[s], &body = above ? trees.work[slot.parent] : w;
    const Vec3T<F> arm = get<F>(above ? w.out_arm : w.in_arm, lane), impulse = get<F>(w.impulse, lane);
    const Sym3T<F> inverse = get<F>(body.inertia.inverse_inertia, lane);
    const F part = implicit_share(x) * h;
    Sym3T<F> stiff = inverse;
    if (slot.span == kNone) {
        stiff = stiffened_across(inverse, arm, pull(above ? -impulse : impulse, arm) * part);
    } else {
        const TreeSpanWork& span = trees.span_work[slot.span];
        const Vec3T<F> both = impulse + get<F>(span.impulse, lane), line = span_line<F>(span, lane),
                       lever = off_line(middle(arm, get<F>(above ? span.out_arm : span.in_arm, lane)), line);
        stiff = stiffened(inverse, line, pull(above ? -both : both, lever) * part);
    }
    put(body.inertia.inverse_inertia, lane, select_sym<F>(x > F(kStiffest), stiff, inverse));
}
// Its torques, from how the two turn when the substep begins.
template <class F>
ORRERY_FN void hold_body(TreeWork& w, std::size_t lane, F h, F x, Vec3T<F> torque) {
    const Vec3T<F> had = get<F>(w.f_angular, lane);
    put(w.f_angular, lane, select<F>(x > F(kStiffest), had + torque * (implicit_share(x) * h), had));
}
template <class F>
ORRERY_ONCE void hold_slot(const StepContext& context, const RigTreeView& trees, std::uint32_t s, std::size_t lane) {
    const F h(context.step.h_s);
    const TreeSlot& slot = trees.slots[s];
    TreeWork &w = trees.work[s], &above = trees.work[slot.parent];
    const F x = h * get<F>(w.stiffness, lane), x_above = h * get<F>(above.stiffness, lane);
    if (!any((x > F(kStiffest)) | (x_above > F(kStiffest)))) return;
    const VelocityT<F> v = gather_velocity<F>(context.velocity->linear, slot.body + lane),
                       parent = gather_velocity<F>(context.velocity->linear, trees.slots[slot.parent].body + lane);
    const Sym3T<F> inertia = get<F>(w.inertia.inverse_inertia, lane),
                   inertia_above = get<F>(above.inertia.inverse_inertia, lane);
    const Vec3T<F> turns = parent.angular - v.angular;
    Vec3T<F> in = get<F>(w.in_arm, lane), out = get<F>(w.out_arm, lane), impulse = get<F>(w.impulse, lane),
             to_body = impulse, to_parent = impulse;
    if (slot.span == kNone) {
        const F back = turn_back(impulse, in, inertia), back_above = turn_back(-impulse, out, inertia_above);
        to_body = follow(in, lever_share(in, back, out, back_above), v.angular, turns, h);
        to_parent = follow(out, lever_share(out, back_above, in, back), parent.angular, -turns, h);
    } else {
        const TreeSpanWork& span = trees.span_work[slot.span];
        const Vec3T<F> line = span_line<F>(span, lane);
        in = off_line(middle(in, get<F>(span.in_arm, lane)), line),
        out = off_line(middle(out, get<F>(span.out_arm, lane)), line);
        impulse = impulse + get<F>(span.impulse, lane);
        const F back = turn_about(impulse, in, line, inertia),
                back_above = turn_about(-impulse, out, line, inertia_above);
        to_body = follow_about(line, lever_share(in, back, out, back_above), v.angular, turns, h);
        to_parent = follow_about(line, lever_share(out, back_above, in, back), parent.angular, -turns, h);
    }
    hold_body(w, lane, h, x, to_body * pull(impulse, in));
    hold_body(above, lane, h, x_above, to_parent * pull(-impulse, out));
}

// What depends on the poses: arms, blocks, errors, and the elimination of all but the right-hand side. bits: lanes
// whose bodies have moved; others are computed again from what they were.
template <class F>
ORRERY_ONCE void refresh_tree(const StepContext& context, const RigTreeView& trees, std::size_t lane,
                              std::uint32_t bits) {
    const MaskOf<F> moved = lanes_with<F>(bits);
    const F zero(0.0f), h(context.step.h_s);
    const std::uint32_t links = trees.bundle->links;
    TreeWork* const work = trees.work;
    for (std::uint32_t s = 0; s <= links; ++s) {
        put(work[s].inertia, lane, gather_inertia<F>(context.inertia->inverse_inertia, trees.slots[s].body + lane));
        put(work[s].stiffness, lane, zero);
    }
    for (std::uint32_t s = 1; s <= links; ++s) {
        const TreeSlot& slot = trees.slots[s];
        TreeWork &w = work[s], &above = work[slot.parent];
        const PoseT<F> pose = gather_pose<F>(context.pose->position, slot.body + lane),
                       parent = gather_pose<F>(context.pose->position, trees.slots[slot.parent].body + lane);
        const Vec3T<F> in = rotate(pose.orientation, get<F>(slot.in, lane)),
                       out = rotate(parent.orientation, get<F>(slot.out, lane)), impulse = get<F>(w.impulse, lane);
        put(w.in_arm, lane, in);
        put(w.out_arm, lane, out);
        if (slot.span != kNone) {
            refresh_span<F>(context, trees, s, lane, moved);
        } else {
            put(w.stiffness, lane,
                get<F>(w.stiffness, lane) + turn_back(impulse, in, get<F>(w.inertia.inverse_inertia, lane)));
            put(above.stiffness, lane,
                get<F>(above.stiffness, lane) + turn_back(-impulse, out, get<F>(above.inertia.inverse_inertia, lane)));
        }
        put(w.error, lane, ((pose.position - parent.position) - out) + in);
    }
    for (std::uint32_t s = 1; s <= links; ++s) {
        const TreeSlot& slot = trees.slots[s];
        TreeWork &w = work[s], &above = work[slot.parent];
        const F x = h * get<F>(w.stiffness, lane), x_above = h * get<F>(above.stiffness, lane);
        if (any(x > F(kStiffest))) stiffen_slot<F>(trees, s, false, lane, h, x);
        if (any(x_above > F(kStiffest))) stiffen_slot<F>(trees, s, true, lane, h, x_above);
    }
    for (std::uint32_t s = 0; s <= links; ++s) {
        const TreeSlot& slot = trees.slots[s];
        TreeWork& w = work[s];
        const InertiaT<F> mass = get<F>(w.inertia, lane);
        put_response<F>(w, lane, own_response(mass));
        if (s > 0 && slot.span != kNone)
            put_span_block<F>(trees, s, lane);
        else if (s > 0)
            put(w.block, lane,
                point_response(get<F>(w.in_arm, lane), get<F>(w.out_arm, lane), mass,
                               get<F>(work[slot.parent].inertia, lane)));
    }
    for (std::uint32_t s = links; s > 0; --s) {
        if (trees.slots[s].span != kNone) {
            eliminate_span<F>(trees, s, lane);
            continue;
        }
        TreeWork &w = work[s], &above = work[trees.slots[s].parent];
        const Vec3T<F> in = get<F>(w.in_arm, lane), out = get<F>(w.out_arm, lane);
        Sym6T<F> response = get_response<F>(above, lane);
        const PointResponse<F> below = PointResponse<F>::of(get_response<F>(w, lane), in);
        const PointResponse<F> here = PointResponse<F>::of(response, out);
        const Sym3T<F> t =
            inverse_or_zero((below.at(in) + here.at(out)) + get<F>(w.block, lane) * get<F>(w.softness, lane));
        put(w.inverse, lane, t);
        put(w.linear, lane, here.linear);
        put(w.angular, lane, here.angular);
        const Mat3T<F> mixed = (here.linear * to_full(t)) * transpose(here.angular);
        response.a = response.a - sandwich(here.linear, t);
        response.b = response.b - mixed;
        response.d = response.d - sandwich(here.angular, t);
        put_response<F>(above, lane, response);
    }
}

// To contacts and other joints: the inertia that the solve works with.
template <class F>
ORRERY_ONCE void show_tree(const StepContext& context, const RigTreeView& trees, std::size_t lane) {
    for (std::uint32_t s = 0; s <= trees.bundle->links; ++s) {
        const TreeSlot& slot = trees.slots[s];
        scatter_inertia<F>(context.inertia->inverse_inertia, slot.body + lane,
                           vector_bits<F>(slot.dynamic & trees.bundle->awake, lane),
                           get<F>(trees.work[s].inertia, lane));
    }
}

// What the joint to the parent misses, m; of no span.
template <class F>
ORRERY_FN Vec3T<F> miss_tree(const StepContext& context, const TreeWork& w, std::size_t lane) {
    const Vec3T<F> gives = (get<F>(w.block, lane) * get<F>(w.impulse, lane)) * get<F>(w.softness, lane);
    return rigid_only(get<F>(w.is_user_spring, lane),
                      (get<F>(w.error, lane) - get<F>(w.goal, lane)) + gives * F(context.step.h_s));
}
// What is asked of the next substep.
template <class F>
ORRERY_FN void aim(const StepContext& context, const JointSpring<F>& spring, std::size_t lane, const Vec3Rows& error,
                   Vec3Rows& goal, Vec3Rows& bias, Vec3Rows& held_bias) {
    const Vec3T<F> apart = get<F>(error, lane), asked = joint_bias(apart, spring, context.step);
    put(held_bias, lane, get<F>(bias, lane));
    put(bias, lane, asked);
    put(goal, lane, joint_goal(apart, asked, context.step));
}
template <class F>
ORRERY_ONCE void aim_tree(const StepContext& context, const RigTreeView& trees, std::size_t lane) {
    for (std::uint32_t s = 1; s <= trees.bundle->links; ++s) {
        TreeWork& w = trees.work[s];
        const JointSpring<F> spring{get<F>(w.softness, lane), get<F>(w.rate, lane), get<F>(w.is_user_spring, lane)};
        aim<F>(context, spring, lane, w.error, w.goal, w.bias, w.held_bias);
        if (trees.slots[s].span == kNone) continue;
        TreeSpanWork& span = trees.span_work[trees.slots[s].span];
        aim<F>(context, spring, lane, span.error, span.goal, span.bias, span.held_bias);
    }
}

// Changes of the bodies' impulses act on them, in the lanes with these bits.
template <class F>
ORRERY_ONCE void push_tree(const StepContext& context, const RigTreeView& trees, std::uint32_t s, std::size_t lane,
                           std::uint32_t bits) {
    const TreeSlot& slot = trees.slots[s];
    const TreeWork& w = trees.work[s];
    VelocityT<F> v = gather_velocity<F>(context.velocity->linear, slot.body + lane);
    add_impulse(v, get<F>(w.inertia, lane), get<F>(w.f_linear, lane), get<F>(w.f_angular, lane));
    scatter_velocity<F>(context.velocity->linear, slot.body + lane, bits & vector_bits<F>(slot.dynamic, lane), v);
}
template <class F>
ORRERY_ONCE void move_tree(const StepContext& context, const RigTreeView& trees, std::uint32_t s, std::size_t lane,
                           std::uint32_t bits) {
    const F zero(0.0f);
    const TreeSlot& slot = trees.slots[s];
    const TreeWork& w = trees.work[s];
    const Vec3T<F> none{zero, zero, zero};
    VelocityT<F> change{none, none};
    add_impulse(change, get<F>(w.inertia, lane), get<F>(w.f_linear, lane), get<F>(w.f_angular, lane));
    refine_body<F>(context, slot.body + lane, bits & vector_bits<F>(slot.dynamic, lane), change);
}
template <class F>
ORRERY_FN std::uint32_t awake_bits(const RigTreeView& trees, std::size_t lane) {
    return vector_bits<F>(trees.bundle->awake, lane);
}
// Of the lanes with these bits.
template <class F>
ORRERY_ONCE void solve_tree(const StepContext& context, const RigTreeView& trees, std::size_t lane, TreeSolve solve,
                            std::uint32_t bits) {
    const MaskOf<F> solved = lanes_with<F>(bits);
    const F zero(0.0f), one(1.0f), h(context.step.h_s);
    const bool relax = solve == TreeSolve::relax;
    const Vec3T<F> none{zero, zero, zero};
    const std::uint32_t links = trees.bundle->links;
    TreeWork* const work = trees.work;
    for (std::uint32_t s = 0; s <= links; ++s) {
        put(work[s].u_linear, lane, none);
        put(work[s].u_angular, lane, none);
        put(work[s].f_linear, lane, none);
        put(work[s].f_angular, lane, none);
    }
    for (std::uint32_t s = links; s > 0; --s) {
        const TreeSlot& slot = trees.slots[s];
        if (slot.span != kNone) {
            reduce_span<F>(context, trees, s, lane, solve);
            continue;
        }
        TreeWork &w = work[s], &above = work[slot.parent];
        const Vec3T<F> in = get<F>(w.in_arm, lane), out = get<F>(w.out_arm, lane);
        Vec3T<F> asked = none;
        if (solve == TreeSolve::poses) {
            asked = miss_tree<F>(context, w, lane) * F(-context.step.inverse_h);
        } else {
            const VelocityT<F> v = gather_velocity<F>(context.velocity->linear, slot.body + lane),
                               parent =
                                   gather_velocity<F>(context.velocity->linear, trees.slots[slot.parent].body + lane);
            const F keep = relax ? get<F>(w.is_user_spring, lane) : one;
            const Vec3T<F> held = get<F>(relax ? w.held_bias : w.bias, lane) +
                                  (get<F>(w.block, lane) * get<F>(w.impulse, lane)) * get<F>(w.softness, lane);
            const F curve = relax ? zero : curving(v.angular, h),
                    curve_above = relax ? zero : curving(parent.angular, h);
            asked = -(come_apart(v, in, curve, parent, out, curve_above) + held * keep);
        }
        const Vec3T<F> own = get<F>(w.u_linear, lane) + cross(get<F>(w.u_angular, lane), in);
        const Vec3T<F> up = get<F>(above.u_linear, lane), turn = get<F>(above.u_angular, lane);
        const Vec3T<F> reduced = (asked - own) + (up + cross(turn, out));
        put(w.reduced, lane, reduced);
        const Vec3T<F> y = get<F>(w.inverse, lane) * reduced;
        put(above.u_linear, lane, up - get<F>(w.linear, lane) * y);
        put(above.u_angular, lane, turn - get<F>(w.angular, lane) * y);
    }
    for (std::uint32_t s = 1; s <= links; ++s) {
        if (trees.slots[s].span != kNone) {
            substitute_span<F>(trees, s, lane, solved);
            continue;
        }
        TreeWork &w = work[s], &above = work[trees.slots[s].parent];
        const Vec3T<F> acted = transpose_times(get<F>(w.linear, lane), get<F>(above.f_linear, lane)) +
                               transpose_times(get<F>(w.angular, lane), get<F>(above.f_angular, lane));
        const Vec3T<F> change = get<F>(w.inverse, lane) * (get<F>(w.reduced, lane) + acted);
        add_where<F>(w.impulse, lane, solved, change);
        load_body(above, lane, -change, -cross(get<F>(w.out_arm, lane), change));
        load_body(w, lane, change, cross(get<F>(w.in_arm, lane), change));
    }
    for (std::uint32_t s = 0; s <= links; ++s) {
        if (solve == TreeSolve::poses)
            move_tree<F>(context, trees, s, lane, bits);
        else
            push_tree<F>(context, trees, s, lane, bits);
    }
}

// beyond_miss of a joint to the parent, and of the second one of a span.
template <class F>
ORRERY_ONCE F missed_tree(const StepContext& context, const RigTreeView& trees, std::uint32_t s, std::size_t lane,
                          F tolerated) {
    const F h(context.step.h_s);
    const TreeSlot& slot = trees.slots[s];
    const TreeWork& w = trees.work[s];
    const Vec3T<F> in = get<F>(w.in_arm, lane), out = get<F>(w.out_arm, lane);
    const F levers = lever_squared(in, get<F>(w.inertia.inverse_inertia, lane)) +
                     lever_squared(out, get<F>(trees.work[slot.parent].inertia.inverse_inertia, lane));
    const F reach = reach_squared(gather_pose<F>(context.pose->position, slot.body + lane).position, in, out);
    if (slot.span == kNone) return beyond_miss(miss_tree<F>(context, w, lane), levers, reach, tolerated);
    const TreeSpanWork& span = trees.span_work[slot.span];
    F r[kSpanRows];
    span_rows<F>(trees, s, lane, (get<F>(w.goal, lane) - get<F>(w.error, lane)),
                 (get<F>(span.goal, lane) - get<F>(span.error, lane)), h, r);
    for (F& row : r) row = rigid_only(get<F>(w.is_user_spring, lane), row);
    return max(beyond_miss(Vec3T<F>{r[0], r[1], r[2]}, levers, reach, tolerated),
               beyond_miss(Vec3T<F>{r[3], r[4], F(0.0f)}, levers, reach, tolerated));
}
// The poses have moved: where they miss what was asked for.
template <class F>
ORRERY_ONCE void refine_tree(const StepContext& context, const RigTreeView& trees, std::size_t lane) {
    refresh_tree<F>(context, trees, lane, awake_bits<F>(trees, lane));
    const F tolerated =
        may_miss<F>(vector_bits<F>(trees.bundle->acted_on, lane), vector_bits<F>(trees.bundle->locked, lane));
    for (std::uint32_t k = 0; k < kMostRefinements; ++k) {
        F most(0.0f);
        for (std::uint32_t s = 1; s <= trees.bundle->links; ++s)
            most = max(missed_tree<F>(context, trees, s, lane, tolerated), most);
        const std::uint32_t misses = lanes_beyond(most) & awake_bits<F>(trees, lane);
        if (misses == 0) break;
        solve_tree<F>(context, trees, lane, TreeSolve::poses, misses);
        refresh_tree<F>(context, trees, lane, misses);
    }
    aim_tree<F>(context, trees, lane);
}

// ---- passes, of the trees from `lane` on

template <class F>
ORRERY_ONCE void prepare_tree(const StepContext& context, const RigTreeView& trees, std::size_t lane) {
    const F zero(0.0f), h(context.step.h_s);
    const Vec3T<F> none{zero, zero, zero};
    for (std::uint32_t s = 0; s <= trees.bundle->links; ++s) {
        const TreeSlot& slot = trees.slots[s];
        TreeWork& w = trees.work[s];
        const JointSpring<F> spring = joint_spring(get<F>(slot.frequency_hz, lane), get<F>(slot.damping_ratio, lane),
                                                   get<F>(trees.bundle->compliance, lane), context.step);
        put(w.softness, lane, spring.softness);
        put(w.rate, lane, spring.rate);
        put(w.is_user_spring, lane, spring.is_user_spring);
        put(w.bias, lane, none);
        put(w.impulse, lane, load_force(trees.forces, slot.force + lane, get<F>(slot.sign, lane)) * h);
        put(w.total, lane, none);
        if (slot.span == kNone) continue;
        const TreeSpan& joint = trees.spans[slot.span];
        TreeSpanWork& span = trees.span_work[slot.span];
        put(span.bias, lane, none);
        put(span.impulse, lane, load_force(trees.forces, joint.force + lane, get<F>(joint.sign, lane)) * h);
        put(span.total, lane, none);
    }
    refresh_tree<F>(context, trees, lane, awake_bits<F>(trees, lane));
    aim_tree<F>(context, trees, lane);
}

template <class F>
ORRERY_ONCE void warm_start_tree(const StepContext& context, const RigTreeView& trees, std::size_t lane) {
    const F zero(0.0f);
    const Vec3T<F> none{zero, zero, zero};
    put(trees.work[0].f_linear, lane, none);
    put(trees.work[0].f_angular, lane, none);
    for (std::uint32_t s = 1; s <= trees.bundle->links; ++s) {
        TreeWork& w = trees.work[s];
        const Vec3T<F> impulse = get<F>(w.impulse, lane);
        put(w.f_linear, lane, impulse);
        put(w.f_angular, lane, cross(get<F>(w.in_arm, lane), impulse));
        TreeWork& above = trees.work[trees.slots[s].parent];
        load_body(above, lane, -impulse, -cross(get<F>(w.out_arm, lane), impulse));
        hold_slot<F>(context, trees, s, lane);
        if (trees.slots[s].span == kNone) continue;
        const TreeSpanWork& span = trees.span_work[trees.slots[s].span];
        const Vec3T<F> second = get<F>(span.impulse, lane);
        load_body(w, lane, second, cross(get<F>(span.in_arm, lane), second));
        load_body(above, lane, -second, -cross(get<F>(span.out_arm, lane), second));
    }
    for (std::uint32_t s = 0; s <= trees.bundle->links; ++s)
        push_tree<F>(context, trees, s, lane, awake_bits<F>(trees, lane));
}

template <class F>
ORRERY_FN void sum_up(const RigTreeView& trees, std::size_t lane, F sign) {
    for (std::uint32_t s = 1; s <= trees.bundle->links; ++s) {
        TreeWork& w = trees.work[s];
        put(w.total, lane, get<F>(w.total, lane) + get<F>(w.impulse, lane) * sign);
    }
    for (std::uint32_t k = 0; k < trees.bundle->spans; ++k) {
        TreeSpanWork& span = trees.span_work[k];
        put(span.total, lane, get<F>(span.total, lane) + get<F>(span.impulse, lane) * sign);
    }
}

// The poses have moved, and refine_tree was called. A user's spring keeps the bias of the substep that it was
// integrated in.
template <class F>
ORRERY_FN void relax_tree(const StepContext& context, const RigTreeView& trees, std::size_t lane) {
    solve_tree<F>(context, trees, lane, TreeSolve::relax, awake_bits<F>(trees, lane));
    sum_up<F>(trees, lane, F(1.0f));
}
// In the same substep.
template <class F>
ORRERY_FN void relax_tree_again(const StepContext& context, const RigTreeView& trees, std::size_t lane) {
    sum_up<F>(trees, lane, F(-1.0f));
    solve_tree<F>(context, trees, lane, TreeSolve::relax, awake_bits<F>(trees, lane));
    sum_up<F>(trees, lane, F(1.0f));
}

template <class F>
ORRERY_ONCE void finish_tree(const StepContext& context, const RigTreeView& trees, std::size_t lane) {
    const F inverse_h(context.step.inverse_h);
    for (std::uint32_t s = 1; s <= trees.bundle->links; ++s) {
        const TreeSlot& slot = trees.slots[s];
        store_force(trees.forces, slot.force + lane, vector_bits<F>(slot.jointed & trees.bundle->awake, lane),
                    get<F>(slot.sign, lane), get<F>(trees.work[s].impulse, lane) * inverse_h,
                    get<F>(trees.work[s].total, lane), context.step);
        if (slot.span == kNone) continue;
        const TreeSpan& joint = trees.spans[slot.span];
        const TreeSpanWork& span = trees.span_work[slot.span];
        store_force(trees.forces, joint.force + lane, vector_bits<F>(slot.jointed & trees.bundle->awake, lane),
                    get<F>(joint.sign, lane), get<F>(span.impulse, lane) * inverse_h, get<F>(span.total, lane),
                    context.step);
    }
}

// ---- and of all trees of a bundle

#define ORRERY_FOR_EACH_TREE_VECTOR                                     \
    for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>()) \
        if (vector_bits<F>(trees.bundle->awake, lane) != 0)

template <class F>
void prepare_trees(const StepContext& context, const RigTreeView& trees) {
    ORRERY_FOR_EACH_TREE_VECTOR {
        prepare_tree<F>(context, trees, lane);
        show_tree<F>(context, trees, lane);
    }
}
template <class F>
void refresh_trees(const StepContext& context, const RigTreeView& trees) {
    ORRERY_FOR_EACH_TREE_VECTOR {
        refine_tree<F>(context, trees, lane);
        show_tree<F>(context, trees, lane);
    }
}
template <class F>
void warm_start_trees(const StepContext& context, const RigTreeView& trees) {
    ORRERY_FOR_EACH_TREE_VECTOR warm_start_tree<F>(context, trees, lane);
}
template <class F>
void solve_trees(const StepContext& context, const RigTreeView& trees) {
    ORRERY_FOR_EACH_TREE_VECTOR solve_tree<F>(context, trees, lane, TreeSolve::velocities, awake_bits<F>(trees, lane));
}
template <class F>
void relax_trees(const StepContext& context, const RigTreeView& trees) {
    ORRERY_FOR_EACH_TREE_VECTOR relax_tree<F>(context, trees, lane);
}
template <class F>
void relax_trees_again(const StepContext& context, const RigTreeView& trees) {
    ORRERY_FOR_EACH_TREE_VECTOR relax_tree_again<F>(context, trees, lane);
}
template <class F>
void finish_trees(const StepContext& context, const RigTreeView& trees) {
    ORRERY_FOR_EACH_TREE_VECTOR finish_tree<F>(context, trees, lane);
}

#undef ORRERY_FOR_EACH_TREE_VECTOR

ORRERY_LANES_END

#endif
