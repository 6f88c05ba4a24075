// The world behind the public class, and the rooms of its step: each file beside this one implements one part.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sim/base/tick_arena.h"
#include "sim/bodies/movers.h"
#include "sim/collision/collision.h"
#include "sim/collision/queries/query_tree.h"
#include "sim/rigs/rig_worker.h"
#include "sim/shapes/shape.h"
#include "sim/solver/solver.h"
#include "sim/world/block_digest.h"
#include "sim/world/state.h"
#include "sim/world/walk.h"

namespace orrery::sim {

// What keep_contacts asks of the contact that a manifold continues, when it writes over State::contacts.
struct ContactBefore {
    static constexpr std::uint32_t kNoIndex = 0x3fff'ffffu;
    std::uint32_t index : 30 = kNoIndex;  // among the contacts of the last tick; kNoIndex: it continues none
    bool touching : 1 = false;
    bool holds : 1 = false;             // the manifold: its arms are held (constraints/contact-inl.h)
    float total_normal_impulse = 0.0f;  // N s, of the last tick
};
static_assert(sizeof(ContactBefore) == 8 &&
              kMaxPairs < ContactBefore::kNoIndex);  // contacts may be more, by the sleepers that woke, but not so many
// A contact that bears one body on another, whose arms may be held; kNone: they may not.
struct Bearing {
    std::uint32_t below = kNone, above = kNone;
};
struct ContactEnd {
    std::uint32_t index = 0, a = 0, b = 0, child_a = 0, child_b = 0;
};

// Where a command wants a kinematic body to be when this tick ends.
struct KinematicTarget {
    std::uint32_t body = kNone;
    Pose pose;
};
// What an actuator wants of a kinematic body in this tick.
struct KinematicDrive {
    std::uint32_t body = kNone;
    Vec3 target;  // before the tick's speed limit; after it where the body will be
    float max_speed = kNoLimit;
};

// Which kinds of bodies there are in a definition and its prefabs.
struct DefinedKinds {
    std::uint32_t of(BodyOrigin origin) const {
        return origin.prefab == kNone ? bodies[origin.index] : prefabs[origin.prefab][origin.index];
    }

    std::vector<BodyOrigin> first;                    // of each kind, the first body; of kind 0 none
    std::vector<std::uint32_t> bodies;                // by index in WorldDef::bodies
    std::vector<std::vector<std::uint32_t>> prefabs;  // by prefab and index in its bodies
};

// All that depends on the definition alone.
struct Definition::Impl {
    WorldDef def;  // checked, directions and quaternions normalised
    std::vector<Shape> shapes;
    DefinedKinds kinds;
    std::uint64_t hash = 0;  // of all of def but names
    float dt_s = 0.0f;
    std::uint32_t sleep_ticks = 0;  // SolverSettings::sleep_time_s
    bool any_surfaces = false;      // some material asks for more than friction and restitution
};

// What of a state's hash is known from before, and of which changes. Several threads may ask for the hash at once.
struct KeptDigests {
    struct Leaf {
        std::uint64_t changes = 0;  // 0: none is kept
        std::uint64_t digest = 0;
    };
    std::mutex mutex;
    Leaf identity, bodies, joints;
    BlockDigest motion;  // of bodies, by their index
};

struct Core {
    Core(std::shared_ptr<const Definition> made, Target wanted);
    static const std::vector<Shape>& shapes_of(const Definition& definition) { return definition.impl_->shapes; }

    // What never changes. The definition may be other worlds' as well; what follows up to the target is in it.
    const std::shared_ptr<const Definition> definition;
    const WorldDef& def;
    const std::vector<Shape>& shapes;
    const DefinedKinds& kinds;
    const std::uint64_t definition_hash;
    const float dt_s;
    const std::uint32_t sleep_ticks;
    const bool any_surfaces;
    const Target target;

    State state;

