// The health port: what probes are told, and that no connection keeps another from its answer.
#include "server/control/health_server.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "server/base/exit_code.h"
#include "server/cli/health.h"
#include "server/control/health_probe.h"
#include "server/control/http_server.h"
#include "server/control/metrics.h"
#include "tests/support/captured_output.h"
#include "tests/support/still_rooms.h"
#include "tests/support/tcp_client.h"

using namespace orrery;
using protocol::Address;
using server::HealthServer;
using server::HostView;
using test::StillRooms;
using testing::TcpClient;

namespace {

std::unique_ptr<HealthServer> started(const StillRooms& rooms, Address bind = Address::ipv4(127, 0, 0, 1, 0)) {
    auto server = HealthServer::start({bind, 10.0}, rooms);
    REQUIRE(server);
    return std::move(*server);
}

std::string ask(const Address& server, const std::string& request) {
    TcpClient client(server);
    REQUIRE(client.connected());
    client.write(request);
    return client.read_all();
}
std::string get(const Address& server, const std::string& path) {
    return ask(server, "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
}
std::string body_of(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

// Every sample of a text in Prometheus' form, by its name with labels.
std::map<std::string, double> samples_of(const std::string& text) {
    std::map<std::string, double> samples;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        const std::size_t blank = line.rfind(' ');
        CHECK(samples.emplace(line.substr(0, blank), std::stod(line.substr(blank + 1))).second);
    }
    return samples;
}

}  // namespace

TEST_CASE("livez is good while ticks advance, and says why it is not") {
    StillRooms rooms(false);
    const auto server = started(rooms);
    std::string answer = get(server->address(), "/livez");
    CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(answer.find("Connection: close\r\n") != std::string::npos);
    CHECK(answer.find("Cache-Control: no-store\r\n") != std::string::npos);
    CHECK(body_of(answer) == "live\n");
    rooms.set([](HostView& view) { view.stalled_s = 9.99; });
    CHECK(get(server->address(), "/livez").starts_with("HTTP/1.1 200"));
    rooms.set([](HostView& view) { view.stalled_s = 12.34; });
    answer = get(server->address(), "/livez");
    CHECK(answer.starts_with("HTTP/1.1 503"));
    CHECK(body_of(answer) == "stalled: a room had no tick for 12.3 s, limit 10.0 s\n");
    CHECK(body_of(get(server->address(), "/readyz")).starts_with("stalled: "));
    // A drain is no reason to kill a process.
    rooms.set([](HostView& view) { view.stalled_s = 0.0, view.draining = true, view.open_rooms = 0; });
    CHECK(get(server->address(), "/livez").starts_with("HTTP/1.1 200"));
    rooms.set([](HostView& view) { view = HostView{}; });  // no room at all
    CHECK(get(server->address(), "/livez").starts_with("HTTP/1.1 200"));
}

TEST_CASE("readyz is good while rooms take joins or may be created") {
    StillRooms rooms(false);
    const auto server = started(rooms);
    const auto answer_of = [&](const auto& change) {
        rooms.set(change);
        const std::string answer = get(server->address(), "/readyz");
        return answer.substr(9, 3) + " " + body_of(answer);
    };
    CHECK(answer_of([](HostView&) {}) == "200 ready\n");
    CHECK(answer_of([](HostView& v) { v.open_rooms = 0; }) == "503 no room is open, and none can be created\n");
    CHECK(answer_of([](HostView& v) { v.may_create = true; }) == "503 no room is open, and none can be created\n");
    CHECK(answer_of([](HostView& v) { v.max_rooms = 2; }) == "200 ready\n");
    CHECK(answer_of([](HostView& v) { v.draining = true; }) == "503 draining: no new rooms and no joins\n");
}

TEST_CASE("one thread answers: connections that say nothing, or half of a request, keep nobody from an answer") {
    StillRooms rooms(false);
    const auto server = started(rooms);
    // As many as are held, so that more of them push out the oldest.
    for (const std::size_t count : {std::size_t{64}, std::size_t{120}, 2 * server::kMaxHttpConnections}) {
        std::vector<std::unique_ptr<TcpClient>> slow;
        for (std::size_t i = 0; i < count; ++i) {
            slow.push_back(std::make_unique<TcpClient>(server->address()));
            REQUIRE(slow.back()->connected());
            if (i % 2 == 1) slow.back()->write("GET /livez HTTP/1.1\r\nHost:");
        }
        for (int i = 0; i < 10; ++i) CHECK(get(server->address(), "/livez").starts_with("HTTP/1.1 200"));
        // All for which there is room are there still: nobody waited for their end.
        if (count < server::kMaxHttpConnections)
            CHECK(std::ranges::none_of(slow, [](const auto& one) { return one->readable(); }));
        slow.back()->write(" x\r\n\r\n");
        CHECK(slow.back()->read_all().starts_with("HTTP/1.1 200"));
    }
}

TEST_CASE("a client that does not read its answer keeps nobody from one, and a request may come byte by byte") {
    StillRooms rooms(false);
    const auto server = started(rooms);
    std::vector<std::unique_ptr<TcpClient>> deaf;
    for (int i = 0; i < 20; ++i) {
        deaf.push_back(std::make_unique<TcpClient>(server->address(), 1));
        deaf.back()->write("GET /metrics HTTP/1.1\r\n\r\n");
    }
    TcpClient slow(server->address());
    slow.write_bytewise("GET /livez HTTP/1.0\r\n\r\n");
    CHECK(slow.read_all().find(" 200 OK") != std::string::npos);
    TcpClient late(server->address());
    late.write("GET /livez HTTP/1.0\r\nHost");
    const std::string answer = late.read_all();
    CHECK(answer.starts_with("HTTP/1.1 408"));
    CHECK(body_of(answer) == "the request came too slowly\n");
}

TEST_CASE("the health port takes no body, no long head, no other method, and has three pages") {
    StillRooms rooms(false);
    const auto server = started(rooms);
    const Address at = server->address();
    CHECK(ask(at, "POST /livez HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nxxxx").starts_with("HTTP/1.1 405"));
    CHECK(ask(at, "DELETE /livez HTTP/1.1\r\n\r\n").find("Allow: GET, HEAD\r\n") != std::string::npos);
    CHECK(ask(at, "GET /livez HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello").starts_with("HTTP/1.1 413"));
    CHECK(ask(at, "GET /livez HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").starts_with("HTTP/1.1 413"));
    CHECK(ask(at, "GET /livez HTTP/1.1\r\nExpect: 100-continue\r\n\r\n").find("100 Continue") == std::string::npos);
    CHECK(ask(at, "GET /livez HTTP/1.1\r\nX: " + std::string(10'000, 'x') + "\r\n\r\n").starts_with("HTTP/1.1 431"));
    CHECK(ask(at, "hello\r\n\r\n").starts_with("HTTP/1.1 400"));
    CHECK(ask(at, std::string("\0\xff\r\n\r\n", 6)).starts_with("HTTP/1.1 400"));
    const std::string none = get(at, "/");
    CHECK(none.starts_with("HTTP/1.1 404"));
    CHECK(body_of(none) == "there are /livez, /readyz and /metrics\n");
    CHECK(get(at, "/livez/../metrics").starts_with("HTTP/1.1 404"));
    CHECK(body_of(ask(at, "HEAD /livez HTTP/1.1\r\n\r\n")).empty());
    CHECK(get(at, "/livez?verbose=1").starts_with("HTTP/1.1 200"));
    // One answer a connection, whatever comes behind the first request.
    const std::string twice = ask(at, "GET /livez HTTP/1.1\r\n\r\nGET /livez HTTP/1.1\r\n\r\n");
    CHECK(twice.find("HTTP/1.1", 1) == std::string::npos);
}

TEST_CASE("the port is one process's alone, an address that cannot be had is an error, signals stay as they were") {
    struct sigaction before {
    }, after{};
    ::sigaction(SIGPIPE, nullptr, &before);
    StillRooms rooms(false);
    auto server = started(rooms);
    ::sigaction(SIGPIPE, nullptr, &after);
    CHECK((before.sa_handler == after.sa_handler));
    const Address taken = server->address();
    CHECK(taken.port != 0);
    const auto second = HealthServer::start({taken, 10.0}, rooms);
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::io);
    CHECK(second.error().to_string().find("Address already in use") != std::string::npos);
    CHECK(second.error().message.find("--health-port") != std::string::npos);
    CHECK(get(taken, "/livez").starts_with("HTTP/1.1 200"));
    server.reset();
    CHECK(HealthServer::start({taken, 10.0}, rooms).ok());  // at once, though the old connections linger
    for (const double limit : {0.0, -1.0, std::nan(""), 4000.0}) {
        const auto refused = HealthServer::start({Address::ipv4(127, 0, 0, 1, 0), limit}, rooms);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::invalid_argument);
    }
    const auto v6 = HealthServer::start({Address::ipv6({0, 0, 0, 0, 0, 0, 0, 1}, 0), 10.0}, rooms);
    if (v6) CHECK(get((*v6)->address(), "/livez").starts_with("HTTP/1.1 200"));  // a machine may have no IPv6
}

TEST_CASE("orrery health tells what the port says, and ends with 0, 1 or 3") {
    StillRooms rooms(false);
    auto server = started(rooms);
    const std::string address = server->address().to_string(), port = std::to_string(server->address().port);
    const auto run = [](const std::vector<std::string>& arguments) {
        return test::printed_by([&] { return server::health_command(arguments); });
    };
    test::Printed printed = run({"--health-port", port});
    CHECK(printed.code == server::kExitGood);
    CHECK(printed.out == address + "/livez: 200: live\n");
    CHECK(run({"--url", "http://" + address + "/"}).out == printed.out);
    rooms.set([](HostView& view) { view.draining = true; });
    printed = run({"--url", address, "--ready"});
    CHECK(printed.code == server::kExitFalse);
    CHECK(printed.out == address + "/readyz: 503: draining: no new rooms and no joins\n");
    CHECK(run({"--url", address, "--ready", "--json"}).out ==
          "{\"check\": \"readyz\", \"address\": \"" + address +
              "\", \"good\": false, \"status\": 503, \"reason\": \"draining: no new rooms and no joins\"}\n");
    ::setenv("ORRERY_HEALTH_PORT", port.c_str(), 1);
    CHECK(run({}).code == server::kExitGood);
    ::unsetenv("ORRERY_HEALTH_PORT");
    server.reset();
    printed = run({"--url", address});
    CHECK(printed.code == server::kExitMachine);
    CHECK(printed.out == address + "/livez: no answer: nothing listens there\n");
    CHECK(run({"--url", "localhost"}).code == server::kExitUsage);
    CHECK(run({"--url", address, "--health-port", "1"}).code == server::kExitUsage);
}

TEST_CASE("metrics are those of the host, each with its help, few, and without labels of rooms") {
    StillRooms rooms(false);
    rooms.set([](HostView& view) {
        view.rooms = 50;
        view.clients = 640;
        view.totals.ticks = 123'456'789'012;  // no digit is lost
        view.totals.sent_bytes = 9'007'199'254'740'991;
        view.totals.tick_s.note(0.0003);
        view.totals.tick_s.note(0.003);
        view.totals.tick_s.note(5.0);
        view.stalled_s = 0.25;
    });
    const auto server = started(rooms);
    const std::string answer = get(server->address(), "/metrics");
    CHECK(answer.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n") != std::string::npos);
    const std::string text = body_of(answer);
    const std::map<std::string, double> samples = samples_of(text);
    CHECK(samples.at("orrery_rooms") == 50);
    CHECK(samples.at("orrery_clients") == 640);
    CHECK(samples.at("orrery_ticks_total") == 123'456'789'012.0);
    CHECK(samples.at("orrery_sent_bytes_total") == 9'007'199'254'740'991.0);
    CHECK(samples.at("orrery_stalled_seconds") == 0.25);
    CHECK(samples.at("orrery_live") == 1);
    CHECK(samples.at("orrery_tick_duration_seconds_bucket{le=\"0.00025\"}") == 0);
    CHECK(samples.at("orrery_tick_duration_seconds_bucket{le=\"0.0005\"}") == 1);
    CHECK(samples.at("orrery_tick_duration_seconds_bucket{le=\"0.004\"}") == 2);
    CHECK(samples.at("orrery_tick_duration_seconds_bucket{le=\"1\"}") == 2);
    CHECK(samples.at("orrery_tick_duration_seconds_bucket{le=\"+Inf\"}") == 3);
    CHECK(samples.at("orrery_tick_duration_seconds_count") == 3);
    CHECK(samples.at("orrery_tick_duration_seconds_sum") == doctest::Approx(5.0033));
    CHECK(samples.at("process_open_fds") > 2);
    CHECK(samples.at("process_resident_memory_bytes") > 1e6);
    CHECK(samples.at("process_threads") >= 2);
    CHECK(samples.at("process_start_time_seconds") > 1.7e9);
    CHECK(samples.size() <= server::kMaxMetricSeries);
    std::set<std::string> labels;
    for (const auto& [name, value] : samples)
        for (std::size_t at = name.find('{'); at != std::string::npos; at = name.find(',', at + 1))
            labels.insert(name.substr(at + 1, name.find('=', at) - at - 1));
    CHECK(labels == std::set<std::string>{"engine_version", "le", "version"});

    // The list has all that are told, and their help and type.
    std::string list;
    for (const server::MetricAbout& about : server::metric_list()) {
        CAPTURE(about.name);
        CHECK(text.find("# HELP " + about.name + " " + about.help + "\n# TYPE " + about.name + " " + about.type +
                        "\n") != std::string::npos);
        CHECK((about.type == "counter") == about.name.ends_with("_total"));
        list += about.name + "\n";
    }
    std::size_t families = 0;
    for (std::size_t at = 0; (at = text.find("# TYPE ", at)) != std::string::npos; ++at) ++families;
    CHECK(families == server::metric_list().size());
}

TEST_CASE("server/README.md has every metric with its type, and no other") {
    std::ifstream in(std::string(ORRERY_SOURCE_DIR) + "/server/README.md");
    std::set<std::string> told, exported;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("| `orrery_") && !line.starts_with("| `process_")) continue;
        const std::size_t name_end = line.find('`', 3), type = line.find("| ", name_end);
        REQUIRE(type != std::string::npos);
        told.insert(line.substr(3, name_end - 3) + " " + line.substr(type + 2, line.find(' ', type + 2) - type - 2));
    }
    for (const server::MetricAbout& about : server::metric_list()) exported.insert(about.name + " " + about.type);
    CHECK(told == exported);
}
