// Faces and vertices of polytopes on every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/collision/lanes/polytope_kernels.cpp"
#include <hwy/foreach_target.h>

#include "sim/lanes/target_pass.h"
#if ORRERY_PASS
#include "sim/collision/lanes/polytope_kernels-inl.h"

ORRERY_LANES_BEGIN
extern const PolytopeKernels kPolytopeKernels;
constinit const PolytopeKernels kPolytopeKernels = make_polytope_kernels();
ORRERY_LANES_END
#endif

#if HWY_ONCE
#include "sim/lanes/pick_kernels.h"

ORRERY_PICK_KERNELS(PolytopeKernels, kPolytopeKernels, polytope_kernels_for)
#endif
