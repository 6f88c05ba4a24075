// Commands, the only way to change a world from outside. Each is checked; one that cannot be carried out changes
// nothing and is answered by a command_rejected event.

#include <algorithm>
#include <bit>

#include "sim/bodies/numbers.h"
#include "sim/constraints/fields.h"
#include "sim/world/core.h"

namespace orrery::sim {

namespace {

enum class Phase : std::uint8_t { leaves, joins, director, controls };

Phase phase_of(CommandKind kind) {
    switch (kind) {
        case CommandKind::leave:
            return Phase::leaves;
        case CommandKind::join:
            return Phase::joins;
        case CommandKind::control:
            return Phase::controls;
        default:
            return Phase::director;
    }
}

// Phase, then slot or sequence, then the order given: a key that no two commands share.
std::uint64_t order_key(const Command& command, std::uint32_t position) {
    static_assert(kMaxCommandsPerTick <= 1u << 20);
    const Phase phase = phase_of(command.kind);
    const std::uint64_t within = phase == Phase::director ? command.sequence : command.slot;
    return std::uint64_t{static_cast<std::uint8_t>(phase)} << 62 | within << 20 | position;
}

// Carries out commands one by one; each verb returns why it could not, or EventCause::none.
class Applier {
  public:
    explicit Applier(Core& core) : core_(core), state_(core.state) {}

    EventCause apply(const Command& c) {
        switch (c.kind) {
            case CommandKind::join:
                return take_slot(c, SlotHolder::player);
            case CommandKind::leave:
                return leave(c);
            case CommandKind::spawn:
                return spawn(c);
            case CommandKind::despawn:
                return despawn(c);
            case CommandKind::impulse:
                return impulse(c);
            case CommandKind::teleport:
                return teleport(c);
            case CommandKind::motor_target:
                return motor_target(c);
            case CommandKind::grab:
                return grab(c);
            case CommandKind::move_grab:
                return move_grab(c);
            case CommandKind::remove_joint:
                return remove(c);
            case CommandKind::control:
                return control(c, SlotHolder::player);
            case CommandKind::create_joint:
                return create_joint(c);
            case CommandKind::set_joint:
                return set_joint(c);
            case CommandKind::wake:
                return wake_body(c);
            case CommandKind::set_filter:
                return set_filter(c);
            case CommandKind::set_body_type:
                return set_body_type(c);
            case CommandKind::set_gravity_scale:
                return set_gravity_scale(c);
            case CommandKind::set_material:
                return set_material(c);
            case CommandKind::set_damping:
                return set_damping(c);
            case CommandKind::force:
                return force(c);
            case CommandKind::kinematic_target:
                return kinematic_target(c);
            case CommandKind::teleport_group:
                return teleport_group(c);
            case CommandKind::respawn:
                return respawn(c);
            case CommandKind::occupy:
                return take_slot(c, SlotHolder::director);
            case CommandKind::drive:
                return control(c, SlotHolder::director);
            case CommandKind::vacate:
                return vacate(c);
        }
        return EventCause::wrong_kind;
    }

    // After the last leave: the bodies of all slots that were left go in one pass.
    void finish_leaves() {
        if (!any_left_) return;
        for (std::uint32_t i = 1; i < state_.bodies.size(); ++i) {
            const std::uint16_t slot = state_.bodies.slot[i];
            if (body_alive(state_, i) && slot < left_.size() && left_[slot]) remove_body(core_, i, leave_tag_[slot]);
        }
        any_left_ = false;
    }
    bool types_changed() const { return types_changed_; }

  private:
    bool alive(BodyId id) const {
        return id.index < state_.bodies.size() && body_alive(state_, id.index) &&
               state_.bodies.generation[id.index] == id.generation;
    }
    // A joint whose body went earlier in this tick is as good as gone.
    bool alive(JointId id) const {
        if (id.index >= state_.joints.size()) return false;
        const Joint& joint = state_.joints[id.index];
        const auto bodies = joint.bodies();
        return joint.alive && joint.generation == id.generation &&
               std::all_of(bodies.begin(), bodies.end(), [&](std::uint32_t body) { return body_alive(state_, body); });
    }

