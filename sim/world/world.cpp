// The public class: creation, the order of a tick, and what can be read.

#include <algorithm>
#include <cstring>
#include <new>

#include "sim/base/assert.h"
#include "sim/base/growth.h"
#include "sim/base/parallel.h"
#include "sim/base/stage_scope.h"
#include "sim/bodies/numbers.h"
#include "sim/world/executor.h"
#include "sim/world/impl.h"
#include "sim/world/joint_reading.h"

namespace orrery::sim {

namespace {

constexpr std::uint32_t kPosesPerTask = 2048;
constexpr std::uint32_t kSpareEvents =
    256;  // kept beside what was needed: when much falls at once there are many, seldom

// What was touched in its sleep wakes, and its own contacts join those of the tick. False: there are too many
// manifolds.
bool collide_woken(Core& core, Executor& executor) {
    wake_touched(core);
    if (core.woken_pairs.empty()) return true;
    if (!core.collision.collide(core.state.bodies, core.shapes, core.woken_pairs, core.def.solver.speculative_margin_m,
                                core.target, executor, core.arena, core.found_woken, true,
                                {core.def.gravity, core.def.substeps}))
        return false;
    const std::vector<Manifold*>&x = core.found.order, &y = core.found_woken.order;
    core.merged_manifolds.resize(x.size() + y.size());
    std::merge(x.begin(), x.end(), y.begin(), y.end(), core.merged_manifolds.begin(),
               [](const Manifold* p, const Manifold* q) { return comes_before(*p, *q); });
    core.manifolds = Manifolds(core.merged_manifolds);
    return core.manifolds.size() <= kMaxPairs;
}

// False: there are too many pairs or manifolds.
bool find_contacts(Core& core, Executor& executor, StageObserver* observer) {
    const float margin_m = core.def.solver.speculative_margin_m;
    const Bodies& bodies = core.state.bodies;
    core.manifolds = {};
    core.pairs = {};
    {
        const StageScope stage(observer, Stage::bounds);
        core.movers.update(bodies);
        core.collision.update_bounds(bodies, core.shapes, core.dt_s, margin_m, core.target, executor, &core.movers);
        core.movers.clear_placed();
    }
    {
        const StageScope stage(observer, Stage::pairs);
        if (!core.collision.find_pairs(bodies, core.excluded, core.target, executor, core.arena, core.pairs))
            return false;
    }
    ORRERY_DEBUG_ASSERT(std::is_sorted(core.pairs.begin(), core.pairs.end()));  // manifolds come in their order
    const StageScope stage(observer, Stage::narrow_phase);
    if (!core.collision.collide(bodies, core.shapes, core.pairs, margin_m, core.target, executor, core.arena,
                                core.found, false, {core.def.gravity, core.def.substeps}))
        return false;
    core.manifolds = Manifolds(core.found.order);
    if (core.def.solver.sleep && !collide_woken(core, executor)) return false;
    match_contacts(core, executor);
    core.stats.candidate_pairs = static_cast<std::uint32_t>(core.pairs.size());
    core.stats.manifolds = static_cast<std::uint32_t>(core.manifolds.size());
    return true;
}

// What may be read of them later: nothing of a chain that is solved by itself but what step_alone writes, and
// continuous bodies.
void keep_start_poses(Core& core, Executor& executor) {
    const Bodies& bodies = core.state.bodies;
    const std::span<const std::uint32_t> movers = core.movers.list();
    const std::span<const std::uint8_t> flags = core.rigs.flags();
    core.start_pose.resize(bodies.size());
    if (flags.empty() || !core.rigs.keeps_start_poses()) {
        for_chunks(executor, static_cast<std::uint32_t>(movers.size()), kPosesPerTask,
                   [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
                       for (const std::uint32_t i : movers.subspan(begin, end - begin))
                           core.start_pose[i] = bodies.pose[i];
                   });
        return;
    }
    for (const std::uint32_t i : movers) {
        if (flags[i] != 0) core.start_pose[i] = bodies.pose[i];
    }
    for (const std::uint32_t i : core.continuous) core.start_pose[i] = bodies.pose[i];
}

// For the hash: the step changed those that may move. A kinematic body at rest is one of them, for rounding may turn
// it.
void note_motion(Core& core) {
    const Bodies& bodies = core.state.bodies;
    const std::span<const std::uint32_t> movers = core.movers.list();
    const auto moved = [&](std::uint32_t i) {
        return bodies.active(i) || std::memcmp(&bodies.pose[i], &core.start_pose[i], sizeof(PoseRecord)) != 0;
    };
    if (core.drives.empty() && core.targets.empty() && std::ranges::none_of(movers, moved)) return;
    ++core.motion_changes;
    if (are_few(core))
        for (const std::uint32_t i : movers) core.digests.motion.note(i);
    else
        core.digests.motion.note_all();
}

void solve(Core& core, Executor& executor, StageObserver* observer) {
    find_rigs(core);
    core.movers.update(core.state.bodies);  // sleepers that were touched are awake now
    StepInput input;
    input.dt_s = core.dt_s;
    input.substeps = core.def.substeps;
    input.gravity = core.def.gravity;
    input.settings = core.def.solver;
    input.target = core.target;
    input.executor = &executor;
    input.observer = observer;
    input.impulses = core.state.joint_impulse;
    input.joint_epoch = core.joint_epoch;
    input.movers = &core.movers;
    input.arena = &core.arena;
    core.joint_news.resize(core.state.joints.size());
    input.joint_news = core.joint_news;
    input.surfaces = core.surfaces;
    if (!core.pushed.empty()) {
        input.force = core.force;
        input.torque = core.torque;
    }
    RigWorker& rigs = core.rigs;
    if (!rigs.empty()) {
        const StageScope stage(observer, Stage::rigs);
        rigs.begin_tick(core.state.bodies, core.manifolds, core.pushed);
        keep_start_poses(core, executor);
        input.coupling_iterations = core.def.solver.coupling_iterations;
        rigs.step_alone(input, core.state.bodies, core.state.joints, core.state.rig_force, core.start_pose);
        input.flags = rigs.flags();
        input.joints = &rigs.rigs().coloured;
        input.rig_of = rigs.rigs().rig_of_body;
        if (rigs.any_coupled()) input.last = &rigs, input.near = rigs.near();
    } else {
        keep_start_poses(core, executor);
    }
    core.stats.rigs = rigs.count();
    core.stats.rig_faults = rigs.rigs().faults;
    core.stats.device_rigs = rigs.empty() ? 0 : rigs.solved_elsewhere();
    core.stats.device_times = rigs.empty() ? DeviceTimes{} : rigs.device_times();
    core.pairs = {};
    core.state.contacts.view({});  // match_contacts has read them
    const SolverStats stats = core.solver.step(input, core.state.bodies, core.state.joints, core.manifolds);
    note_motion(core);
    core.stats.solved_constraints = stats.constraints;
    core.stats.colours = stats.colours;
    core.stats.bundles = stats.bundles;
    core.stats.overflow_constraints = stats.overflow_constraints;
}

void read_motion(const State& state, std::uint32_t i, BodyMotion& out) {
    const Bodies& b = state.bodies;
    out.id = body_id(state, i);
    out.type = (b.flags[i] & kBodyDynamic) != 0     ? BodyType::dynamic
               : (b.flags[i] & kBodyKinematic) != 0 ? BodyType::kinematic
                                                    : BodyType::fixed;
    out.pose = pose_of(b.pose[i]);
    const VelocityRecord& v = b.velocity[i];
    out.linear_velocity = {v.linear[0], v.linear[1], v.linear[2]};
    out.angular_velocity = {v.angular[0], v.angular[1], v.angular[2]};
}

void read_body(const Core& core, std::uint32_t i, BodyState& out) {
    const State& state = core.state;
    const Bodies& b = state.bodies;
    read_motion(state, i, out);
    out.shape = b.info(i).shape;
    out.material = b.info(i).material;
    out.slot = b.slot[i];
    out.inverse_mass = b.mass(i).inverse_mass;
    if (i != kWorldBody) out.user_data = body_definition(core.def, state.origin[i]).user_data;
    out.sensor = b.info(i).sensor;
    out.asleep = b.asleep(i);
    if (state.origin[i].prefab != kNone) {
        out.prefab = state.origin[i].prefab;
        out.member = state.origin[i].index;
        out.group = state.group[i];
    }
    out.category = b.info(i).category;
    out.mask = b.info(i).mask;
    out.gravity_scale = b.mass(i).gravity_scale;
    out.linear_damping = b.mass(i).linear_damping;
    out.angular_damping = b.mass(i).angular_damping;
}

JointState read_joint(const State& state, std::uint32_t i) {
    const Joint& joint = state.joints[i];
    JointState out;
    out.id = joint_id(state, i);
    if (joint.a != kWorldBody) out.a = body_id(state, joint.a);
    if (joint.b != kWorldBody) out.b = body_id(state, joint.b);
    if (joint.c != kWorldBody) out.c = body_id(state, joint.c);
    if (joint.d != kWorldBody) out.d = body_id(state, joint.d);
    out.constraint = joint.constraint;
    return out;
}

bool same_as_none(const RigForce& force) {
    constexpr RigForce kNoForce;
    return std::memcmp(&force, &kNoForce, sizeof force) == 0;
}

template <class T>
std::uint32_t index_by_name(const std::vector<T>& list, std::string_view name) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const T& element) { return element.name == name; });
    return found == list.end() || name.empty() ? kNone : static_cast<std::uint32_t>(found - list.begin());
}

