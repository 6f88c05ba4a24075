// The definition of a world: shapes, materials, bodies, joints, actuators, prefabs, slots, rigs, and the settings of
// the solver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/constraints.hpp"
#include "orrery/types.hpp"
#include "sim/base/result.h"

namespace orrery::sim {

enum class ShapeType : std::uint8_t { sphere, box, capsule, plane, cylinder, hull, mesh, height_field, compound };
std::string_view shape_type_name(ShapeType type);

struct CompoundChild {
    // Index of an earlier shape: a sphere, box, capsule, cylinder or hull.
    std::uint32_t shape = kNone;
    Pose pose;  // of the child's own frame; a hull's frame has its origin at the centre of mass
};

struct ShapeDef {
    std::string name;
    ShapeType type = ShapeType::sphere;
    float radius = 0.5f;  // sphere, capsule, cylinder: m
    // Capsule: half the length of the cylindrical part along local y, m. Cylinder: half its length along local y, m.
    float half_height = 0.5f;
    // Box: m. For hulls, meshes, height fields and compounds, Definition::create sets it to the box around the shape in
    // the body's frame.
    Vec3 half_extents{0.5f, 0.5f, 0.5f};
    // Plane (no fields of its own): the half space below local y = 0, for fixed bodies only.
    //
    // Hull: points in any order, m. Their convex hull is the shape, and its centre of mass is the body's position.
    // Mesh: vertices, m.
    std::vector<Vec3> points{};
    // Mesh: three vertices for each triangle, counter-clockwise as seen from the side that collides. For fixed and
    // kinematic bodies only. Triangles without an area are left out (left_out.hpp); a mesh of such triangles only is an
    // error.
    std::vector<std::uint32_t> indices{};
    // Height field: heights above local y = 0, row by row, in metres times spacing.y. heights[k * columns + i] is the
    // sample at x = i * spacing.x and z = k * spacing.z from the corner. The body's position is the centre of the
    // field. It collides from above. For fixed and kinematic bodies only.
    std::uint32_t columns = 0;
    std::vector<float> heights{};
    Vec3 spacing{1.0f, 1.0f, 1.0f};
    // Compound: children that are rigidly connected. Where children overlap, their mass counts twice. Their common
    // centre of mass is the body's position.
    std::vector<CompoundChild> children{};

    static ShapeDef sphere(float radius) {
        ShapeDef shape = of_type(ShapeType::sphere);
        shape.radius = radius;
        return shape;
    }
    static ShapeDef box(const Vec3& half_extents) {
        ShapeDef shape = of_type(ShapeType::box);
        shape.half_extents = half_extents;
        return shape;
    }
    static ShapeDef capsule(float radius, float half_height) {
        ShapeDef shape = of_type(ShapeType::capsule);
        shape.radius = radius, shape.half_height = half_height;
        return shape;
    }
    static ShapeDef cylinder(float radius, float half_height) {
        ShapeDef shape = of_type(ShapeType::cylinder);
        shape.radius = radius, shape.half_height = half_height;
        return shape;
    }
    static ShapeDef plane() { return of_type(ShapeType::plane); }
    static ShapeDef hull(std::vector<Vec3> points) {
        ShapeDef shape = of_type(ShapeType::hull);
        shape.points = std::move(points);
        return shape;
    }
    static ShapeDef mesh(std::vector<Vec3> points, std::vector<std::uint32_t> indices) {
        ShapeDef shape = of_type(ShapeType::mesh);
        shape.points = std::move(points), shape.indices = std::move(indices);
        return shape;
    }
    static ShapeDef compound(std::vector<CompoundChild> children) {
        ShapeDef shape = of_type(ShapeType::compound);
        shape.children = std::move(children);
        return shape;
    }

