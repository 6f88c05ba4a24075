#include "sim/shapes/sphere.h"

#include "sim/shapes/checks.h"

namespace orrery::sim::ref {

Result<Shape> make_sphere(const ShapeDef& def, std::string_view place) {
    if (auto checked = check_size(def.radius, kMinShapeSize_m, kMaxShapeSize_m, place, "radius"); !checked)
        return checked.error();
    const float r = def.radius;
    Shape shape;
    shape.type = ShapeType::sphere;
    shape.radius = r;
    shape.bounding_radius = shape.round_radius = r;
    shape.inner_radius = r;
    const float mass = (4.0f / 3.0f * kPi) * r * r * r;
    const float inertia = 0.4f * mass * r * r;
    shape.unit_mass = {mass, {inertia, 0.0f, 0.0f, inertia, 0.0f, inertia}};
    return shape;
}

}  // namespace orrery::sim::ref
