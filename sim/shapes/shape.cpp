#include "sim/shapes/shape.h"

#include "sim/shapes/box.h"
#include "sim/shapes/capsule.h"
#include "sim/shapes/cylinder.h"
#include "sim/shapes/hull.h"
#include "sim/shapes/plane.h"
#include "sim/shapes/sphere.h"

namespace orrery::sim {

Result<Shape> make_shape(const ShapeDef& def, std::string_view place) {
    switch (def.type) {
        case ShapeType::sphere: return ref::make_sphere(def, place);
        case ShapeType::box: return ref::make_box(def, place);
        case ShapeType::capsule: return ref::make_capsule(def, place);
        case ShapeType::plane: return ref::make_plane(def, place);
        case ShapeType::cylinder: return ref::make_cylinder(def, place);
        case ShapeType::hull: return ref::make_hull(def, place);
    }
    return Error{ErrorCode::invalid_argument, std::string(place) + ".type",
                 "is no known shape type; use sphere, box, capsule, plane, cylinder or hull"};
}

std::string_view shape_type_name(ShapeType type) {
    constexpr std::string_view kNames[] = {"sphere", "box", "capsule", "plane", "cylinder", "hull"};
    const auto index = static_cast<std::size_t>(type);
    return index < std::size(kNames) ? kNames[index] : "unknown";
}

Result<Vec3> shape_centre(const ShapeDef& def) {
    const Result<Shape> shape = make_shape(def, "shape");
    if (!shape) return shape.error();
    return shape->hull ? ref::narrowed(shape->hull->centre) : Vec3{};
}

}  // namespace orrery::sim
