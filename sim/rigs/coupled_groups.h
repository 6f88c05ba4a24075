// Rigs that the CPU always solves with the coloured solver, in its last colour: trees, in bundles of one shape, and
// graphs.
#pragma once

#include <span>
#include <vector>

#include "sim/rigs/device/device.h"
#include "sim/rigs/graph/graph_layout.h"
#include "sim/rigs/kernels.h"
#include "sim/solver/solver.h"

namespace orrery::sim {

inline void note_break(std::span<Joint> joints, std::uint32_t row, const float* mean_n) {
    Joint& joint = joints[row - 1];
    joint.force_n = mean_n[row];
    joint.torque_nm = 0.0f;
    joint.broken = joint.force_n > joint.break_force_n;
}

class TreeGroups {
  public:
    void pack(const Rigs& rigs, const Bodies& bodies, std::span<const Joint> joints);
    // By rig, `touched`: something acts on it; `met`: by contact.
    void begin_tick(const Rigs& rigs, const Bodies& bodies, std::span<const std::uint8_t> touched,
                    std::span<const std::uint8_t> met);
    std::uint32_t awake() const { return static_cast<std::uint32_t>(awake_.size()); }  // bundles
    // `mean_n` by force_row. Valid until the next pack.
    RigTreeView view(std::uint32_t index, RigForce* force, float* mean_n);
    void note_breaks(std::span<Joint> joints, const float* mean_n) const;
    void offer(AloneTick& tick) const;
    // Those that were alone have been solved elsewhere: what joints broke, and their dynamic bodies, which `bodies`
    // goes on with. How many they were.
    std::uint32_t leave_alone(std::span<Joint> joints, const float* mean_n, std::vector<std::uint32_t>& bodies);

  private:
    void note_breaks(const TreeBundle& bundle, std::uint32_t lanes, std::span<Joint> joints, const float* mean_n) const;

    std::vector<TreeBundle> bundles_;
    std::vector<TreeSlot> slots_;
    std::vector<TreeSpan> spans_;
    std::vector<TreeWork> work_;  // beside slots_
    std::vector<TreeSpanWork> span_work_;
    std::vector<std::uint32_t> awake_;  // of a tick
};

class GraphGroups {
  public:
    void pack(const Rigs& rigs, const Bodies& bodies, std::span<const Joint> joints);
    void begin_tick(const Rigs& rigs, const Bodies& bodies, std::span<const std::uint8_t> touched);
    std::uint32_t awake() const { return static_cast<std::uint32_t>(awake_.size()); }  // graphs
    const Graph& graph(std::uint32_t index) const { return graphs_[awake_[index]]; }
    GraphView view(std::uint32_t index, RigForce* force, float* mean_n);
    void note_breaks(std::span<Joint> joints, const float* mean_n) const;
    void offer(AloneTick& tick) const;
    std::uint32_t leave_alone(std::span<Joint> joints, const float* mean_n, std::vector<std::uint32_t>& bodies);
    // What rods are to hold has changed, and no rig's shape.
    void read_targets(std::span<const Joint> joints);

  private:
    // A joint of the graph being packed, and where it comes to lie.
    struct Placed {
        std::uint32_t joint, home, other;  // places
        std::uint32_t group = 0;           // of the graph's joints
        bool home_is_b = false;
    };
    void fill(const Rigs& rigs, std::uint32_t rig, std::span<const Joint> joints);
    void place_bodies(Graph& graph, const Rigs& rigs, std::span<const Joint> joints);
    void place_joints(Graph& graph, std::span<const Joint> joints);
    void place_sides(const Graph& graph, std::span<const Joint> joints);
    void choose_forms(const Graph& graph);
    void end_far_runs(const Graph& graph, std::uint32_t back, std::uint32_t ahead);
    void note_whole_groups(const Graph& graph);
    void write(const Graph& graph, const Placed& placed, const Rig& rig, std::span<const Joint> joints);
    void note_breaks(const Graph& graph, std::span<Joint> joints, const float* mean_n) const;

    std::vector<Graph> graphs_;
    std::vector<GraphJoints> joints_;
    std::vector<GraphBodies> bodies_;
    std::vector<GraphSides> sides_;
    std::vector<GraphStep> steps_;
    std::vector<Row> planes_, changes_;
    std::vector<std::uint32_t> awake_;  // of a tick
    // While packing:
    std::vector<std::uint32_t> place_;    // by body; 0: none yet
    std::vector<std::uint32_t> held_by_;  // joints of a member, by place less that of the first
    std::vector<Placed> placed_;          // in the joints' order
    LaneRows rows_;
};

}  // namespace orrery::sim
