// One connection for each client id: a token that expires later takes it over, and a kick voids tokens.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "protocol/netcode/packet.h"
#include "tests/protocol/netcode/net_fixture.h"
#include "tests/support/seed.h"

using namespace orrery::testing;

namespace {

PublicTokenBytes token_of(NetFixture& net, std::uint64_t client_id, std::uint32_t expires_s) {
    return test_token(net.random, client_id, 5, {server_address()}, expires_s);
}

TestClient& connected(NetFixture& net, std::uint64_t client_id, std::uint32_t expires_s, const Address& address) {
    TestClient& client = net.add_client(address);
    REQUIRE(client.client.connect(token_of(net, client_id, expires_s), net.now).ok());
    net.run(0.1);
    REQUIRE(client.client.state() == ClientState::connected);
    return client;
}

}  // namespace

TEST_CASE("a token that expires later takes over the connection of its client id, at its index") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    connected(net, 1, 300, client_address(1));
    TestClient& old = connected(net, 2, 300, client_address(2));
    TestClient& fresh = connected(net, 2, 301, client_address(3));
    CHECK(fresh.client.client_index() == 1);
    CHECK(server.server->connected_clients() == 2);
    CHECK(server.server->client_info(1).address == client_address(3));
    REQUIRE(server.events.size() == 4);
    CHECK(server.events[1].expire_timestamp == kTestUnixTime + 300);
    CHECK(server.events[2].kind == NetcodeServerEvent::Kind::disconnected);
    CHECK(server.events[2].reason == DisconnectReason::replaced);
    CHECK(server.events[2].client_index == 1);
    CHECK(server.events[2].address == client_address(2));
    CHECK(server.events[3].kind == NetcodeServerEvent::Kind::connected);
    CHECK(server.events[3].client_index == 1);
    CHECK(server.events[3].client_id == 2);
    CHECK(server.events[3].expire_timestamp == kTestUnixTime + 301);
    // The old client is told.
    CHECK(old.client.state() == ClientState::disconnected);
    CHECK(old.client.disconnect_reason() == DisconnectReason::replaced);

    CHECK(fresh.client.send_payload(std::vector<std::uint8_t>{5}, net.now));
    net.run(6.0);
    CHECK(fresh.client.state() == ClientState::connected);
    CHECK(server.payloads.size() == 1);
    CHECK(server.server->connected_clients() == 2);
}

TEST_CASE("a client that lost its connection comes back from the same address before the server has noticed") {
    for (std::uint64_t n = 1; n <= 6; ++n) {
        const std::uint64_t seed = orrery::test::seeded(n);
        CAPTURE(seed);
        NetFixture net(seed);
        const SimLink rough{
            .loss = 0.2, .duplicate = 0.2, .reorder = 0.2, .delay = 30 * kNsPerMs, .jitter = 20 * kNsPerMs};
        const SimLink link = n > 1 ? rough : SimLink{};
        net.network.set_default_link(link);
        TestServer& server = net.add_server(test_server_config(1));  // full all the time
        TestClient& client = net.add_client(client_address(1));
        REQUIRE(client.client.connect(token_of(net, 7, 300), net.now).ok());
        net.run(3.0);
        REQUIRE(client.client.state() == ClientState::connected);
        net.network.set_link(server_address(), client_address(1), {.up = false});
        while (client.client.state() == ClientState::connected) net.step();
        REQUIRE(server.server->connected_clients() == 1);
        net.network.set_link(server_address(), client_address(1), link);
        REQUIRE(client.client.connect(token_of(net, 7, 310), net.now).ok());
        net.run(3.0);
        CHECK(client.client.state() == ClientState::connected);
        REQUIRE(server.events.size() == 3);
        CHECK(server.events[1].reason == DisconnectReason::replaced);
        CHECK(server.server->connected_clients() == 1);
        net.run(6.0);
        CHECK(client.client.state() == ClientState::connected);
        CHECK(server.events.size() == 3);
    }
}

