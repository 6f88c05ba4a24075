#include "sim/rigs/rig_worker.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>

#include "sim/base/stage_scope.h"
#include "sim/lanes/fp_environment.h"

namespace orrery::sim {
namespace {

bool is_plain(const MassRecord& mass, bool dynamic) {
    return !dynamic || (mass.gravity_scale == 1.0f && mass.linear_damping == 0.0f && mass.angular_damping == 0.0f);
}

// While it is alone.
bool is_cut(const Rig& rig) { return rig.links > kLongChain && !rig.always_coupled; }
std::uint32_t piece_links(const Rig& rig) { return (rig.links + kBundleLanes - 1) / kBundleLanes; }

}  // namespace

void RigWorker::find(const RigChoice& choice, const Bodies& bodies, std::span<const Joint> joints,
                     std::span<JointImpulse> impulses, std::vector<RigForce>& force) {
    find_rigs(choice, bodies, joints, rigs_);
    force.resize(joints.empty() ? 0 : joints.size() + 1);
    std::vector<bool> kept(force.size(), false);
    for (const std::uint32_t i : rigs_.joints) {
        kept[force_row(i)] = true;
        impulses[i] = {};
    }
    for (std::size_t i = 0; i < force.size(); ++i) {
        if (!kept[i]) force[i] = {};
    }
    flags_.clear();
    pack(bodies, joints);
    trees_.pack(rigs_, bodies, joints);
    graphs_.pack(rigs_, bodies, joints);
    if (device_) note_kinematic(bodies, joints);
}

void RigWorker::note_kinematic(const Bodies& bodies, std::span<const Joint> joints) {
    kinematic_.clear();
    for (const Rig& rig : rigs_.rigs) {
        if (rig.kind == RigClass::chain && rig.method == RigMethod::exact) continue;
        for (const std::uint32_t i : std::span(rigs_.joints).subspan(rig.first, rig.links)) {
            for (const std::uint32_t body : {joints[i].a, joints[i].b}) {
                if ((bodies.flags[body] & kBodyKinematic) != 0) kinematic_.push_back(body);
            }
        }
    }
    std::ranges::sort(kinematic_);
    kinematic_.erase(std::unique(kinematic_.begin(), kinematic_.end()), kinematic_.end());
}

// The longest first, so that a bundle's chains are about as long as each other. Those that are cut while they are alone
// share no bundle with others, which are alone at the same time: a bundle reads the bodies of all its lanes. Behind
// them are their pieces.
void RigWorker::pack(const Bodies& bodies, std::span<const Joint> joints) {
    ++layout_;
    bundles_.clear();
    slots_.clear();
    extras_.clear();
    mean_n_.assign(rigs_.rigs.empty() ? 0 : joints.size() + 1, 0.0f);
    std::vector<std::uint32_t> order;
    for (std::uint32_t r = 0; r < rigs_.rigs.size(); ++r) {
        if (rigs_.rigs[r].kind == RigClass::chain && rigs_.rigs[r].method == RigMethod::exact) order.push_back(r);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t x, std::uint32_t y) { return rigs_.rigs[x].links > rigs_.rigs[y].links; });
    const auto others =
        std::stable_partition(order.begin(), order.end(), [&](std::uint32_t r) { return is_cut(rigs_.rigs[r]); });
    const std::span<const std::uint32_t> all = order,
                                         cut_alone = all.first(static_cast<std::size_t>(others - order.begin()));
    std::vector<std::span<const std::uint32_t>> shared;  // a bundle each
    for (std::span<const std::uint32_t> left : {cut_alone, all.subspan(cut_alone.size())}) {
        for (; !left.empty(); left = left.subspan(shared.back().size()))
            shared.push_back(left.first(std::min<std::size_t>(left.size(), kBundleLanes)));
    }
    std::size_t total = 0;
    for (const auto& chains : shared) total += rigs_.rigs[chains[0]].links + 1u;
    for (const std::uint32_t r : cut_alone) total += piece_links(rigs_.rigs[r]) + 3u;
    slots_.reserve(total);
    extras_.reserve(total);
    for (const auto& chains : shared) {
        ChainBundle& bundle = add_bundle(rigs_.rigs[chains[0]].links);
        for (const std::uint32_t r : chains) {
            const Rig& rig = rigs_.rigs[r];
            bundle.ragged = bundle.ragged || rig.links < bundle.links;
            fill_lane(bundle, r, {0, 0, rig.links}, bodies, joints);
        }
        note_resting(bundle);
    }
    uncut_bundles_ = bundles_.size();
    uncut_slots_ = slots_.size();
    for (const std::uint32_t r : cut_alone) cut(r, bodies, joints);
}

