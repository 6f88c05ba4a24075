// Bodies of every shape that slide or roll over a level floor: what tests of seams and creases send over them.
#pragma once

#include <cmath>
#include <string>

#include "tests/support/worlds.h"

namespace orrery::test {

inline const float kHalfRoot = std::sqrt(0.5f);

inline sim::Quat times(sim::Quat p, sim::Quat q) {
    return {p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y, p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x,
            p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w, p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z};
}
inline sim::Quat turn_about_y(float angle_rad) {
    return {0.0f, std::sin(angle_rad / 2), 0.0f, std::cos(angle_rad / 2)};
}

// Rods and drums lie along the way or across it. All have their centre kHigh above a level ground.
enum class Mover { ball, box, turned_box, hull, drum, capsule_across, cylinder_across, capsule_along, cylinder_along };
inline constexpr Mover kMovers[] = {Mover::ball,
                                    Mover::box,
                                    Mover::turned_box,
                                    Mover::hull,
                                    Mover::drum,
                                    Mover::capsule_across,
                                    Mover::cylinder_across,
                                    Mover::capsule_along,
                                    Mover::cylinder_along};
inline constexpr const char* kMoverNames[] = {
    "ball",          "box",           "turned box", "hull", "upright cylinder", "capsule across", "cylinder across",
    "capsule along", "cylinder along"};
inline constexpr float kHigh = 0.3f;
inline std::string name_of(Mover kind) { return kMoverNames[static_cast<int>(kind)]; }
constexpr bool is_round(Mover kind) {
    return kind == Mover::ball || kind == Mover::capsule_across || kind == Mover::cylinder_across;
}
// How far its lowest part reaches ahead and back of the centre.
constexpr double reach_of(Mover kind) {
    switch (kind) {
        case Mover::box:
        case Mover::drum:
        case Mover::cylinder_along:
        case Mover::capsule_along:
            return 0.4;
        case Mover::turned_box:
            return 0.54;
        case Mover::hull:
            return 0.58;
        default:
            return 0.0;
    }
}

// `ahead` turns x to the way that it goes.
inline std::uint32_t add_mover(sim::WorldDef& def, Mover kind, sim::Vec3 at, sim::Quat ahead) {
    const auto cylinder = [&](float radius, float half_height) {
        return add_shape(def, {"", sim::ShapeType::cylinder, radius, half_height, {}});
    };
    sim::ShapeDef hull;
    hull.type = sim::ShapeType::hull;
    constexpr float kFoot[][2] = {{-0.5f, -0.4f}, {0.45f, -0.45f}, {0.55f, 0.3f}, {-0.4f, 0.5f}};
    for (const auto& p : kFoot) hull.points.push_back({p[0], -kHigh, p[1]}), hull.points.push_back({p[0], kHigh, p[1]});
    const sim::Quat along{0.0f, 0.0f, kHalfRoot, kHalfRoot}, across{kHalfRoot, 0.0f, 0.0f, kHalfRoot};
    switch (kind) {
        case Mover::ball:
            return add_body(def, add_sphere_shape(def, kHigh), at);
        case Mover::box:
            return add_body(def, add_box_shape(def, {0.4f, kHigh, 0.5f}), at, ahead);
        case Mover::turned_box:
            return add_body(def, add_box_shape(def, {0.4f, kHigh, 0.5f}), at, times(ahead, turn_about_y(0.3f)));
        case Mover::drum:
            return add_body(def, cylinder(0.4f, kHigh), at, ahead);
        case Mover::capsule_across:
            return add_body(def, add_capsule_shape(def, kHigh, 0.4f), at, times(ahead, across));
        case Mover::cylinder_across:
            return add_body(def, cylinder(kHigh, 0.4f), at, times(ahead, across));
        case Mover::capsule_along:
            return add_body(def, add_capsule_shape(def, kHigh, 0.4f), at, times(ahead, along));
        case Mover::cylinder_along:
            return add_body(def, cylinder(kHigh, 0.4f), at, times(ahead, along));
        case Mover::hull:
            break;
    }
    return add_body(def, add_shape(def, hull), at, ahead);
}

}  // namespace orrery::test
