// Guards: that a graph which all workers solve together comes out as one worker solves it, to the bit, whatever its
// shape, the number of workers, and the order in which an executor lets them run.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "server/room/thread_pool.h"
#include "sim/rigs/coupled_groups.h"
#include "sim/rigs/graph/graph_passes.h"
#include "tests/support/bodies.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

struct Draws : Lcg {
    using Lcg::Lcg;
    std::uint32_t below(std::uint32_t count) {
        return std::min(static_cast<std::uint32_t>(unit() * static_cast<float>(count)), count - 1);
    }
    Vec3 vec(float size) { return {between(-size, size), between(-size, size), between(-size, size)}; }
};

// Bodies in a row, each jointed to some that are near, forwards, backwards or both; held by fixed ones here and there.
// All else random.
struct Net {
    Bodies bodies = test::make_bodies();
    std::vector<Joint> joints;
    Rigs rigs;

    explicit Net(Draws& random) {
        const std::uint32_t count = 20 + random.below(random.below(2) == 0 ? 300 : 4000);
        for (std::uint32_t k = 0; k < count; ++k) {
            test::BodySpec spec;
            spec.position = random.vec(0.1f);
            spec.position.x += 0.1f * static_cast<float>(k);
            spec.linear = random.vec(1.0f);
            spec.angular = random.vec(1.0f);
            spec.mass = random.between(0.5f, 2.0f);
            spec.inertia = {random.between(0.5f, 2.0f), random.between(0.5f, 2.0f), random.between(0.5f, 2.0f)};
            if (random.below(200) == 0) spec.kind = kBodyKinematic;
            const std::uint32_t body = test::add_body(bodies, spec);
            const MassRecord& mass = mass_record(bodies, body);
            std::copy(std::begin(mass.inverse_inertia), std::end(mass.inverse_inertia),
                      bodies.inertia[body].inverse_inertia);
            bodies.inertia[body].inverse_mass = mass.inverse_mass;
        }
        const std::uint32_t widest = 1 + random.below(random.below(3) == 0 ? 600 : 60), way = random.below(3);
        for (std::uint32_t k = 1; k < 2 * count; ++k) {
            const std::uint32_t a = 1 + k % count, step = k < count ? 1 : 1 + random.below(widest);
            if (a + step > count) continue;
            std::uint32_t first = a, second = a + step;
            if (way == 1 || (way == 2 && random.below(2) == 0)) std::swap(first, second);
            const Spring spring =
                random.below(5) == 0 ? Spring{random.between(1.0f, 10.0f), random.between(0.1f, 1.0f)} : Spring{};
            const Vec3 arm = random.below(2) == 0 ? Vec3{} : random.vec(0.2f);
            if (random.below(3) == 0)
                joints.push_back(
                    test::make_joint(first, second, DistanceServo{arm, {}, random.between(0.1f, 1.0f), spring, {}}));
            else
                joints.push_back(test::make_joint(first, second, BallSocket{arm, {}, spring}));
        }
        SolverSettings settings;
        settings.rig_joints = 1;
        settings.rig_solver = random.below(3) == 0 ? RigSolver::block_jacobi : RigSolver::jacobi;
        settings.rig_iterations =
            1 + random.below(settings.rig_solver == RigSolver::jacobi ? 24 : 3);  // the other may diverge here
        find_rigs({{}, settings}, bodies, joints, rigs);
    }
};

struct Outcome {
    Bodies bodies;
    std::vector<RigForce> force;
    std::vector<float> mean;
};

// Lanes of runs that hold no joint, too, reach no farther than Graph::ahead and lag say: there another worker may be
// writing.
int reaching_too_far(const GraphView& g) {
    const Graph& graph = *g.graph;
    const auto tile = [](std::uint32_t group) { return static_cast<std::int64_t>(group / kGraphTile); };
    const auto within = [&](std::int64_t joint, std::int64_t other) {
        const std::int64_t forward = graph.backwards ? joint - other : other - joint;  // in the order of iterations
        return forward >= -std::int64_t(graph.ahead) && forward <= std::int64_t(graph.lag - graph.ahead);
    };
    std::vector<std::uint32_t> home(g.change_stride / kBundleLanes, kNone);
    int wrong = 0;
    for (std::uint32_t k = 0; k < graph.joints; ++k) {
        const GraphJoints& joints = g.joints[k];
        home[joints.change / kBundleLanes] = joints.home / kBundleLanes - 1;
        for (const std::uint32_t at : joints.other.at) {
            const std::uint32_t row = at / kBundleLanes;
            if (row > 0 && row <= graph.bodies) wrong += !within(tile(joints.home / kBundleLanes - 1), tile(row - 1));
        }
    }
    for (std::uint32_t group = 0; group < graph.bodies; ++group) {
        for (std::uint32_t k = 0; k < g.bodies[group].sides; ++k) {
            for (const std::uint32_t at : g.sides[g.bodies[group].first_side + k].change.at) {
                const std::uint32_t from = home[at / kBundleLanes];
                if (from != kNone) wrong += !within(tile(from), tile(group));
            }
        }
    }
    return wrong;
}

