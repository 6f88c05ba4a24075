// The C face of what there is to see: checks arguments, and fills the caller's arrays.
#include "client_sdk/src/look_api.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client_sdk/src/client_handle.h"
#include "orrery/math.hpp"

using namespace orrery;
using namespace orrery::client;

namespace orrery::client {

namespace {

template <class T>
void write(T* to, std::size_t i, T value) {
    if (to) to[i] = value;
}

orrery_status filled(std::uint32_t count, std::uint32_t available) {
    return count < available ? ORRERY_TOO_SMALL : ORRERY_OK;
}

sim::BodyId asked(orrery_body_id id) { return id == ORRERY_NO_BODY ? sim::BodyId{} : body_of(id); }

}  // namespace

orrery_status give_contacts(const sim::World* world, orrery_body_id body, Seen& seen, orrery_contacts* out) {
    if (!begin_arrays(out, 0)) return ORRERY_INVALID_ARGUMENT;
    if (!world) return ORRERY_WRONG_STATE;
    if (!look_at_contacts(*world, asked(body), seen)) return ORRERY_EMPTY;
    begin_arrays(out, seen.contacts.size());
    for (std::uint32_t i = 0; i < out->count; ++i) {
        const auto& [a, contact] = seen.contacts[i];
        write(out->bodies, 2 * i, id_of(a));
        write(out->bodies, 2 * i + 1, id_of(contact.other));
        write(out->parts, 2 * i, contact.child);
        write(out->parts, 2 * i + 1, contact.other_child);
        write3(out->points, i, contact.point);
        write3(out->normals, i, contact.normal);
        write(out->separations, i, contact.separation);
        write(out->impulses, i, contact.impulse);
        write(out->touching, i, static_cast<std::uint8_t>(contact.touching ? 1 : 0));
    }
    return filled(out->count, out->available);
}

orrery_status give_joints(const sim::World* world, orrery_body_id body, Seen& seen, orrery_joints* out) {
    if (!begin_arrays(out, 0)) return ORRERY_INVALID_ARGUMENT;
    if (!world) return ORRERY_WRONG_STATE;
    if (!look_at_joints(*world, asked(body), seen)) return ORRERY_EMPTY;
    begin_arrays(out, seen.joints.size());
    for (std::uint32_t i = 0; i < out->count; ++i) {
        const SeenJoint& joint = seen.joints[i];
        write(out->ids, i, id_of(joint.id));
        write(out->kinds, i, joint.kind);
        for (std::uint32_t k = 0; k < 4; ++k) write(out->bodies, 4 * i + k, id_of(joint.bodies[k]));
        write3(out->anchors, 2 * i, joint.anchor_a);
        write3(out->anchors, 2 * i + 1, joint.anchor_b);
        write(out->forces, i, joint.force_n);
        write(out->torques, i, joint.torque_nm);
    }
    return filled(out->count, out->available);
}

orrery_status give_marks(const sim::World* world, Seen& seen, orrery_marks* out) {
    if (!begin_arrays(out, 0)) return ORRERY_INVALID_ARGUMENT;
    if (!world) return ORRERY_WRONG_STATE;
    look_at_bodies(*world, seen);
    begin_arrays(out, seen.bodies.size());
    for (std::uint32_t i = 0; i < out->count; ++i) {
        const SeenBody& body = seen.bodies[i];
        write(out->ids, i, id_of(body.state.id));
        write(out->asleep, i, static_cast<std::uint8_t>(body.state.asleep ? 1 : 0));
        write3(out->bounds, 2 * i, body.low);
        write3(out->bounds, 2 * i + 1, body.high);
    }
    return filled(out->count, out->available);
}

orrery_status give_shape(const sim::ShapeDef& def, orrery_shape* out) {
    orrery_shape mine{};
    mine.type = static_cast<std::int32_t>(def.type);
    mine.radius = def.radius;
    mine.half_height = def.half_height;
    write3(mine.half_extents, 0, def.half_extents);
    return give(mine, out);
}

orrery_body_state state_of(const SeenBody& body) {
    const sim::BodyState& state = body.state;
    orrery_body_state out{};
    out.known = 1;
    out.tick = body.tick;
    write3(out.position, 0, state.pose.position);
    write4(out.orientation, 0, state.pose.orientation);
    write3(out.linear_velocity, 0, state.linear_velocity);
    write3(out.angular_velocity, 0, state.angular_velocity);
    out.asleep = state.asleep ? 1 : 0;
    out.sensor = state.sensor ? 1 : 0;
    out.mass_kg = state.inverse_mass > 0.0f ? 1.0f / state.inverse_mass : 0.0f;
    out.gravity_scale = state.gravity_scale;
    out.linear_damping = state.linear_damping;
    out.angular_damping = state.angular_damping;
    out.category = state.category;
    out.mask = state.mask;
    out.group = id_of(state.group);
    write3(out.bounds_min, 0, body.low);
    write3(out.bounds_max, 0, body.high);
    return out;
}

orrery_status give_step_times(const StepClock& clock, orrery_step_times* out) {
    orrery_step_times mine{};
    mine.measured = clock.on() ? 1 : 0;
    mine.steps = clock.steps();
    mine.collision_ms = clock.ms(StepPart::collision);
    mine.solver_ms = clock.ms(StepPart::solver);
    mine.rigs_ms = clock.ms(StepPart::rigs);
    mine.rest_ms = clock.ms(StepPart::rest);
    mine.state_ms = clock.ms(StepPart::state);
    return give(mine, out);
}

}  // namespace orrery::client

