// Events of a step, in the order (kind, a, child_a, b, child_b, joint, tag).
#pragma once

#include <cstddef>
#include <cstdint>

#include "orrery/commands.hpp"
#include "orrery/types.hpp"

namespace orrery::sim {

enum class EventKind : std::uint8_t {
    contact_begin,
    contact_end,
    contact_hit,
    joint_broken,
    joint_created,
    spawned,
    despawned,
    command_rejected,
    quarantined,
    sensor_begin,
    sensor_end,        // a: the sensor; b: the body that entered, left, or was removed
    joint_overloaded,  // above a breaking threshold, and kept (break_removes is false)
    // a: a dynamic body that reached a speed limit, above which the solver reduces its speed in every substep. The
    // event comes once, until the body is at neither limit. A body leaves a limit below kSpeedLimitLeft of it. At both
    // limits the cause is too_fast.
    speed_limited,
};
inline constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::speed_limited) + 1;

enum class EventCause : std::uint8_t {
    none,
    stale_id,
    wrong_kind,
    out_of_range,
    too_many_bodies,  // kMaxBodies
    slot_taken,
    slot_empty,
    not_finite,
    too_far,          // kMaxCoordinate_m
    too_many_joints,  // kMaxJoints
    // Above kMaxLinearSpeed_mps, kMaxAngularSpeed_radps. In a `quarantined` event: above twice that; a body that only
    // turns too fast is quarantined if a joint holds it.
    too_fast,
    turns_too_fast,
};

struct Event {
    EventKind kind = EventKind::contact_begin;
    EventCause cause = EventCause::none;
    CommandKind command = CommandKind::control;  // of a rejected command
    std::uint16_t slot = 0;
    BodyId a, b;
    // The parts of the bodies that touch; contacts begin, end and hit by pairs of parts. Of a compound: the child;
    // where faces of several children are one plane, the first pair. Of a mesh or height field: the lowest triangle of
    // the plane that is touched, with the highest bit set if it is an edge of that triangle. Otherwise 0.
    std::uint32_t child_a = 0, child_b = 0;
    JointId joint;
    std::uint64_t tag = 0;
    // contact_begin, contact_hit: in the world; the normal points from a to b.
    Vec3 point, normal;
    // Contacts: normal impulse in N s, summed over the tick's substeps. joint_broken, joint_overloaded: the mean force
    // in N.
    float impulse = 0.0f;
};

}  // namespace orrery::sim
