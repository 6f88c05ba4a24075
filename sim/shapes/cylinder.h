// Cylinder: a solid of `radius` about local y, from -half_height to half_height.
//
// Mass properties for density 1, with h = 2 half_height: m = pi r^2 h; about y: m r^2 / 2; about x, z: m (h^2 / 12 +
// r^2 / 4).
#pragma once

#include "sim/shapes/shape.h"

namespace orrery::sim::ref {

Result<Shape> make_cylinder(const ShapeDef& def, std::string_view place);

}  // namespace orrery::sim::ref