ChainBundle& RigWorker::add_bundle(std::uint32_t links) {
    ChainBundle& bundle = bundles_.emplace_back();
    bundle.links = links;
    bundle.slot = static_cast<std::uint32_t>(slots_.size());
    slots_.resize(bundle.slot + links + 1, ChainSlot{});
    extras_.resize(slots_.size(), ChainExtras{});
    return bundle;
}
void RigWorker::note_resting(const ChainBundle& bundle) {
    for (std::uint32_t s = 0; s <= bundle.links; ++s) {
        ChainSlot& slot = slots_[bundle.slot + s];
        slot.resting = slot.dynamic != 0xffffu ? 1 : 0;
    }
}

// chain_cut-inl.h: the first piece has the chain's first body, too.
void RigWorker::cut(std::uint32_t rig_index, const Bodies& bodies, std::span<const Joint> joints) {
    const Rig& rig = rigs_.rigs[rig_index];
    const std::uint32_t links = piece_links(rig);
    ChainBundle& bundle = add_bundle(links + 2);
    bundle.cut = true;
    bundle.ragged = rig.links < kBundleLanes * links;
    for (std::uint32_t k = 0; k < kBundleLanes; ++k) {
        const std::uint32_t before = k * links, end = std::min(before + links, rig.links);
        fill_lane(bundle, rig_index, {std::int64_t{before} - 1, k == 0 ? 0 : before + 1, end}, bodies, joints);
    }
    note_resting(bundle);
}

void RigWorker::fill_lane(ChainBundle& bundle, std::uint32_t rig_index, const Stretch& stretch, const Bodies& bodies,
                          std::span<const Joint> joints) {
    const std::uint32_t lane = bundle.lanes++;
    const Rig& rig = rigs_.rigs[rig_index];
    bundle.rig[lane] = rig_index;
    bundle.compliance.lane[lane] = rig.compliance;
    if (rig.locked) bundle.locked |= 1u << lane;
    const std::uint32_t* body = rigs_.bodies.data() + rig.first_body;
    const std::uint32_t* joint_at = rigs_.joints.data() + rig.first;
    for (std::uint32_t s = stretch.start < 0 ? 1 : 0; s <= bundle.links; ++s) {
        const auto at = static_cast<std::uint32_t>(stretch.start + s);
        if (at > rig.links) return;
        const bool own = at >= stretch.first && at <= stretch.last;
        ChainSlot& slot = slots_[bundle.slot + s];
        ChainExtras& extras = extras_[bundle.slot + s];
        const MassRecord& mass = bodies.mass(body[at]);
        const bool dynamic = bodies.dynamic(body[at]);
        slot.body[lane] = body[at];
        if (dynamic) {
            slot.inverse_mass.lane[lane] = mass.inverse_mass;
            slot.inverse_inertia.lane[lane] = mass.inverse_inertia[0];
            if (own) slot.dynamic |= 1u << lane;
        }
        extras.gravity_scale.lane[lane] = mass.gravity_scale;
        extras.linear_damping.lane[lane] = mass.linear_damping;
        extras.angular_damping.lane[lane] = mass.angular_damping;
        bool plain = is_plain(mass, dynamic);
        if (s > 0 && at > 0) {
            const Joint& joint = joints[joint_at[at - 1]];
            const BallSocket& ball = *std::get_if<BallSocket>(&joint.constraint);
            const bool forward = joint.b == body[at];
            slot.force[lane] = force_row(joint_at[at - 1]);
            if (own) slot.jointed |= 1u << lane;
            const Vec3 in = forward ? ball.anchor_b : ball.anchor_a, out = forward ? ball.anchor_a : ball.anchor_b;
            ChainSlot& before = slots_[bundle.slot + s - 1];
            set_lane(slot.in, lane, in);
            set_lane(before.out, lane, out);
            const float i = slot.inverse_inertia.lane[lane], i_before = before.inverse_inertia.lane[lane];
            slot.lever_before.lane[lane] = ref::lever_share_of(in, out, i, i_before);
            before.lever_after.lane[lane] = ref::lever_share_of(out, in, i_before, i);
            extras.sign.lane[lane] = forward ? 1.0f : -1.0f;
            extras.active.lane[lane] = 1.0f;
            extras.frequency_hz.lane[lane] = ball.spring.frequency_hz;
            extras.damping_ratio.lane[lane] = ball.spring.damping_ratio;
            plain = plain && forward && !(ball.spring.frequency_hz > 0.0f);
            bundle.breakable = bundle.breakable || joint.break_force_n != kNoLimit;
        }
        bundle.plain = bundle.plain && plain;
    }
}

