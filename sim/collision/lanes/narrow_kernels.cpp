// The narrow phase on every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/collision/lanes/narrow_kernels.cpp"
#include <hwy/foreach_target.h>

#include "sim/lanes/target_pass.h"
#if ORRERY_PASS
#include "sim/collision/lanes/narrow_kernels-inl.h"

ORRERY_LANES_BEGIN
extern const NarrowKernels kNarrowKernels;
constinit const NarrowKernels kNarrowKernels = make_narrow_kernels();
ORRERY_LANES_END
#endif

#if HWY_ONCE
#include "sim/lanes/pick_kernels.h"

ORRERY_PICK_KERNELS(NarrowKernels, kNarrowKernels, narrow_kernels_for)
#endif
