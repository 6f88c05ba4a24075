// A definition from outside is checked once, here; from then on it is a value of known good numbers.

#include <algorithm>
#include <optional>
#include <string>

#include "sim/bodies/numbers.h"
#include "sim/constraints/fields.h"
#include "sim/world/core.h"

namespace orrery::sim {

namespace {

// Outside of these a scene is a mistake rather than a wish.
constexpr float kMinTickRate_hz = 1.0f, kMaxTickRate_hz = 10'000.0f;
constexpr float kMaxAcceleration_mps2 = 10'000.0f;
constexpr float kMaxFrequency_hz = 100'000.0f;
constexpr float kMaxDampingRatio = 10'000.0f;
constexpr float kMaxSolverLength_m = 10.0f;  // slop and speculative margin
constexpr float kMinMass_kg = 1.0e-6f, kMaxMass_kg = 1.0e12f;
constexpr float kMaxFriction = 1'000.0f;
constexpr float kMinDensity_kgpm3 = 1.0e-3f, kMaxDensity_kgpm3 = 1.0e6f;
constexpr std::uint8_t kAllLocks = 63;

}  // namespace

bool is_mass(float mass_kg) { return ref::within(mass_kg, kMinMass_kg, kMaxMass_kg); }

namespace {

// Where in the definition: a chain of elements, put into words only when something is wrong there.
struct Place {
    const Place* parent = nullptr;
    const char* list = "";
    std::size_t index = 0;

    std::string text() const {
        std::string own = std::string(list) + "[" + std::to_string(index) + "]";
        return parent ? parent->text() + "." + own : own;
    }
};

std::string join(const Place* place, const char* field) {
    if (!place) return field;
    return *field ? place->text() + "." + field : place->text();
}

Error wrong(const Place* place, const char* field, std::string message) {
    return {ErrorCode::invalid_argument, join(place, field), std::move(message)};
}

std::string range_message(float x, float low, float high) {
    return "is " + ref::text_of(x) + "; it must be a number from " + ref::text_of(low) + " to " + ref::text_of(high);
}

// Collects the first error; every check after it is skipped by its caller.
class Checker {
  public:
    explicit Checker(const Place* place) : place_(place) {}
    bool fail(const char* field, std::string message) {
        if (!error_) error_ = wrong(place_, field, std::move(message));
        return false;
    }
    // limit: what the bound is called.
    bool number(const char* field, float x, float low, float high, const char* limit = "") {
        return ref::within(x, low, high) || fail(field, range_message(x, low, high) + named(limit));
    }
    bool vector(const char* field, Vec3 v, float most, const char* limit = "") {
        return ref::within(v, most) || fail(field, "is (" + ref::text_of(v.x) + ", " + ref::text_of(v.y) + ", " +
                                                       ref::text_of(v.z) + "); each component must be a number from -" +
                                                       ref::text_of(most) + " to " + ref::text_of(most) + named(limit));
    }
    bool index(const char* field, std::uint32_t i, std::size_t size, const char* of) {
        return i < size || fail(field, "is " + std::to_string(i) + ", but there are " + std::to_string(size) + " " +
                                           of + "; use a smaller index");
    }
    bool pose(const char* field, Pose& pose) {
        if (!vector(field, pose.position, kMaxCoordinate_m, "kMaxCoordinate_m")) return false;
        return ref::make_unit(pose.orientation) ||
               fail(field, "the orientation is not a unit quaternion; normalise x, y, z, w");
    }
    Result<Ok> result() {
        if (error_) return std::move(*error_);
        return Ok{};
    }
    bool ok() const { return !error_; }

  private:
    static std::string named(const char* limit) { return *limit ? " (" + std::string(limit) + ")" : ""; }

    const Place* place_;
    std::optional<Error> error_;
};

// ---- constraints: what is wrong in words, or an empty string; normalises directions

class FaultOf : public FieldVisitor<FaultOf> {
  public:
    explicit FaultOf(float tolerance) : tolerance_(tolerance) {}
    std::string fault;

