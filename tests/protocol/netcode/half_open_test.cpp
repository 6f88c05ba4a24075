// Contract: challenges that nobody answers keep nobody out, and a challenge is answered from where it went to.
#include <doctest/doctest.h>

#include "protocol/netcode/packet.h"
#include "tests/protocol/netcode/net_fixture.h"
#include "tests/support/seed.h"

using namespace orrery::testing;

namespace {

using Request = std::vector<std::uint8_t>;

Request request_of(const PublicTokenBytes& bytes) {
    const ConnectToken token = read_connect_token(bytes).value();
    Request out(kRequestBytes);
    write_request({token.protocol_id, token.expire_timestamp, token.nonce, token.private_part},
                  std::span<std::uint8_t, kRequestBytes>(out));
    return out;
}

enum class From { one_address, prefix_of_joiner, many_prefixes };

Address flood_address(From from, std::size_t i) {
    const auto port = static_cast<std::uint16_t>(1024 + i);
    const auto low = static_cast<std::uint8_t>(i % 200);
    switch (from) {
        case From::one_address:
            return Address::ipv4(20, 0, 0, 1, port);
        case From::prefix_of_joiner:
            return Address::ipv4(10, 0, 1, static_cast<std::uint8_t>(50 + low), port);
        case From::many_prefixes:
            break;
    }
    return Address::ipv4(20, 1, low, static_cast<std::uint8_t>(i / 200), 1024);
}

// Tokens that are shown again and again, each from its own address, and never answered.
struct Flood {
    Flood(NetFixture& fixture, From from, std::size_t tokens, bool one_id, double requests_per_s)
        : net(fixture), per_second(requests_per_s) {
        for (std::size_t i = 0; i < tokens; ++i) {
            requests.push_back(request_of(test_token(net.random, one_id ? 1'000'000 : 1'000'000 + i)));
            addresses.push_back(flood_address(from, i));
        }
    }
    void run(double seconds) {
        for (int steps = static_cast<int>(seconds * 100 + 0.5); steps > 0; --steps) {
            for (owed += per_second / 100.0; owed >= 1.0; owed -= 1.0) {
                net.network.send(addresses[next], server_address(), requests[next]);
                next = (next + 1) % requests.size();
            }
            net.step();
        }
    }
    NetFixture& net;
    double per_second, owed = 0.0;
    std::size_t next = 0;
    std::vector<Request> requests;
    std::vector<Address> addresses;
};

// Whether a client at 200 ms round trip gets in within 2 s while the flood goes on.
bool joiner_gets_in(NetFixture& net, Flood& flood) {
    TestClient& joiner = net.add_client(client_address(1));
    net.network.set_link(client_address(1), server_address(), {.delay = 100 * kNsPerMs});
    net.network.set_link(server_address(), client_address(1), {.delay = 100 * kNsPerMs});
    REQUIRE(joiner.client.connect(test_token(net.random, 1), net.now).ok());
    flood.run(2.0);
    return joiner.client.state() == ClientState::connected;
}

}  // namespace

TEST_CASE("tokens of one client id that are never answered keep nobody out") {
    for (const From from : {From::one_address, From::prefix_of_joiner, From::many_prefixes}) {
        CAPTURE(static_cast<int>(from));
        NetFixture net(orrery::test::seeded(1));
        TestServer& server = net.add_server(test_server_config());
        Flood flood(net, from, 300, true, 60.0);
        flood.run(6.0);
        CHECK(server.server->counters().requests_challenged > 250);
        CHECK(joiner_gets_in(net, flood));
    }
}

TEST_CASE("tokens of 400 client ids that are never answered keep nobody out") {
    for (const From from : {From::one_address, From::prefix_of_joiner, From::many_prefixes}) {
        CAPTURE(static_cast<int>(from));
        NetFixture net(orrery::test::seeded(2));
        TestServer& server = net.add_server(test_server_config());
        Flood flood(net, from, 400, false, 1000.0);
        flood.run(6.0);
        CHECK(server.server->counters().requests_challenged > 400);
        CHECK(joiner_gets_in(net, flood));
    }
}

TEST_CASE("more tokens than there are places, shown as fast as they are opened, keep nobody out") {
    for (std::uint64_t n = 3; n < 6; ++n) {
        NetFixture net(orrery::test::seeded(n));
        TestServer& server = net.add_server(test_server_config());
        Flood flood(net, From::many_prefixes, 20'000, false, 6000.0);
        flood.run(4.0);
        CHECK(server.server->counters().requests_challenged > kMaxPending);
        CHECK(joiner_gets_in(net, flood));
    }
}

TEST_CASE("a client that was restarted takes over the place of its id") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    TestClient& before = net.add_client(client_address(1));
    net.network.set_link(server_address(), client_address(1), {.up = false});  // it never hears of its challenge
    before.client.connect(test_token(net.random, 5), net.now).ok();
    net.run(0.05);
    TestClient& after = net.add_client(client_address(2));
    after.client.connect(test_token(net.random, 5), net.now).ok();
    net.run(0.05);
    CHECK(after.client.state() == ClientState::connected);
    CHECK(server.server->connected_clients() == 1);
}

