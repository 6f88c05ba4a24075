#include "sim/shapes/shape.h"

#include "sim/shapes/box.h"
#include "sim/shapes/capsule.h"
#include "sim/shapes/compound.h"
#include "sim/shapes/cylinder.h"
#include "sim/shapes/hull.h"
#include "sim/shapes/mesh.h"
#include "sim/shapes/plane.h"
#include "sim/shapes/sphere.h"

namespace orrery::sim {

Result<Shape> make_shape(const ShapeDef& def, std::string_view place, std::span<const Shape> earlier) {
    switch (def.type) {
        case ShapeType::sphere:
            return ref::make_sphere(def, place);
        case ShapeType::box:
            return ref::make_box(def, place);
        case ShapeType::capsule:
            return ref::make_capsule(def, place);
        case ShapeType::plane:
            return ref::make_plane(def, place);
        case ShapeType::cylinder:
            return ref::make_cylinder(def, place);
        case ShapeType::hull:
            return ref::make_hull(def, place);
        case ShapeType::mesh:
            return ref::make_mesh(def, place);
        case ShapeType::height_field:
            return ref::make_height_field(def, place);
        case ShapeType::compound:
            return ref::make_compound(def, place, earlier);
    }
    return Error{
        ErrorCode::invalid_argument, std::string(place) + ".type",
        "is not a shape type; use sphere, box, capsule, plane, cylinder, hull, mesh, height_field or compound"};
}

std::string_view shape_type_name(ShapeType type) {
    constexpr std::string_view kNames[] = {"sphere", "box",  "capsule",      "plane",   "cylinder",
                                           "hull",   "mesh", "height_field", "compound"};
    const auto index = static_cast<std::size_t>(type);
    return index < std::size(kNames) ? kNames[index] : "unknown";
}

Result<Vec3> shape_centre(const ShapeDef& def, std::span<const ShapeDef> earlier) {
    std::vector<Shape> made;
    for (const ShapeDef& other : earlier) {
        // What is no child may stay unmade.
        const bool wanted = def.type == ShapeType::compound && is_convex(other.type);
        Result<Shape> shape = wanted ? make_shape(other, "earlier") : Shape{};
        if (!shape) return shape.error();
        if (!wanted) shape->type = other.type;
        made.push_back(*shape);
    }
    const Result<Shape> shape = make_shape(def, "shape", made);
    if (!shape) return shape.error();
    if (shape->compound) return ref::narrowed(shape->compound->centre);
    return shape->hull ? ref::narrowed(shape->hull->centre) : Vec3{};
}

}  // namespace orrery::sim
