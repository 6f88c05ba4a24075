// Clients that mirror a room: a world of their own, stepped with the server's commands, over a network of 100 ms round
// trip, 20 ms jitter and 5 % loss on a virtual clock.
//
// ORRERY_MIRROR_SECONDS=600 runs the first test case for ten minutes of the game.
#include <doctest/doctest.h>

#include "tests/support/mirror_room.h"

using namespace orrery;
using namespace orrery::testing;

TEST_CASE("a mirror's hash is the server's at every tick, while two drivers drive over a bad network") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    HashCheck check(sim);
    SimClient& mirror = sim.add_mirror([&](client::Mirror& m) { m.set_observer(&check); });
    sim.add_client();
    const double seconds = seconds_of("ORRERY_MIRROR_SECONDS", 20.0);
    sim.run(seconds, wander);
    REQUIRE(mirror.playing());
    CHECK(mirror.times_connected == 1);
    CHECK(check.different == 0);
    CHECK(check.gaps == 0);
    CHECK(check.last + 30 > sim.room->world().tick());
    CHECK(check.same > static_cast<std::uint64_t>((seconds - 2.0) * 60.0));
    const client::MirrorStats& stats = mirror.connection.mirror()->stats();
    CHECK(stats.hashes_compared > check.same * 7 / 10);  // the others' datagrams were lost
    CHECK(stats.divergences == 0);
    const auto& counters = mirror.connection.link().counters();
    MESSAGE("ticks " << check.same << ", told hashes compared " << stats.hashes_compared << ", datagram bytes a tick "
                     << static_cast<double>(counters.bytes_received) / static_cast<double>(check.last));
    // The same bodies, by the same names.
    CHECK(mirror.connection.session()->hello().slot == 0);
    std::vector<client::ShownBody> shown;
    mirror.connection.mirror()->picture(sim.now(), mirror.connection.shown_tick(sim.now()), shown);
    CHECK(shown.size() == sim.room->world().stats().bodies);
    std::size_t named = 0;
    for (const protocol::MirrorBody& body : mirror.connection.session()->bodies())
        named += body.alive && !mirror.connection.session()->body_name(body.description.id).empty() ? 1 : 0;
    CHECK(named > 20);
}

TEST_CASE("a mirror that stood still for 5 s is back within 10 s, without a new state") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    HashCheck check(sim);
    SimClient& mirror = sim.add_mirror([&](client::Mirror& m) { m.set_observer(&check); });
    sim.add_client();
    sim.run(4.0, wander);
    REQUIRE(mirror.playing());
    mirror.runs = false;
    sim.run(5.0, wander);
    mirror.runs = true;
    double back_after = 0.0;
    while (back_after < 10.0 && check.last + 20 < sim.room->world().tick()) {
        sim.run(0.1, wander);
        back_after += 0.1;
    }
    MESSAGE("back after " << back_after << " s");
    CHECK(back_after < 10.0);
    sim.run(5.0, wander);
    CHECK(mirror.playing());
    CHECK(check.different == 0);
    CHECK(check.gaps == 0);
    CHECK(check.last + 30 > sim.room->world().tick());
    CHECK(mirror.connection.mirror()->stats().states == 1);
}

TEST_CASE("a mirror that diverges is told where, and goes on from a new state") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    HashCheck check(sim);
    SimClient& mirror = sim.add_mirror([&](client::Mirror& m) { m.set_observer(&check); });
    sim.add_client();
    sim.run(4.0, wander);
    REQUIRE(mirror.playing());
    std::vector<sim::BodyState> bodies;
    sim.room->world().read_bodies(bodies);
    const auto car = std::find_if(bodies.begin(), bodies.end(), [](const auto& body) { return body.slot == 1; });
    REQUIRE(car != bodies.end());
    mirror.connection.mirror()->disturb(sim::Command::impulse(car->id, {0.0f, 0.1f, 0.0f}));
    sim.run(6.0, wander);
    REQUIRE(mirror.divergences.size() == 1);
    CHECK(mirror.divergences[0].first > 200);
    CHECK(mirror.divergences[0].second == "bodies");
    CHECK(mirror.connection.mirror()->stats().states == 2);
    CHECK(mirror.times_connected == 1);
    const std::uint64_t wrong = check.different;
    CHECK(wrong > 0);
    CHECK(check.last + 30 > sim.room->world().tick());
    sim.run(2.0, wander);
    CHECK(check.different == wrong);
}