    EventCause take_slot(const Command& c, SlotHolder holder) {
        if (c.slot >= state_.slots.size()) return EventCause::out_of_range;
        if (state_.slots[c.slot].taken()) return EventCause::slot_taken;
        const SlotDef& slot = core_.def.slots[c.slot];
        if (slot.prefab != kNone) {
            if (const EventCause cause = check_spawn(slot.prefab, slot.pose, {}, {}); cause != EventCause::none)
                return cause;
            spawn_prefab(core_, slot.prefab, slot.pose, {}, {}, c.slot, c.tag);
        }
        state_.slots[c.slot].holder = holder;
        return EventCause::none;
    }

    // Of a slot that `holder` has.
    EventCause check_slot(std::uint16_t slot, SlotHolder holder) const {
        if (slot >= state_.slots.size()) return EventCause::out_of_range;
        if (!state_.slots[slot].taken()) return EventCause::slot_empty;
        return state_.slots[slot].holder == holder ? EventCause::none : EventCause::slot_taken;
    }

    EventCause leave(const Command& c) {
        if (const EventCause cause = check_slot(c.slot, SlotHolder::player); cause != EventCause::none) return cause;
        state_.slots[c.slot] = {};
        left_[c.slot] = true;
        leave_tag_[c.slot] = c.tag;
        any_left_ = true;
        return EventCause::none;
    }

    EventCause vacate(const Command& c) {
        if (const EventCause cause = check_slot(c.slot, SlotHolder::director); cause != EventCause::none) return cause;
        state_.slots[c.slot] = {};
        for (const std::uint32_t body : bodies_of_slot(c.slot)) remove_body(core_, body, c.tag);
        return EventCause::none;
    }

    // Numbers and room for a prefab; `pose` is unit already.
    EventCause check_spawn(std::uint32_t prefab, const Pose& pose, Vec3 linear, Vec3 angular) const {
        if (prefab >= core_.def.prefabs.size()) return EventCause::out_of_range;
        const PrefabDef& made = core_.def.prefabs[prefab];
        if (const EventCause cause = room_for(core_, made.bodies.size(), made.joints.size()); cause != EventCause::none)
            return cause;
        return prefab_misplaced(made, pose, linear, angular);
    }

    // A place and velocities that a body may be given.
    static EventCause check_motion(Pose& pose, Vec3 linear, Vec3 angular) {
        if (!finite(pose.position) || !finite(linear) || !finite(angular)) return EventCause::not_finite;
        if (!ref::within(pose.position, kMaxCoordinate_m)) return EventCause::too_far;
        if (!ref::make_unit(pose.orientation)) return EventCause::out_of_range;
        return speed_fault(linear, angular);
    }

    EventCause spawn(const Command& c) {
        Pose pose = c.pose;
        if (const EventCause cause = check_motion(pose, c.linear, c.angular); cause != EventCause::none) return cause;
        if (const EventCause cause = check_spawn(c.prefab, pose, c.linear, c.angular); cause != EventCause::none)
            return cause;
        spawn_prefab(core_, c.prefab, pose, c.linear, c.angular, kNoSlot, c.tag);
        return EventCause::none;
    }

    EventCause despawn(const Command& c) {
        if (!alive(c.body)) return EventCause::stale_id;
        if (c.body.index == kWorldBody) return EventCause::wrong_kind;
        remove_body(core_, c.body.index, c.tag);
        return EventCause::none;
    }

    EventCause impulse(const Command& c) {
        if (!alive(c.body)) return EventCause::stale_id;
        Bodies& bodies = state_.bodies;
        const std::uint32_t i = c.body.index;
        if (!bodies.dynamic(i)) return EventCause::wrong_kind;
        if (!finite(c.linear) || !finite(c.angular) || (c.at_point && !finite(c.pose.position)))
            return EventCause::not_finite;
        if (c.at_point && !ref::within(c.pose.position, kMaxCoordinate_m)) return EventCause::too_far;
        const Vec3 lever = c.at_point ? ref::difference(c.pose.position, pose_of(bodies.pose[i]).position) : Vec3{};
        VelocityRecord velocity = bodies.velocity[i];
        ref::add_impulse(velocity, ref::world_inertia(bodies.mass(i), bodies.pose[i]), bodies.mass(i), lever, c.linear,
                         c.angular);
        const EventCause cause = speed_fault({velocity.linear[0], velocity.linear[1], velocity.linear[2]},
                                             {velocity.angular[0], velocity.angular[1], velocity.angular[2]});
        if (cause != EventCause::none) return cause;
        bodies.velocity[i] = velocity;
        wake(core_, i);
        return EventCause::none;
    }

