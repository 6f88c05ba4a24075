// Actuators: what the players' control vectors do, every tick. They act in list order.

#include "sim/world/core.h"
#include "sim/world/numbers.h"

namespace orrery::sim {

namespace {

constexpr std::array<float, kControlChannels> kNobody{};

void turn_motor(Core& core, std::uint32_t index, ActuatorKind kind, float value) {
    Joint& joint = core.state.joints[index];
    if (!ref::set_target(joint.constraint, kind, value)) return;
    wake(core, joint);
    core.state.joint_digest[index] = digest_of(joint);
}

void push(Core& core, ActuatorKind kind, std::uint32_t body, Vec3 amount) {
    if (ref::is_zero(amount)) return;
    wake(core, body);
    if (core.force.size() != core.state.bodies.size()) {
        core.force.resize(core.state.bodies.size());
        core.torque.resize(core.state.bodies.size());
    }
    Vec3& sum = kind == ActuatorKind::force ? core.force[body] : core.torque[body];
    sum = ref::sum(sum, amount);
    core.pushed.push_back(body);
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

}  // namespace

void drive_actuators(Core& core) {
    State& state = core.state;
    for (const std::uint32_t body : core.pushed) {
        if (body < core.force.size()) core.force[body] = core.torque[body] = {};
    }
    core.pushed.clear();
    for (const KinematicDrive& drive : core.drives) core.drive_of[drive.body] = kNone;
    core.drives.clear();
    for (const ActuatorState& actuator : state.actuators) {
        const ActuatorDef& def = actuator_definition(core.def, actuator);
        const float value = ref::actuator_value(def, actuator.slot < state.slots.size() ? state.slots[actuator.slot].controls : kNobody);
        if (acts_on_joint(def.kind)) {
            turn_motor(core, actuator.joint, def.kind, value);
            continue;
        }
        const std::uint8_t flags = state.bodies.flags[actuator.body];
        if ((flags & kBodyQuarantined) != 0) continue;
        if (def.kind == ActuatorKind::kinematic) {
            const Vec3 axis = def.direction_local ? ref::rotated(actuator.base.orientation, def.direction) : def.direction;
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
}

void finish_actuators(Core& core) {
    for (const KinematicDrive& drive : core.drives) set_position(core.state.bodies.pose[drive.body], drive.target);
}

}  // namespace orrery::sim
