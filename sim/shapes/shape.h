// A shape as the simulation uses it: checked, with mass properties for unit density. One file a shape beside this one.
#pragma once

#include <memory>
#include <span>

#include "orrery/sim.hpp"
#include "sim/bodies/mass_properties.h"

namespace orrery::sim {

struct Hull;
struct Mesh;
struct Compound;

// Radii and half extents: below, a contact's depth is lost in the slop; above, single precision is coarser than the
// slop.
inline constexpr float kMinShapeSize_m = 0.0005f;
inline constexpr float kMaxShapeSize_m = kMaxCoordinate_m;

// For bounds every shape but the plane is the sum of a box, a segment along local y, a disc across it and a ball:
// fields that a type does not use are zero, and so drop out of formulas that serve all types at once (extents-inl.h). A
// plane has all of them zero.
struct Shape {
    ShapeType type = ShapeType::sphere;
    float radius = 0.0f;       // sphere, capsule
    float half_height = 0.0f;  // capsule, cylinder
    Vec3 half_extents;  // box; hull, mesh, height field, compound: the box about the body's frame that holds them
    float disc_radius = 0.0f;      // cylinder
    float bounding_radius = 0.0f;  // of the smallest sphere about the centre that holds the shape
    float round_radius = 0.0f;     // of the largest of its round sides, children's among them; 0: it has none
    float inner_radius = 0.0f;     // of the largest sphere about the centre inside the shape: bounds angular expansion
    MassProperties unit_mass;
    std::shared_ptr<const Hull> hull;  // what a type has beyond these numbers; never changes
    std::shared_ptr<const Mesh> mesh;  // mesh, height field
    std::shared_ptr<const Compound> compound;
};

// For fixed and kinematic bodies alone: it has no inside, and so no mass.
inline bool has_no_mass(ShapeType type) {
    return type == ShapeType::plane || type == ShapeType::mesh || type == ShapeType::height_field;
}
// A shape that may be a child of a compound.
inline bool has_no_inside(ShapeType type) { return type == ShapeType::mesh || type == ShapeType::height_field; }
inline bool is_convex(ShapeType type) { return !has_no_mass(type) && type != ShapeType::compound; }

// An error names the offending field; `place` is prefixed to it, e.g. "shapes[3]". `earlier` are the shapes listed
// before it, of which a compound is made.
Result<Shape> make_shape(const ShapeDef& def, std::string_view place, std::span<const Shape> earlier = {});

}  // namespace orrery::sim
