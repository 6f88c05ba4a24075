#include "server/cli/incidents.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

#include "server/cli/command_line.h"

namespace orrery::server {

namespace {

using sim::CommandKind;
using sim::EventCause;

std::string limit(double value, const char* unit, const char* name) {
    char text[80];
    std::snprintf(text, sizeof text, "%g%s (%s)", value, unit, name);
    return text;
}
std::string coordinate_limit() { return limit(static_cast<double>(sim::kMaxCoordinate_m), " m", "kMaxCoordinate_m"); }
std::string speed_limit() {
    return limit(static_cast<double>(sim::kMaxLinearSpeed_mps), " m/s", "kMaxLinearSpeed_mps");
}
std::string turning_limit() {
    return limit(static_cast<double>(sim::kMaxAngularSpeed_radps), " rad/s", "kMaxAngularSpeed_radps");
}

std::string wrong_kind_text(CommandKind kind) {
    switch (kind) {
        case CommandKind::motor_target:
            return "the joint has no target; name a motor, a servo or a wheel";
        case CommandKind::move_grab:
            return "the joint is not a grab";
        case CommandKind::set_joint:
            return "the order is of another type than the joint";
        case CommandKind::create_joint:
            return "the order does not name each body of its constraint once";
        case CommandKind::impulse:
        case CommandKind::force:
        case CommandKind::grab:
            return "the body is not dynamic";
        case CommandKind::kinematic_target:
            return "the body is not kinematic";
        case CommandKind::set_body_type:
            return "the body is quarantined, or its shape or missing mass does not allow the type";
        case CommandKind::set_gravity_scale:
        case CommandKind::set_damping:
            return "the body is quarantined";
        case CommandKind::teleport_group:
            return "the body is one of the scene and has no group";
        case CommandKind::respawn:
            return "the slot has no template";
        case CommandKind::teleport:
            return "the body is static";
        default:
            return "what it names is of the wrong kind";
    }
}

std::string out_of_range_text(CommandKind kind) {
    switch (kind) {
        case CommandKind::join:
        case CommandKind::leave:
        case CommandKind::control:
        case CommandKind::occupy:
        case CommandKind::drive:
        case CommandKind::vacate:
            return "the scene has no such slot";
        case CommandKind::respawn:
            return "the scene has no such slot, or the orientation is not a unit quaternion";
        case CommandKind::teleport_group:
        case CommandKind::kinematic_target:
            return "the orientation is not a unit quaternion";
        case CommandKind::set_body_type:
            return "it is not a body type";
        case CommandKind::set_gravity_scale:
            return "the scale is beyond " + limit(static_cast<double>(sim::kMaxGravityScale), "", "kMaxGravityScale");
        case CommandKind::set_damping:
            return "a damping is not from 0 to " +
                   limit(static_cast<double>(sim::kMaxDamping_hz), " 1/s", "kMaxDamping_hz");
        case CommandKind::set_material:
            return "the scene has no such material";
        case CommandKind::spawn:
        case CommandKind::teleport:
            return "the orientation is not a unit quaternion, or there is no such template";
        case CommandKind::motor_target:
            return "the value is beyond the range of the joint's target";
        default:
            return "a setting of the joint is beyond its range";
    }
}

std::string slot_taken_text(CommandKind kind) {
    switch (kind) {
        case CommandKind::leave:
        case CommandKind::control:
            return "the director has the slot";
        case CommandKind::drive:
        case CommandKind::vacate:
            return "a player has the slot";
        default:
            return "the slot is taken";
    }
}

std::string_view quarantine_text(EventCause cause) {
    switch (cause) {
        case EventCause::not_finite:
            return "its position or velocity is not finite";
        case EventCause::too_fast:
            return "its speed is above twice kMaxLinearSpeed_mps";
        case EventCause::turns_too_fast:
            return "it turns faster than twice kMaxAngularSpeed_radps, and a joint holds it";
        default:
            return "the cause is unknown";
    }
}

std::string body_text(const sim::World& world, const protocol::CommandScript* script, sim::BodyId id) {
    const auto& bodies = world.definition().bodies;
    const bool defined = id.generation == 0 && id.index >= 1 && id.index <= bodies.size();
    const std::string_view name = defined  ? std::string_view(bodies[id.index - 1].name)
                                  : script ? script->name_of(id)
                                           : std::string_view();
    if (!name.empty()) return "body \"" + std::string(name) + "\"";
    return defined ? "bodies[" + std::to_string(id.index - 1) + "]"
                   : "body " + std::to_string(id.index) + " of the world";
}

bool answers(const sim::Event& event, const sim::Command& command) {
    return event.command == command.kind && event.slot == command.slot && event.a == command.body &&
           event.joint == command.joint && event.tag == command.tag;
}
bool alike(const sim::Event& x, const sim::Event& y) {
    return y.kind == x.kind && x.command == y.command && x.slot == y.slot && x.a == y.a && x.joint == y.joint &&
           x.tag == y.tag;
}

std::string tick_text(const sim::World& world) { return "tick " + std::to_string(world.tick()) + ": "; }

}  // namespace

std::string_view command_name(CommandKind kind) {
    constexpr std::string_view kNames[] = {"join",
                                           "leave",
                                           "spawn",
                                           "despawn",
                                           "impulse",
                                           "teleport",
                                           "motor_target",
                                           "grab",
                                           "move_grab",
                                           "remove_joint",
                                           "control",
                                           "create_joint",
                                           "set_joint",
                                           "wake",
                                           "set_filter",
                                           "set_body_type",
                                           "set_gravity_scale",
                                           "set_material",
                                           "set_damping",
                                           "force",
                                           "kinematic_target",
                                           "teleport_group",
                                           "respawn",
                                           "occupy",
                                           "drive",
                                           "vacate"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(sim::kLastCommandKind) + 1);
    const auto i = static_cast<std::size_t>(kind);
    return i < std::size(kNames) ? kNames[i] : "a command";
}

std::string rejection_text(CommandKind kind, EventCause cause) {
    switch (cause) {
        case EventCause::none:
            break;
        case EventCause::stale_id:
            return "what it names is gone or was never made";
        case EventCause::wrong_kind:
            return wrong_kind_text(kind);
        case EventCause::out_of_range:
            return out_of_range_text(kind);
        case EventCause::too_many_bodies:
            return "the world would have more than " + limit(sim::kMaxBodies, " bodies", "kMaxBodies");
        case EventCause::too_many_joints:
            return "the world would have more than " + limit(sim::kMaxJoints, " joints", "kMaxJoints");
        case EventCause::slot_taken:
            return slot_taken_text(kind);
        case EventCause::slot_empty:
            return "nobody has the slot: join or occupy it first";
        case EventCause::not_finite:
            return "a number is not finite";
        case EventCause::too_far:
            return "a position is beyond " + coordinate_limit() + " on an axis";
        case EventCause::too_fast:
            return "a body would move faster than " + speed_limit();
        case EventCause::turns_too_fast:
            return "a body would turn faster than " + turning_limit();
    }
    return "the cause is unknown";
}

void Incidents::after_tick(const sim::World& world, std::span<const sim::Command> commands) {
    for (const sim::Event& event : world.events()) {
        if (event.kind == sim::EventKind::command_rejected && rejected_++ < kMaxToldIncidents)
            tell_rejected(world, event, commands);
        if (event.kind == sim::EventKind::quarantined && quarantined_++ < kMaxToldIncidents)
            tell_quarantined(world, event);
    }
}

// An event does not say which command it answers. Of commands that look alike all are rejected, in their order, or it
// stays open which.
void Incidents::tell_rejected(const sim::World& world, const sim::Event& event,
                              std::span<const sim::Command> commands) const {
    std::vector<std::uint32_t> of;
    for (const sim::Command& command : commands) {
        if (answers(event, command)) of.push_back(command.sequence);
    }
    std::size_t rank = 0, rejected = 0;
    for (const sim::Event& other : world.events()) {
        if (!alike(event, other)) continue;
        if (&other < &event) ++rank;
        ++rejected;
    }
    std::string line = script_file_ + ": ";
    const bool known = rejected == of.size();
    if (known) line += "commands[" + std::to_string(of[rank]) + "]: ";
    line += tick_text(world) + std::string(command_name(event.command));
    const auto subject_of = [&](std::uint32_t command) {
        return script_ ? script_->subject(command) : std::string_view();
    };
    std::string_view subject = of.empty() ? std::string_view() : subject_of(of[known ? rank : 0]);
    if (!known &&
        std::any_of(of.begin(), of.end(), [&](std::uint32_t command) { return subject_of(command) != subject; }))
        subject = {};
    if (!subject.empty()) line.append(" (").append(subject).append(")");
    complain(line + " is rejected: " + rejection_text(event.command, event.cause), 0);
}

void Incidents::tell_quarantined(const sim::World& world, const sim::Event& event) const {
    const std::string why = event.cause == EventCause::too_far
                                ? "it left what is within " + coordinate_limit() + " of the origin"
                                : std::string(quarantine_text(event.cause));
    complain(scene_ + ": " + tick_text(world) + body_text(world, script_, event.a) + " is quarantined: " + why, 0);
}

void Incidents::finish() const {
    const auto more = [](const std::string& place, std::uint64_t count, const char* what) {
        if (count > kMaxToldIncidents) complain(place + ": " + std::to_string(count - kMaxToldIncidents) + what, 0);
    };
    more(script_file_, rejected_, " more commands were rejected");
    more(scene_, quarantined_, " more bodies were quarantined");
}

}  // namespace orrery::server
