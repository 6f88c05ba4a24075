// The table of the rigs' kernels, of a lane namespace.

#if defined(ORRERY_RIGS_CPU_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_RIGS_CPU_KERNELS_INL_H_
#undef ORRERY_RIGS_CPU_KERNELS_INL_H_
#else
#define ORRERY_RIGS_CPU_KERNELS_INL_H_
#endif

#include "sim/rigs/chain/chain_alone-inl.h"
#include "sim/rigs/chain/chain_coupled-inl.h"
#include "sim/rigs/chain/chain_cut-inl.h"
#include "sim/rigs/graph/graph-inl.h"
#include "sim/rigs/tree/tree-inl.h"

ORRERY_LANES_BEGIN

constexpr RigKernels make_rig_kernels() {
    using F = Number;
    return {solve_alone<F>,
            solve_alone_cut<F>,
            prepare_chains<F>,
            warm_start_chains<F>,
            solve_chains<F>,
            refresh_chains<F>,
            relax_chains<F>,
            relax_chains_again<F>,
            finish_chains<F>,
            {prepare_trees<F>, warm_start_trees<F>, solve_trees<F>, refresh_trees<F>, relax_trees<F>,
             relax_trees_again<F>, finish_trees<F>},
            make_graph_kernels<F>()};
}

ORRERY_LANES_END

#endif
