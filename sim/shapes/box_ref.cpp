#include "sim/shapes/box.h"

#include "sim/shapes/checks.h"

namespace orrery::sim::ref {

Result<Shape> make_box(const ShapeDef& def, std::string_view place) {
    const Vec3 h = def.half_extents;
    const struct {
        float size;
        const char* field;
    } sizes[] = {{h.x, "half_extents.x"}, {h.y, "half_extents.y"}, {h.z, "half_extents.z"}};
    for (const auto& s : sizes) {
        if (auto checked = check_size(s.size, kMinShapeSize_m, kMaxShapeSize_m, place, s.field); !checked)
            return checked.error();
    }
    Shape shape;
    shape.type = ShapeType::box;
    shape.half_extents = h;
    const float xx = h.x * h.x, yy = h.y * h.y, zz = h.z * h.z;
    shape.bounding_radius = __builtin_sqrtf((xx + yy) + zz);
    const float smaller = h.x < h.y ? h.x : h.y;
    shape.inner_radius = smaller < h.z ? smaller : h.z;
    const float mass = 8.0f * h.x * h.y * h.z;
    const float third = mass / 3.0f;
    shape.unit_mass = {mass, {third * (yy + zz), 0.0f, 0.0f, third * (xx + zz), 0.0f, third * (xx + yy)}};
    return shape;
}

}  // namespace orrery::sim::ref
