// A connection from token to end, over a network that loses, delays, doubles and reorders.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "protocol/netcode/packet.h"
#include "tests/protocol/netcode/net_fixture.h"
#include "tests/support/seed.h"

using namespace orrery::testing;

TEST_CASE("a client connects, learns its slot, and payloads pass both ways") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    TestClient& client = net.add_client(client_address(1));
    REQUIRE(client.client.connect(test_token(net.random, 42), net.now).ok());
    CHECK(client.client.state() == ClientState::sending_request);
    net.run(0.1);
    REQUIRE(client.client.state() == ClientState::connected);
    CHECK(client.client.client_index() == 0);
    CHECK(client.client.max_clients() == 4);
    REQUIRE(server.events.size() == 1);
    CHECK(server.events[0].kind == NetcodeServerEvent::Kind::connected);
    CHECK(server.events[0].client_id == 42);
    CHECK(server.events[0].address == client_address(1));
    REQUIRE(server.user_data.size() == kUserDataBytes);
    CHECK(server.user_data[10] == 52);

    const std::vector<std::uint8_t> up(kMaxPayloadBytes, 7), down{1, 2, 3};
    CHECK(client.client.send_payload(up, net.now));
    CHECK(server.server->send_payload(0, down, net.now));
    CHECK_FALSE(server.server->send_payload(1, down, net.now));
    CHECK_FALSE(client.client.send_payload({}, net.now));
    const std::vector<std::uint8_t> too_long(kMaxPayloadBytes + 1);
    CHECK_FALSE(client.client.send_payload(too_long, net.now));
    net.run(0.05);
    REQUIRE(server.payloads.size() == 1);
    CHECK(server.payloads[0] == up);
    Bytes got;
    REQUIRE(client.client.next_payload(got));
    CHECK(std::equal(got.begin(), got.end(), down.begin(), down.end()));
    CHECK_FALSE(client.client.next_payload(got));
}

TEST_CASE("payloads that are sealed first and handed over later are what send_payload sends") {
    const std::vector<std::uint8_t> first{1, 2, 3}, second(kMaxPayloadBytes, 9);
    std::vector<std::vector<std::uint8_t>> at_once, later;
    for (const bool in_two_steps : {false, true}) {
        NetFixture net;
        TestServer& server = net.add_server(test_server_config());
        TestClient& client = net.add_client(client_address(1));
        REQUIRE(client.client.connect(test_token(net.random, 42), net.now).ok());
        net.run(0.1);
        REQUIRE(client.client.state() == ClientState::connected);
        auto& sent = in_two_steps ? later : at_once;
        net.network.set_tap([&](const SimDatagram& datagram) { sent.push_back(datagram.bytes); });
        if (!in_two_steps) {
            CHECK(server.server->send_payload(0, first, net.now));
            CHECK(server.server->send_payload(0, second, net.now));
            continue;
        }
        PacketBatch sealed;
        CHECK(server.server->seal_payload(0, first, net.now, sealed));
        CHECK(server.server->seal_payload(0, second, net.now, sealed));
        CHECK_FALSE(server.server->seal_payload(0, {}, net.now, sealed));
        CHECK_FALSE(server.server->seal_payload(1, first, net.now, sealed));
        CHECK(sealed.packets() == 2);
        CHECK(sent.empty());
        const NetcodeCounters before = server.server->counters();
        server.server->hand_over(0, sealed);
        CHECK(sealed.packets() == 0);
        CHECK(server.server->counters().datagrams_sent == before.datagrams_sent + 2);

        CHECK(server.server->seal_payload(0, first, net.now, sealed));
        server.server->disconnect(0, net.now);
        sent.resize(2);  // without the disconnects
        server.server->hand_over(0, sealed);
        CHECK(sealed.packets() == 0);
        CHECK(sent.size() == 2);
    }
    CHECK(at_once == later);
}

TEST_CASE("clients connect over a network with loss, jitter, duplication and reordering") {
    for (std::uint64_t n = 1; n <= 8; ++n) {
        const std::uint64_t seed = orrery::test::seeded(n);
        CAPTURE(seed);
        NetFixture net(seed);
        net.network.set_default_link(
            {.loss = 0.2, .duplicate = 0.1, .reorder = 0.1, .delay = 40 * kNsPerMs, .jitter = 30 * kNsPerMs});
        TestServer& server = net.add_server(test_server_config());
        for (std::uint8_t i = 0; i < 4; ++i) {
            TestClient& client = net.add_client(client_address(i));
            REQUIRE(client.client.connect(test_token(net.random, 100u + i), net.now).ok());
        }
        net.run(4.0);
        std::set<std::uint32_t> slots;
        for (auto& client : net.clients) {
            CHECK(client->client.state() == ClientState::connected);
            slots.insert(client->client.client_index());
        }
        CHECK(slots.size() == 4);
        CHECK(server.server->connected_clients() == 4);
        // Silence but for keep-alives holds the connection.
        net.run(10.0);
        CHECK(server.server->connected_clients() == 4);
        CHECK(server.events.size() == 4);
    }
}

