// What a fleet is told of this process, and what the process does at its word: against a sidecar in this process.
#include "server/control/agones.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <chrono>
#include <functional>
#include <thread>

#include "orrery/sim.hpp"
#include "server/control/agones_json.h"
#include "tests/support/fake_agones.h"
#include "tests/support/still_rooms.h"

namespace orrery::server {

namespace {

using test::FakeAgones;
using test::StillRooms;

// The longest wait for what must come. Nothing is measured by it.
bool eventually(const std::function<bool()>& is_so) {
    for (int i = 0; i < 4000; ++i) {
        if (is_so()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

AgonesConfig quick(int port) {
    AgonesConfig config;
    config.port = static_cast<std::uint16_t>(port);
    config.health_every_s = config.update_every_s = 0.02;
    config.retry_first_s = config.retry_longest_s = 0.02;
    config.idle_ready_s = 3600.0;
    return config;
}

std::string number(const char* name, int value) {
    return std::string(" {\"") + name + "\": \"" + std::to_string(value) + "\"}";
}

std::string label(const char* key, const std::string& value) {
    return std::string("PUT /metadata/label {\"key\": \"") + key + "\", \"value\": \"" + value + "\"}";
}

}  // namespace

TEST_CASE("a sidecar that starts late is told capacity and count, and only then that the server is ready") {
    FakeAgones sidecar;
    const int port = sidecar.start();  // a port that is free
    sidecar.stop();
    StillRooms rooms;
    const auto agent = AgonesAgent::start(quick(port), rooms);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // some attempts, whose number does not matter
    REQUIRE(sidecar.start(port) == port);
    REQUIRE(eventually([&] { return sidecar.count("POST /ready") == 1 && sidecar.count("POST /health") >= 3; }));
    CHECK(sidecar.at("PATCH /counters/rooms" + number("capacity", 4)) <
          sidecar.at("PATCH /counters/rooms" + number("count", 0)));
    CHECK(sidecar.at("PATCH /counters/rooms" + number("count", 0)) < sidecar.at("POST /ready"));
    CHECK(sidecar.at(label("draining", "false")) < sidecar.at("POST /ready"));
    CHECK(sidecar.labels()["agones.dev/sdk-engine-version"] == std::to_string(sim::kEngineVersion));
    CHECK(sidecar.count("POST /ready") == 1);
    CHECK(rooms.drains().empty());
}

TEST_CASE("counters and lists are found on the stable paths and below /v1beta1, and may be absent") {
    StillRooms rooms;
    rooms.set_clients({0x2a});
    for (const auto& [counted, below] : {std::pair{FakeAgones::Counted::stable, std::string()},
                                         std::pair{FakeAgones::Counted::beta, std::string("/v1beta1")}}) {
        FakeAgones sidecar(counted);
        const auto agent = AgonesAgent::start(quick(sidecar.start()), rooms);
        REQUIRE(eventually([&] { return sidecar.count("POST /ready") == 1 && sidecar.players().size() == 1; }));
        CHECK(sidecar.players().front() == "000000000000002a");
        CHECK(sidecar.count("PATCH " + below + "/counters/rooms" + number("capacity", 4)) == 1);
        CHECK(sidecar.count("POST " + below + "/lists/players:addValue {\"value\": \"000000000000002a\"}") == 1);
        CHECK(sidecar.numbers()["list_capacity"] == "32");
    }
    FakeAgones sidecar(FakeAgones::Counted::none);
    const auto agent = AgonesAgent::start(quick(sidecar.start()), rooms);
    CHECK(eventually([&] { return sidecar.count("POST /ready") == 1 && sidecar.count("POST /health") >= 3; }));
}

TEST_CASE("no health is told while a room hangs") {
    FakeAgones sidecar;
    StillRooms rooms;
    const auto agent = AgonesAgent::start(quick(sidecar.start()), rooms);
    REQUIRE(eventually([&] { return sidecar.count("POST /health") >= 2; }));
    // Health comes before the counter at every look: with the count of a look, its health has been told or not.
    rooms.set([](HostView& host) { host.stalled_s = 6.0, host.rooms = 1; });
    REQUIRE(eventually([&] { return sidecar.numbers()["count"] == "1"; }));
    const std::size_t before = sidecar.count("POST /health");
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    rooms.set([](HostView& host) { host.rooms = 2; });
    REQUIRE(eventually([&] { return sidecar.numbers()["count"] == "2"; }));
    CHECK(sidecar.count("POST /health") == before);
    rooms.set([](HostView& host) { host.stalled_s = 0.0; });
    CHECK(eventually([&] { return sidecar.count("POST /health") > before; }));
}

TEST_CASE("a room that is created without an allocation allocates the server; without rooms it is ready again") {
    FakeAgones sidecar;
    StillRooms rooms;
    AgonesConfig config = quick(sidecar.start());
    config.idle_ready_s = 0.1;
    const auto agent = AgonesAgent::start(config, rooms);
    REQUIRE(eventually([&] { return sidecar.state() == "Ready"; }));
    rooms.set_rooms(2);
    REQUIRE(eventually([&] { return sidecar.state() == "Allocated"; }));
    CHECK(eventually([&] { return sidecar.numbers()["count"] == "2"; }));
    rooms.set_rooms(0);
    REQUIRE(eventually([&] { return sidecar.state() == "Ready"; }));
    CHECK(sidecar.count("POST /ready") == 2);
    CHECK(sidecar.count("POST /allocate") == 1);
}

TEST_CASE("a server that the fleet allocates stays so while it has rooms, and is not allocated by itself") {
    FakeAgones sidecar;
    StillRooms rooms;
    AgonesConfig config = quick(sidecar.start());
    config.idle_ready_s = 0.5;
    const auto agent = AgonesAgent::start(config, rooms);
    REQUIRE(eventually([&] { return sidecar.state() == "Ready" && sidecar.numbers()["count"] == "0"; }));
    sidecar.allocate("1");
    rooms.set([](HostView& host) { host.rooms = host.open_rooms = 1, host.max_rooms = 5; });
    REQUIRE(eventually([&] { return sidecar.numbers()["capacity"] == "5"; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    CHECK(sidecar.state() == "Allocated");
    CHECK(sidecar.count("POST /ready") == 1);
}

TEST_CASE("a server of one room is allocated by its first client") {
    FakeAgones sidecar;
    StillRooms rooms(false);
    const auto agent = AgonesAgent::start(quick(sidecar.start()), rooms);
    REQUIRE(eventually([&] { return sidecar.state() == "Ready" && sidecar.numbers()["count"] == "1"; }));
    CHECK(sidecar.count("POST /allocate") == 0);
    rooms.set_clients({7});
    CHECK(eventually([&] { return sidecar.state() == "Allocated"; }));
}

TEST_CASE("the list of players follows the clients, and loses those of an earlier process") {
    FakeAgones sidecar;
    sidecar.put_players({"00000000deadbeef", "0000000000000001"});
    StillRooms rooms;
    rooms.set_clients({1, 2});
    const auto agent = AgonesAgent::start(quick(sidecar.start()), rooms);
    const auto has = [&](const std::vector<std::string>& ids) {
        return eventually([&] {
            std::vector<std::string> values = sidecar.players();
            std::sort(values.begin(), values.end());
            return values == ids;
        });
    };
    CHECK(has({"0000000000000001", "0000000000000002"}));
    CHECK(sidecar.count("POST /lists/players:addValue {\"value\": \"0000000000000001\"}") == 0);
    rooms.set_clients({2, 0xffffffffffffffff});
    CHECK(has({"0000000000000002", "ffffffffffffffff"}));
    sidecar.put_players({"ffffffffffffffff"});  // another has changed the list: the refusal of a removal says so
    rooms.set_clients({3});
    CHECK(has({"0000000000000003"}));
}

TEST_CASE("a list of players has at most 1,000 values") {
    FakeAgones sidecar;
    StillRooms rooms;
    rooms.set([](HostView& host) { host.max_rooms = 100, host.max_clients = 64; });
    const auto agent = AgonesAgent::start(quick(sidecar.start()), rooms);
    CHECK(eventually([&] { return sidecar.numbers()["list_capacity"] == "1000"; }));
}

TEST_CASE("the fleet's wishes drain the rooms once each") {
    FakeAgones sidecar;
    StillRooms rooms;
    const auto agent = AgonesAgent::start(quick(sidecar.start()), rooms);
    REQUIRE(eventually([&] { return sidecar.state() == "Ready"; }));
    const auto drained = [&](std::size_t times) { return eventually([&] { return rooms.drains().size() >= times; }); };
    const auto looked = [&] {  // the object as it is now has been read, and the server has gone on
        sidecar.annotate("revision", "x");
        const std::size_t before = sidecar.count("POST /health");
        return eventually([&] { return sidecar.count("POST /health") > before + 2; });
    };

    sidecar.annotate(kAgonesDrainKey, "soon");  // asks for nothing
    REQUIRE(looked());
    CHECK(rooms.drains().empty());
    sidecar.annotate(kAgonesDrainKey, "30");
    REQUIRE(drained(1));
    CHECK(rooms.drains()[0] == StillRooms::Drain{30.0, "the fleet drains this server"});
    CHECK(eventually([&] { return sidecar.labels()["agones.dev/sdk-draining"] == "true"; }));
    CHECK(eventually([&] { return sidecar.numbers()["capacity"] == "0"; }));
    REQUIRE(looked());
    CHECK(rooms.drains().size() == 1);
    sidecar.annotate(kAgonesDrainKey, "true");
    REQUIRE(drained(2));
    CHECK(rooms.drains()[1].first == 60.0);
    sidecar.set_state("Shutdown");
    REQUIRE(drained(3));
    CHECK(rooms.drains()[2] == StillRooms::Drain{60.0, "the fleet ends this server"});
    REQUIRE(looked());
    CHECK(rooms.drains().size() == 3);
    CHECK(sidecar.count("POST /allocate") == 0);
}

TEST_CASE("without a stream the object is asked for again and again") {
    FakeAgones sidecar(FakeAgones::Counted::stable, false);
    StillRooms rooms;
    const auto agent = AgonesAgent::start(quick(sidecar.start()), rooms);
    REQUIRE(eventually([&] { return sidecar.state() == "Ready"; }));
    sidecar.set_state("Shutdown");
    CHECK(eventually([&] { return rooms.drains().size() == 1; }));
}

TEST_CASE("an object that is being deleted drains the rooms; no room is to be had while they drain") {
    FakeAgones sidecar;
    StillRooms rooms;
    rooms.set_rooms(3);
    const auto agent = AgonesAgent::start(quick(sidecar.start()), rooms);
    REQUIRE(eventually([&] { return sidecar.numbers()["count"] == "3"; }));
    sidecar.remove();
    REQUIRE(eventually([&] { return !rooms.drains().empty(); }));
    REQUIRE(eventually([&] { return sidecar.numbers()["capacity"] == "3"; }));
    rooms.set_rooms(1);
    REQUIRE(eventually([&] { return sidecar.numbers()["capacity"] == "1"; }));
    CHECK(sidecar.numbers()["count"] == "1");
}

TEST_CASE("a sidecar that restarts is told all again, but a server in use is not made ready") {
    FakeAgones sidecar;
    StillRooms rooms;
    const int port = sidecar.start();
    const auto agent = AgonesAgent::start(quick(port), rooms);
    REQUIRE(eventually([&] { return sidecar.state() == "Ready"; }));
    rooms.set_rooms(1);
    REQUIRE(eventually([&] { return sidecar.state() == "Allocated" && sidecar.numbers()["count"] == "1"; }));
    sidecar.stop();
    sidecar.forget();
    REQUIRE(sidecar.start(port) == port);
    REQUIRE(eventually([&] {
        return sidecar.count("PATCH /counters/rooms" + number("count", 1)) == 1 &&
               sidecar.count(label("draining", "false")) == 1 && sidecar.count("POST /health") > 3;
    }));
    CHECK(sidecar.count("POST /ready") == 0);
    sidecar.set_state("Shutdown");  // the stream is open again, too
    CHECK(eventually([&] { return rooms.drains().size() == 1; }));
}

TEST_CASE("shutdown is the last request, after the last numbers") {
    FakeAgones sidecar;
    StillRooms rooms;
    rooms.set_rooms(2);
    const auto agent = AgonesAgent::start(quick(sidecar.start()), rooms);
    REQUIRE(eventually([&] { return sidecar.numbers()["count"] == "2"; }));
    rooms.set([](HostView& host) { host.draining = true, host.rooms = host.open_rooms = 0; });
    CHECK(agent->shut_down());
    const std::vector<std::string> asked = sidecar.asked();
    CHECK(asked.back() == "POST /shutdown");
    CHECK(sidecar.numbers()["count"] == "0");
    CHECK(sidecar.state() == "Shutdown");
    CHECK(agent->shut_down());  // once is enough
    CHECK(sidecar.count("POST /shutdown") == 1);
}

TEST_CASE("without a sidecar the end of a process is not held up") {
    FakeAgones sidecar;
    const int port = sidecar.start();
    sidecar.stop();
    StillRooms rooms;
    const auto agent = AgonesAgent::start(quick(port), rooms);
    CHECK_FALSE(agent->shut_down());
}

TEST_CASE("an object of a GameServer is read from an answer and from a line of the stream") {
    const std::string object = R"({"object_meta":{"name":"a","deletion_timestamp":"0","annotations":{
        "agones.dev/last-allocated":"2026-01-01T00:00:00Z"},"labels":{"orrery.dev/drain":"5"}},
        "spec":{"health":{"period_seconds":3}},"status":{"state":"Ready","ports":[{"name":"udp","port":7000}],"counters":{}}})";
    for (const std::string& text : {object, "{\"result\":" + object + "}"}) {
        const auto read = read_agones_object(text);
        REQUIRE(read);
        CHECK(read->state == "Ready");
        CHECK_FALSE(read->deleted);
        CHECK(read->drain == "5");
        CHECK(read->last_allocated == "2026-01-01T00:00:00Z");
    }
    CHECK(read_agones_object(R"({"object_meta":{"deletion_timestamp":"1700000000"},"status":null})")->deleted);
    CHECK(read_agones_object(R"({"object_meta":{"deletion_timestamp":1700000000}})")->deleted);
    CHECK(
        read_agones_object(R"({"status":{"state":7},"object_meta":{"annotations":[1],"labels":null}})")->state.empty());
    for (const char* const text :
         {"", "{", "[]", "7", "null", "{}", R"({"error":{"code":5}})", R"({"status":{"state":"Ready"})"})
        CHECK_FALSE(read_agones_object(text));
    CHECK_FALSE(read_agones_object(std::string(100'000, '[')));
    CHECK_FALSE(read_agones_object(R"({"status":{"state":"Ready"},"status":{"state":"Ready"}})"));
    CHECK(read_agones_list(R"({"name":"players","capacity":"10","values":["a","b"]})") ==
          std::vector<std::string>{"a", "b"});
    CHECK(read_agones_list(R"({"name":"players","capacity":"10","values":[]})")->empty());
    CHECK(read_agones_list(R"({"name":"players"})")->empty());
    CHECK_FALSE(read_agones_list(R"({"values":"a"})"));
    CHECK_FALSE(read_agones_list(R"({"values":{"a":"b"}})"));
    CHECK_FALSE(read_agones_list("players"));
}

TEST_CASE("the public address is that of the node and of the port by its name, as soon as the fleet has one") {
    FakeAgones sidecar;
    const AgonesConfig config = quick(sidecar.start());
    const auto found = [&](const char* port, double within_s) { return agones_public_address(config, port, within_s); };
    CHECK(found("udp", 0.1).error().code == ErrorCode::io);  // none is given yet
    CHECK_FALSE(agones_public_address(config, "udp", 60.0, [] { return false; }));
    std::thread later([&] { sidecar.place("198.51.100.1"); });
    CHECK(found("udp", 20.0)->to_string() == "198.51.100.1:7012");
    later.join();
    CHECK(found("http", 20.0)->to_string() == "198.51.100.1:7013");
    CHECK(found("game", 20.0).error().code == ErrorCode::not_found);
    sidecar.place("2001:db8::1");
    CHECK(found("udp", 20.0)->to_string() == "[2001:db8::1]:7012");
    sidecar.place("node.example");  // tokens name no hosts
    CHECK(found("udp", 20.0)->to_string() == "203.0.113.7:7012");
}

TEST_CASE("the port of the sidecar comes from the environment") {
    ::unsetenv("AGONES_SDK_HTTP_PORT");
    CHECK(agones_config_from_environment()->port == 9358);
    ::setenv("AGONES_SDK_HTTP_PORT", "9000", 1);
    CHECK(agones_config_from_environment()->port == 9000);
    for (const char* const text : {"0", "65536", "-1", "80x", " 80", "http"}) {
        ::setenv("AGONES_SDK_HTTP_PORT", text, 1);
        CHECK(agones_config_from_environment().error().place == "AGONES_SDK_HTTP_PORT");
    }
    ::unsetenv("AGONES_SDK_HTTP_PORT");
}

// A life of a server, told to a sidecar of another program: ORRERY_AGONES_SDK=HOST:PORT. tests/e2e/agones_prism.py
// gives it one behind a proxy that holds every request to Agones' contract; `sdk-server --local` is the real one.
TEST_CASE("a whole life told to the sidecar of ORRERY_AGONES_SDK" *
          doctest::skip(::getenv("ORRERY_AGONES_SDK") == nullptr)) {
    const char* const given = ::getenv("ORRERY_AGONES_SDK");
    const std::string address = given ? given : "";
    const std::size_t colon = address.rfind(':');
    REQUIRE(colon != std::string::npos);
    AgonesConfig config = quick(std::stoi(address.substr(colon + 1)));
    config.host = address.substr(0, colon);
    config.request_s = config.shutdown_s = 20.0;
    config.idle_ready_s = 0.1;
    httplib::Client look(config.host, config.port);
    const auto object = [&] {
        const httplib::Result answer = look.Get("/gameserver");
        return answer ? answer->body : std::string();
    };
    const auto state = [&] {
        const auto read = read_agones_object(object());
        return read ? read->state : std::string();
    };
    const auto lists = [&](const char* id) { return object().find(id) != std::string::npos; };
    StillRooms rooms;
    const auto agent = AgonesAgent::start(config, rooms);
    REQUIRE(eventually([&] { return state() == "Ready"; }));
    rooms.set_rooms(1);
    rooms.set_clients({1, 2});
    REQUIRE(eventually([&] { return state() == "Allocated"; }));
    REQUIRE(eventually([&] { return lists("0000000000000001") && lists("0000000000000002"); }));
    rooms.set_clients({2});
    rooms.set_rooms(0);
    REQUIRE(eventually([&] { return state() == "Ready" && !lists("0000000000000001"); }));
    rooms.set([](HostView& host) { host.draining = true; });
    CHECK(agent->shut_down());
    CHECK(eventually([&] { return state() == "Shutdown"; }));
}

}  // namespace orrery::server
