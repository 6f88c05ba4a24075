// Chains of any bodies that take part in the passes of the coloured solver (chain-inl.h), a pass at a time, the state
// in the body store.

#if defined(ORRERY_RIGS_CHAIN_CHAIN_COUPLED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_RIGS_CHAIN_CHAIN_COUPLED_INL_H_
#undef ORRERY_RIGS_CHAIN_CHAIN_COUPLED_INL_H_
#else
#define ORRERY_RIGS_CHAIN_CHAIN_COUPLED_INL_H_
#endif

#include "sim/rigs/chain/chain-inl.h"

ORRERY_LANES_BEGIN

// What depends on the poses: arms, blocks, errors, and the elimination of all but the right-hand side.
template <class F>
ORRERY_ONCE void refresh_coupled(const StepContext& context, const ChainView& chains, CoupledSlot* work,
                                 std::size_t lane) {
    const F h(context.step.h_s), one(1.0f), zero(0.0f);
    const std::uint32_t links = chains.bundle->links;
    const Vec3T<F> none{zero, zero, zero};
    Vec3T<F> position_before = none, out_before = none;
    Sym3T<F> response{zero, zero, zero, zero, zero, zero}, inverse = response;
    Mat3T<F> coupling{none, none, none};
    for (std::uint32_t s = 0; s <= links; ++s) {
        const ChainSlot& slot = chains.slots[s];
        CoupledSlot& w = work[s];
        const PoseT<F> pose = gather_pose<F>(context.pose->position, slot.body + lane);
        InertiaT<F> mass = gather_inertia<F>(context.inertia->inverse_inertia, slot.body + lane);
        const Vec3T<F> in = rotate(pose.orientation, get<F>(slot.in, lane)),
                       out = rotate(pose.orientation, get<F>(slot.out, lane));
        const Vec3T<F> before = get<F>(w.impulse, lane), after = s < links ? -get<F>(work[s + 1].impulse, lane) : none;
        const F stiffness = turn_back(before, in, mass.inverse_inertia) + turn_back(after, out, mass.inverse_inertia);
        if (any(h * stiffness > F(kStiffest))) {
            const F part = implicit_share(h * stiffness) * h;
            const Sym3T<F> once = stiffened_across(mass.inverse_inertia, in, pull(before, in) * part);
            const Sym3T<F> both = stiffened_across(once, out, pull(after, out) * part);
            mass.inverse_inertia = select_sym<F>(h * stiffness > F(kStiffest), both, mass.inverse_inertia);
        }
        put(w.stiffness, lane, h * stiffness);
        put(w.far_out, lane, select(length_squared(pose.position) > F(kFarOut_m * kFarOut_m), one, zero));
        put(w.in_arm, lane, in);
        put(w.out_arm, lane, out);
        put(w.inertia, lane, mass);
        if (s > 0) {
            const Sym3T<F> block = response + add_diagonal(lever_sandwich(in, mass.inverse_inertia), mass.inverse_mass);
            const F softness = get<F>(w.softness, lane);
            Sym3T<F> reduced = block * (one + softness);
            if (s > 1) reduced = reduced - sandwich(coupling, inverse);
            inverse = inverse_or_zero(reduced);
            if (chains.bundle->ragged) inverse = inverse * get<F>(chains.extras[s].active, lane);
            put(w.block, lane, block);
            put(w.inverse, lane, inverse);
            put(w.error, lane, ((pose.position - position_before) - out_before) + in);
        }
        const Mat3T<F> turned = cross_matrix(out) * (to_full(mass.inverse_inertia) * transpose(cross_matrix(in)));
        coupling = {{turned.x.x + mass.inverse_mass, turned.x.y, turned.x.z},
                    {turned.y.x, turned.y.y + mass.inverse_mass, turned.y.z},
                    {turned.z.x, turned.z.y, turned.z.z + mass.inverse_mass}};
        put(w.coupling, lane, coupling);
        response = add_diagonal(lever_sandwich(out, mass.inverse_inertia), mass.inverse_mass);
        position_before = pose.position, out_before = out;
    }
}

