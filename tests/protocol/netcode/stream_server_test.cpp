// Clients over ordered messages: the token comes first and is good once over both transports, a client id has one
// connection over both, silence ends one, and nothing that a stranger sends makes the server hold more than its limits.
#include "protocol/netcode/stream_server.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "protocol/netcode/packet.h"
#include "tests/protocol/netcode/net_fixture.h"

using namespace orrery::testing;

namespace {

using Kind = NetcodeServerEvent::Kind;

// Keeps what the server sent and closed.
class Wire final : public StreamSink {
  public:
    struct Closed {
        std::uint16_t code = 0;
        std::string text;
    };
    void send(StreamConnection connection, Bytes message) override {
        sent[connection].emplace_back(message.begin(), message.end());
    }
    void close(StreamConnection connection, std::uint16_t code, std::string_view text) override {
        closed[connection] = {code, std::string(text)};
    }
    std::size_t unsent(StreamConnection) const override { return unsent_bytes; }

    std::map<StreamConnection, std::vector<std::vector<std::uint8_t>>> sent;
    std::map<StreamConnection, Closed> closed;
    std::size_t unsent_bytes = 0;
};

struct Streams : NetFixture {
    explicit Streams(NetcodeServerConfig config = test_server_config())
        : datagrams(add_server(config)), server(config.protocol_id, datagrams.server->gate(), wire) {}

    // A tick of the room: the gate's owner first.
    void tick() {
        step();
        server.update(now);
        drain_streams();
    }
    void run_ticks(double seconds) {
        for (int i = static_cast<int>(seconds * 100 + 0.5); i > 0; --i) tick();
    }
    StreamConnection open() {
        ++last;
        server.opened(last, client_address(static_cast<std::uint8_t>(last % 200)), now);
        return last;
    }
    StreamConnection connect(Bytes token) {
        const StreamConnection connection = open();
        server.received(connection, token, now);
        drain_streams();
        return connection;
    }
    void drain_streams() {
        NetcodeServerEvent event;
        while (server.next_event(event)) {
            payloads.emplace_back(event.bytes.begin(), event.bytes.end());
            event.bytes = {};
            events.push_back(event);
        }
    }
    bool accepted(StreamConnection connection) const {
        const auto found = wire.sent.find(connection);
        return found != wire.sent.end() && found->second[0].size() == kAcceptBytes && !wire.closed.count(connection);
    }
    int code(StreamConnection connection) const {
        return wire.closed.count(connection) ? wire.closed.at(connection).code : 0;
    }

    TestServer& datagrams;
    Wire wire;
    StreamServer server;
    StreamConnection last = 0;
    std::vector<NetcodeServerEvent> events;
    std::vector<std::vector<std::uint8_t>> payloads;  // of each event
};

int denied(DenyReason reason) { return kStreamDenied + static_cast<int>(reason); }
int ended(DisconnectReason reason) { return kStreamEnded + static_cast<int>(reason); }

}  // namespace

TEST_CASE("a stream that brings a token is accepted, and then carries payloads both ways") {
    Streams net;
    const auto connection = net.connect(test_token(net.random, 7));
    REQUIRE(net.accepted(connection));
    CHECK(net.wire.sent[connection][0] == std::vector<std::uint8_t>{1, 0, 0, 0, 0, 4, 0, 0, 0});
    REQUIRE(net.events.size() == 1);
    CHECK(net.events[0].kind == Kind::connected);
    CHECK(net.events[0].client_id == 7);
    CHECK(net.events[0].address == client_address(1));
    CHECK(net.events[0].expire_timestamp == kTestUnixTime + 300);
    CHECK(net.payloads[0].size() == kUserDataBytes);
    CHECK(net.payloads[0][1] == 8);

    const std::vector<std::uint8_t> payload(kMaxPayloadBytes, 3);
    net.server.received(connection, payload, net.now);
    net.drain_streams();
    REQUIRE(net.events.size() == 2);
    CHECK(net.events[1].kind == Kind::payload);
    CHECK(net.payloads[1] == payload);
    CHECK(net.server.send_payload(0, payload, net.now));
    CHECK(net.wire.sent[connection][1] == payload);
    CHECK_FALSE(net.server.send_payload(0, {}, net.now));
    CHECK_FALSE(net.server.send_payload(0, std::vector<std::uint8_t>(kMaxPayloadBytes + 1), net.now));
    CHECK_FALSE(net.server.send_payload(1, payload, net.now));

    net.server.closed(connection, false, net.now);
    net.drain_streams();
    CHECK(net.events.back().kind == Kind::disconnected);
    CHECK(net.events.back().reason == DisconnectReason::by_peer);
    CHECK(net.server.connected_clients() == 0);
    CHECK_FALSE(net.wire.closed.count(connection));
}

