// Picks a kernel table by target. For the HWY_ONCE part of a kernel file, after foreach_target.h:
//
//   ORRERY_PICK_KERNELS(Kernels, kKernels, kernels_for)    defines const Kernels* kernels_for(Target target)
//
// where every pass, the reference unit included, defines `extern const Kernels kKernels` in its lane namespace. A
// target that this build lacks gives null.
#pragma once

#include "orrery/sim.hpp"

#ifdef ORRERY_NO_SCALAR  // the option ORRERY_SCALAR is off: nothing names the reference's tables, and the linker drops
                         // them
#define ORRERY_IF_SCALAR(x)
#else
#define ORRERY_IF_SCALAR(x) x
#endif

#if HWY_TARGETS & HWY_SSSE3
#define ORRERY_IF_SSSE3(x) x
#else
#define ORRERY_IF_SSSE3(x)
#endif
#if HWY_TARGETS & HWY_SSE4
#define ORRERY_IF_SSE4(x) x
#else
#define ORRERY_IF_SSE4(x)
#endif
#if HWY_TARGETS & HWY_AVX2
#define ORRERY_IF_AVX2(x) x
#else
#define ORRERY_IF_AVX2(x)
#endif
#if HWY_TARGETS & HWY_AVX3
#define ORRERY_IF_AVX3(x) x
#else
#define ORRERY_IF_AVX3(x)
#endif
#if HWY_TARGETS & HWY_NEON
#define ORRERY_IF_NEON(x) x
#else
#define ORRERY_IF_NEON(x)
#endif
#if HWY_TARGETS & HWY_WASM
#define ORRERY_IF_WASM(x) x
#else
#define ORRERY_IF_WASM(x)
#endif

#define ORRERY_PICK_KERNELS(Kernels, kTable, kernels_for)                  \
    namespace orrery::sim {                                                \
    namespace ref {                                                        \
    extern const Kernels kTable;                                           \
    }                                                                      \
    const Kernels* kernels_for(Target target) {                            \
        switch (target) {                                                  \
            ORRERY_IF_SCALAR(case Target::scalar : return &ref::kTable;)   \
            ORRERY_IF_SSSE3(case Target::ssse3 : return &N_SSSE3::kTable;) \
            ORRERY_IF_SSE4(case Target::sse4 : return &N_SSE4::kTable;)    \
            ORRERY_IF_AVX2(case Target::avx2 : return &N_AVX2::kTable;)    \
            ORRERY_IF_AVX3(case Target::avx3 : return &N_AVX3::kTable;)    \
            ORRERY_IF_NEON(case Target::neon : return &N_NEON::kTable;)    \
            ORRERY_IF_WASM(case Target::wasm : return &N_WASM::kTable;)    \
            default:                                                       \
                return nullptr;                                            \
        }                                                                  \
    }                                                                      \
    }