TEST_CASE("a payload reaches a client whose first keep-alive was lost, because another precedes it") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    TestClient& client = net.add_client(client_address(1));
    net.network.set_tap([&](const SimDatagram& datagram) {
        const bool response = (datagram.bytes[0] & 0x0f) == 3;
        if (response) net.network.set_link(server_address(), client_address(1), {.up = false});
    });
    client.client.connect(test_token(net.random, 1), net.now).ok();
    while (server.server->connected_clients() == 0 && net.now < 2 * kNsPerSecond) net.step();
    REQUIRE(client.client.state() == ClientState::sending_response);
    REQUIRE_FALSE(server.server->client_info(0).confirmed);
    net.network.set_tap({});
    net.network.set_link(server_address(), client_address(1), {});
    CHECK(server.server->send_payload(0, std::vector<std::uint8_t>{5}, net.now));
    net.network.advance(net.now);
    SimDatagram datagram;
    while (client.endpoint.receive(datagram)) client.client.receive(datagram.from, datagram.bytes, net.now);
    CHECK(client.client.state() == ClientState::connected);
    Bytes payload;
    CHECK(client.client.next_payload(payload));
    net.run(0.05);
    CHECK(server.server->client_info(0).confirmed);
}

TEST_CASE("a disconnect arrives over a lossy network because it is sent ten times") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    TestClient& a = net.add_client(client_address(1));
    TestClient& b = net.add_client(client_address(2));
    a.client.connect(test_token(net.random, 1), net.now).ok();
    b.client.connect(test_token(net.random, 2), net.now).ok();
    net.run(0.2);
    REQUIRE(server.server->connected_clients() == 2);
    net.network.set_default_link({.loss = 0.5});
    std::size_t sent = 0;
    net.network.set_tap([&](const SimDatagram& datagram) { sent += (datagram.bytes[0] & 0x0f) == 6; });
    a.client.disconnect(net.now);
    CHECK(sent == 10);
    CHECK(a.client.state() == ClientState::disconnected);
    server.server->disconnect(b.client.client_index(), net.now);
    CHECK(sent == 20);
    net.run(0.1);
    CHECK(b.client.state() == ClientState::disconnected);
    CHECK(server.server->connected_clients() == 0);
    REQUIRE(server.events.size() == 4);
    std::set<DisconnectReason> reasons{server.events[2].reason, server.events[3].reason};
    CHECK(reasons == std::set<DisconnectReason>{DisconnectReason::by_peer, DisconnectReason::by_server});
}

TEST_CASE("each end notices the other's silence after the token's timeout") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    TestClient& client = net.add_client(client_address(1));
    client.client.connect(test_token(net.random, 1, 2), net.now).ok();
    net.run(0.1);
    REQUIRE(client.client.state() == ClientState::connected);
    net.network.set_default_link({.up = false});
    net.run(1.8);
    CHECK(client.client.state() == ClientState::connected);
    CHECK(server.server->connected_clients() == 1);
    net.run(0.3);
    CHECK(client.client.state() == ClientState::timed_out);
    CHECK(server.server->connected_clients() == 0);
    CHECK(server.events.back().reason == DisconnectReason::timed_out);
    CHECK(server.server->counters().timeouts == 1);
}

TEST_CASE("a timeout of zero or less never ends a connection") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config());
    TestClient& client = net.add_client(client_address(1));
    client.client.connect(test_token(net.random, 1, -1), net.now).ok();
    net.run(0.1);
    net.network.set_default_link({.up = false});
    net.run(200.0);
    CHECK(client.client.state() == ClientState::connected);
    CHECK(server.server->connected_clients() == 1);
}