TEST_CASE("a token that is not good is denied by its reason, one that is none by the lack of a token") {
    Streams net;
    CHECK(net.code(net.connect(test_token(net.random, 1, 5, {server_address(9)}))) == denied(DenyReason::other_server));
    CHECK(net.code(net.connect(test_token(net.random, 1, 5, {server_address()}, 2))) == 0);
    net.run_ticks(2.0);
    CHECK(net.code(net.connect(test_token(net.random, 2, 5, {server_address()}, 2))) == denied(DenyReason::expired));
    net.datagrams.server->kick_id(3, kTestUnixTime + 1000);
    CHECK(net.code(net.connect(test_token(net.random, 3))) == denied(DenyReason::kicked));

    PublicTokenBytes spoiled = test_token(net.random, 4);
    spoiled[100] ^= 1;
    CHECK(net.code(net.connect(spoiled)) == kStreamDenied);
    CHECK(net.code(net.connect(std::vector<std::uint8_t>(kConnectTokenBytes))) == kStreamDenied);
    CHECK(net.code(net.connect(Bytes(spoiled).first(2047))) == kStreamDenied);
    CHECK(net.server.counters().no_token == 3);
    CHECK(net.server.waiting_connections() == 0);
    CHECK(net.server.connected_clients() == 1);
}

TEST_CASE("a token is good once, over one transport or the other") {
    Streams net;
    const PublicTokenBytes token = test_token(net.random, 1);
    const auto first = net.connect(token);
    REQUIRE(net.accepted(first));
    CHECK(net.code(net.connect(token)) == denied(DenyReason::already_connected));
    net.server.closed(first, false, net.now);
    CHECK(net.code(net.connect(token)) == denied(DenyReason::token_used));
    // Nor by datagrams, afterwards.
    TestClient& client = net.add_client(client_address(9));
    REQUIRE(client.client.connect(token, net.now).ok());
    net.run_ticks(0.5);
    CHECK(client.client.state() == ClientState::denied);
    CHECK(client.client.deny_reason() == DenyReason::token_used);

    const PublicTokenBytes other = test_token(net.random, 2);
    TestClient& second = net.add_client(client_address(10));
    REQUIRE(second.client.connect(other, net.now).ok());
    net.run_ticks(0.5);
    REQUIRE(second.client.state() == ClientState::connected);
    second.client.disconnect(net.now);
    net.run_ticks(0.5);
    CHECK(net.code(net.connect(other)) == denied(DenyReason::token_used));
}

TEST_CASE("a later token takes the client id over, inside of streams, and its first connection is told") {
    Streams net;
    const auto old = net.connect(test_token(net.random, 5));
    const auto fresh = net.connect(test_token(net.random, 5, 5, {server_address()}, 301));
    CHECK(net.code(old) == ended(DisconnectReason::replaced));
    REQUIRE(net.accepted(fresh));
    REQUIRE(net.events.size() == 3);
    CHECK(net.events[1].kind == Kind::disconnected);
    CHECK(net.events[1].reason == DisconnectReason::replaced);
    CHECK(net.events[2].kind == Kind::connected);
    CHECK(net.events[2].client_index == net.events[1].client_index);
    // What the old connection still does is nobody's.
    net.server.received(old, std::vector<std::uint8_t>{1}, net.now);
    net.server.closed(old, true, net.now);
    net.drain_streams();
    CHECK(net.events.size() == 3);
    CHECK(net.server.connected_clients() == 1);
}

