// Orrery's deterministic rigid-body world: the one public header of liborrery_sim.
//
// The contract: the state after tick N is a pure function of (WorldDef, engine version, the ordered list of
// (tick, command)). SIMD target, thread count, compiler, CPU and a save/restore on the way change no bit.
//
// Units and frames: SI; right-handed axes, y up; quaternions x, y, z, w, unit, body to world; angles in radians;
// velocities of the centre of mass in world axes. A body's pose is that of its centre of mass.
//
// A world owns no thread, no clock and no file. It does not throw: creation and restore return a Result whose Error
// names place and mend; a step reports what happened through a status and events.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/constraints/list.h"
#include "sim/constraints/settings.h"
#include "sim/lanes/types.h"
#include "sim/result.h"

namespace orrery::sim {

// Raised with every change that may alter a bit of any state; golden hashes live under tests/golden/<version>.
inline constexpr std::uint32_t kEngineVersion = 31;

// ---------------------------------------------------------------- limits

inline constexpr std::uint32_t kMaxBodies = 4'000'000;          // 32-bit indices with room to spare; memory is the real bound
inline constexpr std::uint32_t kMaxJoints = 8'000'000;
inline constexpr std::uint32_t kMaxSlots = 256;                 // players of one world
inline constexpr std::uint32_t kControlChannels = 8;            // numbers in a player's control vector, each in [-1, 1]
inline constexpr std::uint32_t kMaxSubsteps = 64;
inline constexpr std::uint32_t kMaxCouplingIterations = 16;     // of rigs and what touches them, in a substep
inline constexpr float kMaxRigCompliance = 1.0f;
inline constexpr std::uint32_t kMaxRigIterations = 256;        // of a solve of a rig, where it is not exact
inline constexpr float kMaxSleepTime_s = 6.5f;                  // of slowness before sleep: 16 bits of ticks at 10,000 Hz
inline constexpr std::uint32_t kMaxCommandsPerTick = 65'536;
// Pairs of bodies with overlapping bounds in a tick, and manifolds, of which a pair with a mesh or a compound may have
// many. Crowded bodies have pairs by the square of their number, and a touching pair takes about 1 KB in the manifold,
// the contact kept for the next tick and the solver's bundles: 4 GB at the limit.
inline constexpr std::uint32_t kMaxPairs = 4'000'000;
// Shapes that are made of lists. A hull's points may be more than its vertices: those that matter most are kept.
inline constexpr std::uint32_t kMaxHullVertices = 128;
inline constexpr std::uint32_t kMaxHullPoints = 65'536;
inline constexpr std::uint32_t kMaxMeshVertices = 4'000'000;
inline constexpr std::uint32_t kMaxMeshTriangles = 4'000'000;      // about 100 bytes each in a world; of a height field, two a cell
inline constexpr std::uint32_t kMaxCompoundChildren = 65'536;
inline constexpr std::uint32_t kMaxHistoryTicks = 1024;         // kept for queries: 17 s at 60 Hz, more than any player lags
inline constexpr std::uint32_t kHistoryBytesPerBody = 80;       // a tick, of bodies that move; in blocks of sixteen
inline constexpr float kMaxQueryCoordinate_m = 65'536.0f;       // of where a query stands or begins: beyond it nothing is near
inline constexpr float kMaxCastLength_m = 131'072.0f;            // from there to every body: a longer cast ends here
// kMaxCoordinate_m, kMaxLinearSpeed_mps and kMaxAngularSpeed_radps: see settings.h

// ---------------------------------------------------------------- SIMD targets

// `scalar` is the reference build of the same functions over plain float.
enum class Target : std::uint8_t { automatic, scalar, ssse3, sse4, avx2, avx3, neon, wasm };

std::span<const Target> available_targets();                  // on this machine and in this build, narrowest first
Target best_target();
std::string_view target_name(Target target);                  // "scalar", "ssse3", "sse4", "avx2", "avx3", "neon", "wasm"
Result<Target> target_from_name(std::string_view name);       // also "auto"; an unavailable target is an error that lists the available

// ---------------------------------------------------------------- ids

// Names a body or a joint for as long as it lives; the generation tells a reused index apart. Part of the state: after a
// restore the next spawned body gets the id that it would have got.
struct BodyId {
    std::uint32_t index = 0xffff'ffffu;
    std::uint32_t generation = 0;
    friend auto operator<=>(const BodyId&, const BodyId&) = default;
    bool valid() const { return index != 0xffff'ffffu; }
};
struct JointId {
    std::uint32_t index = 0xffff'ffffu;
    std::uint32_t generation = 0;
    friend auto operator<=>(const JointId&, const JointId&) = default;
    bool valid() const { return index != 0xffff'ffffu; }
};

// ---------------------------------------------------------------- what a world is made of

inline constexpr std::uint32_t kNone = 0xffff'ffffu;

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
    Vec3 linear_velocity, angular_velocity;       // m/s, rad/s, world
    float mass_kg = 0.0f;                         // 0: from shape and density
    float linear_damping = 0.0f, angular_damping = 0.0f;  // 1/s
    float gravity_scale = 1.0f;
    std::uint8_t locks = 0;                       // AxisLock bits
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
    // Clamped to 0.22 of it, to 0.175 where slender bodies stand (constraints/contact.h); twice and half against a static body. Stiff, so
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

class RigDevice;                                  // sim/jacobi/device.h: solves rigs elsewhere than on the CPU, e.g. on a GPU

struct WorldConfig {                              // what may differ between machines without changing a bit
    Target target = Target::automatic;
    // Ticks before the present that queries may ask for, at most kMaxHistoryTicks. Each takes kHistoryBytesPerBody for every
    // kinematic and dynamic body with a shape; fixed bodies are kept once for as long as none of them comes, goes or moves.
    std::uint32_t history_ticks = 0;
    // Solves rigs, where it can; must outlive the world. Null: the CPU does.
    RigDevice* rig_device = nullptr;
};

// ---------------------------------------------------------------- commands: the only way to change a world from outside

enum class CommandKind : std::uint8_t {
    join, leave,                                  // slot
    // director commands, applied in order of `sequence` (ties: in the order given)
    spawn,          // prefab at pose, every body with the added velocities; answered by a `spawned` event a body, in the
                    // prefab's order, with `tag`
    despawn,        // body, with its joints
    impulse,        // body: linear (N s) at the world point pose.position if `at_point`, else at the centre; angular (N m s)
    teleport,       // body: pose, linear, angular velocity
    motor_target,   // joint that has a target (see ActuatorKind::motor): value, in the target's own unit
    grab,           // body: a OneBodyLinearServo from pose.position (local anchor) to `linear` (world target), force at most
                    // `value`; answered by `joint_created` with `tag`
    move_grab,      // joint: new world target `linear`
    remove_joint,   // joint
    control,        // slot: channels; the last one of a tick counts, and is held until the next
    create_joint,   // order: any constraint between living bodies, or of one and the world; answered by `joint_created` with `tag`
    set_joint,      // joint, order.constraint of the same type: its settings and targets are replaced, its impulses kept
};

// Whether a director may give it; the others are the room's own and the players'. New kinds stand last, so the values of
// a class need not be neighbours: this names every kind.
constexpr bool is_director_order(CommandKind kind) {
    switch (kind) {
        case CommandKind::spawn:
        case CommandKind::despawn:
        case CommandKind::impulse:
        case CommandKind::teleport:
        case CommandKind::motor_target:
        case CommandKind::grab:
        case CommandKind::move_grab:
        case CommandKind::remove_joint:
        case CommandKind::create_joint:
        case CommandKind::set_joint:
            return true;
        case CommandKind::join:
        case CommandKind::leave:
        case CommandKind::control:
            return false;
    }
    return false;
}

// What create_joint makes.
struct JointOrder {
    BodyId a, b, c, d;                            // an invalid a: the world; c and d as the constraint needs
    Constraint constraint;
    bool collide_connected = false;
    float break_force_n = kNoLimit, break_torque_nm = kNoLimit;  // as JointDef's
    bool break_removes = true;
};

// Arrival order has no effect: a step sorts into leaves, joins, director commands, controls.
struct Command {
    CommandKind kind = CommandKind::control;
    bool at_point = false;
    std::uint16_t slot = 0;
    std::uint32_t sequence = 0;
    std::uint64_t tag = 0;
    BodyId body;
    JointId joint;
    std::uint32_t prefab = kNone;
    float value = 0.0f;
    Pose pose;
    Vec3 linear, angular;
    std::array<float, kControlChannels> channels{};
    JointOrder order;
};

// ---------------------------------------------------------------- events, in the order (kind, a, child_a, b, child_b, joint, tag)

enum class EventKind : std::uint8_t {
    contact_begin, contact_end, contact_hit, joint_broken, joint_created, spawned, despawned, command_rejected, quarantined,
    sensor_begin, sensor_end,                     // a: the sensor, b: who entered or left it, or is gone
    joint_overloaded,                             // above a breaking threshold, and kept (break_removes)
    // a: a dynamic body came to a speed limit, above which the solver takes its speed away in every substep; once, until it is at neither
    // limit any more, which it leaves at kSpeedLimitLeft of it. Who is at both says too_fast.
    speed_limited,
};
inline constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::speed_limited) + 1;

enum class EventCause : std::uint8_t {
    none, stale_id, wrong_kind, out_of_range,
    too_many_bodies,                              // kMaxBodies
    slot_taken, slot_empty, not_finite,
    too_far,                                      // kMaxCoordinate_m
    too_many_joints,                              // kMaxJoints
    too_fast, turns_too_fast,                     // kMaxLinearSpeed_mps, kMaxAngularSpeed_radps; of `quarantined` above twice that, of turning where a joint holds
};

struct Event {
    EventKind kind = EventKind::contact_begin;
    EventCause cause = EventCause::none;
    CommandKind command = CommandKind::control;   // command_rejected: of which kind
    std::uint16_t slot = 0;
    BodyId a, b;
    // Of contacts, which begin, end and hit by pairs of parts: of a compound which of its children, of a mesh or height field the lowest
    // triangle of the plane that is touched (with the highest bit: an edge of that triangle), of children whose faces are one plane the
    // first pair; else 0.
    std::uint32_t child_a = 0, child_b = 0;
    JointId joint;
    std::uint64_t tag = 0;
    Vec3 point, normal;                           // contact_begin, contact_hit: world, normal from a to b
    // N s, normal impulse summed over the tick's substeps; joint_broken, joint_overloaded: the mean force in N
    float impulse = 0.0f;
};

// ---------------------------------------------------------------- hashes

enum class Subsystem : std::uint8_t { clock, identity, bodies, joints, contacts, control, events };
inline constexpr std::size_t kSubsystemCount = 7;
std::string_view subsystem_name(Subsystem subsystem);

// XXH3-64 of each subsystem's canonical little-endian form, and of the leaves in order.
struct HashTree {
    std::array<std::uint64_t, kSubsystemCount> leaves{};
    std::uint64_t root = 0;
    friend bool operator==(const HashTree&, const HashTree&) = default;
};

// ---------------------------------------------------------------- hosts: workers and stage times

// Runs tasks for a world. The default runs them on the calling thread. How tasks are spread changes no bit.
class Executor {
  public:
    using Task = void (*)(void* context, std::uint32_t index);
    virtual ~Executor() = default;
    virtual std::uint32_t worker_count() const = 0;
    // Calls task(context, i) once for every i in [0, count), on any worker, in any order, and returns after the last has returned. A step
    // makes some ten calls; with an observer, or with rigs in contact, some dozens. Tasks may run one after the other: one waits for others
    // that have begun, never for one that has not. So none that has begun may be held up until another ends.
    virtual void run(std::uint32_t count, Task task, void* context) = 0;
};

// `rigs` is all that is done of rigs: by themselves, and in the passes that they share with the coloured solver.
enum class Stage : std::uint8_t {
    commands, bounds, pairs, narrow_phase, rigs, colouring, prepare, integrate_velocities, warm_start, solve, relax,
    integrate_poses, restitution, store, events, sleep, hash,
};
inline constexpr std::size_t kStageCount = 17;
std::string_view stage_name(Stage stage);

// Told when a stage of a step begins and ends, on the thread that steps; a host that wants times reads its own clock. The world is not to
// be asked for anything meanwhile.
class StageObserver {
  public:
    virtual ~StageObserver() = default;
    virtual void begin(Stage stage) = 0;
    virtual void end(Stage stage) = 0;
};

// ---------------------------------------------------------------- the world

enum class StepStatus : std::uint8_t {
    ok,
    too_many_commands,   // more than kMaxCommandsPerTick: nothing was applied, the tick did not advance
    // More than kMaxPairs pairs of bodies whose bounds overlap and whose filters agree, jointed ones included, or more manifolds: a function of
    // the state and the commands alone. The tick did not advance and the world is halted: every later step returns this again
    // and does nothing, until a restore. The tick's commands were applied and are not undone, so that hash() and save() are
    // those of a tick half done.
    too_many_pairs,
};

// What a status other than `ok` means, with the tick that was not taken as its place, and the limit's name.
Error step_error(StepStatus status, std::uint64_t tick);

// What of a body may be another from tick to tick.
struct BodyMotion {
    BodyId id;
    BodyType type = BodyType::dynamic;
    Pose pose;                                    // of the centre of mass, world
    Vec3 linear_velocity, angular_velocity;       // m/s, rad/s, world
};

struct BodyState : BodyMotion {
    std::uint32_t shape = kNone;
    std::uint32_t material = 0;
    std::uint16_t slot = 0xffff;                  // the player whose prefab it belongs to, or 0xffff
    float inverse_mass = 0.0f;                    // 1/kg
    std::uint64_t user_data = 0;
    bool sensor = false;
    bool asleep = false;
};

struct JointState {
    JointId id;
    BodyId a, b;                                  // an invalid a: the world
    BodyId c, d;                                  // of constraints of three or four bodies
    Constraint constraint;                        // with targets as they are now
};

// Of a step's rigs on a device, by its own clock.
struct DeviceTimes {
    float send_ms = 0.0f;                         // with what the host takes to find what has changed
    float solve_ms = 0.0f, return_ms = 0.0f;
};

// Rigs that are not solved as the scene may expect.
struct RigFaults {
    std::uint32_t beyond_limits = 0;  // too large, the coloured solver has them
    std::string_view limit;           // that the first of those would pass, by its name in sim/jacobi/rigs.h: "kMaxGraphSides"
    std::uint32_t idle = 0;           // named ones, of whose living bodies no ball socket or rod holds any
    std::uint32_t first_idle = kNone; // of WorldDef::rigs
    std::uint32_t unheeded = 0;       // named ones whose settings differ from those of one before them that names bodies of the same rig
    std::uint32_t first_unheeded = kNone;
    std::uint32_t looped = 0;         // named RigSolver::direct, but with loops: the coloured solver has them
    std::uint32_t first_looped = kNone;
    bool operator==(const RigFaults&) const = default;
};

struct WorldStats {
    std::uint32_t bodies = 0, dynamic_bodies = 0, sleeping_bodies = 0, joints = 0;
    std::uint32_t candidate_pairs = 0, manifolds = 0, touching_pairs = 0, contact_points = 0;
    std::uint32_t solved_constraints = 0, colours = 0, bundles = 0, overflow_constraints = 0;
    std::uint32_t rigs = 0;                       // awake or not
    std::uint32_t device_rigs = 0;                // of them solved by WorldConfig::rig_device in the last step
    DeviceTimes device_times;                     // of those
    RigFaults rig_faults;
    float max_penetration_m = 0.0f;
};

// ---------------------------------------------------------------- queries: what is where
//
// An answer is a function of the query and of the state at the tick that it names: the same bits on every target and thread
// count, and on a restored world. Queries change nothing and may be asked by several threads at once, as long as no other
// thread steps, restores or destroys the world meanwhile. They are computed in double precision; what comes back is rounded to
// single.
//
// Bodies are solid: a query that begins inside one hits it there. Bodies without a shape are never found.

inline constexpr std::uint64_t kPresentTick = ~std::uint64_t(0);

enum class QueryStatus : std::uint8_t {
    miss, hit,
    // Nothing was looked up: a number is not finite, a position beyond kMaxQueryCoordinate_m, an orientation not unit, a
    // maximum distance negative, or a shape unbounded, out of its range or not there.
    invalid_query,
    tick_not_kept,       // not within [oldest_tick(), tick()]
};

enum class HitMode : std::uint8_t {
    closest,   // one hit: the least distance, of equal ones the lowest body index
    any,       // one hit, whichever the search meets first: the cheapest; a function of the state, too
    all,       // one hit a body, by (distance, body index)
};

enum QueryTypes : std::uint8_t {
    kQueryFixed = 1, kQueryKinematic = 2, kQueryDynamic = 4, kQueryAllTypes = 7,
    kQuerySensors = 8,   // bodies of the types given beside that are sensors, too
};

struct QueryFilter {
    // As between two bodies: found if its category meets this mask and this category its mask.
    std::uint32_t category = 0xffff'ffffu, mask = 0xffff'ffffu;
    std::uint8_t types = kQueryAllTypes;          // QueryTypes bits
    BodyId ignore;                                // never found
};

// What a query moves or places: a shape of the definition, or a sphere, box, capsule or cylinder of its own, in the ranges of ShapeDef.
// It has to be convex and bounded.
struct QueryShape {
    std::uint32_t index = kNone;                  // into WorldDef::shapes; kNone: the fields below
    ShapeType type = ShapeType::sphere;
    float radius = 0.5f, half_height = 0.5f;
    Vec3 half_extents{0.5f, 0.5f, 0.5f};
};

// From origin to origin + translation. Without length only bodies around the origin are hit.
struct RayCast {
    Vec3 origin, translation;                     // world, m
    QueryFilter filter;
    HitMode mode = HitMode::closest;
    std::uint64_t tick = kPresentTick;
};

// The shape goes from `pose` by `translation` without turning. It stops where it touches: never beyond that point by more than
// rounding, and before it by at most 0.1 um along the normal; it passes nothing, however thin and however far the way. A body
// that it touches at the start and moves away from is no hit.
struct ShapeCast {
    QueryShape shape;
    Pose pose;
    Vec3 translation;                             // world, m
    QueryFilter filter;
    HitMode mode = HitMode::closest;
    std::uint64_t tick = kPresentTick;
};

// Bodies that the shape at `pose` overlaps; what touches within 0.1 um does. All distances are 0: `closest` is the lowest
// index.
struct Overlap {
    QueryShape shape;
    Pose pose;
    QueryFilter filter;
    HitMode mode = HitMode::all;
    std::uint64_t tick = kPresentTick;
};

// Points of bodies' surfaces nearest to a point.
struct ClosestPoint {
    Vec3 point;                                   // world, m
    float max_distance = kNoLimit;                // m; farther bodies are not found
    QueryFilter filter;
    HitMode mode = HitMode::closest;
    std::uint64_t tick = kPresentTick;
};

struct QueryHit {
    BodyId body;
    std::uint32_t child = 0;                      // the part of a shape of many; else 0
    // The point was inside, or the cast began inside (strictly; a ray that begins on a surface and goes in hits it at 0).
    bool inside = false;
    bool despawned = false;                       // lived at the asked tick, and does so no more
    // Of a cast the way gone in m, and as a part of the translation; 0 if it began inside. Of a closest point the distance to
    // the surface, negative inside.
    float distance = 0.0f, fraction = 0.0f;
    // World. The point of the body's surface and the normal that points out of it. Of a cast that began inside: where it began,
    // and zero. Of an overlap zero.
    Vec3 point, normal;
};

struct QueryAnswer {
    QueryStatus status = QueryStatus::miss;
    std::size_t first = 0, count = 0;             // of QueryAnswers::hits
};
struct QueryAnswers {                             // of a batch: an answer a query, in order
    std::vector<QueryAnswer> answers;
    std::vector<QueryHit> hits;
    std::span<const QueryHit> of(std::size_t query) const {
        return std::span(hits).subspan(answers[query].first, answers[query].count);
    }
};

// A state of a world kept in memory, to go back to: what rollback netcode takes every tick. Its memory is used again when it is
// filled again. Any world of the same definition may go back to it, on any target.
class Checkpoint {
  public:
    Checkpoint();
    ~Checkpoint();
    Checkpoint(Checkpoint&&) noexcept;
    Checkpoint& operator=(Checkpoint&&) noexcept;

