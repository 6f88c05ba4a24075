// The canonical form of a state, a section a subsystem: what hash() hashes and save() writes is one and the same walk,
// but for what seldom changes of a joint: the hash takes the digest of it, which is renewed on change, the save the
// fields.
#pragma once

#include <cstddef>
#include <cstring>

#include "sim/world/canonical.h"
#include "sim/world/constraint_fields.h"
#include "sim/world/core.h"

namespace orrery::sim {

// A saved state: this header, then the sections, then the joints' parameters.
//   magic (8), format version u32, engine version u32, definition hash u64, length of the rest u64, its XXH3-64 u64
inline constexpr char kSaveMagic[8] = {'O', 'R', 'R', 'Y', 'S', 'A', 'V', 'E'};
inline constexpr std::uint32_t kSaveFormat = 7;
inline constexpr std::size_t kSaveHeaderBytes = 40;

// The least that one takes of a saved state, which bounds the counts.
inline constexpr std::size_t kSavedMotionBytes = 13 * sizeof(float);
inline constexpr std::size_t kSavedBodyBytes = 1 + 4 + 8 + 2 + 2 + kSavedMotionBytes;
inline constexpr std::size_t kSavedContactBytes = 1 + 2 * 4 + 2 * 4 + 5 * 4;  // of one point
inline constexpr std::size_t kSavedJointBytes = 1 + 4 + 2;
inline constexpr std::size_t kSavedActuatorBytes = 4 * 4 + 2 + 28;
inline constexpr std::size_t kSavedEventBytes = 3 + 2 + 4 * 8 + 8 + 24 + 4;

template <class Writer>
void put_clock(Writer& out, const Core& core) {
    out.put(core.state.tick);
    out.put(core.definition_hash);
}

template <class Writer>
void put_identity(Writer& out, const Core& core) {
    const State& state = core.state;
    out.put(state.bodies.size());
    out.put_array(state.bodies.flags);
    out.put_array(state.bodies.generation);
    out.put_array(state.origin);
    for (const std::uint16_t slot : state.bodies.slot) out.put(slot);
    if (!core.def.prefabs.empty()) out.put_array(state.group);
    out.put(static_cast<std::uint32_t>(state.changed.size()));
    out.put_array(state.changed);
    out.put(static_cast<std::uint32_t>(state.joints.size()));
    if constexpr (Writer::kDigestsSuffice) {
        out.put_array(state.joint_digest);
    } else {
        for (const Joint& joint : state.joints) {
            out.put(joint.alive);
            out.put(joint.generation);
            out.put(joint.slot);
        }
    }
}

// Without the zeros that fill the records: only hashes take them along, because an array is the fastest to hash.
template <class Writer>
void put_motion(Writer& out, const PoseRecord& pose, const VelocityRecord& velocity) {
    float values[13];
    static_assert(sizeof values == kSavedMotionBytes);
    std::memcpy(values, &pose, 7 * sizeof(float));
    std::memcpy(values + 7, &velocity, 6 * sizeof(float));
    out.bytes(values, sizeof values);
}
inline void get_motion(CanonicalReader& in, PoseRecord& pose, VelocityRecord& velocity) {
    float values[13] = {};
    in.bytes(values, sizeof values);
    std::memcpy(static_cast<void*>(&pose), values, 7 * sizeof(float));
    std::memcpy(static_cast<void*>(&velocity), values + 7, 6 * sizeof(float));
}

// A contact with the points that it has. First a byte: bits 0 and 1 count less one, 2 touching, 3 children are named.
template <class Writer>
void put_contact(Writer& out, const KeptContact& c) {
    std::uint32_t words[2 + 2 + 2 * kMaxManifoldPoints + 5 + 6];
    std::size_t used = 0;
    const auto* from = reinterpret_cast<const std::byte*>(&c);
    const auto add = [&](std::size_t offset, std::size_t count) {
        std::memcpy(words + used, from + offset, count * sizeof(std::uint32_t));
        used += count;
    };
    const bool children = (c.child_a | c.child_b) != 0;
    add(offsetof(KeptContact, a), 2);
    if (children) add(offsetof(KeptContact, child_a), 2);
    add(offsetof(KeptContact, feature), c.count);
    add(offsetof(KeptContact, normal_impulse), c.count);
    add(offsetof(KeptContact, friction_impulse), 5);
    if (c.count > 2) add(offsetof(KeptContact, held_a), 6);
    out.put(static_cast<std::uint8_t>((c.count - 1) | c.touching << 2 | (children ? 8u : 0u)));
    out.bytes(words, used * sizeof(std::uint32_t));
}
// False: the bytes are not canonical.
inline bool get_contact(CanonicalReader& in, KeptContact& c) {
    const auto head = in.take<std::uint8_t>();
    c.count = (head & 3u) + 1;
    c.touching = head >> 2 & 1;
    auto* to = reinterpret_cast<std::byte*>(&c);
    const auto take = [&](std::size_t offset, std::size_t count) {
        in.bytes(to + offset, count * sizeof(std::uint32_t));
    };
    take(offsetof(KeptContact, a), 2);
    if ((head & 8) != 0) take(offsetof(KeptContact, child_a), 2);
    take(offsetof(KeptContact, feature), c.count);
    take(offsetof(KeptContact, normal_impulse), c.count);
    take(offsetof(KeptContact, friction_impulse), 5);
    if (c.count > 2) take(offsetof(KeptContact, held_a), 6);
    return in.ok() && head < 16 && ((head & 8) != 0) == ((c.child_a | c.child_b) != 0);
}
static_assert(offsetof(KeptContact, b) == 4 && offsetof(KeptContact, child_b) == offsetof(KeptContact, child_a) + 4 &&
              offsetof(KeptContact, total_normal_impulse) == offsetof(KeptContact, friction_impulse) + 16 &&
              offsetof(KeptContact, held_b) == offsetof(KeptContact, held_a) + 12);

template <class Writer>
void put_contacts_of(Writer& out, std::span<const KeptContact> contacts) {
    for (const KeptContact& contact : contacts) put_contact(out, contact);
}

// Mean motions that are not zero, each behind its index: few bodies are neither at rest nor fast.
inline bool is_kept(const VelocityRecord& mean_motion) {
    constexpr VelocityRecord kStill;
    return std::memcmp(&mean_motion, &kStill, sizeof kStill) != 0;
}
template <class Writer>
void put_mean_motions(Writer& out, std::span<const VelocityRecord> motions) {
    out.put(static_cast<std::uint32_t>(std::ranges::count_if(motions, is_kept)));
    for (std::uint32_t i = 0; i < motions.size(); ++i) {
        if (!is_kept(motions[i])) continue;
        out.put(i);
        out.bytes(&motions[i], 6 * sizeof(float));
    }
}

template <class Writer>
void put_bodies(Writer& out, const State& state) {
    out.put_array(state.bodies.slow_ticks);
    if constexpr (Writer::kDigestsSuffice) {
        out.put_array(state.bodies.mean_motion);
        out.put_array(state.bodies.pose);
        out.put_array(state.bodies.velocity);
    } else {
        for (std::uint32_t i = 0; i < state.bodies.size(); ++i)
            put_motion(out, state.bodies.pose[i], state.bodies.velocity[i]);
        put_mean_motions(out, state.bodies.mean_motion);
    }
}

template <class Writer>
void put_joints(Writer& out, const Core& core) {
    const State& state = core.state;
    if (core.free_joints.empty() && core.removed_joints.empty()) {
        out.put_array(state.joint_impulse);
    } else {
        for (std::size_t i = 0; i < state.joints.size(); ++i) {
            if (state.joints[i].alive) out.bytes(state.joint_impulse[i].row, sizeof state.joint_impulse[i].row);
        }
    }
    out.put_array(state.rig_force);
}

template <class Writer>
void put_contacts(Writer& out, const Core& core) {
    const State& state = core.state;
    out.put(static_cast<std::uint32_t>(state.contacts.size()));
    if constexpr (Writer::kDigestsSuffice) {
        out.put_array(state.contacts);
        out.put(static_cast<std::uint32_t>(state.sleeping_contacts.size()));
        out.put(core.sleeping_digest);
    } else {
        put_contacts_of(out, state.contacts);
        out.put(static_cast<std::uint32_t>(state.sleeping_contacts.size()));
        put_contacts_of(out, state.sleeping_contacts);
    }
    out.put(static_cast<std::uint32_t>(state.sensor_overlaps.size()));
    out.put_array(state.sensor_overlaps);
    if (!core.any_surfaces) return;
    out.put(static_cast<std::uint32_t>(state.rolling.size()));
    out.put_array(state.rolling);
}

// An actuator has a base or a walker's state: both are written as a pose, the latter as its x.
inline Pose saved_base(const ActuatorState& actuator) {
    Pose written = actuator.base;
    if (actuator.walker.stood > 0.0f || actuator.walker.jumping > 0.0f) written.position.x = 1.0f;
    return written;
}

template <class Writer>
void put_control(Writer& out, const State& state) {
    for (const SlotState& slot : state.slots) {
        out.put(static_cast<std::uint8_t>(slot.holder));
        for (const float channel : slot.controls) out.put(channel);
    }
    out.put(static_cast<std::uint32_t>(state.actuators.size()));
    for (const ActuatorState& actuator : state.actuators) {
        out.put(actuator.prefab);
        out.put(actuator.index);
        out.put(actuator.body);
        out.put(actuator.joint);
        out.put(actuator.slot);
        out.put(saved_base(actuator));
    }
}

template <class Writer>
void put_events(Writer& out, const State& state) {
    out.put(static_cast<std::uint32_t>(state.events.size()));
    for (const Event& event : state.events) {
        out.put(static_cast<std::uint8_t>(event.kind));
        out.put(static_cast<std::uint8_t>(event.cause));
        out.put(static_cast<std::uint8_t>(event.command));
        out.put(event.slot);
        for (const std::uint32_t part : {event.a.index, event.a.generation, event.b.index, event.b.generation,
                                         event.child_a, event.child_b, event.joint.index, event.joint.generation})
            out.put(part);
        out.put(event.tag);
        out.put(event.point);
        out.put(event.normal);
        out.put(event.impulse);
    }
}

template <class Writer>
void put_joint_parameters(Writer& out, const State& state) {
    for (const Joint& joint : state.joints) {
        if (!joint.alive) continue;
        out.put(joint.a);
        out.put(joint.b);
        out.put(joint.break_force_n);
        out.put(joint.break_torque_nm);
        out.put(joint.break_removes);
        out.put(joint.collide_connected);
        put_constraint(out, joint.constraint);
        put_more_bodies(out, joint.constraint, joint.c, joint.d);
    }
}

template <class Writer>
void put_section(Writer& out, const Core& core, Subsystem subsystem) {
    switch (subsystem) {
        case Subsystem::clock:
            return put_clock(out, core);
        case Subsystem::identity:
            return put_identity(out, core);
        case Subsystem::bodies:
            return put_bodies(out, core.state);
        case Subsystem::joints:
            return put_joints(out, core);
        case Subsystem::contacts:
            return put_contacts(out, core);
        case Subsystem::control:
            return put_control(out, core.state);
        case Subsystem::events:
            return put_events(out, core.state);
    }
}

}  // namespace orrery::sim