void RigWorker::begin_tick(const Bodies& bodies, Manifolds manifolds, std::span<const std::uint32_t> pushed) {
    touched_.assign(rigs_.rigs.size(), 0);
    const auto touch = [&](std::uint32_t body) {
        if (body >= rigs_.rig_of_body.size()) return;  // came without a joint since
        const std::uint32_t rig = rigs_.rig_of_body[body];
        if (rig != kNone) touched_[rig] = 1;
    };
    for (const Manifold& manifold : manifolds) {
        touch(manifold.a);
        touch(manifold.b);
    }
    met_ = touched_;
    for (const std::uint32_t body : pushed) touch(body);
    find_near(bodies, manifolds);
    trees_.begin_tick(rigs_, bodies, touched_, met_);
    graphs_.begin_tick(rigs_, bodies, touched_);

    alone_.clear();
    cut_.clear();
    coupled_.clear();
    const bool kept = !flags_.empty() && base_flags_ == bodies.flags;
    for (const std::uint32_t body : left_out_) {
        if (kept) flags_[body] = base_flags_[body];
    }
    left_out_.clear();
    for (std::uint32_t b = 0; b < bundles_.size(); ++b) {
        ChainBundle& bundle = bundles_[b];
        const std::uint32_t before = bundle.alone;
        bundle.alone = bundle.coupled = bundle.acted_on = 0;
        bundle.met = false;
        for (std::uint32_t lane = 0; lane < bundle.lanes; ++lane) {
            const std::uint32_t r = bundle.rig[lane];
            // Its dynamic bodies sleep and wake together; the first or the second is one.
            const std::uint32_t* body = rigs_.bodies.data() + rigs_.rigs[r].first_body;
            if (bodies.asleep(body[0]) || bodies.asleep(body[1])) continue;
            const bool coupled = touched_[r] != 0 || rigs_.rigs[r].always_coupled;
            if (bundle.cut == (!coupled && is_cut(rigs_.rigs[r])))
                (coupled ? bundle.coupled : bundle.alone) |= 1u << lane;
            if (met_[r] != 0 || rigs_.rigs[r].jointed_otherwise) bundle.acted_on |= 1u << lane;
            bundle.met = bundle.met || met_[r] != 0;
        }
        if (kept) set_flags(bundle, before ^ bundle.alone);
        if (bundle.alone != 0) (bundle.cut ? cut_ : alone_).push_back(b);
        if (bundle.coupled != 0) coupled_.push_back(b);
    }
    any_coupled_ = !coupled_.empty() || trees_.awake() + graphs_.awake() > 0;
    const bool none = alone_.empty() && cut_.empty();
    if (none) flags_.clear();
    if (none || kept) return;
    base_flags_.assign(bodies.flags.begin(), bodies.flags.end());
    flags_ = base_flags_;
    for (const auto* bundles : {&alone_, &cut_}) {
        for (const std::uint32_t b : *bundles) set_flags(bundles_[b], bundles_[b].alone);
    }
}

// What a rig's member touches is pushed by it in every pass, and pushes back through whatever else it touches.
void RigWorker::find_near(const Bodies& bodies, Manifolds manifolds) {
    near_.clear();
    if (std::ranges::find(met_, 1) == met_.end()) return;
    near_.resize(bodies.size(), 0);
    constexpr std::uint8_t kMember = 1, kBeside = 2;
    for (std::uint32_t body = 1; body < rigs_.rig_of_body.size(); ++body) {
        const std::uint32_t rig = rigs_.rig_of_body[body];
        if (rig != kNone && met_[rig] != 0) near_[body] = kMember;
    }
    for (const Manifold& m : manifolds) {
        if ((near_[m.a] & kMember) != 0 && bodies.dynamic(m.b)) near_[m.b] |= kBeside;
        if ((near_[m.b] & kMember) != 0 && bodies.dynamic(m.a)) near_[m.a] |= kBeside;
    }
}