    void point(Side, const char* name, Vec3& v) {
        if (!ref::within(v, kMaxCoordinate_m)) vector_fault(name, kMaxCoordinate_m, " m (kMaxCoordinate_m)");
    }
    void world_point(const char* name, Vec3& v) { point(Side::a, name, v); }
    void velocity(Side, const char* name, Vec3& v, float limit) {
        if (!ref::within(v, limit)) vector_fault(name, limit, "");
    }
    void direction(Side, const char* name, Vec3& v) {
        if (!ref::make_unit(v, tolerance_)) note(name, " is not a unit vector; normalise it");
    }
    void turn(const char* name, Quat& q) {
        if (!ref::make_unit(q, tolerance_)) note(name, " is not a unit quaternion; normalise x, y, z, w");
    }
    void number(const char* name, float x, float low, float high) {
        if (!ref::within(x, low, high)) note(name, " " + range_message(x, low, high));
    }
    void amount(const char* name, float x) { amount(name, "", x); }
    void spring(const char* name, const Spring& s) {
        if (!ref::within(s.frequency_hz, 0.0f, kMaxFrequency_hz))
            note(name, ".frequency_hz " + range_message(s.frequency_hz, 0.0f, kMaxFrequency_hz) + " (0: rigid)");
        if (!ref::within(s.damping_ratio, 0.0f, kMaxDampingRatio))
            note(name, ".damping_ratio " + range_message(s.damping_ratio, 0.0f, kMaxDampingRatio));
        amount(name, ".max_recovery_speed", s.max_recovery_speed);
    }
    void servo(const char* name, const Servo& s) {
        amount(name, ".max_speed", s.max_speed), amount(name, ".base_speed", s.base_speed),
            amount(name, ".max_force", s.max_force);
    }
    void motor(const char* name, const Motor& m) {
        amount(name, ".max_force", m.max_force), amount(name, ".damping", m.damping);
    }
    void ordered(const char* low_name, float low, const char* high_name, float high) {
        if (!ref::within(low, low, high)) note(low_name, std::string(" is above ") + high_name + "; swap them");
    }
    void perpendicular(const char* name, const Vec3& v, const char* to_name, const Vec3& to) {
        if (!ref::perpendicular(v, to, tolerance_))
            note(name, std::string(" is not perpendicular to ") + to_name + "; make it perpendicular");
    }

