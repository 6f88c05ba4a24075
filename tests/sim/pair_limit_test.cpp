// Guards: what a tick's pairs take is bounded, however bodies crowd. The exact number of pairs decides, whatever the
// trees remember, on every target and with any number of workers; a world with too many halts and says so.
#include <doctest/doctest.h>

#include <vector>

#include "sim/collision/broad/broad_phase.h"
#include "tests/support/body_worlds.h"
#include "tests/support/executors.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

namespace orrery::sim {
namespace {

constexpr float kDt = 1.0f / 60.0f, kMargin = 0.02f;

// What a broad phase without memory or limit finds.
std::vector<Pair> all_pairs(const test::TestBodies& world) {
    BroadPhase fresh;
    test::SerialExecutor serial;
    std::vector<Pair> pairs;
    fresh.update(world.bodies, world.shapes, kDt, kMargin, *broad_kernels_for(Target::scalar), serial);
    REQUIRE(test::find_pairs(fresh, world.bodies, {}, *broad_kernels_for(Target::scalar), serial, pairs, kNone));
    return pairs;
}

WorldDef heap_of_spheres(std::uint32_t count) {
    WorldDef def;
    def.shapes.push_back({"ball", ShapeType::sphere, 0.5f, 0.5f, {}});
    BodyDef body;
    body.shape = 0;
    def.bodies.assign(count, body);
    return def;
}

}  // namespace

TEST_CASE("the exact number of pairs decides, and up to the limit all are found, whatever was searched before") {
    test::Random random(7);
    test::TestBodies world;
    world.sphere(0.5f);
    world.plane();
    world.add(1, 0, {{0.0f, -1.0f, 0.0f}, {}});
    for (int i = 0; i < 400; ++i) {
        const std::uint8_t flags = i % 5 == 0 ? 0 : kBodyDynamic;
        // Fast bodies have fat bounds that meet far more often than the tight ones.
        const std::uint32_t body = world.add(0, flags, {random.vec(8.0f), {}});
        world.move(body, random.vec(i % 2 == 0 ? 60.0f : 1.0f), {});
        if (i % 3 == 0) continue;  // of more classes than there are
        body_info(world.bodies, body).category = 1u << random.below(3);
        body_info(world.bodies, body).mask = 1u | random.below(16);
    }
    std::vector<std::pair<Target, std::uint32_t>> runs;
    for (const Target target : available_targets()) runs.insert(runs.end(), {{target, 1u}, {target, 3u}});
    std::vector<BroadPhase> exact(runs.size()), tight(runs.size()), varying(runs.size());
    std::vector<Pair> pairs;
    for (std::uint32_t tick = 0; tick < 12; ++tick) {
        const std::vector<Pair> expected = all_pairs(world);
        const auto count = static_cast<std::uint32_t>(expected.size());
        REQUIRE(count > 100);
        for (std::size_t r = 0; r < runs.size(); ++r) {
            const BroadKernels& kernels = *broad_kernels_for(runs[r].first);
            test::SerialExecutor serial;
            test::ThreadedExecutor threads(3);
            Executor& executor = runs[r].second == 1 ? static_cast<Executor&>(serial) : threads;
            const auto find = [&](BroadPhase& broad, std::uint32_t limit) {
                broad.update(world.bodies, world.shapes, kDt, kMargin, kernels, executor);
                return test::find_pairs(broad, world.bodies, {}, kernels, executor, pairs, limit);
            };
            CHECK(find(exact[r], count));
            REQUIRE(pairs == expected);
            CHECK_FALSE(find(tight[r], count - 1));
            const std::uint32_t limits[] = {count * 10, count - 1, count, 1};
            const std::uint32_t limit = limits[tick % 4];
            REQUIRE(find(varying[r], limit) == (limit >= count));
            if (limit >= count) REQUIRE(pairs == expected);
        }
        Bodies& b = world.bodies;
        for (std::uint32_t i = 1; i < b.size(); ++i) {
            if (!b.dynamic(i)) continue;
            for (int k = 0; k < 3; ++k) b.pose[i].position[k] += b.velocity[i].linear[k] * kDt;
            if (random.below(20) == 0) world.place(i, {random.vec(8.0f), {}});
        }
    }
}

TEST_CASE("a world of too many pairs halts alike on every target and with any number of workers") {
    const WorldDef def = heap_of_spheres(3000);  // 4,498,500 pairs
    std::vector<std::uint8_t> start;
    test::make_world(def)->save(start);
    HashTree expected;
    for (const Target target : available_targets()) {
        for (const std::uint32_t workers : {1u, 3u}) {
            if (test::few() && workers == 1) continue;
            auto world = test::make_world(def, target);
            test::ThreadedExecutor executor(workers);
            CHECK(world->step({}, &executor) == StepStatus::too_many_pairs);
            CHECK(world->tick() == 0);
            if (expected == HashTree{}) expected = world->hash();
            CHECK(world->hash() == expected);
            CHECK(world->step({}, &executor) == StepStatus::too_many_pairs);
            CHECK(world->hash() == expected);
        }
    }
}

TEST_CASE("a halted world goes on from a restore and from a checkpoint, as one that never halted") {
    WorldDef def = heap_of_spheres(12);
    def.prefabs.push_back({"crowd", heap_of_spheres(3000).bodies, {}, {}});
    auto world = test::make_world(def);
    auto straight = test::make_world(def);
    test::run(*world, 2);
    test::run(*straight, 5);
    std::vector<std::uint8_t> saved, halted;
    world->save(saved);
    Checkpoint checkpoint;
    world->checkpoint(checkpoint);
    REQUIRE(world->stats().manifolds > 12);
    Command crowd = test::command(CommandKind::spawn);
    crowd.prefab = 0;
    CHECK(world->step(std::array{crowd}) == StepStatus::too_many_pairs);
    CHECK(world->step() == StepStatus::too_many_pairs);
    CHECK(world->tick() == 2);
    const HashTree hash = world->hash();
    world->save(halted);
    for (const bool back : {false, true}) {
        if (back)
            REQUIRE(world->roll_back(checkpoint).ok());
        else
            REQUIRE(world->restore(saved).ok());
        for (int i = 0; i < 3; ++i) CHECK(world->step() == StepStatus::ok);
        CHECK(world->hash() == straight->hash());
        REQUIRE(world->restore(halted).ok());  // contacts and all
        CHECK(world->hash() == hash);
        CHECK(world->step() == StepStatus::too_many_pairs);
    }
}

}  // namespace orrery::sim
