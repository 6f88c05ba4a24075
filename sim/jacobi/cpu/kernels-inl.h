// The table of the rigs' kernels, of a lane namespace.

#if defined(ORRERY_JACOBI_CPU_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_JACOBI_CPU_KERNELS_INL_H_
#undef ORRERY_JACOBI_CPU_KERNELS_INL_H_
#else
#define ORRERY_JACOBI_CPU_KERNELS_INL_H_
#endif

#include "sim/jacobi/chain_alone-inl.h"
#include "sim/jacobi/chain_coupled-inl.h"
#include "sim/jacobi/graph-inl.h"
#include "sim/jacobi/tree-inl.h"

ORRERY_LANES_BEGIN

constexpr RigKernels make_rig_kernels() {
    using F = Number;
    return {solve_alone<F>,
            prepare_chains<F>,
            warm_start_chains<F>,
            solve_chains<F>,
            refresh_chains<F>,
            relax_chains<F>,
            relax_chains_again<F>,
            finish_chains<F>,
            {prepare_trees<F>, warm_start_trees<F>, solve_trees<F>, refresh_trees<F>, relax_trees<F>, relax_trees_again<F>, finish_trees<F>},
            make_graph_kernels<F>()};
}

ORRERY_LANES_END

#endif
