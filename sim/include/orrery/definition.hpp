// The definition of a world: shapes, materials, bodies, joints, actuators, prefabs, slots, rigs, and the settings of
// the solver.
//
// Definition::create checks every range that a comment here states. A value outside of it, NaN, infinity, and a
// direction or quaternion whose length differs from 1 by more than 0.001 are errors that name the element. Names may be
// empty. Otherwise they are unique among the elements of one list.
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

// The geometry of a shape (ShapeDef says which fields each type reads).
enum class ShapeType : std::uint8_t { sphere, box, capsule, plane, cylinder, hull, mesh, height_field, compound };
std::string_view shape_type_name(ShapeType type);  // "sphere", "height_field"

// A convex shape at a fixed pose in a compound.
struct CompoundChild {
    // Index of an earlier shape: a sphere, box, capsule, cylinder or hull.
    std::uint32_t shape = kNone;
    // The frame of the child in the frame of the compound, before the compound is shifted to its centre of mass. A
    // hull's frame has its origin at the centre of mass of the hull.
    Pose pose;
};

// A shape in the frame of its body. The plane has no fields of its own: it is the half space below local y = 0, for
// fixed bodies only. Fields of other types are ignored.
struct ShapeDef {
    std::string name;  // unique in its list, or empty
    ShapeType type = ShapeType::sphere;
    float radius = 0.5f;  // sphere, capsule, cylinder: m, 0.0005 to 4,096
    // Half a length along local y: of a capsule's cylindrical part, or of a cylinder; m, 0.0005 to 4,096.
    float half_height = 0.5f;
    // Box: m, each 0.0005 to 4,096. For a hull, mesh, height field or compound, Definition::create sets it: the
    // smallest box about the body's origin that contains the shape.
    Vec3 half_extents{0.5f, 0.5f, 0.5f};
    // Hull: points in any order, m, 4 to kMaxHullPoints. The shape is their convex hull, shifted so that its centre of
    // mass is the body's position. A hull thinner than 1 mm, or than a ten-thousandth of its size, is an error.
    // Mesh: vertices, m, at most kMaxMeshVertices.
    // Each coordinate is within 4,096 m.
    std::vector<Vec3> points{};
    // Mesh: three indices into `points` for each triangle, counter-clockwise as seen from the side that collides. For
    // fixed and kinematic bodies only. Triangles without an area are left out (left_out.hpp); a mesh of such triangles
    // only is an error.
    std::vector<std::uint32_t> indices{};
    // Height field: samples of the height above local y = 0, row by row. heights[k * columns + i] * spacing.y is the
    // height (m) at x = i * spacing.x and z = k * spacing.z from the corner. At least 2 columns and 2 whole rows. The
    // body's position is the centre of the field. It collides from above. For fixed and kinematic bodies only.
    std::uint32_t columns = 0;
    std::vector<float> heights{};
    Vec3 spacing{1.0f, 1.0f, 1.0f};  // m; x and z 0.0005 to 4,096, y 0 to 4,096
    // Compound: 1 to kMaxCompoundChildren children that are rigidly connected. Where children overlap, their mass
    // counts twice. The children are shifted so that their common centre of mass is the body's position.
    std::vector<CompoundChild> children{};