    EventCause teleport(const Command& c) {
        if (!alive(c.body)) return EventCause::stale_id;
        Bodies& bodies = state_.bodies;
        const std::uint32_t i = c.body.index;
        if ((bodies.flags[i] & (kBodyDynamic | kBodyKinematic)) == 0) return EventCause::wrong_kind;
        Pose pose = c.pose;
        if (const EventCause cause = check_motion(pose, c.linear, c.angular); cause != EventCause::none) return cause;
        put(i, pose, c.linear, c.angular);
        return EventCause::none;
    }

    // The body is there now, whatever was said of it before.
    void put(std::uint32_t i, const Pose& pose, Vec3 linear, Vec3 angular) {
        Bodies& bodies = state_.bodies;
        set_pose(bodies.pose[i], pose);
        set_velocity(bodies.velocity[i], linear, angular);
        bodies.inertia[i] = ref::world_inertia(bodies.mass(i), bodies.pose[i]);
        bodies.flags[i] = static_cast<std::uint8_t>(bodies.flags[i] & ~kBodyTargeted);
        note_placed(core_, i);
        wake_neighbours(core_, i);
        chill(i);
    }
    void chill(std::uint32_t i) {
        core_.cold_start.resize(state_.bodies.size());
        if (core_.cold_start[i] == 0) core_.cold_bodies.push_back(i);
        core_.cold_start[i] = 1;
    }

    // ---- groups

    // All ascending in the order of the prefab.
    std::vector<std::uint32_t> bodies_of_group(BodyId group) const {
        return prefab_bodies([&](std::uint32_t i) { return state_.group[i] == group; });
    }
    std::vector<std::uint32_t> bodies_of_slot(std::uint16_t slot) const {
        return prefab_bodies([&](std::uint32_t i) { return state_.bodies.slot[i] == slot; });
    }
    template <class Is>
    std::vector<std::uint32_t> prefab_bodies(Is is) const {
        std::vector<std::uint32_t> out;
        for (std::uint32_t i = 1; i < state_.bodies.size(); ++i) {
            if (body_alive(state_, i) && state_.origin[i].prefab != kNone && is(i)) out.push_back(i);
        }
        std::ranges::stable_sort(out, {}, [&](std::uint32_t i) { return state_.origin[i].index; });
        return out;
    }

    // Takes the first of `group`, and the others with it, to a pose that was checked.
    EventCause carry(std::span<const std::uint32_t> group, const Pose& to, Vec3 linear, Vec3 angular) {
        Bodies& bodies = state_.bodies;
        const Pose from = pose_of(bodies.pose[group[0]]);
        std::vector<Pose> poses(group.size());
        std::vector<Vec3> velocities(group.size());
        std::vector<bool> of_group(bodies.size());
        for (std::size_t k = 0; k < group.size(); ++k) {
            of_group[group[k]] = true;
            poses[k] = k == 0 ? to : ref::carried(from, to, pose_of(bodies.pose[group[k]]));
            if (!ref::within(poses[k].position, kMaxCoordinate_m)) return EventCause::too_far;
            if (!moves(group[k])) continue;
            velocities[k] = ref::velocity_at(linear, angular, ref::difference(poses[k].position, to.position));
            if (const EventCause cause = speed_fault(velocities[k], angular); cause != EventCause::none) return cause;
        }
        const Pose frame = ref::frame_between(from, to);
        std::vector<std::pair<std::uint32_t, Constraint>> placed;  // of joints with the world
        for (std::uint32_t i = 0; i < state_.joints.size(); ++i) {
            const Joint& joint = state_.joints[i];
            const bool a_is_world = joint.a == kWorldBody, b_is_world = joint.b == kWorldBody;
            if (!joint.alive || (!a_is_world && !b_is_world) || !of_group[a_is_world ? joint.b : joint.a]) continue;
            placed.emplace_back(i, joint.constraint);
            ref::place_world_side(placed.back().second, frame, a_is_world, b_is_world);
            if (!live_constraint_holds(placed.back().second)) return EventCause::too_far;
        }
        const auto comes_along = [&](const ActuatorState& a) { return a.body != kNone && of_group[a.body]; };
        for (const ActuatorState& actuator : state_.actuators) {
            if (comes_along(actuator) && is_kinematic(actuator) &&
                !ref::within(ref::carried(from, to, actuator.base).position, kMaxCoordinate_m))
                return EventCause::too_far;
        }

        for (std::size_t k = 0; k < group.size(); ++k)
            put(group[k], poses[k], velocities[k], moves(group[k]) ? angular : Vec3{});
        for (const auto& [i, constraint] : placed) {
            core_.rigs_changed = core_.rigs_changed || rig_link(constraint);
            state_.joints[i].constraint = constraint;
            renew_joint(core_, i);
        }
        for (ActuatorState& actuator : state_.actuators) {
            if (!comes_along(actuator)) continue;
            actuator.walker = {};
            if (is_kinematic(actuator)) actuator.base = ref::carried(from, to, actuator.base);
        }
        return EventCause::none;
    }
    bool moves(std::uint32_t i) const {
        const std::uint8_t flags = state_.bodies.flags[i];
        return (flags & (kBodyDynamic | kBodyKinematic)) != 0 && (flags & kBodyQuarantined) == 0;
    }
    bool is_kinematic(const ActuatorState& actuator) const {
        return actuator_definition(core_.def, actuator).kind == ActuatorKind::kinematic;
    }