    bool taken() const;                           // false until World::checkpoint has filled it
    std::uint64_t tick() const;                   // that it was taken at

  private:
    friend class World;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

class World {
  public:
    // Many worlds may be made of one definition, each with a state of its own.
    static Result<std::unique_ptr<World>> create(std::shared_ptr<const Definition> definition, const WorldConfig& config = {});
    // Makes a definition for this world alone. Errors are those of Definition::create and of the other.
    static Result<std::unique_ptr<World>> create(const WorldDef& def, const WorldConfig& config = {});
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // Advances by one tick of 1 / tick_rate_hz. Commands apply at its start. Saves, sets and restores the floating-point
    // environment of every thread that it runs on.
    StepStatus step(std::span<const Command> commands = {}, Executor* executor = nullptr, StageObserver* observer = nullptr);

    std::uint64_t tick() const;                   // number of steps taken
    HashTree hash() const;                        // of the state as it is now; computed on demand
    std::span<const Event> events() const;        // of the last step, until the next

    // Everything that influences the future, in one canonical form: a world made from the same definition and restored
    // goes on with the same hashes and events, on any target and thread count. restore() of damaged bytes is an
    // error and leaves the world as it was.
    void save(std::vector<std::uint8_t>& out) const;
    Result<Ok> restore(std::span<const std::uint8_t> bytes);
    // The same within a process, many times faster: no bytes are written or checked. An error if `to` is empty or of another
    // definition; the world is then as it was.
    void checkpoint(Checkpoint& out) const;
    Result<Ok> roll_back(const Checkpoint& to);