    // Shapes of each type, with the fields that it reads. Ranges are checked by Definition::create.
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

// The centre of mass (m) in the coordinates of a hull's points or a compound's children. This is where the body's
// position lies. Zero for other types. `earlier` are the shapes before this one in the list. Errors are those of
// Definition::create for this shape.
Result<Vec3> shape_centre(const ShapeDef& def, std::span<const ShapeDef> earlier = {});

// The surface and density of bodies.
struct MaterialDef {
    std::string name;               // unique in its list, or empty
    float friction = 0.6f;          // coefficient, 0 to 1,000; two materials combine by the geometric mean
    float restitution = 0.0f;       // coefficient, 0 to 1; two materials combine by the larger
    float density_kgpm3 = 1000.0f;  // kg/m^3, 0.001 to 1e6
    // Coefficient, 0 to 1,000. A torque that resists the rolling of spheres, capsules and cylinders, also as children
    // of compounds. It is at most this number times the radius times the normal force (N m). So a body begins to roll
    // on a slope whose tangent is this number. Two materials combine by the larger, and so do two radii.
    float rolling_resistance = 0.0f;
    // m/s, in the body's frame, each component within kMaxLinearSpeed_mps: the velocity of the surface over the body,
    // as that of a conveyor belt. Friction drags a touching body along the part of it that lies in the contact's plane.
    // The difference counts between two materials. A body that is carried stays awake.
    Vec3 surface_velocity{};
    // How contacts of this material remove penetration, instead of SolverSettings::contact_frequency_hz,
    // contact_damping_ratio and max_recovery_speed_mps. 0 means those settings. If both materials have a frequency, the
    // lower one counts, with its damping ratio. The lower of two recovery speeds counts. The frequency is clamped to
    // 0.25 of the substep rate, and is the same against all types of bodies.
    float contact_frequency_hz = 0.0f;    // Hz, 0 to 100,000
    float contact_damping_ratio = 1.0f;   // 1 is critical damping, 0 to 10,000
    float max_recovery_speed_mps = 0.0f;  // m/s, 0 to kMaxLinearSpeed_mps
};

enum AxisLock : std::uint8_t {  // bits: world axes along which, or about which, a body cannot move
    kLockLinearX = 1,           // does not move along x
    kLockLinearY = 2,           // along y
    kLockLinearZ = 4,           // along z
    kLockAngularX = 8,          // does not turn about x
    kLockAngularY = 16,         // about y
    kLockAngularZ = 32,         // about z
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
    // that does not rotate costs nothing extra.
    // This mode is no guarantee: a body that another contact deflects in the same tick can still pass.
    // Measured with rods of 1 m length and 1 cm thickness that rotate into a plate of 1 cm, in ticks of 1/60 s. Shares
    // that pass, in this mode and in `discrete` alike: 2 % at 10 rad/s, 15 % at 20, 21 % at 30, 33 % at 50. Of bodies
    // that hit a wall of 1 cm at 300 m/s, with or without tumbling: at most 2 % of compact bodies, 2 to 5 % of rods and
    // compounds (discrete: 4 to 8 %).
    passive,
    // As `passive`, and a dynamic body passes through no fixed body, however thin and whatever the shapes of both (a
    // mesh or height field: from its front). If a tick would take the body through, the body stays at the pose where
    // that begins and keeps its velocity; its angular velocity is kept about its own axes. It can pass through other
    // bodies as a passive one can.
    continuous,
};
inline constexpr std::size_t kCollisionModeCount = 3;  // of CollisionMode

// A body at the start, or in a prefab.
struct BodyDef {
    std::string name;  // unique in its list, or empty
    BodyType type = BodyType::dynamic;
    // Index into WorldDef::shapes. kNone: the body does not collide, and mass_kg is required.
    std::uint32_t shape = kNone;
    std::uint32_t material = 0;  // index into WorldDef::materials
    Pose pose;                   // of the centre of mass, world; in a prefab: relative to the pose of the spawn
    // m/s and rad/s, world (in a prefab: its frame), each component within kMaxLinearSpeed_mps or
    // kMaxAngularSpeed_radps. Fixed bodies: ignored.
    Vec3 linear_velocity, angular_velocity;
    // 1e-6 to 1e12 kg. 0: computed from shape and density. The inertia is that of the shape, scaled to this mass.
    float mass_kg = 0.0f;
    float linear_damping = 0.0f, angular_damping = 0.0f;  // 1/s, 0 to 10,000
    float gravity_scale = 1.0f;                           // factor of gravity, -1,000 to 1,000
    // AxisLock bits. A lock takes any force or torque along its axis, as a bearing does. The inertia about the free
    // axes is that of the whole body.
    std::uint8_t locks = 0;
    bool can_sleep = true;  // false: keeps itself and the bodies that it touches awake
    // Bit sets. Two bodies collide if the category of each shares a bit with the mask of the other.
    std::uint32_t category = 1, mask = 0xffff'ffffu;
    std::uint64_t user_data = 0;  // stored, saved and hashed, but never used
    // A sensor touches nothing; it needs a shape. The events sensor_begin and sensor_end report the dynamic and
    // kinematic bodies that overlap it at the end of a tick. They do not report fixed bodies, other sensors, or bodies
    // that a joint keeps from colliding with it. Category and mask count as between colliding bodies. In all else a
    // sensor is a body of its type: it moves, falls and has mass.
    bool sensor = false;
    CollisionMode collision_mode = CollisionMode::discrete;  // no effect on fixed bodies