  private:
    void note(const char* name, const std::string& what) {
        if (fault.empty()) fault = name + what;
    }
    void amount(const char* name, const char* part, float x) {
        if (!ref::within(x, 0.0f, kNoLimit))
            note(name, part + (" is " + ref::text_of(x)) + "; it must be a number of at least 0");
    }
    void vector_fault(const char* name, float limit, const char* unit) {
        note(name, " must have components from -" + ref::text_of(limit) + " to " + ref::text_of(limit) + unit);
    }
    float tolerance_;
};

std::string fault_of(Constraint& constraint, float tolerance) {
    FaultOf visitor(tolerance);
    std::visit([&]<class T>(T& c) { T::fields(c, visitor); }, constraint);
    return std::move(visitor.fault);
}

// ---- elements

Result<Ok> check_body(const WorldDef& def, std::span<const Shape> shapes, BodyDef& body, const Place& place) {
    Checker check(&place);
    if (body.type > BodyType::dynamic) check.fail("type", "is not a body type; use fixed, kinematic or dynamic");
    if (body.collision_mode > CollisionMode::continuous)
        check.fail("collision_mode", "is not a collision mode; use discrete, passive or continuous");
    if (body.shape != kNone) check.index("shape", body.shape, def.shapes.size(), "shapes");
    check.index("material", body.material, def.materials.size(), "materials");
    check.pose("pose", body.pose);
    check.vector("linear_velocity", body.linear_velocity, kMaxLinearSpeed_mps, "kMaxLinearSpeed_mps");
    check.vector("angular_velocity", body.angular_velocity, kMaxAngularSpeed_radps, "kMaxAngularSpeed_radps");
    check.number("mass_kg", body.mass_kg, 0.0f, kMaxMass_kg, "kMaxMass_kg");
    check.number("linear_damping", body.linear_damping, 0.0f, kMaxDamping_hz, "kMaxDamping_hz");
    check.number("angular_damping", body.angular_damping, 0.0f, kMaxDamping_hz, "kMaxDamping_hz");
    check.number("gravity_scale", body.gravity_scale, -kMaxGravityScale, kMaxGravityScale, "kMaxGravityScale");
    if (body.locks > kAllLocks) check.fail("locks", "has bits that are not axis locks; use the AxisLock bits only");
    if (!check.ok()) return check.result();
    if (body.type == BodyType::fixed) body.linear_velocity = body.angular_velocity = {};  // no hash depends on them

    const Shape* shape = body.shape == kNone ? nullptr : &shapes[body.shape];
    if (shape && shape->type == ShapeType::plane && body.type != BodyType::fixed)
        check.fail("shape",
                   "is a plane, which only fixed bodies may have; make the body fixed or choose another shape");
    if (body.sensor && !shape) check.fail("sensor", "is set for a body without a shape; give the body a shape");
    if (shape && shape->mesh && body.type == BodyType::dynamic)
        check.fail(
            "shape",
            "is a " + std::string(shape_type_name(shape->type)) +
                ", which has no inside and no mass; make the body fixed or kinematic, or use hulls in a compound");
    if (check.ok() && body.type == BodyType::dynamic) {
        if (!shape) {
            if (!is_mass(body.mass_kg))
                check.fail("mass_kg", "is missing for a dynamic body without a shape; give a mass or a shape");
        } else {
            const float mass =
                ref::body_mass_kg(shape->unit_mass, body.mass_kg, def.materials[body.material].density_kgpm3);
            check.number("mass_kg", mass, kMinMass_kg, kMaxMass_kg, "kMaxMass_kg");
        }
    }
    return check.result();
}

void check_distinct(Checker& check, std::uint32_t x, std::uint32_t y) {
    if (x != kNone && x == y)
        check.fail("body_c", "or body_d is a body that the joint already has; name different bodies");
}

Result<Ok> check_joint(std::span<const BodyDef> bodies, JointDef& joint, const Place& place) {
    Checker check(&place);
    if (joint.body_a != kNone) check.index("body_a", joint.body_a, bodies.size(), "bodies");
    if (joint.body_b != kNone) check.index("body_b", joint.body_b, bodies.size(), "bodies");
    if (joint.body_c != kNone) check.index("body_c", joint.body_c, bodies.size(), "bodies");
    if (joint.body_d != kNone) check.index("body_d", joint.body_d, bodies.size(), "bodies");
    if (joint.body_a == joint.body_b)
        check.fail("body_b", joint.body_a == kNone ? "is the world, as is body_a; name a body"
                                                   : "is the same body as body_a; name two bodies");
    const int count = body_count(joint.constraint);
    if (count == 1 && joint.body_a != kNone)
        check.fail("body_a", "must be left out for a one-body constraint, which holds body_b to the world");
    if (!bodies_fit(joint.constraint,
                    {joint.body_a != kNone, joint.body_b != kNone, joint.body_c != kNone, joint.body_d != kNone}))
        check.fail("body_c", "or another body does not fit: the constraint joins " + std::to_string(count) +
                                 " bodies; name that many");
    const std::uint32_t all[] = {joint.body_a, joint.body_b, joint.body_c, joint.body_d};
    for (int x = 0; x < 4; ++x) {
        for (int y = 2; y < x; ++y) check_distinct(check, all[x], all[y]);
        if (x >= 2) check_distinct(check, all[x], joint.body_a), check_distinct(check, all[x], joint.body_b);
    }
    if (!ref::positive(joint.break_force_n))
        check.fail("break_force_n", "must be a number above 0; leave it out for a joint that never breaks");
    if (!ref::positive(joint.break_torque_nm))
        check.fail("break_torque_nm", "must be a number above 0; leave it out for a joint that never breaks");
    if (const std::string fault = check_constraint(joint.constraint); !fault.empty()) check.fail("constraint", fault);
    return check.result();
}

Result<Ok> check_actuator(std::span<const Shape> shapes, std::span<const BodyDef> bodies,
                          std::span<const JointDef> joints, ActuatorDef& actuator, const Place& place) {
    Checker check(&place);
    switch (actuator.kind) {
        case ActuatorKind::motor:
        case ActuatorKind::steer:
        case ActuatorKind::brake:
            if (check.index("joint", actuator.joint, joints.size(), "joints") &&
                !has_target(joints[actuator.joint].constraint, actuator.kind))
                check.fail("joint",
                           actuator.kind == ActuatorKind::motor
                               ? "has no target that a motor actuator can set; name a motor, a servo or a wheel"
                               : "is not a wheel; name a Wheel joint");
            break;
        case ActuatorKind::force:
        case ActuatorKind::torque:
            if (check.index("body", actuator.body, bodies.size(), "bodies") &&
                bodies[actuator.body].type != BodyType::dynamic)
                check.fail("body", "is not dynamic, so that forces and torques do not move it; make it dynamic");
            break;
        case ActuatorKind::kinematic:
            if (check.index("body", actuator.body, bodies.size(), "bodies") &&
                bodies[actuator.body].type != BodyType::kinematic)
                check.fail("body", "is not kinematic; make it kinematic, or use another kind of actuator");
            break;
        case ActuatorKind::walk:
        case ActuatorKind::jump:
            if (check.index("body", actuator.body, bodies.size(), "bodies")) {
                constexpr std::uint8_t kUpright = kLockAngularX | kLockAngularY | kLockAngularZ;
                const BodyDef& body = bodies[actuator.body];
                if (body.type != BodyType::dynamic || body.sensor || body.shape == kNone ||
                    shapes[body.shape].type != ShapeType::capsule || (body.locks & kUpright) != kUpright)
                    check.fail("body",
                               "is not a character: make it a dynamic capsule that is not a sensor, and lock its three "
                               "rotations");
            }
            if (!ref::positive(actuator.max_force)) check.fail("max_force", "must be a number above 0 (N)");
            check.number("step_height", actuator.step_height, 0.0f, kMaxStepHeight_m, "kMaxStepHeight_m");
            check.number("max_slope_rad", actuator.max_slope_rad, 0.0f, 1.4f);
            break;
        default:
            check.fail("kind",
                       "is not an actuator kind; use motor, force, torque, kinematic, steer, brake, walk or jump");
    }
    for (const float weight : actuator.weights) check.number("weights", weight, -kNoLimit, kNoLimit);
    check.number("offset", actuator.offset, -kNoLimit, kNoLimit);
    check.number("min", actuator.min, -kNoLimit, kNoLimit);
    check.number("max", actuator.max, -kNoLimit, kNoLimit);
    if (!ref::within(actuator.min, -kNoLimit, actuator.max)) check.fail("min", "is above max; swap them");
    if (!ref::make_unit(actuator.direction)) check.fail("direction", "is not a unit vector; normalise it");
    if (!ref::positive(actuator.max_speed)) check.fail("max_speed", "must be a number above 0 (m/s)");
    return check.result();
}

// Names are what scenes refer by: two of a kind with one name would be a riddle.
template <class T>
Result<Ok> check_names(const std::vector<T>& list, const Place* parent, const char* name) {
    std::vector<std::pair<std::string_view, std::size_t>> names;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].name.empty()) names.emplace_back(list[i].name, i);
    }
    std::sort(names.begin(), names.end());
    for (std::size_t i = 1; i < names.size(); ++i) {
        if (names[i].first != names[i - 1].first) continue;
        const Place place{parent, name, names[i].second};
        return wrong(&place, "name",
                     "\"" + std::string(names[i].first) + "\" is already the name of " + name + "[" +
                         std::to_string(names[i - 1].second) + "]; give it another name");
    }
    return Ok{};
}

