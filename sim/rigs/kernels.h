// The work of rigs on lanes: one constant table a target. A kernel works on one group of rigs (a bundle of chains or of
// trees) or a slice of a graph; groups may be worked on at the same time.
#pragma once

#include "sim/rigs/chain/chain.h"
#include "sim/rigs/graph/graph.h"
#include "sim/rigs/tree/tree.h"
#include "sim/solver/kernels.h"

namespace orrery::sim {

struct RigForces {
    RigForce* force;
    float* mean_n;  // by force_row, where breakable: N over the tick
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
    const TreeSpan* spans;  // by TreeSlot::span
    TreeWork* work;
    TreeSpanWork* span_work;
    RigForces forces;
};
struct GraphView {
    const Graph* graph;
    GraphJoints* joints;
    GraphBodies* bodies;
    GraphSides* sides;
    float* plane;  // kGraphPlanes of them, `stride` floats apart
    std::size_t stride;
    float* change;  // kGraphChanges, of this iteration, N s on the body at home
    std::size_t change_stride;
    RigForces forces;
};

// One in each pass of the coloured solver.
template <class View>
struct CoupledKernels {
    using Kernel = void (*)(const StepContext& context, const View& view);
    Kernel prepare, warm_start, solve, refresh, relax, relax_again, finish;
};

// What a pass does of a graph, in parts: a part reads what the ones before it wrote anywhere in the graph, and writes
// its own places and joints alone. So slices of a graph may be worked on at the same time.
enum class GraphPart : std::uint8_t {
    prepare,  // joints, once a tick
    place,
    show,
    refresh_members,
    refresh_joints,  // what depends on poses, in this order: places, joints, members, joints
    load,
    unload,  // velocities, from the bodies and back
    warm_start,
    push,  // joints' impulses; the members' velocities by what has changed of them
    solve,
    relax,
    hold,  // joints of an iteration, behind which comes push
    sum_up,
    take_back,  // a substep's impulses, into those of the tick and out of them
    finish,
};
inline constexpr std::size_t kGraphParts = std::size_t(GraphPart::finish) + 1;

// Of groups [begin, end) of the graph's places, members before others, and the joints that are at home there; `n`:
// which of Graph::step.
struct GraphKernels {
    using Kernel = void (*)(const StepContext& context, const GraphView& view, std::uint32_t begin, std::uint32_t end,
                            std::uint32_t n);
    Kernel parts[kGraphParts];
    Kernel operator[](GraphPart part) const { return parts[std::size_t(part)]; }
};

struct RigKernels {
    // `next`: slots that are likely to follow, links + 1 of them, or null: their bodies are fetched meanwhile.
    // True: some number is not far from the limits of quarantine_lost_bodies, and the poses that the bodies had are in
    // start_pose.
    bool (*alone)(const StepContext& context, std::uint32_t substeps, const ChainView& chains, AloneSlot* work,
                  const ChainSlot* next);
    // The same of a chain that is cut. `pieces`: as many as `work`.
    bool (*alone_cut)(const StepContext& context, std::uint32_t substeps, const ChainView& chains, AloneSlot* work,
                      PieceSlot* pieces);
    void (*prepare)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*warm_start)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*solve)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*refresh)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*relax)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*relax_again)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*finish)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    CoupledKernels<RigTreeView> trees;
    GraphKernels graphs;
};

// The target must be one of available_targets(), or automatic for the best.
const RigKernels& rig_kernels(Target target);

namespace ref {

// Further than kLeastSpan_m.
bool points_apart(Vec3 a, Vec3 b);
// lever_share (rigs/rig-inl.h) of arms in line. i, other_i: inverse inertia.
float lever_share_of(Vec3 own, Vec3 other, float i, float other_i);
float as_float(std::uint32_t count);
// The factors of the iterations of a graph: `accelerated` by Chebyshev's polynomials over the eigenvalues of the split
// operator, one after the other, of degree kMostDegree but for the last, else plain. iterations: 1 to
// kMaxRigIterations.
inline constexpr std::uint32_t kMostDegree = 16;
void make_graph_steps(bool accelerated, std::uint32_t iterations, float compliance, GraphStep* out);

}  // namespace ref
}  // namespace orrery::sim