// What is asked of the next substep.
template <class F>
ORRERY_FN void aim_coupled(const StepContext& context, const ChainView& chains, CoupledSlot* work, std::size_t lane) {
    for (std::uint32_t s = 1; s <= chains.bundle->links; ++s) {
        CoupledSlot& w = work[s];
        const JointSpring<F> spring{get<F>(w.softness, lane), get<F>(w.rate, lane), get<F>(w.is_user_spring, lane)};
        const Vec3T<F> error = get<F>(w.error, lane), bias = joint_bias(error, spring, context.step);
        put(w.held_bias, lane, get<F>(w.bias, lane));
        put(w.bias, lane, bias);
        put(w.goal, lane, joint_goal(error, bias, context.step));
    }
}

// To contacts and other joints: the inertia that the solve works with.
template <class F>
ORRERY_ONCE void show_coupled(const StepContext& context, const ChainView& chains, const CoupledSlot* work,
                              std::size_t lane) {
    for (std::uint32_t s = 0; s <= chains.bundle->links; ++s) {
        const ChainSlot& slot = chains.slots[s];
        scatter_inertia<F>(context.inertia->inverse_inertia, slot.body + lane,
                           vector_bits<F>(slot.dynamic & chains.bundle->coupled, lane), get<F>(work[s].inertia, lane));
    }
}

// The torque of the geometric stiffness that is implicit, from how bodies turn when the substep begins.
template <class F>
ORRERY_ONCE Vec3T<F> hold_coupled(const StepContext& context, const ChainView& chains, const CoupledSlot* work,
                                  std::uint32_t s, std::size_t lane) {
    const F zero(0.0f), h(context.step.h_s);
    const Vec3T<F> none{zero, zero, zero};
    const CoupledSlot& w = work[s];
    const F x = get<F>(w.stiffness, lane);
    if (!any(x > F(kStiffest))) return none;
    const VelocityT<F> v = gather_velocity<F>(context.velocity->linear, chains.slots[s].body + lane);
    const Vec3T<F> in = get<F>(w.in_arm, lane), out = get<F>(w.out_arm, lane);
    const Sym3T<F> inertia = get<F>(w.inertia.inverse_inertia, lane);
    Vec3T<F> torque = none;
    if (s > 0) {
        const CoupledSlot& before = work[s - 1];
        const VelocityT<F> u = gather_velocity<F>(context.velocity->linear, chains.slots[s - 1].body + lane);
        const Vec3T<F> arm = get<F>(before.out_arm, lane), f = get<F>(w.impulse, lane);
        const F back = turn_back(f, in, inertia),
                back_other = turn_back(-f, arm, get<F>(before.inertia.inverse_inertia, lane));
        torque = follow(in, lever_share(in, back, arm, back_other), v.angular, u.angular - v.angular, h) * pull(f, in);
    }
    if (s < chains.bundle->links) {
        const CoupledSlot& after = work[s + 1];
        const VelocityT<F> u = gather_velocity<F>(context.velocity->linear, chains.slots[s + 1].body + lane);
        const Vec3T<F> arm = get<F>(after.in_arm, lane), f = get<F>(after.impulse, lane);
        const F back = turn_back(-f, out, inertia),
                back_other = turn_back(f, arm, get<F>(after.inertia.inverse_inertia, lane));
        torque = torque + follow(out, lever_share(out, back, arm, back_other), v.angular, u.angular - v.angular, h) *
                              pull(-f, out);
    }
    return select<F>(x > F(kStiffest), torque * (implicit_share(x) * h), none);
}