TEST_CASE("a client without an answer ends with the state that names where it stood") {
    NetFixture net;
    TestClient& lonely = net.add_client(client_address(1));
    lonely.client.connect(test_token(net.random, 1, 2), net.now).ok();
    net.run(2.2);
    CHECK(lonely.client.state() == ClientState::request_timed_out);

    // The challenge comes, but no response arrives.
    net.add_server(test_server_config());
    TestClient& muted = net.add_client(client_address(2));
    net.network.set_tap([&](const SimDatagram& datagram) {
        if (datagram.to == client_address(2)) {
            net.network.set_link(client_address(2), server_address(), {.up = false});
        }
    });
    muted.client.connect(test_token(net.random, 2, 2), net.now).ok();
    net.run(0.5);
    CHECK(muted.client.state() == ClientState::sending_response);
    net.run(2.0);
    CHECK(muted.client.state() == ClientState::response_timed_out);

    TestClient& expired = net.add_client(client_address(3));
    net.network.set_default_link({.up = false});
    expired.client.connect(test_token(net.random, 3, 10, {server_address()}, 3), net.now).ok();
    net.run(3.2);
    CHECK(expired.client.state() == ClientState::token_expired);

    PublicTokenBytes broken = test_token(net.random, 4);
    broken[3] ^= 1;
    CHECK_FALSE(expired.client.connect(broken, net.now).ok());
    CHECK(expired.client.state() == ClientState::invalid_token);
}

TEST_CASE("a full server denies, and a client goes on to the next server of its token") {
    NetFixture net;
    NetcodeServerConfig second = test_server_config();
    second.public_addresses = {server_address(2)};
    TestServer& one = net.add_server(test_server_config(1));
    TestServer& two = net.add_server(second);
    TestClient& first = net.add_client(client_address(1));
    first.client.connect(test_token(net.random, 1), net.now).ok();
    net.run(0.1);
    REQUIRE(one.server->connected_clients() == 1);

    TestClient& denied = net.add_client(client_address(2));
    denied.client.connect(test_token(net.random, 2), net.now).ok();
    net.run(0.1);
    CHECK(denied.client.state() == ClientState::denied);
    CHECK(denied.client.deny_reason() == DenyReason::server_full);
    CHECK(one.server->counters().requests_denied == 1);

    TestClient& moving = net.add_client(client_address(3));
    // The first address is silent, the second full, the third takes it.
    moving.client
        .connect(test_token(net.random, 3, 1, {server_address(9), server_address(1), server_address(2)}), net.now)
        .ok();
    net.run(1.3);
    CHECK(moving.client.state() == ClientState::connected);
    CHECK(moving.client.server() == server_address(2));
    CHECK(two.server->connected_clients() == 1);
}

TEST_CASE("whom the host does not admit is denied with its reason, and others get in") {
    NetFixture net;
    NetcodeServerConfig config = test_server_config();
    config.admit = [](std::uint64_t client_id, const UserData& user_data) {
        CHECK(user_data[10] == static_cast<std::uint8_t>(client_id + 10));  // see test_token()
        return client_id == 13 ? std::optional(DenyReason::refused_by_game) : std::nullopt;
    };
    TestServer& server = net.add_server(config);
    TestClient& refused = net.add_client(client_address(1));
    TestClient& welcome = net.add_client(client_address(2));
    refused.client.connect(test_token(net.random, 13), net.now).ok();
    welcome.client.connect(test_token(net.random, 14), net.now).ok();
    net.run(0.2);
    CHECK(refused.client.state() == ClientState::denied);
    CHECK(refused.client.deny_reason() == DenyReason::refused_by_game);
    CHECK(welcome.client.state() == ClientState::connected);
    CHECK(server.server->connected_clients() == 1);
}

TEST_CASE("a slot that becomes taken between challenge and response is denied at the response") {
    NetFixture net;
    TestServer& server = net.add_server(test_server_config(1));
    // Both get their challenge before either has answered.
    net.network.set_default_link({.delay = 50 * kNsPerMs});
    TestClient& a = net.add_client(client_address(1));
    TestClient& b = net.add_client(client_address(2));
    a.client.connect(test_token(net.random, 1), net.now).ok();
    b.client.connect(test_token(net.random, 2), net.now).ok();
    net.run(0.5);
    CHECK(server.server->counters().requests_challenged >= 2);
    CHECK(server.server->connected_clients() == 1);
    const bool a_in = a.client.state() == ClientState::connected;
    CHECK((a_in ? b : a).client.state() == ClientState::denied);
}

TEST_CASE("a challenge takes no slot: a thousand requests that never answer leave the server open") {
    NetFixture net;
    NetcodeServerConfig config = test_server_config(2);
    config.token_opens_per_tick = kMaxOpensPerTick;
    TestServer& server = net.add_server(config);
    for (std::uint32_t i = 0; i < 1000; ++i) {
        const PublicTokenBytes bytes = test_token(net.random, 1000 + i);
        const ConnectToken token = read_connect_token(bytes).value();
        std::array<std::uint8_t, kRequestBytes> request;
        write_request({token.protocol_id, token.expire_timestamp, token.nonce, token.private_part}, request);
        const Address from =
            Address::ipv4(20, static_cast<std::uint8_t>(i % 200), 0, static_cast<std::uint8_t>(i / 200), 4000);
        server.server->receive(from, request, net.now);
    }
    CHECK(server.server->connected_clients() == 0);
    CHECK(server.server->counters().requests_challenged == 1000);
    TestClient& client = net.add_client(client_address(1));
    client.client.connect(test_token(net.random, 1), net.now).ok();
    net.run(0.2);
    CHECK(client.client.state() == ClientState::connected);
}

