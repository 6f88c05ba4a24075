// What a GPU's threads do for rigs, by the code of chain_alone-inl.h, tree-inl.h and graph-inl.h. A bundle of chains is
// a block's for all substeps: a body is a thread's, but for the sweeps along a chain, which are one's. Their work lies
// on chip, or in the device's memory, in which threads side by side meet words side by side. A tree is a thread's, for
// a substep. A graph that fits on chip is a block's for a substep; of others a joint or a body is a thread's, for one
// pass over all of them. What one thread of a launch writes no other one reads in it, or in a block before all have
// met, so that their order has no effect.
#pragma once

#include "sim/lanes/cuda_pass.h"

#include "sim/rigs/chain/chain_alone-inl.h"
#include "sim/rigs/graph/graph-inl.h"
#include "sim/rigs/tree/tree-inl.h"

#ifndef ORRERY_IN_BLOCK_ORDER  // tests have another one
#define ORRERY_IN_BLOCK_ORDER(k, count) (k)
#endif

ORRERY_LANES_BEGIN

// AloneSlot, in two. What the sweeps along a chain need, and what bodies ask each other for, is little enough that
// three bundles of forty links are on a processor's chip at once, and its first cache has room for most of the rest:
// while the sweeps of one go on in half a warp, bodies of the others use what is left. Where there are few bundles all
// of it is on chip.
struct alignas(64) ChainState {
    Vec3Rows position;
    QuatRows orientation;
    Vec3Rows linear, total, goal;
    Sym3Rows refined;  // seldom used
};
struct ChainMotion {
    Vec3Rows angular, force;
};
struct alignas(64) ChainRows {
    Vec3Rows turned, in_arm, out_arm;
    Row inertia, alpha;
    Vec3Rows reduced;
    // A block is there from begin_joint_alone to the sweep's end, how bodies turn and are pulled from push_alone to
    // turn_alone.
    union {
        Sym3Rows inverse;
        ChainMotion motion;
    };
    Row unused;  // for an odd number of rows: a warp's two slots lie in different banks
};
static_assert(sizeof(ChainRows) / sizeof(Row) % 2 == 1);
struct ChainWork {
    struct Slot {
        Vec3Rows& position;
        QuatRows& orientation;
        Vec3Rows &linear, &total, &angular, &turned, &force, &in_arm, &out_arm;
        Row &inertia, &alpha;
        Sym3Rows& inverse;
        Vec3Rows &reduced, &goal;
        Sym3Rows& inverse_refined;
        ORRERY_FN Sym3Rows& refined() const { return inverse_refined; }
    };
    ChainState* state;
    ChainRows* rows;
    ORRERY_FN Slot operator[](std::uint32_t s) const {
        ChainState& a = state[s];
        ChainRows& b = rows[s];
        return {a.position, a.orientation, a.linear, a.total,   b.motion.angular, b.turned, b.motion.force, b.in_arm,
                b.out_arm,  b.inertia,     b.alpha,  b.inverse, b.reduced,        a.goal,   a.refined};
    }
};

struct ChainLaunch {
    StepContext context;
    RigForces forces;
    std::uint32_t substeps;
    const ChainBundle* bundles;
    const ChainSlot* slots;
    const ChainExtras* extras;
    ChainState* state;  // of all slots
    ChainRows* rows;    // the same; null: on chip
};

// Of trees and graphs. The poses in `context` are a copy, in which bodies that are not dynamic move, too.
struct RigLaunch {
    StepContext context;
    RigForces forces;
    PoseRecord* pose;  // the state's
    std::uint32_t iterations;
    std::uint32_t kinematic_count;
    const std::uint32_t* kinematic;
    std::uint32_t tree_count, joint_groups, body_groups;
    std::uint32_t step;           // which of an iterated pass
    std::uint32_t on_chip_bytes;  // that a block may use for a graph; 0: none stays on chip
    const TreeBundle* trees;
    const TreeSlot* tree_slots;
    const TreeSpan* tree_spans;
    TreeWork* tree_work;
    TreeSpanWork* tree_span_work;
    const Graph* graphs;
    GraphJoints* joints;
    GraphBodies* bodies;
    GraphSides* sides;
    const GraphStep* steps;
    float *planes, *changes;
};

extern __shared__ __align__(64) unsigned char on_chip[];