namespace {

const sim::World* world_of(orrery_client* client) {
    const Mirror* mirror = client->connection.mirror();
    return mirror && mirror->running() ? mirror->world() : nullptr;
}

const sim::BodyMotion* find_motion(std::span<const sim::BodyMotion> bodies, sim::BodyId id) {
    const auto at = std::ranges::lower_bound(bodies, id.index, {}, [](const auto& body) { return body.id.index; });
    return at != bodies.end() && at->id == id ? &*at : nullptr;
}

float degrees_between(const sim::Quat& a, const sim::Quat& b) {
    const sim::Quat turn = sim::conjugate(a) * b;
    const float sine = std::sqrt((turn.x * turn.x + turn.y * turn.y) + turn.z * turn.z);
    return 2.0f * std::atan2(sine, std::abs(turn.w)) * 57.29578f;
}

void add_confirmed(const ConfirmedBodies& confirmed, sim::BodyId id, orrery_body_state& out) {
    const sim::BodyMotion* body = find_motion(confirmed.bodies, id);
    if (!body) return;
    out.confirmed_tick = confirmed.tick;
    write3(out.confirmed_position, 0, body->pose.position);
    write4(out.confirmed_orientation, 0, body->pose.orientation);
    const sim::BodyMotion* predicted = find_motion(confirmed.predicted, id);
    if (!predicted) return;
    out.error_mm = sim::distance(predicted->pose.position, body->pose.position) * 1e3f;
    out.error_deg = degrees_between(predicted->pose.orientation, body->pose.orientation);
}

orrery_status newest_state(const protocol::ClientSession& session, sim::BodyId id, orrery_body_state& out) {
    const std::span<const protocol::BodySample> history = session.history(id.index);
    if (history.empty() || history.back().state.generation != id.generation) return ORRERY_EMPTY;
    const protocol::Motion motion = protocol::dequantise(history.back().state);
    out.tick = history.back().tick;
    out.age_ticks = static_cast<double>(session.newest_tick()) - static_cast<double>(out.tick);
    out.group = ORRERY_NO_BODY;
    write3(out.position, 0, motion.pose.position);
    write4(out.orientation, 0, motion.pose.orientation);
    write3(out.linear_velocity, 0, motion.linear_velocity);
    write3(out.angular_velocity, 0, motion.angular_velocity);
    const protocol::BodyCost cost = session.cost(id);
    out.bytes_last_second = static_cast<float>(cost.bits) / 8.0f;
    out.updates_last_second = cost.updates;
    out.snapshots_left_out = cost.left_out;
    out.baseline_age_ticks = cost.baseline_age;
    return ORRERY_OK;
}

}  // namespace