TEST_CASE("every answer of the server is smaller than its question") {
    NetFixture net;
    NetcodeServerConfig config = test_server_config(1);
    config.insecure = true;
    config.insecure_public = true;
    TestServer& server = net.add_server(config);
    std::size_t answered = 0, largest = 0;
    net.network.set_tap([&](const SimDatagram& datagram) {
        if (datagram.from == server_address()) ++answered, largest = std::max(largest, datagram.bytes.size());
    });
    const auto ask = [&](const std::vector<std::uint8_t>& question) {
        answered = largest = 0;
        server.server->receive(client_address(200), question, net.now);
        CHECK(answered <= 1);
        CHECK(largest < question.size());
        return answered == 1;
    };
    const ConnectToken token = read_connect_token(test_token(net.random, 5)).value();
    std::vector<std::uint8_t> request(kRequestBytes);
    write_request({token.protocol_id, token.expire_timestamp, token.nonce, token.private_part},
                  std::span<std::uint8_t, kRequestBytes>(request));
    CHECK(ask(request));
    std::vector<std::uint8_t> question(kTokenQuestionBytes);
    write_token_question({kTestProtocolId, 9}, std::span<std::uint8_t, kTokenQuestionBytes>(question));
    CHECK(ask(question));
    question.pop_back();
    CHECK_FALSE(ask(question));
    // Full: the denial.
    TestClient& client = net.add_client(client_address(1));
    client.client.connect(test_token(net.random, 1), net.now).ok();
    net.run(0.2);
    REQUIRE(client.client.state() == ClientState::connected);
    CHECK(ask(request));
    CHECK(largest == 1 + 8 + kMacBytes);
}

TEST_CASE("an insecure server mints on loopback only, unless told otherwise") {
    NetFixture net;
    NetcodeServerConfig config = test_server_config();
    config.public_addresses = {Address::ipv4(127, 0, 0, 1, 7770)};
    SUBCASE("off") {}
    SUBCASE("loopback") { config.insecure = true; }
    SUBCASE("public") { config.insecure = config.insecure_public = true; }
    TestServer& server = net.add_server(config);
    const auto asks = [&](const Address& from) {
        SimEndpoint& endpoint = net.network.attach(from);
        TokenAsker asker(net.random, endpoint);
        asker.start(config.public_addresses[0], kTestProtocolId, net.now, kNsPerSecond);
        for (int i = 0; i < 110 && asker.state() == TokenAsker::State::asking; ++i) {
            net.step();
            asker.update(net.now);
            SimDatagram datagram;
            while (endpoint.receive(datagram)) asker.receive(datagram.from, datagram.bytes);
        }
        return asker;
    };
    const TokenAsker near = asks(Address::ipv4(127, 0, 0, 1, 40001));
    const TokenAsker far = asks(client_address(7));
    CHECK((near.state() == TokenAsker::State::received) == config.insecure);
    CHECK((far.state() == TokenAsker::State::received) == config.insecure_public);
    if (!config.insecure) CHECK(server.server->counters()[Ignored::mint_disabled] == 20);
    if (near.state() == TokenAsker::State::received) {
        TestClient& client = net.add_client(Address::ipv4(127, 0, 0, 1, 40002));
        REQUIRE(client.client.connect(near.token(), net.now).ok());
        net.run(0.2);
        CHECK(client.client.state() == ClientState::connected);
    }
}

TEST_CASE("a configuration that cannot work is refused by name") {
    NetFixture net;
    SimEndpoint& endpoint = net.network.attach(server_address());
    NetcodeServerConfig config = test_server_config();
    config.max_clients = 0;
    CHECK(NetcodeServer::create(config, net.random, endpoint).error().place == "max_clients");
    config = test_server_config();
    config.public_addresses = {Address::ipv4(1, 2, 3, 4, 0)};
    CHECK(NetcodeServer::create(config, net.random, endpoint).error().place == "public_addresses");
    config = test_server_config();
    config.insecure_public = true;
    CHECK(NetcodeServer::create(config, net.random, endpoint).error().place == "insecure_public");
}
