// Mirror mode and prediction through the C++ and C interface of the client SDK.
#include <doctest/doctest.h>

#include "tests/support/api_player.h"

using namespace orrery;
using namespace orrery::testing;

TEST_CASE("a game mirrors a room and predicts through the C interface") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    sim.add_client();
    Player player(sim);
    const std::vector<std::uint8_t> scene = read_file(std::string(ORRERY_SOURCE_DIR) + "/deploy/scenes/yard.json");
    REQUIRE(player.client->set_mode(ORRERY_MODE_MIRROR) == ORRERY_OK);
    REQUIRE(player.client->give_scene(scene) == ORRERY_OK);
    orrery_prediction prediction{};
    prediction.struct_size = sizeof prediction;
    prediction.on = 1;
    prediction.input_delay_ticks = 1;
    REQUIRE(player.client->set_prediction(prediction) == ORRERY_OK);
    player.connect();
    player.run(6.0);
    REQUIRE(player.client->state() == ORRERY_STATE_PLAYING);
    CHECK(player.client->set_mode(ORRERY_MODE_SNAPSHOTS) == ORRERY_WRONG_STATE);

    client::Samples samples;
    REQUIRE(player.client->sample(sim.now(), samples));
    CHECK(samples.ids.size() == static_cast<std::size_t>(player.bodies));
    CHECK(samples.ids.size() == sim.room->world().stats().bodies);
    CHECK(samples.tick > static_cast<double>(sim.room->world().tick()));  // ahead of the server
    const orrery_body_id own = player.client->own_body();
    REQUIRE(own != ORRERY_NO_BODY);
    const std::optional<orrery_body> body = player.client->body(own);
    REQUIRE(body);
    CHECK(body->slot == player.client->session()->slot);
    CHECK(std::string(body->template_name) != "");
    CHECK(player.client->shape(body->shape));
    CHECK(player.client->session()->scene_bytes > 0);

    const std::optional<orrery_mirror_stats> stats = player.client->mirror_stats();
    REQUIRE(stats);
    CHECK(stats->confirmed_tick > 250);
    CHECK(stats->predicted_tick > stats->confirmed_tick);
    CHECK(stats->hashes_compared > 100);
    CHECK(stats->divergences == 0);
    CHECK(stats->rollbacks > 0);
    CHECK(stats->rollbacks <= stats->others_controls + stats->own_controls + stats->other_commands);
}

TEST_CASE("a game that gives the room's scene plays by snapshots through the C interface") {
    SimRoom sim(load_test_scene("yard"), {});
    Player player(sim);
    REQUIRE(player.client->give_scene(read_file(std::string(ORRERY_SOURCE_DIR) + "/deploy/scenes/yard.json")) ==
            ORRERY_OK);
    player.connect();
    player.run(3.0);
    REQUIRE(player.client->state() == ORRERY_STATE_PLAYING);
    client::Samples samples;
    REQUIRE(player.client->sample(sim.now(), samples));
    CHECK(samples.ids.size() == static_cast<std::size_t>(player.bodies));
    CHECK(samples.ids.size() == sim.room->world().stats().bodies);
}

TEST_CASE("functions of mirror mode answer WRONG_STATE in the other mode, and check their arguments") {
    SimRoom sim(load_test_scene("yard"), {});
    Player player(sim);
    orrery_prediction prediction{};
    CHECK(player.client->set_prediction(prediction) == ORRERY_INVALID_ARGUMENT);  // struct_size is not set
    prediction.struct_size = sizeof prediction;
    CHECK(player.client->set_prediction(prediction) == ORRERY_WRONG_STATE);
    const std::uint8_t byte = 0;
    CHECK(player.client->give_scene({&byte, 1}) == ORRERY_INVALID_ARGUMENT);  // of snapshots, too: no scene
    CHECK_FALSE(player.client->mirror_stats());
    CHECK(player.client->set_mode(7) == ORRERY_INVALID_ARGUMENT);
    REQUIRE(player.client->set_mode(ORRERY_MODE_MIRROR) == ORRERY_OK);
    prediction.input_delay_ticks = 7;
    CHECK(player.client->set_prediction(prediction) == ORRERY_INVALID_ARGUMENT);
    prediction.input_delay_ticks = 6;
    prediction.max_rollback_ms = -1.0f;
    CHECK(player.client->set_prediction(prediction) == ORRERY_INVALID_ARGUMENT);
    prediction.max_rollback_ms = 4.0f;
    CHECK(player.client->set_prediction(prediction) == ORRERY_OK);
    CHECK(player.client->give_scene({}) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_set_mode(nullptr, 0) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_give_scene(nullptr, &byte, 1) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_set_prediction(nullptr, &prediction) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_get_mirror_stats(nullptr, nullptr) == ORRERY_INVALID_ARGUMENT);
    // The room does not take mirrors.
    player.connect();
    player.run(2.0);
    CHECK(player.end_reason == ORRERY_END_REFUSED);
    // As a client of snapshots it is welcome.
    REQUIRE(player.client->set_mode(ORRERY_MODE_SNAPSHOTS) == ORRERY_OK);
    player.connect();
    player.run(2.0);
    CHECK(player.client->state() == ORRERY_STATE_PLAYING);
}
