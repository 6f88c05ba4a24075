// Guards: that graphs lie in runs where their scene does, and as densely as they can; that rods are told anew what to hold; and
// that graphs of every kind move alike on all targets, threads and ways through save and restore.
#include <doctest/doctest.h>

#include <cmath>

#include "server/room/thread_pool.h"
#include "sim/jacobi/graph_layout.h"
#include "sim/jacobi/rigs.h"
#include "tests/support/bodies.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr float kGap = 0.25f;

// Beads in rows and columns, held by their neighbours' ball sockets or by rods.
std::uint32_t add_net(WorldDef& def, std::uint32_t shape, std::uint32_t columns, std::uint32_t rows, Vec3 origin, bool rods) {
    const auto first = static_cast<std::uint32_t>(def.bodies.size());
    for (std::uint32_t row = 0; row < rows; ++row) {
        for (std::uint32_t column = 0; column < columns; ++column) {
            const std::uint32_t bead = add_body(def, shape, {origin.x + kGap * static_cast<float>(column), origin.y, origin.z + kGap * static_cast<float>(row)});
            const auto join = [&](std::uint32_t to, Vec3 half) {
                if (rods) add_joint(def, to, bead, DistanceServo{{}, {}, kGap, {}, {}});
                else add_joint(def, to, bead, BallSocket{half, {-half.x, 0.0f, -half.z}, {}});
            };
            if (column > 0) join(bead - 1, {kGap / 2, 0.0f, 0.0f});
            if (row > 0) join(bead - columns, {0.0f, 0.0f, kGap / 2});
        }
    }
    return first;
}

WorldDef graph_world() {
    WorldDef def;
    def.solver.rig_joints = 8;
    add_sphere_shape(def, 0.1f);
    return def;
}

// Nets of both kinds that fall on a ball, a hub whose spokes are held by many bodies and by springs, and rods among ball sockets.
WorldDef many_graphs(bool block_jacobi) {
    WorldDef def = graph_world();
    if (block_jacobi) def.solver.rig_solver = RigSolver::block_jacobi;
    const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.8f, -0.7f, 0.8f});
    def.bodies[ball].type = BodyType::fixed;
    for (const bool rods : {false, true}) {
        const std::uint32_t first = add_net(def, 0, 7, 6, {0.0f, rods ? 0.6f : 0.0f, 0.0f}, rods);
        add_joint(def, kNone, first, BallSocket{def.bodies[first].pose.position, {}, {}});
        add_joint(def, first + 3, first + 9, CenterDistance{0.3f, {20.0f, 1.0f}});
    }
    const auto hub = add_body(def, 0, {5.0f, 0.0f, 0.0f});
    for (std::uint32_t k = 0; k < 24; ++k) {
        const float angle = 0.26f * static_cast<float>(k), c = std::cos(angle), s = std::sin(angle);
        const auto spoke = add_body(def, 0, {5.0f + c, 0.0f, s}), hook = add_body(def, 0, {5.0f + 2.0f * c, 0.3f, 2.0f * s});
        def.bodies[hook].type = k % 2 == 0 ? BodyType::fixed : BodyType::kinematic;
        def.bodies[hook].mask = def.bodies[spoke].mask = 0;
        BallSocket inner;
        inner.anchor_b = {-c, 0.0f, -s};
        if (k % 3 == 0) inner.spring = {6.0f, 0.7f};
        if (k % 2 == 0) add_joint(def, hub, spoke, inner);
        else add_joint(def, spoke, hub, BallSocket{inner.anchor_b, {}, inner.spring});
        add_joint(def, spoke, hook, DistanceLimit{{}, {0.0f, -0.1f, 0.0f}, 1.0f, 1.0f, {}});
    }
    return def;
}

}  // namespace

TEST_CASE("the joints of a net lie in runs, two groups to sixteen bodies") {
    constexpr std::uint32_t kColumns = 100, kRows = 40;
    std::vector<GraphLink> links;
    for (std::uint32_t body = 0; body < kColumns * kRows; ++body) {
        if (body % kColumns > 0) links.push_back({body - 1, body});
        if (body >= kColumns) links.push_back({body - kColumns, body});
    }
    const GraphShape shape = shape_graph(links, kColumns * kRows);
    const std::uint32_t groups = kColumns * kRows / 16;
    CHECK(shape.joint_groups <= 2 * groups);
    CHECK(shape.side_groups <= 2 * groups);
    CHECK(std::all_of(shape.home_is_b.begin(), shape.home_is_b.end(), [](bool at_b) { return at_b; }));

    // Bodies 96 to 111, of which 100 begins a row: those to the left in one run, those above in another.
    LaneRows rows;
    for (std::uint32_t lane = 0; lane < 16; ++lane) {
        const std::int64_t body = 96 + lane;
        if (body % kColumns > 0) rows.things.push_back({lane, body - 1 - lane, 0});
        if (body >= kColumns) rows.things.push_back({lane, body - kColumns - lane, 0});
    }
    rows.lay();
    REQUIRE(rows.run.size() == 2);
    CHECK(rows.run[0] == 95);
    CHECK(rows.run[1] == -4);
    CHECK(std::all_of(rows.row.begin(), rows.row.end(), [](std::uint32_t row) { return row < 2; }));
}

