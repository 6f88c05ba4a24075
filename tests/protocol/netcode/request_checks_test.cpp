// The checks on a connection request, in the standard's order: each is reached only when those before it pass. What
// cannot be opened is ignored without an answer; a token that opens and is not good is denied with a reason.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "protocol/netcode/packet.h"
#include "protocol/netcode/wire.h"
#include "tests/protocol/netcode/net_fixture.h"

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

constexpr std::size_t kVersionAt = 1, kProtocolAt = 14, kExpireAt = 22, kPrivateAt = 54;

struct Checks {
    NetFixture net;
    TestServer& server;
    std::size_t answers = 0;

    explicit Checks(std::uint32_t max_clients = 4) : server(net.add_server(test_server_config(max_clients))) {
        net.network.set_tap([this](const SimDatagram& datagram) { answers += datagram.from == server_address(); });
    }
    // The one reason for which this request is ignored; kCount: it was answered.
    Ignored reason(const Request& request, const Address& from = client_address(50)) {
        const NetcodeCounters before = server.server->counters();
        answers = 0;
        server.server->receive(from, request, net.now);
        Ignored found = Ignored::kCount;
        for (std::size_t i = 0; i < before.ignored.size(); ++i) {
            if (server.server->counters().ignored[i] == before.ignored[i]) continue;
            CHECK(found == Ignored::kCount);
            found = static_cast<Ignored>(i);
        }
        CHECK((answers == 1) == (found == Ignored::kCount));
        return found;
    }
    // The reason with which this request is denied; none: it was not denied.
    std::optional<DenyReason> denied(const Request& request, const Address& from = client_address(50)) {
        const NetcodeCounters before = server.server->counters();
        reason(request, from);
        const NetcodeCounters& after = server.server->counters();
        if (after.requests_denied == before.requests_denied) return std::nullopt;
        for (std::size_t i = 0; i < kDenyReasons; ++i) {
            if (after.denied[i] != before.denied[i]) return static_cast<DenyReason>(i);
        }
        return std::nullopt;
    }
};

}  // namespace

TEST_CASE("each check of a request ignores it, in the standard's order") {
    Checks checks;
    const Request good = request_of(test_token(checks.net.random, 1));

    // From the last check back to the first: each spoiled field is noticed although all later ones are spoiled, too.
    Request bad = request_of(test_token(checks.net.random, 2, 5, {server_address(77)}));
    CHECK(checks.denied(bad) == DenyReason::other_server);
    bad[kPrivateAt + 100] ^= 1;
    CHECK(checks.reason(bad) == Ignored::request_does_not_open);
    for (std::size_t i = 0; i < 8; ++i) bad[kExpireAt + i] = 0;
    CHECK(checks.reason(bad) == Ignored::request_expired);
    bad[kProtocolAt] ^= 1;
    CHECK(checks.reason(bad) == Ignored::request_protocol);
    bad[kVersionAt + 8] ^= 1;
    CHECK(checks.reason(bad) == Ignored::request_version);
    bad.push_back(0);
    CHECK(checks.reason(bad) == Ignored::request_length);
    bad.resize(kRequestBytes - 1);
    CHECK(checks.reason(bad) == Ignored::request_length);
    CHECK(checks.server.server->counters().tokens_opened == 3);

    CHECK(checks.reason(good) == Ignored::kCount);
    CHECK(checks.server.server->counters().requests_challenged == 1);
}

TEST_CASE("a token expires at its second, by the time passed in") {
    Checks checks;
    const Request request = request_of(test_token(checks.net.random, 1, 5, {server_address()}, 10));
    checks.server.server->update(checks.net.now, kTestUnixTime + 9);
    CHECK(checks.reason(request) == Ignored::kCount);
    checks.server.server->update(checks.net.now, kTestUnixTime + 10);
    CHECK(checks.denied(request) == DenyReason::expired);
}

