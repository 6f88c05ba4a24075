// Reading packets: the order in which they are ignored, the replay window, and thousands of damaged ones.
#include "protocol/netcode/packet.h"

#include <doctest/doctest.h>
#include <sodium.h>

#include <algorithm>

#include "protocol/netcode/replay_protection.h"
#include "protocol/netcode/wire.h"
#include "tests/protocol/netcode/net_fixture.h"

using namespace orrery::testing;

namespace {

const Key kKey = [] {
    Key key;
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i * 5 + 1);
    return key;
}();

std::vector<std::uint8_t> sealed(PacketType type, std::uint64_t sequence, std::size_t body_size) {
    const std::vector<std::uint8_t> body(body_size, 0xab);
    PacketScratch out;
    const std::size_t size = seal_packet(type, sequence, body, kTestProtocolId, kKey, out);
    return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size)};
}

// Sizes that seal_packet refuses to make.
std::vector<std::uint8_t> sealed_by_hand(PacketType type, std::size_t body_size) {
    const std::vector<std::uint8_t> body(body_size, 0xab);
    std::vector<std::uint8_t> out(2 + body_size + kMacBytes);
    out[0] = static_cast<std::uint8_t>(0x10 | static_cast<unsigned>(type));
    out[1] = 9;
    std::array<std::uint8_t, 12> nonce{};
    nonce[4] = 9;
    std::array<std::uint8_t, 22> associated;
    WireWriter to(associated);
    to.bytes(kNetcodeVersion);
    to.u64(kTestProtocolId);
    to.u8(out[0]);
    crypto_aead_chacha20poly1305_ietf_encrypt(out.data() + 2, nullptr, body.data(), body.size(), associated.data(),
                                              associated.size(), nullptr, nonce.data(), kKey.data());
    return out;
}

// kCount: it opens.
Ignored reason_of(const std::vector<std::uint8_t>& datagram, ReplayProtection* replay = nullptr,
                  TypeMask allowed = kServerReceives) {
    PacketScratch scratch;
    OpenedPacket packet;
    Ignored reason{};
    return open_packet(datagram, allowed, kTestProtocolId, kKey, replay, scratch, packet, reason) ? Ignored::kCount
                                                                                                  : reason;
}

}  // namespace

TEST_CASE("a packet is ignored at the first point of the reading order that it fails") {
    const auto good = sealed(PacketType::keep_alive, 300, 8);
    CHECK(reason_of(good) == Ignored::kCount);
    CHECK(reason_of({}) == Ignored::too_short);
    CHECK(reason_of(std::vector<std::uint8_t>(17, 0x14)) == Ignored::too_short);
    for (int type = 7; type < 16; ++type) {
        auto bad = good;
        bad[0] = static_cast<std::uint8_t>(0x90 | type);  // its sequence length is wrong as well
        CHECK(reason_of(bad) == Ignored::unknown_type);
    }
    CHECK(reason_of(sealed(PacketType::challenge, 1, 308)) == Ignored::type_not_allowed);
    CHECK(reason_of(sealed(PacketType::denied, 1, 0)) == Ignored::type_not_allowed);
    CHECK(reason_of(sealed(PacketType::response, 1, 308), nullptr, kClientReceives) == Ignored::type_not_allowed);
    auto request_type = good;
    request_type[0] = 0x20;
    CHECK(reason_of(request_type) == Ignored::type_not_allowed);
    for (const unsigned length : {0u, 9u, 15u}) {
        auto bad = good;
        bad[0] = static_cast<std::uint8_t>(length << 4 | 4);
        CHECK(reason_of(bad) == Ignored::bad_sequence_length);
    }
    std::vector<std::uint8_t> short_box(24, 0);
    short_box[0] = 0x84;
    CHECK(reason_of(short_box) == Ignored::no_room_for_tag);
    auto flipped = good;
    flipped.back() ^= 1;
    CHECK(reason_of(flipped) == Ignored::does_not_open);

    ReplayProtection replay;
    CHECK(reason_of(good, &replay) == Ignored::kCount);
    CHECK(reason_of(good, &replay) == Ignored::replayed);
    CHECK(reason_of(flipped, &replay) == Ignored::replayed);  // before the tag is looked at
}

