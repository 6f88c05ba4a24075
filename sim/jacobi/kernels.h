// The work of rigs on lanes: one constant table a target. A kernel works on the lanes of one bundle that a mask names; bundles
// may be worked on at the same time.
#pragma once

#include "sim/jacobi/chain.h"
#include "sim/solver/kernels.h"

namespace orrery::sim {

struct ChainView {
    const ChainBundle* bundle;
    const ChainSlot* slots;
    const ChainExtras* extras;
    RigForce* force;
    float* mean_n;    // by force_row, where bundle->breakable: N over the tick
};

struct RigKernels {
    // `next`: slots that are likely to follow, links + 1 of them, or null: their bodies are fetched meanwhile.
    void (*alone)(const StepContext& context, std::uint32_t substeps, const ChainView& chains, AloneSlot* work, const ChainSlot* next);
    void (*prepare)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*warm_start)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*solve)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*relax)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    void (*finish)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
};

// The target must be one of available_targets(), or automatic for the best.
const RigKernels& rig_kernels(Target target);

}  // namespace orrery::sim
