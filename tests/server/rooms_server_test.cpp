// A server of many rooms, on the wall clock and real sockets.
#include "orrery/rooms_server.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "server/cli/verify.h"
#include "server/net/scene_shelf.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using server::RoomInfo;
using server::RoomsServer;
using server::RoomsServerConfig;
using server::RoomWish;

namespace {

const std::string kScenes = ORRERY_SOURCE_DIR "/deploy/scenes";

RoomsServerConfig small(const std::string& record) {
    RoomsServerConfig config;
    config.process.port = 0;
    config.process.record = record;
    config.process.print = false;
    config.process.max_clients = 8;
    config.scenes = kScenes;
    config.threads = 2;
    return config;
}

RoomWish wish(const std::string& name, float tick_rate_hz = 240.0f) {
    RoomWish out;
    out.name = name;
    out.scene = "yard";
    out.tick_rate_hz = tick_rate_hz;
    return out;
}

// What the directors of the rooms have seen.
struct Seen {
    std::mutex mutex;
    std::map<std::string, std::uint64_t> ticks;
    std::uint64_t of(const std::string& room) {
        const std::lock_guard lock(mutex);
        return ticks[room];
    }
};

class Game final : public server::Director {
  public:
    Game(const RoomInfo& room, Seen& seen) : name_(room.room), request_stop_(room.request_stop), seen_(seen) {}
    void on_tick(const sim::World& world, std::vector<sim::Command>&) override {
        if (name_ == "throws" && world.tick() == 20) throw std::runtime_error("a bug of the game");
        if (name_ == "worse" && world.tick() == 20) throw 7;
        if (name_ == "short" && world.tick() == 20) request_stop_("it is over");
        const std::lock_guard lock(seen_.mutex);
        seen_.ticks[name_] = world.tick();
    }

    void left(std::uint16_t, server::LeaveReason) override {
        if (name_ == "worse") throw 8;
    }

