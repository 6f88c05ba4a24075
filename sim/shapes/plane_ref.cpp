#include "sim/shapes/plane.h"

namespace orrery::sim::ref {

Result<Shape> make_plane(const ShapeDef&, std::string_view) {
    Shape shape;
    shape.type = ShapeType::plane;
    return shape;
}

}  // namespace orrery::sim::ref