// Of the bodies of these lanes: none where they are alone, else their own.
void RigWorker::set_flags(const ChainBundle& bundle, std::uint32_t mask) {
    if (mask == 0) return;
    for (std::uint32_t s = 0; s <= bundle.links; ++s) {
        const ChainSlot& slot = slots_[bundle.slot + s];
        for (std::uint32_t bits = slot.dynamic & mask; bits != 0; bits &= bits - 1) {
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(bits));
            const std::uint32_t body = slot.body[lane];
            flags_[body] = (bundle.alone >> lane & 1u) != 0 ? std::uint8_t{0} : base_flags_[body];
        }
    }
}

ChainView RigWorker::view(const ChainBundle& bundle) {
    return {&bundle,
            slots_.data() + bundle.slot,
            extras_.data() + bundle.slot,
            {force_.data(), mean_n_.data(), bundle.breakable},
            start_pose_.data()};
}

void RigWorker::note_breaks(const ChainBundle& bundle, std::uint32_t mask) {
    if (!bundle.breakable) return;
    for (std::uint32_t s = 1; s <= bundle.links; ++s) {
        for (std::uint32_t lane = 0; lane < bundle.lanes; ++lane) {
            const ChainSlot& slot = slots_[bundle.slot + s];
            if (((slot.jointed & mask) >> lane & 1u) == 0) continue;
            note_break(joints_, slot.force[lane], mean_n_.data());
        }
    }
}

bool RigWorker::solve_elsewhere(const StepInput& input, Bodies& bodies) {
    if (!device_) return false;
    AloneTick tick{};
    trees_.offer(tick);
    graphs_.offer(tick);
    if (alone_.empty() && !tick.trees_alone && !tick.graphs_alone) return false;
    moving_.clear();
    for (const std::uint32_t body : kinematic_) {
        if (!bodies.asleep(body)) moving_.push_back(body);
    }
    tick.kinematic = moving_.data();
    tick.kinematic_count = static_cast<std::uint32_t>(moving_.size());
    tick.mass_of = bodies.mass_of.data();
    tick.mass = bodies.kinds.mass.data();
    tick.mass_count = static_cast<std::uint32_t>(bodies.kinds.mass.size());
    tick.iterations = std::min(input.coupling_iterations, kMostSolves);
    tick.pushed = !input.force.empty();
    const StepContext context = make_step_context(input, bodies);
    tick.step = context.step;
    tick.substeps = input.substeps;
    tick.pose = context.pose;
    tick.velocity = context.velocity;
    tick.body_count = context.body_count;
    tick.force = force_.data();
    tick.mean_n = mean_n_.data();
    tick.force_rows = static_cast<std::uint32_t>(force_.size());
    for (const std::uint32_t b : alone_) tick.breakable = tick.breakable || bundles_[b].breakable;
    tick.bundles = bundles_.data();
    tick.bundle_count = static_cast<std::uint32_t>(uncut_bundles_);
    tick.alone = alone_.data();
    tick.alone_count = static_cast<std::uint32_t>(alone_.size());
    tick.slots = slots_.data();
    tick.extras = extras_.data();
    tick.slot_count = static_cast<std::uint32_t>(uncut_slots_);
    tick.layout = layout_;
    tick.run = [](void* executor, std::uint32_t count, void (*task)(void*, std::uint32_t), void* of) {
        static_cast<Executor*>(executor)->run(count, task, of);
    };
    tick.executor = input.executor;
    tick.workers = input.executor->worker_count();
    const DeviceAnswer answer = device_->solve(tick, device_times_);
    if (answer == DeviceAnswer::lost) device_.reset();
    if (answer != DeviceAnswer::done) return false;
    for (const std::uint32_t b : alone_) {
        note_breaks(bundles_[b], bundles_[b].alone);
        elsewhere_ += static_cast<std::uint32_t>(std::popcount(bundles_[b].alone));
    }
    elsewhere_ += trees_.leave_alone(joints_, mean_n_.data(), left_out_) +
                  graphs_.leave_alone(joints_, mean_n_.data(), left_out_);
    if (left_out_.empty()) return true;
    if (flags_.empty()) flags_ = base_flags_ = bodies.flags;
    for (const std::uint32_t body : left_out_) flags_[body] = 0;
    return true;
}

