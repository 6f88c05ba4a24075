// The exact solve of chains, by block elimination along them.
//
// Joint s holds a point of body s on a point of body s - 1, as in ball_socket.h. With p the arm from body s to the
// joint before it and q the arm to the joint after it, m and I the inverse mass and inertia of a body, the blocks of A
// = J M^-1 J^T are
//
//   A(s, s)     = K(s) = m(s-1) E + [q(s-1)]x I(s-1) [q(s-1)]x^T + m(s) E + [p(s)]x I(s) [p(s)]x^T
//   A(s, s - 1) = -B(s-1),  B(s) = m(s) E + [q(s)]x I(s) [p(s)]x^T
//
// and all else is zero, so that (A + e D) x = r, D the diagonal blocks and e the softness, is solved in two sweeps:
//
//   down  S(s) = (1 + e) K(s) - B(s-1) S(s-1)^-1 B(s-1)^T,  y(s) = r(s) + B(s-1) S(s-1)^-1 y(s-1)
//   up    x(s) = S(s)^-1 (y(s) + B(s)^T x(s+1))
//
// A round body has I = i E, which makes B = a E - i p q^T with a = m + i p.q, and B S^-1 B^T two outer products.
//
// What springs and tension do is in rig-inl.h.
//
// Alone: nothing else acts on the chain in this tick. Each substep is one solve of the whole impulse, without a warm
// start and without a relax pass, and where bodies turn far as many more as it takes to meet what was asked for: what
// the velocities say is true at the substep's end. A long chain is then solved in another order
// (chain_cut-inl.h). Coupled: the chain is one big constraint in a last colour; its
// impulses warm start it, and the relax pass is one more solve, without bias, of the new poses.

#if defined(ORRERY_RIGS_CHAIN_CHAIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_RIGS_CHAIN_CHAIN_INL_H_
#undef ORRERY_RIGS_CHAIN_CHAIN_INL_H_
#else
#define ORRERY_RIGS_CHAIN_CHAIN_INL_H_
#endif

#include "sim/rigs/rig-inl.h"

ORRERY_LANES_BEGIN

template <class F>
ORRERY_FN JointSpring<F> joint_spring(const ChainView& chains, std::uint32_t s, std::size_t lane,
                                      const StepConstants& step) {
    const F own = get<F>(chains.bundle->compliance, lane);
    if (chains.bundle->plain) return {own, F(kShare * step.inverse_h), F(0.0f)};
    const ChainExtras& extras = chains.extras[s];
    return joint_spring(get<F>(extras.frequency_hz, lane), get<F>(extras.damping_ratio, lane), own, step);
}

template <class F>
ORRERY_FN F force_sign(const ChainView& chains, std::uint32_t s, std::size_t lane) {
    return chains.bundle->plain ? F(1.0f) : get<F>(chains.extras[s].sign, lane);
}
template <class F>
ORRERY_FN Vec3T<F> load_force(const ChainView& chains, std::uint32_t s, std::size_t lane) {
    return load_force(chains.forces, chains.slots[s].force + lane, force_sign<F>(chains, s, lane));
}
template <class F>
ORRERY_FN void store_force(const ChainView& chains, std::uint32_t s, std::size_t lane, std::uint32_t bits,
                           Vec3T<F> force, Vec3T<F> total, const StepConstants& step) {
    store_force(chains.forces, chains.slots[s].force + lane, bits, force_sign<F>(chains, s, lane), force, total, step);
}

ORRERY_LANES_END

#endif