TEST_CASE("a token that waited takes over the connection that was opened after its own, and the tick goes on") {
    NetcodeServerConfig config = test_server_config();
    config.token_opens_per_tick = 1;
    Streams net(config);
    const auto early = net.open(), next = net.connect(test_token(net.random, 5));
    const auto idle = net.open();
    REQUIRE(net.accepted(next));
    net.server.received(early, test_token(net.random, 5, 5, {server_address()}, 301), net.now);
    CHECK_FALSE(net.accepted(early));
    net.tick();
    CHECK(net.accepted(early));
    CHECK(net.code(next) == ended(DisconnectReason::replaced));
    CHECK(net.server.connected_clients() == 1);
    net.run_ticks(5.1);
    CHECK(net.code(idle) == kStreamDenied);
}

TEST_CASE("the connection that waits longest makes room, whatever its number") {
    Streams net;
    net.server.opened(5000, client_address(1), net.now);
    net.tick();
    for (std::uint32_t i = 0; i < kMaxWaitingStreams; ++i) net.open();
    CHECK(net.code(5000) != 0);
    CHECK(net.code(1) == 0);
}

TEST_CASE("one limit of clients holds over both transports, and a token that met it stays good") {
    Streams net(test_server_config(2));
    TestClient& client = net.add_client(client_address(9));
    REQUIRE(client.client.connect(test_token(net.random, 1), net.now).ok());
    net.run_ticks(0.5);
    REQUIRE(client.client.state() == ClientState::connected);
    const auto second = net.connect(test_token(net.random, 2));
    REQUIRE(net.accepted(second));
    const PublicTokenBytes token = test_token(net.random, 3);
    CHECK(net.code(net.connect(token)) == denied(DenyReason::server_full));
    TestClient& third = net.add_client(client_address(10));
    REQUIRE(third.client.connect(test_token(net.random, 4), net.now).ok());
    net.run_ticks(0.3);
    CHECK(third.client.deny_reason() == DenyReason::server_full);
    net.server.closed(second, false, net.now);
    CHECK(net.accepted(net.connect(token)));
}

TEST_CASE("an empty message keeps a connection alive, and silence ends it after the token's timeout") {
    Streams net;
    const auto speaks = net.connect(test_token(net.random, 1, 5)), silent = net.connect(test_token(net.random, 2, 5));
    const auto patient = net.connect(test_token(net.random, 3, -1));
    for (int i = 0; i < 12; ++i) {
        net.run_ticks(0.5);
        net.server.received(speaks, {}, net.now);
    }
    CHECK(net.accepted(speaks));
    CHECK(net.accepted(patient));
    CHECK(net.code(silent) == ended(DisconnectReason::timed_out));
    CHECK(net.events.back().reason == DisconnectReason::timed_out);
    // The server, too, speaks once a second.
    const auto& sent = net.wire.sent[speaks];
    CHECK(sent.size() >= 6);
    CHECK(sent.size() <= 8);
    CHECK(std::all_of(sent.begin() + 1, sent.end(), [](const auto& message) { return message.empty(); }));
    net.wire.unsent_bytes = 1;  // but not to one that reads nothing
    net.run_ticks(2.0);
    CHECK(net.wire.sent[patient].size() <= 9);
}

