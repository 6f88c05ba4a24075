// What there is to see in a world: contacts, joints, bodies with their bounds and sleep, and shapes as triangles. Of
// any world: a mirror's, or a replay's. A build without the simulation has nothing to see (no_mirror.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client_sdk/src/mirror_seam.h"
#include "orrery/sim.hpp"
#include "protocol/scene/shape_triangles.h"

namespace orrery::client {

struct SeenContact {
    sim::BodyId a;
    sim::BodyContact contact;  // of `a`
};

struct SeenJoint {
    sim::JointId id;
    std::array<sim::BodyId, 4> bodies;  // invalid: the world, or none
    std::uint32_t kind = 0;             // see joint_kind_name()
    sim::Vec3 anchor_a, anchor_b;       // m, world; of a kind without anchors: the centres of the bodies
    float force_n = 0.0f, torque_nm = 0.0f;
};

struct SeenBody {
    std::uint64_t tick = 0;
    sim::BodyState state;
    sim::Vec3 low,
        high;  // bounds, m, world; of a body without a shape its position, of a plane 3e38 m in each direction
};

// Lists that keep their memory from one look to the next.
struct Seen {
    std::vector<SeenContact> contacts;
    std::vector<SeenJoint> joints;
    std::vector<SeenBody> bodies;
    std::vector<sim::BodyContact> contacts_of_one;
    std::vector<sim::JointState> joint_states;
    std::vector<sim::BodyState> body_states;
};

// Of one body, or of an invalid id: of all. Then each contact comes once, and those between sleepers are left out.
// False: there is no such body.
bool look_at_contacts(const sim::World& world, sim::BodyId of, Seen& seen);
// Of one body, or of an invalid id: of all. False: there is no such body.
bool look_at_joints(const sim::World& world, sim::BodyId of, Seen& seen);
void look_at_bodies(const sim::World& world, Seen& seen);                       // all, in order of index
std::optional<SeenBody> look_at_body(const sim::World& world, sim::BodyId id);  // nothing: there is no such body

std::uint32_t joint_kind_count();
const char* joint_kind_name(std::uint32_t kind);  // below the count

// The shapes of a scene.
class SceneLook {
  public:
    virtual ~SceneLook() = default;
    virtual std::span<const sim::ShapeDef> shapes() const = 0;
    // Of a shape that exists; valid until the next call. Nothing: see triangles_of().
    virtual const std::optional<protocol::Triangles>& triangles(std::uint32_t shape) = 0;
    virtual std::span<const sim::CompoundChild> children(std::uint32_t shape) = 0;
};
// Of a scene, JSON or binary. Null in a build without the simulation.
Result<std::unique_ptr<SceneLook>> open_scene(protocol::Bytes scene);

}  // namespace orrery::client
