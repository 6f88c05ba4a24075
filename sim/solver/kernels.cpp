// The solver's kernels of every SIMD target, and the choice among them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/solver/kernels.cpp"
#include <hwy/foreach_target.h>

#include "sim/lanes/target_pass.h"
#if ORRERY_PASS
#include "sim/solver/kernels-inl.h"
ORRERY_LANES_BEGIN
extern const SolverKernels kSolverKernels;
constinit const SolverKernels kSolverKernels = make_solver_kernels();
ORRERY_LANES_END
#endif

#if HWY_ONCE
#include "sim/solver/kernels.h"

namespace orrery::sim {
namespace ref {
extern const SolverKernels kSolverKernels;
}

const SolverKernels& solver_kernels(Target target) {
    switch (target == Target::automatic ? best_target() : target) {
#if HWY_TARGETS & HWY_SSSE3
        case Target::ssse3:
            return N_SSSE3::kSolverKernels;
#endif
#if HWY_TARGETS & HWY_SSE4
        case Target::sse4:
            return N_SSE4::kSolverKernels;
#endif
#if HWY_TARGETS & HWY_AVX2
        case Target::avx2:
            return N_AVX2::kSolverKernels;
#endif
#if HWY_TARGETS & HWY_AVX3
        case Target::avx3:
            return N_AVX3::kSolverKernels;
#endif
#if HWY_TARGETS & HWY_NEON
        case Target::neon:
            return N_NEON::kSolverKernels;
#endif
#if (HWY_TARGETS & HWY_WASM) && !defined(ORRERY_NO_SCALAR)
        case Target::wasm:
            return N_WASM::kSolverKernels;
#endif
#ifndef ORRERY_NO_SCALAR
        default:
            return ref::kSolverKernels;
#elif HWY_TARGETS & HWY_WASM
        default:
            return N_WASM::kSolverKernels;
#endif
    }
}

}  // namespace orrery::sim
#endif
