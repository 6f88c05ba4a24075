// Events of a step, in the order (kind, a, child_a, b, child_b, joint, tag).
//
// Fields of an event that its kind does not name have their defaults. Two bodies may have several contacts, one for
// each pair of their parts (see Event::child_a).
#pragma once

#include <cstddef>
#include <cstdint>

#include "orrery/commands.hpp"
#include "orrery/types.hpp"

namespace orrery::sim {

// Beside each kind: the fields of Event that it has.
enum class EventKind : std::uint8_t {
    contact_begin,     // a, b, their parts, point, normal, impulse: they touch, and did not in the tick before
    contact_end,       // a, b, their parts: they stopped touching, or one of them was removed
    contact_hit,       // as contact_begin: the impulse grew since the tick before by a change of speed
                       // above SolverSettings::restitution_threshold_mps
    joint_broken,      // joint, a, b, impulse: above a breaking threshold, and removed
    joint_created,     // joint, a, b, tag: answers create_joint and grab. An invalid `a` is the world
    spawned,           // a, slot, tag: answers spawn, join, occupy and respawn, for each body.
                       // slot is 0xffff for spawn
    despawned,         // a, slot, tag: answers despawn, leave, vacate and respawn, for each body.
                       // slot is 0xffff if the body was spawned for no slot
    command_rejected,  // cause, command, slot, a (its body), joint, tag: fields of the rejected command
    quarantined,       // a, cause: its state was out of range; it became kinematic at its pose before the tick
    sensor_begin,      // a: the sensor; b: the body that entered
    sensor_end,        // a: the sensor; b: the body that left or was removed. Also if the sensor was removed
    joint_overloaded,  // joint, a, b, impulse: above a breaking threshold, and kept (break_removes is false)
    // a, cause: a dynamic body that reached a speed limit, above which the solver reduces its speed in every substep.
    // The event comes once, until the body is at neither limit. A body leaves a limit below kSpeedLimitLeft of it. At
    // both limits the cause is too_fast.
    speed_limited,
};
// The number of kinds.
inline constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::speed_limited) + 1;

// Why a command was rejected, a body was quarantined, or a speed was limited.
enum class EventCause : std::uint8_t {
    none,             // not such an event
    stale_id,         // the body or joint of the command does not exist
    wrong_kind,       // the command does not fit the type of the body, joint or constraint
    out_of_range,     // an index, setting or orientation outside of its range
    too_many_bodies,  // kMaxBodies
    slot_taken,       // a player or the director has the slot
    slot_empty,       // nobody has the slot
    not_finite,       // NaN or infinity
    too_far,          // a coordinate beyond kMaxCoordinate_m
    too_many_joints,  // kMaxJoints
    // Above kMaxLinearSpeed_mps, kMaxAngularSpeed_radps. In a `quarantined` event: above twice that; a body that only
    // turns too fast is quarantined if a joint holds it.
    too_fast,
    turns_too_fast,
};

// EventKind says which fields an event has.
struct Event {
    EventKind kind = EventKind::contact_begin;
    EventCause cause = EventCause::none;         // command_rejected, quarantined, speed_limited
    CommandKind command = CommandKind::control;  // the kind of the rejected command
    std::uint16_t slot = 0;                      // index into WorldDef::slots, or 0xffff: none
    BodyId a, b;                                 // of contacts: `a` has the lower index
    // The parts of the bodies that touch; contacts begin, end and hit by pairs of parts. Of a compound: the child;
    // where faces of several children are one plane, the first pair. Of a mesh or height field: the lowest triangle of
    // the plane that is touched, with the highest bit set if it is an edge of that triangle. Otherwise 0.
    std::uint32_t child_a = 0, child_b = 0;
    JointId joint;          // joint_broken, joint_created, joint_overloaded, command_rejected
    std::uint64_t tag = 0;  // Command::tag of the command that the event answers
    // contact_begin, contact_hit: the deepest contact point (m, world) at the start of the tick, and the unit normal
    // (world), which points from a to b.
    Vec3 point, normal;
    // Contacts: normal impulse in N s, summed over the tick's substeps. joint_broken, joint_overloaded: the mean force
    // in N.
    float impulse = 0.0f;
};

}  // namespace orrery::sim
