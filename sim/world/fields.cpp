// The walk of form.h once more, with names. A test demands the bytes of save().
#include <array>
#include <string>

#include "orrery/state_fields.hpp"
#include "sim/world/form.h"
#include "sim/world/impl.h"

namespace orrery::sim {

namespace {

template <class T>
constexpr FieldType type_of() {
    if constexpr (std::is_same_v<T, float>) return FieldType::f32;
    if constexpr (sizeof(T) == 1) return FieldType::u8;
    if constexpr (sizeof(T) == 2) return FieldType::u16;
    if constexpr (sizeof(T) == 4) return FieldType::u32;
    return FieldType::u64;
}

class Walk {
  public:
    explicit Walk(StateFieldVisitor& visitor) : visitor_(visitor) {}
    void in(Subsystem subsystem) { field_.subsystem = subsystem; }
    Walk& at(std::string_view list, std::size_t index) {
        field_.list = list;
        field_.index = static_cast<std::uint32_t>(index);
        return *this;
    }
    Walk& world() { return at("world", 0); }

    template <class T>
    requires std::is_arithmetic_v<T> Walk& put(std::string_view name, T value) { return put(name, &value, 1); }
    template <class T>
    Walk& put(std::string_view name, const T* values, std::size_t count) {
        field_.name = name;
        field_.type = type_of<T>();
        field_.count = static_cast<std::uint32_t>(count);
        field_.bytes = {reinterpret_cast<const std::uint8_t*>(values), count * sizeof(T)};
        visitor_.field(field_);
        return *this;
    }
    Walk& put(std::string_view name, const Vec3& v) { return put(name, std::array{v.x, v.y, v.z}.data(), 3); }
    Walk& put(std::string_view name, const Quat& q) { return put(name, std::array{q.x, q.y, q.z, q.w}.data(), 4); }

  private:
    StateFieldVisitor& visitor_;
    StateField field_;
};

// Of a constraint, by the names that its description gives them.
class NamedFields : public FieldVisitor<NamedFields> {
  public:
    explicit NamedFields(Walk& walk) : walk_(walk) {}
    void point(Side side, const char* name, const Vec3& v) { walk_.put(sided(side, name), v); }
    void world_point(const char* name, const Vec3& v) { walk_.put(name, v); }
    void direction(Side side, const char* name, const Vec3& v) { walk_.put(sided(side, name), v); }
    void velocity(Side, const char* name, const Vec3& v, float) { walk_.put(name, v); }
    void turn(const char* name, const Quat& q) { walk_.put(name, q); }
    void number(const char* name, float x, float, float) { walk_.put(name, x); }
    void amount(const char* name, float x) { walk_.put(name, x); }
    void flag(bool on) { walk_.put("limited", on); }
    template <class S>
    void spring(const char* name, const S& s) {
        put_of(name, "frequency_hz", s.frequency_hz);
        put_of(name, "damping_ratio", s.damping_ratio);
        put_of(name, "max_recovery_speed", s.max_recovery_speed);
    }
    template <class S>
    void servo(const char* name, const S& s) {
        put_of(name, "max_speed", s.max_speed);
        put_of(name, "base_speed", s.base_speed);
        put_of(name, "max_force", s.max_force);
    }
    template <class M>
    void motor(const char* name, const M& m) {
        put_of(name, "max_force", m.max_force);
        put_of(name, "damping", m.damping);
    }

