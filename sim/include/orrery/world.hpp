// The world: stepping, hashing, saving, and reading its content.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/commands.hpp"
#include "orrery/definition.hpp"
#include "orrery/events.hpp"
#include "orrery/queries.hpp"
#include "orrery/types.hpp"
#include "sim/base/executor.h"
#include "sim/base/result.h"
#include "sim/base/stage.h"

namespace orrery::sim {

// ---------------------------------------------------------------- hashes

// The parts of a state that are hashed one by one.
enum class Subsystem : std::uint8_t { clock, identity, bodies, joints, contacts, control, events };
inline constexpr std::size_t kSubsystemCount = 7;      // of Subsystem
std::string_view subsystem_name(Subsystem subsystem);  // "clock", "identity", ...

// XXH3-64 hashes: a leaf for the canonical little-endian form of each subsystem, and a root of the leaves in order.
struct HashTree {
    std::array<std::uint64_t, kSubsystemCount> leaves{};  // by Subsystem
    std::uint64_t root = 0;                               // of the whole state
    friend bool operator==(const HashTree&, const HashTree&) = default;
};

// ---------------------------------------------------------------- the world

class StateFieldVisitor;

// How a step ended.
enum class StepStatus : std::uint8_t {
    ok,                 // the tick was taken
    too_many_commands,  // more than kMaxCommandsPerTick: no command was applied and the tick did not advance
    // More than kMaxPairs pairs of bodies whose bounds overlap and whose filters agree (jointed pairs included), or
    // more than kMaxPairs manifolds. This depends on the state and the commands alone. The tick did not advance and the
    // world is halted: every later step returns this status and does nothing, until a restore. The tick's commands were
    // applied and are not undone, so that hash() and save() describe a half-done tick.
    too_many_pairs,
};

// The meaning of a status other than `ok`. The place is the tick that was not taken; the text names the limit.
Error step_error(StepStatus status, std::uint64_t tick);

// The part of a body's state that may change from tick to tick.
struct BodyMotion {
    BodyId id;
    BodyType type = BodyType::dynamic;
    Pose pose;                               // of the centre of mass, world
    Vec3 linear_velocity, angular_velocity;  // m/s, rad/s, world
};

// What can be read of a body.
struct BodyState : BodyMotion {
    std::uint32_t shape = kNone;  // index into WorldDef::shapes
    std::uint32_t material = 0;   // index into WorldDef::materials
    std::uint16_t slot = 0xffff;  // for which the body was spawned, or 0xffff
    float inverse_mass = 0.0f;    // 1/kg; 0: the body is not dynamic
    std::uint64_t user_data = 0;  // of its BodyDef
    bool sensor = false;          // of its BodyDef
    bool asleep = false;          // see SolverSettings::sleep
    // Of a body that a spawn, join, occupy or respawn made: the index of the prefab in WorldDef::prefabs, the index of
    // the body in PrefabDef::bodies, and the group: the id of the first body that was made together with it, which may
    // be gone. Of a body of the scene: kNone, kNone and an invalid id.
    std::uint32_t prefab = kNone, member = kNone;
    BodyId group;
    // As in BodyDef, or as the last command set them.
    std::uint32_t category = 1, mask = 0xffff'ffffu;
    float gravity_scale = 1.0f, linear_damping = 0.0f, angular_damping = 0.0f;
};

// A contact of a body: a pair of parts that touch, or are within the speculative margin.
struct BodyContact {
    BodyId other;                              // the other body
    std::uint32_t child = 0, other_child = 0;  // the parts that touch, as in events
    // At the start of the last tick, in the world: the deepest point, the normal, which points to the other body, and
    // the separation at that point (m; negative: the bodies overlap). All are zero for contacts of sleeping bodies, and
    // from a restore until the next step.
    Vec3 point, normal;
    float separation = 0.0f;
    float impulse = 0.0f;   // N s, along the normal, summed over the last tick in which the bodies were awake
    bool touching = false;  // between contact_begin and contact_end
};

// What a joint does, and where it is.
struct JointReading {
    // The force (N) and the torque (N m) that the joint exerts on its bodies, as means of the last tick in which it was
    // solved; 0 from a restore until the next step. Of a ball socket or rod of a rig: the force alone, of the last
    // substep.
    float force_n = 0.0f, torque_nm = 0.0f;
    // Hinge, AngularHinge, TwistServo, TwistLimit, TwistMotor, AngularAxisMotor, Wheel: how fast B turns about the axis
    // relative to A. Those of them that have normals: the angle, in (-pi, pi]. Wheel: the speed about the axle, and the
    // angle by which it is steered.
    std::optional<float> angle_rad, turn_speed_radps;
    // DistanceServo, DistanceLimit, CenterDistance, CenterDistanceLimit: the distance. Slider, PointOnLineServo,
    // LinearAxisServo, LinearAxisLimit, LinearAxisMotor, Wheel: the offset of B's anchor from A's along the axis. And
    // how fast it grows.
    std::optional<float> length_m, speed_mps;
};

// What can be read of a joint.
struct JointState {
    JointId id;
    BodyId a, b;            // an invalid `a` is the world
    BodyId c, d;            // for constraints of three or four bodies
    Constraint constraint;  // with its present targets
};

// Times of a step's rigs on a device, by the device's own clock, in milliseconds: to send them, to solve them, and to
// return the results.
struct DeviceTimes {
    float send_ms = 0.0f;                     // includes the time in which the host finds the changes
    float solve_ms = 0.0f, return_ms = 0.0f;  // ms
};

// Rigs that are not solved as the scene asks.
struct RigFaults {
    // Rigs that are too large. The coloured solver solves them.
    std::uint32_t beyond_limits = 0;
    // The limit that the first of those exceeds, by its name in sim/rigs/rigs.h, for example "kMaxGraphSides".
    std::string_view limit;
    // Entries of WorldDef::rigs without a ball socket or rod on any of their living bodies.
    std::uint32_t idle = 0;
    std::uint32_t first_idle = kNone;  // index into WorldDef::rigs
    // Entries of WorldDef::rigs whose settings differ from those of an earlier entry for the same component.
    std::uint32_t unheeded = 0;
    std::uint32_t first_unheeded = kNone;  // index into WorldDef::rigs
    // Rigs with loops for which RigSolver::direct is set. The coloured solver solves them.
    std::uint32_t looped = 0;
    std::uint32_t first_looped = kNone;  // index into WorldDef::rigs
    bool operator==(const RigFaults&) const = default;
};

// Counts: bodies and joints of the present state, all others of the last step. sim/README.md has a glossary.
struct WorldStats {
    // Without the world as a body. `bodies` includes `dynamic_bodies` and `sleeping_bodies`.
    std::uint32_t bodies = 0, dynamic_bodies = 0, sleeping_bodies = 0, joints = 0;
    // `candidate_pairs` counts the pairs of bodies whose tight bounds overlap, `touching_pairs` the manifolds that
    // touch, `contact_points` the points of all manifolds.
    std::uint32_t candidate_pairs = 0, manifolds = 0, touching_pairs = 0, contact_points = 0;
    // `overflow_constraints` are those for which no colour was left. They are solved serially.
    std::uint32_t solved_constraints = 0, colours = 0, bundles = 0, overflow_constraints = 0;
    std::uint32_t rigs = 0;  // awake and asleep
    // Of these, the rigs that WorldConfig::rig_device solved in the last step, and their times.
    std::uint32_t device_rigs = 0;
    DeviceTimes device_times;
    RigFaults rig_faults;            // as World::rig_faults()
    float max_penetration_m = 0.0f;  // depth of the deepest contact point, m
};

// A state of a world, kept in memory. Rollback netcode takes one in every tick. Filling it again reuses its memory. Any
// world of the same definition may return to it, on any target. A Checkpoint that was moved from is empty.
class Checkpoint {
  public:
    Checkpoint();
    ~Checkpoint();
    Checkpoint(Checkpoint&&) noexcept;
    Checkpoint& operator=(Checkpoint&&) noexcept;

