#include "sim/shapes/cylinder.h"

#include "sim/shapes/checks.h"

namespace orrery::sim::ref {

Result<Shape> make_cylinder(const ShapeDef& def, std::string_view place) {
    if (auto checked = check_size(def.radius, kMinShapeSize_m, kMaxShapeSize_m, place, "radius"); !checked)
        return checked.error();
    if (auto checked = check_size(def.half_height, kMinShapeSize_m, kMaxShapeSize_m, place, "half_height"); !checked)
        return checked.error();
    const float r = def.radius, half = def.half_height, h = 2.0f * half, rr = r * r;
    Shape shape;
    shape.type = ShapeType::cylinder;
    shape.disc_radius = r;
    shape.half_height = half;
    shape.bounding_radius = __builtin_sqrtf(rr + half * half);
    shape.round_radius = shape.disc_radius;
    shape.inner_radius = r < half ? r : half;
    const float mass = kPi * rr * h;
    const float along = 0.5f * mass * rr, across = mass * (h * h / 12.0f + rr / 4.0f);
    shape.unit_mass = {mass, {across, 0.0f, 0.0f, along, 0.0f, across}};
    return shape;
}

}  // namespace orrery::sim::ref