    EventCause teleport_group(const Command& c) {
        if (!alive(c.body)) return EventCause::stale_id;
        const BodyId group = state_.group[c.body.index];
        if (!group.valid()) return EventCause::wrong_kind;
        Pose pose = c.pose;
        if (const EventCause cause = check_motion(pose, c.linear, c.angular); cause != EventCause::none) return cause;
        return carry(bodies_of_group(group), pose, c.linear, c.angular);
    }

    EventCause respawn(const Command& c) {
        if (c.slot >= state_.slots.size()) return EventCause::out_of_range;
        if (!state_.slots[c.slot].taken()) return EventCause::slot_empty;
        const std::uint32_t prefab = core_.def.slots[c.slot].prefab;
        if (prefab == kNone) return EventCause::wrong_kind;
        Pose pose = c.pose;
        if (const EventCause cause = check_motion(pose, {}, {}); cause != EventCause::none) return cause;
        const std::vector<std::uint32_t> bodies = bodies_of_slot(c.slot);
        if (is_whole(bodies, core_.def.prefabs[prefab], c.slot))
            return carry(bodies, ref::compose(pose, core_.def.prefabs[prefab].bodies[0].pose), {}, {});
        if (const EventCause cause = check_spawn(prefab, pose, {}, {}); cause != EventCause::none) return cause;
        for (const std::uint32_t body : bodies) remove_body(core_, body, c.tag);
        spawn_prefab(core_, prefab, pose, {}, {}, c.slot, c.tag);
        for (const std::uint32_t body : bodies_of_slot(c.slot)) state_.bodies.velocity[body] = {};
        return EventCause::none;
    }
    bool is_whole(std::span<const std::uint32_t> bodies, const PrefabDef& prefab, std::uint16_t slot) const {
        if (bodies.size() != prefab.bodies.size()) return false;
        for (std::size_t k = 0; k < bodies.size(); ++k) {
            if (state_.origin[bodies[k]].index != k || (state_.bodies.flags[bodies[k]] & kBodyQuarantined) != 0)
                return false;
        }
        std::size_t joints = 0;
        for (std::uint32_t i = 0; i < state_.joints.size(); ++i)
            joints += state_.joints[i].slot == slot && alive(joint_id(state_, i)) ? 1u : 0u;
        return joints == prefab.joints.size();
    }

    // ---- what a body is

    EventCause check_body(BodyId id) const {
        if (!alive(id)) return EventCause::stale_id;
        return id.index == kWorldBody ? EventCause::wrong_kind : EventCause::none;
    }
    bool quarantined(BodyId id) const { return (state_.bodies.flags[id.index] & kBodyQuarantined) != 0; }

    EventCause wake_body(const Command& c) {
        if (const EventCause cause = check_body(c.body); cause != EventCause::none) return cause;
        wake_neighbours(core_, c.body.index);
        return EventCause::none;
    }