TEST_CASE("who is connected, by address or by id, is not challenged again") {
    Checks checks;
    TestClient& client = checks.net.add_client(client_address(1));
    const PublicTokenBytes token = test_token(checks.net.random, 1);
    client.client.connect(token, checks.net.now).ok();
    checks.net.run(0.1);
    REQUIRE(client.client.state() == ClientState::connected);
    const Request same_address = request_of(test_token(checks.net.random, 2));
    CHECK(checks.reason(same_address, client_address(1)) == Ignored::request_address_connected);
    const Request same_id = request_of(test_token(checks.net.random, 1));
    CHECK(checks.denied(same_id, client_address(2)) == DenyReason::already_connected);
    // The id is looked at before the tag.
    CHECK(checks.denied(request_of(token), client_address(2)) == DenyReason::already_connected);
}

TEST_CASE("a token is good for the address that used it first, also before the slot is taken and when full") {
    Checks checks(1);
    const Request request = request_of(test_token(checks.net.random, 1));
    CHECK(checks.reason(request, client_address(1)) == Ignored::kCount);
    CHECK(checks.reason(request, client_address(1)) == Ignored::kCount);
    CHECK(checks.denied(request, client_address(2)) == DenyReason::token_used);
    Address other_port = client_address(1);
    ++other_port.port;
    CHECK(checks.denied(request, other_port) == DenyReason::token_used);

    TestClient& client = checks.net.add_client(client_address(3));
    client.client.connect(test_token(checks.net.random, 3), checks.net.now).ok();
    checks.net.run(0.1);
    REQUIRE(checks.server.server->connected_clients() == 1);
    CHECK(checks.denied(request, client_address(2)) == DenyReason::token_used);
    CHECK(checks.denied(request, client_address(1)) == DenyReason::server_full);
}

TEST_CASE("token openings are bounded in a tick, and the budget comes back with the next") {
    Checks checks;
    const std::uint32_t budget = test_server_config().token_opens_per_tick;
    Request junk = request_of(test_token(checks.net.random, 1));
    junk.back() ^= 1;
    for (std::uint32_t i = 0; i < budget; ++i) {
        REQUIRE(checks.reason(junk, client_address(static_cast<std::uint8_t>(i))) == Ignored::request_does_not_open);
    }
    CHECK(checks.reason(junk, client_address(200)) == Ignored::open_budget);
    checks.server.server->update(checks.net.now, checks.net.unix_now());
    CHECK(checks.reason(junk, client_address(200)) == Ignored::request_does_not_open);
}

TEST_CASE("one address, and one prefix, may ask only so often; others still get in") {
    Checks checks;
    Request junk = request_of(test_token(checks.net.random, 1));
    junk.back() ^= 1;
    const RateLimitConfig rate;
    const auto burst = static_cast<int>(rate.per_address.burst);
    const auto ask = [&](const Address& from = client_address(50)) {
        checks.server.server->update(checks.net.now, checks.net.unix_now());  // the tick's budget is not what is tested
        return checks.reason(junk, from);
    };
    for (int i = 0; i < burst; ++i) REQUIRE(ask() == Ignored::request_does_not_open);
    CHECK(ask() == Ignored::rate_address);
    // Another port is the same address.
    Address moved = client_address(50);
    moved.port = 1234;
    CHECK(ask(moved) == Ignored::rate_address);
    // The rest of the prefix has what its own limit leaves.
    int admitted = 0;
    for (std::uint8_t last = 60; last < 70; ++last) {
        for (int i = 0; i < burst; ++i) {
            admitted += ask(Address::ipv4(10, 0, 1, last, 1)) == Ignored::request_does_not_open;
        }
    }
    CHECK(admitted == static_cast<int>(rate.per_prefix.burst) - burst);
    CHECK(ask(Address::ipv4(10, 0, 2, 1, 1)) == Ignored::request_does_not_open);
    // Tokens come back with time.
    checks.net.now += kNsPerSecond;
    CHECK(ask() == Ignored::request_does_not_open);
}

