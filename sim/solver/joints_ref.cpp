// The kernels of all joints over plain float.
#include "sim/lanes/ref_pass.h"

#include "sim/solver/passes-inl.h"

ORRERY_LANES_BEGIN
ORRERY_CONSTRAINTS(ORRERY_JOINT_KERNELS)
ORRERY_LANES_END