    EventCause set_filter(const Command& c) {
        if (const EventCause cause = check_body(c.body); cause != EventCause::none) return cause;
        BodySettings settings = settings_of(core_, c.body.index);
        settings.category = c.category;
        settings.mask = c.mask;
        change_info(settings);
        core_.collision.forget_bodies();
        return EventCause::none;
    }

    EventCause set_material(const Command& c) {
        if (const EventCause cause = check_body(c.body); cause != EventCause::none) return cause;
        if (c.material >= core_.def.materials.size()) return EventCause::out_of_range;
        BodySettings settings = settings_of(core_, c.body.index);
        settings.material = c.material;
        change_info(settings);
        return EventCause::none;
    }
    void change_info(const BodySettings& settings) {
        BodyInfo info = state_.bodies.info(settings.body);
        info.category = settings.category;
        info.mask = settings.mask;
        info.material = settings.material;
        change_settings(core_, settings);
        state_.bodies.set_info(settings.body, info);
        wake_neighbours(core_, settings.body);
    }

    EventCause set_gravity_scale(const Command& c) {
        if (const EventCause cause = check_body(c.body); cause != EventCause::none) return cause;
        if (quarantined(c.body)) return EventCause::wrong_kind;
        if (!finite(c.value)) return EventCause::not_finite;
        if (!ref::within(c.value, -kMaxGravityScale, kMaxGravityScale)) return EventCause::out_of_range;
        BodySettings settings = settings_of(core_, c.body.index);
        settings.gravity_scale = c.value;
        change_mass(settings);
        return EventCause::none;
    }

    EventCause set_damping(const Command& c) {
        if (const EventCause cause = check_body(c.body); cause != EventCause::none) return cause;
        if (quarantined(c.body)) return EventCause::wrong_kind;
        if (!finite(c.linear_damping) || !finite(c.angular_damping)) return EventCause::not_finite;
        if (!ref::within(c.linear_damping, 0.0f, kMaxDamping_hz) ||
            !ref::within(c.angular_damping, 0.0f, kMaxDamping_hz))
            return EventCause::out_of_range;
        BodySettings settings = settings_of(core_, c.body.index);
        settings.linear_damping = c.linear_damping;
        settings.angular_damping = c.angular_damping;
        change_mass(settings);
        return EventCause::none;
    }
    // But for its inertia, which may be its rig's.
    void change_mass(const BodySettings& settings) {
        MassRecord mass = state_.bodies.mass(settings.body);
        mass.gravity_scale = settings.gravity_scale;
        mass.linear_damping = settings.linear_damping;
        mass.angular_damping = settings.angular_damping;
        change_settings(core_, settings);
        state_.bodies.set_mass(settings.body, mass);
        core_.rigs_changed = true;
        wake(core_, settings.body);
    }

    EventCause set_body_type(const Command& c) {
        if (const EventCause cause = check_body(c.body); cause != EventCause::none) return cause;
        if (c.type > BodyType::dynamic) return EventCause::out_of_range;
        const std::uint32_t i = c.body.index;
        if (quarantined(c.body) || !may_be(core_, state_.origin[i], c.type)) return EventCause::wrong_kind;
        BodySettings settings = settings_of(core_, i);
        if (type_of(settings) == c.type) return EventCause::none;
        wake_neighbours(core_, i);
        settings.type = static_cast<std::uint32_t>(c.type);
        change_settings(core_, settings);
        apply_settings(core_, state_, settings);
        Bodies& bodies = state_.bodies;
        bodies.flags[i] = flags_of(c.type);
        note_body(core_, i);
        bodies.restart_rest(i);
        bodies.delta[i] = {};
        if (c.type == BodyType::fixed) bodies.velocity[i] = {};
        bodies.inertia[i] = ref::world_inertia(bodies.mass(i), bodies.pose[i]);
        chill(i);
        core_.rigs_changed = types_changed_ = true;
        ++core_.joint_epoch;
        return EventCause::none;
    }

