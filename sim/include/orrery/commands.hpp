// Commands: the only way to change a world from outside. A command that cannot be carried out changes nothing; the
// event command_rejected has its cause (EventCause).
#pragma once

#include <array>
#include <cstdint>

#include "orrery/constraints.hpp"
#include "orrery/types.hpp"

namespace orrery::sim {

// Beside each kind: the fields of Command that it reads.
enum class CommandKind : std::uint8_t {
    join,   // slot: a player takes it; its prefab is spawned at the slot's pose, with `spawned` events with `tag`
    leave,  // slot: the player gives it up; the bodies that were spawned for it are removed, with `despawned` events.
            // slot_taken: the director has it
    // Director commands.
    spawn,     // prefab at pose (world); linear (m/s) and angular (rad/s) are added to the velocities of every body;
               // a `spawned` event with `tag` answers for each body, in the prefab's order
    despawn,   // body, together with its joints; a `despawned` event with `tag` answers
    impulse,   // dynamic body: linear (N s, world) at the world point pose.position if `at_point`, else at the
               // centre of mass; angular (N m s, world)
    teleport,  // dynamic or kinematic body: pose (world), linear (m/s) and angular (rad/s) velocity
    motor_target,  // joint with a target (see ActuatorKind::motor): value, in the unit of the target
    grab,          // dynamic body: makes a OneBodyLinearServo from pose.position (m, in the body's frame) to `linear`
                   // (m, world), with a force of at most `value` (N); a `joint_created` event with `tag` answers
    move_grab,     // joint that grab made, or another OneBodyLinearServo: new target `linear` (m, world)
    remove_joint,  // joint; no event answers
    control,       // slot: channels, clamped to [-1, 1]. The last one of a tick counts, until the next command.
                   // slot_taken: the director has it
    create_joint,  // order: any constraint between living bodies, or between one and the world;
                   // a `joint_created` event with `tag` answers
    set_joint,  // joint, order.constraint of the same type: replaces settings and targets, keeps impulses; a Gear and
                // a RackAndPinion count their angles anew
    // More director commands. Those of a body are rejected as stale_id if it does not live.
    wake,           // body: it and its island are awake, and so is what touches it or is jointed to it
    set_filter,     // body: category, mask; from this tick on
    set_body_type,  // body: type. Its velocity stays, but a fixed body has none. Its mass as a dynamic body is that of
                    // its definition. Impulses of its contacts and joints begin at 0.
                    // wrong_kind: the shape or the missing mass does not allow the type; a quarantined body
    set_gravity_scale,  // body: value, at most kMaxGravityScale in magnitude. wrong_kind: a quarantined body
    set_material,       // body: material, an index into WorldDef::materials; its mass stays as it is
    set_damping,  // body: linear_damping, angular_damping (1/s, 0 to kMaxDamping_hz). wrong_kind: a quarantined body
    force,        // dynamic body: linear (N) at the world point pose.position if `at_point`, else at the centre of
                  // mass; angular (N m). It acts through this tick, in addition to other forces.
                  // too_fast, turns_too_fast: by itself it would change the velocity beyond a speed limit
    // Kinematic body: is at `pose` when this tick ends. Its velocities of the tick follow from the way; in the first
    // tick without this command they are 0. A body that is told to be where it is does not move: it does not wake
    // what rests on it. Of several targets in a tick the last counts, and before actuators of kind kinematic.
    kinematic_target,
    // body: any of a group (BodyState::group). All bodies of the group move as one rigid body, so that the group's
    // first body (if it is gone, the first that lives, in the order of the prefab) comes to `pose`. Velocities are
    // those of a rigid body that has `linear` at that first body and turns with `angular`. Joints among the group's
    // bodies, or between them and the world, come along, and so do offsets of kinematic actuators. Impulses of all
    // joints and contacts of the group begin at 0. A joint to a body of another group stays, and pulls. wrong_kind: a
    // body of the scene, which has no group. too_far, too_fast: of any body of the group
    teleport_group,
    // slot: its template stands at `pose` again, as after a join, without velocity. The bodies stay as they are to each
    // other (teleport_group). If a body or joint of the template is gone, or a body is quarantined, all bodies of the
    // slot are removed and made anew: `despawned` and `spawned` events with `tag`. Controls stay.
    // slot_empty; wrong_kind: the slot has no template
    respawn,
    // Slots without a player: the director takes one (its template is spawned as by a join), gives its channels, and
    // leaves it (its bodies are removed). A slot that is left by `vacate` may be joined from the next tick on.
    occupy,  // slot. slot_taken: by a player or the director
    drive,   // slot: channels, as `control`. slot_empty; slot_taken: by a player
    vacate,  // slot. slot_empty; slot_taken: by a player
};
// The kind with the highest number.
inline constexpr CommandKind kLastCommandKind = CommandKind::vacate;

// Whether a director may give a command of this kind. Only the room gives the others, some for its players. The switch
// names every kind, because the numbers of director commands are not contiguous.
constexpr bool is_director_order(CommandKind kind) {
    switch (kind) {
        case CommandKind::spawn:
        case CommandKind::despawn:
        case CommandKind::impulse:
        case CommandKind::teleport:
        case CommandKind::motor_target:
        case CommandKind::grab:
        case CommandKind::move_grab:
        case CommandKind::remove_joint:
        case CommandKind::create_joint:
        case CommandKind::set_joint:
        case CommandKind::wake:
        case CommandKind::set_filter:
        case CommandKind::set_body_type:
        case CommandKind::set_gravity_scale:
        case CommandKind::set_material:
        case CommandKind::set_damping:
        case CommandKind::force:
        case CommandKind::kinematic_target:
        case CommandKind::teleport_group:
        case CommandKind::respawn:
        case CommandKind::occupy:
        case CommandKind::drive:
        case CommandKind::vacate:
            return true;
        case CommandKind::join:
        case CommandKind::leave:
        case CommandKind::control:
            return false;
    }
    return false;
}

// What create_joint makes. Ranges are those of JointDef.
struct JointOrder {
    BodyId a, b, c, d;               // an invalid `a` is the world; `c` and `d` if the constraint needs them
    Constraint constraint;           // anchors and axes in the frames of the bodies
    bool collide_connected = false;  // as in JointDef
    float break_force_n = kNoLimit, break_torque_nm = kNoLimit;  // as in JointDef
    bool break_removes = true;                                   // as in JointDef
};

// A step sorts its commands: leaves and joins by slot, then director commands by `sequence`, then controls by slot.
// Only commands that are equal in this order keep the order in which they are given. CommandKind says which fields a
// command reads, and their units and frames.
struct Command {
    CommandKind kind = CommandKind::control;
    bool at_point = false;       // impulse, force
    std::uint16_t slot = 0;      // index into WorldDef::slots
    std::uint32_t sequence = 0;  // order of director commands in a tick; a room sets it for its director
    std::uint64_t tag = 0;       // any number of the caller; the answering events have it, too
    BodyId body;
    JointId joint;
    std::uint32_t prefab = kNone;  // index into WorldDef::prefabs
    float value = 0.0f;            // motor_target, grab, set_gravity_scale
    Pose pose;
    Vec3 linear, angular;                            // m/s and rad/s, or as the kind says
    std::array<float, kControlChannels> channels{};  // control, drive: each in [-1, 1]
    JointOrder order;
    BodyType type = BodyType::dynamic;
    std::uint32_t category = 1, mask = 0xffff'ffffu;      // set_filter: bit sets, as in BodyDef
    std::uint32_t material = 0;                           // set_material: index into WorldDef::materials
    float linear_damping = 0.0f, angular_damping = 0.0f;  // set_damping: 1/s

