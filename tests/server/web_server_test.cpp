// Contract: the web server over real sockets on loopback: what strangers do costs bounded memory and time, and no other
// connection is slower for it.
#include "server/net/web_server.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "orrery/server.hpp"
#include "protocol/session/handshake.h"
#include "server/net/network_thread.h"
#include "tests/support/captured_output.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using namespace orrery::server;
using protocol::Address;
using protocol::kNsPerMs;
using protocol::kNsPerSecond;
using testing::client_frame;
using testing::TcpClient;

namespace {

// A network thread with a web server, and this thread in the place of a room's.
struct Web {
    explicit Web(WebLimits limits = {}, const Address& bind = Address::ipv4(127, 0, 0, 1, 0), std::string page = {}) {
        auto started = NetworkThread::start(bind);
        if (!started) return;
        network = std::move(started).value();
        room = network->add_room({});
        WebConfig config;
        config.bind = bind;
        config.limits = limits;
        config.awaited_page = std::move(page);
        config.files.add("/index.html", {'h', 'i'});
        std::vector<std::uint8_t> large(8u << 20, 'L');
        config.files.add("/large.bin", std::move(large));
        REQUIRE(network->serve_web(std::move(config)).ok());
        address = *network->web_address();
    }

    // Takes what has come, as a room does each tick, until `enough`; the test fails after 20 s.
    template <class Enough>
    void take_until(Enough enough) {
        for (int i = 0; i < 20'000; ++i) {
            StreamQueue queue;
            room->take_streams(queue);
            for (const StreamQueue::Entry& entry : queue.entries()) {
                if (entry.kind == StreamQueue::Kind::opened) opened.push_back(entry);
                if (entry.kind == StreamQueue::Kind::closed) closed.push_back(entry);
                if (entry.kind != StreamQueue::Kind::received) continue;
                const protocol::Bytes bytes = queue.bytes_of(entry);
                messages.emplace_back(bytes.begin(), bytes.end());
            }
            most_taken = std::max(most_taken, queue.entries().size());
            room->send_streams();
            if (enough()) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        FAIL("what the test waits for did not happen");
    }

    std::unique_ptr<NetworkThread> network;
    std::unique_ptr<RoomLink> room;
    Address address;
    std::vector<StreamQueue::Entry> opened, closed;
    std::vector<std::string> messages;
    std::size_t most_taken = 0;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kGet = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

}  // namespace

TEST_CASE(
    "a page is served over IPv4 and IPv6, whether its request comes at once, by bytes, or with an end of writing") {
    for (const Address& bind : {Address::ipv4(127, 0, 0, 1, 0), Address::ipv6({0, 0, 0, 0, 0, 0, 0, 1}, 0)}) {
        Web web({}, bind);
        if (!web.network) continue;  // this machine has no IPv6
        TcpClient at_once(web.address), by_bytes(web.address), ends(web.address), large(web.address);
        at_once.write(kGet);
        by_bytes.write_bytewise(kGet);
        ends.write(kGet);
        ends.end_of_writing();
        for (TcpClient* client : {&at_once, &by_bytes, &ends}) {
            const std::string answer = client->read_all();
            CHECK(has(answer, "HTTP/1.1 200 OK\r\n"));
            CHECK(answer.ends_with("\r\n\r\nhi"));
        }
        large.write("GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
        large.read_head();
        const std::string body = large.read_all();
        CHECK(body.size() == 8u << 20);
        CHECK(std::count(body.begin(), body.end(), 'L') == 8 << 20);
    }
}

TEST_CASE("a head that is too long or too slow is refused with a sentence, and its connection ends") {
    WebLimits limits;
    limits.head_time = 100 * kNsPerMs;
    Web web(limits);
    TcpClient endless(web.address);
    endless.write("GET / HTTP/1.1\r\nHost: localhost\r\n");
    for (int i = 0; i < 9; ++i) endless.write("x: " + std::string(1000, 'y') + "\r\n");
    CHECK(has(endless.read_all(), "HTTP/1.1 431 "));
    TcpClient silent(web.address);
    CHECK(has(silent.read_all(), "HTTP/1.1 408 "));
    TcpClient half(web.address);
    half.write("GET / HTTP/1.1\r\nHost: local");
    const std::string answer = half.read_all();
    CHECK(has(answer, "HTTP/1.1 408 "));
    CHECK(has(answer, "did not come in time"));
    TcpClient wrong(web.address);
    wrong.write("\x16\x03\x01 TLS\r\n\r\n");
    CHECK(has(wrong.read_all(), "HTTP/1.1 400 "));
}

TEST_CASE("messages of a WebSocket reach the room in order, and the room's reach the client") {
    Web web;
    TcpClient client(web.address);
    CHECK(has(client.upgrade(), "101 Switching Protocols"));
    client.write(client_frame(0x82, "one"));
    client.write_bytewise(client_frame(0x82, "two") + client_frame(0x89, "p") + client_frame(0x82, ""));
    web.take_until([&] { return web.messages.size() == 3; });
    CHECK(web.messages == std::vector<std::string>{"one", "two", ""});
    REQUIRE(web.opened.size() == 1);
    CHECK(web.opened[0].address.is_loopback());
    CHECK(client.read_frame().opcode == 10);
    const auto connection = web.opened[0].connection;
    web.room->streams().send(connection, std::vector<std::uint8_t>(1200, 'a'));
    web.room->streams().send(connection, {});
    web.room->streams().close(connection, 4103, "replaced");
    web.room->send_streams();
    CHECK(client.read_frame().payload == std::string(1200, 'a'));
    CHECK(client.read_frame().payload.empty());
    const auto close = client.read_frame();
    CHECK(close.close_code() == 4103);
    CHECK(close.payload.substr(2) == "replaced");
    CHECK(client.read_all().empty());
    web.take_until([&] { return !web.closed.empty(); });
}

TEST_CASE("frames that come with the head of the request are not lost") {
    Web web;
    TcpClient client(web.address);
    CHECK(has(client.upgrade(), "101"));
    TcpClient eager(web.address);
    eager.write(
        "GET /play HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: "
        "13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" +
        client_frame(0x82, "early"));
    web.take_until([&] { return web.messages.size() == 1; });
    CHECK(web.messages[0] == "early");
}

TEST_CASE("how a WebSocket ended is told: by a word of the client, or without one") {
    Web web;
    {
        TcpClient polite(web.address);
        polite.upgrade();
        polite.write(client_frame(0x88, std::string("\x03\xe8", 2)));
        CHECK(polite.read_frame().close_code() == 1000);
        web.take_until([&] { return web.closed.size() == 1; });
        CHECK_FALSE(web.closed[0].lost);
    }
    {
        TcpClient broken(web.address);
        broken.upgrade();
    }
    web.take_until([&] { return web.closed.size() == 2; });
    CHECK(web.closed[1].lost);
    TcpClient wrong(web.address);
    wrong.upgrade();
    wrong.write(client_frame(0x82, "hello", false));
    CHECK(wrong.read_frame().close_code() == 1002);
    CHECK(wrong.read_all().empty());
    web.take_until([&] { return web.closed.size() == 3; });
    CHECK_FALSE(web.closed[2].lost);
}

TEST_CASE("a client that sends more than the room takes waits, and loses nothing; another is not slower for it") {
    Web web;
    TcpClient flood(web.address), other(web.address);
    flood.upgrade();
    other.upgrade();
    constexpr int kMessages = 20'000;
    std::thread writer([&] {
        std::string frames;
        for (int i = 0; i < kMessages; ++i) frames += client_frame(0x82, std::to_string(i));
        flood.write(frames);
    });
    // The room takes nothing for a while; then all that may wait is there, and no more.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    other.write(client_frame(0x82, "other"));
    web.take_until([&] { return std::count(web.messages.begin(), web.messages.end(), "other") == 1; });
    CHECK(web.most_taken <= kMaxWaitingMessages + kMessagesPerRead + 3);
    CHECK(web.messages.size() < 2u * (kMaxWaitingMessages + kMessagesPerRead) + 3);
    web.take_until([&] { return web.messages.size() == kMessages + 1; });
    writer.join();
    web.messages.erase(std::find(web.messages.begin(), web.messages.end(), "other"));
    bool in_order = true;
    for (int i = 0; i < kMessages; ++i)
        in_order = in_order && web.messages[static_cast<std::size_t>(i)] == std::to_string(i);
    CHECK(in_order);
    CHECK(web.most_taken <= kMaxWaitingMessages + kMessagesPerRead + 3);
}

TEST_CASE("a reader that takes nothing is seen as not ready, is ended without progress, and another gets all") {
    WebLimits limits;
    limits.stall_time = 300 * kNsPerMs;
    Web web(limits);
    TcpClient slow(web.address, 4096), quick(web.address);
    slow.upgrade();
    web.take_until([&] { return web.opened.size() == 1; });
    quick.upgrade();
    web.take_until([&] { return web.opened.size() == 2; });
    auto& streams = web.room->streams();
    const std::vector<std::uint8_t> packet(1200, 's');
    std::size_t sent_to_slow = 0, sent_to_quick = 0;
    web.take_until([&] {
        if (web.closed.empty() && streams.unsent(web.opened[0].connection) <= protocol::kMaxUnsentBytes) {
            streams.send(web.opened[0].connection, packet);
            ++sent_to_slow;
        }
        streams.send(web.opened[1].connection, packet);
        ++sent_to_quick;
        web.room->send_streams();
        if (quick.read_frame().payload.size() != packet.size()) return true;
        return !web.closed.empty();
    });
    REQUIRE(web.closed.size() == 1);
    CHECK(web.closed[0].connection == web.opened[0].connection);
    CHECK(web.closed[0].lost);
    // What the kernel took, and what waited here.
    CHECK(sent_to_slow * packet.size() < protocol::kMaxUnsentBytes + (2u << 20));
    CHECK(sent_to_quick > sent_to_slow);
    CHECK(streams.unsent(web.opened[0].connection) == protocol::kUnknownUnsent);
}

TEST_CASE("a peer that pings without reading is read no further, so that its answers do not pile up") {
    WebLimits limits;
    limits.stall_time = 300 * kNsPerMs;
    Web web(limits);
    TcpClient client(web.address, 4096);
    client.upgrade();
    std::string pings;
    for (int i = 0; i < 1000; ++i) pings += client_frame(0x89, std::string(125, 'p'));
    // The server takes no more at some point, and then ends the connection: the writer sees that.
    std::size_t written = 0;
    while (written < (256u << 20) && client.write(pings)) written += pings.size();
    CHECK(written < (64u << 20));
    web.take_until([&] { return !web.closed.empty(); });
}

TEST_CASE("connections beyond the limit end at once, and those before it go on") {
    WebLimits limits;
    limits.max_connections = 3;
    Web web(limits);
    std::vector<std::unique_ptr<TcpClient>> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(std::make_unique<TcpClient>(web.address));
        CHECK(has(clients.back()->upgrade(), "101"));
    }
    TcpClient beyond(web.address);
    beyond.write(kGet);
    CHECK(beyond.read_all().empty());
    clients[2]->write(client_frame(0x82, "still here"));
    web.take_until([&] { return !web.messages.empty(); });
}

TEST_CASE("connections without an accepted token are limited by where they come from, those with one are not counted") {
    WebLimits limits;
    limits.max_strangers_of_loopback = 2;
    Web web(limits);
    TcpClient player(web.address), idle(web.address);
    player.upgrade();
    web.take_until([&] { return web.opened.size() == 1; });
    idle.upgrade();
    web.take_until([&] { return web.opened.size() == 2; });
    TcpClient beyond(web.address);
    beyond.write(kGet);
    CHECK(beyond.read_all().empty());
    web.room->streams().send(web.opened[0].connection, std::vector<std::uint8_t>{1});
    web.room->send_streams();
    CHECK(player.read_frame().payload.size() == 1);
    TcpClient next(web.address);
    next.write(kGet);
    CHECK(has(next.read_all(), "200 OK"));
}

TEST_CASE("a reader that takes an answer by drips is ended after the answer's whole time") {
    WebLimits limits;
    limits.answer_time = -600 * kNsPerSecond;  // 8 MiB have 512 s more
    Web web(limits);
    TcpClient slow(web.address, 4096);
    slow.write("GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
    slow.read_head();
    // All of it would take 20 s; a reader at full speed can be done before the server looks at the time.
    std::size_t taken = 0, size = 1;
    for (; size > 0; taken += size, std::this_thread::sleep_for(std::chrono::milliseconds(10)))
        size = slow.read(4096).size();
    CHECK(taken < 8u << 20);
}

TEST_CASE("the limit of open files is raised to what the connections need") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit low = before;
    low.rlim_cur = 256;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    { Web web; }
    rlimit after{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
    CHECK(after.rlim_cur >= std::min<rlim_t>(before.rlim_max, WebLimits().max_connections));
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("a server that ends closes its connections within their time, after what was sent") {
    auto web = std::make_unique<Web>();
    TcpClient reader(web->address), idle(web->address);
    reader.upgrade();
    web->take_until([&] { return web->opened.size() == 1; });
    web->room->streams().send(web->opened[0].connection, std::vector<std::uint8_t>{1, 2, 3});
    web->room->streams().close(web->opened[0].connection, 4103, "the server stopped");
    web->room->send_streams();
    web.reset();  // ends the network thread
    CHECK(reader.read_frame().payload.size() == 3);
    CHECK(reader.read_frame().close_code() == 4103);
    CHECK(reader.read_all().empty());
    CHECK(idle.read_all().empty());
}

TEST_CASE("a page that is built while the server runs is there with the next request of it") {
    const test::TempFolder folder;
    const std::filesystem::path page = std::filesystem::path(folder.path()) / "page", half = page.string() + ".half";
    const Web web({}, Address::ipv4(127, 0, 0, 1, 0), page.string());
    const auto asked = [&](const std::string& path) {
        TcpClient client(web.address);
        client.write("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        return client.read_all();
    };
    CHECK(asked("/").ends_with("\r\n\r\nhi"));
    std::filesystem::create_directories(half / "assets");
    std::ofstream(half / "assets/main.js") << "draw()";
    std::ofstream(half / "index.html") << "the page";
    std::filesystem::rename(half, page);
    CHECK(asked("/").ends_with("\r\n\r\nthe page"));
    CHECK(asked("/assets/main.js").ends_with("draw()"));
    std::ofstream(page / "index.html") << "another page";
    CHECK(asked("/").ends_with("\r\n\r\nthe page"));
}

TEST_CASE("a game's server names its web address, serves its scene by hash, and says which port is taken") {
    const test::TempFolder folder;
    GameServerConfig config;
    config.scene = ORRERY_SOURCE_DIR "/deploy/scenes/yard.json";
    config.record = folder.path();
    config.port = 0;
    std::string place, message, scene, token, out;
    int code = 0, page = 0;
    const test::Printed printed = test::printed_by([&] {
        const auto first = GameServer::create(config);
        if (!first || !(*first)->http_address()) return 1;
        const Address http = *(*first)->http_address();
        TcpClient client(http), asks(http), browser(http);
        const auto loaded = protocol::load_scene(test::read_file(config.scene), config.scene);
        if (!loaded) return 2;
        char path[40];
        std::snprintf(path, sizeof path, "/scene/%016llx",
                      static_cast<unsigned long long>(protocol::hash_of_scene_bytes(loaded->binary)));
        client.write("GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        scene = client.read_all();
        asks.write("POST /token HTTP/1.1\r\nHost: localhost:" + std::to_string(http.port) + "\r\n\r\n");
        token = asks.read_all();
        browser.write(kGet);
        page = has(browser.read_all(), "--web DIR") ? 1 : 0;
        GameServerConfig second = config;
        second.http_port = http.port;
        const auto taken = GameServer::create(second);
        if (taken) return 3;
        place = taken.error().place, message = taken.error().message, code = GameServer::exit_code(taken.error());
        GameServerConfig none = config;
        none.http = false;
        const auto without = GameServer::create(none);
        return without && !(*without)->http_address() ? 0 : 4;
    });
    CHECK(printed.code == 0);
    CHECK(has(printed.out, "listening udp=127.0.0.1:"));
    CHECK(has(printed.out, " http=127.0.0.1:"));
    CHECK(has(scene, "200 OK"));
    CHECK(has(scene, "immutable"));
    CHECK(token.size() > protocol::kConnectTokenBytes);
    CHECK(page == 1);
    CHECK(has(place, "http 127.0.0.1:"));
    CHECK(has(message, "--http-port"));
    CHECK(code == 3);
}
