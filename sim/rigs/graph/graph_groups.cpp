#include <algorithm>

#include "sim/base/assert.h"
#include "sim/rigs/coupled_groups.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t groups(std::size_t count) {
    return static_cast<std::uint32_t>((count + kBundleLanes - 1) / kBundleLanes);
}
bool beside_centre(Vec3 anchor) { return anchor.x != 0.0f || anchor.y != 0.0f || anchor.z != 0.0f; }
constexpr std::uint32_t kFirstPlace = kBundleLanes;  // behind the row that is zero

}  // namespace

void GraphGroups::pack(const Rigs& rigs, const Bodies& bodies, std::span<const Joint> joints) {
    graphs_.clear();
    joints_.clear();
    bodies_.clear();
    sides_.clear();
    steps_.clear();
    planes_.clear();
    changes_.clear();
    for (std::uint32_t r = 0; r < rigs.rigs.size(); ++r) {
        if (rigs.rigs[r].method == RigMethod::exact) continue;
        place_.resize(bodies.size(), 0);
        fill(rigs, r, joints);
    }
    for (Graph& graph : graphs_) graph.step = steps_.data() + graph.first_step;
}

void GraphGroups::fill(const Rigs& rigs, std::uint32_t index, std::span<const Joint> joints) {
    const Rig& rig = rigs.rigs[index];
    Graph graph;
    graph.rig = index;
    const auto own_index = static_cast<std::uint32_t>(graphs_.size());
    graph.first_joints = static_cast<std::uint32_t>(joints_.size());
    graph.first_bodies = static_cast<std::uint32_t>(bodies_.size());
    graph.first_side = static_cast<std::uint32_t>(sides_.size());
    graph.first_plane = planes_.size();
    graph.first_change = changes_.size();
    graph.steps = rig.iterations;
    graph.compliance = rig.compliance;
    const auto alike = [&](const Graph& g) {
        return g.steps == graph.steps && g.compliance == graph.compliance && rigs.rigs[g.rig].method == rig.method;
    };
    if (!graphs_.empty() && alike(graphs_.back())) {
        graph.first_step = graphs_.back().first_step;
    } else {
        graph.first_step = static_cast<std::uint32_t>(steps_.size());
        steps_.resize(steps_.size() + graph.steps);
        ref::make_graph_steps(rig.method == RigMethod::jacobi, graph.steps, rig.compliance,
                              steps_.data() + graph.first_step);
    }

    place_bodies(graph, rigs, joints);
    place_joints(graph, joints);
    place_sides(graph, joints);
    std::uint32_t back = 0, ahead = 0;  // groups from a joint's home to its other body, at most
    for (const Placed& placed : placed_) {
        const std::uint32_t home = (placed.home - kFirstPlace) / kBundleLanes,
                            other = (placed.other - kFirstPlace) / kBundleLanes;
        if (other < graph.bodies) {
            back = std::max(back, home - std::min(home, other));
            ahead = std::max(ahead, other - std::min(home, other));
        }
        write(graph, placed, rig, joints);
        graph.breakable = graph.breakable || joints[placed.joint].break_force_n != kNoLimit;
        graph.rods = graph.rods || rig_link(joints[placed.joint].constraint)->rod;
    }
    choose_forms(graph);
    end_far_runs(graph, back, ahead);
    note_whole_groups(graph);
    // Joints read velocities, and bodies changes, up to so far: towards where bodies have to wait for less.
    graph.backwards = back > ahead;
    graph.ahead = graph_tiles(std::min(back, ahead));
    graph.lag = graph.ahead + graph_tiles(std::max(back, ahead));
    const std::size_t between = std::size_t(graph.lag) * kGraphTile * graph.joints / graph.bodies;
    const std::size_t depth = kGraphAtOnce / std::max<std::size_t>(between, 1);
    graph.depth = static_cast<std::uint32_t>(std::clamp<std::size_t>(depth, 1, graph.steps));
    for (std::size_t k = graph.first_joints; k < joints_.size(); ++k) joints_[k].graph = own_index;
    for (std::size_t k = graph.first_bodies; k < bodies_.size(); ++k) bodies_[k].graph = own_index;
    planes_.resize(planes_.size() + kGraphPlanes * graph.plane_rows(), Row{});
    changes_.resize(changes_.size() + kGraphChanges * graph.change_rows(), Row{});
    for (const Placed& placed : placed_) {
        for (const std::uint32_t body : {joints[placed.joint].a, joints[placed.joint].b}) place_[body] = 0;
    }
    graphs_.push_back(graph);
}

