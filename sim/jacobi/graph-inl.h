// Iterations over all joints of a rig at once (Jacobi), for rigs of any shape.
//
// The velocities that the impulses x of the joints make are v + M^-1 J^T x; wanted is (A + e D) x = r with A = J M^-1 J^T,
// D its diagonal blocks, e the softness. One iteration goes over the joints, each by itself, and then over the bodies:
//
//   z = P^-1 (-(J v + bias + e D x)),   d <- keep d + step z,   x += d,   v += M^-1 J^T d
//
// Mass splitting. A body that n joints hold counts n times as light in P: with P = J (n M^-1) J^T + e D, taken block by
// block, the eigenvalues of P^-1 (A + e D) are at most 1 whatever the graph and the masses (Tonge, Benevolenski, Voroshilov
// 2012: each joint holds a body of its own, and their mean is the body). `keep` and `step` are then those of Chebyshev's
// polynomials over [a, 1] (make_graph_steps), and x begins at 0 in each substep: an impulse that one iteration can hardly
// reach must not be carried on, for what it gets wrong would grow from tick to tick.
//
// Block Jacobi is the same with P = (1 + e) D, keep 0 and step 1, and begins with the impulses of the last substep.

#if defined(ORRERY_JACOBI_GRAPH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_JACOBI_GRAPH_INL_H_
#undef ORRERY_JACOBI_GRAPH_INL_H_
#else
#define ORRERY_JACOBI_GRAPH_INL_H_
#endif

#include "sim/jacobi/rig-inl.h"

ORRERY_LANES_BEGIN

#define ORRERY_FOR_EACH_JOINT_VECTOR                                                     \
    for (GraphJoints* j = g.joints; j != g.joints + g.graph->joints; ++j)                \
        for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>())              \
            if (vector_bits<F>(j->jointed, lane) != 0)
#define ORRERY_FOR_EACH_BODY_VECTOR                                                      \
    for (GraphBodies* b = g.bodies; b != g.bodies + g.graph->bodies; ++b)                \
        for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>())              \
            if (vector_bits<F>(b->dynamic, lane) != 0)

template <class F>
ORRERY_FN Vec3T<F> load_change(const GraphView& g, const std::uint32_t* rows) {
    F c[kQuadFloats];
    Quads<F>::gather(g.change->force, rows, c);
    return {c[0], c[1], c[2]};
}
// Of all lanes: those without a joint have rows of their own.
template <class F>
ORRERY_FN void store_change(const GraphView& g, const std::uint32_t* rows, Vec3T<F> change) {
    const F c[kQuadFloats] = {change.x, change.y, change.z, F(0.0f)};
    Quads<F>::scatter(g.change->force, rows, (1u << lanes<F>()) - 1u, c);
}

// v += M^-1 J^T d
template <class F>
ORRERY_ONCE void push_graph(const StepContext& context, const GraphView& g) {
    const F zero(0.0f);
    ORRERY_FOR_EACH_BODY_VECTOR {
        Vec3T<F> linear{zero, zero, zero}, angular = linear;
        for (std::uint32_t k = 0; k < b->sides; ++k) {
            const GraphSides& side = g.sides[b->first + k];
            const Vec3T<F> change = load_change<F>(g, side.change + lane) * get<F>(side.sign, lane);
            linear = linear + change;
            angular = angular + cross(get<F>(side.arm, lane), change);
        }
        VelocityT<F> v = gather_velocity<F>(context.velocity->linear, b->body + lane);
        add_impulse(v, gather_inertia<F>(g.inertia->inverse_inertia, b->body + lane), linear, angular);
        scatter_velocity<F>(context.velocity->linear, b->body + lane, vector_bits<F>(b->dynamic, lane), v);
    }
}

template <class F>
ORRERY_ONCE void refresh_graph(const StepContext& context, const GraphView& g) {
    const StepConstants& step = context.step;
    const F zero(0.0f), h(step.h_s);
    ORRERY_FOR_EACH_JOINT_VECTOR store_change(g, j->change + lane, get<F>(j->impulse, lane));
    ORRERY_FOR_EACH_BODY_VECTOR {
        const PoseT<F> pose = gather_pose<F>(context.pose->position, b->body + lane);
        InertiaT<F> mass = gather_inertia<F>(context.inertia->inverse_inertia, b->body + lane);
        F stiffness = zero;
        for (std::uint32_t k = 0; k < b->sides; ++k) {
            GraphSides& side = g.sides[b->first + k];
            const Vec3T<F> arm = rotate(pose.orientation, get<F>(side.at, lane));
            put(side.arm, lane, arm);
            stiffness = stiffness + turn_back(load_change<F>(g, side.change + lane) * get<F>(side.sign, lane), arm, mass.inverse_inertia);
        }
        mass.inverse_inertia = mass.inverse_inertia * stiffened(h * stiffness);
        scatter_inertia<F>(g.inertia->inverse_inertia, b->body + lane, vector_bits<F>(b->dynamic, lane), mass);
    }
    ORRERY_FOR_EACH_JOINT_VECTOR {
        const PoseT<F> a = gather_pose<F>(context.pose->position, j->body_a + lane),
                       b = gather_pose<F>(context.pose->position, j->body_b + lane);
        const InertiaT<F> ia = gather_inertia<F>(g.inertia->inverse_inertia, j->body_a + lane),
                          ib = gather_inertia<F>(g.inertia->inverse_inertia, j->body_b + lane);
        const Vec3T<F> ra = rotate(a.orientation, get<F>(j->at_a, lane)), rb = rotate(b.orientation, get<F>(j->at_b, lane));
        put(j->arm_a, lane, ra);
        put(j->arm_b, lane, rb);
        const Sym3T<F> of_a = add_diagonal(lever_sandwich(ra, ia.inverse_inertia), ia.inverse_mass),
                       of_b = add_diagonal(lever_sandwich(rb, ib.inverse_inertia), ib.inverse_mass);
        const Sym3T<F> block = of_a + of_b;
        const JointSpring<F> spring{get<F>(j->softness, lane), get<F>(j->rate, lane), get<F>(j->keep, lane)};
        put(j->block, lane, block);
        put(j->inverse, lane,
            inverse_or_zero((of_a * get<F>(j->split_a, lane) + of_b * get<F>(j->split_b, lane)) + block * spring.softness));
        put(j->held_bias, lane, get<F>(j->bias, lane));
        put(j->bias, lane, joint_bias((b.position + rb) - (a.position + ra), spring, step));
    }
}

