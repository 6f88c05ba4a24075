// What a client tells of costs: the bytes of each body by snapshots, and the time of a mirror's and a player's steps.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/api_player.h"
#include "tests/support/yard_recording.h"

using namespace orrery;
using namespace orrery::testing;

namespace {

template <class Struct>
Struct sized() {
    Struct out{};
    out.struct_size = sizeof out;
    return out;
}

// A program that reads what each body costs.
struct Watcher {
    explicit Watcher(SimRoom& sim) : player(sim) {
        player.connect();
        player.run(4.0);
        REQUIRE(player.client->state() == ORRERY_STATE_PLAYING);
    }
    // Without a hand at the wheel.
    void idle(double seconds) {
        for (double t = 0.0; t < seconds; t += 0.016) {
            player.sim.run(0.016);
            player.client->set_control(std::array<float, 2>{0.0f, 0.0f});
            player.client->poll(player.sim.now());
        }
    }
    orrery_body_state state(orrery_body_id id) const {
        auto state = sized<orrery_body_state>();
        REQUIRE(orrery_client_get_body_state(player.client->handle(), id, &state) == ORRERY_OK);
        return state;
    }
    // Of all bodies.
    double bytes() {
        client::Samples samples;
        REQUIRE(player.client->sample(player.sim.now(), samples));
        double sum = 0.0;
        for (const orrery_body_id id : samples.ids) sum += static_cast<double>(state(id).bytes_last_second);
        return sum;
    }

    Player player;
};

// A clock that every reading moves on.
std::uint64_t ticking(void* user) { return *static_cast<std::uint64_t*>(user) += 1000; }

double sum_ms(const orrery_step_times& times) {
    return times.collision_ms + times.solver_ms + times.rigs_ms + times.rest_ms + times.state_ms;
}

}  // namespace

TEST_CASE("what a body takes of the snapshots is counted, and is nothing a second after it has come to rest") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link()});
    Watcher watcher(sim);
    const orrery_body_id own = watcher.player.client->own_body();
    REQUIRE(own != ORRERY_NO_BODY);
    for (int second = 0; second < 3; ++second) {
        const std::uint64_t before = watcher.player.client->stats().bytes_received;
        watcher.player.run(1.1);
        const auto received = static_cast<double>(watcher.player.client->stats().bytes_received - before);
        const double all = watcher.bytes();
        CHECK(all <= received);
        CHECK(all >= 0.3 * received);  // the rest is in the frames of packets
        const orrery_body_state car = watcher.state(own);
        CHECK(static_cast<double>(car.bytes_last_second) < 0.6 * all);
        CHECK(car.bytes_last_second > 100.0f);
        CHECK(car.updates_last_second >= 40);  // far_link() loses some
        CHECK(car.updates_last_second <= 60);
        CHECK(car.snapshots_left_out <= 2);
        CHECK(car.baseline_age_ticks >= 3);  // the way there and back
        CHECK(car.baseline_age_ticks < 64);
    }
    watcher.idle(12.0);
    const orrery_body_state car = watcher.state(own);
    CHECK(car.bytes_last_second == 0.0f);
    CHECK(car.updates_last_second == 0);
    CHECK(car.snapshots_left_out > 50);
    CHECK(static_cast<double>(car.snapshots_left_out) <= car.age_ticks);
    CHECK(watcher.bytes() > 0.0);  // others still move
}

TEST_CASE("a mirror has no bytes of bodies") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .serve_scene = true, .allow_mirror = true});
    Player player(sim);
    REQUIRE(player.client->set_mode(ORRERY_MODE_MIRROR) == ORRERY_OK);
    player.connect();
    player.run(4.0);
    auto state = sized<orrery_body_state>();
    REQUIRE(orrery_client_get_body_state(player.client->handle(), player.client->own_body(), &state) == ORRERY_OK);
    CHECK(state.known == 1);
    CHECK(state.bytes_last_second == 0.0f);
    CHECK(state.updates_last_second == 0);
    CHECK(state.snapshots_left_out == 0);
    CHECK(state.baseline_age_ticks == 0);
}

