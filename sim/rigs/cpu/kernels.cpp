// The kernels of rigs of every SIMD target, and the choice among them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/rigs/cpu/kernels.cpp"
#include <hwy/foreach_target.h>

#include "sim/lanes/target_pass.h"
#if ORRERY_PASS
#include "sim/rigs/cpu/kernels-inl.h"
ORRERY_LANES_BEGIN
extern const RigKernels kRigKernels;
constinit const RigKernels kRigKernels = make_rig_kernels();
ORRERY_LANES_END
#endif

#if HWY_ONCE
#include "sim/rigs/kernels.h"

namespace orrery::sim {
namespace ref {
extern const RigKernels kRigKernels;
}

const RigKernels& rig_kernels(Target target) {
    switch (target == Target::automatic ? best_target() : target) {
#if HWY_TARGETS & HWY_SSSE3
        case Target::ssse3:
            return N_SSSE3::kRigKernels;
#endif
#if HWY_TARGETS & HWY_SSE4
        case Target::sse4:
            return N_SSE4::kRigKernels;
#endif
#if HWY_TARGETS & HWY_AVX2
        case Target::avx2:
            return N_AVX2::kRigKernels;
#endif
#if HWY_TARGETS & HWY_AVX3
        case Target::avx3:
            return N_AVX3::kRigKernels;
#endif
#if HWY_TARGETS & HWY_NEON
        case Target::neon:
            return N_NEON::kRigKernels;
#endif
#if (HWY_TARGETS & HWY_WASM) && !defined(ORRERY_NO_SCALAR)
        case Target::wasm:
            return N_WASM::kRigKernels;
#endif
#ifndef ORRERY_NO_SCALAR
        default:
            return ref::kRigKernels;
#elif HWY_TARGETS & HWY_WASM
        default:
            return N_WASM::kRigKernels;
#endif
    }
}

}  // namespace orrery::sim
#endif