// Members in their order, so that what a scene lays out in rows and columns stays so; then the others as joints name
// them.
void GraphGroups::place_bodies(Graph& graph, const Rigs& rigs, std::span<const Joint> joints) {
    const Rig& rig = rigs.rigs[graph.rig];
    const auto members = std::span(rigs.bodies).subspan(rig.first_body, rig.members);
    const auto own = std::span(rigs.joints).subspan(rig.first, rig.links);
    graph.bodies = groups(members.size());
    for (std::uint32_t k = 0; k < members.size(); ++k) place_[members[k]] = kFirstPlace + k;
    const std::uint32_t first_outer = kFirstPlace + graph.bodies * kBundleLanes;
    std::vector<std::uint32_t> outer;
    std::vector<GraphLink> links;
    held_by_.assign(members.size(), 0);
    const auto rank = [&](std::uint32_t body) {
        if (place_[body] == 0) {
            place_[body] = first_outer + static_cast<std::uint32_t>(outer.size());
            outer.push_back(body);
        }
        if (place_[body] >= first_outer) return kNone;
        ORRERY_ASSERT(place_[body] - kFirstPlace < members.size());
        ++held_by_[place_[body] - kFirstPlace];
        return place_[body] - kFirstPlace;
    };
    for (const std::uint32_t i : own) {
        const std::uint32_t a = rank(joints[i].a), b = rank(joints[i].b);
        links.push_back({a, b});
    }
    graph.outer = groups(outer.size());
    bodies_.resize(bodies_.size() + graph.bodies + graph.outer, GraphBodies{});
    for (std::uint32_t k = 0; k < members.size(); ++k) {
        GraphBodies& group = bodies_[graph.first_bodies + k / kBundleLanes];
        group.body[k % kBundleLanes] = members[k];
        group.dynamic |= 1u << (k % kBundleLanes);
    }
    for (std::uint32_t k = 0; k < outer.size(); ++k)
        bodies_[graph.first_bodies + graph.bodies + k / kBundleLanes].body[k % kBundleLanes] = outer[k];

    const GraphShape shape = shape_graph(links, rig.members);
    placed_.clear();
    for (std::size_t k = 0; k < own.size(); ++k) {
        const Joint& joint = joints[own[k]];
        const bool at_b = shape.home_is_b[k];
        placed_.push_back({own[k], place_[at_b ? joint.b : joint.a], place_[at_b ? joint.a : joint.b], 0, at_b});
    }
}

// Groups of joints lie by that of their home. Their changes: the first joint of each group of bodies, then the second,
// so that what a run of bodies has lies side by side, too.
void GraphGroups::place_joints(Graph& graph, std::span<const Joint> joints) {
    std::vector<std::vector<std::uint32_t>> at(graph.bodies);  // joints by the group of their home
    for (std::uint32_t k = 0; k < placed_.size(); ++k) at[(placed_[k].home - kFirstPlace) / kBundleLanes].push_back(k);
    std::uint32_t most = 0;
    for (std::uint32_t g = 0; g < graph.bodies; ++g) {
        rows_.things.clear();
        for (const std::uint32_t k : at[g]) {
            const std::uint32_t lane = placed_[k].home % kBundleLanes;
            rows_.things.push_back({lane, std::int64_t(placed_[k].other) - lane, k});
        }
        // By how far the other body lies from home, so that the rows of all groups come in one order.
        rows_.lay();
        GraphBodies& group = bodies_[graph.first_bodies + g];
        group.first_own = graph.joints;
        group.own = static_cast<std::uint32_t>(rows_.run.size());
        for (std::size_t k = 0; k < at[g].size(); ++k) placed_[at[g][k]].group = graph.joints + rows_.row[k];
        for (const std::int64_t run : rows_.run) {
            GraphJoints& made = joints_.emplace_back();
            made.home = kFirstPlace + g * kBundleLanes;
            made.run = run != LaneRows::kNoRun ? 1 : 0;
            for (std::uint32_t lane = 0; made.run != 0 && lane < kBundleLanes; ++lane)
                made.other.at[lane] = static_cast<std::uint32_t>(run) + lane;
        }
        graph.joints += group.own;
        most = std::max(most, group.own);
    }
    std::uint32_t change = kFirstPlace;
    for (std::uint32_t row = 0; row < most; ++row) {
        for (std::uint32_t g = 0; g < graph.bodies; ++g) {
            const GraphBodies& group = bodies_[graph.first_bodies + g];
            if (row >= group.own) continue;
            joints_[graph.first_joints + group.first_own + row].change = change;
            change += kBundleLanes;
        }
    }
    for (const Placed& placed : placed_) {
        const RigLink link = *rig_link(joints[placed.joint].constraint);
        if (!beside_centre(link.anchor_a) && !beside_centre(link.anchor_b)) continue;
        joints_[graph.first_joints + placed.group].turns = 1;
        for (const std::uint32_t place : {placed.home, placed.other})
            bodies_[graph.first_bodies + place / kBundleLanes - 1].turns = 1;
    }
}