// Changes of the joints' impulses act on the bodies, and torques.
template <class F>
ORRERY_FN void push_coupled(const StepContext& context, const ChainView& chains, CoupledSlot* work, std::uint32_t s,
                            std::size_t lane, Vec3T<F> before, Vec3T<F> after, Vec3T<F> torque) {
    const ChainSlot& slot = chains.slots[s];
    const CoupledSlot& w = work[s];
    VelocityT<F> v = gather_velocity<F>(context.velocity->linear, slot.body + lane);
    const Vec3T<F> turn = cross(get<F>(w.in_arm, lane), before) - cross(get<F>(w.out_arm, lane), after);
    add_impulse(v, get<F>(w.inertia, lane), before - after, turn + torque);
    scatter_velocity<F>(context.velocity->linear, slot.body + lane,
                        vector_bits<F>(slot.dynamic & chains.bundle->coupled, lane), v);
}

// What the joint before a body misses, m.
template <class F>
ORRERY_FN Vec3T<F> miss_coupled(const StepContext& context, const CoupledSlot& w, std::size_t lane) {
    const Vec3T<F> gives = (get<F>(w.block, lane) * get<F>(w.impulse, lane)) * get<F>(w.softness, lane);
    return rigid_only(get<F>(w.is_user_spring, lane),
                      (get<F>(w.error, lane) - get<F>(w.goal, lane)) + gives * F(context.step.h_s));
}
template <class F>
ORRERY_FN F most_missed_coupled(const StepContext& context, const ChainView& chains, const CoupledSlot* work,
                                std::size_t lane) {
    const F tolerated =
        may_miss<F>(vector_bits<F>(chains.bundle->acted_on, lane), vector_bits<F>(chains.bundle->locked, lane));
    F most(0.0f);
    for (std::uint32_t s = 1; s <= chains.bundle->links; ++s) {
        const Vec3T<F> in = get<F>(work[s].in_arm, lane), out = get<F>(work[s - 1].out_arm, lane);
        const F levers = lever_squared(in, get<F>(work[s].inertia.inverse_inertia, lane)) +
                         lever_squared(out, get<F>(work[s - 1].inertia.inverse_inertia, lane));
        const F reach =
            reach_squared(gather_pose<F>(context.pose->position, chains.slots[s].body + lane).position, in, out);
        F beyond = beyond_miss(miss_coupled<F>(context, work[s], lane), levers, reach, tolerated);
        if (chains.bundle->ragged) beyond = select(get<F>(chains.extras[s].active, lane) > F(0.0f), beyond, F(0.0f));
        most = max(beyond, most);
    }
    return most;
}
// Of the lanes with these bits; refresh_coupled has been called. Impulses, velocities and poses.
template <class F>
ORRERY_ONCE void refine_once_coupled(const StepContext& context, const ChainView& chains, CoupledSlot* work,
                                     std::size_t lane, std::uint32_t bits) {
    const F zero(0.0f);
    const std::uint32_t links = chains.bundle->links;
    const MaskOf<F> misses = lanes_with<F>(bits);
    const Vec3T<F> none{zero, zero, zero};
    Vec3T<F> reduced = none;
    for (std::uint32_t s = 1; s <= links; ++s) {
        const Vec3T<F> own = miss_coupled<F>(context, work[s], lane) * F(-context.step.inverse_h);
        reduced =
            s == 1 ? own : own + get<F>(work[s - 1].coupling, lane) * (get<F>(work[s - 1].inverse, lane) * reduced);
        put(work[s].reduced, lane, reduced);
    }
    Vec3T<F> after = none;
    for (std::uint32_t s = links + 1; s-- > 0;) {
        CoupledSlot& w = work[s];
        Vec3T<F> change = none;
        if (s > 0) {
            change =
                get<F>(w.inverse, lane) * (get<F>(w.reduced, lane) + transpose_times(get<F>(w.coupling, lane), after));
            add_where<F>(w.impulse, lane, misses, change);
        }
        VelocityT<F> v{none, none};
        add_impulse(v, get<F>(w.inertia, lane), change - after,
                    cross(get<F>(w.in_arm, lane), change) - cross(get<F>(w.out_arm, lane), after));
        refine_body<F>(context, chains.slots[s].body + lane, bits & vector_bits<F>(chains.slots[s].dynamic, lane), v);
        after = change;
    }
}
// The poses have moved: where they miss what was asked for.
template <class F>
ORRERY_FN void refine_coupled(const StepContext& context, const ChainView& chains, CoupledSlot* work,
                              std::size_t lane) {
    refresh_coupled<F>(context, chains, work, lane);
    for (std::uint32_t k = 0; k < kMostRefinements; ++k) {
        const std::uint32_t misses = lanes_beyond(most_missed_coupled<F>(context, chains, work, lane)) &
                                     vector_bits<F>(chains.bundle->coupled, lane);
        if (misses == 0) break;
        refine_once_coupled<F>(context, chains, work, lane, misses);
        refresh_coupled<F>(context, chains, work, lane);
    }
    aim_coupled<F>(context, chains, work, lane);
}