    bool taken() const;          // false until World::checkpoint fills it
    std::uint64_t tick() const;  // the tick at which it was taken

  private:
    friend class World;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// A world of rigid bodies. It changes only in step(), restore() and roll_back().
class World {
  public:
    // Makes a world, at tick 0. One definition may serve many worlds, each with its own state. Errors: `definition` is
    // null, config.target is not available on this machine, or config.history_ticks is above kMaxHistoryTicks.
    static Result<std::unique_ptr<World>> create(std::shared_ptr<const Definition> definition,
                                                 const WorldConfig& config = {});
    // Makes a definition for this world alone. Errors are those of Definition::create and of the function above.
    static Result<std::unique_ptr<World>> create(const WorldDef& def, const WorldConfig& config = {});
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // Advances by one tick of 1 / tick_rate_hz seconds. Commands are applied at its start; one that cannot be carried
    // out changes nothing and has the event command_rejected. A null executor: all work runs on the calling thread. The
    // floating-point environment of every thread that the step uses is saved, set and restored. One thread at a time
    // may call functions of a world that are not const, and no other thread may use the world meanwhile.
    StepStatus step(std::span<const Command> commands = {}, Executor* executor = nullptr,
                    StageObserver* observer = nullptr);

    std::uint64_t tick() const;             // number of ticks since the start
    HashTree hash() const;                  // of the present state; computed on demand
    std::span<const Event> events() const;  // of the last step; valid until the next

