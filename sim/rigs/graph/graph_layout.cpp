#include "sim/rigs/graph/graph_layout.h"

#include <algorithm>

#include "sim/constraints/bundle.h"
#include "sim/rigs/rigs.h"

namespace orrery::sim {

void LaneRows::lay() {
    std::uint32_t in_lane[kBundleLanes] = {}, rows = 0;
    keys_.clear();
    for (const Thing& thing : things) {
        rows = std::max(rows, ++in_lane[thing.lane]);
        keys_.push_back(thing.key);
    }
    std::sort(keys_.begin(), keys_.end());
    struct Count {
        std::int64_t key;
        std::size_t things;
    };
    std::vector<Count> counts;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
        if (k == 0 || keys_[k] != keys_[k - 1]) counts.push_back({keys_[k], 0});
        ++counts.back().things;
    }
    std::stable_sort(counts.begin(), counts.end(), [](const Count& x, const Count& y) { return x.things > y.things; });
    chosen_.clear();
    for (std::size_t k = 0; k < std::min<std::size_t>(rows, counts.size()); ++k) chosen_.push_back(counts[k].key);
    // In one order in all groups, so that equal rows of groups lie side by side.
    std::sort(chosen_.begin(), chosen_.end(), std::greater<>());
    taken_.assign(rows, 0);
    row.assign(things.size(), kNone);
    run.assign(rows, kNoRun);
    for (std::size_t k = 0; k < chosen_.size(); ++k) run[k] = chosen_[k];
    for (std::size_t k = 0; k < things.size(); ++k) {
        const Thing& thing = things[k];
        const auto found = std::lower_bound(chosen_.begin(), chosen_.end(), thing.key, std::greater<>());
        if (found == chosen_.end() || *found != thing.key) continue;
        const auto at = static_cast<std::uint32_t>(found - chosen_.begin());
        if ((taken_[at] >> thing.lane & 1u) != 0) continue;
        taken_[at] |= 1u << thing.lane;
        row[k] = at;
    }
    for (std::size_t k = 0; k < things.size(); ++k) {
        if (row[k] != kNone) continue;
        std::uint32_t at = 0;
        while ((taken_[at] >> things[k].lane & 1u) != 0) ++at;
        taken_[at] |= 1u << things[k].lane;
        row[k] = at;
        run[at] = kNoRun;
    }
}

GraphShape shape_graph(std::span<const GraphLink> links, std::uint32_t members) {
    std::vector<std::uint32_t> homes(members), sides(members);
    const auto most = [](const std::vector<std::uint32_t>& counts) {
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < counts.size(); k += kBundleLanes)
            sum += *std::max_element(
                counts.begin() + static_cast<std::ptrdiff_t>(k),
                counts.begin() + static_cast<std::ptrdiff_t>(std::min(k + kBundleLanes, counts.size())));
        return sum;
    };
    enum class Rule { at_b, at_a, balanced };
    GraphShape best;
    std::uint64_t least = UINT64_MAX;
    for (const Rule rule : {Rule::at_b, Rule::at_a, Rule::balanced}) {
        GraphShape shape;
        std::fill(homes.begin(), homes.end(), 0u);
        std::fill(sides.begin(), sides.end(), 0u);
        for (const GraphLink& link : links) {
            const bool at_b = link.b != kNone && (link.a == kNone || rule == Rule::at_b ||
                                                  (rule == Rule::balanced && homes[link.b] <= homes[link.a]));
            shape.home_is_b.push_back(at_b);
            ++homes[at_b ? link.b : link.a];
            const std::uint32_t other = at_b ? link.a : link.b;
            if (other != kNone) ++sides[other];
        }
        shape.joint_groups = most(homes);
        shape.side_groups = most(sides);
        const std::uint64_t cost =
            std::uint64_t(shape.joint_groups) * 4 + shape.side_groups;  // about as they take time
        if (cost >= least) continue;
        least = cost;
        best = std::move(shape);
    }
    return best;
}

}  // namespace orrery::sim
