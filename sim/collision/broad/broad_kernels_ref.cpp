// The scalar reference of bounds and the broad phase.
#include "sim/lanes/ref_pass.h"

#include "sim/collision/broad/broad_kernels-inl.h"

ORRERY_LANES_BEGIN
extern const BroadKernels kBroadKernels;
constinit const BroadKernels kBroadKernels = make_broad_kernels();
ORRERY_LANES_END
