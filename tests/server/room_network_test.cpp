// A room and its clients over a simulated network: what must hold whatever the network does.
#include <doctest/doctest.h>

#include <cmath>

#include "client_sdk/src/interpolation.h"
#include "server/cli/verify.h"
#include "server/room/recorder.h"
#include "tests/support/seed.h"
#include "tests/support/sim_room.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::testing;

namespace {

std::array<float, sim::kControlChannels> weave(std::size_t client, std::uint64_t tick) {
    const float turn = static_cast<float>(std::sin(static_cast<double>(tick) * 0.02 + static_cast<double>(client)));
    return {1.0f, 0.4f * turn};
}

struct Outcome {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint64_t> snapshots;
};

Outcome play(std::uint64_t seed) {
    SimRoom sim(load_test_scene("yard"), {.seed = seed, .link = rough_link()});
    for (int i = 0; i < 4; ++i) sim.add_client();
    sim.run(12.0, weave);
    Outcome outcome;
    for (auto& client : sim.clients) {
        CHECK(client->playing());
        CHECK(client->times_connected == 1);
        CHECK(client->check.snapshots > 400);
        CHECK(client->check.complete_snapshots > 300);
        CHECK(client->check.checked_bodies > 2000);
        outcome.snapshots.push_back(client->check.snapshots);
        const protocol::SessionStats& stats = client->connection.session()->stats();
        CHECK(stats.snapshots_undecodable == 0);
        CHECK(stats.snapshots_lost > 0);
        CHECK(client->link.netcode().counters()[protocol::Ignored::replayed] > 0);
        CHECK(stats.input_slack_ticks > 0.5);
        CHECK(stats.input_slack_ticks < 3.0);
    }
    outcome.hashes = sim.truth.hashes;
    return outcome;
}

float travelled(SimRoom& sim, std::uint16_t slot) {
    std::vector<sim::BodyState> bodies;
    sim.room->world().read_bodies(bodies);
    for (const sim::BodyState& body : bodies) {
        if (body.slot != slot) continue;
        const sim::Vec3 from = sim.room->world().definition().slots[slot].pose.position;
        return std::hypot(body.pose.position.x - from.x, body.pose.position.z - from.z);
    }
    return -1.0f;
}

}  // namespace

TEST_CASE("snapshots over a rough network equal the server's state of their tick, and a seed repeats the whole run") {
    const Outcome first = play(test::seeded(11)), again = play(test::seeded(11)), other = play(test::seeded(12));
    CHECK(first.hashes.size() > 700);
    CHECK(first.hashes == again.hashes);
    CHECK(first.snapshots == again.snapshots);
    CHECK(first.hashes != other.hashes);
}

TEST_CASE("a room ticks from its start whether or not anyone is connected") {
    SimRoom sim(load_test_scene("yard"), {});
    sim.run(2.0);
    CHECK(sim.room->world().tick() >= 118);
    CHECK(sim.room->world().tick() <= 120);
}

TEST_CASE("a player's vehicle comes with the player, obeys, and goes with the player") {
    SimRoom sim(load_test_scene("yard"), {.link = {.delay = 20 * protocol::kNsPerMs}});
    SimClient& driver = sim.add_client();
    SimClient& watcher = sim.add_client();
    sim.run(8.0, [](std::size_t client, std::uint64_t) {
        return std::array<float, sim::kControlChannels>{client == 0 ? 1.0f : 0.0f};
    });
    REQUIRE(driver.playing());
    REQUIRE(watcher.playing());
    const std::uint16_t slot = driver.connection.session()->hello().slot;
    CHECK(travelled(sim, slot) > 5.0f);
    CHECK(travelled(sim, watcher.connection.session()->hello().slot) < 1.0f);
    const std::uint64_t removed_before = watcher.bodies_removed;
    driver.connection.disconnect(sim.now());
    sim.run(1.0);
    CHECK(sim.truth.disconnections == 1);
    CHECK(travelled(sim, slot) < 0.0f);
    CHECK(watcher.bodies_removed > removed_before);
    for (const protocol::MirrorBody& body : watcher.connection.session()->bodies()) {
        if (body.alive) CHECK(body.description.slot != slot);
    }
    // The seat is free again.
    sim.connect(driver, 1);
    sim.run(2.0);
    CHECK(driver.playing());
    CHECK(travelled(sim, slot) >= 0.0f);
}

TEST_CASE("a late joiner's bodies are the server's bodies") {
    SimRoom sim(load_test_scene("pyramid"), {.link = rough_link()});
    sim.run(3.0);
    SimClient& late = sim.add_client();
    sim.run(4.0);
    REQUIRE(late.playing());
    std::vector<sim::BodyState> bodies;
    sim.room->world().read_bodies(bodies);
    const auto mirror = late.connection.session()->bodies();
    std::size_t living = 0;
    for (const protocol::MirrorBody& body : mirror) living += body.alive ? 1u : 0u;
    CHECK(living == bodies.size());
    const std::vector<sim::BodyDef>& defined = sim.room->world().definition().bodies;
    REQUIRE(bodies.size() == defined.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const sim::BodyState& body = bodies[i];
        REQUIRE(body.id.index < mirror.size());
        CHECK(mirror[body.id.index].description.id == body.id);
        CHECK(mirror[body.id.index].description.shape == body.shape);
        CHECK(late.connection.session()->body_name(body.id) == defined[i].name);
    }
}

