// Bodies, joints and actuators come and go. Indices are given out lowest first, and a removed one is free again only
// when all commands of the tick have been applied; generations grow when an index is freed.

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "sim/base/assert.h"
#include "sim/bodies/numbers.h"
#include "sim/rigs/graph/stars.h"
#include "sim/world/canonical.h"
#include "sim/world/constraint_fields.h"
#include "sim/world/core.h"

namespace orrery::sim {

namespace {

// A dynamic body without a shape turns like a solid sphere of 0.5 m: 0.4 r^2.
constexpr MassProperties kShapelessMass{1.0f, {0.1f, 0.0f, 0.0f, 0.1f, 0.0f, 0.1f}};

Constraint placed_constraint(const JointDef& def, const Pose& pose) {
    Constraint constraint = def.constraint;
    ref::place_world_side(constraint, pose, def.body_a == kNone, def.body_b == kNone);
    return constraint;
}

// `ids` maps indices of the group's bodies to indices in the world.
Joint make_joint(const JointDef& def, std::span<const std::uint32_t> ids, const Pose* placed_at, std::uint16_t slot) {
    Joint joint;
    joint.a = def.body_a == kNone ? kWorldBody : ids[def.body_a];
    joint.b = def.body_b == kNone ? kWorldBody : ids[def.body_b];
    joint.c = def.body_c == kNone ? kWorldBody : ids[def.body_c];
    joint.d = def.body_d == kNone ? kWorldBody : ids[def.body_d];
    joint.constraint = placed_at ? placed_constraint(def, *placed_at) : def.constraint;
    joint.break_force_n = def.break_force_n;
    joint.break_torque_nm = def.break_torque_nm;
    joint.break_removes = def.break_removes;
    joint.collide_connected = def.collide_connected;
    joint.slot = slot;
    return joint;
}

void add_actuators(Core& core, std::span<const ActuatorDef> defs, std::uint32_t prefab,
                   std::span<const std::uint32_t> bodies, std::span<const std::uint32_t> joints, std::uint16_t slot) {
    for (std::uint32_t i = 0; i < defs.size(); ++i) {
        ActuatorState actuator;
        actuator.prefab = prefab;
        actuator.index = i;
        actuator.slot = prefab == kNone ? static_cast<std::uint16_t>(defs[i].slot) : slot;
        if (acts_on_joint(defs[i].kind)) {
            actuator.joint = joints[defs[i].joint];
        } else {
            actuator.body = bodies[defs[i].body];
            if (defs[i].kind == ActuatorKind::kinematic) actuator.base = pose_of(core.state.bodies.pose[actuator.body]);
        }
        core.state.actuators.push_back(actuator);
    }
}

std::uint32_t take_body_index(Core& core) {
    if (core.free_bodies.empty()) {
        resize_bodies(core.state, core.state.bodies.size() + 1);
        return core.state.bodies.size() - 1;
    }
    const std::uint32_t index = core.free_bodies.back();
    core.free_bodies.pop_back();
    ORRERY_ASSERT(index < core.state.bodies.size() && !body_alive(core.state, index));
    return index;
}

void place_body(Bodies& bodies, std::uint32_t index, const Pose& pose, Vec3 linear, Vec3 angular) {
    set_pose(bodies.pose[index], pose);
    set_velocity(bodies.velocity[index], linear, angular);
    bodies.inertia[index] = ref::world_inertia(bodies.mass(index), bodies.pose[index]);
}

bool is_unlimited(float limit) { return std::bit_cast<std::uint32_t>(limit) == std::bit_cast<std::uint32_t>(kNoLimit); }

// Whether a body of a joint is gone.
bool is_loose(const State& state, const Joint& joint) {
    const auto bodies = joint.bodies();
    return std::any_of(bodies.begin(), bodies.end(), [&](std::uint32_t body) { return !body_alive(state, body); });
}

// Whether a or b was removed in this tick; then what they shared has ended, which is an event if anyone was told that
// it began.
bool ends_with_a_body(State& state, EventKind kind, std::uint32_t a, std::uint32_t b, bool told,
                      std::uint32_t child_a = 0, std::uint32_t child_b = 0) {
    const bool dead_a = !body_alive(state, a), dead_b = !body_alive(state, b);
    if ((dead_a || dead_b) && told) {
        Event event;
        event.kind = kind;
        event.a = {a, state.bodies.generation[a] - (dead_a ? 1u : 0u)};
        event.b = {b, state.bodies.generation[b] - (dead_b ? 1u : 0u)};
        event.child_a = child_a;
        event.child_b = child_b;
        state.events.push_back(event);
    }
    return dead_a || dead_b;
}

}  // namespace

const BodyDef& body_definition(const WorldDef& def, BodyOrigin origin) {
    return origin.prefab == kNone ? def.bodies[origin.index] : def.prefabs[origin.prefab].bodies[origin.index];
}

const ActuatorDef& actuator_definition(const WorldDef& def, const ActuatorState& actuator) {
    return actuator.prefab == kNone ? def.actuators[actuator.index]
                                    : def.prefabs[actuator.prefab].actuators[actuator.index];
}

void resize_bodies(State& state, std::uint32_t count) {
    Bodies& b = state.bodies;
    b.velocity.resize(count);
    b.pose.resize(count);
    b.delta.resize(count);
    b.inertia.resize(count);
    b.flags.resize(count);
    b.thin.resize(count);
    b.generation.resize(count);
    b.slow_ticks.resize(count);
    if (b.any_sleep) b.mean_motion.resize(count);
    b.slot.resize(count, kNoSlot);
    b.kind_of.resize(count);
    b.mass_of.resize(count);
    state.origin.resize(count);
    state.group.resize(count);
}

namespace {

BodySettings settings_of(const BodyDef& body) {
    BodySettings out;
    out.type = static_cast<std::uint32_t>(body.type);
    out.category = body.category;
    out.mask = body.mask;
    out.material = body.material;
    out.gravity_scale = body.gravity_scale;
    out.linear_damping = body.linear_damping;
    out.angular_damping = body.angular_damping;
    return out;
}
BodyInfo info_of(const BodyDef& body, const BodySettings& settings) {
    return {body.shape,  settings.material, settings.category,  settings.mask,
            body.sensor, body.can_sleep,    body.collision_mode};
}
MassRecord mass_of(const BodyDef& body, const BodySettings& settings, const WorldDef& def,
                   const std::vector<Shape>& shapes) {
    MassRecord mass;
    mass.gravity_scale = settings.gravity_scale;
    mass.linear_damping = settings.linear_damping;
    mass.angular_damping = settings.angular_damping;
    for (int axis = 0; axis < 3; ++axis) {
        mass.linear_lock[axis] = (body.locks >> axis & 1) != 0 ? 0.0f : 1.0f;
        mass.angular_lock[axis] = (body.locks >> (axis + 3) & 1) != 0 ? 0.0f : 1.0f;
    }
    if (type_of(settings) == BodyType::dynamic) {
        const MassProperties& unit = body.shape == kNone ? kShapelessMass : shapes[body.shape].unit_mass;
        ref::set_mass(mass, unit, ref::body_mass_kg(unit, body.mass_kg, def.materials[body.material].density_kgpm3));
    }
    return mass;
}
BodyKinds no_kinds() {
    BodyKinds kinds;
    kinds.info.emplace_back();
    kinds.mass.emplace_back();
    return kinds;
}

}  // namespace

DefinedKinds find_kinds(const WorldDef& def, const std::vector<Shape>& shapes) {
    DefinedKinds out;
    BodyKinds kinds = no_kinds();
    out.first.emplace_back();
    std::multimap<std::uint64_t, std::uint32_t> known;  // by hash
    const auto kind_of = [&](BodyOrigin origin) {
        const BodyDef& body = body_definition(def, origin);
        const BodyInfo info = info_of(body, settings_of(body));
        const MassRecord mass = mass_of(body, settings_of(body), def, shapes);
        const auto is = [&](std::uint32_t kind) {
            return kinds.info[kind] == info && std::memcmp(&kinds.mass[kind], &mass, sizeof mass) == 0;
        };
        if (const auto last = static_cast<std::uint32_t>(out.first.size() - 1); last != 0 && is(last)) return last;
        const std::uint64_t hash = XXH3_64bits(&mass, sizeof mass) + (std::uint64_t(info.shape) << 32 | info.material);
        for (auto [it, end] = known.equal_range(hash); it != end; ++it) {
            if (is(it->second)) return it->second;
        }
        const auto kind = static_cast<std::uint32_t>(out.first.size());
        kinds.info.push_back(info);
        kinds.mass.push_back(mass);
        out.first.push_back(origin);
        known.emplace(hash, kind);
        return kind;
    };
    const auto kinds_of = [&](std::uint32_t prefab, const std::vector<BodyDef>& list) {
        std::vector<std::uint32_t> of(list.size());
        for (std::uint32_t i = 0; i < of.size(); ++i) of[i] = kind_of({prefab, i});
        return of;
    };
    out.bodies = kinds_of(kNone, def.bodies);
    for (std::uint32_t prefab = 0; prefab < def.prefabs.size(); ++prefab)
        out.prefabs.push_back(kinds_of(prefab, def.prefabs[prefab].bodies));
    return out;
}

MassRecord without_mass(const MassRecord& mass) {
    MassRecord out = mass;
    std::fill(std::begin(out.inverse_inertia), std::end(out.inverse_inertia), 0.0f);
    out.inverse_mass = 0.0f;
    return out;
}

std::uint8_t flags_of(BodyType type) {
    return static_cast<std::uint8_t>(kBodyAlive | (type == BodyType::kinematic ? kBodyKinematic : 0) |
                                     (type == BodyType::dynamic ? kBodyDynamic : 0));
}

const BodySettings* changed_settings(const State& state, std::uint32_t index) {
    const auto at = std::ranges::lower_bound(state.changed, index, {}, &BodySettings::body);
    return at != state.changed.end() && at->body == index ? &*at : nullptr;
}
BodySettings settings_of(const Core& core, std::uint32_t index) {
    const BodySettings* const changed = changed_settings(core.state, index);
    if (changed != nullptr) return *changed;
    BodySettings out = settings_of(body_definition(core.def, core.state.origin[index]));
    out.body = index;
    return out;
}
void change_settings(Core& core, const BodySettings& settings) {
    State& state = core.state;
    const auto at = std::ranges::lower_bound(state.changed, settings.body, {}, &BodySettings::body);
    if (at != state.changed.end() && at->body == settings.body)
        *at = settings;
    else
        state.changed.insert(at, settings);
}

void apply_settings(const Core& core, State& state, const BodySettings& settings) {
    const BodyDef& body = body_definition(core.def, state.origin[settings.body]);
    Bodies& bodies = state.bodies;
    bodies.set_info(settings.body, info_of(body, settings));
    bodies.set_mass(settings.body, mass_of(body, settings, core.def, core.shapes));
    bodies.thin[settings.body] = ref::is_thin(bodies.mass(settings.body)) ? 1 : 0;
}

bool may_be(const Core& core, BodyOrigin origin, BodyType type) {
    const BodyDef& body = body_definition(core.def, origin);
    if (type == BodyType::fixed) return true;
    if (body.shape == kNone) return type == BodyType::kinematic || is_mass(body.mass_kg);
    const Shape& shape = core.shapes[body.shape];
    if (shape.type == ShapeType::plane) return false;
    if (type == BodyType::kinematic) return true;
    const float density = core.def.materials[body.material].density_kgpm3;
    return shape.mesh == nullptr && is_mass(ref::body_mass_kg(shape.unit_mass, body.mass_kg, density));
}

void define_body(const Core& core, Bodies& bodies, std::uint32_t index, BodyOrigin origin) {
    bodies.set_kind(index, core.kinds.of(origin));
    bodies.flags[index] = flags_of(body_definition(core.def, origin).type);
    bodies.thin[index] = ref::is_thin(bodies.mass(index)) ? 1 : 0;
    bodies.slow_ticks[index] = 0;
    bodies.slot[index] = kNoSlot;
    bodies.delta[index] = {};
}

void populate(Core& core) {
    State& state = core.state;
    const auto count = static_cast<std::uint32_t>(core.def.bodies.size());
    BodyKinds& kinds = state.bodies.kinds = no_kinds();
    for (std::size_t k = 1; k < core.kinds.first.size(); ++k) {
        const BodyDef& first = body_definition(core.def, core.kinds.first[k]);
        kinds.info.push_back(info_of(first, settings_of(first)));
        kinds.mass.push_back(mass_of(first, settings_of(first), core.def, core.shapes));
    }
    kinds.count = static_cast<std::uint32_t>(kinds.info.size());
    state.bodies.any_sleep = core.def.solver.sleep;
    resize_bodies(state, count + 1);
    state.bodies.flags[kWorldBody] = kBodyAlive;
    std::vector<std::uint32_t> bodies(count), joints;
    for (std::uint32_t i = 0; i < count; ++i) {
        const BodyDef& body = core.def.bodies[i];
        bodies[i] = i + 1;
        state.origin[i + 1] = {kNone, i};
        define_body(core, state.bodies, i + 1, {kNone, i});
        const bool moves = body.type != BodyType::fixed;
        place_body(state.bodies, i + 1, body.pose, moves ? body.linear_velocity : Vec3{},
                   moves ? body.angular_velocity : Vec3{});
    }
    state.joints.reserve(core.def.joints.size());
    state.joint_digest.reserve(core.def.joints.size());
    joints.reserve(core.def.joints.size());
    for (const JointDef& joint : core.def.joints)
        joints.push_back(add_joint(core, make_joint(joint, bodies, nullptr, kNoSlot)));
    state.slots.resize(core.def.slots.size());
    add_actuators(core, core.def.actuators, kNone, bodies, joints, kNoSlot);
    list_joints(core);
    list_special_bodies(core);
}

EventCause room_for(const Core& core, std::size_t bodies, std::size_t joints) {
    if (core.state.bodies.size() - core.free_bodies.size() + bodies > kMaxBodies) return EventCause::too_many_bodies;
    if (core.state.joints.size() - core.free_joints.size() + joints > kMaxJoints) return EventCause::too_many_joints;
    return EventCause::none;
}

EventCause speed_fault(Vec3 linear, Vec3 angular) {
    if (!ref::within(linear, kMaxLinearSpeed_mps)) return EventCause::too_fast;
    return ref::within(angular, kMaxAngularSpeed_radps) ? EventCause::none : EventCause::turns_too_fast;
}

EventCause prefab_misplaced(const PrefabDef& prefab, const Pose& pose, Vec3 linear, Vec3 angular) {
    for (const BodyDef& body : prefab.bodies) {
        if (!ref::within(ref::compose(pose, body.pose).position, kMaxCoordinate_m)) return EventCause::too_far;
        const EventCause cause = speed_fault(ref::sum(ref::rotated(pose.orientation, body.linear_velocity), linear),
                                             ref::sum(ref::rotated(pose.orientation, body.angular_velocity), angular));
        if (cause != EventCause::none) return cause;
    }
    for (const JointDef& joint : prefab.joints) {
        if (!live_constraint_holds(placed_constraint(joint, pose)))
            return EventCause::too_far;  // what it holds of the world
    }
    return EventCause::none;
}

void spawn_prefab(Core& core, std::uint32_t prefab_index, const Pose& pose, Vec3 linear, Vec3 angular,
                  std::uint16_t slot, std::uint64_t tag) {
    State& state = core.state;
    const PrefabDef& prefab = core.def.prefabs[prefab_index];
    std::vector<std::uint32_t> bodies(prefab.bodies.size()), joints(prefab.joints.size());
    for (std::uint32_t i = 0; i < bodies.size(); ++i) {
        const BodyDef& body = prefab.bodies[i];
        const std::uint32_t index = bodies[i] = take_body_index(core);
        state.origin[index] = {prefab_index, i};
        define_body(core, state.bodies, index, {prefab_index, i});
        state.bodies.slot[index] = slot;
        state.group[index] = body_id(state, bodies[0]);
        Vec3 v, w;
        if (body.type != BodyType::fixed) {
            v = ref::sum(ref::rotated(pose.orientation, body.linear_velocity), linear);
            w = ref::sum(ref::rotated(pose.orientation, body.angular_velocity), angular);
        }
        place_body(state.bodies, index, ref::compose(pose, body.pose), v, w);
        note_body(core, index);
        Event event;
        event.kind = EventKind::spawned;
        event.a = body_id(state, index);
        event.slot = slot;
        event.tag = tag;
        state.events.push_back(event);
    }
    for (std::uint32_t i = 0; i < joints.size(); ++i)
        joints[i] = add_joint(core, make_joint(prefab.joints[i], bodies, &pose, slot));
    add_actuators(core, prefab.actuators, prefab_index, bodies, joints, slot);
    if (std::any_of(prefab.bodies.begin(), prefab.bodies.end(), [](const BodyDef& body) {
            return body.sensor || body.collision_mode == CollisionMode::continuous;
        }))
        list_special_bodies(core);
}

std::uint64_t digest_of(const Joint& joint) {
    HashWriter out;
    out.put(joint.alive);
    out.put(joint.generation);
    out.put(joint.slot);
    out.put(joint.a);
    out.put(joint.b);
    out.put(joint.break_force_n);
    out.put(joint.break_torque_nm);
    out.put(joint.break_removes);
    out.put(joint.collide_connected);
    put_constraint(out, joint.constraint);
    put_more_bodies(out, joint.constraint, joint.c, joint.d);
    return out.digest();
}

std::uint32_t add_joint(Core& core, const Joint& joint) {
    State& state = core.state;
    std::uint32_t index = 0;
    if (core.free_joints.empty()) {
        index = static_cast<std::uint32_t>(state.joints.size());
        state.joints.emplace_back();
        state.joint_impulse.emplace_back();
        state.joint_digest.push_back(0);
    } else {
        index = core.free_joints.back();
        core.free_joints.pop_back();
        ORRERY_ASSERT(index < core.state.joints.size() && !core.state.joints[index].alive);
    }
    const std::uint32_t generation = state.joints[index].generation;
    state.joints[index] = joint;
    state.joints[index].generation = generation;
    state.joints[index].alive = true;
    state.joint_digest[index] = digest_of(state.joints[index]);
    if (may_have_rigs(core.def)) state.rig_force.resize(state.joints.size() + 1);
    core.joints_changed = core.rigs_changed = true;
    ++core.joint_epoch;
    note_change(core);
    wake(core, joint);
    return index;
}

void renew_joint(Core& core, std::uint32_t index) {
    core.state.joint_digest[index] = digest_of(core.state.joints[index]);
    note_change(core);
    note_joint(core, index);
}

void remove_joint(Core& core, std::uint32_t index) {
    Joint& joint = core.state.joints[index];
    const std::uint32_t generation = std::max(1u, joint.generation + 1);
    core.joints_changed = core.rigs_changed = true;
    ++core.joint_epoch;
    note_change(core);
    wake(core, joint);
    if (!core.state.rig_force.empty()) core.state.rig_force[force_row(index)] = {};
    joint = Joint{};
    joint.generation = generation;
    core.state.joint_impulse[index] = {};
    core.state.joint_digest[index] = digest_of(joint);
    core.removed_joints.push_back(index);
}

void remove_body(Core& core, std::uint32_t index, std::uint64_t tag) {
    Bodies& bodies = core.state.bodies;
    Event event;
    event.kind = EventKind::despawned;
    event.a = body_id(core.state, index);
    event.slot = bodies.slot[index];
    event.tag = tag;
    core.state.events.push_back(event);
    bodies.velocity[index] = {};
    bodies.pose[index] = {};
    bodies.delta[index] = {};
    bodies.inertia[index] = {};
    bodies.flags[index] = 0;
    bodies.thin[index] = 0;
    bodies.restart_rest(index);
    bodies.slot[index] = kNoSlot;
    bodies.set_kind(index, 0);
    core.state.origin[index] = {};
    core.state.group[index] = {};
    if (const BodySettings* const changed = changed_settings(core.state, index); changed != nullptr)
        core.state.changed.erase(core.state.changed.begin() + (changed - core.state.changed.data()));
    bodies.generation[index] = std::max(1u, bodies.generation[index] + 1);  // 0 is of an index in its first life
    core.removed_bodies.push_back(index);
    note_body(core, index);
}

void finish_removals(Core& core) {
    State& state = core.state;
    if (!core.removed_bodies.empty()) {
        for (std::uint32_t i = 0; i < state.joints.size(); ++i) {
            if (state.joints[i].alive && is_loose(state, state.joints[i])) remove_joint(core, i);
        }
        const auto ends = [&](const KeptContact& contact) {
            if (!ends_with_a_body(state, EventKind::contact_end, contact.a, contact.b, contact.touching != 0,
                                  contact.child_a, contact.child_b))
                return false;
            wake(core, contact.a);
            wake(core, contact.b);
            return true;
        };
        erase_if(state.contacts, ends);
        if (std::erase_if(state.sleeping_contacts, ends) > 0) core.sleeping_changed = true;
        std::erase_if(state.rolling,
                      [&](const RollingImpulse& r) { return !body_alive(state, r.a) || !body_alive(state, r.b); });
        std::erase_if(state.sensor_overlaps, [&](const SensorOverlap& overlap) {
            return ends_with_a_body(state, EventKind::sensor_end, overlap.sensor, overlap.visitor, true);
        });
        list_special_bodies(core);
    }
    if (!core.removed_bodies.empty() || !core.removed_joints.empty()) {
        std::erase_if(state.actuators, [&](const ActuatorState& actuator) {
            return actuator.joint != kNone ? !state.joints[actuator.joint].alive : !body_alive(state, actuator.body);
        });
        rebuild_free_lists(core);
        core.removed_bodies.clear();
        core.removed_joints.clear();
    }
}

void rebuild_free_lists(Core& core) {
    core.free_bodies.clear();
    for (std::uint32_t i = core.state.bodies.size(); i-- > 1;) {
        if (!body_alive(core.state, i)) core.free_bodies.push_back(i);
    }
    core.free_joints.clear();
    for (auto i = static_cast<std::uint32_t>(core.state.joints.size()); i-- > 0;) {
        if (!core.state.joints[i].alive) core.free_joints.push_back(i);
    }
}

void list_special_bodies(Core& core) {
    const Bodies& bodies = core.state.bodies;
    core.sensors.clear();
    core.continuous.clear();
    for (std::uint32_t i = 1; i < bodies.size(); ++i) {
        if (!body_alive(core.state, i)) continue;
        if (bodies.info(i).sensor)
            core.sensors.push_back(i);
        else if (bodies.info(i).collision_mode == CollisionMode::continuous && bodies.info(i).shape != kNone &&
                 bodies.dynamic(i))
            core.continuous.push_back(i);
    }
}

void list_joints(Core& core) {
    const std::vector<Joint>& joints = core.state.joints;
    core.excluded.clear();
    core.breakable.clear();
    core.jointed.assign(core.state.bodies.size(), 0);
    for (std::uint32_t i = 0; i < joints.size(); ++i) {
        const Joint& joint = joints[i];
        if (!joint.alive) continue;
        if (!is_unlimited(joint.break_force_n) || !is_unlimited(joint.break_torque_nm)) core.breakable.push_back(i);
        const auto bodies = joint.bodies();
        for (const std::uint32_t body : bodies) core.jointed[body] = 1;
        if (joint.collide_connected) continue;
        for (std::size_t x = 0; x < bodies.size(); ++x) {
            for (std::size_t y = x + 1; y < bodies.size(); ++y) {
                if (bodies[x] != kWorldBody && bodies[y] != kWorldBody)
                    core.excluded.push_back({std::min(bodies[x], bodies[y]), std::max(bodies[x], bodies[y])});
            }
        }
    }
    std::sort(core.excluded.begin(), core.excluded.end());  // equal pairs are alike, and all but one go
    core.excluded.erase(std::unique(core.excluded.begin(), core.excluded.end()), core.excluded.end());
    core.joints_changed = false;
}

void note_target(Core& core, const Constraint& before, const Constraint& after) {
    const std::optional<RigLink> was = rig_link(before), is = rig_link(after);
    if (was.has_value() != is.has_value())
        core.rigs_changed = true;
    else if (is && is->rod)
        core.rig_targets_changed = true;
}

namespace {

// What find_stars asks for, and what it says.
void take_stars_back(Core& core) {
    Bodies& bodies = core.state.bodies;
    for (std::uint32_t i = 1; i < bodies.size(); ++i) {
        if (!bodies.has_own_mass(i) || !bodies.dynamic(i)) continue;
        if (const BodySettings* const changed = changed_settings(core.state, i); changed != nullptr)
            bodies.set_mass(i,
                            mass_of(body_definition(core.def, core.state.origin[i]), *changed, core.def, core.shapes));
        else
            bodies.mass_of[i] = bodies.kind_of[i];
        bodies.inertia[i] = ref::world_inertia(bodies.mass(i), bodies.pose[i]);
    }
}
void set_stars(Core& core) {
    Bodies& bodies = core.state.bodies;
    std::vector<Star> stars;
    ref::find_stars(core.rigs.rigs(), bodies, core.state.joints, stars);
    for (const Star& star : stars) {
        MassRecord mass = bodies.mass(star.body);
        std::ranges::copy(star.inverse_inertia, mass.inverse_inertia);
        bodies.set_mass(star.body, mass);
        bodies.inertia[star.body] = ref::world_inertia(bodies.mass(star.body), bodies.pose[star.body]);
    }
}

}  // namespace

void find_rigs(Core& core) {
    if (core.rig_targets_changed && !core.rigs_changed) core.rigs.read_targets(core.state.joints);
    core.rig_targets_changed = false;
    if (!core.rigs_changed) return;
    core.rigs_changed = false;
    if (!may_have_rigs(core.def)) return;
    ++core.joint_epoch;  // joints that were links may have lost their impulses
    note_change(core);
    take_stars_back(core);
    core.rigs.find({core.def.rigs, core.def.solver}, core.state.bodies, core.state.joints, core.state.joint_impulse,
                   core.state.rig_force);
    set_stars(core);
}

}  // namespace orrery::sim