  private:
    const std::string& sided(Side side, const char* name) {
        return text_ = std::string(name) + (side == Side::a ? " (a)" : " (b)");
    }
    void put_of(const char* settings, const char* name, float x) {
        text_ = std::string(settings) + "." + name;
        walk_.put(text_, x);
    }
    Walk& walk_;
    std::string text_;
};

void visit_identity(Walk& walk, const Core& core) {
    const State& state = core.state;
    const Bodies& bodies = state.bodies;
    walk.in(Subsystem::identity);
    walk.world().put("body_indices", bodies.size());
    for (std::uint32_t i = 0; i < bodies.size(); ++i) walk.at("bodies", i).put("flags", bodies.flags[i]);
    for (std::uint32_t i = 0; i < bodies.size(); ++i) walk.at("bodies", i).put("generation", bodies.generation[i]);
    for (std::uint32_t i = 0; i < bodies.size(); ++i)
        walk.at("bodies", i).put("prefab", state.origin[i].prefab).put("member", state.origin[i].index);
    for (std::uint32_t i = 0; i < bodies.size(); ++i) walk.at("bodies", i).put("slot", bodies.slot[i]);
    if (!core.def.prefabs.empty()) {
        for (std::uint32_t i = 0; i < bodies.size(); ++i)
            walk.at("bodies", i)
                .put("group_index", state.group[i].index)
                .put("group_generation", state.group[i].generation);
    }
    walk.world().put("changed", static_cast<std::uint32_t>(state.changed.size()));
    for (std::size_t i = 0; i < state.changed.size(); ++i) {
        const BodySettings& s = state.changed[i];
        walk.at("changed", i).put("body", s.body).put("type", s.type).put("category", s.category).put("mask", s.mask);
        walk.put("material", s.material).put("gravity_scale", s.gravity_scale);
        walk.put("linear_damping", s.linear_damping).put("angular_damping", s.angular_damping);
    }
    walk.world().put("joint_indices", static_cast<std::uint32_t>(state.joints.size()));
    for (std::size_t i = 0; i < state.joints.size(); ++i) {
        const Joint& joint = state.joints[i];
        walk.at("joints", i).put("alive", joint.alive).put("generation", joint.generation).put("slot", joint.slot);
    }
}

void visit_bodies(Walk& walk, const Bodies& bodies) {
    walk.in(Subsystem::bodies);
    for (std::uint32_t i = 0; i < bodies.size(); ++i) walk.at("bodies", i).put("slow_ticks", bodies.slow_ticks[i]);
    for (std::uint32_t i = 0; i < bodies.size(); ++i) {
        const PoseRecord& pose = bodies.pose[i];
        const VelocityRecord& velocity = bodies.velocity[i];
        walk.at("bodies", i).put("position", pose.position, 3).put("orientation", pose.orientation, 4);
        walk.put("linear_velocity", velocity.linear, 3).put("angular_velocity", velocity.angular, 3);
    }
    std::uint32_t kept = 0, n = 0;
    for (const VelocityRecord& motion : bodies.mean_motion) kept += is_kept(motion) ? 1u : 0u;
    walk.world().put("mean_motions", kept);
    for (std::uint32_t i = 0; i < bodies.mean_motion.size(); ++i) {
        const VelocityRecord& motion = bodies.mean_motion[i];
        if (!is_kept(motion)) continue;
        walk.at("mean_motions", n++).put("body", i).put("linear", motion.linear, 3).put("angular", motion.angular, 3);
    }
}

void visit_joints(Walk& walk, const State& state) {
    walk.in(Subsystem::joints);
    for (std::size_t i = 0; i < state.joints.size(); ++i) {
        if (state.joints[i].alive) walk.at("joints", i).put("impulse", state.joint_impulse[i].row, kMaxJointRows);
    }
    for (std::size_t i = 0; i < state.rig_force.size(); ++i)
        walk.at("rig_forces", i).put("force", state.rig_force[i].force, 4);
}

void visit_contact(Walk& walk, const KeptContact& c) {
    const bool children = (c.child_a | c.child_b) != 0;
    walk.put("form", static_cast<std::uint8_t>((c.count - 1) | c.touching << 2 | (children ? 8u : 0u)));
    walk.put("a", c.a).put("b", c.b);
    if (children) walk.put("child_a", c.child_a).put("child_b", c.child_b);
    walk.put("feature", c.feature, c.count).put("normal_impulse", c.normal_impulse, c.count);
    walk.put("friction_impulse", c.friction_impulse, 3).put("twist_impulse", c.twist_impulse);
    walk.put("total_normal_impulse", c.total_normal_impulse);
    if (c.count > 2) walk.put("held_a", c.held_a, 3).put("held_b", c.held_b, 3);
}

template <class List>
void visit_contact_list(Walk& walk, const char* name, const List& contacts) {
    walk.world().put(name, static_cast<std::uint32_t>(contacts.size()));
    for (std::size_t i = 0; i < contacts.size(); ++i) visit_contact(walk.at(name, i), contacts[i]);
}

void visit_contacts(Walk& walk, const Core& core) {
    const State& state = core.state;
    walk.in(Subsystem::contacts);
    visit_contact_list(walk, "contacts", state.contacts);
    visit_contact_list(walk, "sleeping_contacts", state.sleeping_contacts);
    walk.world().put("sensor_overlaps", static_cast<std::uint32_t>(state.sensor_overlaps.size()));
    for (std::size_t i = 0; i < state.sensor_overlaps.size(); ++i) {
        const SensorOverlap& overlap = state.sensor_overlaps[i];
        walk.at("sensor_overlaps", i).put("sensor", overlap.sensor).put("visitor", overlap.visitor);
    }
    if (!core.any_surfaces) return;
    walk.world().put("rolling", static_cast<std::uint32_t>(state.rolling.size()));
    for (std::size_t i = 0; i < state.rolling.size(); ++i) {
        const RollingImpulse& r = state.rolling[i];
        walk.at("rolling", i).put("a", r.a).put("b", r.b).put("child_a", r.child_a).put("child_b", r.child_b);
        walk.put("impulse", r.impulse, 3);
    }
}

void visit_control(Walk& walk, const State& state) {
    walk.in(Subsystem::control);
    for (std::size_t i = 0; i < state.slots.size(); ++i) {
        const SlotState& slot = state.slots[i];
        walk.at("slots", i).put("holder", static_cast<std::uint8_t>(slot.holder));
        walk.put("controls", slot.controls.data(), slot.controls.size());
    }
    walk.world().put("actuators", static_cast<std::uint32_t>(state.actuators.size()));
    for (std::size_t i = 0; i < state.actuators.size(); ++i) {
        const ActuatorState& a = state.actuators[i];
        walk.at("actuators", i).put("prefab", a.prefab).put("actuator", a.index).put("body", a.body);
        walk.put("joint", a.joint).put("slot", a.slot);
        const Pose base = saved_base(a);
        walk.put("base_position", base.position).put("base_orientation", base.orientation);
    }
}

void visit_events(Walk& walk, const State& state) {
    walk.in(Subsystem::events);
    walk.world().put("events", static_cast<std::uint32_t>(state.events.size()));
    for (std::size_t i = 0; i < state.events.size(); ++i) {
        const Event& e = state.events[i];
        walk.at("events", i).put("kind", static_cast<std::uint8_t>(e.kind));
        walk.put("cause", static_cast<std::uint8_t>(e.cause)).put("command", static_cast<std::uint8_t>(e.command));
        walk.put("slot", e.slot).put("a", e.a.index).put("a_generation", e.a.generation);
        walk.put("b", e.b.index).put("b_generation", e.b.generation);
        walk.put("child_a", e.child_a).put("child_b", e.child_b);
        walk.put("joint", e.joint.index).put("joint_generation", e.joint.generation).put("tag", e.tag);
        walk.put("point", e.point).put("normal", e.normal).put("impulse", e.impulse);
    }
}

// Of the hash they are in the leaf of identity.
void visit_joint_parameters(Walk& walk, const State& state) {
    walk.in(Subsystem::identity);
    for (std::size_t i = 0; i < state.joints.size(); ++i) {
        const Joint& joint = state.joints[i];
        if (!joint.alive) continue;
        walk.at("joints", i).put("a", joint.a).put("b", joint.b).put("break_force_n", joint.break_force_n);
        walk.put("break_torque_nm", joint.break_torque_nm).put("break_removes", joint.break_removes);
        walk.put("collide_connected", joint.collide_connected);
        walk.put("type", static_cast<std::uint8_t>(joint.constraint.index()));
        NamedFields named(walk);
        std::visit([&]<class T>(const T& c) { T::fields(c, named); }, joint.constraint);
        const int count = body_count(joint.constraint);
        if (count >= 3) walk.put("c", joint.c);
        if (count >= 4) walk.put("d", joint.d);
    }
}

}  // namespace

void World::visit_fields(StateFieldVisitor& visitor) const {
    const Core& core = impl_->core;
    Walk walk(visitor);
    walk.in(Subsystem::clock);
    walk.world().put("tick", core.state.tick).put("definition_hash", core.definition_hash);
    visit_identity(walk, core);
    visit_bodies(walk, core.state.bodies);
    visit_joints(walk, core.state);
    visit_contacts(walk, core);
    visit_control(walk, core.state);
    visit_events(walk, core.state);
    visit_joint_parameters(walk, core.state);
}

}  // namespace orrery::sim
