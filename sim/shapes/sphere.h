// Sphere: a ball about the body's centre.
//
// Mass properties for density 1: m = 4/3 pi r^3, I = 2/5 m r^2 about every axis.
#pragma once

#include "sim/shapes/shape.h"

namespace orrery::sim::ref {

Result<Shape> make_sphere(const ShapeDef& def, std::string_view place);

}  // namespace orrery::sim::ref
