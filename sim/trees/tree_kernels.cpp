// Box trees on every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/trees/tree_kernels.cpp"
#include <hwy/foreach_target.h>

#include "sim/lanes/target_pass.h"
#if ORRERY_PASS
#include "sim/trees/tree-inl.h"

ORRERY_LANES_BEGIN
extern const TreeKernels kTreeKernels;
constinit const TreeKernels kTreeKernels = make_tree_kernels();
ORRERY_LANES_END
#endif

#if HWY_ONCE
#include "sim/lanes/pick_kernels.h"

ORRERY_PICK_KERNELS(TreeKernels, kTreeKernels, tree_kernels_for)
#endif