TEST_CASE("noise from an address uses up nothing of what its players may ask") {
    Checks checks;
    const Request good = request_of(test_token(checks.net.random, 1));
    const int noise = static_cast<int>(RateLimitConfig{}.per_prefix.burst) + 1;
    Request version = good, protocol = good, longer = good;
    version[kVersionAt] ^= 1;
    protocol[kProtocolAt] ^= 1;
    longer.push_back(0);
    for (int i = 0; i < noise; ++i) {
        REQUIRE(checks.reason(version) == Ignored::request_version);
        REQUIRE(checks.reason(protocol) == Ignored::request_protocol);
        REQUIRE(checks.reason(longer) == Ignored::request_length);
    }
    CHECK(checks.reason(good) == Ignored::kCount);
}

TEST_CASE("tables of addresses stay bounded and strict under floods from ever new addresses") {
    SeededRandom random(3);
    BucketTable table({1.0, 2.0}, 64, random);
    Random choose(4);
    int admitted = 0;
    for (int i = 0; i < 100'000; ++i) {
        const auto bits = choose.next();
        admitted += table.take(Address::ipv4(static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8),
                                             static_cast<std::uint8_t>(bits >> 16), 1, 1)
                                   .without_port(),
                               kNsPerSecond);
    }
    // At one moment no more than every entry's burst can pass, however many addresses there are.
    CHECK(admitted == 64 * 2);
}

TEST_CASE("after a restart the same token meets fresh keys and nonces") {
    // A server that restarts in one process with the same private key: neither its challenges nor its packets may
    // repeat a nonce under a key that the first run has used.
    SeededRandom random(9);
    SimNetwork network(1);
    SimEndpoint& endpoint = network.attach(server_address());
    const PublicTokenBytes bytes = test_token(random, 1);
    const ConnectToken token = read_connect_token(bytes).value();
    std::vector<std::vector<std::uint8_t>> challenges, alive;
    network.set_tap([&](const SimDatagram& datagram) {
        if (datagram.to != client_address(1)) return;
        if ((datagram.bytes[0] & 0x0f) == 2) challenges.push_back(datagram.bytes);
        if ((datagram.bytes[0] & 0x0f) == 4) alive.push_back(datagram.bytes);
    });
    std::vector<ChallengeBody> bodies;
    std::vector<std::uint64_t> challenge_sequences, keep_alive_sequences;
    for (int run = 0; run < 2; ++run) {
        auto server = NetcodeServer::create(test_server_config(), random, endpoint);
        REQUIRE(server.ok());
        server.value()->update(0, kTestUnixTime);
        server.value()->receive(client_address(1), request_of(bytes), 0);
        REQUIRE(challenges.size() == static_cast<std::size_t>(run) + 1);
        PacketScratch scratch;
        OpenedPacket packet;
        Ignored reason{};
        REQUIRE(open_packet(challenges.back(), kClientReceives, kTestProtocolId, token.server_to_client, nullptr,
                            scratch, packet, reason));
        challenge_sequences.push_back(packet.sequence);
        ChallengeBody body;
        REQUIRE(read_challenge_body(packet.body, body));
        bodies.push_back(body);
        CHECK(body.sequence == 0);

        PacketScratch response;
        std::array<std::uint8_t, kChallengeBodyBytes> raw;
        if (run == 1) {
            // The first run's challenge means nothing to the second.
            write_challenge_body(bodies[0], raw);
            const std::size_t size =
                seal_packet(PacketType::response, 5, raw, kTestProtocolId, token.client_to_server, response);
            server.value()->receive(client_address(1), Bytes(response).first(size), 0);
            CHECK(server.value()->connected_clients() == 0);
            CHECK(server.value()->counters()[Ignored::response_challenge] == 1);
        }
        write_challenge_body(body, raw);
        const std::size_t size =
            seal_packet(PacketType::response, 6, raw, kTestProtocolId, token.client_to_server, response);
        server.value()->receive(client_address(1), Bytes(response).first(size), 0);
        CHECK(server.value()->connected_clients() == 1);
        REQUIRE(alive.size() == static_cast<std::size_t>(run) + 1);
        REQUIRE(open_packet(alive.back(), kClientReceives, kTestProtocolId, token.server_to_client, nullptr, scratch,
                            packet, reason));
        keep_alive_sequences.push_back(packet.sequence);
    }
    CHECK(bodies[0].token != bodies[1].token);
    CHECK(challenge_sequences[0] != challenge_sequences[1]);
    CHECK(keep_alive_sequences[0] != keep_alive_sequences[1]);
    for (const std::uint64_t sequence : challenge_sequences) CHECK((sequence >> 63) == 1);
    for (const std::uint64_t sequence : keep_alive_sequences) CHECK((sequence >> 63) == 0);
}