TEST_CASE("a box that opens but has the wrong size for its type is ignored") {
    struct Case {
        PacketType type;
        std::size_t size;
    };
    for (const Case& one : {Case{PacketType::keep_alive, 8}, Case{PacketType::disconnect, 0},
                            Case{PacketType::response, 308}, Case{PacketType::payload, 1}}) {
        CHECK(body_size_is_valid(one.type, one.size));
        if (one.size > 0) CHECK_FALSE(body_size_is_valid(one.type, one.size - 1));
        if (one.type != PacketType::payload) CHECK_FALSE(body_size_is_valid(one.type, one.size + 1));
    }
    CHECK(body_size_is_valid(PacketType::payload, 1200));
    CHECK_FALSE(body_size_is_valid(PacketType::payload, 1201));
    CHECK_FALSE(body_size_is_valid(PacketType::request, 0));
    for (const Case& one :
         {Case{PacketType::keep_alive, 7}, Case{PacketType::keep_alive, 9}, Case{PacketType::disconnect, 1},
          Case{PacketType::response, 307}, Case{PacketType::payload, 0}}) {
        CHECK(reason_of(sealed_by_hand(one.type, one.size)) == Ignored::wrong_size);
    }
    CHECK(reason_of(sealed_by_hand(PacketType::payload, 1)) == Ignored::kCount);
    // A payload's prefix cannot be turned into a keep-alive's: the type is authenticated.
    auto turned = sealed(PacketType::payload, 3, 8);
    turned[0] = static_cast<std::uint8_t>((turned[0] & 0xf0) | 4);
    CHECK(reason_of(turned) == Ignored::does_not_open);
    // Longer than any packet: refused before a byte is written anywhere.
    std::vector<std::uint8_t> huge(60'000, 0x15);
    CHECK(reason_of(huge) == Ignored::wrong_size);
}

TEST_CASE("the replay window advances only when the tag has verified") {
    ReplayProtection replay;
    auto forged = sealed(PacketType::payload, 1'000'000, 10);
    forged.back() ^= 1;
    CHECK(reason_of(forged, &replay) == Ignored::does_not_open);
    CHECK(reason_of(sealed(PacketType::payload, 1, 10), &replay) == Ignored::kCount);
}

TEST_CASE("the replay window takes each of its last 256 sequence numbers once, over the whole range of numbers") {
    for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{1} << 32, UINT64_MAX - 1000}) {
        CAPTURE(base);
        ReplayProtection replay;
        Random random(base + 5);
        std::vector<bool> seen(1001, false);
        std::uint64_t newest = 0;
        bool any = false;
        for (int i = 0; i < 20'000; ++i) {
            // Walks upwards with jumps back and forth, so that every distance to the newest occurs.
            const std::uint64_t drift = static_cast<std::uint64_t>(i) / 20;
            const std::uint64_t at = std::min<std::uint64_t>(1000, drift + random.below(600) / (1 + random.below(3)));
            const bool expected = any && (seen[at] || (newest > at && newest - at >= 256));
            REQUIRE(replay.is_replayed(base + at) == expected);
            if (expected) continue;
            replay.advance(base + at);
            REQUIRE(replay.is_replayed(base + at));
            seen[at] = true;
            newest = any ? std::max(newest, at) : at;
            any = true;
        }
    }
    // An addition in the comparison would wrap here and let the oldest packets in again.
    ReplayProtection replay;
    replay.advance(UINT64_MAX);
    CHECK(replay.is_replayed(UINT64_MAX));
    CHECK_FALSE(replay.is_replayed(UINT64_MAX - 255));
    CHECK(replay.is_replayed(UINT64_MAX - 256));
    CHECK(replay.is_replayed(0));
}

