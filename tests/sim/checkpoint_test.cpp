// Going back to a checkpoint: the future from there is the one that was, in any world of the same definition.
#include <doctest/doctest.h>

#include "tests/support/varied_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// Hashes of `count` ticks from where the world is. Events are part of them.
std::vector<HashTree> go_on(World& world, int count) {
    std::vector<HashTree> hashes;
    for (int n = 0; n < count; ++n) {
        REQUIRE(world.step(varied_commands(world.tick())) == StepStatus::ok);
        hashes.push_back(world.hash());
    }
    return hashes;
}

}  // namespace

TEST_CASE("a world that goes back to a checkpoint has the same future, again and again, on any target") {
    const WorldDef def = varied_world();
    auto world = make_world(def);
    Checkpoint checkpoint;
    for (const int ticks : {0, 37, 61}) {  // the heap falls, a joint breaks, players come and go
        go_on(*world, ticks);
        const HashTree here = world->hash();
        const std::uint64_t tick = world->tick();
        world->checkpoint(checkpoint);
        REQUIRE(checkpoint.taken());
        CHECK(checkpoint.tick() == tick);
        const std::vector<HashTree> future = go_on(*world, 25);
        for (int again = 0; again < 2; ++again) {
            REQUIRE(world->roll_back(checkpoint).ok());
            CHECK(world->tick() == tick);
            CHECK(world->hash() == here);
            CHECK(go_on(*world, 25) == future);
        }
        for (const Target target : available_targets()) {
            auto other = make_world(def, target);
            go_on(*other, 5);
            REQUIRE(other->roll_back(checkpoint).ok());
            CHECK(go_on(*other, 25) == future);
        }
    }
}

TEST_CASE("what is spawned after going back collides as it was made, not as what had its place before") {
    WorldDef def;
    add_ground(def);
    const std::uint32_t ball = add_sphere_shape(def, 0.5f), box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    for (const bool ghost : {false, true}) {
        PrefabDef prefab;
        prefab.name = ghost ? "ghost" : "crate";
        BodyDef body;
        body.shape = ghost ? ball : box;
        body.mask = ghost ? 0 : ~0u;
        prefab.bodies.push_back(body);
        def.prefabs.push_back(prefab);
    }
    const auto spawn = [](World& world, std::uint32_t prefab) {
        Command c;
        c.kind = CommandKind::spawn;
        c.prefab = prefab;
        c.pose.position = {0.0f, 0.45f, 0.0f};
        world.step(std::span(&c, 1));
    };
    for (const std::uint32_t first : {0u, 1u}) {
        auto world = make_world(def), fresh = make_world(def);
        run(*world, 2);
        run(*fresh, 2);
        Checkpoint checkpoint;
        world->checkpoint(checkpoint);
        spawn(*world, first);
        run(*world, 3);
        REQUIRE(world->roll_back(checkpoint).ok());
        spawn(*world, 1 - first);
        run(*world, 3);
        spawn(*fresh, 1 - first);
        run(*fresh, 3);
        CHECK(world->hash() == fresh->hash());
        CHECK(world->stats().manifolds == first);  // the crate lies on the ground, the ghost falls through it
    }
}

TEST_CASE("an empty checkpoint and one of another world are refused, and change nothing") {
    auto world = make_world(varied_world());
    go_on(*world, 3);
    const HashTree before = world->hash();
    Checkpoint checkpoint;
    CHECK_FALSE(checkpoint.taken());
    const auto empty = world->roll_back(checkpoint);
    REQUIRE_FALSE(empty.ok());
    CHECK(empty.error().place == "checkpoint");

    WorldDef other = varied_world();
    other.gravity.y = -9.0f;
    make_world(other)->checkpoint(checkpoint);
    const auto foreign = world->roll_back(checkpoint);
    REQUIRE_FALSE(foreign.ok());
    CHECK(foreign.error().message.find("another definition") != std::string::npos);
    CHECK(world->hash() == before);

    const Checkpoint moved = std::move(checkpoint);
    CHECK(moved.taken());
    CHECK_FALSE(checkpoint.taken());
    CHECK_FALSE(world->roll_back(checkpoint).ok());
}
