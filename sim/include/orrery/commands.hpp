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
    leave,  // slot: the player gives it up; the bodies that were spawned for it are removed, with `despawned` events
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
    control,       // slot: channels, clamped to [-1, 1]. The last one of a tick counts, until the next command
    create_joint,  // order: any constraint between living bodies, or between one and the world;
                   // a `joint_created` event with `tag` answers
    set_joint,  // joint, order.constraint of the same type: replaces settings and targets, keeps impulses; a Gear and
                // a RackAndPinion count their angles anew
};

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
    BodyId a, b, c, d;      // an invalid `a` is the world; `c` and `d` if the constraint needs them
    Constraint constraint;  // anchors and axes in the frames of the bodies
    bool collide_connected = false;
    float break_force_n = kNoLimit, break_torque_nm = kNoLimit;  // as in JointDef
    bool break_removes = true;
};

// A step sorts its commands: leaves and joins by slot, then director commands by `sequence`, then controls by slot.
// Only commands that are equal in this order keep the order in which they are given. CommandKind says which fields a
// command reads, and their units and frames.
struct Command {
    CommandKind kind = CommandKind::control;
    bool at_point = false;       // impulse
    std::uint16_t slot = 0;      // index into WorldDef::slots
    std::uint32_t sequence = 0;  // order of director commands in a tick; a room sets it for its director
    std::uint64_t tag = 0;       // any number of the caller; the answering events have it, too
    BodyId body;
    JointId joint;
    std::uint32_t prefab = kNone;  // index into WorldDef::prefabs
    float value = 0.0f;
    Pose pose;
    Vec3 linear, angular;
    std::array<float, kControlChannels> channels{};
    JointOrder order;
};

}  // namespace orrery::sim
