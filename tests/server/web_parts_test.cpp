// Contract: the parts of the web server, without sockets: heads of requests, origins, files, answers, and the frames of
// a WebSocket. What a client may not send is refused by the code that the standard has for it, in bounded memory.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "server/net/handshake_key.h"
#include "server/net/web_answers.h"
#include "server/net/web_origin.h"
#include "server/net/web_socket.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::server;
using testing::client_frame;

namespace {

HttpRequest request_of(const std::string& head) {
    HttpRequest request;
    const auto error = read_http_request(head, request);
    if (error) FAIL(error->text);
    return request;
}

int refused(const std::string& head) {
    HttpRequest request;
    const auto error = read_http_request(head, request);
    return error ? error->status : 0;
}

std::string get(const std::string& path, const std::string& fields = {}, const std::string& method = "GET") {
    return method + " " + path + " HTTP/1.1\r\nHost: localhost:7780\r\n" + fields + "\r\n";
}

WebConfig config_of_page() {
    WebConfig config;
    config.files.add("/index.html", {'h', 'i'});
    config.files.add("/scene/0123456789abcdef", {1, 2, 3}, true);
    config.origins = {"https://play.example.com"};
    config.no_tokens = "no tokens here";
    config.mint = [](protocol::TokenRole role, const std::string&) {
        return Result<protocol::PublicTokenBytes>(protocol::PublicTokenBytes{static_cast<std::uint8_t>(role)});
    };
    return config;
}

WebAnswer ask(const WebConfig& config, const std::string& head, bool may_mint = true) {
    return answer(request_of(head), config, 7780, [=] { return may_mint; });
}

int status(const WebAnswer& answer) { return std::stoi(answer.head.substr(9, 3)); }
bool says(const WebAnswer& answer, const std::string& text) { return answer.head.find(text) != std::string::npos; }

const std::string kUpgrade =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

// What a WebSocket makes of bytes that come in pieces of `step`.
struct Fed {
    std::vector<std::string> messages;
    std::string out;
    bool open = true;
    int close_code() const {
        const std::size_t at = out.find('\x88');
        if (at == std::string::npos || out.size() < at + 4) return 0;
        return static_cast<unsigned char>(out[at + 2]) << 8 | static_cast<unsigned char>(out[at + 3]);
    }
};
Fed feed(const std::string& bytes, std::size_t step) {
    WebSocket socket;
    Fed fed;
    std::vector<std::uint8_t> out;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        const std::string piece = bytes.substr(at, step);
        const bool open = socket.receive(
            {reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()},
            [&](protocol::Bytes message) { fed.messages.emplace_back(message.begin(), message.end()); }, out);
        fed.open = fed.open && open;
    }
    fed.out.assign(out.begin(), out.end());
    return fed;
}

}  // namespace