// Bundles go to whichever worker is free, each with memory of its own: neither has an effect on the outcome.
void RigWorker::step_alone(const StepInput& input, Bodies& bodies, std::span<Joint> joints, std::span<RigForce> force,
                           std::span<PoseRecord> start_pose) {
    kernels_ = &rig_kernels(input.target);
    executor_ = input.executor;
    joints_ = joints;
    force_ = force;
    elsewhere_ = 0;
    device_times_ = {};
    start_pose_ = start_pose;
    lost_ = true;
    // No device solves chains that are cut.
    here_ = cut_;
    const bool elsewhere = solve_elsewhere(input, bodies);
    if (!elsewhere) here_.insert(here_.end(), alone_.begin(), alone_.end());
    if (here_.empty()) return;
    const FpEnvironment environment;
    const StepContext context = make_step_context(input, bodies);
    const std::uint32_t workers = std::min(input.executor->worker_count(), static_cast<std::uint32_t>(here_.size()));
    reserve_work(workers);
    struct Job {
        RigWorker& rigs;
        const StepContext& context;
        std::uint32_t substeps;
        std::atomic<std::uint32_t> next{0};
        std::atomic<bool> lost{false};
    } job{*this, context, input.substeps};
    const auto work = [](void* opaque, std::uint32_t worker) {
        const FpEnvironment guarded;
        Job& j = *static_cast<Job*>(opaque);
        for (std::uint32_t k = j.next.fetch_add(1); k < j.rigs.here_.size(); k = j.next.fetch_add(1)) {
            if (j.rigs.solve_alone(j.context, j.substeps, k, j.rigs.alone_work_[worker])) j.lost = true;
        }
    };
    if (workers == 1)
        work(&job, 0);
    else
        input.executor->run(workers, work, &job);
    lost_ = elsewhere || job.lost;
}

void RigWorker::reserve_work(std::uint32_t workers) {
    std::size_t slots = 0, pieces = 0;
    for (const std::uint32_t b : here_) {
        slots = std::max(slots, bundles_[b].links + std::size_t{1});
        if (bundles_[b].cut) pieces = std::max(pieces, bundles_[b].links + std::size_t{1});
    }
    if (alone_work_.size() < workers) alone_work_.resize(workers);
    for (AloneWork& work : std::span(alone_work_).first(workers)) {
        if (work.slots.size() < slots) work.slots.resize(slots);
        if (work.pieces.size() < pieces) work.pieces.resize(pieces);
    }
}

// Whether a body may be lost.
bool RigWorker::solve_alone(const StepContext& context, std::uint32_t substeps, std::size_t k, AloneWork& work) {
    const ChainBundle& bundle = bundles_[here_[k]];
    bool lost = false;
    if (bundle.cut) {
        lost = kernels_->alone_cut(context, substeps, view(bundle), work.slots.data(), work.pieces.data());
    } else {
        // Of a shorter one what comes after it is fetched, too.
        const std::size_t ahead = k + 1 < here_.size() ? bundles_[here_[k + 1]].slot : slots_.size();
        const ChainSlot* const next = ahead + bundle.links < slots_.size() ? slots_.data() + ahead : nullptr;
        lost = kernels_->alone(context, substeps, view(bundle), work.slots.data(), next);
    }
    note_breaks(bundle, bundle.alone);
    return lost;
}

// Which graphs all workers solve together.
void RigWorker::sort_graphs() {
    team_graphs_.clear();
    other_graphs_.clear();
    std::size_t groups = 0;
    for (std::uint32_t k = 0; k < graphs_.awake(); ++k) groups += graphs_.graph(k).joints;
    for (std::uint32_t k = 0; k < graphs_.awake(); ++k)
        (team_of(graphs_.graph(k), groups, executor_->worker_count()) > 1 ? team_graphs_ : other_graphs_).push_back(k);
}