// The target to run on.
Result<Target> check_config(const WorldConfig& config) {
    const Target target = config.target == Target::automatic ? best_target() : config.target;
    const std::span<const Target> targets = available_targets();
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) {
        std::string known;
        for (const Target t : targets) known += (known.empty() ? "" : ", ") + std::string(target_name(t));
        return Error{ErrorCode::unsupported_target, "target",
                     std::string(target_name(target)) + " is not available here; use one of " + known};
    }
    if (config.history_ticks > kMaxHistoryTicks)
        return Error{ErrorCode::invalid_argument, "history_ticks",
                     "is " + std::to_string(config.history_ticks) + "; keep at most " +
                         std::to_string(kMaxHistoryTicks) + " ticks (kMaxHistoryTicks)"};
    return target;
}

}  // namespace

World::World(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
World::~World() = default;

Result<std::unique_ptr<World>> World::create(std::shared_ptr<const Definition> definition, const WorldConfig& config) {
    const Result<Target> target = check_config(config);
    if (!target) return target.error();
    if (!definition)
        return Error{ErrorCode::invalid_argument, "definition", "is null; make one with Definition::create"};
    const FpEnvironment environment;
    auto impl = std::make_unique<Impl>(std::move(definition), *target);
    Core& core = impl->core;
    if (config.rig_device != nullptr && may_have_rigs(core.def)) core.rigs.use(*config.rig_device);
    populate(core);
    renew_sleeping_digest(core);
    impl->history.keep(config.history_ticks);
    impl->history.restart(core);
    return std::unique_ptr<World>(new World(std::move(impl)));
}

Result<std::unique_ptr<World>> World::create(const WorldDef& def, const WorldConfig& config) {
    if (const Result<Target> target = check_config(config); !target) return target.error();
    auto definition = Definition::create(def);
    if (!definition) return definition.error();
    return create(std::move(definition).value(), config);
}

StepStatus World::step(std::span<const Command> commands, Executor* executor, StageObserver* observer) {
    Core& core = impl_->core;
    if (core.halted) return StepStatus::too_many_pairs;
    if (commands.size() > kMaxCommandsPerTick) return StepStatus::too_many_commands;
    core.movers.begin_step();
    const FpEnvironment environment;
    SerialExecutor serial;
    GuardedExecutor guarded(executor ? *executor : static_cast<Executor&>(serial));
    Executor& workers = executor ? static_cast<Executor&>(guarded) : serial;
    {
        const StageScope stage(observer, Stage::commands);
        clear_sparingly(core.state.events, kSpareEvents);
        if (!commands.empty() || !core.targets.empty()) note_change(core);
        find_rigs(core);  // impulses meet what the last tick, or a restore, has left
        forget_pushes(core);
        apply_commands(core, commands);
        drive_actuators(core);
        wake_islands(core);
    }
    if (!find_contacts(core, workers, observer)) {
        core.halted = true;
        note_change(core);
        core.digests.motion.note_all();
        renew_sleeping_digest(core);
        sort_events(core);
        impl_->history.advance(core);
        return StepStatus::too_many_pairs;
    }
    solve(core, workers, observer);
    {
        const StageScope stage(observer, Stage::events);
        finish_actuators(core);
        quarantine_lost_bodies(core, workers);
        if (!core.continuous.empty()) hold_back_continuous(core, impl_->history.fixed(core));
        keep_contacts(core, workers);
        remove_broken_joints(core);
        core.state.tick += 1;
        impl_->history.advance(core);
        if (!core.sensors.empty()) update_sensors(core, impl_->history.at(kPresentTick, core)->moving);
        sort_events(core);
    }
    {
        const StageScope stage(observer, Stage::sleep);
        put_to_sleep(core);
        renew_sleeping_digest(core);
    }
    return StepStatus::ok;
}

std::uint64_t World::tick() const { return impl_->core.state.tick; }
HashTree World::hash() const { return hash_state(impl_->core); }
std::span<const Event> World::events() const { return impl_->core.state.events; }
void World::save(std::vector<std::uint8_t>& out) const { save_state(impl_->core, out); }
Result<Ok> World::restore(std::span<const std::uint8_t> bytes) {
    const FpEnvironment environment;
    auto restored = restore_state(impl_->core, bytes);
    if (restored) impl_->history.restart(impl_->core);
    return restored;
}
Target World::target() const { return impl_->core.target; }
float World::dt_s() const { return impl_->core.dt_s; }
const WorldDef& World::definition() const { return impl_->core.def; }
std::shared_ptr<const Definition> World::shared_definition() const { return impl_->core.definition; }

WorldStats World::stats() const {
    const Core& core = impl_->core;
    WorldStats stats = core.stats;
    stats.bodies = stats.dynamic_bodies = stats.sleeping_bodies = stats.joints = 0;
    for (std::uint32_t i = 1; i < core.state.bodies.size(); ++i) {
        stats.bodies += body_alive(core.state, i) ? 1 : 0;
        stats.sleeping_bodies += core.state.bodies.asleep(i) ? 1 : 0;
        stats.dynamic_bodies += core.state.bodies.dynamic(i) ? 1 : 0;
    }
    for (const Joint& joint : core.state.joints) stats.joints += joint.alive ? 1 : 0;
    return stats;
}

RigFaults World::rig_faults() const { return impl_->core.stats.rig_faults; }

bool World::alive(BodyId id) const {
    const State& state = impl_->core.state;
    return id.index != kWorldBody && id.index < state.bodies.size() && body_alive(state, id.index) &&
           state.bodies.generation[id.index] == id.generation;
}
bool World::alive(JointId id) const {
    const State& state = impl_->core.state;
    return id.index < state.joints.size() && state.joints[id.index].alive &&
           state.joints[id.index].generation == id.generation;
}
BodyState World::body(BodyId id) const {
    BodyState out;
    if (alive(id)) read_body(impl_->core, id.index, out);
    return out;
}
JointState World::joint(JointId id) const { return alive(id) ? read_joint(impl_->core.state, id.index) : JointState{}; }

JointReading World::joint_reading(JointId id) const {
    JointReading out;
    if (!alive(id)) return out;
    const State& state = impl_->core.state;
    const Joint& joint = state.joints[id.index];
    out.force_n = joint.force_n;
    out.torque_nm = joint.torque_nm;
    // A rig keeps the forces of its joints by itself.
    const std::uint32_t row = force_row(id.index);
    if (row < state.rig_force.size() && !same_as_none(state.rig_force[row])) {
        out.force_n = ref::size_of(state.rig_force[row].force);
        out.torque_nm = 0.0f;
    }
    const auto side = [&](std::uint32_t body) {
        const VelocityRecord& v = state.bodies.velocity[body];
        return JointSide{pose_of(state.bodies.pose[body]),
                         {v.linear[0], v.linear[1], v.linear[2]},
                         {v.angular[0], v.angular[1], v.angular[2]}};
    };
    ref::read_place(joint.constraint, side(joint.a), side(joint.b), out);
    return out;
}
void World::contacts_of(BodyId id, std::vector<BodyContact>& out) const {
    out.clear();
    if (alive(id)) list_contacts(impl_->core, id.index, out);
}

void World::read_bodies(std::vector<BodyState>& out) const {
    const State& state = impl_->core.state;
    out.resize(state.bodies.size() - 1);  // the first is the world itself
    std::size_t count = 0;
    for (std::uint32_t i = 1; i < state.bodies.size(); ++i) {
        if (body_alive(state, i)) read_body(impl_->core, i, out[count++]);
    }
    out.resize(count);
}
std::uint32_t World::read_motions(std::uint32_t from, std::span<BodyMotion> out) const {
    const State& state = impl_->core.state;
    std::uint32_t count = 0;
    for (std::uint32_t i = std::max(from, 1u); i < state.bodies.size() && count < out.size(); ++i) {
        if (body_alive(state, i)) sim::read_motion(state, i, out[count++]);
    }
    return count;
}
bool World::read_changed(std::vector<std::uint32_t>& out) const { return impl_->core.movers.touched(out); }
bool World::read_motion(std::uint32_t index, BodyMotion& out) const {
    const State& state = impl_->core.state;
    if (index == kWorldBody || index >= state.bodies.size() || !body_alive(state, index)) return false;
    return sim::read_motion(state, index, out), true;
}
void World::read_joints(std::vector<JointState>& out) const {
    const State& state = impl_->core.state;
    out.clear();
    for (std::uint32_t i = 0; i < state.joints.size(); ++i) {
        if (state.joints[i].alive) out.push_back(read_joint(state, i));
    }
}

// The definition's bodies come right after the world's own, its joints first of all, each with generation 0.
BodyId World::find_body(std::string_view name) const {
    const std::uint32_t index = index_by_name(impl_->core.def.bodies, name);
    return index == kNone ? BodyId{} : BodyId{index + 1, 0};
}
JointId World::find_joint(std::string_view name) const {
    const std::uint32_t index = index_by_name(impl_->core.def.joints, name);
    return index == kNone ? JointId{} : JointId{index, 0};
}

bool World::slot_taken(std::uint32_t slot) const {
    const State& state = impl_->core.state;
    return slot < state.slots.size() && state.slots[slot].taken();
}
bool World::slot_driven(std::uint32_t slot) const {
    const State& state = impl_->core.state;
    return slot < state.slots.size() && state.slots[slot].holder == SlotHolder::director;
}
std::array<float, kControlChannels> World::controls(std::uint32_t slot) const {
    const State& state = impl_->core.state;
    return slot < state.slots.size() ? state.slots[slot].controls : std::array<float, kControlChannels>{};
}

}  // namespace orrery::sim
