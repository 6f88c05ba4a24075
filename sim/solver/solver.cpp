// The order of a tick. All arithmetic is in the kernels; here is who runs what on which worker.

#include "sim/solver/solver.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "sim/base/assert.h"
#include "sim/base/growth.h"
#include "sim/base/parallel.h"
#include "sim/base/stage_scope.h"
#include "sim/lanes/fp_environment.h"
#include "sim/solver/bundles.h"
#include "sim/solver/kernels.h"
#include "sim/solver/layout.h"
#include "sim/solver/phases.h"

namespace orrery::sim {

#define ORRERY_CONSTRAINT(T, name) static_cast<std::uint32_t>(sizeof(T##Bundle)),
constinit const std::array<std::uint32_t, kKindCount> kBundleBytes{
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT) static_cast<std::uint32_t>(sizeof(ContactBundle)),
    static_cast<std::uint32_t>(contact_bundle_bytes(1)),
    static_cast<std::uint32_t>(contact_bundle_bytes(2)),
    static_cast<std::uint32_t>(sizeof(BouncingContactBundle)),
    static_cast<std::uint32_t>(sizeof(SurfaceContactBundle)),
    static_cast<std::uint32_t>(sizeof(NonconvexContactBundle))};
#undef ORRERY_CONSTRAINT
constinit const std::uint32_t kMostContactBytes = sizeof(ContactBundle);
namespace {

constexpr std::uint32_t kBodyBlock = 128;  // rows a worker takes at a time; a multiple of the lanes of a bundle
constexpr std::uint32_t kSharedFrom =
    4;  // blocks in some phase: fewer are done sooner than workers have been told of them
constexpr std::size_t kPhasesAtOnce = 1024;
constexpr std::uint32_t kContactsPerTask = 1024, kPosesPerTask = 2048;
static_assert(kBodyBlock % kBundleLanes == 0);

// Rows that nobody fills must not hold what an earlier tick left there.
template <class Bundle>
void clear_padding(Bundle& bundle, std::size_t head_bytes, std::size_t bytes = sizeof(Bundle)) {
    if (bundle.head.count == kBundleLanes) return;
    std::memset(reinterpret_cast<std::byte*>(&bundle) + head_bytes, 0, bytes - head_bytes);
}

template <class Description>
void load_joints(void* untyped, std::span<const Joint> joints, std::span<const JointImpulse> impulses) {
    auto& bundle = *static_cast<typename BundleFor<Description>::type*>(untyped);
    clear_padding(bundle, body_count<Description>() > 2 ? sizeof(ManyHead) : sizeof(BundleHead));
    for (std::uint32_t lane = 0; lane < bundle.head.count; ++lane) {
        const Joint& joint = joints[bundle.head.source[lane]];
        load_lane(bundle, lane, *std::get_if<Description>(&joint.constraint), impulses[bundle.head.source[lane]].row);
        bundle.force.break_force_n.lane[lane] = joint.break_force_n;
        bundle.force.break_torque_nm.lane[lane] = joint.break_torque_nm;
    }
}

template <class Description>
void store_joints(const void* untyped, std::span<Joint> joints, std::span<JointImpulse> impulses) {
    const auto& bundle = *static_cast<const typename BundleFor<Description>::type*>(untyped);
    for (std::uint32_t lane = 0; lane < bundle.head.count; ++lane) {
        Joint& joint = joints[bundle.head.source[lane]];
        store_lane(bundle, lane, impulses[bundle.head.source[lane]].row);
        joint.force_n = bundle.force.force_n.lane[lane];
        joint.torque_nm = bundle.force.torque_nm.lane[lane];
        joint.broken = bundle.force.broken.lane[lane] != 0.0f;
    }
}

template <class Bundle>
void load_contacts(Kind kind, void* untyped, Manifolds manifolds, std::span<const ContactSurface> surfaces) {
    auto& bundle = *static_cast<Bundle*>(untyped);
    clear_padding(bundle, sizeof(BundleHead), kBundleBytes[index_of(kind)]);
    for (std::uint32_t lane = 0; lane < bundle.head.count; ++lane) {
        const std::uint32_t source = bundle.head.source[lane];
        load_lane(bundle, lane, manifolds[source]);
        if constexpr (Bundle::kSurface) load_surface(bundle, lane, surfaces[source]);
    }
}

void load_nonconvex(void* untyped, Manifolds manifolds, std::span<const Contact> contacts) {
    auto& bundle = *static_cast<NonconvexContactBundle*>(untyped);
    clear_padding(bundle, sizeof(BundleHead));
    for (std::uint32_t lane = 0; lane < bundle.head.count; ++lane) {
        const std::uint32_t source = bundle.head.source[lane];
        load_lane(bundle, lane, manifolds.subspan(source, contacts[source].manifolds));
    }
}
void store_nonconvex(const void* untyped, Manifolds manifolds, std::span<const Contact> contacts) {
    const auto& bundle = *static_cast<const NonconvexContactBundle*>(untyped);
    for (std::uint32_t lane = 0; lane < bundle.head.count; ++lane) {
        const std::uint32_t source = bundle.head.source[lane];
        store_lane(bundle, lane, manifolds.subspan(source, contacts[source].manifolds));
    }
}

// Whether two manifolds, one behind the other, are points of the same nonconvex contacts, which have one pair of poses.
bool go_together(const Manifold& x, const Manifold& y) {
    return x.a == y.a && x.b == y.b && x.count == 1 && y.count == 1 && !has_moved(x) && !has_moved(y);
}

template <class Bundle>
void store_contacts(const void* untyped, Manifolds manifolds, std::span<ContactSurface> surfaces) {
    const auto& bundle = *static_cast<const Bundle*>(untyped);
    for (std::uint32_t lane = 0; lane < bundle.head.count; ++lane) {
        const std::uint32_t source = bundle.head.source[lane];
        store_lane(bundle, lane, manifolds[source]);
        if constexpr (Bundle::kSurface) store_surface(bundle, lane, surfaces[source]);
    }
}

template <class Description>
void clear_force(void* untyped) {
    JointForceRows& force = static_cast<typename BundleFor<Description>::type*>(untyped)->force;
    force.linear = force.angular = {};
}

// How a kind of joint gets into its bundles, stays there for another tick, and gets out of them.
struct JointMoves {
    void (*load)(void* bundle, std::span<const Joint> joints, std::span<const JointImpulse> impulses);
    void (*clear_force)(void* bundle);
    void (*store)(const void* bundle, std::span<Joint> joints, std::span<JointImpulse> impulses);
};
#define ORRERY_CONSTRAINT(T, name) {load_joints<T>, clear_force<T>, store_joints<T>},
constexpr JointMoves kJointMoves[kConstraintTypes] = {ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)};
#undef ORRERY_CONSTRAINT

}  // namespace

