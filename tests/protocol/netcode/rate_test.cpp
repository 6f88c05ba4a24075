// Contract: the reliable streams find the rate of the way there, fill it, and do not delay who shares it.
#include <doctest/doctest.h>

#include "tests/protocol/netcode/channel_fixture.h"
#include "tests/support/seed.h"

using namespace orrery::testing;

namespace {

struct Transfer {
    double seconds = 0.0, mean_ping_rise_s = 0.0, p99_ping_rise_s = 0.0, longest_ping_rise_s = 0.0, highest_rate = 0.0;
    double resent_share = 0.0;
};

// A message of `size` over a bottleneck, and beside it a datagram each 10 ms whose way there is timed. The receiver looks
// at the network every 2 ms, the sender in each tick of 60 Hz.
Transfer transfer(std::size_t size, double bytes_per_s, SimLink link, const ChannelConfig& config = server_channel_config(),
                  bool trace = false) {
    constexpr TimeNs kStep = 2 * kNsPerMs;
    link.bottleneck = 1;
    ChannelPair pair(orrery::test::seeded(5), link, config);
    pair.network.set_bottleneck(1, {.bytes_per_s = bytes_per_s, .queue_bytes = 400'000});
    SimLink back = link;
    back.bottleneck = 0;
    pair.network.set_link(pair.client.endpoint.address(), pair.server.endpoint.address(), back);
    SimEndpoint& ping_from = pair.network.attach(Address::ipv4(1, 0, 0, 3, 3));
    SimEndpoint& ping_to = pair.network.attach(Address::ipv4(1, 0, 0, 4, 4));
    SimLink quiet{.delay = link.delay, .bottleneck = 1};
    pair.network.set_link(ping_from.address(), ping_to.address(), quiet);
    REQUIRE(pair.server.channel.send_reliable(numbered_message(1, size)) == SendStatus::ok);
    Transfer out;
    std::vector<double> rises;
    const TimeNs tick = kNsPerSecond / 60;
    TimeNs next_tick = tick, next_ping = 0;
    while (pair.client.reliable.empty() && pair.seconds() < 120.0) {
        pair.now += kStep;
        pair.network.advance(pair.now);
        pair.read(pair.server);
        pair.read(pair.client);
        if (pair.now >= next_tick) {
            next_tick += tick;
            pair.write(pair.server);
            if (trace)
                MESSAGE(pair.seconds() << " rate " << pair.server.channel.rate_bytes_per_s() / 1024 << " wait ms "
                                       << static_cast<double>(pair.network.bottleneck(1).free_at) * 1e-6 -
                                              static_cast<double>(pair.now) * 1e-6);
        }
        pair.write(pair.client);
        if (pair.now >= next_ping) {
            next_ping += 10 * kNsPerMs;
            std::array<std::uint8_t, 8> at{};
            for (std::size_t i = 0; i < 8; ++i) at[i] = static_cast<std::uint8_t>(pair.now >> (8 * i));
            ping_from.send(ping_to.address(), at);
        }
        SimDatagram datagram;
        while (ping_to.receive(datagram)) {
            TimeNs sent = 0;
            for (std::size_t i = 0; i < 8; ++i) sent |= TimeNs{datagram.bytes[i]} << (8 * i);
            rises.push_back(static_cast<double>(pair.now - sent - link.delay) * 1e-9);
        }
        out.highest_rate = std::max(out.highest_rate, pair.server.channel.rate_bytes_per_s());
    }
    REQUIRE(pair.client.reliable.size() == 1);
    out.seconds = pair.seconds();
    std::sort(rises.begin(), rises.end());
    for (const double rise : rises) out.mean_ping_rise_s += rise / static_cast<double>(rises.size());
    out.p99_ping_rise_s = rises[rises.size() * 99 / 100];
    out.longest_ping_rise_s = rises.back();
    out.resent_share =
        static_cast<double>(pair.server.channel.stats().stream_bytes_resent) / static_cast<double>(size);
    MESSAGE(size << " bytes at " << bytes_per_s * 8e-6 << " Mbit/s: " << out.seconds << " s, at best "
                 << static_cast<double>(size) / bytes_per_s << " s; ping beside it +" << out.mean_ping_rise_s * 1e3
                 << " ms on average, +" << out.p99_ping_rise_s * 1e3 << " of 99 %, +" << out.longest_ping_rise_s * 1e3
                 << " at most; resent " << out.resent_share * 100 << " %; rate up to " << out.highest_rate / 1024);
    return out;
}

}  // namespace

TEST_CASE("rate: probe") {
    const bool trace = std::getenv("RATE_TRACE") != nullptr;
    for (const double mbit : {5.0, 10.0, 20.0, 50.0})
        transfer(7'000'000, mbit * 125'000, {.loss = 0.01, .delay = 25 * kNsPerMs}, server_channel_config(), false);
    for (const TimeNs jitter : {5u, 15u, 30u})
        transfer(7'000'000, 2.5e6, {.loss = 0.01, .delay = 25 * kNsPerMs, .jitter = jitter * kNsPerMs}, server_channel_config(), trace && jitter == 5);
    transfer(7'000'000, 2.5e6, {.loss = 0.05, .delay = 45 * kNsPerMs, .jitter = 10 * kNsPerMs});
    transfer(7'000'000, 2.5e6, {.loss = 0.01, .delay = 75 * kNsPerMs});
    transfer(7'000'000, 100e6, {.delay = 1 * kNsPerMs});
}