// Work for each of so many, by all threads of a block. Then all have met.
template <class Work>
__device__ void each_in_block(std::uint32_t count, const Work& work) {
    for (std::uint32_t k = threadIdx.x; k < count; k += blockDim.x) work(ORRERY_IN_BLOCK_ORDER(k, count));
    __syncthreads();
}

// ---- chains

constexpr std::uint32_t kChainThreads = 352,
                        kChainBlocks = 3;  // of a block at most, and of them on a processor: for 40 links (RESULTS.md)
constexpr std::uint32_t kWholeChainBlocks = 2;  // with all of their work on chip, where there are no more of them

// What of a bundle's work lies on chip, behind a ChainHead.
enum class OnChip { nothing, rows, all };
struct alignas(64) ChainHead {
    std::uint32_t turn_far, miss;  // bits of the lanes in which something turns far, and of those to be refined
};

// A block is a bundle's.
template <OnChip kOnChip>
class BlockOfChains {
  public:
    __device__ explicit BlockOfChains(const ChainLaunch& launch)
        : launch_(launch), bundle_(launch.bundles[blockIdx.x]) {}
    __device__ void solve() const {
        if (bundle_.alone == 0) return;
        const StepConstants& step = launch_.context.step;
        bodies([&](const ChainView& chains, ChainWork work, std::uint32_t s, std::uint32_t lane) {
            load_alone<float>(launch_.context, chains, work, s, lane);
        });
        for (std::uint32_t left = launch_.substeps; left > 0; --left) {
            bodies([&](const ChainView& chains, ChainWork work, std::uint32_t s, std::uint32_t lane) {
                turn_alone<float>(step, chains, work, s, lane);
            });
            bodies([&](const ChainView& chains, ChainWork work, std::uint32_t s, std::uint32_t lane) {
                if (s > 0) begin_joint_alone<float>(step, chains, work, s, lane);
            });
            if (threadIdx.x == 0) head() = {};
            sweep<Solve::velocities>();
            bodies([&](const ChainView& chains, ChainWork work, std::uint32_t s, std::uint32_t lane) {
                const Vec3T<float> none{0.0f, 0.0f, 0.0f};
                const Vec3T<float> impulse = s > 0 ? get<float>(work[s].reduced, lane) : none;
                const Vec3T<float> after = s < bundle_.links ? get<float>(work[s + 1].reduced, lane) : none;
                const float fast =
                    left > 1 ? push_alone<Turning::apart, false, float>(step, chains, work, s, lane, impulse, after)
                             : push_alone<Turning::apart, true, float>(step, chains, work, s, lane, impulse, after);
                if (turns_far(step, fast) > 0.0f) atomicOr(&head().turn_far, 1u << lane);
            });
            refine();
        }
        bodies([&](const ChainView& chains, ChainWork work, std::uint32_t s, std::uint32_t lane) {
            store_alone<float>(launch_.context, chains, work, s, lane);
        });
    }

  private:
    // What all threads share: all meet between a change of it, or some atomic ones, and whatever reads it.
    __device__ static ChainHead& head() { return *reinterpret_cast<ChainHead*>(on_chip); }
    __device__ static bool has(std::uint32_t bits, std::uint32_t lane) { return ((bits >> lane) & 1u) != 0; }
    template <Solve kSolve>
    __device__ void sweep() const {
        each_in_block(kBundleLanes, [&](std::uint32_t lane) {
            with_lane(lane, [&](const ChainView& chains, ChainWork work) {
                if (kSolve == Solve::velocities || has(head().miss, lane))
                    sweep_alone<kSolve, float>(chains, work, lane);
            });
        });
    }
    __device__ void refine() const {
        const StepConstants& step = launch_.context.step;
        for (std::uint32_t k = 0; k < kMostRefinements && head().turn_far != 0; ++k) {
            bodies([&](const ChainView& chains, ChainWork work, std::uint32_t s, std::uint32_t lane) {
                if (has(head().turn_far, lane)) place_alone<float>(chains, work, s, lane);
            });
            bodies([&](const ChainView& chains, ChainWork work, std::uint32_t s, std::uint32_t lane) {
                if (s > 0 && has(head().turn_far, lane) && missed_alone<float>(step, chains, work, s, lane) > 0.0f)
                    atomicOr(&head().miss, 1u << lane);
            });
            if (head().miss == 0) return;
            bodies([&](const ChainView& chains, ChainWork work, std::uint32_t s, std::uint32_t lane) {
                if (has(head().miss, lane)) begin_refining_alone<float>(step, chains, work, s, lane);
            });
            sweep<Solve::poses>();
            bodies([&](const ChainView& chains, ChainWork work, std::uint32_t s, std::uint32_t lane) {
                if (has(head().miss, lane)) refine_alone<float>(step, chains, work, s, lane, true);
            });
            if (threadIdx.x == 0) head().miss = 0;
            __syncthreads();
        }
    }