struct Solver::Impl {
    Colouring colouring;
    BundleLayout layout;
    StepContext context{};
    const SolverKernels* kernels = nullptr;
    std::span<Joint> joints;
    std::span<JointImpulse> impulses;
    Manifolds manifolds;
    std::span<ContactSurface> surfaces;
    std::span<const std::uint8_t> near;
    std::span<const std::uint32_t> rig_of;
    Executor* executor = nullptr;
    TickArena own_arena;                     // where the input gives none
    std::vector<std::uint32_t> every_joint;  // where the input names none
    Movers own_movers;                       // the same
    const Movers* movers = nullptr;
    std::vector<std::uint32_t> some_movers;  // that the input's flags say are to be moved
    std::vector<Contact> contacts;           // by manifold
    bool any_bounces = false;

    // What the joints' bundles were built of.
    std::uint64_t built_epoch = 0;  // 0: not to be kept
    std::vector<std::uint32_t> built_joints;
    std::uint64_t built_movers = 0;
    // The bundles hold what the last step left: all but what has news, and is refreshed for all but what has moved
    // since.
    bool joints_stay = false;
    StepConstants last_step{};
    std::vector<PoseRecord> last_pose;
    std::vector<std::uint8_t> moved;  // by body
    std::span<std::uint8_t> joint_news;

    bool built_of(std::uint64_t epoch, std::span<const std::uint32_t> taken) const {
        return epoch != 0 && epoch == built_epoch && movers->epoch() == built_movers &&
               std::ranges::equal(taken, built_joints);
    }
    void remember(std::uint64_t epoch, const Bodies& bodies, std::span<const std::uint32_t> taken) {
        built_epoch = layout.joints_may_stay() ? epoch : 0;
        if (built_epoch == 0) return;
        built_joints.assign(taken.begin(), taken.end());
        built_movers = movers->epoch();
        moved.assign(bodies.size(), 0);
        last_pose.resize(bodies.size());
    }