TEST_CASE("a payload that is too large, and one before the answer, end the connection") {
    Streams net;
    const auto large = net.connect(test_token(net.random, 1));
    net.server.received(large, std::vector<std::uint8_t>(kMaxPayloadBytes + 1), net.now);
    CHECK(net.code(large) == ended(DisconnectReason::by_server));

    NetcodeServerConfig config = test_server_config();
    config.token_opens_per_tick = 1;
    Streams slow(config);
    slow.connect(test_token(slow.random, 1));
    const auto early = slow.connect(test_token(slow.random, 2));
    slow.server.received(early, std::vector<std::uint8_t>{1}, slow.now);
    CHECK(slow.code(early) == kStreamDenied);
    const auto empty = slow.open();
    slow.server.received(empty, {}, slow.now);
    CHECK(slow.code(empty) == kStreamDenied);
}

TEST_CASE("more messages than a client's rate end its stream, and a burst within it does not") {
    Streams net;
    const auto steady = net.connect(test_token(net.random, 1)), flood = net.connect(test_token(net.random, 2));
    const auto burst = static_cast<int>(kStreamRate.burst);
    for (int i = 0; i < burst; ++i) net.server.received(steady, {}, net.now);
    for (int i = 0; i < burst + 1; ++i) net.server.received(flood, {}, net.now);
    CHECK(net.code(flood) == ended(DisconnectReason::by_server));
    CHECK(net.server.counters().too_many == 1);
    net.tick();
    for (int i = 0; i < 10; ++i) net.server.received(steady, {}, net.now);
    CHECK(net.accepted(steady));
}

TEST_CASE("a token that the budget never reaches is denied after its time") {
    NetcodeServerConfig config = test_server_config();
    config.token_opens_per_tick = 1;
    Streams net(config);
    REQUIRE(net.accepted(net.connect(test_token(net.random, 1))));
    const auto waits = net.connect(test_token(net.random, 2));
    const auto run = [&](int ticks) {
        for (int i = 0; i < ticks; ++i) {
            net.step();
            CHECK(net.datagrams.server->gate().charge_opening());  // others are first
            net.server.update(net.now);
        }
    };
    run(990);
    CHECK(net.code(waits) == 0);
    run(20);
    CHECK(net.code(waits) == denied(DenyReason::server_full));
}

TEST_CASE("tokens beyond the budget of a tick wait for the next ones, in order") {
    NetcodeServerConfig config = test_server_config(8);
    config.token_opens_per_tick = 2;
    Streams net(config);
    for (std::uint64_t id = 1; id <= 5; ++id) net.connect(test_token(net.random, id));
    CHECK(net.server.connected_clients() == 2);
    net.tick();
    CHECK(net.server.connected_clients() == 4);
    net.tick();
    CHECK(net.server.connected_clients() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(net.events[i].client_id == i + 1);
}

TEST_CASE("connections that bring no token are limited in number and time, and do not keep others out") {
    Streams net;
    for (std::uint32_t i = 0; i < kMaxWaitingStreams + 10; ++i) net.open();
    CHECK(net.server.waiting_connections() == kMaxWaitingStreams);
    CHECK(net.server.counters().crowded_out == 10);
    CHECK(net.code(1) != 0);
    CHECK(net.code(11) == 0);
    CHECK(net.accepted(net.connect(test_token(net.random, 1))));
    net.run_ticks(5.1);
    CHECK(net.server.waiting_connections() == 0);
    CHECK(net.code(20) == kStreamDenied);
}

TEST_CASE("a server that stops tells all, and takes nobody in") {
    Streams net;
    const auto client = net.connect(test_token(net.random, 1)), waiting = net.open();
    net.server.stop(net.now);
    net.drain_streams();
    CHECK(net.code(client) == ended(DisconnectReason::server_stopped));
    CHECK(net.code(waiting) == ended(DisconnectReason::server_stopped));
    CHECK(net.events.back().reason == DisconnectReason::server_stopped);
    CHECK(net.code(net.open()) == ended(DisconnectReason::server_stopped));
}
