// Constraints that hold a common point and some relative rotation together, as one block of N = 3 + R rows:
//
//   rows 0 to 2   vb + wb x rb - va - wa x ra      (world axes)
//   rows 3 and on (wb - wa) . g_i                  g_i in world axes, not necessarily unit
//
//   K = [ point_response(ra, rb)            .
//         (Ia^-1 g_i) x ra + (Ib^-1 g_i) x rb   g_i . (Ia^-1 + Ib^-1) g_j ]      lower triangle

#if defined(ORRERY_CONSTRAINTS_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_BLOCK_INL_H_
#undef ORRERY_CONSTRAINTS_BLOCK_INL_H_
#else
#define ORRERY_CONSTRAINTS_BLOCK_INL_H_
#endif

#include "sim/constraints/joint-inl.h"
#include "sim/lanes/ldlt-inl.h"

ORRERY_LANES_BEGIN

template <std::size_t R, class F>
ORRERY_FN LdltT<3 + R, F> factor_block(Vec3T<F> ra, Vec3T<F> rb, const Vec3T<F> (&g)[R], const InertiaT<F>& a,
                                       const InertiaT<F>& b) {
    LowerT<3 + R, F> k;
    const Sym3T<F> p = point_response(ra, rb, a, b);
    k.v[0] = p.xx, k.v[1] = p.xy, k.v[2] = p.yy, k.v[3] = p.xz, k.v[4] = p.yz, k.v[5] = p.zz;
    for (std::size_t i = 0; i < R; ++i) {
        const Vec3T<F> ag = a.inverse_inertia * g[i], bg = b.inverse_inertia * g[i];
        const Vec3T<F> lever = cross(ag, ra) + cross(bg, rb);
        k.v[lower_index(3 + i, 0)] = lever.x, k.v[lower_index(3 + i, 1)] = lever.y,
                               k.v[lower_index(3 + i, 2)] = lever.z;
        for (std::size_t j = 0; j <= i; ++j) k.v[lower_index(3 + i, 3 + j)] = dot(ag + bg, g[j]);
    }
    return factor_ldlt(k);
}

template <class F, std::size_t N>
ORRERY_FN LdltT<N, F> get(const LdltRows<N>& rows, std::size_t lane) {
    LdltT<N, F> k;
    for (std::size_t i = 0; i < N * (N - 1) / 2; ++i) k.l[i] = get<F>(rows.l[i], lane);
    for (std::size_t i = 0; i < N; ++i) k.inverse_d[i] = get<F>(rows.inverse_d[i], lane);
    return k;
}
template <std::size_t N, class F>
ORRERY_FN void put(LdltRows<N>& rows, std::size_t lane, const LdltT<N, F>& k) {
    for (std::size_t i = 0; i < N * (N - 1) / 2; ++i) put(rows.l[i], lane, k.l[i]);
    for (std::size_t i = 0; i < N; ++i) put(rows.inverse_d[i], lane, k.inverse_d[i]);
}

// The impulse change of a block for velocities v and bias: -mass_scale K^-1 (J v + bias_scale bias) - impulse_scale
// old.
template <std::size_t N, bool kRelax, class F>
ORRERY_FN void soft_change(const LdltT<N, F>& k, const PassSpring<kRelax, F>& spring, const F (&speed)[N],
                           const F (&bias)[N], const F (&old)[N], F (&change)[N]) {
    for (std::size_t i = 0; i < N; ++i) change[i] = speed[i] + bias[i] * spring.bias_scale;
    solve_ldlt(k, change);
    for (std::size_t i = 0; i < N; ++i) change[i] = -(change[i] * spring.mass_scale + old[i] * spring.impulse_scale);
}

ORRERY_LANES_END

#endif