template <class F>
ORRERY_ONCE void iterate_graph(const StepContext& context, const GraphView& g, bool relax) {
    const F zero(0.0f), one(1.0f);
    ORRERY_FOR_EACH_JOINT_VECTOR put(j->change_now, lane, Vec3T<F>{zero, zero, zero});
    for (std::uint32_t n = 0; n < g.graph->steps; ++n) {
        const F keep_change(g.graph->step[n].keep), step(g.graph->step[n].step);
        ORRERY_FOR_EACH_JOINT_VECTOR {
            const VelocityT<F> a = gather_velocity<F>(context.velocity->linear, j->body_a + lane),
                               b = gather_velocity<F>(context.velocity->linear, j->body_b + lane);
            const F keep = relax ? get<F>(j->keep, lane) : one;
            const Vec3T<F> impulse = get<F>(j->impulse, lane);
            const Vec3T<F> held = get<F>(relax ? j->held_bias : j->bias, lane) +
                                  (get<F>(j->block, lane) * impulse) * get<F>(j->softness, lane);
            const Vec3T<F> rest = (b.linear + cross(b.angular, get<F>(j->arm_b, lane))) -
                                  (a.linear + cross(a.angular, get<F>(j->arm_a, lane)));
            const Vec3T<F> wanted = get<F>(j->inverse, lane) * -(rest + held * keep);
            const Vec3T<F> change = get<F>(j->change_now, lane) * keep_change + wanted * step;
            put(j->change_now, lane, change);
            put(j->impulse, lane, impulse + change);
            store_change(g, j->change + lane, change);
        }
        push_graph<F>(context, g);
    }
}

template <class F>
void prepare_graph(const StepContext& context, const GraphView& g) {
    const F zero(0.0f), h(context.step.h_s);
    const Vec3T<F> none{zero, zero, zero};
    ORRERY_FOR_EACH_JOINT_VECTOR {
        const JointSpring<F> spring = joint_spring(get<F>(j->frequency_hz, lane), get<F>(j->damping_ratio, lane),
                                                   get<F>(j->compliance, lane), context.step);
        put(j->softness, lane, spring.softness);
        put(j->rate, lane, spring.rate);
        put(j->keep, lane, spring.keep);
        put(j->bias, lane, none);
        put(j->impulse, lane, load_force(g.forces, j->force + lane, F(1.0f)) * h);
        put(j->total, lane, none);
    }
    refresh_graph<F>(context, g);
}

template <class F>
void warm_start_graph(const StepContext& context, const GraphView& g) {
    const F zero(0.0f);
    if (!g.graph->warm) {
        ORRERY_FOR_EACH_JOINT_VECTOR put(j->impulse, lane, Vec3T<F>{zero, zero, zero});
        return;
    }
    ORRERY_FOR_EACH_JOINT_VECTOR store_change(g, j->change + lane, get<F>(j->impulse, lane));
    push_graph<F>(context, g);
}

template <class F>
void solve_graph(const StepContext& context, const GraphView& g) { iterate_graph<F>(context, g, false); }

// The poses have moved. A user's spring keeps the bias of the substep that it was integrated in.
template <class F>
void relax_graph(const StepContext& context, const GraphView& g) {
    refresh_graph<F>(context, g);
    iterate_graph<F>(context, g, true);
    ORRERY_FOR_EACH_JOINT_VECTOR put(j->total, lane, get<F>(j->total, lane) + get<F>(j->impulse, lane));
}

template <class F>
void finish_graph(const StepContext& context, const GraphView& g) {
    const F inverse_h(context.step.inverse_h);
    ORRERY_FOR_EACH_JOINT_VECTOR store_force(g.forces, j->force + lane, vector_bits<F>(j->jointed, lane), F(1.0f),
                                             get<F>(j->impulse, lane) * inverse_h, get<F>(j->total, lane), context.step);
}

#undef ORRERY_FOR_EACH_JOINT_VECTOR
#undef ORRERY_FOR_EACH_BODY_VECTOR

ORRERY_LANES_END

#endif