    // Commands with the fields that their kinds take.
    static Command join(std::uint16_t slot, std::uint64_t tag = 0) { return of_slot(CommandKind::join, slot, tag); }
    static Command leave(std::uint16_t slot, std::uint64_t tag = 0) { return of_slot(CommandKind::leave, slot, tag); }
    static Command control(std::uint16_t slot, const std::array<float, kControlChannels>& channels) {
        Command c = of_slot(CommandKind::control, slot, 0);
        c.channels = channels;
        return c;
    }
    static Command spawn(std::uint32_t prefab, const Pose& pose, std::uint64_t tag = 0) {
        Command c = of_kind(CommandKind::spawn, tag);
        c.prefab = prefab, c.pose = pose;
        return c;
    }
    static Command despawn(BodyId body, std::uint64_t tag = 0) { return of_body(CommandKind::despawn, body, tag); }
    static Command impulse(BodyId body, const Vec3& linear, const Vec3& angular = {}) {
        return moving(CommandKind::impulse, body, {}, linear, angular);
    }
    static Command impulse_at(BodyId body, const Vec3& linear, const Vec3& point) {
        Command c = moving(CommandKind::impulse, body, {point, {}}, linear, {});
        c.at_point = true;
        return c;
    }
    static Command force(BodyId body, const Vec3& linear, const Vec3& angular = {}) {
        return moving(CommandKind::force, body, {}, linear, angular);
    }
    static Command force_at(BodyId body, const Vec3& linear, const Vec3& point) {
        Command c = moving(CommandKind::force, body, {point, {}}, linear, {});
        c.at_point = true;
        return c;
    }
    static Command teleport(BodyId body, const Pose& pose, const Vec3& linear = {}, const Vec3& angular = {}) {
        return moving(CommandKind::teleport, body, pose, linear, angular);
    }
    static Command teleport_group(BodyId body, const Pose& pose, const Vec3& linear = {}, const Vec3& angular = {}) {
        return moving(CommandKind::teleport_group, body, pose, linear, angular);
    }
    static Command kinematic_target(BodyId body, const Pose& pose) {
        return moving(CommandKind::kinematic_target, body, pose, {}, {});
    }
    static Command motor_target(JointId joint, float value) {
        Command c = of_joint(CommandKind::motor_target, joint);
        c.value = value;
        return c;
    }
    static Command grab(BodyId body, const Vec3& local_anchor, const Vec3& world_target, float max_force_n,
                        std::uint64_t tag = 0) {
        Command c = moving(CommandKind::grab, body, {local_anchor, {}}, world_target, {});
        c.value = max_force_n, c.tag = tag;
        return c;
    }
    static Command move_grab(JointId joint, const Vec3& world_target) {
        Command c = of_joint(CommandKind::move_grab, joint);
        c.linear = world_target;
        return c;
    }
    static Command remove_joint(JointId joint) { return of_joint(CommandKind::remove_joint, joint); }
    static Command create_joint(const JointOrder& order, std::uint64_t tag = 0) {
        Command c = of_kind(CommandKind::create_joint, tag);
        c.order = order;
        return c;
    }
    static Command set_joint(JointId joint, const Constraint& constraint) {
        Command c = of_joint(CommandKind::set_joint, joint);
        c.order.constraint = constraint;
        return c;
    }
    static Command wake(BodyId body) { return of_body(CommandKind::wake, body, 0); }
    static Command set_filter(BodyId body, std::uint32_t category, std::uint32_t mask) {
        Command c = of_body(CommandKind::set_filter, body, 0);
        c.category = category, c.mask = mask;
        return c;
    }
    static Command set_body_type(BodyId body, BodyType type) {
        Command c = of_body(CommandKind::set_body_type, body, 0);
        c.type = type;
        return c;
    }
    static Command set_gravity_scale(BodyId body, float value) {
        Command c = of_body(CommandKind::set_gravity_scale, body, 0);
        c.value = value;
        return c;
    }
    static Command set_material(BodyId body, std::uint32_t material) {
        Command c = of_body(CommandKind::set_material, body, 0);
        c.material = material;
        return c;
    }
    static Command set_damping(BodyId body, float linear, float angular) {
        Command c = of_body(CommandKind::set_damping, body, 0);
        c.linear_damping = linear, c.angular_damping = angular;
        return c;
    }
    static Command respawn(std::uint16_t slot, const Pose& pose, std::uint64_t tag = 0) {
        Command c = of_slot(CommandKind::respawn, slot, tag);
        c.pose = pose;
        return c;
    }
    static Command occupy(std::uint16_t slot, std::uint64_t tag = 0) { return of_slot(CommandKind::occupy, slot, tag); }
    static Command drive(std::uint16_t slot, const std::array<float, kControlChannels>& channels) {
        Command c = of_slot(CommandKind::drive, slot, 0);
        c.channels = channels;
        return c;
    }
    static Command vacate(std::uint16_t slot, std::uint64_t tag = 0) { return of_slot(CommandKind::vacate, slot, tag); }

  private:
    static Command of_kind(CommandKind kind, std::uint64_t tag) {
        Command c;
        c.kind = kind, c.tag = tag;
        return c;
    }
    static Command of_slot(CommandKind kind, std::uint16_t slot, std::uint64_t tag) {
        Command c = of_kind(kind, tag);
        c.slot = slot;
        return c;
    }
    static Command of_body(CommandKind kind, BodyId body, std::uint64_t tag) {
        Command c = of_kind(kind, tag);
        c.body = body;
        return c;
    }
    static Command of_joint(CommandKind kind, JointId joint) {
        Command c = of_kind(kind, 0);
        c.joint = joint;
        return c;
    }
    static Command moving(CommandKind kind, BodyId body, const Pose& pose, const Vec3& linear, const Vec3& angular) {
        Command c = of_body(kind, body, 0);
        c.pose = pose, c.linear = linear, c.angular = angular;
        return c;
    }
};

}  // namespace orrery::sim