TEST_CASE("a connection stays until the challenge of the newer token is answered") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    TestClient& old = connected(net, 2, 300, client_address(2));
    net.network.set_link(server_address(), client_address(3), {.up = false});
    TestClient& fresh = net.add_client(client_address(3));
    REQUIRE(fresh.client.connect(token_of(net, 2, 301), net.now).ok());
    net.run(2.0);
    CHECK(server.server->counters().requests_challenged > 10);
    CHECK(old.client.state() == ClientState::connected);
    CHECK(server.events.size() == 1);
}

TEST_CASE("a token that expires no later takes over nothing") {
    for (const std::uint32_t expires_s : {300u, 299u}) {
        NetFixture net;
        TestServer& server = net.add_server(test_server_config());
        TestClient& old = connected(net, 2, 300, client_address(2));
        TestClient& late = net.add_client(client_address(3));
        REQUIRE(late.client.connect(token_of(net, 2, expires_s), net.now).ok());
        net.run(0.2);
        CHECK(late.client.state() == ClientState::denied);
        CHECK(late.client.deny_reason() == DenyReason::already_connected);
        CHECK(old.client.state() == ClientState::connected);
        CHECK(server.events.size() == 1);
        // From the address of the connection it is ignored: it may be a datagram of the connected client itself.
        const std::uint64_t denied = server.server->counters().requests_denied;
        std::vector<std::uint8_t> request(kRequestBytes);
        const ConnectToken token = read_connect_token(token_of(net, 2, expires_s)).value();
        write_request({token.protocol_id, token.expire_timestamp, token.nonce, token.private_part},
                      std::span<std::uint8_t, kRequestBytes>(request));
        server.server->receive(client_address(2), request, net.now);
        CHECK(server.server->counters().requests_denied == denied);
        CHECK(server.server->counters()[Ignored::request_address_connected] == 1);
    }
}

TEST_CASE("a host that does not read its events loses no connection to a newer token") {
    NetFixture net;
    NetcodeServerConfig config = test_server_config();
    config.max_events = 1;
    SimEndpoint& endpoint = net.network.attach(server_address());
    auto made = NetcodeServer::create(config, net.random, endpoint);
    REQUIRE(made.ok());
    NetcodeServer& server = *made.value();
    const auto run = [&](double seconds) {
        for (int i = static_cast<int>(seconds * 100); i > 0; --i) {
            net.step();
            server.update(net.now, net.unix_now());
            SimDatagram datagram;
            while (endpoint.receive(datagram)) server.receive(datagram.from, datagram.bytes, net.now);
        }
    };
    TestClient& old = net.add_client(client_address(1));
    REQUIRE(old.client.connect(token_of(net, 2, 300), net.now).ok());
    run(0.2);
    REQUIRE(old.client.state() == ClientState::connected);
    TestClient& fresh = net.add_client(client_address(2));
    REQUIRE(fresh.client.connect(token_of(net, 2, 301), net.now).ok());
    run(1.0);
    CHECK(old.client.state() == ClientState::connected);
    CHECK(fresh.client.state() == ClientState::sending_response);
    NetcodeServerEvent event;
    std::vector<NetcodeServerEvent> events;
    while (server.next_event(event)) events.push_back(event);
    REQUIRE(events.size() == 1);
    run(0.3);
    CHECK(old.client.state() == ClientState::disconnected);
    CHECK(fresh.client.state() == ClientState::connected);
    while (server.next_event(event)) events.push_back(event);
    REQUIRE(events.size() == 3);
    CHECK(events[1].reason == DisconnectReason::replaced);
    CHECK(events[2].kind == NetcodeServerEvent::Kind::connected);
}

