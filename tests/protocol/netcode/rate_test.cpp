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

// A message of `size` over a bottleneck, and beside it a datagram each 10 ms whose way there is timed. The receiver
// looks at the network every 2 ms, the sender in each tick of 60 Hz.
// Both ways become longer by `longer_by` after 2 s.
Transfer transfer(std::size_t size, double bytes_per_s, SimLink link,
                  const ChannelConfig& config = server_channel_config(), TimeNs longer_by = 0) {
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
    bool longer = false;
    while (pair.client.reliable.empty() && pair.seconds() < 120.0) {
        pair.now += kStep;
        if (longer_by > 0 && !longer && pair.seconds() >= 2.0) {
            longer = true;
            SimLink there = link, from = back;
            there.delay += longer_by;
            from.delay += longer_by;
            pair.network.set_link(pair.server.endpoint.address(), pair.client.endpoint.address(), there);
            pair.network.set_link(pair.client.endpoint.address(), pair.server.endpoint.address(), from);
        }
        pair.network.advance(pair.now);
        pair.read(pair.server);
        pair.read(pair.client);
        if (pair.now >= next_tick) {
            next_tick += tick;
            pair.write(pair.server);
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
    out.resent_share = static_cast<double>(pair.server.channel.stats().stream_bytes_resent) / static_cast<double>(size);
    MESSAGE(size << " bytes at " << bytes_per_s * 8e-6 << " Mbit/s: " << out.seconds << " s, at best "
                 << static_cast<double>(size) / bytes_per_s << " s; ping beside it +" << out.mean_ping_rise_s * 1e3
                 << " ms on average, +" << out.p99_ping_rise_s * 1e3 << " of 99 %, +" << out.longest_ping_rise_s * 1e3
                 << " at most; resent " << out.resent_share * 100 << " %; rate up to " << out.highest_rate / 1024);
    return out;
}

}  // namespace

TEST_CASE("a key frame fills 20 Mbit/s within a second, and 99 % of pings beside it rise by 30 ms at most") {
    const Transfer found = transfer(7'000'000, 2.5e6, {.loss = 0.01, .delay = 25 * kNsPerMs});
    CHECK(found.seconds < 4.0);
    CHECK(found.p99_ping_rise_s <= 0.030);
    CHECK(found.mean_ping_rise_s <= 0.015);
    CHECK(found.resent_share < 0.02);
}

TEST_CASE("slow, fast and long ways are filled, too") {
    for (const double mbit : {10.0, 50.0}) {
        CAPTURE(mbit);
        const double bytes_per_s = mbit * 125e3;
        const Transfer found = transfer(3'000'000, bytes_per_s, {.loss = 0.01, .delay = 25 * kNsPerMs});
        CHECK(found.seconds < 1.3 * 3e6 / bytes_per_s + 0.7);
        CHECK(found.p99_ping_rise_s <= 0.060);
    }
    CHECK(transfer(3'000'000, 2.5e6, {.loss = 0.01, .delay = 75 * kNsPerMs}).seconds < 3.0);
    CHECK(transfer(3'000'000, 100e6, {.delay = 1 * kNsPerMs}).seconds < 1.0);
}

TEST_CASE("jitter is not taken for a queue, nor chance for a loss above 5 %") {
    for (const TimeNs jitter_ms : {5u, 15u, 30u}) {
        CAPTURE(jitter_ms);
        const Transfer found =
            transfer(5'000'000, 2.5e6, {.loss = 0.01, .delay = 25 * kNsPerMs, .jitter = jitter_ms * kNsPerMs});
        CHECK(found.seconds < 7.0);
    }
    CHECK(transfer(3'000'000, 2.5e6, {.loss = 0.05, .delay = 25 * kNsPerMs}).seconds < 4.0);
}

TEST_CASE("a way that becomes longer on the way is filled again") {
    const SimLink link{.loss = 0.01, .delay = 25 * kNsPerMs};
    const double straight = transfer(15'000'000, 2.5e6, link).seconds;
    for (const TimeNs longer_ms : {15u, 20u, 100u}) {
        CAPTURE(longer_ms);
        CHECK(transfer(15'000'000, 2.5e6, link, server_channel_config(), longer_ms * kNsPerMs).seconds <
              1.5 * straight);
    }
}

TEST_CASE("the rate stays within its limits, and grows only while data waits for it") {
    const SimLink link{.delay = 5 * kNsPerMs};
    ChannelConfig config = server_channel_config();
    config.rate.most = 400e3;
    CHECK(transfer(2'000'000, 100e6, link, config).seconds > 2'000'000 / 400e3);
    config = server_channel_config();
    ChannelPair pair(3, link, config);
    for (int i = 0; i < 600; ++i) {
        REQUIRE(pair.server.channel.send_reliable(Message(1'000)) == SendStatus::ok);
        pair.step();
    }
    CHECK(pair.server.channel.rate_bytes_per_s() == config.rate.start);
    pair.network.set_default_link({.loss = 0.6, .delay = 5 * kNsPerMs});
    REQUIRE(pair.server.channel.send_reliable(Message(1'000'000)) == SendStatus::ok);
    for (int i = 0; i < 600; ++i) {
        pair.step();
        REQUIRE(pair.server.channel.rate_bytes_per_s() >= config.rate.least);
    }
    CHECK(pair.server.channel.rate_bytes_per_s() == config.rate.least);
}

TEST_CASE("a rate that nothing used for ten seconds begins anew") {
    ChannelPair pair(4, {.delay = 5 * kNsPerMs});
    REQUIRE(pair.server.channel.send_reliable(Message(3'000'000)) == SendStatus::ok);
    while (pair.server.channel.unacknowledged_bytes() > 0) pair.step();
    CHECK(pair.server.channel.rate_bytes_per_s() > 1e6);
    for (int i = 0; i < 660; ++i) pair.step();
    REQUIRE(pair.server.channel.send_reliable(Message(60'000)) == SendStatus::ok);
    pair.step();
    pair.step();
    CHECK(pair.server.channel.rate_bytes_per_s() == server_channel_config().rate.start);
}

TEST_CASE(
    "a tick sends no more than the rate since the tick before, and unreliable messages leave the streams a share") {
    ChannelConfig config = server_channel_config();
    config.rate = fixed_rate(120e3);  // 2 KB a tick
    ChannelPair pair(6, {.delay = 5 * kNsPerMs}, config);
    for (int i = 0; i < 120; ++i) pair.step();  // nothing is saved up
    REQUIRE(pair.server.channel.send_reliable(Message(400'000)) == SendStatus::ok);
    std::uint64_t before = pair.server.channel.stats().bytes_sent;
    for (int i = 0; i < 60; ++i) {
        pair.step();
        const std::uint64_t sent = pair.server.channel.stats().bytes_sent;
        CHECK(sent - before <= 2'000 + 2 * kMaxPayloadBytes);
        before = sent;
    }
    // Three times the rate of unreliable messages.
    std::size_t waiting = pair.server.channel.unacknowledged_bytes();
    for (int i = 0; i < 120; ++i) {
        for (int n = 0; n < 6; ++n) pair.server.channel.send_unreliable(Message(1'000), 0);
        pair.step();
    }
    CHECK(pair.client.unreliable.size() > 700);
    waiting -= pair.server.channel.unacknowledged_bytes();
    CHECK(static_cast<double>(waiting) > 0.2 * 2 * 120e3);
    CHECK(static_cast<double>(waiting) < 0.5 * 2 * 120e3);
}