TEST_CASE("the handshake's answer is that of RFC 6455, and its hash that of FIPS 180") {
    CHECK(handshake_answer("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    const auto abc = sha1("abc");
    CHECK(abc[0] == 0xa9);
    CHECK(abc[19] == 0x9d);
    const auto long_text = sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
    CHECK(long_text[0] == 0x84);
    CHECK(long_text[19] == 0xf1);
    const auto empty = sha1("");
    CHECK(empty[0] == 0xda);
    CHECK(empty[19] == 0x09);
    CHECK(is_handshake_key("dGhlIHNhbXBsZSBub25jZQ=="));
    CHECK_FALSE(is_handshake_key("dGhlIHNhbXBsZSBub25jZQ="));
    CHECK_FALSE(is_handshake_key("dGhlIHNhbXBsZSBub25jZ\n=="));
    CHECK_FALSE(is_handshake_key(""));
}

TEST_CASE("the head of a request is read as HTTP/1.1 has it, and refused where it is not plainly right") {
    const HttpRequest request = request_of("GET /a/b?c=d HTTP/1.1\r\nHost: h\r\nX-List: a, B ,c\r\nx-list: d\r\n\r\n");
    CHECK(request.method == "GET");
    CHECK(request.path == "/a/b");
    CHECK(*request.field("host") == "h");
    CHECK(request.has_word("x-list", "b"));
    CHECK(request.has_word("x-list", "D"));
    CHECK_FALSE(request.has_word("x-list", "a, B"));
    CHECK(refused("GET / HTTP/1.0\r\nHost: h\r\n\r\n") == 505);
    CHECK(refused("GET / HTTP/2.0\r\nHost: h\r\n\r\n") == 505);
    for (const std::string line : {"GET", "GET /", "GET  HTTP/1.1", "G ET / HTTP/1.1", "GET a HTTP/1.1",
                                   "GET http://h/ HTTP/1.1", "G\tT / HTTP/1.1", "GET /\x01 HTTP/1.1", ""}) {
        CAPTURE(line);
        CHECK(refused(line + "\r\nHost: h\r\n\r\n") == 400);
    }
    for (const std::string field : {"Host : h", "Host", ": h", " folded: 1", "a b: c", "x: \x01", "Host: h\nx: y"}) {
        CAPTURE(field);
        CHECK(refused("GET / HTTP/1.1\r\nHost: h\r\n" + field + "\r\n\r\n") == 400);
    }
    CHECK(refused("GET / HTTP/1.1\r\n\r\n") == 400);
    CHECK(refused("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n") == 400);
    CHECK(refused("GET / HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nOrigin: http://b\r\n\r\n") == 400);
    CHECK(refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n") == 0);
    CHECK(refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n") == 413);
    CHECK(refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n") == 413);
    std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (std::size_t i = 0; i < kMaxHttpFields; ++i) many += "x: y\r\n";
    CHECK(refused(many + "\r\n") == 431);
}

TEST_CASE("a page may connect from the server's own host or a named origin, and from no other") {
    const auto allowed = [](const std::string& host, const std::string& origin) {
        const HttpRequest request = request_of("GET / HTTP/1.1\r\nHost: " + host + "\r\n" +
                                               (origin.empty() ? "" : "Origin: " + origin + "\r\n") + "\r\n");
        return origin_allowed(request, {"https://play.example.com", "http://localhost:5173"});
    };
    CHECK(allowed("127.0.0.1:7780", ""));
    CHECK(allowed("127.0.0.1:7780", "http://127.0.0.1:7780"));
    CHECK(allowed("game.example.com", "https://game.example.com"));
    CHECK(allowed("game.example.com:443", "https://game.example.com"));
    CHECK(allowed("Game.example.com", "https://game.EXAMPLE.com"));
    CHECK(allowed("[::1]:7780", "http://[::1]:7780"));
    CHECK(allowed("127.0.0.1:7780", "https://play.example.com"));
    CHECK(allowed("127.0.0.1:7780", "http://localhost:5173"));
    CHECK_FALSE(allowed("127.0.0.1:7780", "http://127.0.0.1:7781"));
    CHECK_FALSE(allowed("127.0.0.1:7780", "http://localhost:7780"));
    CHECK_FALSE(allowed("127.0.0.1:7780", "https://play.example.com.evil.com"));
    CHECK_FALSE(allowed("127.0.0.1:7780", "http://play.example.com"));
    CHECK_FALSE(allowed("127.0.0.1:7780", "null"));
    CHECK_FALSE(allowed("127.0.0.1:7780", "http://evil.com/127.0.0.1:7780"));
    CHECK(normal_origin("https://a.b:443") == "https://a.b");
    for (const char* text : {"a.b", "https://", "ws://a.b", "https://a.b/", "https://a.b/c", "https://a@b", "null", ""})
        CHECK_FALSE(normal_origin(text));
}

TEST_CASE("tokens are given to names of loopback with the server's port, by POST, and never where there are none") {
    const WebConfig config = config_of_page();
    const auto host = [](const std::string& name, const std::string& more = {}) {
        return "POST /token HTTP/1.1\r\nHost: " + name + "\r\n" + more + "\r\n";
    };
    for (const char* name : {"127.0.0.1:7780", "localhost:7780", "[::1]:7780", "LOCALHOST:7780"}) {
        const WebAnswer given = ask(config, host(name));
        CHECK(status(given) == 200);
        CHECK(says(given, "Content-Type: application/octet-stream\r\n"));
        CHECK(says(given, "Cache-Control: no-store\r\n"));
        REQUIRE(given.body);
        CHECK(given.body->size() == protocol::kConnectTokenBytes);
    }
    for (const char* name :
         {"evil.com:7780", "127.0.0.1", "localhost:7781", "127.0.0.1.evil.com:7780", "127.0.0.2:7780"})
        CHECK(status(ask(config, host(name))) == 403);
    CHECK(status(ask(config, host("localhost:7780", "Origin: http://localhost:7780\r\n"))) == 200);
    CHECK(status(ask(config, host("localhost:7780", "Origin: http://evil.com\r\n"))) == 403);
    CHECK(status(ask(config, host("localhost:7780", "Origin: null\r\n"))) == 403);
    const WebAnswer shared = ask(config, host("localhost:7780", "Origin: https://play.example.com\r\n"));
    CHECK(says(shared, "Access-Control-Allow-Origin: https://play.example.com\r\n"));
    for (const char* field :
         {"Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4", "x-forwarded-proto: https", "Via: 1.1 proxy"})
        CHECK(status(ask(config, host("localhost:7780", std::string(field) + "\r\n"))) == 403);
    CHECK(status(ask(config, get("/token"))) == 405);
    CHECK(status(ask(config, host("localhost:7780"), false)) == 429);
    WebConfig without = config_of_page();
    without.mint = nullptr;
    const WebAnswer none = ask(without, host("localhost:7780"));
    CHECK(status(none) == 403);
    CHECK(std::string(none.body->begin(), none.body->end()) == "no tokens here\n");
}

TEST_CASE("a director's token is given only where hands are on, and only to who asks for one") {
    const auto post = [](const std::string& target, const std::string& fields = {}) {
        return "POST " + target + " HTTP/1.1\r\nHost: localhost:7780\r\n" + fields + "\r\n";
    };
    const auto role = [](const WebAnswer& given) {
        REQUIRE(given.body);
        return static_cast<protocol::TokenRole>(given.body->at(0));
    };
    WebConfig config = config_of_page();
    const WebAnswer off = ask(config, post("/token?role=director"));
    CHECK(status(off) == 403);
    CHECK(std::string(off.body->begin(), off.body->end()).find("--hands") != std::string::npos);
    config.directors = true;
    const WebAnswer on = ask(config, post("/token?role=director"));
    CHECK(status(on) == 200);
    CHECK(role(on) == protocol::TokenRole::director);
    for (const char* target : {"/token", "/token?", "/token?role=player", "/token?x=1"}) {
        const WebAnswer player = ask(config, post(target));
        CHECK(status(player) == 200);
        CHECK(role(player) == protocol::TokenRole::player);
    }
    CHECK(role(ask(config, post("/token?x=1&role=director&room=7"))) == protocol::TokenRole::director);
    for (const char* target : {"/token?role=king", "/token?role=", "/token?role=player&role=director"})
        CHECK(status(ask(config, post(target))) == 400);  // no other role than that asked for
    CHECK(status(ask(config, post("/token?role=director", "Origin: http://evil.com\r\n"))) == 403);
    CHECK(status(ask(config, post("/token?role=director", "Via: 1.1 proxy\r\n"))) == 403);
    CHECK(status(ask(config, "POST /token?role=director HTTP/1.1\r\nHost: evil.com:7780\r\n\r\n")) == 403);
}

TEST_CASE("files and the scene are read by GET and HEAD, with their type and tag, and nothing else is there") {
    const WebConfig config = config_of_page();
    for (const char* path : {"/", "/index.html", "/?x=1"}) {
        const WebAnswer page = ask(config, get(path));
        CHECK(status(page) == 200);
        CHECK(says(page, "Content-Type: text/html; charset=utf-8\r\n"));
        CHECK(says(page, "Cache-Control: no-cache\r\n"));
        CHECK(says(page, "Content-Security-Policy: default-src 'self'"));
        CHECK(says(page, "Content-Length: 2\r\n"));
        REQUIRE(page.body);
    }
    const WebAnswer scene = ask(config, get("/scene/0123456789abcdef"));
    CHECK(says(scene, "immutable"));
    CHECK(*scene.body == std::vector<std::uint8_t>{1, 2, 3});
    const WebAnswer head = ask(config, get("/", {}, "HEAD"));
    CHECK(status(head) == 200);
    CHECK(says(head, "Content-Length: 2\r\n"));
    CHECK_FALSE(head.body);
    const std::string tag = config.files.find("/")->tag;
    CHECK(status(ask(config, get("/", "If-None-Match: \"x\", " + tag + "\r\n"))) == 304);
    CHECK(status(ask(config, get("/", "If-None-Match: \"x\"\r\n"))) == 200);
    for (const char* path : {"/../etc/passwd", "/%2e%2e/etc/passwd", "//index.html", "/scene/0123456789ABCDEF", "/x"})
        CHECK(status(ask(config, get(path))) == 404);
    const WebAnswer nothing = ask(config, get("/x", {}, "HEAD"));
    CHECK(status(nothing) == 404);
    CHECK_FALSE(nothing.body);
    CHECK(says(ask(config, get("/")), "Vary: Origin\r\n"));
    CHECK(says(ask(config, get("/", "Origin: http://evil.com\r\n")), "Vary: Origin\r\n"));
    CHECK(status(ask(config, get("/", {}, "POST"))) == 405);
    CHECK(status(ask(config, get("/", {}, "DELETE"))) == 405);
}

TEST_CASE("a server of its own machine is called by localhost, an address or a named host, and by no other name") {
    WebConfig config = config_of_page();
    const auto called = [&](const std::string& name, const std::string& path = "/") {
        return status(ask(config, "GET " + path + " HTTP/1.1\r\nHost: " + name + "\r\n" + kUpgrade + "\r\n"));
    };
    config.bind = protocol::Address::ipv4(0, 0, 0, 0, 7780);
    CHECK(called("any.example.com") == 200);
    config.bind = protocol::Address::ipv4(127, 0, 0, 1, 7780);
    for (const char* name : {"localhost", "LocalHost:80", "127.0.0.1:7780", "[::1]:7780", "play.example.com"})
        CHECK(called(name) == 200);
    for (const char* name : {"evil.com:7780", "127.0.0.1.evil.com", "localhost.evil.com", "play.example.com:1", ":80"})
        CHECK(called(name) == 421);
    CHECK(called("evil.com", "/play") == 421);
    CHECK(called("localhost", "/play") == 101);
}

TEST_CASE("the table of files is a folder's plain files, without hidden ones and links, within its limits") {
    const test::TempFolder folder;
    std::filesystem::create_directories(folder / "page/assets");
    std::filesystem::create_directories(folder / "page/.git");
    test::write_file(folder / "page/index.html", {'a'});
    test::write_file(folder / "page/assets/app.js", {'b'});
    test::write_file(folder / "page/assets/client.wasm", {0});
    test::write_file(folder / "page/.git/config", {'c'});
    test::write_file(folder / "page/.env", {'d'});
    test::write_file(folder / "secret", {'e'});
    std::filesystem::create_symlink(folder / "secret", folder / "page/link");
    const auto files = WebFiles::read(folder / "page");
    REQUIRE(files);
    CHECK(files->size() == 4);  // the index by two paths
    CHECK(files->find("/assets/app.js")->type == "text/javascript; charset=utf-8");
    CHECK(files->find("/assets/client.wasm")->type == "application/wasm");
    CHECK(files->find("/")->bytes->at(0) == 'a');
    for (const char* path : {"/link", "/.env", "/.git/config", "/assets", "/assets/", "index.html"})
        CHECK(files->find(path) == nullptr);
    const auto none = WebFiles::read(folder / "nothing");
    REQUIRE_FALSE(none);
    CHECK(none.error().code == ErrorCode::not_found);
    CHECK(none.error().to_string().find("--web") != std::string::npos);
    std::filesystem::create_directory(folder / "many");
    for (std::size_t i = 0; i <= kMaxWebFiles; ++i) test::write_file(folder / ("many/" + std::to_string(i)), {1});
    const auto many = WebFiles::read(folder / "many");
    REQUIRE_FALSE(many);
    CHECK(many.error().code == ErrorCode::limit_reached);
}

TEST_CASE("a WebSocket is opened for version 13 with a key, from an origin that may") {
    const WebConfig config = config_of_page();
    const WebAnswer open = ask(config, get("/play", kUpgrade));
    CHECK(status(open) == 101);
    CHECK(open.upgraded);
    CHECK(says(open, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    CHECK_FALSE(says(open, "Sec-WebSocket-Extensions"));
    CHECK(status(ask(config, get("/play", kUpgrade + "Origin: http://localhost:7780\r\n"))) == 101);
    CHECK(status(ask(config, get("/play", kUpgrade + "Origin: http://evil.com\r\n"))) == 403);
    CHECK(status(ask(config, get("/play"))) == 426);
    CHECK(status(ask(config, get("/play", kUpgrade, "POST"))) == 405);
    std::string old = kUpgrade, keyless = kUpgrade;
    old.replace(old.find("13"), 2, "8");
    CHECK(status(ask(config, get("/play", old))) == 426);
    CHECK(says(ask(config, get("/play", old)), "Sec-WebSocket-Version: 13\r\n"));
    keyless.resize(keyless.find("Sec-WebSocket-Key"));
    CHECK(status(ask(config, get("/play", keyless))) == 400);
}

TEST_CASE("messages come whole, however their bytes and fragments come, and pings are answered between them") {
    const std::string payload(1200, 'p');
    const std::string bytes = client_frame(0x82, "one") + client_frame(0x82, "") + client_frame(0x02, "tw") +
                              client_frame(0x89, "ping") + client_frame(0x00, "") + client_frame(0x80, "o") +
                              client_frame(0x82, payload);
    for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64}, bytes.size()}) {
        CAPTURE(step);
        const Fed fed = feed(bytes, step);
        CHECK(fed.open);
        REQUIRE(fed.messages.size() == 4);
        CHECK(fed.messages[0] == "one");
        CHECK(fed.messages[1].empty());
        CHECK(fed.messages[2] == "two");
        CHECK(fed.messages[3] == payload);
        CHECK(fed.out == std::string("\x8a\x04ping", 6));
    }
}

TEST_CASE("what a client may not send ends the WebSocket by the standard's code, in any pieces") {
    const std::string large(kMaxWebSocketMessage + 1, 'x');
    const std::string huge = std::string("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10) + "maskpayload";
    const std::string padded = std::string("\x82\xff\0\0\0\0\0\0\0\x05", 10) + "maskhello";
    const std::string negative = std::string("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10) + "maskhello";
    std::string fragments;
    for (std::size_t i = 0; i <= kMaxWebSocketMessage; ++i) fragments += client_frame(i == 0 ? 0x02 : 0x00, "x");
    constexpr int kNoCode = 0;  // wslay closes without a code where a head is wrong
    struct Case {
        std::string what;
        std::string bytes;
        int code;
    };
    const std::vector<Case> cases = {
        {"not masked", client_frame(0x82, "hello", false), 1002},
        {"text", client_frame(0x81, "hello"), 1003},
        {"fragmented text", client_frame(0x01, "hello"), 1003},
        {"too large", client_frame(0x82, large), 1009},
        {"a length of 63 bits", huge, 1009},
        {"a length of 64 bits", negative, kNoCode},
        {"a length with more bytes than it needs", padded, kNoCode},
        {"too large in fragments", fragments, 1009},
        {"a fragmented ping", client_frame(0x09, "ping"), kNoCode},
        {"a ping above 125 bytes", client_frame(0x89, std::string(126, 'p')), kNoCode},
        {"a reserved bit", client_frame(0xc2, "hello"), 1002},
        {"a reserved opcode", client_frame(0x83, "hello"), 1002},
        {"a reserved control opcode", client_frame(0x8b, "hello"), 1002},
        {"a continuation of nothing", client_frame(0x80, "hello"), 1002},
        {"a message inside of another", client_frame(0x02, "he") + client_frame(0x82, "llo"), 1002},
        {"a close of one byte", client_frame(0x88, "x"), kNoCode},
        {"a close with a code that is none", client_frame(0x88, std::string("\x03\xed", 2)), 1002},
    };
    for (const Case& one : cases) {
        for (const std::size_t step : {std::size_t{1}, std::size_t{4096}}) {
            CAPTURE(one.what);
            CAPTURE(step);
            const Fed fed = feed(one.bytes + client_frame(0x82, "afterwards"), step);
            CHECK_FALSE(fed.open);
            CHECK(fed.messages.empty());
            CHECK(fed.out.find('\x88') != std::string::npos);
            CHECK(fed.close_code() == one.code);
        }
    }
}

TEST_CASE("a close is answered by a close, and nothing is sent after it") {
    const Fed fed = feed(client_frame(0x88, std::string("\x03\xe8", 2)) + client_frame(0x82, "late"), 4096);
    CHECK_FALSE(fed.open);
    CHECK(fed.messages.empty());
    CHECK(fed.close_code() == 1000);

    WebSocket socket;
    std::vector<std::uint8_t> out;
    socket.send(std::vector<std::uint8_t>{7}, out);
    socket.send({}, out);
    CHECK(out == std::vector<std::uint8_t>{0x82, 1, 7, 0x82, 0});
    out.clear();
    socket.close(4101, std::string(200, 't'), out);
    REQUIRE(out.size() == 2 + 2 + 122);
    CHECK(out[0] == 0x88);
    CHECK((out[2] << 8 | out[3]) == 4101);
    out.clear();
    socket.send(std::vector<std::uint8_t>{7}, out);
    CHECK(out.empty());
}
