// Commands: the only way to change a world from outside.
#pragma once

#include <array>
#include <cstdint>

#include "orrery/constraints.hpp"
#include "orrery/types.hpp"

namespace orrery::sim {

enum class CommandKind : std::uint8_t {
    join, leave,                                  // slot
    // director commands, applied in order of `sequence` (ties: in the order given)
    spawn,          // prefab at pose, every body with the added velocities; answered by a `spawned` event a body, in the
                    // prefab's order, with `tag`
    despawn,        // body, with its joints
    impulse,        // body: linear (N s) at the world point pose.position if `at_point`, else at the centre; angular (N m s)
    teleport,       // body: pose, linear, angular velocity
    motor_target,   // joint that has a target (see ActuatorKind::motor): value, in the target's own unit
    grab,           // body: a OneBodyLinearServo from pose.position (local anchor) to `linear` (world target), force at most
                    // `value`; answered by `joint_created` with `tag`
    move_grab,      // joint: new world target `linear`
    remove_joint,   // joint
    control,        // slot: channels; the last one of a tick counts, and is held until the next
    create_joint,   // order: any constraint between living bodies, or of one and the world; answered by `joint_created` with `tag`
    set_joint,      // joint, order.constraint of the same type: its settings and targets are replaced, its impulses kept
};

// Whether a director may give it; the others are the room's own and the players'. New kinds stand last, so the values of
// a class need not be neighbours: this names every kind.
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
    BodyId a, b, c, d;                            // an invalid a: the world; c and d as the constraint needs
    Constraint constraint;
    bool collide_connected = false;
    float break_force_n = kNoLimit, break_torque_nm = kNoLimit;  // as JointDef's
    bool break_removes = true;
};

// Arrival order has no effect: a step sorts into leaves, joins, director commands, controls.
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
