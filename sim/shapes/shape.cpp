#include "sim/shapes/shape.h"

#include "sim/shapes/box.h"
#include "sim/shapes/capsule.h"
#include "sim/shapes/plane.h"
#include "sim/shapes/sphere.h"

namespace orrery::sim {

Result<Shape> make_shape(const ShapeDef& def, std::string_view place) {
    switch (def.type) {
        case ShapeType::sphere: return ref::make_sphere(def, place);
        case ShapeType::box: return ref::make_box(def, place);
        case ShapeType::capsule: return ref::make_capsule(def, place);
        case ShapeType::plane: return ref::make_plane(def, place);
    }
    return Error{ErrorCode::invalid_argument, std::string(place) + ".type",
                 "is no known shape type; use sphere, box, capsule or plane"};
}

}  // namespace orrery::sim
