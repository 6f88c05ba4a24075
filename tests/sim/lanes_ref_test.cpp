// The reference pass of the lane operations, for lanes_parity_test.cpp.
#include "sim/lanes/ref_pass.h"

#include "tests/sim/lanes_ops-inl.h"

namespace orrery::sim {
std::span<const LaneOp> reference_ops() { return ref::lane_ops(); }
}  // namespace orrery::sim
