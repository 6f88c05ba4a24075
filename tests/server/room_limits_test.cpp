// Contract: a world that takes no further tick ends its room by the limit's name; what was recorded up to there
// verifies.
#include <doctest/doctest.h>

#include <string>

#include "protocol/session/key_frame.h"
#include "server/cli/verify.h"
#include "server/room/recorder.h"
#include "tests/support/sim_room.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::testing;
using server::Recorder;

namespace {

// The first player brings two bodies, the second 3,000 at one place: 4,498,500 pairs.
protocol::LoadedScene crowding_scene() {
    std::string crowd = R"({"name": "c0", "shape": "ball"})";
    for (int i = 1; i < 3000; ++i) crowd += R"(, {"name": "c)" + std::to_string(i) + R"(", "shape": "ball"})";
    const std::string text =
        R"({"scene_version": 1, "name": "crowd", "shapes": [{"name": "ball", "sphere": {"radius": 0.5}}],
        "templates": [{"name": "one", "bodies": [{"name": "ball", "shape": "ball"}]}, {"name": "crowd", "bodies": [)" +
        crowd + R"(]}],
        "slots": [{"name": "modest", "template": "one"}, {"name": "greedy", "template": "crowd", "position": [20, 0, 0]}]})";
    auto scene =
        protocol::load_scene(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), "crowd.json");
    if (!scene) FAIL(scene.error().to_string());
    return std::move(scene).value();
}

std::unique_ptr<Recorder> record(const test::TempFolder& folder, const protocol::LoadedScene& scene) {
    auto recorder = Recorder::open({.directory = folder.path(), .start_unix_s = 1},
                                   {scene.name, scene.binary, scene.scene_hash, scene.world.tick_rate_hz});
    REQUIRE(recorder.ok());
    return std::move(recorder).value();
}

}  // namespace

TEST_CASE(
    "a join that makes too many pairs ends the room by the limit's name, and its recording is whole up to there") {
    const test::TempFolder folder;
    const protocol::LoadedScene scene = crowding_scene();
    std::unique_ptr<Recorder> recorder = record(folder, scene);
    const std::string path = recorder->path();
    SimRoom sim(scene, {.recorder = std::move(recorder)});
    sim.add_client();
    sim.run(2.0);
    REQUIRE(sim.clients[0]->playing());
    CHECK_FALSE(sim.room->halted());
    sim.add_client();
    sim.run(2.0);
    REQUIRE(sim.room->halted());
    const std::uint64_t last = sim.room->world().tick();
    CHECK(last > 100);
    CHECK(sim.room->halted()->place == "tick " + std::to_string(last + 1));
    CHECK(sim.room->halted()->message.find("kMaxPairs") != std::string::npos);
    CHECK(sim.room->stop(sim.now()).ok());
    sim.server_running = false;
    sim.run(0.2);
    CHECK(sim.clients[0]->disconnect_reason == "the server stopped");

    for (const std::uint32_t workers : {1u, 3u}) {
        const server::VerifySettings settings{.replays = {}, .threads = workers, .require_complete = true};
        const server::VerifiedReplay replay = server::verify_replay(path, settings);
        CHECK(server::verify_exit_code(replay, settings) == 0);
        CHECK(replay.report.verdict == protocol::replay::Verdict::same);
        CHECK(replay.report.ticks == last);
        CHECK(replay.report.complete);
    }
}

TEST_CASE("a replay that claims a tick which no world can take is unreadable, by the limit's name") {
    const test::TempFolder folder;
    const protocol::LoadedScene scene = crowding_scene();
    auto world = sim::World::create(scene.world);
    REQUIRE(world.ok());
    std::unique_ptr<Recorder> recorder = record(folder, scene);
    for (std::uint64_t tick = 1; tick <= 3; ++tick) {
        std::vector<sim::Command> commands;
        if (tick == 3) {
            commands.emplace_back();
            commands.back().kind = sim::CommandKind::join;
            commands.back().slot = 1;
        } else {
            REQUIRE((*world)->step() == sim::StepStatus::ok);
        }
        REQUIRE(recorder->append_tick(tick, commands, (*world)->hash()).ok());
    }
    REQUIRE(recorder->close().ok());
    const server::VerifySettings settings;
    const server::VerifiedReplay replay = server::verify_replay(recorder->path(), settings);
    CHECK(server::verify_exit_code(replay, settings) == 2);
    const std::string text = server::verify_text(replay, settings);
    CHECK(text.find("unreadable: tick 3: has more than 4000000 pairs") != std::string::npos);
}

TEST_CASE("a world of more bodies than a joiner can be told is refused when its room is made, by name") {
    protocol::LoadedScene scene = crowding_scene();
    sim::BodyDef body;
    body.type = sim::BodyType::fixed;
    // Names count as they travel.
    const std::size_t count = protocol::kMaxKeyFrameBytes / protocol::kMaxWireNameBytes;
    const auto make = [&](std::size_t bodies) {
        scene.world.bodies.clear();
        for (std::size_t i = 0; i < bodies; ++i) {
            body.name = std::to_string(i);
            body.name.resize(protocol::kMaxWireNameBytes, '-');
            scene.world.bodies.push_back(body);
        }
        SeededRandom random(3);
        SimNetwork network(4);
        server::RoomConfig config;
        config.netcode.protocol_id = protocol::kNetcodeProtocolId;
        config.netcode.private_key = random.next_key();
        config.netcode.public_addresses = {protocol::Address::ipv4(10, 0, 0, 1, 7770)};
        auto& endpoint = network.attach(config.netcode.public_addresses[0]);
        auto room = server::Room::create(config, scene, nullptr, random, endpoint, protocol::kNsPerSecond);
        return room ? std::optional<Error>() : room.error();
    };
    const std::optional<Error> refused = make(count);
    REQUIRE(refused);
    CHECK(refused->code == ErrorCode::limit_reached);
    CHECK(refused->place == "crowd: bodies");
    CHECK(refused->message.find("kMaxKeyFrameBytes") != std::string::npos);
    CHECK_FALSE(make(count * 3 / 4));
}