TEST_CASE("whatever the links, each lies in one row of its lane, and the homes take no more room than all at the B do") {
    Lcg random(static_cast<std::uint32_t>(seeded(91)));
    const auto below = [&](std::uint32_t count) { return static_cast<std::uint32_t>(random.unit() * static_cast<float>(count)); };
    for (int round = 0; round < sampled(200); ++round) {
        LaneRows rows;
        std::uint32_t in_lane[16] = {}, most = 0;
        const std::uint32_t count = below(60);
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::uint32_t lane = below(16), key = below(4);
            rows.things.push_back({lane, key, k});
            most = std::max(most, ++in_lane[lane]);
        }
        rows.lay();
        CHECK(rows.run.size() == most);
        std::vector<bool> taken(16 * std::size_t(most));
        for (std::size_t k = 0; k < rows.things.size(); ++k) {
            const auto& thing = rows.things[k];
            REQUIRE(rows.row[k] < most);
            CHECK(!taken[16 * rows.row[k] + thing.lane]);
            taken[16 * rows.row[k] + thing.lane] = true;
            const std::int64_t run = rows.run[rows.row[k]];
            CHECK((run == LaneRows::kNoRun || run == thing.key));
        }
    }
    // A hub as A of all its spokes: at the spokes. As B: at the spokes, too.
    for (const bool hub_is_b : {false, true}) {
        std::vector<GraphLink> links;
        for (std::uint32_t k = 1; k < 200; ++k) links.push_back(hub_is_b ? GraphLink{k, 0} : GraphLink{0, k});
        CHECK(shape_graph(links, 200).joint_groups == 13);
    }
}

TEST_CASE("a rod that is given another length by a command or an actuator goes there") {
    for (const bool rig : {false, true}) {
        WorldDef def = graph_world();
        def.gravity = {};
        def.solver.rig_joints = rig ? 8 : 0;
        add_net(def, 0, 4, 3, {}, true);
        auto world = make_world(def);
        run(*world, 5);
        std::vector<Command> commands;
        for (std::uint32_t k = 0; k < def.joints.size(); ++k) {
            commands.push_back(command(CommandKind::motor_target));
            commands.back().joint = {k, 0};
            commands.back().value = 0.35f;
        }
        REQUIRE(world->step(commands, nullptr) == StepStatus::ok);
        run(*world, 120);
        const Vec3 a = state_of(*world, 0).pose.position, b = state_of(*world, 1).pose.position;
        CHECK(std::hypot(a.x - b.x, a.y - b.y, a.z - b.z) == doctest::Approx(0.35).epsilon(0.01));
    }
}

TEST_CASE("graphs have the same bits for every target, thread count and way through save and restore") {
    for (const bool block_jacobi : {false, true}) {
        const WorldDef def = many_graphs(block_jacobi);
        const auto hashes = [&](Target target, std::uint32_t threads, bool restore) {
            orrery::server::ThreadPool pool(threads);
            auto world = make_world(def, target);
            std::vector<std::uint8_t> saved;
            std::vector<std::uint64_t> roots;
            for (int n = 0; n < 60; ++n) {
                if (restore) {
                    world->save(saved);
                    world = make_world(def, available_targets()[static_cast<std::size_t>(n) % available_targets().size()]);
                    REQUIRE(world->restore(saved).ok());
                }
                std::vector<Command> commands;
                if (n % 8 == 5) {
                    commands.push_back(command(CommandKind::motor_target));
                    commands.back().joint = {73 + static_cast<std::uint32_t>(n), 0};
                    commands.back().value = 0.2f + 0.002f * static_cast<float>(n);
                }
                if (n == 40) {
                    commands.push_back(command(CommandKind::remove_joint));
                    commands.back().joint = {20, 0};
                }
                REQUIRE(world->step(commands, threads == 1 ? nullptr : &pool) == StepStatus::ok);
                roots.push_back(world->hash().root);
            }
            return roots;
        };
        const auto reference = hashes(Target::scalar, 1, false);
        for (const Target target : available_targets()) CHECK(hashes(target, 1, false) == reference);
        if (few()) continue;
        CHECK(hashes(best_target(), 3, false) == reference);
        CHECK(hashes(best_target(), 2, true) == reference);
    }
}
