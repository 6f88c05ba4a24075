// Events by their kinds: a struct for each with the fields that it has, and a function that gives it for an event of
// that kind and nothing for others.
//
//   for (const Event& event : world.events())
//       if (const auto hit = as_hit(event)) play_sound(hit->point, hit->impulse);
#pragma once

#include <optional>

#include "orrery/events.hpp"

namespace orrery::sim {

// contact_begin and contact_hit: where, with what normal (from a to b), and the normal impulse in N s.
struct ContactView {
    BodyId a, b;                             // `a` has the lower index
    std::uint32_t child_a = 0, child_b = 0;  // see Event
    Vec3 point, normal;                      // m, world; unit, world
    float impulse = 0.0f;                    // N s

    // The body other than `body`; invalid if `body` is neither.
    BodyId other(BodyId body) const { return body == a ? b : body == b ? a : BodyId{}; }
};
// contact_end: two bodies that touch no longer.
struct ContactEndView {
    BodyId a, b;                             // `a` has the lower index
    std::uint32_t child_a = 0, child_b = 0;  // see Event
};
// sensor_begin, sensor_end: a body that entered or left a sensor.
struct SensorView {
    BodyId sensor, visitor;  // after sensor_end one of them may be gone
};
// joint_broken, joint_overloaded: a joint above a breaking threshold.
struct JointBrokenView {
    JointId joint;
    BodyId a, b;           // an invalid id is the world
    float force_n = 0.0f;  // mean of the tick, N
    bool removed = true;   // false: joint_overloaded
};
// joint_created: a joint that a command made.
struct JointCreatedView {
    JointId joint;
    BodyId a, b;            // an invalid `a` is the world
    std::uint64_t tag = 0;  // of the command
};
// spawned: a body that a command made.
struct SpawnedView {
    BodyId body;
    std::uint16_t slot = 0xffff;  // for which it was spawned; 0xffff: none
    std::uint64_t tag = 0;        // of the command
};
// despawned: a body that a command removed.
struct DespawnedView {
    BodyId body;                  // lives no more
    std::uint16_t slot = 0xffff;  // for which it was spawned; 0xffff: none
    std::uint64_t tag = 0;        // of the command
};
// command_rejected: a command that changed nothing. Fields without a comment are those of the command.
struct RejectedView {
    CommandKind command = CommandKind::control;  // its kind
    EventCause cause = EventCause::none;
    std::uint16_t slot = 0;  // index into WorldDef::slots
    BodyId body;
    JointId joint;
    std::uint64_t tag = 0;  // Command::tag
};
// quarantined, speed_limited: a body out of a range, or at a speed limit.
struct LimitView {
    BodyId body;
    EventCause cause = EventCause::none;
};

namespace detail {
inline std::optional<ContactView> contact_view(const Event& e, EventKind kind) {
    if (e.kind != kind) return std::nullopt;
    return ContactView{e.a, e.b, e.child_a, e.child_b, e.point, e.normal, e.impulse};
}
inline std::optional<SensorView> sensor_view(const Event& e, EventKind kind) {
    if (e.kind != kind) return std::nullopt;
    return SensorView{e.a, e.b};
}
inline std::optional<LimitView> limit_view(const Event& e, EventKind kind) {
    if (e.kind != kind) return std::nullopt;
    return LimitView{e.a, e.cause};
}
}  // namespace detail

// The view of an event of this kind; of other events nothing.
inline std::optional<ContactView> as_contact_begin(const Event& e) {
    return detail::contact_view(e, EventKind::contact_begin);
}
inline std::optional<ContactView> as_hit(const Event& e) { return detail::contact_view(e, EventKind::contact_hit); }
inline std::optional<ContactEndView> as_contact_end(const Event& e) {
    if (e.kind != EventKind::contact_end) return std::nullopt;
    return ContactEndView{e.a, e.b, e.child_a, e.child_b};
}
inline std::optional<SensorView> as_sensor_begin(const Event& e) {
    return detail::sensor_view(e, EventKind::sensor_begin);
}
inline std::optional<SensorView> as_sensor_end(const Event& e) { return detail::sensor_view(e, EventKind::sensor_end); }
inline std::optional<JointBrokenView> as_joint_broken(const Event& e) {
    if (e.kind != EventKind::joint_broken && e.kind != EventKind::joint_overloaded) return std::nullopt;
    return JointBrokenView{e.joint, e.a, e.b, e.impulse, e.kind == EventKind::joint_broken};
}
inline std::optional<JointCreatedView> as_joint_created(const Event& e) {
    if (e.kind != EventKind::joint_created) return std::nullopt;
    return JointCreatedView{e.joint, e.a, e.b, e.tag};
}
inline std::optional<SpawnedView> as_spawned(const Event& e) {
    if (e.kind != EventKind::spawned) return std::nullopt;
    return SpawnedView{e.a, e.slot, e.tag};
}
inline std::optional<DespawnedView> as_despawned(const Event& e) {
    if (e.kind != EventKind::despawned) return std::nullopt;
    return DespawnedView{e.a, e.slot, e.tag};
}
inline std::optional<RejectedView> as_rejected(const Event& e) {
    if (e.kind != EventKind::command_rejected) return std::nullopt;
    return RejectedView{e.command, e.cause, e.slot, e.a, e.joint, e.tag};
}
inline std::optional<LimitView> as_quarantined(const Event& e) { return detail::limit_view(e, EventKind::quarantined); }
inline std::optional<LimitView> as_speed_limited(const Event& e) {
    return detail::limit_view(e, EventKind::speed_limited);
}

}  // namespace orrery::sim
