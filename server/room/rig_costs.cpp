#include "server/room/rig_costs.h"

#include <algorithm>
#include <bit>

#include "sim/rigs/graph/graph_passes.h"

namespace orrery::server {
namespace {

// Of one core, in a substep.
constexpr double kHostLink_ms = 12e-6, kHostTreeJoint_ms = 120e-6;
constexpr double kHostGraphJoint_ms = 6e-6,
                 kHostWideGraphJoint_ms = 18e-6;  // in an iteration; of graphs that leave the cache
constexpr std::uint32_t kWideGraphGroups = 4096;  // of joints
// Of a GPU.
constexpr double kCall_ms = 0.15;
constexpr double kBodyCopied_ms = 12e-6,
                 kBodySent_ms = 2e-6;  // the former by the host's workers, of which more than eight help no more
constexpr std::uint32_t kMostCopiers = 8;
constexpr double kLink_ms = 0.3e-6, kLinkAlong_ms = 0.4e-3,
                 kTreeJointAlong_ms = 23e-3;  // along: of the longest one, whose links follow one another
constexpr double kGraphPass_ms = 4.5e-3,
                 kGraphJoint_ms = 0.12e-6;  // a pass over all joints or bodies; a joint in an iteration
constexpr std::uint32_t kGraphPasses = 13;  // of a substep, beside two for each iteration

}  // namespace

RigCosts rig_costs(const sim::AloneTick& tick) {
    double spread = 0.0, alone = 0.0, device = 0.0;  // of the host: what workers share, and the most that is one's
    std::uint32_t longest_chain = 0, longest_tree = 0, most_steps = 0;
    for (std::uint32_t k = 0; k < tick.alone_count; ++k) {
        const sim::ChainBundle& bundle = tick.bundles[tick.alone[k]];
        const double links = static_cast<double>(std::popcount(bundle.alone)) * bundle.links;
        spread += links * kHostLink_ms;
        device += links * kLink_ms;
        longest_chain = std::max(longest_chain, bundle.links);
    }
    for (std::uint32_t k = 0; k < tick.tree_count; ++k) {
        if (tick.trees[k].alone == 0) continue;
        spread += static_cast<double>(std::popcount(tick.trees[k].alone)) * tick.trees[k].links * kHostTreeJoint_ms;
        longest_tree = std::max(longest_tree, tick.trees[k].links);
    }
    std::size_t groups = 0;
    for (std::uint32_t k = 0; k < tick.graph_count; ++k) groups += tick.graphs[k].alone ? tick.graphs[k].joints : 0;
    for (std::uint32_t k = 0; k < tick.graph_count; ++k) {
        const sim::Graph& graph = tick.graphs[k];
        if (!graph.alone) continue;
        const double joints = static_cast<double>(graph.joints) * sim::kBundleLanes,
                     times = graph.steps * (tick.iterations + 1.0);
        const double ms =
            joints * times * (graph.joints < kWideGraphGroups ? kHostGraphJoint_ms : kHostWideGraphJoint_ms);
        spread += ms;
        alone = std::max(alone, ms / sim::team_of(graph, groups, tick.workers));
        device += joints * times * kGraphJoint_ms;
        most_steps = std::max(most_steps, graph.steps);
    }
    device += longest_chain * kLinkAlong_ms + longest_tree * kTreeJointAlong_ms;
    if (most_steps > 0) device += (kGraphPasses + 2.0 * most_steps * (tick.iterations + 1.0)) * kGraphPass_ms;
    const double bodies = tick.body_count;
    const std::uint32_t workers = std::max(1u, tick.workers);
    return {
        std::max(spread / workers, alone) * tick.substeps,
        device * tick.substeps + kCall_ms + bodies * (kBodyCopied_ms / std::min(workers, kMostCopiers) + kBodySent_ms)};
}

}  // namespace orrery::server