TEST_CASE("a body that is there again after a divergence has its name again") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    SimClient& mirror = sim.add_mirror([](client::Mirror&) {});
    sim.run(4.0, wander);
    REQUIRE(mirror.playing());
    const auto names = [&] {
        std::map<std::uint32_t, std::string> out;
        const protocol::ClientSession& session = *mirror.connection.session();
        for (const protocol::MirrorBody& body : session.bodies())
            if (body.alive && !session.body_name(body.description.id).empty())
                out.emplace(body.description.id.index, session.body_name(body.description.id));
        return out;
    };
    const std::map<std::uint32_t, std::string> before = names();
    REQUIRE(before.size() > 1);
    mirror.connection.mirror()->disturb(sim::Command::despawn({before.begin()->first, 0}));
    std::size_t least = before.size();
    for (int i = 0; i < 600; ++i) {
        sim.run(0.01, wander);
        least = std::min(least, names().size());
    }
    CHECK(least == before.size() - 1);
    CHECK(mirror.connection.mirror()->stats().states == 2);
    CHECK(names() == before);
}

TEST_CASE("the shown tick of a mirror never goes back, also where it diverges and goes on from a new state") {
    for (const bool predicts : {false, true}) {
        CAPTURE(predicts);
        SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
        client::PredictionSettings prediction;
        prediction.on = predicts;
        SimClient& player = sim.add_mirror([&](client::Mirror& m) { m.set_prediction(prediction); });
        sim.add_client();
        sim.run(4.0, wander);
        REQUIRE(player.playing());
        std::vector<client::ShownBody> shown;
        const auto shown_tick = [&] {
            return player.connection.mirror()->picture(sim.now(), player.connection.shown_tick(sim.now()), shown);
        };
        double tick = shown_tick(), worst_back = 0.0;
        for (int i = 0; i < 5000; ++i) {
            if (i % 2000 == 200)
                player.connection.mirror()->disturb(
                    sim::Command::impulse(shown.back().id, {0.0f, 1.0f, 0.0f}));  // of a car
            sim.run(0.002, wander);
            const double next = shown_tick();
            worst_back = std::max(worst_back, tick - next);
            tick = next;
        }
        CHECK(player.connection.mirror()->stats().states == 4);
        CHECK(worst_back <= 0.0);
    }
}

TEST_CASE("a room takes clients that mirror it only if its policy says so") {
    SimRoom sim(load_test_scene("yard"), {});
    SimClient& mirror = sim.add_mirror([](client::Mirror&) {});
    sim.run(2.0);
    CHECK(mirror.end_reason == client::EndReason::refused);
    REQUIRE(sim.truth.refusals.size() == 1);
    CHECK(sim.truth.refusals[0].reason == protocol::RefusalReason::mirror_not_allowed);
}

TEST_CASE("a room that gives its scene to nobody cannot allow mirrors, whoever makes it") {
    SimNetwork network(1);
    SeededRandom random(1);
    SimEndpoint& endpoint = network.attach(protocol::Address::ipv4(10, 0, 0, 1, 7770));
    server::RoomConfig config;
    config.netcode.public_addresses = {endpoint.address()};
    config.allow_mirror = true;
    const auto made =
        server::Room::create(config, load_test_scene("yard"), nullptr, random, endpoint, protocol::kNsPerSecond);
    REQUIRE_FALSE(made);
    CHECK(made.error().place == "allow_mirror");
    CHECK(made.error().message.find("serve_scene") != std::string::npos);
}

TEST_CASE("mirrors that diverge in one second share a save of the world") {
    SimRoom sim(load_test_scene("yard"), {.allow_mirror = true});
    for (int i = 0; i < 4; ++i) sim.add_mirror([](client::Mirror&) {});
    sim.run(4.0, wander);
    const std::uint64_t before = sim.room->stats().mirror_saves;
    CHECK(before >= 1);
    std::vector<sim::BodyState> bodies;
    sim.room->world().read_bodies(bodies);
    const auto car = std::find_if(bodies.begin(), bodies.end(), [](const auto& body) { return body.slot == 1; });
    REQUIRE(car != bodies.end());
    for (const auto& mirror : sim.clients) {  // in different ticks
        REQUIRE(mirror->playing());
        mirror->connection.mirror()->disturb(sim::Command::impulse(car->id, {0.0f, 0.1f, 0.0f}));
        sim.run(0.05, wander);
    }
    sim.run(3.0, wander);
    for (const auto& mirror : sim.clients) CHECK(mirror->connection.mirror()->stats().states == 2);
    CHECK(sim.room->stats().mirror_saves <= before + 2);
}

TEST_CASE("a mirror that has the scene does not ask for it, and one without a slot watches") {
    SimRoom sim(load_test_scene("yard"), {.allow_mirror = true});
    const std::vector<std::uint8_t> file = read_file(std::string(ORRERY_SOURCE_DIR) + "/deploy/scenes/yard.json");
    HashCheck check(sim);
    for (int i = 0; i < 4; ++i) sim.add_client();
    sim.run(1.0, wander);
    SimClient& mirror = sim.add_mirror([&](client::Mirror& m) {
        m.give_scene(file);
        m.set_observer(&check);
    });
    sim.run(3.0, wander);
    REQUIRE(mirror.playing());
    CHECK(mirror.connection.session()->hello().slot == protocol::kNoSlot);
    CHECK(mirror.connection.session()->scene().empty());
    CHECK(check.different == 0);
    CHECK(check.same > 100);
}
