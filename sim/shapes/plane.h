// Plane: the half space below local y = 0. For static bodies only; it has no mass, and bounds that no box can hold: the
// broad phase keeps planes apart.
#pragma once

#include "sim/shapes/shape.h"

namespace orrery::sim::ref {

Result<Shape> make_plane(const ShapeDef& def, std::string_view place);

}  // namespace orrery::sim::ref
