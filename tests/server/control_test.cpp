// The control API over real sockets, before rooms that are none: what is sent here no client library would send. That
// the answers are those of deploy/openapi.yaml is for tests/e2e/control.py.
#include "server/control/control_server.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "server/control/console_page.h"
#include "server/control/http_server.h"
#include "tests/support/fake_rooms.h"
#include "tests/support/seeded_random.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using testing::FakeRooms;
using testing::TcpClient;

namespace {

const std::string kRead(64, '1'), kOperate(64, '2'), kAdmin(64, '3');

std::string write_keys(const test::TempFolder& folder, const std::string& text, mode_t mode = 0600) {
    const std::string path = folder.path() + "/keys";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    ::chmod(path.c_str(), mode);
    return path;
}

std::string error_of(const std::string& text) {
    const test::TempFolder folder;
    const auto keys = server::ControlKeys::read(write_keys(folder, text));
    if (keys) return "";
    const std::string error = keys.error().to_string();
    return error.substr(error.find("keys:"));
}

struct Api {
    test::TempFolder folder;
    FakeRooms rooms;
    std::unique_ptr<server::ControlServer> server;

    explicit Api(const std::vector<std::string>& hosts = {}, const std::string& bind = "127.0.0.1:0") {
        server::ControlConfig config;
        config.bind = *protocol::Address::parse(bind);
        auto keys = server::ControlKeys::read(
            write_keys(folder, "r read " + kRead + "\no operate " + kOperate + "\na admin " + kAdmin + "\n"));
        REQUIRE(keys);
        config.keys = std::move(keys).value();
        config.hosts = hosts;
        config.version = "0.1.0";
        auto started = server::ControlServer::start(std::move(config), rooms);
        REQUIRE_MESSAGE(started.ok(), (started ? "" : started.error().to_string()));
        server = std::move(started).value();
    }
    protocol::Address address() const {
        protocol::Address out = server->address();
        if (out.family == protocol::Address::Family::ipv4) out.bytes = {127, 0, 0, 1};
        return out;
    }
    // The whole answer to bytes behind which nothing follows.
    std::string send(const std::string& bytes) const {
        TcpClient client(address());
        REQUIRE(client.connected());
        client.write(bytes);
        client.end_of_writing();
        return client.read_all();
    }
    std::string get(const std::string& path, const std::string& fields = {}, const std::string& key = kAdmin) const {
        return send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" +
                    (key.empty() ? "" : "Authorization: Bearer " + key + "\r\n") + fields + "\r\n");
    }
    std::string post(const std::string& path, const std::string& body, const std::string& key = kAdmin) const {
        return send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key +
                    "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                    "\r\n\r\n" + body);
    }
};

int status_of(const std::string& answer) {
    return answer.starts_with("HTTP/1.1 ") && answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
}
bool has(const std::string& answer, const std::string& text) { return answer.find(text) != std::string::npos; }
std::string body_of(const std::string& answer) {
    return answer.substr(std::min(answer.find("\r\n\r\n") + 4, answer.size()));
}

}  // namespace

TEST_CASE("a file of keys names who may do what") {
    const test::TempFolder folder;
    const auto keys =
        server::ControlKeys::read(write_keys(folder, "# of the fleet\n\n  fleet.a operate " + std::string(64, 'A') +
                                                         "  # a comment\r\nboss\tadmin\t" + kAdmin));
    REQUIRE(keys);
    CHECK(keys->size() == 2);
    const auto fleet = keys->find(std::string(64, 'a'));  // in either case
    REQUIRE(fleet);
    CHECK(fleet->name == "fleet.a");
    CHECK(fleet->level == server::ControlLevel::operate);
    CHECK(keys->find(kAdmin)->level == server::ControlLevel::admin);
    for (const std::string& other : {kRead, std::string(), std::string(63, 'a'), std::string(65, 'a'),
                                     std::string(63, 'a') + "g", std::string(64, '\0')})
        CHECK_FALSE(keys->find(other).has_value());
    CHECK_FALSE(server::ControlKeys().find(std::string(64, '0')).has_value());
}

