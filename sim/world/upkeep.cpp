// The end of a tick: joints that broke go, bodies that left the range of numbers are put under quarantine, events are
// put in order.

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/base/parallel.h"
#include "sim/bodies/numbers.h"
#include "sim/world/contact_numbers.h"
#include "sim/world/core.h"

namespace orrery::sim {

namespace {

constexpr std::uint32_t kBodiesPerTask = 1024;
constexpr std::uint32_t kInfinityBits = 0x7f80'0000u;
// A velocity may pass the named maximum within a tick, before the solver clamps it again; twice that is a runaway.
constexpr float kRunawaySpeed_mps = 2.0f * kMaxLinearSpeed_mps;
// But what is small or thin may be turned faster by any blow: a pin of 1 mm that falls at 5 m/s by 10,000 rad/s. That
// is cut, unless joints hold the body, which such a speed tears apart.
constexpr float kRunawayAngularSpeed_radps = 2.0f * kMaxAngularSpeed_radps;
// Of a greatest speed: a vector that comes to it has a component above that.
constexpr float kLeastComponent = 0.5f;
constexpr float kFast_mps = kSpeedLimitReached * kMaxLinearSpeed_mps,
                kFastLeft_mps = kSpeedLimitLeft * kMaxLinearSpeed_mps;
constexpr float kFastTurn_radps = kSpeedLimitReached * kMaxAngularSpeed_radps,
                kFastTurnLeft_radps = kSpeedLimitLeft * kMaxAngularSpeed_radps;
static_assert(kLeastComponent * kLeastComponent * 3.0f < kSpeedLimitReached * kSpeedLimitReached);

// Magnitudes as bits, which order like the numbers; infinity and NaN are above all else.
std::uint32_t largest_magnitude(const float* values, int count) {
    std::uint32_t largest = 0;
    for (int i = 0; i < count; ++i) largest = std::max(largest, std::bit_cast<std::uint32_t>(values[i]) & 0x7fff'ffffu);
    return largest;
}

// Whether both records need no closer look: no number is beyond its limit, none of a speed above half of the greatest.
// All sixteen at once, without a branch: a magnitude above its limit makes the difference's sign bit. Vectors as all
// targets have, for left to itself the compiler makes none.
bool ordinary(const PoseRecord& pose, const VelocityRecord& velocity) {
    using Four = std::int32_t __attribute__((vector_size(16)));
    constexpr std::int32_t p = std::bit_cast<std::int32_t>(kMaxCoordinate_m), q = std::bit_cast<std::int32_t>(2.0f),
                           v = std::bit_cast<std::int32_t>(kLeastComponent * kMaxLinearSpeed_mps),
                           w = std::bit_cast<std::int32_t>(kLeastComponent * kMaxAngularSpeed_radps);
    constexpr Four limits[4] = {{p, p, p, q}, {q, q, q, 0}, {v, v, v, w}, {w, w, 0, 0}};
    constexpr Four magnitude = {0x7fff'ffff, 0x7fff'ffff, 0x7fff'ffff, 0x7fff'ffff};
    Four bits[4];
    std::memcpy(bits, &pose, sizeof pose);
    std::memcpy(bits + 2, &velocity, sizeof velocity);
    const Four beyond = ((limits[0] - (bits[0] & magnitude)) | (limits[1] - (bits[1] & magnitude))) |
                        ((limits[2] - (bits[2] & magnitude)) | (limits[3] - (bits[3] & magnitude)));
    return ((beyond[0] | beyond[1]) | (beyond[2] | beyond[3])) >= 0;
}

EventCause fault(const PoseRecord& pose, const VelocityRecord& velocity) {
    const std::uint32_t position = largest_magnitude(pose.position, 3), turn = largest_magnitude(pose.orientation, 4);
    const std::uint32_t linear = largest_magnitude(velocity.linear, 3),
                        angular = largest_magnitude(velocity.angular, 3);
    if (std::max({position, turn, linear, angular}) >= kInfinityBits) return EventCause::not_finite;
    if (position > std::bit_cast<std::uint32_t>(kMaxCoordinate_m)) return EventCause::too_far;
    if (linear > std::bit_cast<std::uint32_t>(kRunawaySpeed_mps)) return EventCause::too_fast;
    return turn > std::bit_cast<std::uint32_t>(2.0f) ? EventCause::not_finite : EventCause::none;
}

bool is_jointed(const State& state, std::uint32_t body) {
    return std::ranges::any_of(state.joints, [&](const Joint& joint) {
        const auto bodies = joint.bodies();
        return joint.alive && std::ranges::find(bodies, body) != bodies.end();
    });
}

void quarantine(Core& core, std::uint32_t index, EventCause cause) {
    Bodies& bodies = core.state.bodies;
    Event event;
    event.kind = EventKind::quarantined;
    event.cause = cause;
    event.a = body_id(core.state, index);
    core.state.events.push_back(event);
    bodies.pose[index] = core.start_pose[index];
    bodies.velocity[index] = {};
    bodies.delta[index] = {};
    bodies.inertia[index] = {};
    bodies.set_mass(index, without_mass(bodies.mass(index)));
    bodies.flags[index] = kBodyAlive | kBodyKinematic | kBodyQuarantined;
    note_body(core, index);
    bodies.restart_rest(index);
}

// Tells that a body has come to a speed limit, once until it is slower again. Whether it is at one now.
bool note_speed(Core& core, std::uint32_t index) {
    Bodies& bodies = core.state.bodies;
    std::uint8_t& flags = bodies.flags[index];
    if ((flags & kBodyDynamic) == 0) return false;
    const VelocityRecord& v = bodies.velocity[index];
    const bool before = (flags & kBodyAtSpeedLimit) != 0;
    const bool fast = ref::as_long({v.linear[0], v.linear[1], v.linear[2]}, before ? kFastLeft_mps : kFast_mps);
    const bool turns_fast =
        ref::as_long({v.angular[0], v.angular[1], v.angular[2]}, before ? kFastTurnLeft_radps : kFastTurn_radps);
    const bool now = fast || turns_fast;
    if (now != before) ++core.identity_changes;
    if (now && !before) {
        Event event;
        event.kind = EventKind::speed_limited;
        event.cause = fast ? EventCause::too_fast : EventCause::turns_too_fast;
        event.a = body_id(core.state, index);
        core.state.events.push_back(event);
    }
    flags = static_cast<std::uint8_t>(now ? flags | kBodyAtSpeedLimit : flags & ~kBodyAtSpeedLimit);
    return now;
}

// Impulses that are not finite are of no use whoever bears them: a neighbour may be sound and still hold one.
bool sound(const JointImpulse& impulse) { return largest_magnitude(impulse.row, kMaxJointRows) < kInfinityBits; }
bool sound(const RigForce& force) { return largest_magnitude(force.force, 3) < kInfinityBits; }
bool sound(const ContactSurface& s) {
    const float impulse[] = {s.rolling_impulse.x, s.rolling_impulse.y, s.rolling_impulse.z};
    return largest_magnitude(impulse, 3) < kInfinityBits;
}
bool sound(const Manifold& m) {
    const float shared[] = {m.friction_impulse.x, m.friction_impulse.y, m.friction_impulse.z, m.twist_impulse,
                            m.total_normal_impulse};
    std::uint32_t largest = largest_magnitude(shared, 5);
    for (std::uint32_t i = 0; i < m.count; ++i)
        largest = std::max(largest, largest_magnitude(&m.points[i].normal_impulse, 1));
    return largest < kInfinityBits;
}

}  // namespace

void remove_broken_joints(Core& core) {
    State& state = core.state;
    for (const std::uint32_t i : core.breakable) {
        Joint& joint = state.joints[i];
        if (!joint.broken) continue;
        joint.broken = false;
        Event event;
        event.kind = joint.break_removes ? EventKind::joint_broken : EventKind::joint_overloaded;
        event.a = joint.a == kWorldBody ? BodyId{} : body_id(state, joint.a);
        event.b = joint.b == kWorldBody ? BodyId{} : body_id(state, joint.b);
        event.joint = joint_id(state, i);
        event.impulse = joint.force_n;
        state.events.push_back(event);
        if (joint.break_removes) remove_joint(core, i);
    }
    finish_removals(core);
    if (core.joints_changed) list_joints(core);
}

void quarantine_lost_bodies(Core& core, Executor& executor) {
    State& state = core.state;
    Bodies& bodies = state.bodies;
    bool any = false;
    // Whoever stored the bodies of chains that were solved by themselves has looked already.
    const bool looked = !core.rigs.flags().empty() && !core.rigs.may_have_lost() && !core.any_at_speed_limit;
    core.any_at_speed_limit = false;
    const std::uint8_t* const flags = looked ? core.rigs.flags().data() : bodies.flags.data();
    const auto is_odd = [&](std::uint32_t i) {
        return (flags[i] & (kBodyDynamic | kBodyKinematic)) != 0 &&
               (!ordinary(bodies.pose[i], bodies.velocity[i]) || (bodies.flags[i] & kBodyAtSpeedLimit) != 0);
    };
    // By chunk, the first that is to be looked at; of most chunks none is.
    std::vector<std::uint32_t>& first_odd = core.first_odd;
    const std::span<const std::uint32_t> movers = core.movers.list();
    const auto count = static_cast<std::uint32_t>(movers.size());
    first_odd.resize(chunk_count(count, kBodiesPerTask));
    for_chunks(executor, count, kBodiesPerTask, [&](std::uint32_t chunk, std::uint32_t begin, std::uint32_t end) {
        std::uint32_t k = begin;
        while (k < end && !is_odd(movers[k])) ++k;
        first_odd[chunk] = k;
    });
    const auto look_at = [&](std::uint32_t i) {
        const EventCause cause = fault(bodies.pose[i], bodies.velocity[i]);
        if (cause == EventCause::none) {
            if (largest_magnitude(bodies.velocity[i].angular, 3) >
                std::bit_cast<std::uint32_t>(kRunawayAngularSpeed_radps)) {
                if (is_jointed(state, i)) {
                    quarantine(core, i, EventCause::turns_too_fast);
                    any = true;
                    return;
                }
                ref::limit_turning(bodies.velocity[i]);
            }
            if (note_speed(core, i)) core.any_at_speed_limit = true;
            return;
        }
        quarantine(core, i, cause);
        any = true;
    };
    for (std::uint32_t chunk = 0; chunk < first_odd.size(); ++chunk) {
        const std::uint32_t end = std::min(count, (chunk + 1) * kBodiesPerTask);
        for (std::uint32_t k = first_odd[chunk]; k < end; ++k) {
            if (is_odd(movers[k])) look_at(movers[k]);
        }
    }
    if (!any) return;
    core.rigs_changed = true;  // it is kinematic now
    const auto lost = [&](std::uint32_t body) { return (bodies.flags[body] & kBodyQuarantined) != 0; };
    for (std::size_t i = 0; i < state.joints.size(); ++i) {
        const Joint& joint = state.joints[i];
        const auto of_joint = joint.bodies();
        const bool of_lost = joint.alive && std::any_of(of_joint.begin(), of_joint.end(), lost);
        if (of_lost || !sound(state.joint_impulse[i])) {
            state.joint_impulse[i] = {};
            note_joint(core, static_cast<std::uint32_t>(i));
        }
        if (state.rig_force.empty()) continue;
        RigForce& force = state.rig_force[force_row(static_cast<std::uint32_t>(i))];
        if (of_lost || !sound(force)) force = {};
    }
    for (std::uint32_t i = 0; i < core.manifolds.size(); ++i) {
        const Manifold& manifold = core.manifolds[i];
        const bool whole = sound(manifold) && (core.surfaces.empty() || sound(core.surfaces[i]));
        if (lost(manifold.a) || lost(manifold.b) || !whole) zero_contact_impulses(core, i);
    }
}

// By kind, then by what each tells of. Most arise in order: of a kind only those that did not are sorted.
void sort_events(Core& core) {
    std::vector<Event>& events = core.state.events;
    if (events.size() < 2) return;
    core.event_order.resize(events.size());
    std::vector<std::uint32_t>& from = core.event_order;  // where the event that belongs here is
    std::uint32_t begin_of[kEventKinds + 1] = {};
    for (const Event& e : events) ++begin_of[static_cast<std::size_t>(e.kind) + 1];
    std::partial_sum(std::begin(begin_of), std::end(begin_of), std::begin(begin_of));
    std::uint32_t next[kEventKinds];
    std::copy_n(begin_of, kEventKinds, next);
    for (std::uint32_t i = 0; i < events.size(); ++i) from[next[static_cast<std::size_t>(events[i].kind)]++] = i;
    const auto before = [&](std::uint32_t x, std::uint32_t y) {
        const Event &e = events[x], &f = events[y];
        // x, the order of arising, makes the key unique
        return std::tie(e.a, e.child_a, e.b, e.child_b, e.joint, e.tag, x) <
               std::tie(f.a, f.child_a, f.b, f.child_b, f.joint, f.tag, y);
    };
    for (std::size_t kind = 0; kind < kEventKinds; ++kind) {
        const auto begin = from.begin() + begin_of[kind], end = from.begin() + begin_of[kind + 1];
        if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
    }
    for (std::uint32_t i = 0; i < from.size(); ++i) {
        if (from[i] == i) continue;
        const Event first = events[i];
        std::uint32_t here = i;
        while (from[here] != i) {
            events[here] = events[from[here]];
            here = std::exchange(from[here], here);
        }
        events[here] = first;
        from[here] = here;
    }
}

}  // namespace orrery::sim
