// The kernels of the joints of part 3 of the list, of every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/solver/joints_3.cpp"
#include <hwy/foreach_target.h>

#include "sim/lanes/target_pass.h"
#if ORRERY_PASS
#include "sim/solver/passes-inl.h"
ORRERY_LANES_BEGIN
ORRERY_CONSTRAINTS_3(ORRERY_JOINT_KERNELS)
ORRERY_LANES_END
#endif