TEST_CASE("an error of a file of keys names the line, and no digit of a key") {
    const std::string good = "a read " + kRead + "\n";
    CHECK(has(error_of(good + "\nb write " + kOperate), "keys:3: is not NAME LEVEL KEY"));
    CHECK(has(error_of("a read " + kRead.substr(1)), "keys:1: is not NAME LEVEL KEY"));
    CHECK(has(error_of("a read " + kRead + " more"), "keys:1: is not NAME LEVEL KEY"));
    CHECK(has(error_of(kRead), "keys:1: is not NAME LEVEL KEY"));
    CHECK(has(error_of("a/b read " + kRead), "keys:1: has a name of other characters"));
    CHECK(has(error_of(std::string(65, 'n') + " read " + kRead), "kMaxControlKeyNameBytes"));
    CHECK(has(error_of(good + "a admin " + kAdmin), "keys:2: has the name a again"));
    CHECK(has(error_of(good + "b admin " + kRead), "keys:2: has the key of a again"));
    CHECK(has(error_of("# nothing\n"), "has no key"));
    CHECK(has(error_of(std::string(server::kMaxControlKeysBytes + 1, ' ')), "has more than 65536 bytes"));
    std::string many;
    for (std::size_t i = 0; i <= server::kMaxControlKeys; ++i) {
        char digits[65];
        std::snprintf(digits, sizeof digits, "%064zx", i + 1);
        many += "n" + std::to_string(i) + " read " + digits + "\n";
    }
    CHECK(has(error_of(many), "keys:257: is one key more than 256 (kMaxControlKeys)"));
    CHECK(error_of(many.substr(0, many.rfind("n256"))).empty());
    for (const std::string& text : {good + "b admin " + kRead, "a read " + kRead + "x", "a read " + kRead + " more"})
        CHECK_FALSE(has(error_of(text), "1111"));

    const test::TempFolder folder;
    const auto open_to_all = server::ControlKeys::read(write_keys(folder, good, 0640));
    REQUIRE_FALSE(open_to_all);
    CHECK(has(open_to_all.error().to_string(), "chmod 600"));
    CHECK_FALSE(server::ControlKeys::read(folder.path()).ok());
    CHECK_FALSE(server::ControlKeys::read(folder.path() + "/none").ok());
}

TEST_CASE("a server without a file of keys gets one with a key of its own") {
    const test::TempFolder folder;
    const std::string path = folder.path() + "/control.keys";
    protocol::SystemRandom random;
    const auto made = server::ControlKeys::read_or_make(path, random);
    REQUIRE(made);
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    std::string name, level, digits;
    std::ifstream(path) >> name >> level >> digits;
    CHECK(name == "admin");
    CHECK(level == "admin");
    REQUIRE(made->find(digits));
    const auto read = server::ControlKeys::read(path);
    REQUIRE(read);
    CHECK(read->find(digits)->level == server::ControlLevel::admin);
    CHECK_FALSE(server::ControlKeys::read_or_make(folder.path() + "/none/keys", random).ok());

    // A second server, and the next start, have the same key.
    const auto again = server::ControlKeys::read_or_make(path, random);
    REQUIRE(again);
    CHECK(again->find(digits));
    std::ofstream(path) << "no key\n";
    const auto broken = server::ControlKeys::read_or_make(path, random);
    REQUIRE_FALSE(broken);
    CHECK(has(broken.error().to_string(), "remove the file"));
}

TEST_CASE("a request without a good key is refused before its body is read") {
    const Api api;
    CHECK(status_of(api.get("/v1/host", "", kRead)) == 200);
    CHECK(status_of(api.get("/v1/host", "", "")) == 401);
    for (const char* field : {"Authorization: Basic YTpi\r\n", "Authorization: Bearer\r\n", "Authorization: \r\n",
                              "Authorization: Bearer 11\r\n"}) {
        const std::string answer = api.get("/v1/host", field, "");
        CHECK(status_of(answer) == 401);
        CHECK(has(answer, "WWW-Authenticate: Bearer"));
    }
    CHECK(status_of(api.get("/v1/host", "Authorization: bearer  " + kRead + "\r\n", "")) == 200);
    CHECK(status_of(api.get("/v1/host", "Authorization: Bearer " + kRead + "\r\n", kAdmin)) == 401);  // two
    TcpClient client(api.address());
    client.write(
        "POST /v1/drain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
        "60000\r\n\r\n");
    CHECK(status_of(client.read_head()) == 401);  // though nothing of the body came
    CHECK(status_of(api.post("/v1/drain", R"({"within_s": 1})", kOperate)) == 403);
    CHECK_FALSE(api.rooms.host().draining);
}