    void read_contacts(const Bodies& bodies) {
        std::atomic<bool> bounces{false};
        resize_sparingly(contacts, manifolds.size());
        const auto count = static_cast<std::uint32_t>(manifolds.size());
        for_chunks(*executor, count, kContactsPerTask, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
            const auto joined = [&](std::uint32_t i) {
                return i > 0 && i < count && go_together(manifolds[i - 1], manifolds[i]) && !is_surface(i - 1) &&
                       !is_surface(i);
            };
            std::uint32_t place = 0;  // of a manifold among those that go together
            while (joined(begin - place)) ++place;
            for (std::uint32_t i = begin; i < end; ++i, ++place) {
                const Manifold& m = manifolds[i];
                if (!joined(i)) place = 0;
                std::uint8_t together = 1;
                while (together < kMaxManifoldPoints && joined(i + together)) ++together;
                const bool leads = place % kMaxManifoldPoints == 0;
                const auto points = static_cast<std::uint8_t>(!leads ? 0 : together > 1 ? together : m.count);
                contacts[i] = {m.a,
                               m.b,
                               points,
                               leads ? together : std::uint8_t{1},
                               bodies.dynamic(m.a),
                               bodies.dynamic(m.b),
                               is_surface(i),
                               m.restitution > 0.0f,
                               is_near(m.a) || is_near(m.b),
                               (bodies.thin[m.a] | bodies.thin[m.b]) != 0};
                if (contacts[i].bounces) bounces.store(true, std::memory_order_relaxed);
            }
        });
        any_bounces = bounces;
    }
    bool is_near(std::uint32_t body) const { return body < near.size() && near[body] != 0; }
    bool is_surface(std::uint32_t manifold) const { return !surfaces.empty() && !surfaces[manifold].plain(); }
    bool is_of_rig(std::uint32_t body) const { return body < rig_of.size() && rig_of[body] != kNone; }
    template <class Work>
    void each_mover(const Work& work) {
        const std::span<const std::uint32_t> list = movers->list();
        for_chunks(*executor, static_cast<std::uint32_t>(list.size()), kPosesPerTask,
                   [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
                       for (const std::uint32_t i : list.subspan(begin, end - begin)) work(i);
                   });
    }
    // Which bodies are not where the last step left them, or as hard to turn. Others than movers stay where they are
    // while joints stay, unless a command placed them, which is news of their joints.
    void find_moved(const Bodies& bodies) {
        each_mover([&](std::uint32_t i) {
            moved[i] = is_of_rig(i) || std::memcmp(&bodies.pose[i], &last_pose[i], sizeof(PoseRecord)) != 0;
        });
    }
    const LongAxis* long_axes(const Bodies& bodies, TickArena& arena) {
        LongAxis* const all = arena.allocate<LongAxis>(bodies.size());
        for_chunks(*executor, bodies.size(), kPosesPerTask, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
            for (std::uint32_t i = begin; i < end; ++i)
                all[i] = bodies.thin[i] != 0 ? ref::long_axis(bodies.mass(i), bodies.pose[i]) : LongAxis{};
        });
        return all;
    }
    void remember_poses(const Bodies& bodies) {
        each_mover([&](std::uint32_t i) { last_pose[i] = bodies.pose[i]; });
    }
    // Whether a bundle of joints is as prepare would make it.
    bool stands(Kind kind, const BundleHead& head) const {
        for (std::uint32_t lane = 0; lane < head.count; ++lane)
            if ((joint_news[head.source[lane]] | moved[row_at(head.body_a[lane])] | moved[row_at(head.body_b[lane])]) !=
                0)
                return false;
        if (kBundleBodies[index_of(kind)] <= 2) return true;
        const auto& many = reinterpret_cast<const ManyHead&>(head);
        for (std::uint32_t lane = 0; lane < head.count; ++lane)
            if ((moved[row_at(many.body_c[lane])] | moved[row_at(many.body_d[lane])]) != 0) return false;
        return true;
    }

    void load(Kind kind, void* bundle);
    void store(Kind kind, const void* bundle);

    // ---- work, spread over workers or done here; which, depends on nothing that a bit depends on

    struct Job {
        void (Impl::*work)(std::uint32_t index, const Job& job);
        BundleKernel KindKernels::*pass = nullptr;
        BodyKernel body_pass = nullptr;
        bool near_alone = false;  // of contacts
    };
    std::vector<Job> jobs;
    std::vector<Phase> phases;  // to be run, of these jobs
    bool helped = false;        // by workers, in this step
    PhaseRunner runner;

    // The last job's. Where nobody helps it is done at once.
    void add_phase(std::uint32_t begin, std::uint32_t end) {
        if (helped) {
            phases.push_back({begin, end - begin, static_cast<std::uint32_t>(jobs.size() - 1)});
            return;
        }
        const Job job = jobs.back();
        for (std::uint32_t k = begin; k < end; ++k) (this->*job.work)(k, job);
    }
    void run_phases() {
        const auto task = [](void* impl, std::uint32_t job, std::uint32_t index) {
            Impl& s = *static_cast<Impl*>(impl);
            (s.*s.jobs[job].work)(index, s.jobs[job]);
        };
        const bool shared = std::ranges::any_of(phases, [](const Phase& phase) { return phase.count >= kSharedFrom; });
        runner.run(shared ? executor : nullptr, phases, task, this);
        phases.clear();
        jobs.clear();
    }

    void block_work(std::uint32_t index, const Job& job) {
        const Block& block = layout.blocks()[index];
        if (job.near_alone && block.kind >= Kind::contact && !block.near) return;
        const BundleKernel kernel = kernels->kinds[index_of(block.kind)]->*job.pass;
        if (kernel)
            kernel(context, layout.bundle(block.kind, block.first), block.count, kBundleBytes[index_of(block.kind)]);
    }
    void prepare_work(std::uint32_t index, const Job&) {
        const Block& block = layout.blocks()[index];
        const BundleKernel kernel = kernels->kinds[index_of(block.kind)]->prepare;
        for (std::uint32_t k = 0; k < block.count; ++k) {
            void* bundle = layout.bundle(block.kind, block.first + k);
            if (joints_stay && block.kind < Kind::contact &&
                stands(block.kind, layout.head(block.kind, block.first + k))) {
                kJointMoves[index_of(block.kind)].clear_force(bundle);
                continue;
            }
            load(block.kind, bundle);
            kernel(context, bundle, 1, kBundleBytes[index_of(block.kind)]);
        }
    }
    void store_work(std::uint32_t index, const Job&) {
        const Block& block = layout.blocks()[index];
        const BundleKernel kernel = kernels->kinds[index_of(block.kind)]->finish;
        for (std::uint32_t k = 0; k < block.count; ++k) {
            void* bundle = layout.bundle(block.kind, block.first + k);
            kernel(context, bundle, 1, kBundleBytes[index_of(block.kind)]);
            store(block.kind, bundle);
        }
    }
    void body_work(std::uint32_t index, const Job& job) {
        const std::uint32_t begin = index * kBodyBlock;
        job.body_pass(context, begin, std::min(begin + kBodyBlock, context.row_count));
    }
    void begin_tick_work(std::uint32_t index, const Job& job) {
        const std::uint32_t begin = index * kBodyBlock, end = std::min(begin + kBodyBlock, context.row_count);
        for (std::uint32_t k = begin; k < end; ++k) context.delta[context.rows[k]] = {};
        job.body_pass(context, begin, end);
    }

    void overflow_work(std::uint32_t, const Job& job) {
        const auto all = static_cast<std::uint32_t>(layout.blocks().size());
        for (std::uint32_t k = layout.overflow_begin(); k < all; ++k) block_work(k, job);
    }

    // Overflow first, one bundle after the other; then colour by colour.
    void pass(BundleKernel KindKernels::*pass, bool near_alone = false) {
        if (layout.overflow_begin() < layout.blocks().size()) {
            jobs.push_back({&Impl::overflow_work, pass, nullptr, near_alone});
            add_phase(0, 1);
        }
        jobs.push_back({&Impl::block_work, pass, nullptr, near_alone});
        for (std::uint32_t c = 0; c < layout.colours(); ++c) {
            const std::uint32_t begin = layout.colour_begin(c), end = layout.colour_begin(c + 1);
            if (!near_alone || std::any_of(layout.blocks().begin() + begin, layout.blocks().begin() + end,
                                           [](const Block& b) { return b.kind < Kind::contact || b.near; }))
                add_phase(begin, end);
        }
    }
    void all_blocks(void (Impl::*work)(std::uint32_t, const Job&), BundleKernel KindKernels::*pass = nullptr) {
        jobs.push_back({work, pass});
        add_phase(0, static_cast<std::uint32_t>(layout.blocks().size()));
    }
    void all_bodies(BodyKernel kernel, void (Impl::*work)(std::uint32_t, const Job&) = &Impl::body_work) {
        jobs.push_back({work, nullptr, kernel});
        add_phase(0, chunk_count(context.row_count, kBodyBlock));
    }
    void choose_rows(const StepInput& input, const Bodies& bodies) {
        movers = input.movers;
        if (movers == nullptr) {
            own_movers.note_all();
            own_movers.update(bodies);
            movers = &own_movers;
        }
        std::span<const std::uint32_t> rows = movers->list();
        if (!input.flags.empty()) {
            some_movers.clear();
            for (const std::uint32_t i : rows) {
                if (input.flags[i] != 0) some_movers.push_back(i);
            }
            rows = some_movers;
        }
        context.rows = rows.data();
        context.row_count = static_cast<std::uint32_t>(rows.size());
    }
};

