// The kernels of rigs over plain float.
#include "sim/lanes/ref_pass.h"
#include "sim/jacobi/chain-inl.h"

ORRERY_LANES_BEGIN

extern const RigKernels kRigKernels;
constinit const RigKernels kRigKernels = make_rig_kernels();

ORRERY_LANES_END
