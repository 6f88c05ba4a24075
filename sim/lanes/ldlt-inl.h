// L D L^T of small symmetric positive semidefinite matrices over lanes, without pivoting, one division a pivot. A pivot
// that has vanished against its diagonal drops its row: the solution moves nothing along it.

#if defined(ORRERY_LANES_LDLT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_LANES_LDLT_INL_H_
#undef ORRERY_LANES_LDLT_INL_H_
#else
#define ORRERY_LANES_LDLT_INL_H_
#endif

#include "sim/lanes/number-inl.h"

ORRERY_LANES_BEGIN

// Below this share of its diagonal a pivot is rounding error.
inline constexpr float kSmallestPivot = 1.0e-6f;

// Index of (row, column), column <= row, in a lower triangle with or without its diagonal.
constexpr std::size_t lower_index(std::size_t row, std::size_t column) { return row * (row + 1) / 2 + column; }
constexpr std::size_t strict_index(std::size_t row, std::size_t column) { return row * (row - 1) / 2 + column; }

// The constructors stand here because an implicit one would be compiled without the target's instructions.
template <std::size_t N, class F>
struct LowerT {
    F v[N * (N + 1) / 2];  // lower triangle by rows
    ORRERY_FN LowerT() {}
};

template <std::size_t N, class F>
struct LdltT {
    F l[N * (N - 1) / 2];  // strict lower triangle of L by rows
    F inverse_d[N];
    ORRERY_FN LdltT() {}
};

template <std::size_t N, class F>
ORRERY_FN LdltT<N, F> factor_ldlt(const LowerT<N, F>& k) {
    LdltT<N, F> result;
    F ld[N * (N - 1) / 2];  // L D
    for (std::size_t i = 0; i < N; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            F sum = k.v[lower_index(i, j)];
            for (std::size_t m = 0; m < j; ++m) sum = sum - ld[strict_index(i, m)] * result.l[strict_index(j, m)];
            ld[strict_index(i, j)] = sum;
            result.l[strict_index(i, j)] = sum * result.inverse_d[j];
        }
        const F diagonal = k.v[lower_index(i, i)];
        F d = diagonal;
        for (std::size_t m = 0; m < i; ++m) d = d - ld[strict_index(i, m)] * result.l[strict_index(i, m)];
        const MaskOf<F> usable = d > diagonal * F(kSmallestPivot);
        result.inverse_d[i] = select(usable, F(1.0f) / select(usable, d, F(1.0f)), F(0.0f));
    }
    return result;
}

// x = K^-1 x.
template <std::size_t N, class F>
ORRERY_FN void solve_ldlt(const LdltT<N, F>& k, F (&x)[N]) {
    for (std::size_t i = 1; i < N; ++i) {
        for (std::size_t j = 0; j < i; ++j) x[i] = x[i] - k.l[strict_index(i, j)] * x[j];
    }
    for (std::size_t i = 0; i < N; ++i) x[i] = x[i] * k.inverse_d[i];
    for (std::size_t i = N - 1; i-- > 0;) {
        for (std::size_t j = i + 1; j < N; ++j) x[i] = x[i] - k.l[strict_index(j, i)] * x[j];
    }
}

ORRERY_LANES_END

#endif