    // If it is solved here.
    template <class Work>
    __device__ void with_lane(std::uint32_t lane, const Work& work) const {
        if (((bundle_.alone >> lane) & 1u) == 0) return;
        RigForces forces = launch_.forces;
        forces.breakable = bundle_.breakable;
        const ChainView chains{&bundle_, launch_.slots + bundle_.slot, launch_.extras + bundle_.slot, forces, nullptr};
        ChainState* const state = launch_.state + bundle_.slot;
        ChainRows* const rows = reinterpret_cast<ChainRows*>(on_chip + sizeof(ChainHead));
        if constexpr (kOnChip == OnChip::nothing)
            work(chains, ChainWork{state, launch_.rows + bundle_.slot});
        else if constexpr (kOnChip == OnChip::rows)
            work(chains, ChainWork{state, rows});
        else
            work(chains, ChainWork{reinterpret_cast<ChainState*>(rows + (bundle_.links + 1)), rows});
    }
    template <class Work>
    __device__ void bodies(const Work& work) const {
        each_in_block((bundle_.links + 1) * kBundleLanes, [&](std::uint32_t k) {
            const std::uint32_t lane = k % kBundleLanes;
            with_lane(lane,
                      [&](const ChainView& chains, ChainWork slots) { work(chains, slots, k / kBundleLanes, lane); });
        });
    }

    const ChainLaunch& launch_;
    const ChainBundle& bundle_;
};

template <OnChip kOnChip>
__global__ void __launch_bounds__(kChainThreads, kOnChip == OnChip::all ? kWholeChainBlocks : kChainBlocks)
    chain_kernel(ChainLaunch launch) {
    BlockOfChains<kOnChip>(launch).solve();
}

// ---- bodies

struct OneBody {
    std::uint32_t row;
    ORRERY_FN explicit OneBody(std::uint32_t body) : row(body) {}
    ORRERY_FN void integrate_velocity(const StepContext& context) const {
        const std::uint32_t mass_row = mass_row_of(context, row);
        cuda::integrate_velocity<float>(context, &row, &mass_row, 1);
    }
    template <bool kMove>
    ORRERY_FN void move(const StepContext& context, bool dynamic) const {
        const std::uint32_t mass_row = mass_row_of(context, row);
        move_body<kMove, float>(context, &row, &mass_row, 1, dynamic ? 1 : 0);
    }
};

__global__ void kinematic_kernel(RigLaunch launch) {
    const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < launch.kinematic_count) OneBody(launch.kinematic[thread]).move<true>(launch.context, false);
}

// ---- trees

enum class TreePass { prepare, substep, finish };

template <TreePass kPass>
__global__ void tree_kernel(RigLaunch launch) {
    const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const std::uint32_t at = thread / kBundleLanes, lane = thread % kBundleLanes;
    if (at >= launch.tree_count) return;
    const TreeBundle& bundle = launch.trees[at];
    if (((bundle.alone >> lane) & 1u) == 0) return;
    RigForces forces = launch.forces;
    forces.breakable = bundle.breakable;
    const RigTreeView trees{&bundle,
                            launch.tree_slots + bundle.slot,
                            launch.tree_spans + bundle.first_span,
                            launch.tree_work + bundle.slot,
                            launch.tree_span_work + bundle.first_span,
                            forces};
    const StepContext& context = launch.context;
    const auto each_member = [&](const auto& work) {
        for (std::uint32_t s = 0; s <= bundle.links; ++s) {
            if (((trees.slots[s].dynamic >> lane) & 1u) != 0) work(OneBody(trees.slots[s].body[lane]));
        }
    };
    if constexpr (kPass == TreePass::prepare) {
        each_member([&](OneBody body) { body.move<false>(context, true); });
        prepare_tree<float>(context, trees, lane);
    } else if constexpr (kPass == TreePass::substep) {
        each_member([&](OneBody body) { body.integrate_velocity(context); });
        warm_start_tree<float>(context, trees, lane);
        for (std::uint32_t k = 0; k < launch.iterations; ++k)
            solve_tree<float>(context, trees, lane, TreeSolve::velocities, 1);
        each_member([&](OneBody body) { body.move<true>(context, true); });
        refine_tree<float>(context, trees, lane);
        relax_tree<float>(context, trees, lane);
    } else {
        finish_tree<float>(context, trees, lane);
        each_member([&](OneBody body) { launch.pose[body.row] = context.pose[body.row]; });
    }
}