  private:
    static ShapeDef of_type(ShapeType type) {
        ShapeDef shape;
        shape.type = type;
        return shape;
    }
};

// The centre of mass in the coordinates of a hull's points or a compound's children. This is where the body's position
// lies. Zero for other types. `earlier` holds the shapes before this one in the list.
Result<Vec3> shape_centre(const ShapeDef& def, std::span<const ShapeDef> earlier = {});

struct MaterialDef {
    std::string name;
    float friction = 0.6f;     // >= 0; two materials combine by the geometric mean
    float restitution = 0.0f;  // 0 to 1; two materials combine by the larger
    float density_kgpm3 = 1000.0f;
    // At least 0. A torque that resists the rolling of spheres, capsules and cylinders, also as children of compounds.
    // It is at most this number times the radius times the normal force (N m). So a body begins to roll on a slope
    // whose tangent is this number. Two materials combine by the larger, and so do two radii.
    float rolling_resistance = 0.0f;
    // m/s, in the body's frame: the velocity of the surface over the body, as that of a conveyor belt. Friction drags a
    // touching body along the part of it that lies in the contact's plane. The difference counts between two materials.
    // A body that is carried stays awake.
    Vec3 surface_velocity{};
    // How contacts of this material remove penetration, in place of SolverSettings::contact_frequency_hz,
    // contact_damping_ratio and max_recovery_speed_mps. 0 means those settings. If both materials have a frequency, the
    // lower one counts, with its damping ratio. The lower of two recovery speeds counts.
    float contact_frequency_hz = 0.0f, contact_damping_ratio = 1.0f;
    float max_recovery_speed_mps = 0.0f;
};

enum AxisLock : std::uint8_t {  // world axes
    kLockLinearX = 1,
    kLockLinearY = 2,
    kLockLinearZ = 4,
    kLockAngularX = 8,
    kLockAngularY = 16,
    kLockAngularZ = 32,
};

// How far ahead a body looks for collisions within the tick. Every mode follows the straight flight completely: a ball
// stops at what it hits, at any speed, and other shapes do so with few exceptions. The modes differ in how they follow
// rotation. The distances that two bodies look ahead add up.
enum class CollisionMode : std::uint8_t {
    // The bounds of a body are grown for its rotation by at most the speculative margin (SolverSettings). Bodies whose
    // bounds meet are followed through the tick, rotation included. A thin body that spins fast and whose bounds do not
    // meet those of a thin one can pass through it.
    discrete,
    // The bounds are grown as far as rotation can move any point of the body within the tick. For dynamic and kinematic
    // bodies. A rotating body gets larger bounds, and so more pairs, and keeps bodies within its reach awake. A body
    // that
    // does not rotate costs nothing extra.
    // This mode is no guarantee: a body that another contact deflects in the same tick can still pass.
    // Measured with rods of 1 m length and 1 cm thickness that rotate into a plate of 1 cm, in ticks of 1/60 s. Shares
    // that pass, in this mode and in `discrete` alike: 1 % at 10 rad/s, 14 % at 20, 18 % at 30, 30 % at 50. Of bodies
    // that
    // hit a wall of 1 cm at 300 m/s, with or without tumbling: at most 2 % of compact bodies, 2 to 3 % of rods
    // (discrete: 3 to 7 %).
    passive,
    // As `passive`, and a dynamic body passes through no fixed body, however thin and whatever the shapes of both (a
    // mesh or height field: from its front). If a tick would take the body through, the body stays at the pose where
    // that begins and keeps its velocity. It can pass through other bodies as a passive one can.
    continuous,
};
inline constexpr std::size_t kCollisionModeCount = 3;

struct BodyDef {
    std::string name;
    BodyType type = BodyType::dynamic;
    // Index into WorldDef::shapes. kNone: the body does not collide, and mass_kg is required.
    std::uint32_t shape = kNone;
    std::uint32_t material = 0;  // index into WorldDef::materials
    Pose pose;
    Vec3 linear_velocity, angular_velocity;               // m/s, rad/s, world; zero counts for fixed bodies
    float mass_kg = 0.0f;                                 // 0: computed from shape and density
    float linear_damping = 0.0f, angular_damping = 0.0f;  // 1/s
    float gravity_scale = 1.0f;
    // AxisLock bits. A lock takes any force or torque along its axis, as a bearing does. The inertia about the free
    // axes is that of the whole body.
    std::uint8_t locks = 0;
    bool can_sleep = true;  // false: keeps itself and the bodies that it touches awake
    // Two bodies collide if the category of each shares a bit with the mask of the other.
    std::uint32_t category = 1, mask = 0xffff'ffffu;
    std::uint64_t user_data = 0;  // stored, saved and hashed, but never used
    // A sensor touches nothing. The events sensor_begin and sensor_end report the dynamic and kinematic bodies that
    // overlap it at the end of a tick. They do not report fixed bodies, other sensors, or bodies that a joint keeps
    // from colliding with it. Category and mask count as between colliding bodies. In all else a sensor is a body of
    // its type: it moves, falls and has mass.
    bool sensor = false;
    CollisionMode collision_mode = CollisionMode::discrete;  // no effect on fixed bodies