TEST_CASE("a mirror's steps are measured by part while it has a clock, and stay the server's") {
    SimRoom sim(load_test_scene("gallery/drive_bridge"),
                {.link = far_link(), .serve_scene = true, .allow_mirror = true});
    sim.add_client();
    Player player(sim);
    orrery_client* client = player.client->handle();
    std::uint64_t now = 0;
    auto times = sized<orrery_step_times>();
    CHECK(orrery_client_set_step_clock(client, ticking, &now) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_get_step_times(client, &times) == ORRERY_WRONG_STATE);
    REQUIRE(player.client->set_mode(ORRERY_MODE_MIRROR) == ORRERY_OK);
    auto prediction = sized<orrery_prediction>();
    for (const int on : {1, 0}) {
        prediction.on = on;
        REQUIRE(player.client->set_prediction(prediction) == ORRERY_OK);
        if (on == 1) player.connect();
        player.run(4.0);
        REQUIRE(player.client->state() == ORRERY_STATE_PLAYING);
        REQUIRE(orrery_client_get_step_times(client, &times) == ORRERY_OK);
        CHECK(times.measured == 0);
        CHECK(sum_ms(times) == 0.0);

        const std::uint64_t began = now, tick = player.client->mirror_stats()->confirmed_tick;
        REQUIRE(orrery_client_set_step_clock(client, ticking, &now) == ORRERY_OK);
        player.run(2.0);
        REQUIRE(orrery_client_get_step_times(client, &times) == ORRERY_OK);
        CHECK(times.measured == 1);
        CHECK(times.steps >= player.client->mirror_stats()->confirmed_tick - tick - 60);
        for (const double ms : {times.collision_ms, times.solver_ms, times.rigs_ms, times.rest_ms, times.state_ms})
            CHECK(ms > 0.0);
        const auto readings = static_cast<double>(now - began) * 1e-3;  // one from part to part
        CHECK(sum_ms(times) * 1e3 <= readings);
        CHECK(sum_ms(times) * 1e3 >= 0.7 * readings);
        CHECK(readings < 100.0 * static_cast<double>(times.steps));
        CHECK(player.client->mirror_stats()->hashes_compared > 100);
        CHECK(player.client->mirror_stats()->divergences == 0);

        REQUIRE(orrery_client_set_step_clock(client, nullptr, nullptr) == ORRERY_OK);
        const std::uint64_t ended = now;
        player.run(0.5);
        CHECK(now == ended);
    }
    CHECK(orrery_client_get_step_times(client, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_set_step_clock(nullptr, ticking, &now) == ORRERY_INVALID_ARGUMENT);
}

TEST_CASE("a player's steps are measured by part") {
    const std::vector<std::uint8_t> file = test::record_yard();
    orrery_player* player = nullptr;
    REQUIRE(orrery_player_open(file.data(), file.size(), &player, nullptr, 0) == ORRERY_OK);
    std::uint64_t now = 0;
    auto times = sized<orrery_step_times>();
    REQUIRE(orrery_player_step(player, 100) == ORRERY_OK);
    CHECK(now == 0);
    REQUIRE(orrery_player_set_step_clock(player, ticking, &now) == ORRERY_OK);
    REQUIRE(orrery_player_step(player, 140) == ORRERY_OK);
    REQUIRE(orrery_player_get_step_times(player, &times) == ORRERY_OK);
    CHECK(times.steps == 140);
    CHECK(sum_ms(times) * 1e3 == doctest::Approx(static_cast<double>(now) * 1e-3 - 140.0));  // one begins each step
    CHECK(times.state_ms * 1e3 == doctest::Approx(140.0));
    auto verdict = sized<orrery_player_verdict>();
    REQUIRE(orrery_player_get_verdict(player, &verdict) == ORRERY_OK);
    CHECK(verdict.state == ORRERY_VERDICT_SAME);
    CHECK(orrery_player_get_step_times(nullptr, &times) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_set_step_clock(nullptr, ticking, &now) == ORRERY_INVALID_ARGUMENT);
    orrery_player_close(player);
}
