// Mirror mode and prediction through the C++ and C interface of the client SDK.
#include <doctest/doctest.h>

#include <cstring>

#include "orrery/client.hpp"
#include "tests/support/mirror_room.h"

using namespace orrery;
using namespace orrery::testing;

namespace {

void hook_send(void* user, const orrery_address* to, const std::uint8_t* datagram, std::size_t size) {
    protocol::Address address;
    address.family = static_cast<protocol::Address::Family>(to->family);
    address.port = to->port;
    std::memcpy(address.bytes.data(), to->bytes, 16);
    static_cast<SimEndpoint*>(user)->send(address, {datagram, size});
}

std::size_t hook_receive(void* user, orrery_address* from, std::uint8_t* buffer, std::size_t capacity) {
    SimDatagram datagram;
    if (!static_cast<SimEndpoint*>(user)->receive(datagram) || datagram.bytes.size() > capacity) return 0;
    from->family = static_cast<std::uint8_t>(datagram.from.family);
    from->port = datagram.from.port;
    std::memcpy(from->bytes, datagram.from.bytes.data(), 16);
    std::memcpy(buffer, datagram.bytes.data(), datagram.bytes.size());
    return datagram.bytes.size();
}

struct Player {
    explicit Player(SimRoom& room)
        : sim(room), endpoint(room.network.attach(protocol::Address::ipv4(10, 0, 50, 1, 5000))) {
        orrery_client_config config{};
        orrery_client_config_init(&config);
        config.transport = {hook_send, hook_receive, &endpoint};
        std::optional<client::Client> made = client::Client::create(&config);
        REQUIRE(made);
        client = std::make_unique<client::Client>(std::move(*made));
    }
    void connect() {
        const auto token = sim.mint(77);
        REQUIRE(client->connect(token, sim.now()) == ORRERY_OK);
    }
    void run(double seconds) {
        for (double t = 0.0; t < seconds; t += 0.016) {
            sim.run(0.016, wander);
            const std::array<float, sim::kControlChannels> control = wander(9, sim.room->world().tick());
            client->set_control(control);
            client->poll(sim.now());
            client::Event event;
            while (client->next_event(event)) {
                if (event.kind == ORRERY_EVENT_DISCONNECTED) end_reason = event.end_reason;
                bodies += event.kind == ORRERY_EVENT_BODY_ADDED ? 1 : event.kind == ORRERY_EVENT_BODY_REMOVED ? -1 : 0;
            }
        }
    }

    SimRoom& sim;
    SimEndpoint& endpoint;
    std::unique_ptr<client::Client> client;
    std::int32_t end_reason = ORRERY_END_NONE;
    int bodies = 0;
};

}  // namespace

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