    static BodyDef dynamic(std::uint32_t shape, const Pose& pose = {}) { return of(BodyType::dynamic, shape, pose); }
    static BodyDef kinematic(std::uint32_t shape, const Pose& pose = {}) {
        return of(BodyType::kinematic, shape, pose);
    }
    static BodyDef fixed(std::uint32_t shape, const Pose& pose = {}) { return of(BodyType::fixed, shape, pose); }

  private:
    static BodyDef of(BodyType type, std::uint32_t shape, const Pose& pose) {
        BodyDef body;
        body.type = type, body.shape = shape, body.pose = pose;
        return body;
    }
};

struct JointDef {
    std::string name;
    std::uint32_t body_a = kNone;  // index into the same list of bodies; kNone: the world
    std::uint32_t body_b = kNone;
    std::uint32_t body_c = kNone, body_d = kNone;  // for constraints of three or four bodies
    Constraint constraint;                         // any type of sim/constraints/list.h
    bool collide_connected = false;
    // Thresholds for the mean force and torque of a tick. Above one the joint is removed, with an event.
    float break_force_n = kNoLimit, break_torque_nm = kNoLimit;
    // false: the joint stays. Each tick above a threshold has an event.
    bool break_removes = true;
};

// What an actuator drives. In every tick its value is clamp(offset + sum weights[i] * u[i], min, max), where u is the
// player's control vector.
enum class ActuatorKind : std::uint8_t {
    motor,      // the target of a joint that has one (kTarget): the speed of a motor, the position of a servo
    force,      // N on a body at its centre along `direction`
    torque,     // N m on a body about `direction`
    kinematic,  // the offset (m) of a kinematic body along `direction` from its first pose, at most at max_speed
    steer,      // the steering angle of a Wheel joint, rad
    brake,      // the brake torque of a Wheel joint, N m; below 0: none
    // A character is a dynamic capsule whose rotations are all locked, best with a material without friction.
    // `walk`: a horizontal speed (m/s) along `direction`, relative to the ground below the character. The values of all
    // walk actuators of a body add up, and the sum is limited by max_speed. The speed is reached with at most max_force
    // (25 N for each kg works well), in the air with a tenth of it. The other settings are those of the body's first
    // walk actuator.
    // A character stands on ground that is not steeper than max_slope_rad. The ground holds it and carries it (a moving
    // platform, a belt), and it pushes back on the ground. It follows the ground down steps and slopes. It climbs steps
    // of up to step_height of fixed and kinematic bodies. It leaves the ground if something throws it up by more than
    // 1 m/s beyond its walking, or pushes it up with more than its weight.
    // `jump`: a value above 0 (m/s) makes a character that stands leave the ground at that upward speed relative to the
    // ground. The body also needs walk actuators. The largest value of several counts. The next jump starts from the
    // ground again.
    walk,
    jump,
};
constexpr bool acts_on_joint(ActuatorKind kind) {
    return kind == ActuatorKind::motor || kind == ActuatorKind::steer || kind == ActuatorKind::brake;
}
// True if the joint has the value that an actuator of this kind sets.
inline bool has_target(const Constraint& constraint, ActuatorKind kind) {
    return std::visit(
        [kind]<class T>(const T&) {
            return (kind == ActuatorKind::motor && requires { T::kTarget; }) ||
                   (kind == ActuatorKind::steer && requires { T::kSteer; }) ||
                   (kind == ActuatorKind::brake && requires { T::kBrake; });
        },
        constraint);
}

inline constexpr float kMaxStepHeight_m = 10.0f;
struct ActuatorDef {
    std::string name;
    ActuatorKind kind = ActuatorKind::motor;
    std::uint32_t joint = kNone, body = kNone;  // the one that the kind needs; index into the same lists
    // The slot whose control vector counts. Ignored in a prefab, where it is the slot that spawned the prefab.
    std::uint32_t slot = 0;
    std::array<float, kControlChannels> weights{};
    float offset = 0.0f, min = -kNoLimit, max = kNoLimit;
    Vec3 direction{0.0f, 0.0f, 1.0f};  // unit
    bool direction_local = true;       // true: in the body's frame; false: in the world's
    float max_speed = kNoLimit;        // kinematic, walk: m/s
    float max_force = 2000.0f;         // walk: N
    float step_height = 0.3f;          // walk: m, at most kMaxStepHeight_m; 0: no steps
    float max_slope_rad = 0.785398f;   // walk: 0 to 1.4; the default is 45 degrees
};

// A group that can be spawned at a pose; scenes call it a template. Indices inside refer to the prefab's own lists.
// Poses are relative to the pose of the spawn.
struct PrefabDef {
    std::string name;
    std::vector<BodyDef> bodies;
    std::vector<JointDef> joints;
    std::vector<ActuatorDef> actuators;
};

// The seat of a player. If it names a prefab, joining spawns the prefab at `pose` and leaving removes it.
struct SlotDef {
    std::string name;
    std::uint32_t prefab = kNone;
    Pose pose;
};

// How the ball sockets and rods of a rig are solved.
// A rod is a joint that holds a distance above 0: a CenterDistance, a DistanceServo whose Servo has no limits, or a
// DistanceLimit or CenterDistanceLimit with min = max.
// If a rig's sockets alone form chains or trees, and it has at most as many rods as sockets, the sockets are solved
// exactly and the rods stay with the coloured solver. This does not hold where `jacobi` or `block_jacobi` is named. All
// other rigs with rods are solved by iterations.
// Two sockets of the same two bodies, with equal springs and at different points, count as one edge of a tree and not
// as a loop.
// If tension makes rods swing faster than the steps can follow, their bodies count as up to four times as heavy.
// The coloured solver takes a rig that the named solver cannot take.
enum class RigSolver : std::uint8_t {
    automatic,     // by the rig's class: chains and trees exactly, others by jacobi
    coloured,      // as if it were no rig
    direct,        // exactly; for chains and trees
    jacobi,        // any rig: iterations over all joints at once, with split masses and Chebyshev acceleration
    block_jacobi,  // any rig: jacobi without either, for comparison; it converges for chains only
};
inline constexpr std::size_t kRigSolverCount = 5;
std::string_view rig_solver_name(RigSolver solver);  // "auto", "coloured", "direct", "jacobi", "block_jacobi"
inline constexpr std::uint32_t kRigIterations = 8;
// Compliance of a rig's joints, as a share of the mobility that each joint sees. It is just large enough that no block
// is singular.
inline constexpr float kRigCompliance = 1.0e-6f;

struct SolverSettings {  // one set of defaults for all scenes
    // Rigid joints. The frequency is clamped to 0.25 of the substep rate.
    float joint_frequency_hz = 60.0f, joint_damping_ratio = 2.0f;
    // The frequency is clamped to 0.22 of the substep rate, or to 0.175 where slender bodies stand
    // (constraints/contact-inl.h). Against a static body the frequency is doubled and the ratio halved. Contacts are
    // stiff so that tall walls do not buckle under their weight. They are not overdamped, because then impulses travel
    // up a stack so slowly that it never rests.
    float contact_frequency_hz = 60.0f, contact_damping_ratio = 1.0f;
    // Penetration that contacts do not correct. It is 0 by default: a soft contact rests at a small depth by itself,
    // and in a stack every contact would sink by the slop.
    float slop_m = 0.0f;
    float speculative_margin_m = 0.02f;
    float max_recovery_speed_mps = 3.0f;  // of contacts
    // Recovery speed of rigid joints, m/s or rad/s (see Spring::max_recovery_speed). It is above what a loaded limit at
    // a mass ratio of 100 needs.
    float joint_recovery_speed = 50.0f;
    float restitution_threshold_mps = 1.0f;
    // Bodies that touch or are jointed fall asleep together. They do so when every point of their surfaces has been
    // slower than sleep_speed_mps for sleep_time_s. Sleeping bodies cost almost nothing until another body touches one
    // of them or a command changes one. A motor with a target other than 0 keeps its bodies awake. A servo keeps them
    // awake while they move at all.
    bool sleep = true;
    float sleep_speed_mps = 0.05f;
    float sleep_time_s = 0.5f;  // at most kMaxSleepTime_s
    // A component of at least this many ball sockets and rods between dynamic bodies is a rig without being named.
    // 0: no such rigs.
    std::uint32_t rig_joints = 0;
    RigSolver rig_solver = RigSolver::automatic;  // of rigs without a name
    float rig_compliance = kRigCompliance;        // of rigs without a name
    // Iterations of rigs without a name that are not solved exactly, in each of a substep's two solves and in each
    // relax: 1 to kMaxRigIterations. block_jacobi rounds odd numbers up to even ones. After an odd number an
    // alternating error between neighbours would be left, which grows from substep to substep.
    std::uint32_t rig_iterations = kRigIterations;
    // Rounds of coupling in a substep, 1 to kMaxCouplingIterations: a rig and the contacts and joints of its bodies are
    // solved in turn. Rigs that are not solved exactly take part in the last two rounds.
    std::uint32_t coupling_iterations = 3;
};

// A named rig: the connected component of ball sockets and rods, through dynamic bodies, that holds any of `bodies`. If
// two named rigs are the same component, the first one counts. Rigid joints of rigs use
// SolverSettings::joint_recovery_speed and ignore Spring::max_recovery_speed.
struct RigDef {
    std::string name;
    std::vector<std::uint32_t> bodies;  // dynamic bodies; indices into WorldDef::bodies
    RigSolver solver = RigSolver::automatic;
    float compliance = kRigCompliance;
    std::uint32_t iterations = kRigIterations;  // for jacobi and block_jacobi; see SolverSettings::rig_iterations
};

struct WorldDef {
    std::string name;
    float tick_rate_hz = 60.0f;
    std::uint32_t substeps = 4;
    Vec3 gravity{0.0f, -10.0f, 0.0f};
    std::uint64_t seed = 0;
    SolverSettings solver;
    std::vector<ShapeDef> shapes;
    std::vector<MaterialDef> materials{MaterialDef{}};
    std::vector<BodyDef> bodies;
    std::vector<JointDef> joints;
    std::vector<ActuatorDef> actuators;
    std::vector<PrefabDef> prefabs;
    std::vector<SlotDef> slots;
    std::vector<RigDef> rigs;