TEST_CASE("the oldest challenge makes room: of its prefix when that is full, else of all") {
    SeededRandom random(5);
    PendingTable table(8, 4, random);
    const auto address = [](std::uint8_t prefix, std::uint16_t port) { return Address::ipv4(10, 0, prefix, 1, port); };
    for (std::uint16_t i = 0; i < 4; ++i) REQUIRE(table.admit(address(1, i), i, i));
    SUBCASE("of its prefix") {
        CHECK(table.admit(address(2, 9), 9, 10));
        CHECK(table.find(address(1, 0)));
        CHECK(table.admit(address(1, 10), 10, 11));
        CHECK_FALSE(table.find(address(1, 0)));
        CHECK(table.find(address(1, 1)));
        CHECK(table.size() == 5);
    }
    SUBCASE("of all") {
        for (std::uint16_t i = 4; i < 8; ++i) REQUIRE(table.admit(address(2, i), i, i));
        CHECK(table.admit(address(3, 9), 9, 10));
        CHECK_FALSE(table.find(address(1, 0)));
        CHECK(table.find(address(1, 1)));
        CHECK(table.size() == 8);
    }
    SUBCASE("repeated requests make nothing younger, but begin a new life after the first") {
        REQUIRE(table.admit(address(1, 0), 0, kPendingLife - 1));
        REQUIRE(table.admit(address(1, 1), 1, kPendingLife + 1));
        CHECK(table.admit(address(1, 9), 9, kPendingLife + 2));
        CHECK_FALSE(table.find(address(1, 0)));
        CHECK(table.admit(address(1, 10), 10, kPendingLife + 3));
        CHECK_FALSE(table.find(address(1, 2)));
        CHECK(table.find(address(1, 1)));
    }
    SUBCASE("another id gets an address after a life") {
        CHECK_FALSE(table.admit(address(1, 0), 77, kPendingLife - 1));
        CHECK(table.admit(address(1, 0), 77, kPendingLife));
        CHECK(table.find(address(1, 0))->client_id == 77);
        CHECK(table.size() == 4);
    }
    SUBCASE("an id has one place") {
        for (std::uint8_t i = 20; i < 60; ++i) REQUIRE(table.admit(address(i, 1), 3, 10));
        CHECK(table.size() == 4);
        CHECK(table.find(address(59, 1)));
        CHECK_FALSE(table.find(address(1, 3)));
    }
    table.clear();
    CHECK(table.size() == 0);
    CHECK(table.admit(address(1, 0), 1, 0));
}

TEST_CASE("whoever holds two tokens of one id cannot answer for an address that did not ask") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    const Address own = client_address(1), stranger = client_address(2);
    const PublicTokenBytes one = test_token(net.random, 7), two = test_token(net.random, 7);
    const ConnectToken token_one = read_connect_token(one).value(), token_two = read_connect_token(two).value();
    std::vector<std::uint8_t> to_own, to_stranger;
    std::size_t bytes_to_stranger = 0;
    net.network.set_tap([&](const SimDatagram& datagram) {
        if (datagram.to == own) to_own = datagram.bytes;
        if (datagram.to == stranger) to_stranger = datagram.bytes, bytes_to_stranger += datagram.bytes.size();
    });
    server.server->receive(own, request_of(one), net.now);
    server.server->receive(stranger, request_of(two), net.now);
    REQUIRE(bytes_to_stranger == to_stranger.size());

    const auto answer = [&](const std::vector<std::uint8_t>& challenge, const Key& opened_by) {
        PacketScratch scratch, response;
        OpenedPacket packet;
        Ignored reason{};
        REQUIRE(open_packet(challenge, kClientReceives, kTestProtocolId, opened_by, nullptr, scratch, packet, reason));
        const std::size_t size =
            seal_packet(PacketType::response, 1, packet.body, kTestProtocolId, token_two.client_to_server, response);
        server.server->receive(stranger, Bytes(response).first(size), net.now);
    };
    const std::size_t challenge_bytes = bytes_to_stranger;
    answer(to_own, token_one.server_to_client);
    CHECK(server.server->connected_clients() == 0);
    CHECK(server.server->counters()[Ignored::response_other_address] == 1);
    CHECK(bytes_to_stranger == challenge_bytes);
    // What has received the challenge there connects.
    answer(to_stranger, token_two.server_to_client);
    CHECK(server.server->connected_clients() == 1);
}