TEST_CASE("thousands of flipped and truncated datagrams of a real connection neither crash nor connect nor pass") {
    // Everything that a connection sends is recorded, then every damaged form of it is given to fresh ends.
    std::vector<SimDatagram> recorded;
    const std::uint64_t seed = 77;
    {
        NetFixture net(seed);
        net.network.set_tap([&](const SimDatagram& datagram) { recorded.push_back(datagram); });
        TestServer& server = net.add_server(test_server_config());
        TestClient& client = net.add_client(client_address(1));
        client.client.connect(test_token(net.random, 1), net.now).ok();
        net.run(0.3);
        REQUIRE(client.client.state() == ClientState::connected);
        client.client.send_payload(std::vector<std::uint8_t>(40, 1), net.now);
        server.server->send_payload(0, std::vector<std::uint8_t>(40, 1), net.now);
        net.run(0.3);
        client.client.disconnect(net.now);
        REQUIRE(recorded.size() > 15);
    }
    Random choose(1);
    std::size_t cases = 0;
    NetFixture net(seed);
    NetcodeServerConfig config = test_server_config();
    config.token_opens_per_tick = kMaxOpensPerTick;
    config.rate.per_address = config.rate.per_prefix = config.rate.per_client = {1e9, 1e9};
    TestServer& server = net.add_server(config);
    TestClient& client = net.add_client(client_address(1));
    const PublicTokenBytes token = test_token(net.random, 1);
    client.client.connect(token, net.now).ok();
    const auto give = [&](const SimDatagram& datagram, Bytes bytes) {
        if (++cases % 512 == 0) server.server->update(net.now, kTestUnixTime);
        if (datagram.to == server_address())
            server.server->receive(datagram.from, bytes, net.now);
        else
            client.client.receive(datagram.from, bytes, net.now);
    };
    for (int pass = 0; pass < 2; ++pass) {
        const ClientState expected = pass == 0 ? ClientState::sending_request : ClientState::connected;
        REQUIRE(client.client.state() == expected);
        for (const SimDatagram& datagram : recorded) {
            for (std::size_t size = 0; size < datagram.bytes.size(); size += 1 + size / 16) {
                give(datagram, Bytes(datagram.bytes).first(size));
            }
            for (int i = 0; i < 100; ++i) {
                auto bytes = datagram.bytes;
                const std::size_t bit = i < 64 ? static_cast<std::size_t>(i) : choose.below(bytes.size() * 8);
                bytes[bit / 8 % bytes.size()] ^= static_cast<std::uint8_t>(1u << (bit % 8));
                give(datagram, bytes);
                bytes.push_back(static_cast<std::uint8_t>(i));
                give(datagram, bytes);
            }
        }
        NetFixture::drain(server);
        CHECK(client.client.state() == expected);
        CHECK(server.server->connected_clients() == (pass == 0 ? 0u : 1u));
        CHECK(server.payloads.empty());
        Bytes payload;
        CHECK_FALSE(client.client.next_payload(payload));
        if (pass == 0) {
            CHECK(server.server->counters().requests_challenged == 0);
            client.client.connect(test_token(net.random, 1), net.now).ok();
            net.run(0.3);
        }
    }
    CHECK(cases > 5'000);
}

TEST_CASE("addresses are parsed and written, and nothing else is") {
    for (const char* text :
         {"127.0.0.1:40000", "255.255.255.255:65535", "0.0.0.0:0", "[::1]:40001", "[::]:1",
          "[fe80::202:b3ff:fe1e:8329]:50000", "[1:2:3:4:5:6:7:8]:9", "[1::8]:9", "[1::]:9", "[1:0:2::3]:4"}) {
        CAPTURE(text);
        const auto address = Address::parse(text);
        REQUIRE(address.ok());
        CHECK(address.value().to_string() == text);
    }
    CHECK(Address::parse("[0:0:0:0:0:0:0:1]:5").value().to_string() == "[::1]:5");
    for (const char* text : {"",
                             "127.0.0.1",
                             "127.0.0.1:",
                             "127.0.0:1",
                             "256.0.0.1:1",
                             "1.2.3.4:65536",
                             "1.2.3.4:5x",
                             "[::1]",
                             "::1:5",
                             "[:::1]:5",
                             "[1::2::3]:5",
                             "[1:2:3:4:5:6:7]:5",
                             "[1:2:3:4:5:6:7:8:9]:5",
                             "[1:2:3:4:5:6:7:8::]:5",
                             "[12345::]:5",
                             "[::1:]:5",
                             "localhost:5",
                             " 1.2.3.4:5",
                             "1.2.3.-4:5",
                             "[::1]:5 "}) {
        CAPTURE(text);
        CHECK_FALSE(Address::parse(text).ok());
    }
    CHECK(Address::parse("127.8.0.1:1").value().is_loopback());
    CHECK(Address::parse("[::1]:1").value().is_loopback());
    CHECK(Address::parse("[::ffff:7f00:1]:1").value().is_loopback());
    CHECK_FALSE(Address::parse("[::2]:1").value().is_loopback());
    CHECK_FALSE(Address::parse("128.0.0.1:1").value().is_loopback());
    CHECK(Address::parse("1.2.3.4:5").value().prefix().to_string() == "1.2.3.0:0");
    // Or all of IPv4 would share the one /64 of mapped addresses.
    CHECK(Address::parse("[::ffff:102:304]:5").value().prefix().to_string() == "1.2.3.0:0");
    CHECK(Address::parse("[::ffff:102:304]:5").value().canonical().to_string() == "1.2.3.4:5");
    CHECK(Address::parse("[1:2:3:4:5:6:7:8]:5").value().prefix().to_string() == "[1:2:3:4::]:0");
}