  private:
    std::string name_;
    std::function<void(std::string)> request_stop_;
    Seen& seen_;
};

template <class Holds>
bool until(Holds holds) {
    for (int i = 0; i < 4000; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

std::size_t verified(const std::string& folder) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".orr") continue;
        const server::VerifySettings settings{.replays = {}, .require_complete = true};
        const server::VerifiedReplay replay = server::verify_replay(entry.path().string(), settings);
        CHECK(server::verify_exit_code(replay, settings) == 0);
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("rooms come, run at once, each with its director, and end alone; every recording verifies") {
    const test::TempFolder folder;
    Seen seen;
    RoomsServerConfig config = small(folder.path());
    config.rooms = {wish("one"), wish("short"), wish("throws"), wish("worse")};
    config.max_rooms = 5;
    auto made = RoomsServer::create(config, [&](const RoomInfo& room) {
        if (room.room == "bad_game") throw std::runtime_error("no such game");
        return std::make_unique<Game>(room, seen);
    });
    REQUIRE(made);
    RoomsServer& server = **made;
    CHECK(server.address().port != 0);
    CHECK(server.http_address().has_value());
    std::optional<server::RoomsServerEnd> end;
    std::thread runs([&] {
        const auto ended = server.run();
        if (ended) end = *ended;
    });
    CHECK(until([&] { return seen.of("one") > 60; }));
    for (int i = 0; i < 10; ++i) CHECK_FALSE(server.create_room(wish("bad_game")).ok());  // none takes a place for good
    CHECK(until([&] { return server.create_room(wish("late")).ok(); }));
    // The places of the rooms that have ended are free again.
    CHECK(until([&] { return server.create_room(wish("later", 60.0f)).ok(); }));
    CHECK(until([&] { return seen.of("late") > 20 && seen.of("later") > 5; }));
    CHECK(seen.of("throws") == 19);
    const std::uint64_t one = seen.of("one");
    CHECK(until([&] { return seen.of("one") > one; }));
    server.request_stop("the evening is over");
    runs.join();
    REQUIRE(end);
    CHECK(end->rooms == 6);
    CHECK(end->failed_rooms == 0);
    const auto again = server.run();
    CHECK_FALSE(again);
    made = Error{};
    CHECK(verified(folder.path()) == 6);
}

TEST_CASE("a room that nobody wants is refused by the field of its wish") {
    const test::TempFolder folder;
    RoomsServerConfig config = small(folder.path());
    config.max_rooms = 1;
    auto made = RoomsServer::create(config);
    REQUIRE(made);
    const auto refused = [&](const RoomWish& wished) {
        const auto room = (*made)->create_room(wished);
        REQUIRE_FALSE(room);
        return room.error();
    };
    RoomWish bad = wish("a");
    bad.scene = "../yard";
    CHECK(refused(bad).place == "scene");
    bad.scene = "no_such_scene";
    CHECK(refused(bad).code == ErrorCode::not_found);
    bad = wish("a room");
    CHECK(refused(bad).place == "name");
    bad = wish("a");
    bad.max_clients = 9;
    CHECK(refused(bad).place == "max_clients");
    bad = wish("a", 1001.0f);
    CHECK(refused(bad).place == "tick_rate_hz");
    bad = wish("a");
    bad.end_when_empty_s = -1.0;
    CHECK(refused(bad).place == "end_when_empty_s");
    CHECK((*made)->create_room(wish("a")).ok());
    CHECK(refused(wish("b")).code == ErrorCode::limit_reached);
    for (const auto& set : std::vector<std::function<void(RoomsServerConfig&)>>{
             [](auto& c) { c.process.scene = "yard.json"; }, [](auto& c) { c.process.insecure = true; },
             [](auto& c) { c.scenes = "no folder"; }, [](auto& c) { c.max_rooms = 0; },
             [](auto& c) { c.process.threads = 2; },
             [](auto& c) {
                 c.rooms = {wish("a"), wish("b")};
             }}) {
        RoomsServerConfig other = config;
        set(other);
        const auto checked = server::check(other);
        REQUIRE_FALSE(checked);
        CHECK(checked.error().code == ErrorCode::invalid_argument);
    }
}

TEST_CASE("an empty room ends after its time, and a first room that cannot be ends those before it") {
    const test::TempFolder folder;
    RoomsServerConfig config = small(folder.path());
    RoomWish brief = wish("brief");
    brief.end_when_empty_s = 0.1;
    config.rooms = {brief};
    config.max_rooms = 1;
    {
        auto made = RoomsServer::create(config);
        REQUIRE(made);
        CHECK(until([&] { return (*made)->create_room(wish("next")).ok(); }));
    }
    config.max_rooms = 2;
    config.rooms = {wish("good"), wish("bad")};
    config.rooms[1].scene = "no_such_scene";
    const auto failed = RoomsServer::create(config);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().place == "rooms[1].scene");
}

TEST_CASE("a room does not end as empty while the server makes its other rooms") {
    const test::TempFolder folder;
    RoomsServerConfig config = small(folder.path() + "/rec");
    RoomWish brief = wish("brief");
    brief.end_when_empty_s = 0.5;
    config.rooms = {brief, wish("later")};
    config.max_rooms = 2;
    Seen seen;
    auto made = RoomsServer::create(config, [&](const RoomInfo& room) {
        if (room.room != "brief") std::this_thread::sleep_for(std::chrono::milliseconds(800));
        return std::make_unique<Game>(room, seen);
    });
    REQUIRE(made);
    CHECK_FALSE((*made)->create_room(wish("third")).ok());
    CHECK(until([&] { return (*made)->create_room(wish("third")).ok(); }));
}

TEST_CASE("a scene is loaded once, and again when its file has changed") {
    const test::TempFolder folder;
    const std::string file = folder.path() + "/s.json";
    std::filesystem::copy_file(kScenes + "/yard.json", file);
    server::SceneShelf shelf(folder.path(), 100'000);
    const auto first = shelf.take("s", {}), second = shelf.take("s.json", {}), faster = shelf.take("s", 120.0f);
    REQUIRE(first);
    REQUIRE(second);
    REQUIRE(faster);
    CHECK(first->definition == second->definition);
    CHECK(first->definition != faster->definition);
    CHECK(shelf.names() == std::vector<std::string>{"s"});
    std::filesystem::copy_file(kScenes + "/ragdolls.json", file, std::filesystem::copy_options::overwrite_existing);
    const auto changed = shelf.take("s", {});
    REQUIRE(changed);
    CHECK(changed->scene_hash != first->scene_hash);
    for (const char* name : {"", ".", "..", "/etc/passwd", "a/b", ".hidden"}) CHECK_FALSE(shelf.take(name, {}));
}
