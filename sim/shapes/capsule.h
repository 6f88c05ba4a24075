// Capsule: all points within `radius` of a segment of half length `half_height` along local y.
//
// Mass properties for density 1, with h = 2 half_height, cylinder mc = pi r^2 h and caps ms = 4/3 pi r^3 together:
//   about y:      mc r^2 / 2 + 2/5 ms r^2
//   about x, z:   mc (h^2 / 12 + r^2 / 4) + ms (2/5 r^2 + h^2 / 4 + 3/8 h r)
// The caps' term is a half ball's inertia about its own centre of mass (3/8 r off the flat side), moved by Steiner.
#pragma once

#include "sim/shapes/shape.h"

namespace orrery::sim::ref {

Result<Shape> make_capsule(const ShapeDef& def, std::string_view place);

}  // namespace orrery::sim::ref
