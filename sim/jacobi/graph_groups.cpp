#include <algorithm>

#include "sim/jacobi/coupled_groups.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t groups(std::size_t count) { return static_cast<std::uint32_t>((count + kBundleLanes - 1) / kBundleLanes); }

}  // namespace

void GraphGroups::pack(const Rigs& rigs, const Bodies& bodies, std::span<const Joint> joints) {
    graphs_.clear();
    joints_.clear();
    bodies_.clear();
    sides_.clear();
    steps_.clear();
    change_.assign(1, {});
    for (std::uint32_t r = 0; r < rigs.rigs.size(); ++r) {
        if (rigs.rigs[r].method == RigMethod::exact) continue;
        if (inertia_.size() < bodies.size()) inertia_.resize(bodies.size());
        sides_of_.resize(bodies.size());
        fill(rigs, r, joints);
    }
    for (Graph& graph : graphs_) graph.step = steps_.data() + graph.first_step;
    std::fill(inertia_.begin(), inertia_.end(), InertiaRecord{});  // of what is not dynamic it stays so
}

void GraphGroups::fill(const Rigs& rigs, std::uint32_t index, std::span<const Joint> joints) {
    const Rig& rig = rigs.rigs[index];
    const auto members = std::span(rigs.bodies).subspan(rig.first_body, rig.members);
    const auto own = std::span(rigs.joints).subspan(rig.first, rig.links);
    Graph graph;
    graph.rig = index;
    graph.first_joints = static_cast<std::uint32_t>(joints_.size());
    graph.joints = groups(own.size());
    graph.first_bodies = static_cast<std::uint32_t>(bodies_.size());
    graph.bodies = groups(members.size());
    graph.first_change = static_cast<std::uint32_t>(change_.size());
    graph.first_step = static_cast<std::uint32_t>(steps_.size());
    graph.steps = rig.iterations;
    graph.warm = rig.method == RigMethod::block_jacobi;
    steps_.resize(steps_.size() + graph.steps);
    ref::make_graph_steps(rig.method == RigMethod::jacobi, graph.steps, rig.compliance, steps_.data() + graph.first_step);
    change_.resize(change_.size() + std::size_t(graph.joints) * kBundleLanes);
    joints_.resize(joints_.size() + graph.joints, GraphJoints{});
    bodies_.resize(bodies_.size() + graph.bodies, GraphBodies{});

    // Those with most sides first: sixteen that lie together have about as many.
    const auto in_rig = [&](std::uint32_t body) { return rigs.rig_of_body[body] == index; };
    for (const std::uint32_t body : members) sides_of_[body] = 0;
    for (const std::uint32_t i : own) {
        for (const std::uint32_t body : {joints[i].a, joints[i].b}) sides_of_[body] += in_rig(body) ? 1 : 0;
    }
    std::vector<std::uint32_t> order(members.begin(), members.end());
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) { return sides_of_[x] > sides_of_[y]; });
    first_side_.resize(sides_of_.size());  // where a body's lane is: group * lanes + lane
    for (std::uint32_t k = 0; k < order.size(); ++k) {
        GraphBodies& group = bodies_[graph.first_bodies + k / kBundleLanes];
        const std::uint32_t lane = k % kBundleLanes;
        group.body[lane] = order[k];
        group.dynamic |= 1u << lane;
        if (lane == 0) {
            group.first = static_cast<std::uint32_t>(sides_.size());
            group.sides = sides_of_[order[k]];
            sides_.resize(sides_.size() + group.sides, GraphSides{});
        }
        first_side_[order[k]] = (graph.first_bodies + k / kBundleLanes) * kBundleLanes + lane;
    }
    const auto split = [&](std::uint32_t body) {
        float number = 0.0f;
        if (in_rig(body) && rig.method == RigMethod::jacobi) number = ref::as_float(sides_of_[body]);
        else if (in_rig(body)) number = 1.0f;
        return number;
    };
    std::vector<float> splits(2 * own.size());
    for (std::size_t k = 0; k < own.size(); ++k) {
        splits[2 * k] = split(joints[own[k]].a);
        splits[2 * k + 1] = split(joints[own[k]].b);
    }
    for (const std::uint32_t body : members) sides_of_[body] = 0;  // now how many are in their place
    for (std::uint32_t k = 0; k < graph.joints * kBundleLanes; ++k) {
        GraphJoints& group = joints_[graph.first_joints + k / kBundleLanes];
        const std::uint32_t lane = k % kBundleLanes, row = graph.first_change + k;
        group.change[lane] = row;
        if (k >= own.size()) continue;
        const Joint& joint = joints[own[k]];
        const BallSocket& ball = *std::get_if<BallSocket>(&joint.constraint);
        group.body_a[lane] = joint.a;
        group.body_b[lane] = joint.b;
        group.force[lane] = force_row(own[k]);
        group.jointed |= 1u << lane;
        set_lane(group.at_a, lane, ball.anchor_a);
        set_lane(group.at_b, lane, ball.anchor_b);
        group.split_a.lane[lane] = splits[2 * k];
        group.split_b.lane[lane] = splits[2 * k + 1];
        group.frequency_hz.lane[lane] = ball.spring.frequency_hz;
        group.damping_ratio.lane[lane] = ball.spring.damping_ratio;
        group.compliance.lane[lane] = rig.compliance;
        graph.breakable = graph.breakable || joint.break_force_n != kNoLimit;
        for (const bool second : {false, true}) {
            const std::uint32_t body = second ? joint.b : joint.a;
            if (!in_rig(body)) continue;
            const std::uint32_t place = first_side_[body];
            GraphSides& side = sides_[bodies_[place / kBundleLanes].first + sides_of_[body]++];
            side.change[place % kBundleLanes] = row;
            side.sign.lane[place % kBundleLanes] = second ? 1.0f : -1.0f;
            set_lane(side.at, place % kBundleLanes, second ? ball.anchor_b : ball.anchor_a);
        }
    }
    graphs_.push_back(graph);
}

void GraphGroups::begin_tick(const Rigs& rigs, const Bodies& bodies) {
    awake_.clear();
    for (std::uint32_t g = 0; g < graphs_.size(); ++g) {
        if (!bodies.asleep(rigs.bodies[rigs.rigs[graphs_[g].rig].first_body])) awake_.push_back(g);
    }
}

GraphView GraphGroups::view(std::uint32_t index, RigForce* force, float* mean_n) {
    const Graph& graph = graphs_[awake_[index]];
    return {&graph,         joints_.data() + graph.first_joints, bodies_.data() + graph.first_bodies, sides_.data(),
            change_.data(), inertia_.data(),                      {force, mean_n, graph.breakable}};
}

void GraphGroups::note_breaks(std::span<Joint> joints, const float* mean_n) const {
    for (const std::uint32_t g : awake_) {
        const Graph& graph = graphs_[g];
        if (!graph.breakable) continue;
        for (std::uint32_t k = 0; k < graph.joints * kBundleLanes; ++k) {
            const GraphJoints& group = joints_[graph.first_joints + k / kBundleLanes];
            if ((group.jointed >> (k % kBundleLanes) & 1u) != 0) note_break(joints, group.force[k % kBundleLanes], mean_n);
        }
    }
}

}  // namespace orrery::sim