TEST_CASE("what a client shows is near the truth of the moment that it shows") {
    SimRoom sim(load_test_scene("yard"), {.link = rough_link()});
    SimClient& client = sim.add_client();
    sim.run(4.0, weave);
    REQUIRE(client.playing());
    double worst = 0.0, last_tick = 0.0;
    int compared = 0;
    for (int i = 0; i < 300; ++i) {
        sim.run(0.016, weave);
        const double tick = client.connection.shown_tick(sim.now());
        CHECK(tick >= last_tick);
        CHECK(static_cast<double>(sim.room->world().tick()) - tick < 20.0);
        last_tick = tick;
        const auto at = sim.truth.states.find(static_cast<std::uint64_t>(std::llround(tick)));
        if (at == sim.truth.states.end()) continue;
        const protocol::ClientSession& session = *client.connection.session();
        for (const auto& body : at->second) {
            if (!body.alive) continue;
            const auto shown = client::motion_at(tick, body.state.generation, session.history(body.state.index),
                                                 session.complete_ticks(), session.newest_tick(), 60.0);
            if (!shown) continue;
            const protocol::Motion truth = protocol::dequantise(body.state);
            const double error = std::hypot(shown->pose.position.x - truth.pose.position.x,
                                            shown->pose.position.y - truth.pose.position.y,
                                            shown->pose.position.z - truth.pose.position.z);
            worst = std::max(worst, error);
            ++compared;
        }
    }
    CHECK(compared > 1000);
    CHECK(worst < 0.5);  // half a tick's motion of the wrecking ball and what a lost snapshot hides
}

TEST_CASE("a client that expects something else is refused by name") {
    SimRoom sim(load_test_scene("yard"), {});
    protocol::ClientHello hello = protocol::default_client_hello();
    hello.scene_hash = 42;
    SimClient& wrong_scene = sim.add_client(hello);
    hello = protocol::default_client_hello();
    hello.schema_hash ^= 1;
    SimClient& wrong_schema = sim.add_client(hello);
    hello = protocol::default_client_hello();
    hello.engine_version = sim::kEngineVersion + 1;
    SimClient& wrong_engine = sim.add_client(hello);
    SimClient& right = sim.add_client();
    sim.run(3.0);
    CHECK(wrong_scene.disconnect_reason.find("another scene") != std::string::npos);
    CHECK(wrong_schema.disconnect_reason.find("message schemas") != std::string::npos);
    CHECK(wrong_engine.disconnect_reason.find("engine versions") != std::string::npos);
    CHECK(right.playing());
    CHECK(sim.truth.refusals.size() == 3);
    CHECK(sim.room->stats().clients == 1);
}

TEST_CASE("controls arrive in time on a steady network, and lateness is counted on one that grows slower") {
    SimRoom sim(load_test_scene("yard"), {.link = {.delay = 40 * protocol::kNsPerMs}});
    sim.add_client();
    sim.run(6.0, weave);
    const server::RoomStats settled = sim.room->stats();
    sim.run(5.0, weave);
    const server::RoomStats steady = sim.room->stats();
    CHECK(steady.inputs_late == settled.inputs_late);
    CHECK(steady.inputs_applied - settled.inputs_applied > 290);
    sim.network.set_default_link({.delay = 140 * protocol::kNsPerMs});
    sim.run(0.5, weave);
    const server::RoomStats slower = sim.room->stats();
    CHECK(slower.inputs_late > steady.inputs_late);
    CHECK(slower.inputs_repeated > steady.inputs_repeated);
    sim.run(8.0, weave);
    const server::RoomStats recovered = sim.room->stats();
    sim.run(4.0, weave);
    CHECK(sim.room->stats().inputs_late == recovered.inputs_late);
}

TEST_CASE("a server that stood still catches up four ticks, slips the rest, and says so") {
    SimRoom sim(load_test_scene("yard"), {});
    SimClient& client = sim.add_client();
    sim.run(3.0, weave);
    const std::uint64_t before = sim.room->world().tick();
    sim.server_running = false;
    sim.run(0.5, weave);
    CHECK(sim.room->world().tick() == before);
    sim.server_running = true;
    sim.run(0.002, weave);
    CHECK(sim.room->world().tick() == before + server::kMaxCatchUpTicks);
    REQUIRE(sim.truth.slips.size() == 1);
    CHECK(sim.truth.slips[0].first == before + 1);
    CHECK(sim.truth.slips[0].second > 400 * protocol::kNsPerMs);
    sim.run(5.0, weave);
    CHECK(client.playing());
    CHECK(client.slips == 1);
    CHECK(sim.room->world().tick() >= before + 4 + 295);
    CHECK(client.connection.session()->stats().input_slack_ticks < 3.0);
}

