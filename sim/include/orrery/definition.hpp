// What a world is made of: shapes, materials, bodies, joints, actuators, prefabs, slots, rigs, and the settings of the solver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orrery/constraints.hpp"
#include "orrery/types.hpp"
#include "sim/base/result.h"

namespace orrery::sim {

enum class ShapeType : std::uint8_t { sphere, box, capsule, plane, cylinder, hull, mesh, height_field, compound };
std::string_view shape_type_name(ShapeType type);

struct CompoundChild {
    std::uint32_t shape = kNone;                  // index of an earlier shape: a sphere, box, capsule, cylinder or hull
    Pose pose;                                    // of the child's own frame (a hull's: its centre of mass)
};

struct ShapeDef {
    std::string name;
    ShapeType type = ShapeType::sphere;
    float radius = 0.5f;                          // sphere, capsule, cylinder: m
    // capsule: half the length of the cylindrical part along local y; cylinder: half its length along local y, m
    float half_height = 0.5f;
    // box: m. Of hulls, meshes, height fields and compounds Definition::create fills it in: the box about the body's frame that holds them.
    Vec3 half_extents{0.5f, 0.5f, 0.5f};
    // plane: the half space below local y = 0; fixed bodies only

    // hull: points in any order, m; their convex hull is the shape, its centre of mass the body's position. mesh: vertices, m.
    std::vector<Vec3> points{};
    // mesh: three vertices a triangle, counter-clockwise seen from the side that collides; fixed and kinematic bodies only.
    // Triangles without an area are left out (see left_out.hpp). A mesh of such triangles alone is an error.
    std::vector<std::uint32_t> indices{};
    // height_field: heights (m) above local y = 0, row by row: sample (i, k) of heights[k * columns + i] stands at x = i spacing.x,
    // z = k spacing.z from the corner; the body's position is the field's centre. spacing.y scales the heights. Fixed and kinematic
    // bodies only; it collides from above.
    std::uint32_t columns = 0;
    std::vector<float> heights{};
    Vec3 spacing{1.0f, 1.0f, 1.0f};
    // compound: rigid together; where children overlap, mass counts twice. Its centre of mass is the body's position.
    std::vector<CompoundChild> children{};
};

// Where the body's position lies in the coordinates in which a hull's points or a compound's children are given: their centre of mass.
// Zero for other types. `earlier` are the shapes before it in the list.
Result<Vec3> shape_centre(const ShapeDef& def, std::span<const ShapeDef> earlier = {});

struct MaterialDef {
    std::string name;
    float friction = 0.6f;                        // >= 0; of two materials the geometric mean counts
    float restitution = 0.0f;                     // 0 to 1; of two materials the larger counts
    float density_kgpm3 = 1000.0f;
    // >= 0; of spheres, capsules and cylinders, children of compounds too: they are held against turning on what they touch by
    // up to this times their radius times what presses (N m), and so begin to roll on a slope whose tangent is this. Of two
    // materials the larger counts, of two radii too.
    float rolling_resistance = 0.0f;
    // m/s, in the body's frame: how the surface runs over the body, as that of a conveyor belt. Friction carries along what
    // touches it, by the part that lies in the contact's plane; of two materials the difference counts. What it carries stays
    // awake.
    Vec3 surface_velocity{};
    // How penetration is driven out where the body touches, in place of SolverSettings' contact_frequency_hz and so on; 0: those. Of
    // two materials with a frequency the lower counts, with its damping ratio; of two recovery speeds the lower.
    float contact_frequency_hz = 0.0f, contact_damping_ratio = 1.0f;
    float max_recovery_speed_mps = 0.0f;
};

enum class BodyType : std::uint8_t { fixed, kinematic, dynamic };  // `fixed`: static is a keyword

enum AxisLock : std::uint8_t {                    // world axes
    kLockLinearX = 1, kLockLinearY = 2, kLockLinearZ = 4,
    kLockAngularX = 8, kLockAngularY = 16, kLockAngularZ = 32,
};

// How far ahead a body looks for what it will meet within the tick. In every mode its straight flight is followed whole: a
// ball stops at what it flies at, at any speed, and of other shapes all but few do; the modes differ in turning. What two
// bodies look ahead adds up.
enum class CollisionMode : std::uint8_t {
    // Turning is followed as far as the speculative margin (SolverSettings). A thin body that turns fast can pass a thin one.
    discrete,
    // Turning is followed whole: contacts are made as far ahead as turning can take any point of the body within the tick. It costs
    // larger bounds, and so more pairs, and keeps awake what is within its reach; none where nothing turns. For dynamic and kinematic bodies. No guarantee: a contact takes the
    // turn for a straight motion along its normal at the tick's start, so that what turns by much in a tick can still pass, and so
    // can what another contact throws aside. Of rods of 1 m and 1 cm thickness that turn at a plate of 1 cm, in ticks of 1/60 s,
    // these shares sweep through: at 10 rad/s 1 % (discrete: 16 %), at 20 14 % (63 %), at 30 28 % (75 %), at 50 64 % (75 %). Of what
    // comes at 300 m/s at a wall of 1 cm and tumbles, by up to 30 rad/s an axis: at most 2 % of compact bodies, 4 to 8 % of rods
    // (discrete: 4 to 9 %).
    passive,
    // Passive; and a dynamic body passes no fixed one, however thin, whatever the shapes of both (a mesh or height field: from its
    // front). Where a tick would take it through, it is left where that begins, with its velocity. Other bodies it may pass as a
    // passive one may.
    continuous,
};
inline constexpr std::size_t kCollisionModeCount = 3;

struct BodyDef {
    std::string name;
    BodyType type = BodyType::dynamic;
    std::uint32_t shape = kNone;                  // index into WorldDef::shapes; kNone: no collision (mass_kg is then required)
    std::uint32_t material = 0;                   // index into WorldDef::materials
    Pose pose;
    Vec3 linear_velocity, angular_velocity;       // m/s, rad/s, world; 0 is used for a fixed body
    float mass_kg = 0.0f;                         // 0: from shape and density
    float linear_damping = 0.0f, angular_damping = 0.0f;  // 1/s
    float gravity_scale = 1.0f;
    // AxisLock bits. A lock takes any force or torque along its axis, as a bearing does. The inertia about the free axes is whole.
    std::uint8_t locks = 0;
    bool can_sleep = true;                        // false: it keeps itself, and what it touches, awake
    std::uint32_t category = 1, mask = 0xffff'ffffu;  // two bodies collide if each's category meets the other's mask
    std::uint64_t user_data = 0;                  // carried, saved, hashed, never read
    // Touches nothing, and tells by sensor_begin and sensor_end which dynamic and kinematic bodies overlap it at the end of a
    // tick; not fixed ones, not other sensors, and none that a joint keeps from colliding with it. Else a body like any other:
    // it moves, falls and has mass, as its type is. Category and mask count as between colliding bodies.
    bool sensor = false;
    CollisionMode collision_mode = CollisionMode::discrete;  // of fixed bodies without effect
};

struct JointDef {
    std::string name;
    std::uint32_t body_a = kNone;                 // index into the same list of bodies; kNone: the world
    std::uint32_t body_b = kNone;
    std::uint32_t body_c = kNone, body_d = kNone;  // of constraints of three or four bodies
    Constraint constraint;                        // any of sim/constraints/list.h
    bool collide_connected = false;
    float break_force_n = kNoLimit, break_torque_nm = kNoLimit;  // mean over a tick; above it the joint is removed, with an event
    bool break_removes = true;                    // false: it stays, with an event in each tick in which it is above
};

// What a player's control vector u does: value = clamp(offset + sum weights[i] * u[i], min, max), applied every tick.
enum class ActuatorKind : std::uint8_t {
    motor,       // the target of a joint that has one (kTarget in its description): a motor's speed, a servo's place
    force,       // N on a body at its centre along `direction`
    torque,      // N m on a body about `direction`
    kinematic,   // a kinematic body's offset (m) along `direction` from the pose it was made with, reached at most at max_speed
    steer,       // the steering angle of a Wheel joint, rad
    brake,       // the brake of a Wheel joint, N m; below 0 none
    // A character: a dynamic capsule that cannot turn (all its rotations are locked), best without friction. `walk` is a speed
    // (m/s) along `direction`, level, over whatever it stands on; those of a body add up, cut to max_speed, and are reached by
    // max_force at most (give it 25 N a kg), a tenth of it in the air. It stands on what is not steeper than max_slope_rad, is held
    // there, goes with it (a moving platform, a belt), and pushes back on it; it is led down steps and slopes, and goes up steps of
    // fixed and kinematic bodies, of up to step_height. The settings are those of the body's first walk actuator. What throws it up
    // by more than 1 m/s beyond what walking does, or pushes it up by more than its weight, lifts it off.
    // `jump` above 0 (m/s) sends a body that has walk actuators, too, and stands, off upwards at that speed over the ground's; the
    // most of several counts, and its next jump is from the ground again.
    walk, jump,
};
constexpr bool acts_on_joint(ActuatorKind kind) {
    return kind == ActuatorKind::motor || kind == ActuatorKind::steer || kind == ActuatorKind::brake;
}
// Whether a joint has what an actuator of this kind sets.
inline bool has_target(const Constraint& constraint, ActuatorKind kind) {
    return std::visit(
        [kind]<class T>(const T&) {
            return (kind == ActuatorKind::motor && requires { T::kTarget; }) || (kind == ActuatorKind::steer && requires { T::kSteer; }) ||
                   (kind == ActuatorKind::brake && requires { T::kBrake; });
        },
        constraint);
}

inline constexpr float kMaxStepHeight_m = 10.0f;
struct ActuatorDef {
    std::string name;
    ActuatorKind kind = ActuatorKind::motor;
    std::uint32_t joint = kNone, body = kNone;    // whichever the kind needs; indices into the same lists
    std::uint32_t slot = 0;                       // whose control vector; inside a prefab ignored: the slot that spawned it
    std::array<float, kControlChannels> weights{};
    float offset = 0.0f, min = -kNoLimit, max = kNoLimit;
    Vec3 direction{0.0f, 0.0f, 1.0f};             // unit
    bool direction_local = true;                  // in the body's frame, else in the world's
    float max_speed = kNoLimit;                   // kinematic, walk: m/s
    float max_force = 2000.0f;                    // walk: N
    float step_height = 0.3f;                     // walk: m, at most kMaxStepHeight_m; 0: none
    float max_slope_rad = 0.785398f;              // walk: from 0 to 1.4; 45 degrees by default
};

// A group that can be spawned at a pose: indices inside are local to the prefab, poses relative to the spawn pose.
struct PrefabDef {
    std::string name;
    std::vector<BodyDef> bodies;
    std::vector<JointDef> joints;
    std::vector<ActuatorDef> actuators;
};

// A player's seat. If it names a prefab, joining spawns it at `pose` and leaving removes it.
struct SlotDef {
    std::string name;
    std::uint32_t prefab = kNone;
    Pose pose;
};

// How the ball sockets and rods of a rig are solved. A rod is what holds a distance above 0: a CenterDistance, a DistanceServo whose
// Servo limits nothing, a DistanceLimit or CenterDistanceLimit whose ends meet. Rods that join what at least as many sockets make chains
// and trees of stay with the coloured solver, unless iterations are named; all others are solved by iterations. Two sockets of the same two
// bodies, with equal springs and at points apart, are one edge of a tree and no loop. Where rods are so taut that
// steps could not follow how they swing, their bodies count as up to four times as heavy. A rig that the named solver cannot take is
// the coloured solver's.
enum class RigSolver : std::uint8_t {
    automatic,     // by its class: chains and trees exactly, others by jacobi
    coloured,      // as if it were none
    direct,        // exactly: chains and trees
    jacobi,        // any: iterations over all joints at once, with split masses and Chebyshev's acceleration
    block_jacobi,  // any: the same without either, for comparison: it converges on chains alone
};
inline constexpr std::size_t kRigSolverCount = 5;
std::string_view rig_solver_name(RigSolver solver);  // "auto", "coloured", "direct", "jacobi", "block_jacobi"
inline constexpr std::uint32_t kRigIterations = 8;
// Softness of a rig's joints, as a share of what each moves by itself. Hardly any, but so much that no block is singular.
inline constexpr float kRigCompliance = 1.0e-6f;

struct SolverSettings {                           // one set of defaults for all scenes
    float joint_frequency_hz = 60.0f, joint_damping_ratio = 2.0f;      // clamped to 0.25 of the substep rate
    // Clamped to 0.22 of it, to 0.175 where slender bodies stand (constraints/contact-inl.h); twice and half against a static body. Stiff, so
    // that tall walls do not buckle under their weight; not overdamped, for then impulses pass up a stack so slowly that it never rests.
    float contact_frequency_hz = 60.0f, contact_damping_ratio = 1.0f;
    // Penetration that contacts leave alone. None by default: the soft contact rests at a small depth by itself, and in a stack
    // every contact would sink by the slop.
    float slop_m = 0.0f;
    float speculative_margin_m = 0.02f;
    float max_recovery_speed_mps = 3.0f;          // of contacts
    // Of rigid joints, m/s or rad/s (see Spring::max_recovery_speed): above what a loaded limit at a mass ratio of 100 comes to.
    float joint_recovery_speed = 50.0f;
    float restitution_threshold_mps = 1.0f;
    // Bodies that touch or are jointed fall asleep together when all of them have been slower than sleep_speed_mps, at every
    // point of their surface, for sleep_time_s. They cost next to nothing until something touches or commands one of them. A motor
    // with a target other than 0 keeps its bodies awake, a servo while they move at all.
    bool sleep = true;
    float sleep_speed_mps = 0.05f;
    float sleep_time_s = 0.5f;                    // at most kMaxSleepTime_s
    // Ball sockets and rods that connect dynamic bodies into a component of at least so many are a rig without being named; 0: none is.
    std::uint32_t rig_joints = 0;
    RigSolver rig_solver = RigSolver::automatic;  // of those
    float rig_compliance = kRigCompliance;        // of those
    // Of those, where they are not solved exactly, in each of a substep's two solves and in each relax: 1 to kMaxRigIterations. block_jacobi
    // takes one more where they are odd: what neighbours do to each other in turn would be left, and grow from substep to substep.
    std::uint32_t rig_iterations = kRigIterations;
    // Of rigs and of what meets them, a substep: 1 to kMaxCouplingIterations. Rigs that are not solved exactly take part in the last two.
    std::uint32_t coupling_iterations = 3;
};

// A rig by name: the connected component, through dynamic bodies, of ball sockets and rods that hold any of `bodies`. Where two rigs are
// one, the first counts. Rigid joints of rigs keep to SolverSettings::joint_recovery_speed; Spring::max_recovery_speed is not looked
// at in them.
struct RigDef {
    std::string name;
    std::vector<std::uint32_t> bodies;            // dynamic; indices into WorldDef::bodies
    RigSolver solver = RigSolver::automatic;
    float compliance = kRigCompliance;
    std::uint32_t iterations = kRigIterations;    // of jacobi and block_jacobi: as SolverSettings::rig_iterations
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
};

// A WorldDef checked and made ready, once for all worlds of a scene: directions and quaternions normalised, the shapes of hulls, meshes
// and compounds built, the whole hashed. It never changes: worlds on any number of threads may share it without a lock. It lives as
// long as the last of them, or whoever else holds it.
class Definition {
  public:
    // A malformed definition is an error whose place names the element, e.g. bodies[3].shape.
    static Result<std::shared_ptr<const Definition>> create(WorldDef def);
    ~Definition();
    Definition(const Definition&) = delete;
    Definition& operator=(const Definition&) = delete;

    const WorldDef& def() const;
    std::uint64_t hash() const;                   // of all that influences a state: names do not

  private:
    friend struct Core;                           // the world behind World
    struct Impl;
    explicit Definition(std::unique_ptr<const Impl> impl);
    std::unique_ptr<const Impl> impl_;
};

class RigDevice;                                  // sim/rigs/device/device.h: solves rigs elsewhere than on the CPU, e.g. on a GPU

struct WorldConfig {                              // what may differ between machines without changing a bit
    Target target = Target::automatic;
    // Ticks before the present that queries may ask for, at most kMaxHistoryTicks. Each takes kHistoryBytesPerBody for every
    // kinematic and dynamic body with a shape; fixed bodies are kept once for as long as none of them comes, goes or moves.
    std::uint32_t history_ticks = 0;
    // Solves rigs, where it can; must outlive the world. Null: the CPU does.
    RigDevice* rig_device = nullptr;
};

}  // namespace orrery::sim