TEST_CASE("many wrong keys are slowed down, and a good one is served meanwhile") {
    const Api api;
    int refused = 0, slowed = 0;
    for (int i = 0; i < 60; ++i) {
        const int status = status_of(api.get("/v1/host", "", std::string(64, 'f')));
        refused += status == 401;
        slowed += status == 429;
    }
    CHECK(refused >= 20);
    CHECK(slowed > 0);
    CHECK(refused + slowed == 60);
    CHECK(status_of(api.get("/v1/host", "", kRead)) == 200);
}

TEST_CASE("a request comes by a host of the server, and from no other page") {
    const Api api({"Ops.Example.com"});
    const auto status = [&](const std::string& fields) {
        return status_of(
            api.send("GET /v1/host HTTP/1.1\r\nAuthorization: Bearer " + kRead + "\r\n" + fields + "\r\n"));
    };
    for (const std::string host : {"localhost", "LOCALHOST:9", "127.0.0.1:7790", "127.0.0.2", "[::1]:80", "[::1]",
                                   "ops.example.com", "OPS.example.com:443"})
        CHECK_MESSAGE(status(std::string("Host: ") + host + "\r\n") == 200, host);
    for (const std::string host : {"example.com", "ops.example.com.", "localhost.example.com", "10.0.0.1", "0.0.0.0",
                                   "[::2]", "::1", "localhost@example.com", "127.0.0.1.example.com", "localhost:1:2"})
        CHECK_MESSAGE(status(std::string("Host: ") + host + "\r\n") == 403, host);
    CHECK(status("") == 400);
    CHECK(status("Host: localhost\r\nHost: localhost\r\n") == 400);
    const std::string host = "Host: localhost:7790\r\n";
    CHECK(status(host + "Origin: http://localhost:7790\r\n") == 200);
    CHECK(status(host + "Origin: https://localhost:7790\r\n") == 200);
    for (const std::string origin : {"http://localhost:7791", "http://localhost", "null", "http://example.com",
                                     "http://localhost:7790.example.com", "http://localhost:7790/"})
        CHECK_MESSAGE(status(host + "Origin: " + origin + "\r\n") == 403, origin);
    CHECK(status_of(api.send("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")) == 403);  // the page, too

    const Api everywhere({}, "0.0.0.0:0");
    CHECK(status_of(everywhere.send("GET /v1/host HTTP/1.1\r\nHost: 10.0.0.1\r\nAuthorization: Bearer " + kRead +
                                    "\r\n\r\n")) == 200);
    CHECK(status_of(everywhere.send("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")) == 403);

    server::ControlConfig config;
    config.bind = *protocol::Address::parse("127.0.0.1:0");
    config.hosts = {"https://ops.example.com"};
    FakeRooms rooms;
    const auto started = server::ControlServer::start(std::move(config), rooms);
    REQUIRE_FALSE(started);
    CHECK(started.error().place == "hosts[0]");
}

