#include "client_sdk/src/world_look.h"

#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "orrery/math.hpp"
#include "protocol/scene/scene.h"

namespace orrery::client {

using namespace sim;

namespace {

void add_contacts(const World& world, BodyId of, bool once, Seen& seen) {
    world.contacts_of(of, seen.contacts_of_one);
    for (const BodyContact& contact : seen.contacts_of_one) {
        // A pair of two bodies that are both looked at comes with the lower one.
        if (once && contact.other.index < of.index) {
            const BodyState other = world.body(contact.other);
            if (other.type == BodyType::dynamic && !other.asleep) continue;
        }
        seen.contacts.push_back({of, contact});
    }
}

// The first point of each side.
struct Anchors : FieldVisitor<Anchors> {
    const Vec3* point_of[2] = {};
    const Vec3* world_point_of_a = nullptr;

    void point(Side side, const char*, const Vec3& p) {
        const Vec3*& mine = point_of[side == Side::a ? 0 : 1];
        if (!mine) mine = &p;
    }
    void world_point(const char*, const Vec3& p) { world_point_of_a = &p; }
};

Vec3 anchor(const World& world, BodyId body, const Vec3* local) {
    if (!body.valid()) return local ? *local : Vec3{};
    const Pose pose = world.body(body).pose;
    return local ? to_world(pose, *local) : pose.position;
}

SeenJoint seen_joint(const World& world, const JointState& joint) {
    Anchors anchors;
    std::visit([&]<class T>(const T& constraint) { T::fields(constraint, anchors); }, joint.constraint);
    SeenJoint seen;
    seen.id = joint.id;
    seen.bodies = {joint.a, joint.b, joint.c, joint.d};
    seen.kind = static_cast<std::uint32_t>(joint.constraint.index());
    seen.anchor_b = anchor(world, joint.b, anchors.point_of[1]);
    if (joint.a.valid())
        seen.anchor_a = anchor(world, joint.a, anchors.point_of[0]);
    else if (anchors.world_point_of_a)
        seen.anchor_a = *anchors.world_point_of_a;
    else
        seen.anchor_a = anchors.point_of[0] ? *anchors.point_of[0] : seen.anchor_b;
    const JointReading reading = world.joint_reading(joint.id);
    seen.force_n = reading.force_n, seen.torque_nm = reading.torque_nm;
    return seen;
}

// Half the edges of a box along the axes of the body that contains the shape.
Vec3 local_reach(const ShapeDef& shape) {
    const float r = shape.radius, h = shape.half_height;
    switch (shape.type) {
        case ShapeType::plane: {
            constexpr float kAll = std::numeric_limits<float>::max();
            return {kAll, kAll, kAll};
        }
        case ShapeType::sphere:
            return {r, r, r};
        case ShapeType::capsule:
            return {r, h + r, r};
        case ShapeType::cylinder:
            return {r, h, r};
        default:
            return shape.half_extents;
    }
}

Vec3 reach_of(const ShapeDef& shape, const Quat& turn) {
    const Vec3 half = local_reach(shape);
    if (shape.type == ShapeType::sphere || shape.type == ShapeType::plane) return half;
    const Vec3 edges[3] = {rotate(turn, {half.x, 0.0f, 0.0f}), rotate(turn, {0.0f, half.y, 0.0f}),
                           rotate(turn, {0.0f, 0.0f, half.z})};
    Vec3 reach;
    for (const Vec3& edge : edges) reach += Vec3{std::abs(edge.x), std::abs(edge.y), std::abs(edge.z)};
    return reach;
}

SeenBody seen_body(const World& world, const BodyState& state) {
    SeenBody seen{world.tick(), state, state.pose.position, state.pose.position};
    if (state.shape == kNone) return seen;
    const Vec3 reach = reach_of(world.definition().shapes[state.shape], state.pose.orientation);
    seen.low = seen.low - reach;
    seen.high = seen.high + reach;
    return seen;
}

class LoadedLook final : public SceneLook {
  public:
    explicit LoadedLook(std::shared_ptr<const Definition> definition) : definition_(std::move(definition)) {}
    std::span<const ShapeDef> shapes() const override { return definition_->def().shapes; }
    const std::optional<protocol::Triangles>& triangles(std::uint32_t shape) override {
        if (triangles_of_ != shape) triangles_ = protocol::triangles_of(shapes(), shape);
        triangles_of_ = shape;
        return triangles_;
    }
    std::span<const CompoundChild> children(std::uint32_t shape) override {
        if (children_of_ != shape) children_ = protocol::children_of(shapes(), shape);
        children_of_ = shape;
        return children_;
    }

  private:
    std::shared_ptr<const Definition> definition_;
    std::uint32_t triangles_of_ = kNone, children_of_ = kNone;
    std::optional<protocol::Triangles> triangles_;
    std::vector<CompoundChild> children_;
};

}  // namespace

bool look_at_contacts(const World& world, BodyId of, Seen& seen) {
    seen.contacts.clear();
    if (of.valid()) {
        add_contacts(world, of, false, seen);
        return world.alive(of);
    }
    world.read_bodies(seen.body_states);
    for (const BodyState& body : seen.body_states) {
        if (body.type == BodyType::dynamic && !body.asleep) add_contacts(world, body.id, true, seen);
    }
    return true;
}

bool look_at_joints(const World& world, BodyId of, Seen& seen) {
    seen.joints.clear();
    world.read_joints(seen.joint_states);
    for (const JointState& joint : seen.joint_states) {
        const bool of_it = !of.valid() || joint.a == of || joint.b == of || joint.c == of || joint.d == of;
        if (of_it) seen.joints.push_back(seen_joint(world, joint));
    }
    return !of.valid() || world.alive(of);
}

void look_at_bodies(const World& world, Seen& seen) {
    seen.bodies.clear();
    world.read_bodies(seen.body_states);
    for (const BodyState& body : seen.body_states) seen.bodies.push_back(seen_body(world, body));
}

std::optional<SeenBody> look_at_body(const World& world, BodyId id) {
    return world.alive(id) ? std::optional(seen_body(world, world.body(id))) : std::nullopt;
}

std::uint32_t joint_kind_count() { return kConstraintTypes; }
const char* joint_kind_name(std::uint32_t kind) { return kConstraintNames[kind]; }

Result<std::unique_ptr<SceneLook>> open_scene(protocol::Bytes scene) {
    Result<protocol::LoadedScene> loaded = protocol::load_scene(scene, "scene");
    if (!loaded) return loaded.error();
    Result<protocol::SharedScene> shared = protocol::share_scene(std::move(loaded).value());
    if (!shared) return shared.error();
    return std::unique_ptr<SceneLook>(std::make_unique<LoadedLook>(std::move(shared->definition)));
}

}  // namespace orrery::client