// ---- graphs

__host__ __device__ inline GraphView view_of(const RigLaunch& launch, std::uint32_t index) {
    const Graph& graph = launch.graphs[index];
    RigForces forces = launch.forces;
    forces.breakable = graph.breakable;
    return {&graph,
            launch.joints + graph.first_joints,
            launch.bodies + graph.first_bodies,
            launch.sides + graph.first_side,
            launch.planes + graph.first_plane * kBundleLanes,
            graph.plane_rows() * kBundleLanes,
            launch.changes + graph.first_change * kBundleLanes,
            graph.change_rows() * kBundleLanes,
            forces};
}

constexpr std::uint32_t kGraphThreads = 1024;  // of a block, at most
constexpr std::uint32_t kMostGroupsOnChip =
    256;  // of joints: to read more of them (2 KB of each) takes a processor longer than all need for a launch

// Of its planes and changes.
__host__ __device__ inline std::size_t bytes_of(const Graph& graph) {
    return (graph.plane_rows() * kGraphPlanes + graph.change_rows() * kGraphChanges) * sizeof(Row);
}
__host__ __device__ inline bool stays_on_chip(const RigLaunch& launch, const Graph& graph) {
    return graph.joints <= kMostGroupsOnChip && bytes_of(graph) <= launch.on_chip_bytes;
}

enum class JointPass { warm_start, solve, show, refresh, relax, sum, prepare, finish };
enum class BodyPass { begin, push, move, refresh, end, prepare, finish };

// An iteration of Graph::step.
template <GraphPart kPart>
__device__ void iterate_joint(const RigLaunch& launch, const GraphView& g, GraphJoints* j, std::uint32_t lane,
                              std::uint32_t n) {
    step_joint<float, kPart>(g, j, iteration_of<kPart>(launch.steps[g.graph->first_step + n]), lane);
}
// Of lane `lane` of a group of joints. `step`: which of an iterated pass.
template <JointPass kPass>
__device__ void joint_pass(const RigLaunch& launch, const GraphView& g, GraphJoints* j, std::uint32_t lane,
                           std::uint32_t step = 0) {
    if (((j->jointed >> lane) & 1u) == 0) return;
    const StepContext& context = launch.context;
    if constexpr (kPass == JointPass::prepare) {
        prepare_joint<float>(context, g, j, lane);
        show_impulse<float>(g, j, lane);
    } else if constexpr (kPass == JointPass::warm_start) {
        warm_start_joint<float>(context, g, j, lane);
    } else if constexpr (kPass == JointPass::solve) {
        iterate_joint<GraphPart::solve>(launch, g, j, lane, step);
    } else if constexpr (kPass == JointPass::show) {
        show_impulse<float>(g, j, lane);
    } else if constexpr (kPass == JointPass::refresh) {
        refresh_joint<float>(context, g, j, lane);
    } else if constexpr (kPass == JointPass::relax) {
        iterate_joint<GraphPart::relax>(launch, g, j, lane, step);
    } else if constexpr (kPass == JointPass::sum) {
        sum_up_joint<float>(j, lane);
    } else {
        finish_joint<float>(context, g, j, lane);
    }
}
template <BodyPass kPass>
__device__ void body_pass(const RigLaunch& launch, const GraphView& g, const GraphBodies* b, std::uint32_t lane) {
    const StepContext& context = launch.context;
    const bool member = ((b->dynamic >> lane) & 1u) != 0;
    const OneBody body(b->body[lane]);
    if constexpr (kPass == BodyPass::prepare) {
        if (member) body.move<false>(context, true);
        refresh_place<float>(context, g, b, lane);
    } else if constexpr (kPass == BodyPass::begin) {
        if (member) body.integrate_velocity(context);
        load_place<float>(context, g, b, lane);
    } else if constexpr (kPass == BodyPass::push) {
        if (member) push_body<float>(g, b, lane);
    } else if constexpr (kPass == BodyPass::move) {
        if (member) unload_place<float>(context, g, b, lane);
        if (member) body.move<true>(context, true);
        refresh_place<float>(context, g, b, lane);
    } else if constexpr (kPass == BodyPass::refresh) {
        if (member) refresh_member<float>(context, g, b, lane);
    } else if constexpr (kPass == BodyPass::end) {
        if (member) unload_place<float>(context, g, b, lane);
    } else {
        if (member) launch.pose[body.row] = context.pose[body.row];
    }
}