TEST_CASE("the user data of a connection is that of the token whose keys it uses, whichever challenge is answered") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    const auto mint = [&](std::uint8_t mark) {
        TokenRequest request;
        request.protocol_id = kTestProtocolId;
        request.client_id = 7;
        request.servers.add(server_address());
        request.create_timestamp = kTestUnixTime;
        request.user_data.fill(mark);
        return read_connect_token(mint_connect_token(request, test_server_config().private_key, net.random).value())
            .value();
    };
    const ConnectToken before = mint(1), after = mint(2);
    std::vector<std::uint8_t> challenge;
    net.network.set_tap([&](const SimDatagram& datagram) {
        if (datagram.to == client_address(1) && challenge.empty()) challenge = datagram.bytes;
    });
    for (const ConnectToken* token : {&before, &after}) {
        std::vector<std::uint8_t> request(kRequestBytes);
        write_request({token->protocol_id, token->expire_timestamp, token->nonce, token->private_part},
                      std::span<std::uint8_t, kRequestBytes>(request));
        server.server->receive(client_address(1), request, net.now);
    }
    PacketScratch scratch, response;
    OpenedPacket packet;
    Ignored reason{};
    REQUIRE(open_packet(challenge, kClientReceives, kTestProtocolId, before.server_to_client, nullptr, scratch, packet,
                        reason));
    const std::size_t size =
        seal_packet(PacketType::response, 1, packet.body, kTestProtocolId, after.client_to_server, response);
    server.server->receive(client_address(1), Bytes(response).first(size), net.now);
    NetFixture::drain(server);
    REQUIRE(server.events.size() == 1);
    CHECK(server.user_data == std::vector<std::uint8_t>(kUserDataBytes, 2));
}

TEST_CASE("a kick voids the tokens of an id up to an expiry, and the server says so") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    TestClient& kicked = connected(net, 5, 300, client_address(1));
    server.server->kick_id(5, kTestUnixTime + 400);
    net.run(1.0);
    CHECK(kicked.client.state() == ClientState::connected);  // ending it is the host's
    server.server->disconnect(kicked.client.client_index(), net.now, DisconnectReason::kicked);
    net.run(0.1);
    CHECK(kicked.client.state() == ClientState::disconnected);
    CHECK(kicked.client.disconnect_reason() == DisconnectReason::kicked);
    REQUIRE(server.events.size() == 2);
    CHECK(server.events[1].reason == DisconnectReason::kicked);

    struct Case {
        std::uint64_t id;
        std::uint32_t expires_s;
        bool in;
    };
    for (const auto& [id, expires_s, in] :
         {Case{5, 399, false}, Case{5, 400, false}, Case{6, 300, true}, Case{5, 401, true}}) {
        TestClient& client = net.add_client(client_address(static_cast<std::uint8_t>(net.clients.size() + 1)));
        const std::uint64_t challenged = server.server->counters().requests_challenged;
        REQUIRE(client.client.connect(token_of(net, id, expires_s), net.now).ok());
        net.run(0.2);
        CHECK(client.client.state() == (in ? ClientState::connected : ClientState::denied));
        CHECK((server.server->counters().requests_challenged > challenged) == in);
        if (!in) CHECK(client.client.deny_reason() == DenyReason::kicked);
    }
}

TEST_CASE("a kick between challenge and response lets nobody in") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    net.network.set_default_link({.delay = 50 * kNsPerMs});
    TestClient& client = net.add_client(client_address(1));
    REQUIRE(client.client.connect(token_of(net, 5, 300), net.now).ok());
    while (server.server->counters().requests_challenged == 0) net.step();
    server.server->kick_id(5, kTestUnixTime + 300);
    net.run(0.5);
    CHECK(client.client.state() == ClientState::denied);
    CHECK(client.client.deny_reason() == DenyReason::kicked);
    CHECK(server.events.empty());
}

TEST_CASE("the table of kicked ids is bounded, and drops whose tokens expire first") {
    VoidTokens table;
    for (std::uint64_t id = 0; id < kMaxVoidIds; ++id) table.add(id, 10'000 + id % 100);
    table.add(1, 5);  // takes nothing back
    CHECK(table.contains(1, 10'001));
    CHECK_FALSE(table.contains(1, 10'002));
    table.add(99'999, 20'000);
    CHECK(table.size() == kMaxVoidIds);
    CHECK(table.contains(99'999, 20'000));
    CHECK_FALSE(table.contains(0, 1));  // of those with the least time, the first id
    CHECK(table.contains(100, 10'000));
    table.add(99'998, 1);  // itself the least
    CHECK(table.size() == kMaxVoidIds);
    CHECK_FALSE(table.contains(99'998, 1));
}
