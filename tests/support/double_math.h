// Vectors and rotations of double precision for tests: the library's own types (sim/shapes/double3.h), with what tests
// ask beside.
#pragma once

#include "sim/shapes/double3.h"

namespace orrery::sim::ref {

// v turned by q, whatever the length of q.
inline D3 turned(DQuat q, D3 v) { return outward(axes_of_turn(q), v); }

}  // namespace orrery::sim::ref

namespace orrery::test {

using V = sim::ref::D3;
using Q = sim::ref::DQuat;

}  // namespace orrery::test