// The lists that a world and a prefab have in common.
Result<Ok> check_group(const WorldDef& def, std::span<const Shape> shapes, std::vector<BodyDef>& bodies,
                       std::vector<JointDef>& joints, std::vector<ActuatorDef>& actuators, const Place* parent) {
    if (bodies.size() >= kMaxBodies)
        return wrong(parent, "bodies",
                     "has more than " + std::to_string(kMaxBodies - 1) +
                         " entries (kMaxBodies counts the world itself): split the scene");
    if (joints.size() > kMaxJoints)
        return wrong(parent, "joints",
                     "has more than " + std::to_string(kMaxJoints) + " entries (kMaxJoints): split the scene");
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        if (auto r = check_body(def, shapes, bodies[i], {parent, "bodies", i}); !r) return r;
    }
    for (std::size_t i = 0; i < joints.size(); ++i) {
        if (auto r = check_joint(bodies, joints[i], {parent, "joints", i}); !r) return r;
    }
    for (std::size_t i = 0; i < actuators.size(); ++i) {
        const Place place{parent, "actuators", i};
        if (auto r = check_actuator(shapes, bodies, joints, actuators[i], place); !r) return r;
        if (!parent && actuators[i].slot >= def.slots.size())
            return wrong(&place, "slot",
                         "is " + std::to_string(actuators[i].slot) + ", but there are " +
                             std::to_string(def.slots.size()) + " slots; use a smaller index");
    }
    std::vector<bool> walks(bodies.size(), false);
    for (const ActuatorDef& actuator : actuators) {
        if (actuator.kind == ActuatorKind::walk) walks[actuator.body] = true;
    }
    for (std::size_t i = 0; i < actuators.size(); ++i) {
        const Place place{parent, "actuators", i};
        if (actuators[i].kind == ActuatorKind::jump && !walks[actuators[i].body])
            return wrong(
                &place, "body",
                "has no walk actuator, which a jump needs; add one, with weights of 0 if the body does not walk");
    }
    if (auto r = check_names(bodies, parent, "bodies"); !r) return r;
    if (auto r = check_names(joints, parent, "joints"); !r) return r;
    return check_names(actuators, parent, "actuators");
}