template <class F>
ORRERY_ONCE void solve_coupled(const StepContext& context, const ChainView& chains, CoupledSlot* work, std::size_t lane,
                               bool relax) {
    const std::uint32_t links = chains.bundle->links;
    const F zero(0.0f), one(1.0f);
    const Vec3T<F> none{zero, zero, zero};
    const bool again = work->solves > 0;
    Vec3T<F> linear_before = none, tangent_before = none, bend_before = none, reduced = none;
    for (std::uint32_t s = 0; s <= links; ++s) {
        CoupledSlot& w = work[s];
        const VelocityT<F> v = gather_velocity<F>(context.velocity->linear, chains.slots[s].body + lane);
        const F curve = relax ? zero : curving(v.angular, F(context.step.h_s));
        const Vec3T<F> tangent = cross(v.angular, get<F>(w.in_arm, lane));
        if (s > 0) {
            const F keep = relax ? get<F>(w.is_user_spring, lane) : one;
            const Vec3T<F> held = get<F>(relax ? w.held_bias : w.bias, lane) +
                                  (get<F>(w.block, lane) * get<F>(w.impulse, lane)) * get<F>(w.softness, lane);
            Vec3T<F> rest = (v.linear - linear_before) + (tangent - tangent_before);
            if (!relax) {
                Vec3T<F> bend = cross(v.angular, tangent) * curve - bend_before;
                if (again) bend = select<F>(get<F>(w.far_out, lane) > zero, get<F>(w.bend, lane), bend);
                put(w.bend, lane, bend);
                rest = rest + bend;
            }
            const Vec3T<F> own = -(rest + held * keep);
            reduced =
                s == 1 ? own : own + get<F>(work[s - 1].coupling, lane) * (get<F>(work[s - 1].inverse, lane) * reduced);
            put(w.reduced, lane, reduced);
        }
        linear_before = v.linear, tangent_before = cross(v.angular, get<F>(w.out_arm, lane));
        bend_before = cross(v.angular, tangent_before) * curve;
    }
    Vec3T<F> after = none;
    for (std::uint32_t s = links + 1; s-- > 0;) {
        CoupledSlot& w = work[s];
        Vec3T<F> change = none;
        if (s > 0) {
            const Vec3T<F> coupled = transpose_times(get<F>(w.coupling, lane), after);
            change = get<F>(w.inverse, lane) * (get<F>(w.reduced, lane) + coupled);
            put(w.impulse, lane, get<F>(w.impulse, lane) + change);
        }
        push_coupled<F>(context, chains, work, s, lane, change, after, none);
        after = change;
    }
}

#define ORRERY_FOR_EACH_COUPLED_VECTOR                                  \
    for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>()) \
        if (vector_bits<F>(chains.bundle->coupled, lane) != 0)