void RigWorker::run(const StepContext& context, CoupledKernel chains, TreeKernel trees, std::optional<GraphPass> graphs,
                    Of of) {
    struct Job {
        RigWorker& rigs;
        const StepContext& context;
        CoupledKernel chains;
        TreeKernel trees;
        std::optional<GraphPass> graphs;
        Of of;

        bool takes(const ChainBundle& bundle) const { return chains != nullptr && (of != Of::met || bundle.met); }
        bool takes(const TreeBundle& bundle) const {
            return trees != nullptr && (of == Of::all || (of == Of::met ? bundle.met : bundle.alone == 0));
        }
        bool takes(const Graph& graph) const { return graphs && (of != Of::met || rigs.met_[graph.rig] != 0); }
    } job{*this, context, chains, trees, graphs, of};
    if (!graphs && coupled_.empty() && trees_.awake() == 0) return;
    for (const std::uint32_t k : team_graphs_) {
        const GraphView view = graphs_.view(k, force_.data(), mean_n_.data());
        if (job.takes(*view.graph)) team_.run(*graphs, kernels_->graphs, context, view, *executor_);
    }
    const auto work = [](void* opaque, std::uint32_t k) {
        const FpEnvironment guarded;
        const Job& j = *static_cast<const Job*>(opaque);
        RigWorker& r = j.rigs;
        const auto of_chains = static_cast<std::uint32_t>(r.coupled_.size());
        if (k < of_chains) {
            const ChainBundle& bundle = r.bundles_[r.coupled_[k]];
            if (j.takes(bundle)) j.chains(j.context, r.view(bundle), r.coupled_work_.data() + r.coupled_begin_[k]);
        } else if (k -= of_chains; k < r.trees_.awake()) {
            const RigTreeView view = r.trees_.view(k, r.force_.data(), r.mean_n_.data());
            if (j.takes(*view.bundle)) j.trees(j.context, view);
        } else {
            const GraphView view =
                r.graphs_.view(r.other_graphs_[k - r.trees_.awake()], r.force_.data(), r.mean_n_.data());
            if (j.takes(*view.graph)) run_graph(*j.graphs, r.kernels_->graphs, j.context, view);
        }
    };
    const auto count = static_cast<std::uint32_t>(coupled_.size() + trees_.awake() + other_graphs_.size());
    if (count > 1 && executor_->worker_count() > 1) {
        executor_->run(count, work, &job);
    } else {
        for (std::uint32_t k = 0; k < count; ++k) work(&job, k);
    }
}

void RigWorker::prepare(const StepContext& context) {
    sort_graphs();
    coupled_begin_.clear();
    std::size_t slots = 0;
    for (const std::uint32_t b : coupled_) {
        coupled_begin_.push_back(slots);
        slots += bundles_[b].links + 1u;
    }
    if (coupled_work_.size() < slots) coupled_work_.resize(slots);
    run(context, kernels_->prepare, kernels_->trees.prepare, GraphPass::prepare);
}
void RigWorker::warm_start(const StepContext& context) {
    run(context, kernels_->warm_start, kernels_->trees.warm_start, GraphPass::warm_start);
    // A graph begins a substep with a share of its impulses, contacts with all of theirs: they would find it falling
    // beneath them and take back what they had, so that what touches it would sink in. Errors are taken back once,
    // behind them.
    if (!near_.empty()) run(context, nullptr, nullptr, GraphPass::hold, Of::met);
}
void RigWorker::solve(const StepContext& context) {
    run(context, kernels_->solve, kernels_->trees.solve, GraphPass::solve);
}
void RigWorker::solve_coupled(const StepContext& context) {
    run(context, kernels_->solve, kernels_->trees.solve, {}, Of::coupled);
}
void RigWorker::refresh(const StepContext& context) { run(context, kernels_->refresh, kernels_->trees.refresh, {}); }
void RigWorker::relax(const StepContext& context) {
    run(context, kernels_->relax, kernels_->trees.relax, GraphPass::relax);
}
void RigWorker::relax_again(const StepContext& context) {
    run(context, kernels_->relax_again, kernels_->trees.relax_again, GraphPass::relax_again, Of::met);
}
void RigWorker::relax_coupled(const StepContext& context) {
    run(context, kernels_->relax_again, kernels_->trees.relax_again, {}, Of::met);
}
void RigWorker::finish(const StepContext& context) {
    run(context, kernels_->finish, kernels_->trees.finish, GraphPass::finish);
    for (const std::uint32_t b : coupled_) note_breaks(bundles_[b], bundles_[b].coupled);
    trees_.note_breaks(joints_, mean_n_.data());
    graphs_.note_breaks(joints_, mean_n_.data());
}

}  // namespace orrery::sim
