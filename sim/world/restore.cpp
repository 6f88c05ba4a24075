// Restores a saved state. The bytes may come from anyone: each field is checked before it is believed, and the world
// changes only after the last check. The checksum finds accidents, not malice, so nothing relies on it. Until that last
// check memory is taken only for what the bytes hold, about as much as they are: what a state needs beside (a removed
// joint takes 7 bytes saved and nearly 200 in a world) is made at the end.

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "sim/bodies/numbers.h"
#include "sim/world/form.h"

namespace orrery::sim {

namespace {

Error damaged(const char* place, std::string message) {
    return {ErrorCode::corrupt, std::string("saved state: ") + place,
            std::move(message) + "; the bytes are damaged: restore an undamaged copy"};
}

bool finite(float x) { return (std::bit_cast<std::uint32_t>(x) & 0x7fff'ffffu) < 0x7f80'0000u; }
bool finite(const float* values, int count) {
    return std::all_of(values, values + count, [](float x) { return finite(x); });
}
bool zero_bits(float x) { return std::bit_cast<std::uint32_t>(x) == 0; }
bool same_bits(const void* x, const void* y, std::size_t size) { return std::memcmp(x, y, size) == 0; }

class Restorer {
  public:
    Restorer(const Core& core, std::span<const std::uint8_t> bytes) : core_(core), in_(bytes) {}

    Result<Ok> read() {
        if (auto r = clock(); !r) return r;
        if (auto r = identity(); !r) return r;
        if (auto r = bodies(); !r) return r;
        if (auto r = joint_impulses(); !r) return r;
        if (auto r = contacts(); !r) return r;
        if (auto r = control(); !r) return r;
        if (auto r = events(); !r) return r;
        if (auto r = joint_parameters(); !r) return r;
        if (auto r = actuators(); !r) return r;
        if (in_.left() != 0) return damaged("end", std::to_string(in_.left()) + " bytes follow the last field");
        return Ok{};
    }
    // After read() found all bytes good.
    State take() {
        make_bodies();
        make_joints();
        return std::move(state_);
    }

  private:
    enum JointKind : std::uint8_t {
        kNoJoint,
        kSomeJoint = 1,
        kMotorJoint = 2,
        kSteeredJoint = 4,
        kBrakedJoint = 8
    };  // bits

    static std::uint8_t kind_of(const Constraint& c) {
        return static_cast<std::uint8_t>(kSomeJoint | (has_target(c, ActuatorKind::motor) ? kMotorJoint : 0) |
                                         (has_target(c, ActuatorKind::steer) ? kSteeredJoint : 0) |
                                         (has_target(c, ActuatorKind::brake) ? kBrakedJoint : 0));
    }
    static std::uint8_t kind_needed(ActuatorKind kind) {
        return kind == ActuatorKind::motor ? kMotorJoint : kind == ActuatorKind::steer ? kSteeredJoint : kBrakedJoint;
    }

    Error short_at(const char* place) {
        return damaged(place, "the bytes end, or are not in canonical form, at offset " + std::to_string(in_.at()));
    }

    Result<Ok> clock() {
        in_.get(state_.tick);
        if (in_.take<std::uint64_t>() != core_.definition_hash || !in_.ok())
            return damaged("clock", "it belongs to another definition");
        return Ok{};
    }

    Result<Ok> identity() {
        const auto count = in_.take<std::uint32_t>();
        if (!in_.ok() || count > in_.left() / kSavedBodyBytes) return short_at("identity");
        if (count > kMaxBodies || count < core_.def.bodies.size() + 1)
            return damaged("identity", "it cannot hold " + std::to_string(count) + " bodies");
        Bodies& b = state_.bodies;
        in_.get_array(b.flags, count);
        in_.get_array(b.generation, count);
        in_.get_array(state_.origin, count);
        in_.get_array(slots_, count);
        if (!core_.def.prefabs.empty()) in_.get_array(state_.group, count);
        const auto changed = in_.take<std::uint32_t>();
        in_.get_array(state_.changed, changed);
        if (!in_.ok()) return short_at("identity");
        if (b.flags[0] != kBodyAlive || b.generation[0] != 0 || state_.origin[0] != BodyOrigin{} ||
            slots_[0] != kNoSlot)
            return damaged("identity", "body 0 is not the world");
        for (std::uint32_t i = 1; i < count; ++i) {
            if (!body_makes_sense(i, b.flags[i], slots_[i]))
                return damaged("identity", "body " + std::to_string(i) + " contradicts the definition");
        }
        if (group_of(kWorldBody) != BodyId{}) return damaged("identity", "body 0 is not the world");
        for (std::size_t k = 0; k < state_.changed.size(); ++k) {
            if (!settings_make_sense(state_.changed[k]) ||
                (k > 0 && state_.changed[k - 1].body >= state_.changed[k].body))
                return damaged("identity", "changed settings " + std::to_string(k) + " are impossible");
        }
        return joint_identity();
    }

    bool body_makes_sense(std::uint32_t i, std::uint8_t flags, std::uint16_t slot) const {
        const BodyOrigin origin = state_.origin[i];
        if (flags == 0)
            return origin == BodyOrigin{} && slot == kNoSlot && state_.bodies.generation[i] > 0 &&
                   group_of(i) == BodyId{};
        if (!group_makes_sense(i)) return false;
        const WorldDef& def = core_.def;
        if (origin.prefab == kNone) {
            if (i > def.bodies.size() || origin.index != i - 1 || state_.bodies.generation[i] != 0 || slot != kNoSlot)
                return false;
        } else {
            if (origin.prefab >= def.prefabs.size() || origin.index >= def.prefabs[origin.prefab].bodies.size())
                return false;
            if (i <= def.bodies.size() && state_.bodies.generation[i] == 0) return false;
            if (slot != kNoSlot && (slot >= def.slots.size() || def.slots[slot].prefab != origin.prefab)) return false;
        }
        constexpr std::uint8_t kLost = kBodyAlive | kBodyKinematic | kBodyQuarantined;
        // Settings are looked for by a binary search, which finds some or none in a list that is not sorted.
        const BodySettings* const changed = changed_settings(state_, i);
        switch (changed != nullptr ? type_of(*changed) : body_definition(def, origin).type) {
            case BodyType::fixed:
                return flags == kBodyAlive;
            case BodyType::kinematic:
                return flags == (kBodyAlive | kBodyKinematic) ||
                       flags == (kBodyAlive | kBodyKinematic | kBodyTargeted) || flags == kLost;
            case BodyType::dynamic:
                return flags == (kBodyAlive | kBodyDynamic) ||
                       flags == (kBodyAlive | kBodyDynamic | kBodyAtSpeedLimit) || flags == kLost ||
                       (flags == (kBodyAlive | kBodyDynamic | kBodyAsleep) && def.solver.sleep);
        }
        return false;
    }

    // Not saved where there are no prefabs.
    BodyId group_of(std::uint32_t i) const { return state_.group.empty() ? BodyId{} : state_.group[i]; }
    // The first body of a group may be gone, and another one may have its index since.
    bool group_makes_sense(std::uint32_t i) const {
        const BodyId group = group_of(i);
        const BodyOrigin origin = state_.origin[i];
        if (origin.prefab == kNone) return group == BodyId{};
        if (group.index == kWorldBody || group.index >= state_.bodies.size()) return false;
        if (group.generation > state_.bodies.generation[group.index]) return false;
        if (origin.index == 0) return group == BodyId{i, state_.bodies.generation[i]};
        if (group.generation != state_.bodies.generation[group.index]) return true;
        return state_.bodies.flags[group.index] != 0 && state_.origin[group.index] == BodyOrigin{origin.prefab, 0};
    }
    bool settings_make_sense(const BodySettings& s) const {
        if (s.body == kWorldBody || s.body >= state_.bodies.size() || state_.bodies.flags[s.body] == 0) return false;
        if (s.type > static_cast<std::uint32_t>(BodyType::dynamic) ||
            !may_be(core_, state_.origin[s.body], type_of(s)) || s.material >= core_.def.materials.size())
            return false;
        return ref::within(s.gravity_scale, -kMaxGravityScale, kMaxGravityScale) &&
               ref::within(s.linear_damping, 0.0f, kMaxDamping_hz) &&
               ref::within(s.angular_damping, 0.0f, kMaxDamping_hz);
    }

    Result<Ok> joint_identity() {
        const auto count = in_.take<std::uint32_t>();
        if (!in_.ok() || count > in_.left() / kSavedJointBytes) return short_at("identity");
        if (count > kMaxJoints || count < core_.def.joints.size())
            return damaged("identity", "it cannot hold " + std::to_string(count) + " joints");
        joint_kind_.resize(count);
        identity_of_joints_ = in_;
        Joint joint;
        for (std::uint8_t& kind : joint_kind_) {
            get_identity(in_, joint);
            if (!in_.ok()) return short_at("identity");
            if (joint.slot != kNoSlot && (!joint.alive || joint.slot >= core_.def.slots.size()))
                return damaged("identity", "a joint's slot does not exist");
            if (!joint.alive && joint.generation == 0)
                return damaged("identity", "a joint was removed that never existed");
            kind = joint.alive ? kSomeJoint : kNoJoint;
        }
        return Ok{};
    }
    static void get_identity(CanonicalReader& in, Joint& joint) {
        in.get(joint.alive);
        in.get(joint.generation);
        in.get(joint.slot);
    }

    Result<Ok> bodies() {
        Bodies& b = state_.bodies;
        in_.get_array(b.slow_ticks, b.size());
        motion_of_bodies_ = in_;
        for (std::uint32_t i = 0; i < b.size(); ++i) {
            PoseRecord pose;
            VelocityRecord velocity;
            get_motion(in_, pose, velocity);
            if (!in_.ok()) return short_at("bodies");
            if (b.slow_ticks[i] > (b.dynamic(i) ? core_.sleep_ticks : 0u))
                return damaged("bodies", "body " + std::to_string(i) + " has been slow for too long");
            if (!motion_makes_sense(i, pose, velocity))
                return damaged("bodies", "body " + std::to_string(i) + " has an impossible pose or velocity");
        }
        return mean_motions();
    }

    Result<Ok> mean_motions() {
        Bodies& b = state_.bodies;
        b.any_sleep = core_.def.solver.sleep;
        if (b.any_sleep) b.mean_motion.assign(b.size(), {});
        std::uint32_t count = 0, before = kWorldBody;
        in_.get(count);
        for (std::uint32_t n = 0; n < count && in_.ok(); ++n) {
            std::uint32_t i = 0;
            VelocityRecord motion;
            constexpr VelocityRecord kStill;
            in_.get(i);
            in_.bytes(&motion, 6 * sizeof(float));
            if (!in_.ok()) break;
            if (!b.any_sleep || i <= before || i >= b.size() || !b.dynamic(i) || b.asleep(i) ||
                !finite(motion.linear, 3) || !finite(motion.angular, 3) || same_bits(&motion, &kStill, sizeof motion))
                return damaged("bodies", "body " + std::to_string(i) + " has an impossible mean motion");
            b.mean_motion[before = i] = motion;
        }
        return in_.ok() ? Result<Ok>(Ok{}) : short_at("bodies");
    }

    bool motion_makes_sense(std::uint32_t i, const PoseRecord& pose, const VelocityRecord& velocity) const {
        constexpr PoseRecord kRest;
        constexpr VelocityRecord kStill;
        if (i == kWorldBody || !body_alive(state_, i))
            return same_bits(&pose, &kRest, sizeof pose) && same_bits(&velocity, &kStill, sizeof velocity);
        const bool still = (state_.bodies.flags[i] & (kBodyDynamic | kBodyKinematic)) == 0 || state_.bodies.asleep(i);
        if (still && !same_bits(&velocity, &kStill, sizeof velocity)) return false;
        if (!finite(velocity.linear, 3) || !finite(velocity.angular, 3)) return false;
        Quat orientation = pose_of(pose).orientation;
        return ref::within(pose_of(pose).position, kMaxCoordinate_m) && ref::make_unit(orientation);
    }

    Result<Ok> joint_impulses() {
        impulses_of_joints_ = in_;
        for (const std::uint8_t kind : joint_kind_) {
            if (kind == kNoJoint) continue;
            float impulse[kMaxJointRows];
            in_.bytes(impulse, sizeof impulse);
            if (!in_.ok()) return short_at("joints");
            if (!finite(impulse, kMaxJointRows)) return damaged("joints", "an impulse is not finite");
        }
        if (!may_have_rigs(core_.def)) return Ok{};
        in_.get_array(state_.rig_force, joint_kind_.empty() ? 0 : joint_kind_.size() + 1);
        if (!in_.ok()) return short_at("joints");
        for (std::size_t row = 0; row < state_.rig_force.size(); ++row) {
            const RigForce& force = state_.rig_force[row];
            constexpr RigForce kNoForce;
            if (!finite(force.force, 3) || !zero_bits(force.force[3]))
                return damaged("joints", "a force is not finite");
            const bool none = row == 0 || joint_kind_[row - 1] == kNoJoint;
            if (none && !same_bits(&force, &kNoForce, sizeof force))
                return damaged("joints", "a force belongs to no joint");
        }
        return Ok{};
    }

    Result<Ok> contacts() {
        std::vector<KeptContact> contacts;
        if (auto r = contact_list(contacts, false); !r) return r;
        state_.contacts.adopt(contacts);
        if (auto r = contact_list(state_.sleeping_contacts, true); !r) return r;
        if (auto r = sensor_overlaps(); !r) return r;
        return core_.any_surfaces ? rolling() : Ok{};
    }

    Result<Ok> contact_list(std::vector<KeptContact>& list, bool sleeping) {
        const auto count = in_.take<std::uint32_t>();
        if (!in_.ok() || count > in_.left() / kSavedContactBytes) return short_at("contacts");
        list.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            if (!get_contact(in_, list[i])) return short_at("contacts");
            const bool ordered = i == 0 || comes_before(list[i - 1], list[i]);
            if (!ordered || !contact_makes_sense(list[i]) || sleeps(list[i]) != sleeping)
                return damaged("contacts", std::string(sleeping ? "sleeping " : "") + "contact " + std::to_string(i) +
                                               " is impossible");
        }
        return Ok{};
    }

    bool is_sensor(std::uint32_t i) const {
        return i != kWorldBody && body_alive(state_, i) && body_definition(core_.def, state_.origin[i]).sensor;
    }

    Result<Ok> sensor_overlaps() {
        const auto count = in_.take<std::uint32_t>();
        in_.get_array(state_.sensor_overlaps, count);
        if (!in_.ok()) return short_at("contacts");
        for (std::size_t i = 0; i < count; ++i) {
            const bool ordered = i == 0 || state_.sensor_overlaps[i - 1] < state_.sensor_overlaps[i];
            if (!ordered || !overlap_makes_sense(state_.sensor_overlaps[i]))
                return damaged("contacts", "sensor overlap " + std::to_string(i) + " is impossible");
        }
        return Ok{};
    }
    Result<Ok> rolling() {
        const auto count = in_.take<std::uint32_t>();
        in_.get_array(state_.rolling, count);
        if (!in_.ok()) return short_at("contacts");
        for (std::size_t i = 0; i < count; ++i) {
            const RollingImpulse& r = state_.rolling[i];
            const bool ordered = i == 0 || comes_before(state_.rolling[i - 1], r);
            if (!ordered || !may_touch(r.a, r.b) || !finite(r.impulse, 3))
                return damaged("contacts", "rolling impulse " + std::to_string(i) + " is impossible");
        }
        return Ok{};
    }
    // A sleeper has contacts with bodies that do not move, and no others.
    bool sleeps(const KeptContact& c) const { return state_.bodies.asleep(c.a) || state_.bodies.asleep(c.b); }

    bool overlap_makes_sense(SensorOverlap overlap) const {
        const Bodies& b = state_.bodies;
        if (overlap.sensor >= b.size() || overlap.visitor >= b.size()) return false;
        return is_sensor(overlap.sensor) && has_shape(overlap.visitor) && !is_sensor(overlap.visitor) &&
               (b.flags[overlap.visitor] & (kBodyDynamic | kBodyKinematic)) != 0;
    }

    bool has_shape(std::uint32_t i) const {
        return i != kWorldBody && body_alive(state_, i) && body_definition(core_.def, state_.origin[i]).shape != kNone;
    }

    bool may_touch(std::uint32_t a, std::uint32_t b) const {
        return a < b && b < state_.bodies.size() && has_shape(a) && has_shape(b) && !is_sensor(a) && !is_sensor(b);
    }
    bool contact_makes_sense(const KeptContact& c) const {
        if (!may_touch(c.a, c.b)) return false;
        return finite(c.normal_impulse, kMaxManifoldPoints) && finite(c.friction_impulse, 3) &&
               finite(c.twist_impulse) && finite(c.total_normal_impulse) && finite(c.held_a, 3) && finite(c.held_b, 3);
    }

    Result<Ok> control() {
        state_.slots.resize(core_.def.slots.size());
        for (SlotState& slot : state_.slots) {
            const auto holder = in_.take<std::uint8_t>();
            if (holder > static_cast<std::uint8_t>(SlotHolder::director))
                return damaged("control", "a slot has an unknown holder");
            slot.holder = static_cast<SlotHolder>(holder);
            for (float& channel : slot.controls) {
                in_.get(channel);
                if (!ref::within(channel, -1.0f, 1.0f) || (!slot.taken() && !zero_bits(channel)))
                    return damaged("control", "a control channel is out of range");
            }
        }
        for (std::uint32_t i = 1; i < state_.bodies.size(); ++i) {
            const std::uint16_t slot = slots_[i];
            if (slot != kNoSlot && !state_.slots[slot].taken())
                return damaged("control", "body " + std::to_string(i) + " belongs to an empty slot");
        }
        const auto count = in_.take<std::uint32_t>();
        if (!in_.ok() || count > in_.left() / kSavedActuatorBytes) return short_at("control");
        state_.actuators.resize(count);
        for (ActuatorState& actuator : state_.actuators) {
            in_.get(actuator.prefab);
            in_.get(actuator.index);
            in_.get(actuator.body);
            in_.get(actuator.joint);
            in_.get(actuator.slot);
            in_.get(actuator.base);
        }
        return in_.ok() ? Result<Ok>(Ok{}) : short_at("control");
    }

    Result<Ok> events() {
        const auto count = in_.take<std::uint32_t>();
        if (!in_.ok() || count > in_.left() / kSavedEventBytes) return short_at("events");
        state_.events.resize(count);
        for (Event& event : state_.events) {
            const auto kind = in_.take<std::uint8_t>(), cause = in_.take<std::uint8_t>(),
                       command = in_.take<std::uint8_t>();
            if (kind > static_cast<std::uint8_t>(EventKind::speed_limited) ||
                cause > static_cast<std::uint8_t>(EventCause::turns_too_fast))
                return damaged("events", "an event is of an unknown kind");
            event.kind = static_cast<EventKind>(kind);
            event.cause = static_cast<EventCause>(cause);
            event.command = static_cast<CommandKind>(command);
            in_.get(event.slot);
            for (std::uint32_t* part : {&event.a.index, &event.a.generation, &event.b.index, &event.b.generation,
                                        &event.child_a, &event.child_b, &event.joint.index, &event.joint.generation})
                in_.get(*part);
            in_.get(event.tag);
            in_.get(event.point);
            in_.get(event.normal);
            in_.get(event.impulse);
        }
        return in_.ok() ? Result<Ok>(Ok{}) : short_at("events");
    }

    Result<Ok> joint_parameters() {
        parameters_of_joints_ = in_;
        Joint joint;
        for (std::size_t i = 0; i < joint_kind_.size(); ++i) {
            if (joint_kind_[i] == kNoJoint) continue;
            if (!get_parameters(in_, joint)) return short_at("joint parameters");
            if (!joint_makes_sense(joint))
                return damaged("joint parameters", "joint " + std::to_string(i) + " is impossible");
            joint_kind_[i] = kind_of(joint.constraint);
        }
        return Ok{};
    }
    static bool get_parameters(CanonicalReader& in, Joint& joint) {
        in.get(joint.a);
        in.get(joint.b);
        in.get(joint.break_force_n);
        in.get(joint.break_torque_nm);
        in.get(joint.break_removes);
        in.get(joint.collide_connected);
        if (!get_constraint(in, in.take<std::uint8_t>(), joint.constraint)) return false;
        joint.c = joint.d = kWorldBody;
        const int count = body_count(joint.constraint);
        if (count >= 3) in.get(joint.c);
        if (count >= 4) in.get(joint.d);
        return in.ok();
    }

    bool joint_makes_sense(const Joint& joint) const {
        const std::uint32_t count = state_.bodies.size();
        if (joint.a == joint.b) return false;
        const auto bodies = joint.bodies();
        std::array<bool, 4> given{};
        for (std::size_t k = 0; k < bodies.size(); ++k) {
            if (bodies[k] >= count || !body_alive(state_, bodies[k])) return false;
            given[k] = bodies[k] != kWorldBody;
            for (std::size_t other = 0; other < k; ++other) {
                if (given[k] && bodies[k] == bodies[other]) return false;
            }
        }
        if (!bodies_fit(joint.constraint, given)) return false;
        if (!ref::positive(joint.break_force_n) || !ref::positive(joint.break_torque_nm)) return false;
        return live_constraint_holds(joint.constraint);  // kept bit for bit
    }

    // Last, for they refer to bodies and joints.
    Result<Ok> actuators() {
        for (std::size_t i = 0; i < state_.actuators.size(); ++i) {
            if (!actuator_makes_sense(state_.actuators[i]))
                return damaged("control", "actuator " + std::to_string(i) + " is impossible");
        }
        return Ok{};
    }

    bool actuator_makes_sense(ActuatorState& a) const {
        const WorldDef& def = core_.def;
        if (a.prefab != kNone && a.prefab >= def.prefabs.size()) return false;
        if (a.index >= (a.prefab == kNone ? def.actuators.size() : def.prefabs[a.prefab].actuators.size()))
            return false;
        if (a.slot != kNoSlot && a.slot >= def.slots.size()) return false;
        const ActuatorDef& definition = actuator_definition(def, a);
        if (a.prefab == kNone && a.slot != definition.slot) return false;
        if (!ref::within(a.base.position, kMaxCoordinate_m)) return false;
        if (definition.kind != ActuatorKind::kinematic) {
            if (a.base.position.x == 1.0f && definition.kind == ActuatorKind::walk)
                a.walker.stood = std::exchange(a.base.position.x, 0.0f);
            if (a.base.position.x == 1.0f && definition.kind == ActuatorKind::jump)
                a.walker.jumping = std::exchange(a.base.position.x, 0.0f);
            if (!(a.base == Pose{})) return false;
        }
        Quat turn = a.base.orientation;
        if (!ref::make_unit(turn)) return false;
        if (acts_on_joint(definition.kind))
            return a.body == kNone && a.joint < joint_kind_.size() &&
                   (joint_kind_[a.joint] & kind_needed(definition.kind)) != 0;
        if (a.joint != kNone || a.body >= state_.bodies.size() || !body_alive(state_, a.body)) return false;
        return state_.origin[a.body] == BodyOrigin{a.prefab, definition.body};
    }

    void make_bodies() {
        Bodies& b = state_.bodies;
        b.kinds = core_.state.bodies.kinds;
        b.kinds.info.resize(b.kinds.count);
        b.kinds.mass.resize(b.kinds.count);
        const std::vector<std::uint16_t> slow_ticks = b.slow_ticks;
        resize_bodies(state_, b.size());
        for (std::uint32_t i = 0; i < b.size(); ++i) get_motion(motion_of_bodies_, b.pose[i], b.velocity[i]);
        for (std::uint32_t i = 1; i < b.size(); ++i) {
            const std::uint8_t flags = b.flags[i];
            if (flags == 0) continue;
            define_body(core_, b, i, state_.origin[i]);
            b.slot[i] = slots_[i];
            b.flags[i] = flags;
            b.slow_ticks[i] = slow_ticks[i];
            if (const BodySettings* const changed = changed_settings(state_, i); changed != nullptr)
                apply_settings(core_, state_, *changed);
            if ((flags & kBodyQuarantined) != 0) b.set_mass(i, without_mass(b.mass(i)));
            b.inertia[i] = ref::world_inertia(b.mass(i), b.pose[i]);
        }
    }

    void make_joints() {
        state_.joints.resize(joint_kind_.size());
        state_.joint_impulse.resize(joint_kind_.size());
        state_.joint_digest.resize(joint_kind_.size());
        for (std::size_t i = 0; i < state_.joints.size(); ++i) {
            Joint& joint = state_.joints[i];
            get_identity(identity_of_joints_, joint);
            if (joint.alive) {
                impulses_of_joints_.bytes(state_.joint_impulse[i].row, sizeof state_.joint_impulse[i].row);
                get_parameters(parameters_of_joints_, joint);
            }
            state_.joint_digest[i] = digest_of(joint);
        }
    }

    const Core& core_;
    CanonicalReader in_;
    // in_ where each begins: what is checked first and made later takes no memory meanwhile.
    CanonicalReader motion_of_bodies_{{}}, identity_of_joints_{{}}, impulses_of_joints_{{}}, parameters_of_joints_{{}};
    std::vector<std::uint16_t> slots_;      // by body
    std::vector<std::uint8_t> joint_kind_;  // JointKind, by joint
    State state_;
};

Result<Ok> check_header(const Core& core, std::span<const std::uint8_t> bytes) {
    if (bytes.size() < kSaveHeaderBytes) return damaged("header", "it is shorter than a header");
    CanonicalReader in(bytes);
    char magic[8];
    in.bytes(magic, sizeof magic);
    if (!same_bits(magic, kSaveMagic, sizeof magic))
        return damaged("header", "these are not the bytes of a saved state");
    const auto format = in.take<std::uint32_t>(), engine = in.take<std::uint32_t>();
    if (format != kSaveFormat || engine != kEngineVersion)
        return Error{ErrorCode::version_mismatch, "saved state: header",
                     "it is of format " + std::to_string(format) + ", engine version " + std::to_string(engine) +
                         ", this is format " + std::to_string(kSaveFormat) + ", engine version " +
                         std::to_string(kEngineVersion) + "; restore it with the engine that saved it"};
    if (in.take<std::uint64_t>() != core.definition_hash)
        return Error{ErrorCode::version_mismatch, "saved state: header",
                     "it was saved by a world of another definition; make the world from the same scene first"};
    const auto length = in.take<std::uint64_t>(), checksum = in.take<std::uint64_t>();
    if (length != in.left())
        return damaged("header", "it announces " + std::to_string(length) + " bytes, but " + std::to_string(in.left()) +
                                     " follow");
    if (XXH3_64bits(bytes.data() + kSaveHeaderBytes, in.left()) != checksum)
        return damaged("header", "the checksum is wrong");
    return Ok{};
}

}  // namespace

void settle_state(Core& core) {
    core.stats = {};
    core.pairs = {};
    core.manifolds = {};
    core.sleeping_changed = true;
    renew_sleeping_digest(core);
    core.to_wake.clear();
    core.disturbed.clear();
    core.halted = false;
    core.joints_changed = core.rigs_changed = core.any_at_speed_limit = true;
    ++core.joint_epoch;
    rebuild_free_lists(core);
    list_joints(core);
    list_special_bodies(core);
    core.collision.forget_bodies();
    core.movers.note_all();
    core.digests.motion.note_all();
    core.movers.clear_placed();
    std::fill(core.cold_start.begin(), core.cold_start.end(), std::uint8_t{0});
    core.cold_bodies.clear();
    core.removed_bodies.clear();
    core.removed_joints.clear();
    core.targets.clear();
    core.targeted_before.clear();
    for (std::uint32_t i = 1; i < core.state.bodies.size(); ++i) {
        if ((core.state.bodies.flags[i] & kBodyTargeted) != 0) core.targets.push_back({i, {}});
    }
    core.force.clear();
    core.torque.clear();
    core.pushed.clear();
    core.drives.clear();
    core.drive_of.clear();
    core.walkers.clear();
    core.walker_of.clear();
}

Result<Ok> restore_state(Core& core, std::span<const std::uint8_t> bytes) {
    if (auto r = check_header(core, bytes); !r) return r;
    Restorer restorer(core, bytes.subspan(kSaveHeaderBytes));
    if (auto r = restorer.read(); !r) return r;
    core.state = restorer.take();
    settle_state(core);
    return Ok{};
}

}  // namespace orrery::sim
