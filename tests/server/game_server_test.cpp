// Contract: a game's server runs a director on either clock and ends as it is told, its recording verifies, and what is
// wrong with its configuration is named with its mend.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>

#include "orrery/server.hpp"
#include "server/cli/verify.h"
#include "tests/support/captured_output.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using server::GameServer;
using server::GameServerConfig;
using server::RoomInfo;

namespace {

const std::string kYard = ORRERY_SOURCE_DIR "/deploy/scenes/yard.json";

// Spawns a body each half second, calls `on_tick_of_world` and stops the server at `stop_at`.
class Game final : public server::Director {
  public:
    Game(const RoomInfo& room, std::uint64_t stop_at, std::function<void(std::uint64_t)> then = {})
        : request_stop_(room.request_stop), stop_at_(stop_at), then_(std::move(then)) {}
    void on_tick(const sim::World& world, std::vector<sim::Command>& orders) override {
        if (then_) then_(world.tick());
        if (world.tick() == stop_at_) request_stop_("somebody has won");
        if (world.tick() % 30 != 0) return;
        sim::Command order;
        order.kind = sim::CommandKind::spawn;
        order.prefab = 0;
        order.pose.position = {0.0f, 30.0f, 0.0f};
        orders.push_back(order);
    }

  private:
    std::function<void(std::string)> request_stop_;
    std::uint64_t stop_at_;
    std::function<void(std::uint64_t)> then_;
};

struct Ran {
    std::optional<Error> error;
    server::GameServerEnd end;
    std::string replay, out;
    std::optional<protocol::Address> address;
};

Ran run(const GameServerConfig& config, const server::DirectorFactory& make_director = {}) {
    Ran ran;
    ran.out = test::printed_by([&] {
                  const auto server = GameServer::create(config, make_director);
                  if (!server) return ran.error = server.error(), 1;
                  ran.address = (*server)->address();
                  ran.replay = (*server)->replay();
                  const auto end = (*server)->run();
                  if (!end) return ran.error = end.error(), 1;
                  ran.end = *end;
                  return 0;
              }).out;
    if (ran.error) INFO(ran.error->to_string());
    return ran;
}

GameServerConfig virtual_yard(const std::string& record) {
    GameServerConfig config;
    config.scene = kYard;
    config.record = record;
    config.clock = server::GameClock::virtual_time;
    return config;
}

GameServerConfig fast_yard(const std::string& record) {
    GameServerConfig config;
    config.scene = kYard;
    config.record = record;
    config.port = 0;
    config.tick_rate_hz = 240.0f;
    config.print = false;
    return config;
}

std::uint64_t verified_ticks(const std::string& replay) {
    const server::VerifySettings settings{.replays = {}, .require_complete = true};
    const server::VerifiedReplay verified = server::verify_replay(replay, settings);
    CHECK(server::verify_exit_code(verified, settings) == 0);
    return verified.report.ticks;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("on the virtual clock a director plays a match to its end, without a network, and its replay verifies") {
    const test::TempFolder folder;
    GameServerConfig config = virtual_yard(folder.path());
    config.room = "arena";
    config.history_ticks = 8;
    std::vector<std::uint64_t> ticks;
    std::string room, scene;
    std::uint64_t scene_hash = 0;
    std::size_t slots = 0;
    const auto began = std::chrono::steady_clock::now();
    const Ran ran = run(config, [&](const RoomInfo& info) {
        room = info.room, scene = info.scene, scene_hash = info.scene_hash, slots = info.definition.slots.size();
        return std::make_unique<Game>(info, 1199, [&](std::uint64_t tick) { ticks.push_back(tick); });
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    REQUIRE_FALSE(ran.error);
    CHECK(ran.end.cause == server::StopCause::requested);
    CHECK(ran.end.reason == "somebody has won");
    CHECK(ran.end.tick == 1200);
    CHECK(took.count() < 15.0);  // 20 s of the match
    REQUIRE(ticks.size() == 1200);
    for (std::uint64_t i = 0; i < ticks.size(); ++i) REQUIRE(ticks[i] == i);
    CHECK(room == "arena");
    CHECK(scene == "yard");
    CHECK(scene_hash != 0);
    CHECK(slots > 0);
    CHECK_FALSE(ran.address);
    CHECK(has(ran.replay, "yard-"));
    CHECK(has(ran.replay, "-arena.orr"));
    CHECK(has(ran.out, "running clock=virtual scene=yard tick_hz=60 replay=" + ran.replay));
    CHECK(has(ran.out, "recording=on recorded_tick=1200"));
    CHECK_FALSE(std::filesystem::exists(folder / "connect.token"));
    CHECK(verified_ticks(ran.replay) == 1200);
}

TEST_CASE("the definition of its scene lives as long as the director") {
    class Watcher final : public server::Director {
      public:
        explicit Watcher(bool& was_there) : was_there_(was_there) {}
        ~Watcher() override { was_there_ = !definition_.expired(); }
        void on_start(server::Room& room) override { definition_ = room.world().shared_definition(); }
        void on_tick(const sim::World&, std::vector<sim::Command>&) override {}

      private:
        bool& was_there_;
        std::weak_ptr<const sim::Definition> definition_;
    };
    const test::TempFolder folder;
    GameServerConfig config = virtual_yard(folder.path());
    config.stop_at_tick = 1;
    bool was_there = false;
    const Ran ran = run(config, [&](const RoomInfo&) { return std::make_unique<Watcher>(was_there); });
    REQUIRE_FALSE(ran.error);
    CHECK(was_there);
}

TEST_CASE("hands are for a server without a director of its own") {
    GameServerConfig config = virtual_yard("");
    config.hands = true;
    config.stop_at_tick = 5;
    CHECK_FALSE(run(config).error);
    const Ran both = run(config, [](const RoomInfo& info) { return std::make_unique<Game>(info, 0); });
    REQUIRE(both.error);
    CHECK(both.error->place == "hands (--hands)");
    CHECK(has(both.error->message, "without a director"));
}

TEST_CASE("servers share a scene, end at their tick, and record nothing without a folder") {
    auto loaded = protocol::load_scene(test::read_file(kYard), kYard);
    REQUIRE(loaded);
    const auto scene = protocol::share_scene(std::move(loaded).value());
    REQUIRE(scene);
    for (int i = 0; i < 2; ++i) {
        GameServerConfig config = virtual_yard("");
        config.scene.clear();
        config.shared_scene = *scene;
        config.stop_at_tick = 90;
        config.threads = 2;
        const Ran ran = run(config);
        REQUIRE_FALSE(ran.error);
        CHECK(ran.end.cause == server::StopCause::tick_limit);
        CHECK(ran.end.tick == 90);
        CHECK(ran.replay.empty());
        CHECK(has(ran.out, "recording=off"));
    }
    CHECK(scene->definition.use_count() == 1);
}

TEST_CASE(
    "on the wall clock a director stops the server, which then says goodbye, and a late one misses no tick limit") {
    const test::TempFolder folder;
    GameServerConfig config = fast_yard(folder.path());
    const Ran stopped = run(config, [](const RoomInfo& info) { return std::make_unique<Game>(info, 50); });
    REQUIRE_FALSE(stopped.error);
    CHECK(stopped.end.cause == server::StopCause::requested);
    CHECK(stopped.end.tick >= 51);
    CHECK(stopped.end.tick <= 54);  // of a room that caught up
    REQUIRE(stopped.address);
    CHECK(stopped.address->port != 0);
    CHECK_FALSE(has(stopped.out, "listening"));
    CHECK(std::filesystem::exists(folder / "connect.token"));
    CHECK(verified_ticks(stopped.replay) == stopped.end.tick);

    config.stop_at_tick = 61;
    const Ran late = run(config, [](const RoomInfo& info) {
        return std::make_unique<Game>(info, 0xffffffff, [](std::uint64_t tick) {
            if (tick == 57 || tick == 59) std::this_thread::sleep_for(std::chrono::milliseconds(40));
        });
    });
    REQUIRE_FALSE(late.error);
    CHECK(late.end.cause == server::StopCause::tick_limit);
    CHECK(late.end.tick == 61);
    CHECK(verified_ticks(late.replay) == 61);
}

TEST_CASE("a request to stop wakes a server that waits, and one before the run leaves no tick") {
    const test::TempFolder folder;
    GameServerConfig config = fast_yard(folder.path());
    config.tick_rate_hz = 1.0f;
    double took_s = 0.0;
    std::uint64_t ticks = 99, early_ticks = 99;
    std::string reason, second_run;
    const test::Printed printed = test::printed_by([&] {
        const auto server = GameServer::create(config);
        if (!server) return 1;
        std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            (*server)->request_stop("the match was called off");
            (*server)->request_stop("too late");
        });
        const auto began = std::chrono::steady_clock::now();
        const auto end = (*server)->run();
        took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        other.join();
        if (!end) return 2;
        ticks = end->tick, reason = end->reason;
        const auto again = (*server)->run();
        if (!again) second_run = again.error().to_string();

        const auto early = GameServer::create(config, [](const RoomInfo& info) {
            info.request_stop("nobody came");
            return std::make_unique<Game>(info, 0);
        });
        if (!early) return 3;
        const auto early_end = (*early)->run();
        if (!early_end) return 4;
        early_ticks = early_end->tick;
        return 0;
    });
    REQUIRE(printed.code == 0);
    CHECK(took_s < 0.9);  // before the first tick
    CHECK(ticks == 0);
    CHECK(reason == "the match was called off");
    CHECK(has(second_run, "make another server"));
    CHECK(early_ticks == 0);
}

TEST_CASE("a director's exception leaves the run, and the recording holds the ticks before it") {
    const test::TempFolder folder;
    std::string replay, caught;
    const test::Printed printed = test::printed_by([&] {
        const auto server = GameServer::create(virtual_yard(folder.path()), [](const RoomInfo& info) {
            return std::make_unique<Game>(info, 0xffffffff, [](std::uint64_t tick) {
                if (tick == 10) throw std::runtime_error("a fault of the game");
            });
        });
        if (!server) return 1;
        replay = (*server)->replay();
        try {
            return (*server)->run() ? 2 : 3;
        } catch (const std::runtime_error& error) {
            caught = error.what();
        }
        return 0;
    });
    CHECK(printed.code == 0);
    CHECK(caught == "a fault of the game");
    const server::VerifiedReplay verified = server::verify_replay(replay, {});
    CHECK(server::verify_exit_code(verified, {}) == 0);
    CHECK(verified.report.ticks == 10);
    CHECK_FALSE(verified.report.complete);
}

TEST_CASE("what is wrong with a configuration is named with its mend and its exit code") {
    const test::TempFolder folder;
    std::filesystem::create_directory(folder / "taken");
    std::filesystem::create_directories(folder / "taken/connect.token");  // a token cannot be written there
    test::write_file(folder / "file", {1});
    struct Case {
        std::function<void(GameServerConfig&)> spoil;
        int code;
        std::string place, says;
    };
    const std::vector<Case> cases = {
        {[](auto& c) { c.scene.clear(); }, 64, "scene", "name a file"},
        {[](auto& c) { c.shared_scene.emplace(); }, 64, "scene", "one of them"},
        {[](auto& c) { c.scene.clear(), c.shared_scene.emplace(); }, 64, "shared_scene", "share_scene"},
        {[](auto& c) { c.tick_rate_hz = 0.0f; }, 64, "tick_rate_hz", "1 to 1000"},
        {[](auto& c) { c.tick_rate_hz = std::numeric_limits<float>::quiet_NaN(); }, 64, "tick_rate_hz", "1 to 1000"},
        {[](auto& c) { c.bind = "localhost"; }, 64, "bind", "127.0.0.1"},
        {[](auto& c) { c.bind = "0.0.0.0"; }, 64, "bind 0.0.0.0", "needs key_file"},
        {[](auto& c) { c.bind = "::", c.insecure = true; }, 64, "bind ::", "needs insecure_public"},
        {[](auto& c) { c.insecure_public = true; }, 64, "insecure_public", "needs insecure"},
        {[](auto& c) { c.allow_mirror = true, c.serve_scene = false; }, 64, "allow_mirror", "leave serve_scene on"},
        {[](auto& c) { c.insecure = true, c.key_file = "key"; }, 64, "insecure", "one of them"},
        {[](auto& c) { c.record.clear(); }, 64, "record", "set key_file or insecure"},
        {[](auto& c) {
             c.public_addresses = {"10.0.0.1:1", "10.0.0.1:0"};
         },
         64, "public_addresses[1]", "not 0"},
        {[](auto& c) { c.public_addresses = {"nowhere"}; }, 64, "public_addresses[0]", "nowhere"},
        {[](auto& c) { c.max_clients = 0; }, 64, "max_clients", "1 to 1024"},
        {[](auto& c) { c.allowed_origins = {"https://a.b/c"}; }, 64, "allowed_origins[0]", "not an origin"},
        {[](auto& c) { c.http = false, c.http_port = 7780; }, 64, "http (--no-http)", "leave them out"},
        {[](auto& c) { c.web = "/nonexistent"; }, 2, "web /nonexistent", "name a folder"},
        {[](auto& c) { c.threads = 0; }, 64, "threads", "1 to 256"},
        {[](auto& c) { c.jacobi = "gpu"; }, 64, "jacobi", "auto, cpu or cuda"},
        {[](auto& c) { c.status_every_s = -1.0; }, 64, "status_every_s", "0 to 3600"},
        {[&](auto& c) { c.key_file = folder / "none"; }, 2, folder / "none", "make one"},
        {[&](auto& c) { c.scene = folder / "none.json"; }, 2, folder / "none.json", "cannot be opened"},
        {[&](auto& c) { c.scene = folder / "file"; }, 2, folder / "file", ""},
        {[](auto& c) { c.max_bodies = 3; }, 2, "yard.json", ""},
        {[](auto& c) { c.bind = "127.0.0.1", c.port = 1, c.bind = "192.0.2.1", c.insecure = c.insecure_public = true; },
         3, "udp 192.0.2.1:1", "--bind"},
        {[&](auto& c) { c.record = folder / "file"; }, 3, folder / "file", ""},
        {[&](auto& c) { c.record = folder / "taken"; }, 3, "connect.token", ""},
        {[](auto& c) { c.clock = server::GameClock::virtual_time; }, 2, "stop_at_tick", "set this tick"},
    };
    for (const Case& one : cases) {
        GameServerConfig config = fast_yard(folder / "rec");
        one.spoil(config);
        const Ran ran = run(config);
        const std::string shown = one.place + " / " + one.says + ": " + (ran.error ? ran.error->to_string() : "good");
        REQUIRE_MESSAGE(ran.error, shown);
        CHECK_MESSAGE(has(ran.error->place, one.place), shown);
        CHECK_MESSAGE(has(ran.error->message, one.says), shown);
        CHECK_MESSAGE(server::check(config).ok() == (one.code != 64), shown);
        if (one.code != 64) CHECK_MESSAGE(GameServer::exit_code(*ran.error) == one.code, shown);
        const test::Printed printed = test::printed_by([&] { return server::serve(config); });
        CHECK_MESSAGE(printed.code == one.code, shown);
        CHECK_MESSAGE(has(printed.err, "orrery: " + ran.error->to_string()), shown);
    }
    CHECK(std::filesystem::is_empty(folder / "taken/connect.token"));
    std::size_t left = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "taken"))
        left += entry.path().extension() == ".orr" ? 1 : 0;
    CHECK(left == 0);
    if (std::filesystem::exists(folder / "rec")) CHECK(std::filesystem::is_empty(folder / "rec"));
    CHECK(server::check(fast_yard(folder / "rec")));
}
