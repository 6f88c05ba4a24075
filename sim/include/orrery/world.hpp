// The world: stepping, hashing, saving, and reading what is in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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


enum class Subsystem : std::uint8_t { clock, identity, bodies, joints, contacts, control, events };
inline constexpr std::size_t kSubsystemCount = 7;
std::string_view subsystem_name(Subsystem subsystem);

// XXH3-64 of each subsystem's canonical little-endian form, and of the leaves in order.
struct HashTree {
    std::array<std::uint64_t, kSubsystemCount> leaves{};
    std::uint64_t root = 0;
    friend bool operator==(const HashTree&, const HashTree&) = default;
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
    std::string_view limit;           // that the first of those would pass, by its name in sim/rigs/rigs.h: "kMaxGraphSides"
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