    EventCause force(const Command& c) {
        if (!alive(c.body)) return EventCause::stale_id;
        const Bodies& bodies = state_.bodies;
        const std::uint32_t i = c.body.index;
        if (!bodies.dynamic(i)) return EventCause::wrong_kind;
        if (!finite(c.linear) || !finite(c.angular) || (c.at_point && !finite(c.pose.position)))
            return EventCause::not_finite;
        if (c.at_point && !ref::within(c.pose.position, kMaxCoordinate_m)) return EventCause::too_far;
        const Vec3 lever = c.at_point ? ref::difference(c.pose.position, pose_of(bodies.pose[i]).position) : Vec3{};
        const Vec3 torque = ref::torque_about(lever, c.linear, c.angular);
        VelocityRecord change;
        ref::add_impulse(change, ref::world_inertia(bodies.mass(i), bodies.pose[i]), bodies.mass(i), {},
                         ref::scaled(c.linear, core_.dt_s), ref::scaled(torque, core_.dt_s));
        const EventCause cause = speed_fault({change.linear[0], change.linear[1], change.linear[2]},
                                             {change.angular[0], change.angular[1], change.angular[2]});
        if (cause != EventCause::none) return cause;
        push(core_, ActuatorKind::force, i, c.linear);
        push(core_, ActuatorKind::torque, i, torque);
        return EventCause::none;
    }

    EventCause kinematic_target(const Command& c) {
        if (!alive(c.body)) return EventCause::stale_id;
        Bodies& bodies = state_.bodies;
        const std::uint32_t i = c.body.index;
        if ((bodies.flags[i] & (kBodyKinematic | kBodyQuarantined)) != kBodyKinematic) return EventCause::wrong_kind;
        Pose target = c.pose;
        if (const EventCause cause = check_motion(target, {}, {}); cause != EventCause::none) return cause;
        Vec3 linear, angular;
        ref::velocities_between(pose_of(bodies.pose[i]), target, core_.dt_s, linear, angular);
        if (const EventCause cause = speed_fault(linear, angular); cause != EventCause::none) return cause;
        const bool rested = !bodies.active(i);
        set_velocity(bodies.velocity[i], linear, angular);
        bodies.flags[i] = static_cast<std::uint8_t>(bodies.flags[i] | kBodyTargeted);
        if (rested && bodies.active(i)) wake_neighbours(core_, i);
        core_.targets.push_back({i, target});
        return EventCause::none;
    }

    EventCause motor_target(const Command& c) {
        if (!alive(c.joint)) return EventCause::stale_id;
        Constraint constraint = state_.joints[c.joint.index].constraint;
        if (!has_target(constraint, ActuatorKind::motor)) return EventCause::wrong_kind;
        if (!finite(c.value)) return EventCause::not_finite;
        ref::set_target(constraint, ActuatorKind::motor, c.value);
        if (!ref::is_target(constraint, ActuatorKind::motor, c.value)) return EventCause::out_of_range;
        note_target(core_, state_.joints[c.joint.index].constraint, constraint);
        state_.joints[c.joint.index].constraint = constraint;
        wake(core_, state_.joints[c.joint.index]);
        renew_joint(core_, c.joint.index);
        return EventCause::none;
    }

    EventCause grab(const Command& c) {
        if (!alive(c.body)) return EventCause::stale_id;
        if (!state_.bodies.dynamic(c.body.index)) return EventCause::wrong_kind;
        if (!finite(c.pose.position) || !finite(c.linear) || !finite(c.value)) return EventCause::not_finite;
        OneBodyLinearServo servo;
        servo.anchor_b = c.pose.position;
        servo.target = c.linear;
        servo.servo.max_force = c.value;
        Joint joint;
        joint.b = c.body.index;
        joint.constraint = servo;
        joint.collide_connected = true;
        if (!check_constraint(joint.constraint).empty()) return EventCause::out_of_range;
        if (const EventCause cause = room_for(core_, 0, 1); cause != EventCause::none) return cause;
        Event event;
        event.kind = EventKind::joint_created;
        event.b = c.body;
        event.joint = joint_id(state_, add_joint(core_, joint));
        event.tag = c.tag;
        state_.events.push_back(event);
        return EventCause::none;
    }

