// Bounds and the broad phase on every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/collision/broad/broad_kernels.cpp"
#include <hwy/foreach_target.h>

#include "sim/lanes/target_pass.h"
#if ORRERY_PASS
#include "sim/collision/broad/broad_kernels-inl.h"

ORRERY_LANES_BEGIN
extern const BroadKernels kBroadKernels;
constinit const BroadKernels kBroadKernels = make_broad_kernels();
ORRERY_LANES_END
#endif

#if HWY_ONCE
#include "sim/lanes/pick_kernels.h"

ORRERY_PICK_KERNELS(BroadKernels, kBroadKernels, broad_kernels_for)
#endif