void GraphGroups::place_sides(const Graph& graph, std::span<const Joint> joints) {
    std::vector<std::vector<std::uint32_t>> at(graph.bodies);  // joints by the group of their other body
    for (std::uint32_t k = 0; k < placed_.size(); ++k) {
        const std::uint32_t group = (placed_[k].other - kFirstPlace) / kBundleLanes;
        if (group < graph.bodies) at[group].push_back(k);
    }
    for (std::uint32_t g = 0; g < graph.bodies; ++g) {
        rows_.things.clear();
        for (const std::uint32_t k : at[g]) {
            const std::uint32_t change = joints_[graph.first_joints + placed_[k].group].change +
                                         placed_[k].home % kBundleLanes,
                                lane = placed_[k].other % kBundleLanes;
            rows_.things.push_back({lane, std::int64_t(change) - lane, k});
        }
        rows_.lay();
        GraphBodies& group = bodies_[graph.first_bodies + g];
        group.first_side = static_cast<std::uint32_t>(sides_.size()) - graph.first_side;
        group.sides = static_cast<std::uint32_t>(rows_.run.size());
        for (const std::int64_t run : rows_.run) {
            GraphSides& side = sides_.emplace_back();
            side.run = run != LaneRows::kNoRun ? 1 : 0;
            for (std::uint32_t lane = 0; side.run != 0 && lane < kBundleLanes; ++lane)
                side.change.at[lane] = static_cast<std::uint32_t>(run) + lane;
        }
        for (std::size_t t = 0; t < rows_.things.size(); ++t) {
            const LaneRows::Thing& thing = rows_.things[t];
            const Placed& placed = placed_[thing.what];
            GraphSides& side = sides_[graph.first_side + group.first_side + rows_.row[t]];
            const RigLink link = *rig_link(joints[placed.joint].constraint);
            const Vec3 anchor = placed.home_is_b ? link.anchor_a : link.anchor_b;
            side.change.at[thing.lane] = static_cast<std::uint32_t>(thing.key + thing.lane);
            side.used.lane[thing.lane] = 1.0f;
            side.jointed |= 1u << thing.lane;
            side.turns |= joints_[graph.first_joints + placed.group].turns;
            side.rods |= link.rod ? 1u : 0u;
            set_lane(side.at, thing.lane, anchor);
        }
    }
}