    // Derived from the state.
    Movers movers;
    std::vector<std::uint32_t> free_bodies, free_joints;  // descending: the lowest free index is taken first
    std::vector<Pair> excluded;                           // jointed pairs, sorted
    std::vector<std::uint8_t> jointed;     // by body, those that had come when joints last changed: a joint holds it
    std::vector<std::uint32_t> breakable;  // joints that have a limit
    std::vector<std::uint32_t> sensors, continuous;  // bodies that are, ascending
    bool joints_changed = true;                      // since these two were listed
    bool any_at_speed_limit = true;                  // false: no body has the flag
    // Another one after every joint that comes or goes. What else a joint's bundle holds is told by joint_news, flags
    // and poses; a body's mass changes with these only.
    std::uint64_t joint_epoch = 1;
    std::vector<std::uint8_t> joint_news;  // by joint: changed since the solver read it; those of an epoch all are
    bool rigs_changed = true;              // since the rigs were found
    bool rig_targets_changed = false;      // joints' targets, since the rigs read them
    std::uint64_t sleeping_digest = 0;     // XXH3-64 of state.sleeping_contacts
    bool sleeping_changed = true;          // since then
    // Grow with every change of: flags that the movers are not told of and digests of joints; poses, velocities and
    // impulses of joints. What takes part in a tick and does move is a change.
    std::uint64_t identity_changes = 1, motion_changes = 1;
    mutable KeptDigests digests;
    bool halted = false;  // a tick had too many pairs: nothing goes on until a restore
    WorldStats stats;

