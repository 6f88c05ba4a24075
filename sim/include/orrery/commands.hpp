// Commands: the only way to change a world from outside.
#pragma once

#include <array>
#include <cstdint>

#include "orrery/constraints.hpp"
#include "orrery/types.hpp"

namespace orrery::sim {

enum class CommandKind : std::uint8_t {
    join,
    leave,  // slot
    // Director commands. They are applied in order of `sequence`, and ties in the order given.
    spawn,         // prefab at pose; the velocities are added to those of every body;
                   // a `spawned` event with `tag` answers for each body, in the prefab's order
    despawn,       // body, together with its joints
    impulse,       // body: linear (N s) at the world point pose.position if `at_point`, else at the centre of mass;
                   // angular (N m s)
    teleport,      // body: pose, linear and angular velocity
    motor_target,  // joint with a target (see ActuatorKind::motor): value, in the unit of the target
    grab,          // body: makes a OneBodyLinearServo from pose.position (local anchor) to `linear` (world target),
                   // with a force of at most `value`; a `joint_created` event with `tag` answers
    move_grab,     // joint: new world target `linear`
    remove_joint,  // joint
    control,       // slot: channels; the last one of a tick counts, and is held until the next
    create_joint,  // order: any constraint between living bodies, or between one and the world;
                   // a `joint_created` event with `tag` answers
    set_joint,     // joint, order.constraint of the same type: replaces settings and targets, keeps impulses
};

// Whether a director may give it; the others are the room's own and the players'. New kinds stand last, so the values
// of a class need not be neighbours: this names every kind.
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

// What create_joint makes.
struct JointOrder {
    BodyId a, b, c, d;  // an invalid `a` is the world; `c` and `d` if the constraint needs them
    Constraint constraint;
    bool collide_connected = false;
    float break_force_n = kNoLimit, break_torque_nm = kNoLimit;  // as in JointDef
    bool break_removes = true;
};

// The order of arrival has no effect. A step sorts into leaves, joins, director commands, controls.
struct Command {
    CommandKind kind = CommandKind::control;
    bool at_point = false;
    std::uint16_t slot = 0;
    std::uint32_t sequence = 0;
    std::uint64_t tag = 0;
    BodyId body;
    JointId joint;
    std::uint32_t prefab = kNone;
    float value = 0.0f;
    Pose pose;
    Vec3 linear, angular;
    std::array<float, kControlChannels> channels{};
    JointOrder order;
};

}  // namespace orrery::sim
