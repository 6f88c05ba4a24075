// Channels inside connections: a late joiner's key frame passes through netcode packets and a bad network.
#include <doctest/doctest.h>

#include "protocol/netcode/reliable.h"
#include "tests/protocol/netcode/channel_fixture.h"
#include "tests/protocol/netcode/net_fixture.h"

using namespace orrery::testing;

TEST_CASE("a key frame of 3 MB reaches a client through the whole stack while it plays") {
    NetFixture net(31);
    net.network.set_default_link(
        {.loss = 0.05, .duplicate = 0.02, .reorder = 0.02, .delay = 45 * kNsPerMs, .jitter = 10 * kNsPerMs});
    TestServer& server = net.add_server(test_server_config());
    TestClient& client = net.add_client(client_address(1));
    client.client.connect(test_token(net.random, 1), net.now).ok();
    net.run(2.0);
    REQUIRE(client.client.state() == ClientState::connected);

    ChannelConfig config = server_channel_config();
    config.rate = fixed_rate(1024.0 * 1024);
    Channel down(config), up(client_channel_config());
    const Message frame = numbered_message(5, 3u << 20);
    down.send_reliable(frame);
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    Message got;
    std::size_t inputs = 0;
    const TimeNs start = net.now;
    while (got.empty() && net.now < start + 8 * kNsPerSecond) {
        up.send_unreliable(Message(20, 9));
        while (const std::size_t size = down.write_packet(net.now, packet)) {
            REQUIRE(server.server->send_payload(0, Bytes(packet).first(size), net.now));
        }
        while (const std::size_t size = up.write_packet(net.now, packet)) {
            REQUIRE(client.client.send_payload(Bytes(packet).first(size), net.now));
        }
        net.step();
        for (const Message& payload : server.payloads) REQUIRE(down.read_packet(payload, net.now));
        server.payloads.clear();
        Bytes bytes;
        while (client.client.next_payload(bytes)) REQUIRE(up.read_packet(bytes, net.now));
        while (down.pop_unreliable(bytes)) ++inputs;
        if (up.pop_reliable(bytes)) got.assign(bytes.begin(), bytes.end());
    }
    CHECK(got == frame);
    CHECK(net.now - start < 5 * kNsPerSecond);
    CHECK(inputs > 200);
}
