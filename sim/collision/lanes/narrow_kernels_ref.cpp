// The narrow phase's scalar reference.
#include "sim/lanes/ref_pass.h"

#include "sim/collision/lanes/narrow_kernels-inl.h"

ORRERY_LANES_BEGIN
extern const NarrowKernels kNarrowKernels;
constinit const NarrowKernels kNarrowKernels = make_narrow_kernels();
ORRERY_LANES_END