    // A body of each type, with the defaults of all other fields.
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

// A constraint between two to four bodies, or between the world and one body.
struct JointDef {
    std::string name;                              // unique in its list, or empty
    std::uint32_t body_a = kNone;                  // index into the same list of bodies; kNone: the world
    std::uint32_t body_b = kNone;                  // the same. At most one of the two is the world
    std::uint32_t body_c = kNone, body_d = kNone;  // for constraints of three or four bodies
    Constraint constraint;                         // any type of sim/constraints/list.h
    bool collide_connected = false;                // true: the bodies of the joint collide with each other
    // Thresholds for the mean force (N) and torque (N m) of a tick, above 0. Above one the joint is removed, with the
    // event joint_broken.
    float break_force_n = kNoLimit, break_torque_nm = kNoLimit;
    // false: the joint stays. Each tick above a threshold has the event joint_overloaded.
    bool break_removes = true;
};

// What an actuator drives. In every tick its value is clamp(offset + sum weights[i] * u[i], min, max), where u is the
// player's control vector: kControlChannels numbers in [-1, 1], all 0 while nobody has the slot.
enum class ActuatorKind : std::uint8_t {
    motor,      // the target of a joint that has one (kTarget): the speed of a motor, the position of a servo, in the
                // unit of that field
    force,      // N on a dynamic body at its centre of mass along `direction`
    torque,     // N m on a dynamic body about `direction`
    kinematic,  // the offset (m) of a kinematic body along `direction` from its first pose, at most at max_speed.
                // Offsets of several actuators of a body add up
    steer,      // the steering angle of a Wheel joint, rad
    brake,      // the brake torque of a Wheel joint, N m; below 0: none
    // A character is a dynamic capsule whose rotations are all locked, best with a material without friction.
    // `walk`: a horizontal speed (m/s) along `direction`, relative to the ground below the character. The values of all
    // walk actuators of a body add up, and the sum is limited by max_speed. The speed is reached with at most max_force
    // (25 N for each kg works well), in the air with a tenth of it. The other settings are those of the body's first
    // walk actuator.
    // A character *stands* if it touches ground that is not steeper than max_slope_rad. The ground then bears it and
    // carries it (a moving platform, a belt), and it pushes back on the ground. It follows the ground down steps and
    // slopes. It climbs steps of up to step_height of fixed and kinematic bodies. It leaves the ground if something
    // throws it up by more than 1 m/s beyond its walking, or pushes it up with more than its weight.
    // `jump`: a value above 0 (m/s) makes a character that stands leave the ground at that upward speed relative to the
    // ground. The body also needs walk actuators. The largest value of several counts. The next jump starts from the
    // ground again.
    walk,
    jump,
};
// Whether ActuatorDef::joint is the one that the kind needs; else ActuatorDef::body.
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

inline constexpr float kMaxStepHeight_m = 10.0f;  // largest ActuatorDef::step_height

// The link from a player's control channels to a joint or body (see ActuatorKind).
struct ActuatorDef {
    std::string name;  // unique in its list, or empty
    ActuatorKind kind = ActuatorKind::motor;
    std::uint32_t joint = kNone, body = kNone;  // the one that the kind needs; index into the same lists
    // The slot whose control vector counts. Ignored in a prefab, where it is the slot that spawned the prefab.
    std::uint32_t slot = 0;
    std::array<float, kControlChannels> weights{};         // of each channel, in the unit of the value
    float offset = 0.0f, min = -kNoLimit, max = kNoLimit;  // in the unit of the value; min <= max
    Vec3 direction{0.0f, 0.0f, 1.0f};                      // unit
    bool direction_local = true;                           // true: in the body's frame; false: in the world's
    float max_speed = kNoLimit;                            // kinematic, walk: m/s, above 0
    float max_force = 2000.0f;                             // walk: N, above 0
    float step_height = 0.3f;                              // walk: m, 0 to kMaxStepHeight_m; 0: no steps
    float max_slope_rad = 0.785398f;                       // walk: 0 to 1.4; the default is 45 degrees
};

// A group of at least one body that can be spawned at a pose; scenes call it a template. Indices of bodies and joints
// refer to the prefab's own lists. Poses and world points are relative to the pose of the spawn.
struct PrefabDef {
    std::string name;                    // unique in its list, or empty
    std::vector<BodyDef> bodies;         // at least one
    std::vector<JointDef> joints;        // between these bodies, or one and the world
    std::vector<ActuatorDef> actuators;  // of these joints and bodies
};

// The seat of a player. If it names a prefab, joining spawns the prefab at `pose` and leaving removes it.
struct SlotDef {
    std::string name;              // unique in its list, or empty
    std::uint32_t prefab = kNone;  // index into WorldDef::prefabs; kNone: the player gets no bodies of its own
    Pose pose;                     // world
};

// How the ball sockets and rods of a rig are solved.
// A rod is a joint that holds a distance above 0: a CenterDistance, a DistanceServo whose Servo has no limits, or a
// DistanceLimit or CenterDistanceLimit with min = max.
// The *coloured solver* solves all joints and contacts that belong to no rig, colour by colour (see colour in the
// glossary of sim/README.md).
// If a rig's ball sockets alone form chains or trees, and it has at most as many rods as ball sockets, the ball sockets
// are solved exactly and the rods stay with the coloured solver, unless `jacobi` or `block_jacobi` is named. All other
// rigs with rods are solved by iterations.
// Two ball sockets of the same two bodies, with equal springs and at different points, count as one edge of a tree and
// not as a loop.
// If tension makes rods swing faster than the steps can follow, their bodies count as up to four times as heavy.
// The coloured solver takes a rig that the named solver cannot take.
enum class RigSolver : std::uint8_t {
    automatic,     // by the rig's class: chains and trees exactly, others by jacobi
    coloured,      // as if it were no rig
    direct,        // exactly; for chains and trees
    jacobi,        // any rig: iterations over all joints at once, with split masses and Chebyshev acceleration
    block_jacobi,  // any rig: jacobi without either, for comparison; it converges for chains only
};
inline constexpr std::size_t kRigSolverCount = 5;    // of RigSolver
std::string_view rig_solver_name(RigSolver solver);  // "auto", "coloured", "direct", "jacobi", "block_jacobi"
// Default iterations of a rig that is not solved exactly.
inline constexpr std::uint32_t kRigIterations = 8;
// Default compliance (softness) of a rig's joints: a share of the mobility J M^-1 J^T of each joint, without a unit. It
// is just large enough that no block is singular.
inline constexpr float kRigCompliance = 1.0e-6f;

// The defaults serve all scenes. The substep rate is tick_rate_hz * substeps.
struct SolverSettings {
    // Rigid joints: Hz, 0.01 to 100,000, and a ratio, 0 to 10,000 (1 is critical damping). The frequency is clamped to
    // 0.25 of the substep rate.
    float joint_frequency_hz = 60.0f, joint_damping_ratio = 2.0f;
    // Contacts: Hz, 0.01 to 100,000, and a ratio, 0 to 10,000. The frequency is clamped to 0.22 of the substep rate, or
    // to 0.175 for contacts on which a slender body stands (constraints/contact-inl.h). Against a fixed or kinematic
    // body the frequency is doubled and the ratio halved. Contacts are stiff so that tall walls do not buckle under
    // their weight. They are not overdamped, because then impulses travel up a stack so slowly that it never rests.
    float contact_frequency_hz = 60.0f, contact_damping_ratio = 1.0f;
    // Penetration that contacts do not correct, m, 0 to 10. It is 0 by default: a soft contact rests at a small depth
    // by itself, and in a stack every contact would sink by the slop.
    float slop_m = 0.0f;
    float speculative_margin_m = 0.02f;   // contacts are made between surfaces this far apart, m, 0 to 10
    float max_recovery_speed_mps = 3.0f;  // largest speed at which contacts remove penetration, m/s, at least 0
    // Recovery speed of rigid joints, m/s or rad/s, at least 0 (see Spring::max_recovery_speed). It is above what a
    // loaded limit at a mass ratio of 100 needs.
    float joint_recovery_speed = 50.0f;
    float restitution_threshold_mps = 1.0f;  // slower impacts do not bounce, m/s, at least 0
    // Bodies that touch or are jointed fall asleep together. They do so when every point of their surfaces has been
    // slower than sleep_speed_mps for sleep_time_s, by its mean velocity: a mean with a time constant of a fifth of
    // sleep_time_s, so that a rattle of some millimetres counts as rest. Sleeping bodies cost almost nothing until
    // another body touches one of them or a command changes one. A motor with a target other than 0 keeps its bodies
    // awake. A servo keeps them awake while they move at all.
    bool sleep = true;              // false: no body falls asleep
    float sleep_speed_mps = 0.05f;  // m/s, 0 to kMaxLinearSpeed_mps
    float sleep_time_s = 0.5f;      // s, 0 to kMaxSleepTime_s
    // A connected component of at least this many ball sockets and rods between dynamic bodies is a rig even if no
    // RigDef lists one of its bodies. 0: no such rigs. The three fields that follow are for these unlisted rigs.
    std::uint32_t rig_joints = 0;
    RigSolver rig_solver = RigSolver::automatic;
    float rig_compliance = kRigCompliance;  // 0 to kMaxRigCompliance
    // Iterations of rigs that are not solved exactly, in each of a substep's two solves and in each relax: 1 to
    // kMaxRigIterations. block_jacobi rounds odd numbers up to even ones. After an odd number an alternating error
    // between neighbours would be left, which grows from substep to substep.
    std::uint32_t rig_iterations = kRigIterations;
    // Rounds of coupling in a substep, 1 to kMaxCouplingIterations: a rig and the contacts and joints of its bodies are
    // solved in turn. Rigs that are not solved exactly take part in the last two rounds.
    std::uint32_t coupling_iterations = 3;
};

// A listed rig: each connected component of ball sockets and rods, through dynamic bodies, that contains one of
// `bodies`. If two entries list the same component, the first one counts. Rigid joints of rigs use
// SolverSettings::joint_recovery_speed and ignore Spring::max_recovery_speed.
struct RigDef {
    std::string name;                   // unique in its list, or empty
    std::vector<std::uint32_t> bodies;  // dynamic bodies, at least one; indices into WorldDef::bodies
    RigSolver solver = RigSolver::automatic;
    // 0 to kMaxRigCompliance. Of a rig that is solved exactly, at least 0.001 counts if it is joined to the world, to
    // fixed or to kinematic bodies at two points or more, and at least kRigCompliance if it has more than 1,024 joints.
    float compliance = kRigCompliance;
    std::uint32_t iterations = kRigIterations;  // for jacobi and block_jacobi; see SolverSettings::rig_iterations
};

// All that a world is made of. Lists refer to each other by index.
struct WorldDef {
    std::string name;                  // of the scene
    float tick_rate_hz = 60.0f;        // ticks in a second, 1 to 10,000 (scene files: to 1,000)
    std::uint32_t substeps = 4;        // substeps in a tick, 1 to kMaxSubsteps
    Vec3 gravity{0.0f, -10.0f, 0.0f};  // m/s^2, world, each component within 10,000
    std::uint64_t seed = 0;        // part of hash(); it changes no motion, because the world draws no random numbers
    SolverSettings solver;         // of all joints and contacts
    std::vector<ShapeDef> shapes;  // for bodies and compounds
    std::vector<MaterialDef> materials{MaterialDef{}};  // not empty if there are bodies
    std::vector<BodyDef> bodies;                        // at the start
    std::vector<JointDef> joints;                       // at the start
    std::vector<ActuatorDef> actuators;                 // of these joints and bodies
    std::vector<PrefabDef> prefabs;                     // what spawns and joins make
    std::vector<SlotDef> slots;                         // at most kMaxSlots
    std::vector<RigDef> rigs;                           // how rigs of these bodies are solved

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
    // A value outside of its range is an error whose place names the element, for example bodies[3].shape. Too many
    // elements are an error, too (the limits are in types.hpp).
    static Result<std::shared_ptr<const Definition>> create(WorldDef def);
    ~Definition();
    Definition(const Definition&) = delete;
    Definition& operator=(const Definition&) = delete;

    const WorldDef& def() const;  // as it was checked and normalised
    std::uint64_t hash() const;   // XXH3-64 of all fields but the names

  private:
    friend struct Core;  // the world behind World
    struct Impl;
    explicit Definition(std::unique_ptr<const Impl> impl);
    std::unique_ptr<const Impl> impl_;
};

class RigDevice;  // sim/rigs/device/device.h: solves rigs outside the CPU, for example on a GPU

// Settings of one world that may differ between machines without changing a bit.
struct WorldConfig {
    Target target = Target::automatic;  // automatic: best_target()
    // How many ticks back queries may look, at most kMaxHistoryTicks. Each tick takes kHistoryBytesPerBody for every
    // kinematic and dynamic body with a shape. Fixed bodies are stored once, until one is added, removed or moved.
    std::uint32_t history_ticks = 0;
    // Solves rigs where it can. It must outlive the world. Null: the CPU solves them.
    RigDevice* rig_device = nullptr;
};

}  // namespace orrery::sim
