// Small worlds for tests, and what tests ask of them.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::test {

inline constexpr float kPi = 3.14159265f;

inline std::unique_ptr<sim::World> make_world(const sim::WorldDef& def, sim::Target target = sim::Target::automatic,
                                              std::uint32_t history_ticks = 0) {
    auto world = sim::World::create(def, {target, history_ticks});
    REQUIRE_MESSAGE(world.ok(), (world.ok() ? std::string() : world.error().to_string()));
    return std::move(world).value();
}

inline sim::Command command(sim::CommandKind kind, std::uint16_t slot = 0) {
    sim::Command c;
    c.kind = kind;
    c.slot = slot;
    return c;
}

inline int count_events(const sim::World& world, sim::EventKind kind, sim::EventCause cause = sim::EventCause::none) {
    int n = 0;
    for (const sim::Event& event : world.events()) n += event.kind == kind && event.cause == cause ? 1 : 0;
    return n;
}

inline void run(sim::World& world, int ticks) {
    for (int i = 0; i < ticks; ++i) world.step();
}

inline sim::Quat turn_about_z(float angle_rad) {
    return {0.0f, 0.0f, std::sin(angle_rad / 2), std::cos(angle_rad / 2)};
}

// A turn about z with tan(angle / 4) = t, by exact arithmetic alone: libm's last bit differs from machine to machine.
inline sim::Quat exact_turn(float t) {
    const float scale = 1.0f / (1.0f + t * t);
    return {0.0f, 0.0f, 2.0f * t * scale, (1.0f - t * t) * scale};
}

// The random numbers of BENCHMARKS.md.
class Lcg {
  public:
    explicit Lcg(std::uint32_t seed) : state_(seed) {}
    float unit() {  // in [0, 1)
        state_ = state_ * 1664525u + 1013904223u;
        return static_cast<float>(state_ >> 8) / 16777216.0f;
    }
    float between(float low, float high) { return low + (high - low) * unit(); }

  private:
    std::uint32_t state_;
};

// ---- definitions: each returns the index of what it added

inline std::uint32_t add_shape(sim::WorldDef& def, sim::ShapeDef shape) {
    def.shapes.push_back(std::move(shape));
    return static_cast<std::uint32_t>(def.shapes.size() - 1);
}
inline std::uint32_t add_sphere_shape(sim::WorldDef& def, float radius) {
    return add_shape(def, {"", sim::ShapeType::sphere, radius, 0.0f, {}});
}
inline std::uint32_t add_box_shape(sim::WorldDef& def, sim::Vec3 half_extents) {
    return add_shape(def, {"", sim::ShapeType::box, 0.0f, 0.0f, half_extents});
}
inline std::uint32_t add_capsule_shape(sim::WorldDef& def, float radius, float half_height) {
    return add_shape(def, {"", sim::ShapeType::capsule, radius, half_height, {}});
}
inline std::uint32_t add_body(sim::WorldDef& def, std::uint32_t shape, sim::Vec3 position, sim::Quat orientation = {}) {
    sim::BodyDef body;
    body.shape = shape;
    body.pose = {position, orientation};
    def.bodies.push_back(body);
    return static_cast<std::uint32_t>(def.bodies.size() - 1);
}
// A plane through the origin whose normal is local y.
inline std::uint32_t add_ground(sim::WorldDef& def, sim::Quat orientation = {}) {
    const std::uint32_t shape = add_shape(def, {"", sim::ShapeType::plane, 0.0f, 0.0f, {}});
    const std::uint32_t body = add_body(def, shape, {}, orientation);
    def.bodies[body].type = sim::BodyType::fixed;
    return body;
}
inline std::uint32_t add_joint(sim::WorldDef& def, std::uint32_t a, std::uint32_t b, sim::Constraint constraint) {
    sim::JointDef joint;
    joint.body_a = a;
    joint.body_b = b;
    joint.constraint = constraint;
    def.joints.push_back(joint);
    return static_cast<std::uint32_t>(def.joints.size() - 1);
}

// Of a body of the definition, by its index there.
inline sim::BodyState state_of(const sim::World& world, std::uint32_t body) { return world.body({body + 1, 0}); }

}  // namespace orrery::test