    // The index of the element of this name; kNone: there is none.
    std::uint32_t find_shape(std::string_view element) const { return find(shapes, element); }
    std::uint32_t find_material(std::string_view element) const { return find(materials, element); }
    std::uint32_t find_prefab(std::string_view element) const { return find(prefabs, element); }
    std::uint32_t find_slot(std::string_view element) const { return find(slots, element); }
    std::uint32_t find_actuator(std::string_view element) const { return find(actuators, element); }

  private:
    template <class T>
    static std::uint32_t find(const std::vector<T>& list, std::string_view element) {
        for (std::size_t i = 0; i < list.size() && !element.empty(); ++i) {
            if (list[i].name == element) return static_cast<std::uint32_t>(i);
        }
        return kNone;
    }
};

// A checked WorldDef, prepared once for all worlds of a scene. Directions and quaternions are normalised, the shapes of
// hulls, meshes and compounds are built, and the whole is hashed. It never changes, so that worlds on any number of
// threads may share it without a lock. It lives until the last world or other holder releases it.
class Definition {
  public:
    // A malformed definition is an error whose place names the element, for example bodies[3].shape.
    static Result<std::shared_ptr<const Definition>> create(WorldDef def);
    ~Definition();
    Definition(const Definition&) = delete;
    Definition& operator=(const Definition&) = delete;

    const WorldDef& def() const;
    std::uint64_t hash() const;  // of all fields that influence a state; names do not

  private:
    friend struct Core;  // the world behind World
    struct Impl;
    explicit Definition(std::unique_ptr<const Impl> impl);
    std::unique_ptr<const Impl> impl_;
};

class RigDevice;  // sim/rigs/device/device.h: solves rigs outside the CPU, for example on a GPU

struct WorldConfig {  // may differ between machines without changing a bit
    Target target = Target::automatic;
    // How many ticks back queries may look, at most kMaxHistoryTicks. Each tick takes kHistoryBytesPerBody for every
    // kinematic and dynamic body with a shape. Fixed bodies are stored once, until one is added, removed or moved.
    std::uint32_t history_ticks = 0;
    // Solves rigs where it can. It must outlive the world. Null: the CPU solves them.
    RigDevice* rig_device = nullptr;
};

}  // namespace orrery::sim
