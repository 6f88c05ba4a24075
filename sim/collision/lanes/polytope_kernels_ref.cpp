// The scalar reference of what polytopes ask of each other.
#include "sim/lanes/ref_pass.h"

#include "sim/collision/lanes/polytope_kernels-inl.h"

ORRERY_LANES_BEGIN
extern const PolytopeKernels kPolytopeKernels;
constinit const PolytopeKernels kPolytopeKernels = make_polytope_kernels();
ORRERY_LANES_END