// A run is read whole, lanes without a joint, too. Where one of those lies farther off than joints reach, another
// worker may be writing there meanwhile: such groups are gathered.
void GraphGroups::end_far_runs(const Graph& graph, std::uint32_t back, std::uint32_t ahead) {
    std::vector<std::uint32_t> home(graph.change_rows(), kNone);  // by row of changes, a group of bodies
    for (std::uint32_t k = 0; k < graph.joints; ++k) {
        const GraphJoints& joints = joints_[graph.first_joints + k];
        home[joints.change / kBundleLanes] = joints.home / kBundleLanes - 1;
    }
    const auto far = [&](std::uint32_t from, std::uint32_t other) {
        return from > other ? from - other > back : other - from > ahead;
    };
    const auto end = [](std::uint32_t& run, GraphEnds& ends, std::uint32_t used) {
        run = 0;
        for (std::uint32_t lane = 0; lane < kBundleLanes; ++lane) {
            if ((used >> lane & 1u) == 0) ends.at[lane] = 0;
        }
    };
    const auto any_unused = [](const GraphEnds& ends, std::uint32_t used, auto is_far) {
        for (std::uint32_t lane = 0; lane < kBundleLanes; ++lane) {
            if ((used >> lane & 1u) == 0 && is_far(ends.at[lane] / kBundleLanes)) return true;
        }
        return false;
    };
    for (std::uint32_t k = 0; k < graph.joints; ++k) {
        GraphJoints& joints = joints_[graph.first_joints + k];
        const std::uint32_t from = joints.home / kBundleLanes - 1;
        const auto is_far = [&](std::uint32_t row) { return row > 0 && row <= graph.bodies && far(from, row - 1); };
        if (joints.run != 0 && any_unused(joints.other, joints.jointed, is_far))
            end(joints.run, joints.other, joints.jointed);
    }
    for (std::uint32_t g = 0; g < graph.bodies; ++g) {
        const GraphBodies& group = bodies_[graph.first_bodies + g];
        const auto is_far = [&](std::uint32_t row) { return home[row] != kNone && far(home[row], g); };
        for (std::uint32_t k = 0; k < group.sides; ++k) {
            GraphSides& side = sides_[graph.first_side + group.first_side + k];
            if (side.run != 0 && any_unused(side.change, side.jointed, is_far))
                end(side.run, side.change, side.jointed);
        }
    }
}

void GraphGroups::note_whole_groups(const Graph& graph) {
    constexpr std::uint32_t kAllLanes = (1u << kBundleLanes) - 1u;
    for (std::uint32_t k = 0; k < graph.joints; ++k) {
        GraphJoints& joints = joints_[graph.first_joints + k];
        joints.whole = joints.run != 0 && joints.jointed == kAllLanes ? 1 : 0;
    }
    for (std::size_t k = graph.first_side; k < sides_.size(); ++k)
        sides_[k].whole = sides_[k].run != 0 && sides_[k].jointed == kAllLanes ? 1 : 0;
}

void GraphGroups::choose_forms(const Graph& graph) {
    for (std::uint32_t k = 0; k < graph.joints; ++k) {
        GraphJoints& group = joints_[graph.first_joints + k];
        bool even = true, balls = true, rods = true, sprung = false;
        for (std::uint32_t lane = 0; lane < kBundleLanes; ++lane) {
            if ((group.jointed >> lane & 1u) == 0) continue;
            const float other = group.split_other.lane[lane];
            even = even && (other == 0.0f || other == group.split_home.lane[lane]);
            (group.rod.lane[lane] > 0.0f ? balls : rods) = false;
            sprung = sprung || group.frequency_hz.lane[lane] > 0.0f;
        }
        group.form = even && balls ? GraphForm::even : even && rods ? GraphForm::axes : GraphForm::blocks;
        group.sprung = sprung ? 1 : 0;
    }
}

void GraphGroups::write(const Graph& graph, const Placed& placed, const Rig& rig, std::span<const Joint> joints) {
    const Joint& joint = joints[placed.joint];
    const RigLink link = *rig_link(joint.constraint);
    GraphJoints& group = joints_[graph.first_joints + placed.group];
    const std::uint32_t lane = placed.home % kBundleLanes, first_outer = kFirstPlace + graph.bodies * kBundleLanes;
    const auto split = [&](std::uint32_t place) {
        if (place >= first_outer) return 0.0f;
        return rig.method == RigMethod::jacobi ? ref::as_float(held_by_[place - kFirstPlace]) : 1.0f;
    };
    group.other.at[lane] = placed.other;
    group.force[lane] = force_row(placed.joint);
    group.jointed |= 1u << lane;
    group.rods |= link.rod ? 1u : 0u;
    group.used.lane[lane] = 1.0f;
    group.sign.lane[lane] = placed.home_is_b ? 1.0f : -1.0f;
    group.rod.lane[lane] = link.rod ? 1.0f : 0.0f;
    group.length.lane[lane] = link.length_m;
    set_lane(group.at_home, lane, placed.home_is_b ? link.anchor_b : link.anchor_a);
    set_lane(group.at_other, lane, placed.home_is_b ? link.anchor_a : link.anchor_b);
    group.split_home.lane[lane] = split(placed.home);
    group.split_other.lane[lane] = split(placed.other);
    group.frequency_hz.lane[lane] = link.spring.frequency_hz;
    group.damping_ratio.lane[lane] = link.spring.damping_ratio;
}