template <class F>
void prepare_chains(const StepContext& context, const ChainView& chains, CoupledSlot* work) {
    const F zero(0.0f), h(context.step.h_s);
    ORRERY_FOR_EACH_COUPLED_VECTOR {
        for (std::uint32_t s = 0; s <= chains.bundle->links; ++s) {
            CoupledSlot& w = work[s];
            const JointSpring<F> spring = joint_spring<F>(chains, s, lane, context.step);
            put(w.softness, lane, spring.softness);
            put(w.rate, lane, spring.rate);
            put(w.is_user_spring, lane, spring.is_user_spring);
            put(w.impulse, lane, load_force<F>(chains, s, lane) * h);
            put(w.total, lane, Vec3T<F>{zero, zero, zero});
        }
        refresh_coupled<F>(context, chains, work, lane);
        aim_coupled<F>(context, chains, work, lane);
        show_coupled<F>(context, chains, work, lane);
    }
}

template <class F>
void warm_start_chains(const StepContext& context, const ChainView& chains, CoupledSlot* work) {
    const F zero(0.0f);
    work->solves = 0;
    ORRERY_FOR_EACH_COUPLED_VECTOR {
        for (std::uint32_t s = 0; s <= chains.bundle->links; ++s)
            put(work[s].reduced, lane, hold_coupled<F>(context, chains, work, s, lane));
        for (std::uint32_t s = 0; s <= chains.bundle->links; ++s) {
            Vec3T<F> after{zero, zero, zero};
            if (s < chains.bundle->links) after = get<F>(work[s + 1].impulse, lane);
            push_coupled<F>(context, chains, work, s, lane, get<F>(work[s].impulse, lane), after,
                            get<F>(work[s].reduced, lane));
        }
    }
}

template <class F>
void solve_chains(const StepContext& context, const ChainView& chains, CoupledSlot* work) {
    ORRERY_FOR_EACH_COUPLED_VECTOR solve_coupled<F>(context, chains, work, lane, false);
    ++work->solves;
}

template <class F>
ORRERY_FN void sum_up(const ChainView& chains, CoupledSlot* work, std::size_t lane, F sign) {
    for (std::uint32_t s = 1; s <= chains.bundle->links; ++s) {
        CoupledSlot& w = work[s];
        put(w.total, lane, get<F>(w.total, lane) + get<F>(w.impulse, lane) * sign);
    }
}

// The poses have moved. A user's spring keeps the bias of the substep that it was integrated in.
template <class F>
void refresh_chains(const StepContext& context, const ChainView& chains, CoupledSlot* work) {
    ORRERY_FOR_EACH_COUPLED_VECTOR {
        refine_coupled<F>(context, chains, work, lane);
        show_coupled<F>(context, chains, work, lane);
    }
}
template <class F>
void relax_chains(const StepContext& context, const ChainView& chains, CoupledSlot* work) {
    ORRERY_FOR_EACH_COUPLED_VECTOR {
        solve_coupled<F>(context, chains, work, lane, true);
        sum_up<F>(chains, work, lane, F(1.0f));
    }
}
// In the same substep.
template <class F>
void relax_chains_again(const StepContext& context, const ChainView& chains, CoupledSlot* work) {
    ORRERY_FOR_EACH_COUPLED_VECTOR {
        sum_up<F>(chains, work, lane, F(-1.0f));
        solve_coupled<F>(context, chains, work, lane, true);
        sum_up<F>(chains, work, lane, F(1.0f));
    }
}

template <class F>
void finish_chains(const StepContext& context, const ChainView& chains, CoupledSlot* work) {
    const F inverse_h(context.step.inverse_h);
    ORRERY_FOR_EACH_COUPLED_VECTOR {
        for (std::uint32_t s = 1; s <= chains.bundle->links; ++s)
            store_force<F>(chains, s, lane, vector_bits<F>(chains.slots[s].jointed & chains.bundle->coupled, lane),
                           get<F>(work[s].impulse, lane) * inverse_h, get<F>(work[s].total, lane), context.step);
    }
}

#undef ORRERY_FOR_EACH_COUPLED_VECTOR

ORRERY_LANES_END

#endif
