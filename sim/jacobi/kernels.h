// The work of rigs on lanes: one constant table a target. A kernel works on one group of rigs (a bundle of chains or of
// trees, a graph); groups may be worked on at the same time.
#pragma once

#include "sim/jacobi/chain.h"
#include "sim/jacobi/graph.h"
#include "sim/jacobi/tree.h"
#include "sim/solver/kernels.h"

namespace orrery::sim {

struct RigForces {
    RigForce* force;
    float* mean_n;   // by force_row, where breakable: N over the tick
    bool breakable;
};

struct ChainView {
    const ChainBundle* bundle;
    const ChainSlot* slots;
    const ChainExtras* extras;
    RigForces forces;
    PoseRecord* start_pose;  // by body; null: of no use
};
struct RigTreeView {
    const TreeBundle* bundle;
    const TreeSlot* slots;
    const TreeSpan* spans;     // by TreeSlot::span
    TreeWork* work;
    TreeSpanWork* span_work;
    RigForces forces;
};
struct GraphView {
    const Graph* graph;
    GraphJoints* joints;
    GraphBodies* bodies;
    GraphSides* sides;
    float* plane;              // kGraphPlanes of them, `stride` floats apart
    std::size_t stride;
    float* change;             // kGraphChanges, of this iteration, N s on the body at home
    std::size_t change_stride;
    RigForces forces;
};

// One in each pass of the coloured solver.
template <class View>
struct CoupledKernels {
    using Kernel = void (*)(const StepContext& context, const View& view);
    Kernel prepare, warm_start, solve, relax, relax_again, finish;
};

struct RigKernels {
    // `next`: slots that are likely to follow, links + 1 of them, or null: their bodies are fetched meanwhile.
    // True: some number is not far from the limits of quarantine_lost_bodies, and the poses that the bodies had are in start_pose.
    bool (*alone)(const StepContext& context, std::uint32_t substeps, const ChainView& chains, AloneSlot* work, const ChainSlot* next);
    void (*prepare)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*warm_start)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*solve)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*relax)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*relax_again)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*finish)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    CoupledKernels<RigTreeView> trees;
    CoupledKernels<GraphView> graphs;
    CoupledKernels<GraphView>::Kernel hold_graph;  // before the contacts, without taking errors back
};

// The target must be one of available_targets(), or automatic for the best.
const RigKernels& rig_kernels(Target target);

namespace ref {

// Further than kLeastSpan_m.
bool points_apart(Vec3 a, Vec3 b);
// lever_share (jacobi/rig-inl.h) of arms in line. i, other_i: inverse inertia.
float lever_share_of(Vec3 own, Vec3 other, float i, float other_i);
float as_float(std::uint32_t count);
// The factors of the iterations of a graph: `accelerated` by Chebyshev's polynomials over the eigenvalues of the split
// operator, else plain. iterations: 1 to kMaxRigIterations.
void make_graph_steps(bool accelerated, std::uint32_t iterations, float compliance, GraphStep* out);

}  // namespace ref
}  // namespace orrery::sim
