#include "sim/shapes/capsule.h"

#include "sim/shapes/checks.h"

namespace orrery::sim::ref {

Result<Shape> make_capsule(const ShapeDef& def, std::string_view place) {
    if (auto checked = check_size(def.radius, kMinShapeSize_m, kMaxShapeSize_m, place, "radius"); !checked)
        return checked.error();
    if (auto checked = check_size(def.half_height, kMinShapeSize_m, kMaxShapeSize_m, place, "half_height",
                                  " (a capsule without a cylindrical part is a sphere)");
        !checked) {
        return checked.error();
    }
    const float r = def.radius, h = 2.0f * def.half_height;
    Shape shape;
    shape.type = ShapeType::capsule;
    shape.radius = r;
    shape.half_height = def.half_height;
    shape.bounding_radius = r + def.half_height;
    shape.round_radius = r;
    shape.inner_radius = r;
    const float rr = r * r;
    const float cylinder = kPi * rr * h;
    const float caps = (4.0f / 3.0f * kPi) * rr * r;
    const float along = cylinder * (0.5f * rr) + caps * (0.4f * rr);
    const float across =
        cylinder * (h * h / 12.0f + rr / 4.0f) + caps * ((0.4f * rr + h * h / 4.0f) + (3.0f / 8.0f) * h * r);
    shape.unit_mass = {cylinder + caps, {across, 0.0f, 0.0f, along, 0.0f, across}};
    return shape;
}

}  // namespace orrery::sim::ref