// All passes of two substeps; without an executor by one worker.
Outcome solved(const Net& rig, Executor* executor, std::size_t& widest) {
    Outcome out{rig.bodies, std::vector<RigForce>(rig.joints.size() + 1), std::vector<float>(rig.joints.size() + 1)};
    GraphGroups graphs;
    graphs.pack(rig.rigs, out.bodies, rig.joints);
    graphs.begin_tick(rig.rigs, out.bodies, std::vector<std::uint8_t>(rig.rigs.rigs.size(), 0));
    test::ShuffledExecutor serial(1);
    StepInput input = test::make_input(serial);
    const StepContext context = make_step_context(input, out.bodies);
    const GraphKernels& kernels = rig_kernels(Target::automatic).graphs;
    GraphTeam team;
    const auto pass = [&](GraphPass which) {
        for (std::uint32_t k = 0; k < graphs.awake(); ++k) {
            const GraphView view = graphs.view(k, out.force.data(), out.mean.data());
            widest = std::max(widest, std::size_t(view.graph->bodies));
            if (which == GraphPass::prepare) CHECK(reaching_too_far(view) == 0);
            if (executor)
                team.run(which, kernels, context, view, *executor);
            else
                run_graph(which, kernels, context, view);
        }
    };
    pass(GraphPass::prepare);
    for (int substep = 0; substep < 2; ++substep) {
        pass(GraphPass::warm_start);
        pass(GraphPass::hold);
        pass(GraphPass::solve);
        pass(GraphPass::solve);
        for (std::uint32_t i = 1; i < out.bodies.size(); ++i)
            out.bodies.pose[i].position[1] += 0.01f * out.bodies.velocity[i].linear[1];
        pass(GraphPass::relax);
        pass(GraphPass::relax_again);
    }
    pass(GraphPass::finish);
    return out;
}

bool same(const Outcome& a, const Outcome& b) {
    return test::same_bits(a.bodies, b.bodies) && a.mean.size() == b.mean.size() &&
           std::memcmp(a.force.data(), b.force.data(), a.force.size() * sizeof(RigForce)) == 0 &&
           std::memcmp(a.mean.data(), b.mean.data(), a.mean.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("a graph that all workers solve together has the bits of one that is one worker's") {
    Draws random(static_cast<std::uint32_t>(seeded(611)));
    for (int round = 0; round < sampled(40); ++round) {
        CAPTURE(round);
        const Net rig(random);
        std::size_t widest = 0;
        const Outcome expected = solved(rig, nullptr, widest);
        REQUIRE(widest > 0);
        int moved = 0;
        for (std::uint32_t i = 1; i < rig.bodies.size(); ++i) {
            const float now = expected.bodies.velocity[i].linear[0];
            CHECK(std::isfinite(now));
            if (now != rig.bodies.velocity[i].linear[0]) ++moved;
        }
        CHECK(moved > 10);
        const std::uint32_t workers = 2 + random.below(9);
        CAPTURE(workers);
        test::ShuffledExecutor shuffled(workers);
        CHECK(same(solved(rig, &shuffled, widest), expected));
        if (round % 4 != 0) continue;
        orrery::server::ThreadPool pool(2 + random.below(3));
        CHECK(same(solved(rig, &pool, widest), expected));
    }
}

TEST_CASE(
    "a graph is all workers' where it is large, they can share its iterations, and side by side would be slower") {
    Graph graph;
    graph.joints = 10'000;
    graph.bodies = 5'000;
    graph.lag = 3;
    graph.depth = 4;
    CHECK(team_of(graph, 10'000, 2) == 2);
    CHECK(team_of(graph, 10'000, 8) == 8);
    CHECK(team_of(graph, 10'000, 1) == 1);
    CHECK(team_of(graph, 20'000, 2) == 1);  // two alike
    CHECK(team_of(graph, 20'000, 8) == 8);
    CHECK(team_of(graph, 80'000, 8) == 1);
    graph.lag = 150;  // of 625 tiles: what joints reach across leaves two slices
    CHECK(team_of(graph, 10'000, 8) == 2);
    CHECK(team_of(graph, 20'000, 8) == 1);
    graph.lag = 625;
    CHECK(team_of(graph, 10'000, 8) == 1);
    graph.lag = 0;
    graph.joints = 20;
    CHECK(team_of(graph, 20, 8) == 1);
}