// Passes over all joints or all bodies of graphs that do not stay on chip.
template <JointPass kPass>
__global__ void joint_kernel(RigLaunch launch) {
    const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const std::uint32_t group = thread / kBundleLanes, lane = thread % kBundleLanes;
    if (group >= launch.joint_groups) return;
    GraphJoints* const j = launch.joints + group;
    const Graph& graph = launch.graphs[j->graph];
    if (graph.alone && launch.step < graph.steps && !stays_on_chip(launch, graph))
        joint_pass<kPass>(launch, view_of(launch, j->graph), j, lane, launch.step);
}
template <BodyPass kPass>
__global__ void body_kernel(RigLaunch launch) {
    const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const std::uint32_t group = thread / kBundleLanes, lane = thread % kBundleLanes;
    if (group >= launch.body_groups) return;
    const GraphBodies* const b = launch.bodies + group;
    const Graph& graph = launch.graphs[b->graph];
    if (graph.alone && launch.step < graph.steps && !stays_on_chip(launch, graph))
        body_pass<kPass>(launch, view_of(launch, b->graph), b, lane);
}

// A block is a graph's for a substep. Its planes and changes lie on chip; what joints have themselves, which is read
// once a pass, does not.
class OnChipGraph {
  public:
    __device__ OnChipGraph(const RigLaunch& launch, std::uint32_t index)
        : launch_(launch), g_(view_of(launch, index)), kept_(g_.plane) {
        g_.plane = reinterpret_cast<float*>(on_chip);
        g_.change = g_.plane + kGraphPlanes * g_.stride;
    }
    __device__ void substep() const {
        // From one substep to the next planes hand down inertias alone.
        const std::size_t first = kGraphInertia * g_.stride, end = first + 7 * g_.stride;
        const auto words = static_cast<std::uint32_t>(kGraphPlanes * g_.stride + kGraphChanges * g_.change_stride);
        each_in_block(words, [&](std::uint32_t k) { g_.plane[k] = k >= first && k < end ? kept_[k] : 0.0f; });

        bodies<BodyPass::begin>();
        joints<JointPass::warm_start>();
        bodies<BodyPass::push>();
        for (std::uint32_t k = 0; k < launch_.iterations; ++k) iterate<JointPass::solve>();
        bodies<BodyPass::move>();
        joints<JointPass::show>();
        bodies<BodyPass::refresh>();
        joints<JointPass::refresh>();
        iterate<JointPass::relax>();
        joints<JointPass::sum>();
        bodies<BodyPass::end>();

        each_in_block(static_cast<std::uint32_t>(end - first),
                      [&](std::uint32_t k) { kept_[first + k] = g_.plane[first + k]; });
    }

  private:
    template <JointPass kPass>
    __device__ void joints(std::uint32_t step = 0) const {
        each_in_block(g_.graph->joints * kBundleLanes, [&](std::uint32_t k) {
            joint_pass<kPass>(launch_, g_, g_.joints + k / kBundleLanes, k % kBundleLanes, step);
        });
    }
    template <BodyPass kPass>
    __device__ void bodies() const {
        each_in_block((g_.graph->bodies + g_.graph->outer) * kBundleLanes, [&](std::uint32_t k) {
            body_pass<kPass>(launch_, g_, g_.bodies + k / kBundleLanes, k % kBundleLanes);
        });
    }
    template <JointPass kPass>
    __device__ void iterate() const {
        for (std::uint32_t step = 0; step < g_.graph->steps; ++step) {
            joints<kPass>(step);
            bodies<BodyPass::push>();
        }
    }

    const RigLaunch& launch_;
    GraphView g_;
    float* kept_;
};

__global__ void __launch_bounds__(kGraphThreads) graph_kernel(RigLaunch launch) {
    const Graph& graph = launch.graphs[blockIdx.x];
    if (graph.alone && stays_on_chip(launch, graph)) OnChipGraph(launch, blockIdx.x).substep();
}

ORRERY_LANES_END