    // Caches and scratch memory of a tick.
    Collision collision;
    Solver solver;
    RigWorker rigs;
    // Holds the state's contacts, from keep_contacts to match_contacts; pairs, what finds them and manifolds, and who
    // bears whom; the solver's bundles.
    TickArena arena;
    std::span<const Pair> pairs;           // until the solver begins
    ManifoldStore found;                   // by the narrow phase
    Manifolds manifolds;                   // those of the tick
    std::vector<ContactSurface> surfaces;  // by manifold; empty without any_surfaces
    std::vector<ContactBefore> before;     // by manifold: of the contact that it continues
    std::vector<ContactEnd> ended;         // contacts that touched and that no manifold continues, in their order
    std::vector<RollingImpulse> next_rolling;
    std::vector<std::uint8_t> contact_news;     // by manifold: ContactNews
    std::vector<ContactTotals> contact_totals;  // by task
    std::vector<SensorOverlap> next_sensor_overlaps;
    std::vector<QueryHit> sensor_hits;
    std::vector<PoseRecord> start_pose;  // at the tick's start, of those that may move: start_of()
    std::vector<Vec3> force, torque;     // by body; empty where no actuator pushes
    std::vector<std::uint32_t> pushed;   // bodies whose force or torque is not zero
    // Bodies with kBodyTargeted: by commands of this tick, and by those of the last, which stop if they are not again.
    std::vector<KinematicTarget> targets;
    std::vector<std::uint32_t> targeted_before;
    std::vector<KinematicDrive> drives;
    std::vector<std::uint32_t> drive_of;  // by body: its entry in drives, or kNone
    std::vector<Walker> walkers;
    std::vector<WalkOutcome> walk_outcomes;  // by walker
    std::vector<std::uint32_t> walker_of;    // by body: its entry in walkers, or kNone
    SnapshotTaker walk_taker;
    Snapshot walk_snapshot;
    std::vector<std::uint8_t> cold_start;       // by body: moved or changed by a command, its old impulses do not hold
    std::span<Bearing> bearings;                // by manifold; in the arena, until the solver begins
    std::vector<std::uint32_t> cold_bodies;     // whose flag is set
    std::vector<std::uint32_t> removed_bodies;  // dead since this tick began, not yet reusable
    std::vector<std::uint32_t> removed_joints;
    std::vector<std::uint32_t> to_wake;    // sleeping bodies whose islands are to wake
    std::vector<std::uint32_t> disturbed;  // bodies whose neighbours' islands are to wake
    std::vector<std::uint32_t> island;     // by body, while islands are found
    std::vector<std::uint8_t> island_flag;
    std::vector<KeptContact> moved_contacts, merged_contacts;
    std::vector<Pair> woken_pairs;  // that the sleepers woken in this tick have among themselves
    ManifoldStore found_woken;
    std::vector<Manifold*> merged_manifolds;
    std::vector<std::uint64_t> command_order;
    std::vector<std::uint32_t> event_order, first_odd;
};

inline BodyId body_id(const State& state, std::uint32_t index) { return {index, state.bodies.generation[index]}; }
inline JointId joint_id(const State& state, std::uint32_t index) { return {index, state.joints[index].generation}; }
inline bool body_alive(const State& state, std::uint32_t index) {
    return (state.bodies.flags[index] & kBodyAlive) != 0;
}

// Where a body was when the tick began, once the solver has begun.
inline const PoseRecord& start_of(const Core& core, std::uint32_t body) {
    const Bodies& bodies = core.state.bodies;
    return Movers::may_move(bodies.flags[body]) ? core.start_pose[body] : bodies.pose[body];
}
// See Movers.
inline void note_body(Core& core, std::uint32_t index) {
    core.movers.note(index);
    core.digests.motion.note(index);
}
inline void note_placed(Core& core, std::uint32_t index) {
    core.movers.note_placed(index);
    core.digests.motion.note(index);
}
// Whether so few bodies may move that their hash is made faster of what they change.
inline bool are_few(const Core& core) {
    constexpr std::size_t kBodiesPerMover = 64;
    return core.movers.list().size() * kBodiesPerMover < core.state.bodies.size();
}
// Of anything that a hash is of.
inline void note_change(Core& core) {
    ++core.identity_changes;
    ++core.motion_changes;
}
inline Pose pose_of(const PoseRecord& r) {
    return {{r.position[0], r.position[1], r.position[2]},
            {r.orientation[0], r.orientation[1], r.orientation[2], r.orientation[3]}};
}
inline void set_position(PoseRecord& r, Vec3 v) {
    r.position[0] = v.x;
    r.position[1] = v.y;
    r.position[2] = v.z;
}
inline void set_pose(PoseRecord& r, const Pose& pose) {
    set_position(r, pose.position);
    const Quat& q = pose.orientation;
    r.orientation[0] = q.x;
    r.orientation[1] = q.y;
    r.orientation[2] = q.z;
    r.orientation[3] = q.w;
}
inline void set_velocity(VelocityRecord& r, Vec3 linear, Vec3 angular) {
    r.linear[0] = linear.x;
    r.linear[1] = linear.y;
    r.linear[2] = linear.z;
    r.angular[0] = angular.x;
    r.angular[1] = angular.y;
    r.angular[2] = angular.z;
}

// ---- check.cpp: a definition from outside becomes a checked one

// Checks and normalises; the error's place names the element. Fills `shapes`.
Result<Ok> check_definition(WorldDef& def, std::vector<Shape>& shapes);
// Whether the solver may be given it; normalises directions. An empty string where it is good, else what is wrong.
std::string check_constraint(Constraint& constraint);
// The same of a constraint in a world, a little more lenient about directions. Whatever makes or changes a joint keeps
// to it, for a saved state is restored only where it holds.
bool live_constraint_holds(Constraint constraint);
// How many bodies a joint's constraint needs and may have, whatever says which: true where `given` (A to D) fits. A may
// be the world but for three and four bodies.
bool bodies_fit(const Constraint& constraint, const std::array<bool, 4>& given);
// Whether some material has rolling resistance or a running surface.
bool any_surfaces(const WorldDef& def);
// XXH3-64 of everything in a definition that influences a state: names do not.
std::uint64_t hash_definition(const WorldDef& def);

// ---- population.cpp: bodies and joints come and go

const BodyDef& body_definition(const WorldDef& def, BodyOrigin origin);
const ActuatorDef& actuator_definition(const WorldDef& def, const ActuatorState& actuator);
bool is_mass(float mass_kg);  // that a body may have
// What a body is now.
inline BodyType type_of(const BodySettings& settings) { return static_cast<BodyType>(settings.type); }
const BodySettings* changed_settings(const State& state, std::uint32_t index);  // null: as its definition says
BodySettings settings_of(const Core& core, std::uint32_t index);
void change_settings(Core& core, const BodySettings& settings);  // in the list alone
// Makes the body's info and mass, but for its inertia in the world, in a state of this world.
void apply_settings(const Core& core, State& state, const BodySettings& settings);
// Whether a body of that definition may have the type.
bool may_be(const Core& core, BodyOrigin origin, BodyType type);
std::uint8_t flags_of(BodyType type);
// Fills everything but pose and velocity of a slot in the body store.
void define_body(const Core& core, Bodies& bodies, std::uint32_t index, BodyOrigin origin);
DefinedKinds find_kinds(const WorldDef& def, const std::vector<Shape>& shapes);
MassRecord without_mass(const MassRecord& mass);  // of a body that is quarantined
void resize_bodies(State& state, std::uint32_t count);
void populate(Core& core);  // the definition's bodies, joints, actuators, slots
// Room for so many more bodies and joints within kMaxBodies and kMaxJoints.
EventCause room_for(const Core& core, std::size_t bodies, std::size_t joints);
// too_fast, turns_too_fast or none, of velocities that a body is to be given.
EventCause speed_fault(Vec3 linear, Vec3 angular);
// Why a prefab may not come into a world at `pose`, which is unit, with the added velocities; `none` if it may.
EventCause prefab_misplaced(const PrefabDef& prefab, const Pose& pose, Vec3 linear, Vec3 angular);
void spawn_prefab(Core& core, std::uint32_t prefab, const Pose& pose, Vec3 linear, Vec3 angular, std::uint16_t slot,
                  std::uint64_t tag);
std::uint32_t add_joint(Core& core, const Joint& joint);  // index
void remove_joint(Core& core, std::uint32_t index);
void remove_body(Core& core, std::uint32_t index, std::uint64_t tag);
// Drops what hung on removed bodies and makes freed indices reusable. Between a removal and this call a freed index
// is not given out again, so nothing can attach to a stranger.
void finish_removals(Core& core);
std::uint64_t digest_of(const Joint& joint);
void rebuild_free_lists(Core& core);
void list_joints(Core& core);  // excluded, breakable
void find_rigs(Core& core);    // if something changed since; sets what its members are as heavy to turn as
void note_target(Core& core, const Constraint& before, const Constraint& after);  // of a joint: for the rigs
// After a change of a joint's impulse by anyone but the solver; after one of its description.
inline void note_joint(Core& core, std::uint32_t index) {
    if (index < core.joint_news.size()) core.joint_news[index] = 1;
}
void renew_joint(Core& core, std::uint32_t index);
void list_special_bodies(Core& core);  // sensors, continuous

// ---- commands.cpp, actuators.cpp

void apply_commands(Core& core, std::span<const Command> commands);
void forget_pushes(Core& core);  // of the last tick; before commands
// A force (N) or torque (N m) on a body in this tick.
void push(Core& core, ActuatorKind kind, std::uint32_t body, Vec3 amount);
void drive_actuators(Core& core);
bool wants_something(const Walker& walker);
void finish_actuators(Core& core);  // after the solver: kinematic bodies stand exactly where they were sent

// ---- sensors.cpp

// Which bodies stand in which sensors now; begin and end events. `moving`: the kinematic and dynamic bodies as they
// stand.
void update_sensors(Core& core, const BodyTree& moving);

// ---- continuous.cpp

// Puts back what has passed one of the fixed bodies in this tick.
void hold_back_continuous(Core& core, const BodyTree& fixed);

// ---- contacts.cpp, upkeep.cpp

// Gives the tick's new manifolds the impulses of the contacts they continue, their materials and surfaces.
void match_contacts(Core& core, Executor& executor);
// Keeps the solved manifolds for the next tick; begin, end and hit events.
void keep_contacts(Core& core, Executor& executor);
// Those of a living body, as World::contacts_of has them.
void list_contacts(const Core& core, std::uint32_t body, std::vector<BodyContact>& out);
void zero_contact_impulses(Core& core, std::uint32_t manifold);
void remove_broken_joints(Core& core);
void quarantine_lost_bodies(Core& core, Executor& executor);
void sort_events(Core& core);

// ---- sleep.cpp

// Asks for the body to be awake.
void rouse(Core& core, std::uint32_t body);
// The same for a body, or the bodies of a joint, that a command or an actuator changes: a time of rest begins anew.
void wake(Core& core, std::uint32_t body);
void wake(Core& core, const Joint& joint);
// The same for a body that changed at one blow and all that it touches or is jointed to.
void wake_neighbours(Core& core, std::uint32_t body);
// Wakes the islands of all that was asked for. Whether there were any.
bool wake_islands(Core& core);
// After the narrow phase: wakes what a manifold touches, and lists in `woken_pairs` the pairs that it adds to the
// tick's.
void wake_touched(Core& core);
// At the tick's end: islands that have been slow for long enough.
void put_to_sleep(Core& core);
void renew_sleeping_digest(Core& core);

// ---- form.cpp, restore.cpp

HashTree hash_state(const Core& core);
void save_state(const Core& core, std::vector<std::uint8_t>& out);
Result<Ok> restore_state(Core& core, std::span<const std::uint8_t> bytes);
void settle_state(Core& core);  // makes anew all that is derived from a state that came from elsewhere

}  // namespace orrery::sim
