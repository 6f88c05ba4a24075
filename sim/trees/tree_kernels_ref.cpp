// The scalar reference of box trees.
#include "sim/lanes/ref_pass.h"

#include "sim/trees/tree-inl.h"

ORRERY_LANES_BEGIN
extern const TreeKernels kTreeKernels;
constinit const TreeKernels kTreeKernels = make_tree_kernels();
ORRERY_LANES_END
