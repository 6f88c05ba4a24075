// Events of a step, in the order (kind, a, child_a, b, child_b, joint, tag).
#pragma once

#include <cstddef>
#include <cstdint>

#include "orrery/commands.hpp"
#include "orrery/types.hpp"

namespace orrery::sim {

enum class EventKind : std::uint8_t {
    contact_begin, contact_end, contact_hit, joint_broken, joint_created, spawned, despawned, command_rejected, quarantined,
    sensor_begin, sensor_end,                     // a: the sensor, b: who entered or left it, or is gone
    joint_overloaded,                             // above a breaking threshold, and kept (break_removes)
    // a: a dynamic body came to a speed limit, above which the solver takes its speed away in every substep; once, until it is at neither
    // limit any more, which it leaves at kSpeedLimitLeft of it. Who is at both says too_fast.
    speed_limited,
};
inline constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::speed_limited) + 1;

enum class EventCause : std::uint8_t {
    none, stale_id, wrong_kind, out_of_range,
    too_many_bodies,                              // kMaxBodies
    slot_taken, slot_empty, not_finite,
    too_far,                                      // kMaxCoordinate_m
    too_many_joints,                              // kMaxJoints
    too_fast, turns_too_fast,                     // kMaxLinearSpeed_mps, kMaxAngularSpeed_radps; of `quarantined` above twice that, of turning where a joint holds
};

struct Event {
    EventKind kind = EventKind::contact_begin;
    EventCause cause = EventCause::none;
    CommandKind command = CommandKind::control;   // command_rejected: of which kind
    std::uint16_t slot = 0;
    BodyId a, b;
    // Of contacts, which begin, end and hit by pairs of parts: of a compound which of its children, of a mesh or height field the lowest
    // triangle of the plane that is touched (with the highest bit: an edge of that triangle), of children whose faces are one plane the
    // first pair; else 0.
    std::uint32_t child_a = 0, child_b = 0;
    JointId joint;
    std::uint64_t tag = 0;
    Vec3 point, normal;                           // contact_begin, contact_hit: world, normal from a to b
    // N s, normal impulse summed over the tick's substeps; joint_broken, joint_overloaded: the mean force in N
    float impulse = 0.0f;
};

}  // namespace orrery::sim