void Solver::Impl::load(Kind kind, void* bundle) {
    if (is_plain(kind))
        load_contacts<ContactBundle>(kind, bundle, manifolds, surfaces);
    else if (kind == Kind::bouncing_contact)
        load_contacts<BouncingContactBundle>(kind, bundle, manifolds, surfaces);
    else if (kind == Kind::surface_contact)
        load_contacts<SurfaceContactBundle>(kind, bundle, manifolds, surfaces);
    else if (kind == Kind::nonconvex_contact)
        load_nonconvex(bundle, manifolds, contacts);
    else
        kJointMoves[index_of(kind)].load(bundle, joints, impulses);
}

void Solver::Impl::store(Kind kind, const void* bundle) {
    if (is_plain(kind) || kind == Kind::bouncing_contact)
        store_contacts<ContactBundle>(bundle, manifolds, surfaces);
    else if (kind == Kind::surface_contact)
        store_contacts<SurfaceContactBundle>(bundle, manifolds, surfaces);
    else if (kind == Kind::nonconvex_contact)
        store_nonconvex(bundle, manifolds, contacts);
    else
        kJointMoves[index_of(kind)].store(bundle, joints, impulses);
}

Solver::Solver() : impl_(std::make_unique<Impl>()) {}
Solver::~Solver() = default;

