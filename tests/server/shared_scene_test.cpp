// Contract: rooms of one scene share its definition, and each is the room that it would be alone.
#include <doctest/doctest.h>

#include "tests/support/sim_room.h"

using namespace orrery;
using namespace orrery::testing;

namespace {

protocol::SharedScene shared(protocol::LoadedScene scene) {
    auto made = protocol::share_scene(std::move(scene));
    if (!made) FAIL(made.error().to_string());
    return std::move(made).value();
}

std::array<float, sim::kControlChannels> drive(std::size_t, std::uint64_t) { return {1.0f, 0.3f}; }

}  // namespace

TEST_CASE("rooms of one scene share its definition, and players of one are nothing to the other") {
    const protocol::LoadedScene loaded = load_test_scene("yard");
    const protocol::SharedScene scene = shared(loaded);
    CHECK(scene.name == loaded.name);
    CHECK(scene.binary == loaded.binary);
    CHECK(scene.scene_hash == loaded.scene_hash);
    SimRoom busy(scene, {}), quiet(scene, {}), alone_busy(loaded, {}), alone_quiet(loaded, {});
    CHECK(&busy.room->world().definition() == &scene.definition->def());
    CHECK(&quiet.room->world().definition() == &scene.definition->def());
    CHECK(&alone_busy.room->world().definition() != &alone_quiet.room->world().definition());
    busy.add_client();
    alone_busy.add_client();
    for (int n = 0; n < 10; ++n) {  // in turn
        for (SimRoom* room : {&busy, &quiet, &alone_busy, &alone_quiet}) room->run(0.3, drive);
    }
    CHECK(busy.clients[0]->playing());
    CHECK(busy.truth.hashes.size() > 150);
    CHECK(busy.truth.hashes == alone_busy.truth.hashes);
    CHECK(quiet.truth.hashes == alone_quiet.truth.hashes);
    CHECK(busy.truth.hashes != quiet.truth.hashes);
    CHECK(busy.room->description().hello.scene_hash == alone_busy.room->description().hello.scene_hash);
    CHECK(busy.room->description().names == alone_busy.room->description().names);
}

TEST_CASE("rooms keep the definition of a scene that nobody else holds any more") {
    protocol::SharedScene scene = shared(load_test_scene("yard"));
    const std::weak_ptr<const sim::Definition> watched = scene.definition;
    auto room = std::make_unique<SimRoom>(scene, SimRoomOptions{});
    scene = {};
    REQUIRE_FALSE(watched.expired());
    room->run(0.5);
    CHECK(room->room->world().tick() > 20);
    room.reset();
    CHECK(watched.expired());
}

TEST_CASE("a scene whose definition is malformed is refused by its element's name, shared or not") {
    protocol::LoadedScene scene = load_test_scene("yard");
    scene.world.bodies[2].shape = 10'000;
    const auto refused = protocol::share_scene(scene);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().place == "bodies[2].shape");
    SeededRandom random(3);
    SimNetwork network(4);
    auto& endpoint = network.attach(protocol::Address::ipv4(10, 0, 0, 1, 7770));
    const auto room = server::Room::create({}, scene, nullptr, random, endpoint, protocol::kNsPerSecond);
    REQUIRE_FALSE(room.ok());
    CHECK(room.error().place == "yard: bodies[2].shape");
    const auto empty =
        server::Room::create({}, protocol::SharedScene{}, nullptr, random, endpoint, protocol::kNsPerSecond);
    REQUIRE_FALSE(empty.ok());
    CHECK(empty.error().place == ": definition");
}
