// The passes of graphs as sequences of parts (GraphPart): of a small graph one worker does all of them, of a large one
// all workers do each part together, slice by slice. Neither has an effect on the outcome.
#pragma once

#include <vector>

#include "sim/rigs/kernels.h"
#include "sim/solver/phases.h"

namespace orrery::sim {

enum class GraphPass : std::uint8_t { prepare, warm_start, hold, solve, relax, relax_again, finish };

// By this worker alone.
void run_graph(GraphPass pass, const GraphKernels& kernels, const StepContext& context, const GraphView& view);

// By all workers of an executor.
class GraphTeam {
  public:
    void run(GraphPass pass, const GraphKernels& kernels, const StepContext& context, const GraphView& view,
             Executor& executor);

  private:
    PhaseRunner runner_;
    std::vector<Phase> phases_;
};

// How many of so many workers can share its iterations, where that is faster than graphs side by side, each by one
// worker, of so many groups of joints in all; else 1.
std::uint32_t team_of(const Graph& graph, std::size_t joint_groups, std::uint32_t workers);

}  // namespace orrery::sim