void GraphGroups::read_targets(std::span<const Joint> joints) {
    for (const Graph& graph : graphs_) {
        if (!graph.rods) continue;
        for (std::uint32_t k = 0; k < graph.joints * kBundleLanes; ++k) {
            GraphJoints& group = joints_[graph.first_joints + k / kBundleLanes];
            const std::uint32_t lane = k % kBundleLanes;
            if ((group.jointed >> lane & 1u) == 0) continue;
            group.length.lane[lane] = rig_link(joints[group.force[lane] - force_row(0)].constraint)->length_m;
        }
    }
}

void GraphGroups::begin_tick(const Rigs& rigs, const Bodies& bodies, std::span<const std::uint8_t> touched) {
    awake_.clear();
    for (std::uint32_t g = 0; g < graphs_.size(); ++g) {
        Graph& graph = graphs_[g];
        const bool asleep = bodies.asleep(rigs.bodies[rigs.rigs[graph.rig].first_body]);
        graph.alone = !asleep && touched[graph.rig] == 0 && !rigs.rigs[graph.rig].jointed_otherwise;
        if (!asleep) awake_.push_back(g);
    }
}

GraphView GraphGroups::view(std::uint32_t index, RigForce* force, float* mean_n) {
    const Graph& graph = graphs_[awake_[index]];
    return {&graph,
            joints_.data() + graph.first_joints,
            bodies_.data() + graph.first_bodies,
            sides_.data() + graph.first_side,
            planes_[graph.first_plane].lane,
            graph.plane_rows() * kBundleLanes,
            changes_[graph.first_change].lane,
            graph.change_rows() * kBundleLanes,
            {force, mean_n, graph.breakable}};
}

void GraphGroups::note_breaks(const Graph& graph, std::span<Joint> joints, const float* mean_n) const {
    if (!graph.breakable) return;
    for (std::uint32_t k = 0; k < graph.joints * kBundleLanes; ++k) {
        const GraphJoints& group = joints_[graph.first_joints + k / kBundleLanes];
        if ((group.jointed >> (k % kBundleLanes) & 1u) != 0) note_break(joints, group.force[k % kBundleLanes], mean_n);
    }
}
void GraphGroups::note_breaks(std::span<Joint> joints, const float* mean_n) const {
    for (const std::uint32_t g : awake_) note_breaks(graphs_[g], joints, mean_n);
}

void GraphGroups::offer(AloneTick& tick) const {
    for (const std::uint32_t g : awake_) {
        tick.graphs_alone = tick.graphs_alone || graphs_[g].alone;
        tick.breakable = tick.breakable || (graphs_[g].alone && graphs_[g].breakable);
    }
    tick.graphs = graphs_.data();
    tick.graph_count = static_cast<std::uint32_t>(graphs_.size());
    tick.graph_joints = joints_.data();
    tick.graph_joint_groups = static_cast<std::uint32_t>(joints_.size());
    tick.graph_bodies = bodies_.data();
    tick.graph_body_groups = static_cast<std::uint32_t>(bodies_.size());
    tick.graph_sides = sides_.data();
    tick.graph_side_groups = static_cast<std::uint32_t>(sides_.size());
    tick.graph_steps = steps_.data();
    tick.graph_step_count = static_cast<std::uint32_t>(steps_.size());
    tick.plane_rows = planes_.size();
    tick.change_rows = changes_.size();
}

std::uint32_t GraphGroups::leave_alone(std::span<Joint> joints, const float* mean_n,
                                       std::vector<std::uint32_t>& bodies) {
    const std::size_t before = awake_.size();
    for (const std::uint32_t g : awake_) {
        const Graph& graph = graphs_[g];
        if (!graph.alone) continue;
        note_breaks(graph, joints, mean_n);
        for (std::uint32_t k = 0; k < graph.bodies * kBundleLanes; ++k) {
            const GraphBodies& group = bodies_[graph.first_bodies + k / kBundleLanes];
            if ((group.dynamic >> (k % kBundleLanes) & 1u) != 0) bodies.push_back(group.body[k % kBundleLanes]);
        }
    }
    std::erase_if(awake_, [this](std::uint32_t g) { return graphs_[g].alone; });
    return static_cast<std::uint32_t>(before - awake_.size());
}

}  // namespace orrery::sim