StepContext make_step_context(const StepInput& input, Bodies& bodies) {
    return {ref::make_step_constants(input),
            bodies.velocity.data(),
            bodies.pose.data(),
            bodies.delta.data(),
            bodies.inertia.data(),
            bodies.kinds.mass.data(),
            bodies.mass_of.data(),
            input.flags.empty() ? bodies.flags.data() : input.flags.data(),
            bodies.size(),
            input.force.empty() ? nullptr : input.force.data(),
            input.torque.empty() ? nullptr : input.torque.data(),
            nullptr,
            bodies.thin.data(),
            nullptr};
}

SolverStats Solver::step(const StepInput& input, Bodies& bodies, std::span<Joint> joints, Manifolds manifolds) {
    const FpEnvironment environment;
    ORRERY_ASSERT(input.executor != nullptr && input.impulses.size() == joints.size());
    ORRERY_ASSERT(input.surfaces.empty() || input.surfaces.size() == manifolds.size());
    ORRERY_ASSERT(input.near.size() <= bodies.size() && input.substeps > 0 && input.substeps <= kMaxSubsteps);
    Impl& s = *impl_;
    s.kernels = &solver_kernels(input.target);
    s.joints = joints;
    s.impulses = input.impulses;
    s.manifolds = manifolds;
    s.surfaces = input.surfaces;
    s.near = input.near;
    s.rig_of = input.rig_of;
    s.executor = input.executor;
    s.helped = input.executor->worker_count() > 1;
    s.joint_news = input.joint_news;
    TickArena& arena = input.arena ? *input.arena : s.own_arena;
    arena.reset();
    s.context = make_step_context(input, bodies);
    s.choose_rows(input, bodies);
    if (input.joints == nullptr) {
        s.every_joint.resize(joints.size());
        std::iota(s.every_joint.begin(), s.every_joint.end(), 0u);
    }
    const std::vector<std::uint32_t>& taken = input.joints ? *input.joints : s.every_joint;
    LastColour* const last = input.last;
    const std::uint32_t iterations = last ? input.coupling_iterations : 1;
    // Phases wait until there are many of them, unless someone looks on.
    const auto stage = [&](Stage name, auto work) {
        const StageScope scope(input.observer, name);
        work();
        if (input.observer || s.phases.size() >= kPhasesAtOnce) s.run_phases();
    };
    const auto rigs = [&](void (LastColour::*pass)(const StepContext&)) {
        if (last == nullptr) return;
        s.run_phases();
        stage(Stage::rigs, [&] { (last->*pass)(s.context); });
    };

    stage(Stage::colouring, [&] {
        const bool built = s.built_of(input.joint_epoch, taken), were_contacts = !s.contacts.empty();
        const bool same_step = std::memcmp(&s.last_step, &s.context.step, sizeof(StepConstants)) == 0;
        s.joints_stay = built && same_step && !taken.empty() && !input.joint_news.empty();
        s.read_contacts(bodies);
        if (built && s.contacts.empty() && !were_contacts) return;
        if (!built) colour_joints(bodies, joints, taken, s.colouring);
        colour_contacts(s.contacts, s.colouring);
        if (!s.contacts.empty()) s.context.touched = s.colouring.touched.data();
        if (s.colouring.any_thin) s.context.start = s.long_axes(bodies, arena);
        s.layout.build(bodies, joints, taken, s.contacts, s.colouring, built, *s.executor, arena);
        if (!built) s.remember(input.joint_epoch, bodies, taken);
    });
    stage(Stage::prepare, [&] {
        s.all_bodies(s.kernels->refresh_inertia, &Impl::begin_tick_work);
        if (s.joints_stay) s.find_moved(bodies);
    });
    rigs(&LastColour::prepare);
    stage(Stage::prepare, [&] { s.all_blocks(&Impl::prepare_work); });
    for (std::uint32_t substep = 0; substep < input.substeps; ++substep) {
        stage(Stage::integrate_velocities, [&] { s.all_bodies(s.kernels->integrate_velocities); });
        if (s.any_bounces)
            stage(Stage::restitution, [&] { s.all_blocks(&Impl::block_work, &KindKernels::note_speed); });
        stage(Stage::warm_start, [&] { s.pass(&KindKernels::warm_start); });
        rigs(&LastColour::warm_start);
        for (std::uint32_t k = 0; k < iterations; ++k) {
            stage(Stage::solve, [&] { s.pass(&KindKernels::solve, k > 0); });
            rigs(k + kMostSolves < iterations ? &LastColour::solve_coupled : &LastColour::solve);
        }
        stage(Stage::integrate_poses, [&] { s.all_bodies(s.kernels->integrate_poses); });
        rigs(&LastColour::refresh);
        stage(Stage::relax, [&] { s.pass(&KindKernels::relax); });
        rigs(&LastColour::relax);
        for (std::uint32_t k = 1; k < (input.near.empty() ? 1 : iterations); ++k) {
            stage(Stage::relax, [&] { s.pass(&KindKernels::relax_again, true); });
            rigs(k + kMostSolves <= iterations ? &LastColour::relax_coupled : &LastColour::relax_again);
        }
    }
    stage(Stage::restitution, [&] { s.pass(&KindKernels::restitute); });
    stage(Stage::store, [&] {
        s.all_blocks(&Impl::store_work);
        s.run_phases();
        s.last_step = s.context.step;
        if (s.built_epoch != 0 && !taken.empty()) s.remember_poses(bodies);
        std::ranges::fill(input.joint_news, std::uint8_t{0});
    });
    rigs(&LastColour::finish);
    return {s.layout.constraint_count(), s.layout.colours(), s.layout.bundle_count(), s.layout.overflow_constraints()};
}

}  // namespace orrery::sim