TEST_CASE("controls arrive again after a server's pause of any length") {
    for (const double pause_s : {0.3, 1.0, 3.0}) {
        for (const bool rough : {false, true}) {
            CAPTURE(pause_s);
            CAPTURE(rough);
            SimRoom sim(load_test_scene("yard"), {.link = rough ? rough_link() : SimLink{}});
            SimClient& client = sim.add_client();
            sim.run(4.0);
            REQUIRE(client.playing());
            const std::uint16_t slot = client.connection.session()->hello().slot;
            sim.server_running = false;
            sim.run(pause_s);
            sim.server_running = true;
            sim.run(0.3);
            REQUIRE(client.slips == 1);
            REQUIRE(travelled(sim, slot) < 1.0f);
            const auto full_throttle = [](std::size_t, std::uint64_t) {
                return std::array<float, sim::kControlChannels>{1.0f};
            };
            sim.run(2.0, full_throttle);
            CHECK(travelled(sim, slot) > 2.0f);
            const std::uint64_t applied = sim.room->stats().inputs_applied;
            sim.run(2.0, full_throttle);
            CHECK(sim.room->stats().inputs_applied > applied + 110);
            CHECK(client.connection.session()->stats().input_slack_ticks > 0.5);
            CHECK(client.connection.session()->stats().input_slack_ticks < 3.0);
        }
    }
}

TEST_CASE("an overloaded room sends each client snapshots, whatever tick its steps end at") {
    SimRoom sim(load_test_scene("yard"), {});
    SimClient& driver = sim.add_client();
    sim.run(3.0);
    for (int parity = 0; parity < 2; ++parity) {
        while (sim.room->world().tick() % 2 != static_cast<std::uint64_t>(parity)) sim.run(SimRoom::kStep * 1e-9);
        const std::uint64_t before = driver.check.snapshots;
        for (int i = 0; i < 20; ++i) {  // 0.1 s a turn: six ticks are due, four are stepped
            sim.server_running = false;
            sim.run(0.098);
            sim.server_running = true;
            sim.run(0.002);
        }
        CHECK(driver.check.snapshots > before + 15);
    }
}

TEST_CASE("a player whose controls stop lets go of them after half a second, and the recording says so") {
    const test::TempFolder folder;
    const protocol::LoadedScene scene = load_test_scene("yard");
    auto recorder = server::Recorder::open({.directory = folder.path(), .start_unix_s = 1},
                                           {scene.name, scene.binary, scene.scene_hash, scene.world.tick_rate_hz});
    REQUIRE(recorder.ok());
    const std::string path = (*recorder)->path();
    SimRoom sim(scene, {.recorder = std::move(recorder).value()});
    SimClient& driver = sim.add_client();
    const auto full_throttle = [](std::size_t, std::uint64_t) {
        return std::array<float, sim::kControlChannels>{1.0f};
    };
    const auto speed = [&] {
        std::vector<sim::BodyState> bodies;
        sim.room->world().read_bodies(bodies);
        for (const sim::BodyState& body : bodies) {
            if (body.slot == 0) return std::hypot(body.linear_velocity.x, body.linear_velocity.z);
        }
        return -1.0f;
    };
    sim.run(3.0, full_throttle);
    REQUIRE(driver.playing());
    const float driven = speed();
    CHECK(driven > 1.0f);
    // Only the way to the server fails: the connection stands.
    sim.network.set_link(protocol::Address::ipv4(10, 0, 2, 2, 5000), sim.server_address(), {.up = false});
    sim.run(4.0, full_throttle);
    CHECK(sim.room->stats().clients == 1);
    CHECK(speed() < 0.5f * driven);
    sim.network.set_link(protocol::Address::ipv4(10, 0, 2, 2, 5000), sim.server_address(), {});
    sim.run(3.0, full_throttle);
    CHECK(driver.playing());
    CHECK(speed() > 0.5f * driven);
    REQUIRE(sim.room->stop(sim.now()));
    const server::VerifySettings settings{.replays = {}, .require_complete = true};
    CHECK(server::verify_exit_code(server::verify_replay(path, settings), settings) == 0);
}

TEST_CASE("a client that falls silent is dropped, and its vehicle with it") {
    SimRoom sim(load_test_scene("yard"), {});
    sim.add_client();
    sim.run(2.0, weave);
    CHECK(sim.room->stats().playing == 1);
    sim.network.set_default_link({.up = false});
    sim.run(20.0);
    CHECK(sim.room->stats().clients == 0);
    CHECK_FALSE(sim.room->world().slot_taken(0));
    CHECK(sim.clients[0]->disconnect_reason == "timed out");
}

TEST_CASE("a stopped room tells its clients why") {
    SimRoom sim(load_test_scene("yard"), {.link = {.delay = 10 * protocol::kNsPerMs}});
    sim.add_client();
    sim.run(2.0);
    REQUIRE(sim.room->stop(sim.now()));
    sim.server_running = false;
    sim.run(0.2);
    CHECK(sim.clients[0]->disconnect_reason == "the server stopped");
}