    Target target() const;
    float dt_s() const;
    const WorldDef& definition() const;
    std::shared_ptr<const Definition> shared_definition() const;  // for another world of the same
    WorldStats stats() const;                     // looks at all bodies and joints
    RigFaults rig_faults() const;                 // WorldStats', at once

    bool alive(BodyId id) const;
    bool alive(JointId id) const;
    // The state of a living body; all fields default for another id.
    BodyState body(BodyId id) const;
    JointState joint(JointId id) const;
    void read_bodies(std::vector<BodyState>& out) const;   // every living body in index order
    // Living bodies from index `from` on, ascending, as many as `out` has room for; returns how many. Whoever goes on behind the last of them
    // until there are fewer than asked for has seen all, without a copy of them all.
    std::uint32_t read_motions(std::uint32_t from, std::span<BodyMotion> out) const;
    void read_joints(std::vector<JointState>& out) const;
    BodyId find_body(std::string_view name) const;         // of the definition; invalid if there is none
    JointId find_joint(std::string_view name) const;
    bool slot_taken(std::uint32_t slot) const;
    std::array<float, kControlChannels> controls(std::uint32_t slot) const;

    // Queries, one at a time: `hits` is cleared first, and empty unless the status is `hit`.
    QueryStatus cast_ray(const RayCast& query, std::vector<QueryHit>& hits) const;
    QueryStatus cast_shape(const ShapeCast& query, std::vector<QueryHit>& hits) const;
    QueryStatus overlap(const Overlap& query, std::vector<QueryHit>& hits) const;
    QueryStatus closest_point(const ClosestPoint& query, std::vector<QueryHit>& hits) const;
    // Many at once, each at a tick of its own if need be; spread over the executor's workers.
    void cast_rays(std::span<const RayCast> queries, QueryAnswers& out, Executor* executor = nullptr) const;
    void cast_shapes(std::span<const ShapeCast> queries, QueryAnswers& out, Executor* executor = nullptr) const;
    void overlaps(std::span<const Overlap> queries, QueryAnswers& out, Executor* executor = nullptr) const;
    void closest_points(std::span<const ClosestPoint> queries, QueryAnswers& out, Executor* executor = nullptr) const;
    // The first tick that a query may ask for: WorldConfig::history_ticks before the present, but none before the world was
    // made or restored.
    std::uint64_t oldest_tick() const;

  private:
    struct Impl;
    explicit World(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace orrery::sim