TEST_CASE("a response with another client's challenge does not connect") {
    Checks checks;
    const PublicTokenBytes one = test_token(checks.net.random, 1), two = test_token(checks.net.random, 2);
    const ConnectToken token_one = read_connect_token(one).value(), token_two = read_connect_token(two).value();
    std::vector<std::uint8_t> challenge;
    checks.net.network.set_tap([&](const SimDatagram& datagram) {
        if (datagram.to == client_address(1)) challenge = datagram.bytes;
    });
    checks.server.server->receive(client_address(1), request_of(one), checks.net.now);
    checks.server.server->receive(client_address(2), request_of(two), checks.net.now);
    PacketScratch scratch, response;
    OpenedPacket packet;
    Ignored reason{};
    REQUIRE(open_packet(challenge, kClientReceives, kTestProtocolId, token_one.server_to_client, nullptr, scratch,
                        packet, reason));
    const std::size_t size =
        seal_packet(PacketType::response, 1, packet.body, kTestProtocolId, token_two.client_to_server, response);
    checks.server.server->receive(client_address(2), Bytes(response).first(size), checks.net.now);
    CHECK(checks.server.server->counters()[Ignored::response_client_id] == 1);
    CHECK(checks.server.server->connected_clients() == 0);
}

TEST_CASE("before its first update a server knows no time, and answers nobody") {
    SeededRandom random(9);
    SimNetwork network(1);
    auto server = NetcodeServer::create(test_server_config(), random, network.attach(server_address()));
    REQUIRE(server.ok());
    server.value()->receive(client_address(1), request_of(test_token(random, 1)), 0);
    CHECK(server.value()->counters().datagrams_sent == 0);
}

TEST_CASE("a denial says why by a sequence number that only this server's denials have") {
    for (std::size_t i = 0; i < kDenyReasons; ++i) {
        const auto reason = static_cast<DenyReason>(i);
        CAPTURE(deny_reason_name(reason));
        for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{12345} << 8, UINT64_MAX}) {
            CHECK(deny_reason_of(unbound_sequence(count, reason)) == reason);
            // Another denial with the same reason has another number, whatever the last one's was.
            CHECK(unbound_sequence(count, reason) != unbound_sequence(count + kUnboundStep, reason));
        }
        // The reference counts from 2^63 on, and other servers from zero.
        CHECK(deny_reason_of(i) == DenyReason::unspecified);
        CHECK(deny_reason_of((std::uint64_t{1} << 63) + i) == DenyReason::unspecified);
    }
    CHECK(deny_reason_of(kUnboundSequence | 200) == DenyReason::unspecified);
}

TEST_CASE("no two packets of a server's challenges and denials have one number") {
    Checks checks(1);
    std::vector<std::uint64_t> sequences;
    checks.net.network.set_tap([&](const SimDatagram& datagram) {
        if (datagram.from == server_address()) sequences.push_back(load_le(datagram.bytes.data() + 1, 8));
    });
    for (int i = 0; i < 30; ++i) {
        checks.net.now += kNsPerSecond / 10;
        checks.server.server->update(checks.net.now, kTestUnixTime);
        const Request request = request_of(test_token(checks.net.random, 1));
        checks.server.server->receive(client_address(1), request, checks.net.now);
        for (int j = 0; j < 2; ++j) checks.server.server->receive(client_address(2), request, checks.net.now);
    }
    CHECK(checks.server.server->counters().requests_challenged == 30);
    CHECK(checks.server.server->counters()[DenyReason::token_used] == 60);
    std::sort(sequences.begin(), sequences.end());
    CHECK(std::adjacent_find(sequences.begin(), sequences.end()) == sequences.end());
}