void check_iterations(Checker& check, const char* name, std::uint32_t iterations) {
    if (iterations < 1 || iterations > kMaxRigIterations)
        check.fail(name, "is " + std::to_string(iterations) + "; it must be from 1 to " +
                             std::to_string(kMaxRigIterations) + " (kMaxRigIterations)");
}

Result<Ok> check_settings(WorldDef& def) {
    Checker check(nullptr);
    check.number("tick_rate_hz", def.tick_rate_hz, kMinTickRate_hz, kMaxTickRate_hz, "kMaxTickRate_hz");
    if (def.substeps < 1 || def.substeps > kMaxSubsteps)
        check.fail("substeps", "is " + std::to_string(def.substeps) + "; it must be from 1 to " +
                                   std::to_string(kMaxSubsteps) + " (kMaxSubsteps)");
    check.vector("gravity", def.gravity, kMaxAcceleration_mps2, "kMaxAcceleration_mps2");
    const SolverSettings& s = def.solver;
    check.number("solver.joint_frequency_hz", s.joint_frequency_hz, 0.01f, kMaxFrequency_hz, "kMaxFrequency_hz");
    check.number("solver.joint_damping_ratio", s.joint_damping_ratio, 0.0f, kMaxDampingRatio, "kMaxDampingRatio");
    check.number("solver.contact_frequency_hz", s.contact_frequency_hz, 0.01f, kMaxFrequency_hz, "kMaxFrequency_hz");
    check.number("solver.contact_damping_ratio", s.contact_damping_ratio, 0.0f, kMaxDampingRatio, "kMaxDampingRatio");
    check.number("solver.slop_m", s.slop_m, 0.0f, kMaxSolverLength_m, "kMaxSolverLength_m");
    check.number("solver.speculative_margin_m", s.speculative_margin_m, 0.0f, kMaxSolverLength_m, "kMaxSolverLength_m");
    check.number("solver.max_recovery_speed_mps", s.max_recovery_speed_mps, 0.0f, kNoLimit);
    check.number("solver.joint_recovery_speed", s.joint_recovery_speed, 0.0f, kNoLimit);
    check.number("solver.restitution_threshold_mps", s.restitution_threshold_mps, 0.0f, kNoLimit);
    check.number("solver.sleep_speed_mps", s.sleep_speed_mps, 0.0f, kMaxLinearSpeed_mps, "kMaxLinearSpeed_mps");
    check.number("solver.sleep_time_s", s.sleep_time_s, 0.0f, kMaxSleepTime_s, "kMaxSleepTime_s");
    check.number("solver.rig_compliance", s.rig_compliance, 0.0f, kMaxRigCompliance);
    check_iterations(check, "solver.rig_iterations", s.rig_iterations);
    if (s.coupling_iterations < 1 || s.coupling_iterations > kMaxCouplingIterations)
        check.fail("solver.coupling_iterations",
                   "is " + std::to_string(s.coupling_iterations) + "; it must be from 1 to " +
                       std::to_string(kMaxCouplingIterations) + " (kMaxCouplingIterations)");
    return check.result();
}