    // save() replaces `out` by everything that influences the future, in one canonical form. A world of the same
    // definition that restores it goes on with the same hashes and events, on any target and thread count. restore() is
    // an error if the bytes are damaged, of another definition or of another engine version, and leaves the world as it
    // was.
    void save(std::vector<std::uint8_t>& out) const;
    Result<Ok> restore(std::span<const std::uint8_t> bytes);
    // The bytes of save() behind its header as fields with names, in their order (state_fields.hpp).
    void visit_fields(StateFieldVisitor& visitor) const;
    // The same as save() and restore() within a process, many times faster, because no bytes are written or checked.
    // roll_back() is an error if `to` is empty or of another definition, and leaves the world as it was.
    void checkpoint(Checkpoint& out) const;
    Result<Ok> roll_back(const Checkpoint& to);

    Target target() const;                                        // the one in use, never `automatic`
    float dt_s() const;                                           // duration of a tick, s
    const WorldDef& definition() const;                           // Definition::def() of the shared definition
    std::shared_ptr<const Definition> shared_definition() const;  // for another world of the same definition
    WorldStats stats() const;                                     // reads all bodies and joints
    RigFaults rig_faults() const;                                 // those of WorldStats, without reading all bodies

    // Whether the body or joint of this id exists.
    bool alive(BodyId id) const;
    bool alive(JointId id) const;
    // The state of a living body. For another id, all fields have their defaults.
    BodyState body(BodyId id) const;
    JointState joint(JointId id) const;  // the same of a joint
    // Of a joint that does not live: nothing but zeros.
    JointReading joint_reading(JointId id) const;
    // The contacts of a living body, in order of the other body and the parts. Goes over all contacts of the world.
    void contacts_of(BodyId id, std::vector<BodyContact>& out) const;
    void read_bodies(std::vector<BodyState>& out) const;  // every living body in order of index
    // Reads living bodies in order of index, from index `from` on, as many as `out` has room for. Returns their number.
    // To read all bodies in parts, call it again with the index behind the last one, until it returns fewer than `out`
    // has room for.
    std::uint32_t read_motions(std::uint32_t from, std::span<BodyMotion> out) const;
    // Indices of the bodies that may have come, gone, moved or become of another type in the last step(), ascending: of
    // a world at rest few. No other body did. False: any may have, since the world is new or was restored.
    bool read_changed(std::vector<std::uint32_t>& out) const;
    bool read_motion(std::uint32_t index, BodyMotion& out) const;  // false: no body with this index lives
    void read_joints(std::vector<JointState>& out) const;          // every living joint in order of index
    // The id of the body or joint that has this name in WorldDef::bodies or WorldDef::joints; invalid if there is none.
    // The id stays the same after that body or joint was removed: ask alive(). Those of prefabs are not found.
    BodyId find_body(std::string_view name) const;
    JointId find_joint(std::string_view name) const;
    // False for a slot that does not exist.
    bool slot_taken(std::uint32_t slot) const;   // by a player or by the director
    bool slot_driven(std::uint32_t slot) const;  // by the director (CommandKind::occupy)
    // The control vector of a slot, each number in [-1, 1]; zeros if nobody has the slot.
    std::array<float, kControlChannels> controls(std::uint32_t slot) const;

    // Single queries (queries.hpp). `hits` is cleared first, and stays empty unless the status is `hit`.
    QueryStatus cast_ray(const RayCast& query, std::vector<QueryHit>& hits) const;
    QueryStatus cast_shape(const ShapeCast& query, std::vector<QueryHit>& hits) const;
    QueryStatus overlap(const Overlap& query, std::vector<QueryHit>& hits) const;
    QueryStatus closest_point(const ClosestPoint& query, std::vector<QueryHit>& hits) const;
    // Batches of queries, spread over the executor's workers; a null executor: on the calling thread. `out` is
    // replaced. Each query may name its own tick.
    void cast_rays(std::span<const RayCast> queries, QueryAnswers& out, Executor* executor = nullptr) const;
    void cast_shapes(std::span<const ShapeCast> queries, QueryAnswers& out, Executor* executor = nullptr) const;
    void overlaps(std::span<const Overlap> queries, QueryAnswers& out, Executor* executor = nullptr) const;
    void closest_points(std::span<const ClosestPoint> queries, QueryAnswers& out, Executor* executor = nullptr) const;
    // The first tick that a query may ask for: WorldConfig::history_ticks before the present, but not before the world
    // was made or restored.
    std::uint64_t oldest_tick() const;

  private:
    struct Impl;
    explicit World(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace orrery::sim