    EventCause create_joint(const Command& c) {
        const JointOrder& order = c.order;
        const BodyId ids[4] = {order.a, order.b, order.c, order.d};
        std::array<bool, 4> given{};
        for (std::size_t k = 0; k < 4; ++k) {
            given[k] = ids[k].valid();
            if (!given[k]) continue;
            if (!alive(ids[k])) return EventCause::stale_id;
            if (ids[k].index == kWorldBody) return EventCause::wrong_kind;
            for (std::size_t other = 0; other < k; ++other) {
                if (ids[other].index == ids[k].index) return EventCause::wrong_kind;
            }
        }
        if (!given[1] || !bodies_fit(order.constraint, given)) return EventCause::wrong_kind;
        Joint joint;
        joint.a = given[0] ? order.a.index : kWorldBody;
        joint.b = order.b.index;
        joint.c = given[2] ? order.c.index : kWorldBody;
        joint.d = given[3] ? order.d.index : kWorldBody;
        joint.constraint = order.constraint;
        joint.collide_connected = order.collide_connected;
        joint.break_force_n = order.break_force_n;
        joint.break_torque_nm = order.break_torque_nm;
        joint.break_removes = order.break_removes;
        if (const EventCause cause = check_settings(joint.constraint); cause != EventCause::none) return cause;
        if (!finite(order.break_force_n) || !finite(order.break_torque_nm)) return EventCause::not_finite;
        if (!ref::positive(order.break_force_n) || !ref::positive(order.break_torque_nm))
            return EventCause::out_of_range;
        if (const EventCause cause = room_for(core_, 0, 1); cause != EventCause::none) return cause;
        Event event;
        event.kind = EventKind::joint_created;
        event.a = order.a;
        event.b = order.b;
        event.joint = joint_id(state_, add_joint(core_, joint));
        event.tag = c.tag;
        state_.events.push_back(event);
        return EventCause::none;
    }

    EventCause set_joint(const Command& c) {
        if (!alive(c.joint)) return EventCause::stale_id;
        Joint& joint = state_.joints[c.joint.index];
        if (joint.constraint.index() != c.order.constraint.index()) return EventCause::wrong_kind;
        Constraint wanted = c.order.constraint;
        if (const EventCause cause = check_settings(wanted); cause != EventCause::none) return cause;
        core_.rigs_changed = core_.rigs_changed || rig_link(joint.constraint) || rig_link(wanted);
        joint.constraint = wanted;
        wake(core_, joint);
        // What a gear remembers belongs to its old settings: it begins anew as its wheels stand.
        JointImpulse& impulse = state_.joint_impulse[c.joint.index];
        std::fill(std::begin(impulse.row) + first_state(wanted), std::end(impulse.row), 0.0f);
        renew_joint(core_, c.joint.index);
        return EventCause::none;
    }

    static int first_state(const Constraint& constraint) {
        return std::visit(
            []<class T>(const T&) {
                if constexpr (requires { T::kFirstState; })
                    return T::kFirstState;
                else
                    return kMaxJointRows;
            },
            constraint);
    }
    // Normalises directions as a definition's are.
    static EventCause check_settings(Constraint& constraint) {
        FiniteFields visitor;
        std::visit([&]<class T>(const T& c) { T::fields(c, visitor); }, constraint);
        if (!visitor.all) return EventCause::not_finite;
        return check_constraint(constraint).empty() ? EventCause::none : EventCause::out_of_range;
    }

    EventCause move_grab(const Command& c) {
        if (!alive(c.joint)) return EventCause::stale_id;
        auto* servo = std::get_if<OneBodyLinearServo>(&state_.joints[c.joint.index].constraint);
        if (!servo) return EventCause::wrong_kind;
        if (!finite(c.linear)) return EventCause::not_finite;
        if (!ref::within(c.linear, kMaxCoordinate_m)) return EventCause::too_far;
        servo->target = c.linear;
        wake(core_, state_.joints[c.joint.index]);
        renew_joint(core_, c.joint.index);
        return EventCause::none;
    }

    EventCause remove(const Command& c) {
        if (!alive(c.joint)) return EventCause::stale_id;
        remove_joint(core_, c.joint.index);
        return EventCause::none;
    }

    EventCause control(const Command& c, SlotHolder holder) {
        if (const EventCause cause = check_slot(c.slot, holder); cause != EventCause::none) return cause;
        std::array<float, kControlChannels> held{};
        for (std::uint32_t i = 0; i < kControlChannels; ++i) {
            if (is_nan(c.channels[i])) return EventCause::not_finite;
            held[i] = ref::clamp_control(c.channels[i]);
        }
        state_.slots[c.slot].controls = held;
        return EventCause::none;
    }