Result<Ok> check_materials(const WorldDef& def) {
    for (std::size_t i = 0; i < def.materials.size(); ++i) {
        const Place place{nullptr, "materials", i};
        Checker check(&place);
        check.number("friction", def.materials[i].friction, 0.0f, kMaxFriction, "kMaxFriction");
        check.number("restitution", def.materials[i].restitution, 0.0f, 1.0f);
        check.number("density_kgpm3", def.materials[i].density_kgpm3, kMinDensity_kgpm3, kMaxDensity_kgpm3,
                     "kMaxDensity_kgpm3");
        check.number("rolling_resistance", def.materials[i].rolling_resistance, 0.0f, kMaxFriction, "kMaxFriction");
        check.vector("surface_velocity", def.materials[i].surface_velocity, kMaxLinearSpeed_mps, "kMaxLinearSpeed_mps");
        check.number("contact_frequency_hz", def.materials[i].contact_frequency_hz, 0.0f, kMaxFrequency_hz,
                     "kMaxFrequency_hz");
        check.number("contact_damping_ratio", def.materials[i].contact_damping_ratio, 0.0f, kMaxDampingRatio,
                     "kMaxDampingRatio");
        check.number("max_recovery_speed_mps", def.materials[i].max_recovery_speed_mps, 0.0f, kMaxLinearSpeed_mps,
                     "kMaxLinearSpeed_mps");
        if (!check.ok()) return check.result();
    }
    return check_names(def.materials, nullptr, "materials");
}

Result<Ok> check_prefabs(WorldDef& def, std::span<const Shape> shapes) {
    for (std::size_t i = 0; i < def.prefabs.size(); ++i) {
        PrefabDef& prefab = def.prefabs[i];
        const Place place{nullptr, "prefabs", i};
        if (auto r = check_group(def, shapes, prefab.bodies, prefab.joints, prefab.actuators, &place); !r) return r;
        if (prefab.bodies.empty()) return wrong(&place, "bodies", "is empty; a prefab needs at least one body");
    }
    return check_names(def.prefabs, nullptr, "prefabs");
}

