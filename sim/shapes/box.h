// Box: half extents (m) along the body's axes.
//
// Mass properties for density 1: m = 8 x y z, Ixx = m/3 (y^2 + z^2) and so on round.
#pragma once

#include "sim/shapes/shape.h"

namespace orrery::sim::ref {

Result<Shape> make_box(const ShapeDef& def, std::string_view place);

}  // namespace orrery::sim::ref
