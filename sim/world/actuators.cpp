// Actuators: what the players' control vectors do, every tick. They act in list order.

#include "sim/bodies/numbers.h"
#include "sim/world/core.h"

namespace orrery::sim {

namespace {

constexpr std::array<float, kControlChannels> kNobody{};

void turn_motor(Core& core, std::uint32_t index, ActuatorKind kind, float value) {
    Joint& joint = core.state.joints[index];
    const Constraint before = joint.constraint;
    if (!ref::set_target(joint.constraint, kind, value)) return;
    note_target(core, before, joint.constraint);
    wake(core, joint);
    renew_joint(core, index);
}

// Offsets of several actuators of one body add up.
void aim(Core& core, const ActuatorState& actuator, Vec3 offset, float max_speed) {
    if (core.drive_of.size() < core.state.bodies.size()) core.drive_of.resize(core.state.bodies.size(), kNone);
    std::uint32_t& known = core.drive_of[actuator.body];
    if (known == kNone) {
        known = static_cast<std::uint32_t>(core.drives.size());
        core.drives.push_back({actuator.body, ref::sum(actuator.base.position, offset), max_speed});
        return;
    }
    KinematicDrive& drive = core.drives[known];
    drive.target = ref::sum(drive.target, offset);
    drive.max_speed = ref::smaller(drive.max_speed, max_speed);
}

// Of the body's walk or jump actuators, which come in any order.
Walker& walker_of(Core& core, std::uint32_t body) {
    if (core.walker_of.size() < core.state.bodies.size()) core.walker_of.resize(core.state.bodies.size(), kNone);
    std::uint32_t& known = core.walker_of[body];
    if (known == kNone) {
        known = static_cast<std::uint32_t>(core.walkers.size());
        core.walkers.emplace_back().body = body;
    }
    return core.walkers[known];
}

void note_wish(Core& core, ActuatorState& actuator, const ActuatorDef& def, float value) {
    Walker& walker = walker_of(core, actuator.body);
    value = ref::clamp_between(value, -kMaxLinearSpeed_mps, kMaxLinearSpeed_mps);
    if (def.kind == ActuatorKind::jump) {
        if (value > walker.jump_mps) walker.jump_mps = value;
        if (walker.jumping == nullptr) walker.jumping = &actuator.walker.jumping;
        return;
    }
    if (walker.settings == nullptr) {
        walker.settings = &def;
        walker.stood = &actuator.walker.stood;
    }
    const Quat orientation = pose_of(core.state.bodies.pose[actuator.body]).orientation;
    const Vec3 axis = def.direction_local ? ref::rotated(orientation, def.direction) : def.direction;
    walker.wish = ref::sum(walker.wish, ref::scaled(axis, value));
}

// All as the world stands before any of them; then what they do, in the order of their actuators.
void walk(Core& core) {
    if (core.walkers.empty()) return;
    Bodies& bodies = core.state.bodies;
    for (const Walker& walker : core.walkers) {
        if (wants_something(walker)) rouse(core, walker.body);
    }
    wake_islands(core);
    bool taken = false;
    core.walk_outcomes.assign(core.walkers.size(), {});
    for (std::size_t k = 0; k < core.walkers.size(); ++k) {
        Walker& walker = core.walkers[k];
        if (bodies.asleep(walker.body)) continue;
        if (!taken)
            core.walk_taker.take(core.state.tick, bodies, core.shapes, *tree_kernels_for(core.target),
                                 core.walk_snapshot);
        taken = true;
        if (!core.force.empty()) walker.lift_n = ref::upward(core.force[walker.body], core.def.gravity);
        const WalkScene scene{bodies,        core.shapes,      core.def.materials, core.walk_snapshot,
                              core.excluded, core.def.gravity, core.dt_s,          core.def.substeps};
        core.walk_outcomes[k] = ref::walk(walker, scene);
    }
    for (std::size_t k = 0; k < core.walkers.size(); ++k) {
        const std::uint32_t body = core.walkers[k].body;
        const WalkOutcome& out = core.walk_outcomes[k];
        if (bodies.asleep(body)) continue;
        PoseRecord& pose = bodies.pose[body];
        VelocityRecord& record = bodies.velocity[body];
        const Vec3 place = ref::sum(pose_of(pose).position, out.shift);
        if (ref::within(place, kMaxCoordinate_m)) set_position(pose, place);
        set_velocity(record, out.velocity, {record.angular[0], record.angular[1], record.angular[2]});
        push(core, ActuatorKind::force, body, out.force);
        if (out.ground == kNone) continue;
        push(core, ActuatorKind::force, out.ground, out.ground_force);
        push(core, ActuatorKind::torque, out.ground, out.ground_torque);
    }
}

}  // namespace

void push(Core& core, ActuatorKind kind, std::uint32_t body, Vec3 amount) {
    if (ref::is_zero(amount)) return;
    rouse(core, body);
    if (core.force.size() != core.state.bodies.size()) {
        core.force.resize(core.state.bodies.size());
        core.torque.resize(core.state.bodies.size());
    }
    Vec3& sum = kind == ActuatorKind::force ? core.force[body] : core.torque[body];
    sum = ref::sum(sum, amount);
    core.pushed.push_back(body);
}

void forget_pushes(Core& core) {
    for (const std::uint32_t body : core.pushed) {
        if (body < core.force.size()) core.force[body] = core.torque[body] = {};
    }
    core.pushed.clear();
}

bool wants_something(const Walker& walker) { return !ref::is_zero(walker.wish) || walker.jump_mps > 0.0f; }

void drive_actuators(Core& core) {
    State& state = core.state;
    if (!core.pushed.empty()) {  // by commands, before others of the same tick made bodies
        core.force.resize(state.bodies.size());
        core.torque.resize(state.bodies.size());
    }
    for (const KinematicDrive& drive : core.drives) core.drive_of[drive.body] = kNone;
    core.drives.clear();
    for (const Walker& walker : core.walkers) core.walker_of[walker.body] = kNone;
    core.walkers.clear();
    for (ActuatorState& actuator : state.actuators) {
        const ActuatorDef& def = actuator_definition(core.def, actuator);
        const float value = ref::actuator_value(
            def, actuator.slot < state.slots.size() ? state.slots[actuator.slot].controls : kNobody);
        if (acts_on_joint(def.kind)) {
            turn_motor(core, actuator.joint, def.kind, value);
            continue;
        }
        const std::uint8_t flags = state.bodies.flags[actuator.body];
        if ((flags & kBodyQuarantined) != 0) continue;
        // A command may have given the body another type than its definition, or a target for this tick.
        const std::uint8_t needed = def.kind == ActuatorKind::kinematic ? kBodyKinematic : kBodyDynamic;
        if ((flags & (kBodyDynamic | kBodyKinematic | kBodyTargeted)) != needed) continue;
        if (def.kind == ActuatorKind::walk || def.kind == ActuatorKind::jump) {
            note_wish(core, actuator, def, value);
            continue;
        }
        if (def.kind == ActuatorKind::kinematic) {
            const Vec3 axis =
                def.direction_local ? ref::rotated(actuator.base.orientation, def.direction) : def.direction;
            aim(core, actuator, ref::scaled(axis, value), def.max_speed);
        } else {
            const Quat orientation = pose_of(state.bodies.pose[actuator.body]).orientation;
            const Vec3 axis = def.direction_local ? ref::rotated(orientation, def.direction) : def.direction;
            push(core, def.kind, actuator.body, ref::scaled(axis, value));
        }
    }
    for (KinematicDrive& drive : core.drives) {
        VelocityRecord& record = state.bodies.velocity[drive.body];
        Vec3 velocity;
        drive.target = ref::approach(pose_of(state.bodies.pose[drive.body]).position, drive.target,
                                     ref::smaller(drive.max_speed, kMaxLinearSpeed_mps), core.dt_s, velocity);
        const bool rested = !state.bodies.active(drive.body);
        set_velocity(record, velocity, {record.angular[0], record.angular[1], record.angular[2]});
        if (rested && state.bodies.active(drive.body)) wake_neighbours(core, drive.body);
    }
    walk(core);
}

void finish_actuators(Core& core) {
    for (const KinematicDrive& drive : core.drives) {
        set_position(core.state.bodies.pose[drive.body], drive.target);
        note_placed(core, drive.body);
    }
    for (const KinematicTarget& target : core.targets) {
        set_pose(core.state.bodies.pose[target.body], target.pose);
        note_placed(core, target.body);
    }
}

}  // namespace orrery::sim