    struct FiniteFields : FieldVisitor<FiniteFields> {
        bool all = true;
        void value(const float& x) { all = all && finite(x); }
        void value(const Vec3& v) { all = all && finite(v); }
        void value(const Quat& q) { all = all && finite(q.x) && finite(q.y) && finite(q.z) && finite(q.w); }
        void value(const bool&) {}
    };
    static std::uint32_t magnitude(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7fff'ffffu; }
    static bool finite(float x) { return magnitude(x) < 0x7f80'0000u; }
    static bool is_nan(float x) { return magnitude(x) > 0x7f80'0000u; }
    static bool finite(Vec3 v) { return finite(v.x) && finite(v.y) && finite(v.z); }

    Core& core_;
    State& state_;
    std::array<bool, kMaxSlots> left_{};
    std::array<std::uint64_t, kMaxSlots> leave_tag_{};
    bool any_left_ = false;
    bool types_changed_ = false;
};

Event rejection(const Command& command, EventCause cause) {
    Event event;
    event.kind = EventKind::command_rejected;
    event.cause = cause;
    event.command = command.kind;
    event.slot = command.slot;
    event.a = command.body;
    event.joint = command.joint;
    event.tag = command.tag;
    return event;
}

// Joints of bodies that were moved begin at 0, and anew with what they remember of angles in the world.
void cool_joints(Core& core) {
    if (core.cold_bodies.empty()) return;
    State& state = core.state;
    for (std::uint32_t i = 0; i < state.joints.size(); ++i) {
        const Joint& joint = state.joints[i];
        if (!joint.alive) continue;
        const auto bodies = joint.bodies();
        const bool cold = std::any_of(bodies.begin(), bodies.end(), [&](std::uint32_t body) {
            return body < core.cold_start.size() && core.cold_start[body] != 0;
        });
        if (!cold) continue;
        state.joint_impulse[i] = {};
        note_joint(core, i);
        if (!state.rig_force.empty()) state.rig_force[force_row(i)] = {};
    }
}

// Bodies that were sent somewhere in the last tick and are not in this one have arrived.
void finish_targets(Core& core) {
    Bodies& bodies = core.state.bodies;
    std::erase_if(core.targets, [&](const KinematicTarget& t) { return (bodies.flags[t.body] & kBodyTargeted) == 0; });
    if (core.targeted_before.empty()) return;
    std::vector<bool> again(bodies.size());
    for (const KinematicTarget& target : core.targets) again[target.body] = true;
    for (const std::uint32_t body : core.targeted_before) {
        if ((bodies.flags[body] & kBodyTargeted) == 0 || again[body]) continue;
        bodies.flags[body] = static_cast<std::uint8_t>(bodies.flags[body] & ~kBodyTargeted);
        bodies.velocity[body] = {};
        core.digests.motion.note(body);
    }
    core.targeted_before.clear();
}

}  // namespace

void apply_commands(Core& core, std::span<const Command> commands) {
    core.targeted_before.clear();
    for (const KinematicTarget& target : core.targets) core.targeted_before.push_back(target.body);
    core.targets.clear();
    for (const std::uint32_t body : core.cold_bodies) core.cold_start[body] = 0;
    core.cold_bodies.clear();
    core.command_order.clear();
    for (std::uint32_t i = 0; i < commands.size(); ++i) core.command_order.push_back(order_key(commands[i], i));
    std::sort(core.command_order.begin(), core.command_order.end());

    Applier applier(core);
    bool leaving = true;
    for (const std::uint64_t key : core.command_order) {
        const Command& command = commands[key & 0xf'ffffu];
        if (leaving && command.kind != CommandKind::leave) {
            applier.finish_leaves();
            leaving = false;
        }
        const EventCause cause = applier.apply(command);
        if (cause != EventCause::none) core.state.events.push_back(rejection(command, cause));
    }
    applier.finish_leaves();
    finish_removals(core);
    if (applier.types_changed()) list_special_bodies(core);
    cool_joints(core);
    finish_targets(core);
    if (core.joints_changed) list_joints(core);
}

}  // namespace orrery::sim
