// Joints and actuators. What a joint's constraint has is read by joint_fields.h.
#include "protocol/scene/convert.h"
#include "protocol/scene/joint_fields.h"

namespace orrery::protocol::scene {

namespace {

Frame frame_of(const Scope& scope, std::uint32_t body) {
    if (body == sim::kNone) return {};
    const sim::Pose& pose = (*scope.bodies)[body].pose;
    return {widened(pose.position), widened(pose.orientation)};
}

std::string constraint_list() {
    std::string text;
    for (const char* name : sim::kConstraintNames) text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

#define ORRERY_CONSTRAINT(T, name) +(joint.name() != nullptr)
int count_constraints(const Joint& joint) { return 0 ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT); }
#undef ORRERY_CONSTRAINT

#define ORRERY_CONSTRAINT(T, name) \
    if (joint.name()) return sim::body_count<sim::T>();
int bodies_of(const Joint& joint) {
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
    return 2;
}
#undef ORRERY_CONSTRAINT

#define ORRERY_CONSTRAINT(T, name)                                     \
    if (const auto* table = from.name())                               \
        to.constraint =                                                \
            convert_fields<sim::T>(reader, *schema.find(#name)->table, \
                                   reinterpret_cast<const flatbuffers::Table&>(*table), ends, where / #name);
void convert_constraint(Reader& reader, const Joint& from, const Ends& ends, const Path& where, sim::JointDef& to) {
    const SchemaTable& schema = *scene_schema().find("joints")->table;
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
}
#undef ORRERY_CONSTRAINT

// The names of the bodies that a joint has.
struct BodyNames {
    std::string_view a, b, c, d;

    explicit BodyNames(const Joint& joint)
        : a(view_of(joint.a())), b(view_of(joint.b())), c(view_of(joint.c())), d(view_of(joint.d())) {}
};

void check_ends(Reader& reader, const BodyNames& from, int bodies, const Path& where, const Scope& scope) {
    if (from.b.empty()) {
        reader.fail(where / "b", "is missing; name a body (leave out `a` for a joint to the world)");
    } else if (!from.a.empty() && from.a == from.b) {
        reader.fail(where / "b", "is the same body as `a`; name two different bodies");
    } else if (bodies == 1 && !from.a.empty()) {
        reader.fail(where / "a", "is not used by a constraint of one body, which holds `b` to the world; leave it out");
    } else if (scope.in_template && from.a.empty()) {
        reader.fail(where / "a", "is missing; in a template, name two bodies of the template");
    }
    if ((bodies >= 3) != !from.c.empty() || (bodies >= 4) != !from.d.empty() || (bodies >= 3 && from.a.empty())) {
        reader.fail(where, std::string("names other bodies than its constraint joins; give ") +
                               (bodies >= 4   ? "`a`, `b`, `c` and `d`"
                                : bodies == 3 ? "only `a`, `b` and `c`"
                                              : "only `a` and `b`"));
    }
    for (const std::string_view* one : {&from.a, &from.b, &from.c}) {
        if (!one->empty() && ((one != &from.c && *one == from.c) || *one == from.d))
            reader.fail(where, "names a body twice; name different bodies");
    }
}

std::uint32_t actuated_body(Reader& reader, const std::string& name, const Scope& scope, bool kinematic,
                            const Path& where) {
    const std::uint32_t body = scope.find_body(reader, name, where);
    if (!reader.ok()) return body;
    const bool is_kinematic = (*scope.bodies)[body].type == sim::BodyType::kinematic;
    if (kinematic && !is_kinematic)
        reader.fail(where, "\"" + name + "\" is not kinematic; make it kinematic, or use force or motor");
    if (!kinematic && (*scope.bodies)[body].type != sim::BodyType::dynamic) {
        reader.fail(where, "\"" + name + "\" is not dynamic, so that forces do not move it; make it dynamic");
    }
    return body;
}

void convert_motor(Reader& reader, const MotorActuatorT& from, const Path& where, const Scope& scope,
                   sim::ActuatorKind kind, sim::ActuatorDef& to) {
    to.kind = kind;
    to.joint = scope.joint_names.find(reader, from.joint, where / "joint");
    if (reader.ok() && !sim::has_target((*scope.joints)[to.joint].constraint, kind))
        reader.fail(where / "joint",
                    "\"" + from.joint + "\" has no target that this actuator sets; name " +
                        (kind == sim::ActuatorKind::motor ? "a motor, a servo or a wheel" : "a wheel"));
}

void convert_effect(Reader& reader, const ActuatorT& from, const Path& where, const Scope& scope,
                    sim::ActuatorDef& to) {
    const auto direction = [&](const Vec3* given, bool in_world, const Path& here) {
        if (given) to.direction = narrowed(reader.direction(*given, here / "direction"));
        to.direction_local = !in_world;
    };
    if (from.motor) {
        convert_motor(reader, *from.motor, where / "motor", scope, sim::ActuatorKind::motor, to);
    } else if (from.steer) {
        convert_motor(reader, *from.steer, where / "steer", scope, sim::ActuatorKind::steer, to);
    } else if (from.brake) {
        convert_motor(reader, *from.brake, where / "brake", scope, sim::ActuatorKind::brake, to);
    } else if (from.kinematic) {
        const Path here = where / "kinematic";
        to.kind = sim::ActuatorKind::kinematic;
        to.body = actuated_body(reader, from.kinematic->body, scope, true, here / "body");
        direction(from.kinematic->direction.get(), from.kinematic->direction_in_world, here);
        to.max_speed = limit_or_none(reader, from.kinematic->max_speed, here / "max_speed");
    } else if (from.walk) {
        const Path here = where / "walk";
        to.kind = sim::ActuatorKind::walk;
        to.body = actuated_body(reader, from.walk->body, scope, false, here / "body");
        direction(from.walk->direction.get(), from.walk->direction_in_world, here);
        to.max_speed = limit_or_none(reader, from.walk->max_speed, here / "max_speed");
        to.max_force =
            reader.number(from.walk->max_force, here / "max_force", 1e-3f, static_cast<float>(kMaxForce), "kMaxForce");
        to.step_height = reader.number(from.walk->step_height, here / "step_height", 0.0f, sim::kMaxStepHeight_m,
                                       "kMaxStepHeight_m");
        to.max_slope_rad = static_cast<float>(
            reader.number(static_cast<double>(from.walk->max_slope_deg), here / "max_slope_deg", 0.0, 80.0) *
            kRadiansADegree);
    } else if (from.jump) {
        to.kind = sim::ActuatorKind::jump;
        to.body = actuated_body(reader, from.jump->body, scope, false, where / "jump" / "body");
    } else {
        const PushActuatorT& push = from.force ? *from.force : *from.torque;
        const Path here = where / (from.force ? "force" : "torque");
        to.kind = from.force ? sim::ActuatorKind::force : sim::ActuatorKind::torque;
        to.body = actuated_body(reader, push.body, scope, false, here / "body");
        direction(push.direction.get(), push.direction_in_world, here);
    }
}

}  // namespace

void convert_joint(Reader& reader, const Joint& from, const Path& where, Scope& scope) {
    sim::JointDef to;
    to.name = view_of(from.name());
    const int kinds = count_constraints(from);
    if (kinds != 1) {
        reader.fail(where, std::string(kinds == 0 ? "has no constraint; give one of "
                                                  : "has more than one constraint; give exactly one of ") +
                               constraint_list());
        return;
    }
    const BodyNames names(from);
    check_ends(reader, names, bodies_of(from), where, scope);
    if (!reader.ok()) return;
    if (!names.a.empty()) to.body_a = scope.find_body(reader, names.a, where / "a");
    to.body_b = scope.find_body(reader, names.b, where / "b");
    if (!names.c.empty()) to.body_c = scope.find_body(reader, names.c, where / "c");
    if (!names.d.empty()) to.body_d = scope.find_body(reader, names.d, where / "d");
    if (!reader.ok()) return;
    const Ends ends{frame_of(scope, to.body_a), frame_of(scope, to.body_b), frame_of(scope, to.body_c),
                    frame_of(scope, to.body_d)};
    convert_constraint(reader, from, ends, where, to);
    to.collide_connected = from.collide_connected();
    to.break_force_n = limit_or_none(reader, from.break_force_n(), where / "break_force_n");
    to.break_torque_nm = limit_or_none(reader, from.break_torque_nm(), where / "break_torque_nm");
    to.break_removes = from.break_removes();
    scope.joints->push_back(std::move(to));
}

void convert_actuator(Reader& reader, const ActuatorT& from, const Path& where, const Scope& scope,
                      const Library& library, std::vector<sim::ActuatorDef>& out) {
    const int kinds = (from.motor != nullptr) + (from.force != nullptr) + (from.torque != nullptr) +
                      (from.kinematic != nullptr) + (from.steer != nullptr) + (from.brake != nullptr) +
                      (from.walk != nullptr) + (from.jump != nullptr);
    if (kinds != 1) {
        reader.fail(where, "needs exactly one of motor, force, torque, kinematic, steer, brake, walk, jump");
        return;
    }
    sim::ActuatorDef to;
    to.name = from.name;
    if (scope.in_template && !from.slot.empty()) {
        reader.fail(where / "slot", "is not used in a template, where the slot that spawned it counts; leave it out");
    }
    if (!scope.in_template) to.slot = library.slots.find(reader, from.slot, where / "slot");
    if (from.weights.size() > sim::kControlChannels) {
        reader.fail(where / "weights", "has more entries than the " + std::to_string(sim::kControlChannels) +
                                           " control channels (kControlChannels)");
        return;
    }
    for (std::size_t i = 0; i < from.weights.size(); ++i) {
        to.weights[i] = reader.number(from.weights[i], where.element("weights", i), -1e9f, 1e9f);
    }
    to.offset = reader.number(from.offset, where / "offset", -1e9f, 1e9f);
    if (from.min) to.min = reader.number(*from.min, where / "min", -sim::kNoLimit, sim::kNoLimit);
    if (from.max) to.max = reader.number(*from.max, where / "max", to.min, sim::kNoLimit);
    convert_effect(reader, from, where, scope, to);
    out.push_back(std::move(to));
}

}  // namespace orrery::protocol::scene