TEST_CASE("what is larger than its limit is refused") {
    const Api api;
    const std::string head = "POST /v1/rooms HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kAdmin +
                             "\r\nContent-Type: application/json\r\n";
    CHECK(status_of(api.send(head + "Content-Length: 65537\r\n\r\n")) == 413);
    CHECK(status_of(api.send(head + "Content-Length: 18446744073709551617\r\n\r\n")) == 400);
    CHECK(status_of(api.send(head + "Content-Length: -1\r\n\r\n")) == 400);
    CHECK(status_of(api.send(head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}")) == 400);
    CHECK(status_of(api.send(head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}")) == 400);
    CHECK(status_of(api.send(head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")) == 400);
    CHECK(status_of(api.send(head + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}")) == 415);
    const std::string json = R"({"scene": "yard"})";
    const auto chunk = [](const std::string& bytes) {
        char size[20];
        std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
        return size + bytes + "\r\n";
    };
    const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
    CHECK(status_of(api.send(chunked + chunk(json.substr(0, 5)) + chunk(json.substr(5)) + "0\r\n\r\n")) == 201);
    CHECK(status_of(api.send(chunked + chunk(std::string(65536, ' ') + json) + "0\r\n\r\n")) == 413);
    CHECK(status_of(api.send(chunked + chunk(std::string(1 << 20, ' ')))) == 413);
    CHECK(status_of(api.send(chunked + "zz\r\n")) == 400);
    CHECK(status_of(api.post("/v1/rooms", std::string(65536 - json.size(), ' ') + json)) == 201);  // just fits

    CHECK(status_of(api.get("/" + std::string(9000, 'a'))) == 414);
    std::string fields;
    while (fields.size() < 40'000) fields += "X-Field: " + std::string(1000, 'x') + "\r\n";
    CHECK(status_of(api.get("/v1/host", fields)) == 431);
    CHECK(status_of(api.get("/v1/host", "X-Field: " + std::string(9000, 'x') + "\r\n")) == 400);
    TcpClient endless(api.address());
    endless.write(std::string(100'000, 'G'));  // a first line that does not end
    CHECK(status_of(endless.read_all()) == 431);
    std::string ranges = "bytes=0-0";
    while (ranges.size() < 8000) ranges += ",0-0";
    CHECK(status_of(api.get("/v1/host", "Range: " + ranges + "\r\n")) == 200);
}

TEST_CASE("a body that is not of its schema is told where") {
    const Api api;
    struct Bad {
        const char *path, *body;
        int status;
        const char* text;  // in the answer
    };
    REQUIRE(status_of(api.post("/v1/rooms", R"({"scene": "yard"})")) == 201);
    for (const Bad& bad : {
             Bad{"/v1/rooms", R"({"scene": "yard")", 400, "\"line\": 1"},
             {"/v1/rooms", "{\n\"scene\": \"yard\",\n\"scene\": \"yard\"}", 400, "\"line\": 3"},
             {"/v1/rooms", R"({"scene": "yard"} {})", 400, "malformed-request"},
             {"/v1/rooms", R"([])", 400, "malformed-request"},
             {"/v1/rooms", R"(null)", 400, "malformed-request"},
             {"/v1/rooms", R"({"scene": "yard", "colour": 1})", 400, "colour"},
             {"/v1/rooms", R"({"scene": 5})", 400, "malformed-request"},
             {"/v1/rooms", R"({"scene": "yard", "record": "yes"})", 400, "\"field\": \"record\""},
             {"/v1/rooms", R"({"scene": "yard", "max_clients": "12"})", 400, "\"field\": \"max_clients\""},
             {"/v1/rooms", R"({"scene": "yard", "max_clients": -1})", 400, "malformed-request"},
             {"/v1/rooms", R"({"scene": "yard", "max_clients": 4294967296})", 400, "malformed-request"},
             {"/v1/rooms", "{\"scene\": \"\xff\"}", 400, "malformed-request"},
             {"/v1/rooms", R"({})", 422, "\"field\": \"scene\""},
             {"/v1/rooms", "", 422, "\"field\": \"scene\""},
             {"/v1/rooms", R"({"scene": "../yard"})", 422, "is a path"},
             {"/v1/rooms", R"({"scene": "/etc/passwd"})", 422, "is a path"},
             {"/v1/rooms", R"({"scene": "yard\u0000"})", 422, "\"field\": \"scene\""},
             {"/v1/rooms", R"({"scene": ".hidden"})", 422, "is a path"},
             {"/v1/rooms", R"({"scene": "moon"})", 422, "\"field\": \"scene\""},
             {"/v1/rooms", R"({"scene": "faulty"})", 422, "a string does not end"},
             {"/v1/rooms", R"({"scene": "yard", "name": "a b"})", 422, "\"field\": \"name\""},
             {"/v1/rooms", R"({"scene": "yard", "max_clients": 0})", 422, "\"field\": \"max_clients\""},
             {"/v1/rooms", R"({"scene": "yard", "tick_rate_hz": 0})", 422, "\"field\": \"tick_rate_hz\""},
             {"/v1/rooms", R"({"scene": "yard", "tick_rate_hz": nan})", 422, "\"field\": \"tick_rate_hz\""},
             {"/v1/rooms", R"({"scene": "yard", "tick_rate_hz": 2000})", 422, "is not from 1 to 1000 Hz"},
             {"/v1/rooms", R"({"scene": "yard", "end_when_empty_s": 86401})", 422, "\"field\": \"end_when_empty_s\""},
             {"/v1/rooms/r1/drain", R"({"within_s": 86401})", 422, "\"field\": \"within_s\""},
             {"/v1/rooms/r1/drain", R"({"within_s": inf})", 422, "\"field\": \"within_s\""},
             {"/v1/rooms/r1/drain", R"({"within_s": nan})", 422, "\"field\": \"within_s\""},
             {"/v1/rooms/r1/stop", R"({"reason": "two\nlines"})", 422, "\"field\": \"reason\""},
             {"/v1/rooms/r1/kick", R"({})", 422, "\"field\": \"client_id\""},
             {"/v1/rooms/r1/kick", R"({"client_id": 5})", 400, "malformed-request"},
             {"/v1/rooms/r1/kick", R"({"client_id": "0123456789abcdeg"})", 422, "\"field\": \"client_id\""},
             {"/v1/rooms/r1/kick", R"({"client_id": "-123456789abcdef"})", 422, "\"field\": \"client_id\""},
             {"/v1/rooms/r1/kick", R"({"client_id": "0x23456789abcdef"})", 422, "\"field\": \"client_id\""},
             {"/v1/rooms/r1/tokens", R"({"role": "emperor"})", 400, "emperor"},
             {"/v1/rooms/r1/tokens", R"({"role": 7})", 422, "\"field\": \"role\""},
             {"/v1/rooms/r1/tokens", R"({"user_data": "***"})", 422, "\"field\": \"user_data\""},
             {"/v1/rooms/r1/tokens", R"({"expires_s": 86401})", 422, "\"field\": \"expires_s\""},
             {"/v1/rooms/r1/tokens", R"({"timeout_s": -1})", 422, "\"field\": \"timeout_s\""},
         }) {
        const std::string answer = api.post(bad.path, bad.body);
        CHECK_MESSAGE(status_of(answer) == bad.status, bad.path, " ", bad.body, ": ", answer);
        CHECK_MESSAGE(has(answer, bad.text), bad.path, " ", bad.body, ": ", answer);
        CHECK(has(answer, "application/problem+json"));
    }
    std::string deep = R"({"scene": )";
    for (int i = 0; i < 30'000; ++i) deep += "[";
    CHECK(status_of(api.post("/v1/rooms", deep)) >= 400);
    CHECK(api.rooms.list().size() == 1);
    CHECK(api.rooms.kicks().empty());
}

TEST_CASE("what a token and a kick are to be comes to the room") {
    const Api api;
    REQUIRE(status_of(api.post("/v1/rooms", R"({"scene": "yard", "max_clients": 5, "end_when_empty_s": 2.5})",
                               kOperate)) == 201);
    const auto wish = api.rooms.last_wish();
    REQUIRE(wish);
    CHECK(wish->max_clients == 5u);
    CHECK(wish->end_when_empty_s == 2.5);
    CHECK_FALSE(wish->tick_rate_hz.has_value());
    CHECK_FALSE(wish->record.has_value());
    CHECK(status_of(api.post("/v1/rooms/r1/kick", R"({"client_id": "00000000000000aF", "reason": "\u00fcbel"})",
                             kOperate)) == 202);
    REQUIRE(api.rooms.kicks().size() == 1);
    CHECK(api.rooms.kicks()[0].room == "r1");
    CHECK(api.rooms.kicks()[0].client_id == 0xaf);
    CHECK(api.rooms.kicks()[0].reason ==
          "\xc3\xbc"
          "bel");
    CHECK(status_of(api.post("/v1/rooms/r1/tokens", "", kOperate)) == 200);
    auto token = api.rooms.last_token();
    REQUIRE(token);
    CHECK_FALSE(token->client_id.has_value());
    CHECK(token->role == protocol::TokenRole::player);
    CHECK(token->expires_s == 60);
    CHECK(token->timeout_s == 15);
    CHECK(token->user_data.empty());
    CHECK(status_of(
              api.post("/v1/rooms/r1/tokens",
                       R"({"client_id": "ffffffffffffffff", "role": "director", "user_data": "AQID", "expires_s": 86400,
                                 "timeout_s": 0})")) == 200);
    token = api.rooms.last_token();
    CHECK(token->client_id == ~std::uint64_t{0});
    CHECK(token->role == protocol::TokenRole::director);
    CHECK(token->user_data == std::vector<std::uint8_t>{1, 2, 3});
    CHECK(token->expires_s == 86'400);
    CHECK(token->timeout_s == 0);
    const std::string most(328, 'A');  // 246 bytes
    CHECK(status_of(api.post("/v1/rooms/r1/tokens", R"({"user_data": ")" + most + R"("})")) == 200);
    CHECK(status_of(api.post("/v1/rooms/r1/tokens", R"({"user_data": ")" + most + R"(AAAA"})")) == 422);
}

TEST_CASE("paths take ids, and a method that a path lacks is named") {
    const Api api;
    for (const std::string path : {"/v2/rooms", "/v1", "/v1/", "/v1/rooms/", "/v1/rooms/r1/", "/v1/rooms/a/b/c",
                                   "/v1/rooms/..", "/v1/rooms/a%2f..%2fb", "/v1/recordings/../../etc/passwd",
                                   "/v1/recordings/%2e%2e", "/console.html", "//v1/rooms", "/v1/rooms/r1\xff", "*"})
        CHECK_MESSAGE(status_of(api.get(path)) == 404, path);
    CHECK(status_of(api.get("/v1/rooms/" + std::string(64, 'a'))) == 404);
    CHECK(has(api.send("DELETE /v1/rooms HTTP/1.1\r\nHost: localhost\r\n\r\n"), "\r\nAllow: GET, HEAD, POST\r\n"));
    CHECK(has(api.send("PUT / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "\r\nAllow: GET, HEAD\r\n"));
    CHECK(has(api.get("/v1/drain"), "\r\nAllow: POST\r\n"));
    CHECK(has(api.get("/v1/drain"), "This path allows POST."));
    CHECK(status_of(api.send("OPTIONS /v1/rooms HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n")) ==
          405);
    CHECK(status_of(api.send("BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n")) == 400);
    CHECK(status_of(api.send("nonsense\r\n\r\n")) == 400);
    CHECK(status_of(api.get("/v1/host?key=" + kAdmin)) == 400);
    CHECK(status_of(api.get("/v1/host", "Content-Length: 2\r\n")) == 400);
    const std::string head =
        api.send("HEAD /v1/host HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kRead + "\r\n\r\n");
    CHECK(status_of(head) == 200);
    CHECK(body_of(head).empty());
}

TEST_CASE("slow connections hold no worker: a request is answered while all of them are open") {
    for (const std::size_t count : {std::size_t{64}, std::size_t{120}}) {
        const Api api;
        std::vector<std::unique_ptr<TcpClient>> slow;
        for (std::size_t i = 0; i < count; ++i) {
            slow.push_back(std::make_unique<TcpClient>(api.address()));
            REQUIRE(slow.back()->connected());
            if (i % 3 != 0) slow.back()->write(i % 3 == 1 ? "G" : "GET / HTTP/1.1\r\nHost: localhost\r\nX-Field: ");
        }
        for (int i = 0; i < 10; ++i) CHECK(status_of(api.get("/v1/host")) == 200);
        // None was closed or told of its time meanwhile: no request waited for one's end.
        CHECK(std::ranges::none_of(slow, [](const auto& one) { return one->readable(); }));
        slow[2]->write("\r\n\r\n");
        CHECK(status_of(slow[2]->read_all()) == 200);
    }
}

TEST_CASE(
    "a head that does not come is told so, one that ends too early too, and more connections push out the oldest") {
    const Api api;
    CHECK(status_of(api.send("GET / HT")) == 400);
    CHECK(api.send("").empty());
    TcpClient silent(api.address()), begun(api.address());
    begun.write("G");
    CHECK(status_of(begun.read_all()) == 408);
    CHECK(silent.read_all().empty());
    TcpClient oldest(api.address());
    std::vector<std::unique_ptr<TcpClient>> slow;
    for (std::size_t i = 0; i < 2 * server::kMaxHttpConnections; ++i) {
        slow.push_back(std::make_unique<TcpClient>(api.address()));
        REQUIRE(slow.back()->connected());
    }
    CHECK(status_of(api.get("/v1/host")) == 200);
    CHECK(oldest.read_all().empty());
    CHECK_FALSE(slow.back()->readable());
}

TEST_CASE("a client is told to send a body once its head is good, and not before") {
    const Api api;
    const auto begin = [&](TcpClient& client, const std::string& key) {
        client.write("POST /v1/drain HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key +
                     "\r\nContent-Type: application/json\r\nContent-Length: 15\r\nExpect: 100-continue\r\n\r\n");
        return status_of(client.read_head());
    };
    TcpClient good(api.address()), bad(api.address());
    CHECK(begin(good, kAdmin) == 100);
    good.write("{\"within_s\": 1}");
    CHECK(status_of(good.read_all()) == 202);
    CHECK(begin(bad, kRead) == 403);
}

TEST_CASE("a body that does not come is not waited for without end") {
    const Api api;
    TcpClient client(api.address());
    client.write("POST /v1/drain HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kAdmin +
                 "\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"within_s\":");
    CHECK(status_of(client.read_all()) == 408);
    CHECK_FALSE(api.rooms.host().draining);
}

TEST_CASE("more requests than can wait are told so") {
    constexpr std::size_t kWorkers = 8, kTooMany = 100;
    Api api;
    api.rooms.hold(true);
    std::vector<std::unique_ptr<TcpClient>> clients;
    const auto ask = [&] {
        clients.push_back(std::make_unique<TcpClient>(api.address()));
        clients.back()->write("GET /v1/host HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kRead +
                              "\r\n\r\n");
    };
    while (clients.size() < kWorkers) ask();
    while (api.rooms.waiting_calls() < kWorkers) ::usleep(1000);
    while (clients.size() < kWorkers + server::kMaxHttpWaiting + kTooMany) ask();
    const auto readable = [](const auto& client) { return client->readable(); };
    while (std::ranges::count_if(clients, readable) < std::ptrdiff_t{kTooMany}) ::usleep(1000);
    api.rooms.hold(false);
    std::size_t good = 0, refused = 0;
    for (const auto& client : clients) {
        const std::string answer = client->read_all();
        good += status_of(answer) == 200;
        refused += status_of(answer) == 503 && has(answer, "\r\nRetry-After: 1\r\n") &&
                   has(answer, "\r\nCache-Control: no-store\r\n") && has(answer, "application/problem+json");
    }
    CHECK(good == kWorkers + server::kMaxHttpWaiting);
    CHECK(refused == kTooMany);
}

TEST_CASE("a recording is sent in parts, and few at a time") {
    Api api;
    const std::string path = api.folder.path() + "/yard \"a\".orr";
    std::ofstream(path) << "0123456789";
    api.rooms.add_recording("1", path, 10);
    const auto part = [&](const std::string& range) {
        return api.get("/v1/recordings/1", range.empty() ? "" : "Range: " + range + "\r\n", kOperate);
    };
    CHECK(body_of(part("")) == "0123456789");
    CHECK(has(part(""), "\r\nContent-Disposition: attachment; filename=\"yard__a_.orr\"\r\n"));
    CHECK(body_of(part("bytes=2-4")) == "234");
    CHECK(has(part("bytes=2-4"), "\r\nContent-Range: bytes 2-4/10\r\n"));
    CHECK(body_of(part("bytes=7-")) == "789");
    CHECK(body_of(part("bytes=-3")) == "789");
    CHECK(body_of(part("bytes=-30")) == "0123456789");
    CHECK(body_of(part("bytes=9-9999999999")) == "9");
    CHECK(body_of(part("bytes=0-1,3-4")) == "0123456789");  // several are none
    for (const std::string range : {"bytes=10-", "bytes=999-1000", "bytes=-0"}) {
        CHECK_MESSAGE(status_of(part(range)) == 416, range);
        CHECK_MESSAGE(has(part(range), "\r\nContent-Range: bytes */10\r\n"), range);
    }
    CHECK(status_of(part("bytes=-")) == 200);
    for (const std::string range : {"bytes=4-2", "bytes=a-b", "bytes=99999999999999999999-"})
        CHECK_MESSAGE(status_of(part(range)) == 416, range);
    CHECK(status_of(part("lines=1-2")) == 416);
    CHECK(status_of(api.get("/v1/recordings/1", "", kRead)) == 403);

    std::ofstream(path, std::ios::trunc).close();
    CHECK(status_of(part("")) == 200);
    CHECK(status_of(part("bytes=0-")) == 416);
    REQUIRE(::truncate(path.c_str(), off_t{64} << 20) == 0);  // more than sockets hold
    {
        std::vector<std::unique_ptr<TcpClient>> downloads;
        for (int i = 0; i < 4; ++i) {
            downloads.push_back(std::make_unique<TcpClient>(api.address(), 4096));
            downloads.back()->write("GET /v1/recordings/1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                                    kAdmin + "\r\n\r\n");
            CHECK(status_of(downloads.back()->read_head()) == 200);
        }
        CHECK(status_of(part("")) == 503);
        CHECK(status_of(api.get("/v1/host")) == 200);
        // A client that is slower than the server gets all of it.
        CHECK(downloads.back()->read_all().size() == std::size_t{64} << 20);
        api.server.reset();  // ends with what is under way
    }
}

TEST_CASE("a second server does not share the port") {
    const Api api;
    server::ControlConfig config;
    config.bind = api.address();
    FakeRooms rooms;
    const auto second = server::ControlServer::start(std::move(config), rooms);
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::io);
    CHECK(has(second.error().to_string(), "give another by --control-port"));
}

TEST_CASE("the server leaves the process's signals as they are, and ends with connections open") {
    const auto before = ::signal(SIGPIPE, SIG_DFL);
    {
        const Api api;
        struct sigaction now {};
        ::sigaction(SIGPIPE, nullptr, &now);
        CHECK((now.sa_handler == SIG_DFL));
        TcpClient idle(api.address()), begun(api.address());
        begun.write("GET / HT");
        { TcpClient gone(api.address()); }
        CHECK(status_of(api.get("/v1/host")) == 200);
    }
    ::signal(SIGPIPE, before);
}

TEST_CASE("the page has nothing that its policy forbids, and answers to anybody") {
    const Api api;
    const std::string answer = api.get("/", "", "");
    CHECK(status_of(answer) == 200);
    CHECK(has(answer, "\r\nContent-Security-Policy: default-src 'none'; script-src 'sha256-"));
    CHECK(has(answer, "X-Frame-Options: DENY"));
    CHECK(body_of(answer) == server::console_page());
    const std::string page(server::console_page());
    for (const std::string word : {" style=\"", " onclick", " onload", "innerHTML", "localStorage", "sessionStorage",
                                   "document.cookie", "src=\"http", "href=\"http", "eval("})
        CHECK_MESSAGE(!has(page, word), word);
}

TEST_CASE("bytes that are no request leave the server as it was") {
    const Api api;
    testing::Random random(1);
    const std::string good = "POST /v1/rooms HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kAdmin +
                             "\r\nContent-Type: application/json\r\nRange: bytes=0-1\r\nContent-Length: 17\r\n\r\n"
                             "{\"scene\": \"yard\"}";
    for (int i = 0; i < 300; ++i) {
        std::string bytes = good;
        for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
            const std::size_t at = random.below(bytes.size());
            switch (random.below(4)) {
                case 0:
                    bytes[at] = static_cast<char>(random.below(256));
                    break;
                case 1:
                    bytes.erase(at, 1 + random.below(20));
                    break;
                case 2:
                    bytes.insert(at, 1 + random.below(20), static_cast<char>(random.below(256)));
                    break;
                default:
                    bytes.resize(std::max<std::size_t>(at, 1));
            }
        }
        const std::string answer = api.send(bytes);
        const int status = status_of(answer);
        CHECK_MESSAGE((answer.empty() || (status >= 200 && status < 504 && status != 500)), answer);
    }
    CHECK(status_of(api.get("/v1/host")) == 200);
}
