// Included by a kernel's .cpp right after <hwy/foreach_target.h>, once a SIMD target: names the lane namespace of this
// pass. Kernels are written once in *-inl.h files, in namespace orrery::sim::ORRERY_LANES, over the lane type Number:
//
//   target pass   ORRERY_LANES = HWY_NAMESPACE (N_AVX3, ...), Number = Wide, a Highway vector
//   ref_pass.h    ORRERY_LANES = ref,                         Number = float
//
// The pattern of a kernel file sim/x/kernels.cpp:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "sim/x/kernels.cpp"
//   #include <hwy/foreach_target.h>
//   #include "sim/lanes/target_pass.h"
//   #if ORRERY_PASS
//   #include "sim/x/kernels-inl.h"
//   ORRERY_LANES_BEGIN
//   extern const Kernels kKernels = make_kernels();      // constant table, picked by Target
//   ORRERY_LANES_END
//   #endif
//
// and sim/x/kernels_ref.cpp: the same with "sim/lanes/ref_pass.h" alone on top. No include guard: re-read each pass.

#include <hwy/highway.h>

#undef ORRERY_LANES
#undef ORRERY_PASS
#define ORRERY_LANES HWY_NAMESPACE
// Highway always compiles its static target too. On x86-64 that is the one-lane or emulated one, whose place the
// reference unit takes.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define ORRERY_PASS 0
#else
#define ORRERY_PASS 1
#endif

#ifndef ORRERY_LANES_BEGIN
#define ORRERY_LANES_BEGIN  \
    HWY_BEFORE_NAMESPACE(); \
    namespace orrery::sim::ORRERY_LANES {
#define ORRERY_LANES_END \
    }                    \
    HWY_AFTER_NAMESPACE();
#define ORRERY_FN HWY_INLINE
#define ORRERY_ONCE HWY_NOINLINE  // what is called from several places and is long
#endif