orrery_status orrery_client_contacts(orrery_client* client, orrery_body_id body, orrery_contacts* contacts) {
    if (!client) return ORRERY_INVALID_ARGUMENT;
    return guarded([&] { return give_contacts(world_of(client), body, client->seen, contacts); });
}

orrery_status orrery_client_joints(orrery_client* client, orrery_body_id body, orrery_joints* joints) {
    if (!client) return ORRERY_INVALID_ARGUMENT;
    return guarded([&] { return give_joints(world_of(client), body, client->seen, joints); });
}

orrery_status orrery_client_marks(orrery_client* client, orrery_marks* marks) {
    if (!client) return ORRERY_INVALID_ARGUMENT;
    return guarded([&] { return give_marks(world_of(client), client->seen, marks); });
}

const char* orrery_joint_kind_name(uint32_t kind) { return kind < joint_kind_count() ? joint_kind_name(kind) : ""; }

orrery_status orrery_client_get_body_state(const orrery_client* client, orrery_body_id id, orrery_body_state* out) {
    if (!client || !out) return ORRERY_INVALID_ARGUMENT;
    const protocol::ClientSession* session = client->playing();
    if (!session) return ORRERY_WRONG_STATE;
    const sim::BodyId body = body_of(id);
    if (const Mirror* mirror = client->connection.mirror()) {
        if (!mirror->running()) return ORRERY_WRONG_STATE;
        const std::optional<SeenBody> seen = look_at_body(*mirror->world(), body);
        if (!seen) return ORRERY_EMPTY;
        orrery_body_state mine = state_of(*seen);
        add_confirmed(mirror->confirmed(), body, mine);
        return give(mine, out);
    }
    if (!client->find(id)) return ORRERY_EMPTY;
    orrery_body_state mine{};
    const orrery_status found = newest_state(*session, body, mine);
    return found == ORRERY_OK ? give(mine, out) : found;
}

orrery_status orrery_client_set_step_clock(orrery_client* client, uint64_t (*clock)(void* user), void* user) {
    if (!client) return ORRERY_INVALID_ARGUMENT;
    if (!client->connection.mirror()) return ORRERY_WRONG_STATE;
    client->connection.mirror()->set_step_clock(clock, user);
    return ORRERY_OK;
}

orrery_status orrery_client_get_step_times(const orrery_client* client, orrery_step_times* times) {
    if (!client || !times) return ORRERY_INVALID_ARGUMENT;
    const Mirror* mirror = client->connection.mirror();
    return mirror ? give_step_times(mirror->step_clock(), times) : ORRERY_WRONG_STATE;
}

orrery_status orrery_client_set_confirmed(orrery_client* client, int32_t on) {
    if (!client) return ORRERY_INVALID_ARGUMENT;
    if (!client->connection.mirror()) return ORRERY_WRONG_STATE;
    client->connection.mirror()->set_confirmed(on != 0);
    return ORRERY_OK;
}

orrery_status orrery_client_sample_confirmed(orrery_client* client, orrery_samples* samples) {
    if (!client || !begin_arrays(samples, 0)) return ORRERY_INVALID_ARGUMENT;
    const Mirror* mirror = client->connection.mirror();
    if (!mirror || !mirror->running()) return ORRERY_WRONG_STATE;
    const ConfirmedBodies confirmed = mirror->confirmed();
    if (confirmed.tick == 0) return ORRERY_WRONG_STATE;
    begin_arrays(samples, confirmed.bodies.size());
    samples->tick = static_cast<double>(confirmed.tick);
    for (std::uint32_t i = 0; i < samples->count; ++i) {
        const sim::BodyMotion& body = confirmed.bodies[i];
        write(samples->ids, i, id_of(body.id));
        write3(samples->positions, i, body.pose.position);
        write4(samples->orientations, i, body.pose.orientation);
        write3(samples->linear_velocities, i, body.linear_velocity);
        write3(samples->angular_velocities, i, body.angular_velocity);
    }
    return filled(samples->count, samples->available);
}