// After the prefabs, which slots place.
Result<Ok> check_slots(WorldDef& def) {
    if (def.slots.size() > kMaxSlots)
        return wrong(nullptr, "slots",
                     "has more than " + std::to_string(kMaxSlots) + " entries (kMaxSlots): use fewer slots");
    for (std::size_t i = 0; i < def.slots.size(); ++i) {
        const Place place{nullptr, "slots", i};
        Checker check(&place);
        if (def.slots[i].prefab != kNone) check.index("prefab", def.slots[i].prefab, def.prefabs.size(), "prefabs");
        check.pose("pose", def.slots[i].pose);
        if (!check.ok()) return check.result();
        if (def.slots[i].prefab == kNone) continue;
        const EventCause misplaced = prefab_misplaced(def.prefabs[def.slots[i].prefab], def.slots[i].pose, {}, {});
        if (misplaced == EventCause::too_far)
            check.fail("pose", "places a body of its prefab, or a point that a joint holds, farther than " +
                                   ref::text_of(kMaxCoordinate_m) +
                                   " m from the origin; move the slot or the prefab's parts inward");
        else if (misplaced != EventCause::none)
            check.fail("pose",
                       "turns a velocity of its prefab's bodies beyond the limit of velocities; lower the velocity");
        if (!check.ok()) return check.result();
    }
    return check_names(def.slots, nullptr, "slots");
}

Result<Ok> check_rigs(const WorldDef& def) {
    for (std::size_t i = 0; i < def.rigs.size(); ++i) {
        const Place place{nullptr, "rigs", i};
        Checker check(&place);
        check.number("compliance", def.rigs[i].compliance, 0.0f, kMaxRigCompliance);
        check_iterations(check, "iterations", def.rigs[i].iterations);
        if (def.rigs[i].bodies.empty())
            check.fail("bodies", "is empty; name a dynamic body that the rig's ball sockets or rods hold");
        for (const std::uint32_t body : def.rigs[i].bodies) {
            if (!check.index("bodies", body, def.bodies.size(), "bodies")) break;
            if (def.bodies[body].type != BodyType::dynamic)
                check.fail("bodies", "has body " + std::to_string(body) +
                                         ", which is not dynamic; name dynamic bodies, which alone connect a rig");
        }
        if (!check.ok()) return check.result();
    }
    return check_names(def.rigs, nullptr, "rigs");
}

}  // namespace

std::string check_constraint(Constraint& constraint) { return fault_of(constraint, ref::kUnitTolerance); }

bool bodies_fit(const Constraint& constraint, const std::array<bool, 4>& given) {
    switch (body_count(constraint)) {
        case 1:
            return !given[0] && given[1] && !given[2] && !given[3];
        case 3:
            return given[0] && given[1] && given[2] && !given[3];
        case 4:
            return given[0] && given[1] && given[2] && given[3];
        default:
            return !given[2] && !given[3];
    }
}

bool any_surfaces(const WorldDef& def) {
    for (const MaterialDef& m : def.materials) {
        if (m.rolling_resistance != 0.0f || !ref::is_zero(m.surface_velocity)) return true;
        if (m.contact_frequency_hz != 0.0f || m.max_recovery_speed_mps != 0.0f) return true;
    }
    return false;
}

bool live_constraint_holds(Constraint constraint) { return fault_of(constraint, ref::kLiveTolerance).empty(); }

Result<Ok> check_definition(WorldDef& def, std::vector<Shape>& shapes) {
    if (auto r = check_settings(def); !r) return r;
    shapes.clear();
    shapes.reserve(def.shapes.size());
    for (std::size_t i = 0; i < def.shapes.size(); ++i) {
        auto shape = make_shape(def.shapes[i], Place{nullptr, "shapes", i}.text(), shapes);
        if (!shape) return shape.error();
        if (shape->hull || shape->mesh || shape->compound) def.shapes[i].half_extents = shape->half_extents;
        shapes.push_back(*shape);
    }
    if (auto r = check_names(def.shapes, nullptr, "shapes"); !r) return r;
    if (auto r = check_materials(def); !r) return r;
    if (auto r = check_group(def, shapes, def.bodies, def.joints, def.actuators, nullptr); !r) return r;
    if (auto r = check_prefabs(def, shapes); !r) return r;
    if (auto r = check_slots(def); !r) return r;
    return check_rigs(def);
}

}  // namespace orrery::sim
