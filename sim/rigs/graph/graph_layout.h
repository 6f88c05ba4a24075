// Where the joints of a graph lie: at home at which of their bodies, in which group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace orrery::sim {

// A joint of a graph by the ranks of its bodies among the members, kNone of what is no member.
struct GraphLink {
    std::uint32_t a, b;
};

// Things that go by lane, laid into as few rows as the fullest lane has things. Things whose key less their lane's
// place agrees lie in one row where they can: the sixteen are a run.
struct LaneRows {
    struct Thing {
        std::uint32_t lane;
        std::int64_t key;  // an index less the lane
        std::uint32_t what;
    };
    std::vector<Thing> things;
    std::vector<std::uint32_t> row;  // of each thing
    std::vector<std::int64_t> run;   // by row: the key that all its things have, or kNoRun
    static constexpr std::int64_t kNoRun = INT64_MIN;

    void lay();

  private:
    std::vector<std::int64_t> keys_, chosen_;
    std::vector<std::uint32_t> taken_;  // lanes, a bit each, by row
};

struct GraphShape {
    std::vector<bool> home_is_b;  // by link
    std::uint32_t joint_groups = 0, side_groups = 0;
};

// The homes that take the least room: all at the B, all at the A, or each where there are fewer by then; at a member
// always.
GraphShape shape_graph(std::span<const GraphLink> links, std::uint32_t members);

}  // namespace orrery::sim
