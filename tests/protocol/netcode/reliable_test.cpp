// Reliable and unreliable messages between two honest ends over a bad network.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "protocol/netcode/stream_sender.h"
#include "tests/protocol/netcode/channel_fixture.h"
#include "tests/support/seed.h"

using namespace orrery::testing;

namespace {

constexpr SimLink kBadLink{
    .loss = 0.05, .duplicate = 0.02, .reorder = 0.02, .delay = 45 * kNsPerMs, .jitter = 10 * kNsPerMs};

// As a key of a set: g++ 12 takes the comparison of byte vectors for an overlong read.
std::string text_of(const Message& message) { return {message.begin(), message.end()}; }

}  // namespace

TEST_CASE("reliable messages of every size arrive whole, once and in order, both ways") {
    for (std::uint64_t n = 1; n <= 5; ++n) {
        const std::uint64_t seed = orrery::test::seeded(n);
        CAPTURE(seed);
        ChannelPair pair(
            seed, {.loss = 0.2, .duplicate = 0.1, .reorder = 0.1, .delay = 30 * kNsPerMs, .jitter = 40 * kNsPerMs});
        Random random(seed);
        std::vector<Message> down, up;
        for (int i = 0; i < 300; ++i) {
            const std::size_t sizes[] = {0, 1, 127, 128, 300, 1'150, 1'200, 5'000, 16'383, 16'384};
            down.push_back(numbered_message(random.next(), sizes[random.below(10)]));
            up.push_back(numbered_message(random.next(), random.below(200)));
            CHECK(pair.server.channel.send_reliable(down.back()) == SendStatus::ok);
            CHECK(pair.client.channel.send_reliable(up.back()) == SendStatus::ok);
            pair.step();
        }
        for (int i = 0; i < 60 * 60 && (pair.client.reliable.size() < 300 || pair.server.reliable.size() < 300); ++i) {
            pair.step();
        }
        CHECK(pair.client.reliable == down);
        CHECK(pair.server.reliable == up);
        CHECK(pair.sound());
        for (int i = 0; i < 300; ++i) pair.step();
        CHECK(pair.server.channel.unacknowledged_bytes() == 0);
        CHECK(pair.client.channel.unacknowledged_bytes() == 0);
    }
}

TEST_CASE("a key frame of 3 MB arrives in the time that the bandwidth needs, at 5 % loss and 100 ms round trip") {
    // Windowed: many ranges in flight. One a round trip would take five minutes.
    const std::size_t size = 3u << 20;
    const Message frame = numbered_message(1, size);
    for (const double bandwidth : {64.0 * 1024, 256.0 * 1024, 1024.0 * 1024}) {
        CAPTURE(bandwidth);
        ChannelConfig config = server_channel_config();
        config.rate = fixed_rate(bandwidth);
        ChannelPair pair(11, kBadLink, config);
        CHECK(pair.server.channel.send_reliable(frame) == SendStatus::ok);
        const double at_best = static_cast<double>(size) / bandwidth;
        while (pair.client.reliable.empty() && pair.seconds() < 2 * at_best + 2) pair.step();
        REQUIRE(pair.client.reliable.size() == 1);
        CHECK(pair.client.reliable[0] == frame);
        // Loss costs its own share again, the tail a few round trips.
        CHECK(pair.seconds() < 1.15 * at_best + 1.0);
        CHECK(static_cast<double>(pair.server.channel.stats().stream_bytes_resent) < 0.10 * static_cast<double>(size));
        MESSAGE("3 MiB at " << bandwidth / 1024 << " KiB/s: " << pair.seconds() << " s, resent "
                            << pair.server.channel.stats().stream_bytes_resent / 1024 << " KiB");
    }
}

TEST_CASE("unreliable messages pass while a large transfer runs, and each sent tag meets its fate") {
    ChannelPair pair(3, kBadLink);
    pair.server.channel.send_reliable(numbered_message(1, 2u << 20));
    for (std::uint64_t tick = 0; tick < 600; ++tick) {
        CHECK(pair.server.channel.send_unreliable(numbered_message(tick, 600), tick) == SendStatus::ok);
        pair.step();
    }
    for (int i = 0; i < 240; ++i) pair.step();
    std::map<std::uint64_t, std::set<bool>> fates;
    std::size_t acknowledged = 0;
    for (const Delivery& delivery : pair.server.deliveries) {
        fates[delivery.tag].insert(delivery.acknowledged);
        acknowledged += delivery.acknowledged;
    }
    CHECK(fates.size() == 600);
    CHECK(acknowledged > 540);
    CHECK(acknowledged <= pair.client.unreliable.size());
    // What was acknowledged did arrive.
    std::set<std::string> arrived;
    for (const Message& message : pair.client.unreliable) arrived.insert(text_of(message));
    for (const auto& [tag, fate] : fates) {
        if (fate.contains(true)) CHECK(arrived.contains(text_of(numbered_message(tag, 600))));
    }
    // Never twice, although the network doubles datagrams.
    CHECK(arrived.size() == pair.client.unreliable.size());
    CHECK(pair.client.channel.stats().packets_duplicate > 0);
}

TEST_CASE("round trip and loss are measured") {
    ChannelPair pair(4, {.loss = 0.1, .delay = 50 * kNsPerMs});
    for (int i = 0; i < 1200; ++i) {
        pair.server.channel.send_unreliable(Message(100), 0);
        pair.client.channel.send_unreliable(Message(10), 0);
        pair.step();
    }
    // Each end looks at the network every 16.7 ms.
    CHECK(pair.server.channel.stats().rtt_s > 0.095);
    CHECK(pair.server.channel.stats().rtt_s < 0.140);
    CHECK(pair.server.channel.stats().rtt_min_s >= 0.099);
    CHECK(pair.server.channel.stats().loss > 0.02);
    CHECK(pair.server.channel.stats().loss < 0.25);
    const double lost = static_cast<double>(pair.server.channel.stats().packets_lost);
    CHECK(lost > 80);
    CHECK(lost < 170);
    // What the peer knows to be acknowledged is not repeated: a vector of two bytes is enough here.
    const ChannelStats& stats = pair.server.channel.stats();
    CHECK(static_cast<double>(stats.bytes_sent) / static_cast<double>(stats.packets_sent) < 100 + 2 + 8 + 0.5);
}

TEST_CASE("a quiet channel is silent, and an acknowledgement goes out alone when there is nothing to carry it") {
    ChannelPair pair(5, {.delay = 10 * kNsPerMs});
    for (int i = 0; i < 60; ++i) pair.step();
    CHECK(pair.network.stats().sent == 0);
    pair.server.channel.send_reliable(Message(10, 1));
    for (int i = 0; i < 60; ++i) pair.step();
    CHECK(pair.server.channel.unacknowledged_bytes() == 0);
    CHECK(pair.network.stats().sent == 2);  // the message, its acknowledgement, and no acknowledgement of that
}

TEST_CASE("a link that goes down for seconds neither floods nor loses a message") {
    ChannelPair pair(6, kBadLink);
    const Message message = numbered_message(1, 200'000);
    for (int i = 0; i < 30; ++i) pair.step();
    pair.server.channel.send_reliable(message);
    for (int i = 0; i < 12; ++i) pair.step();
    pair.network.set_default_link({.up = false});
    const std::uint64_t before = pair.network.stats().sent;
    for (int i = 0; i < 300; ++i) pair.step();
    const std::uint64_t packets = message.size() / 1'100;
    CHECK(pair.network.stats().sent - before < 6 * packets);
    pair.network.set_default_link(kBadLink);
    for (int i = 0; i < 300 && pair.client.reliable.empty(); ++i) pair.step();
    REQUIRE(pair.client.reliable.size() == 1);
    CHECK(pair.client.reliable[0] == message);
}

TEST_CASE("what an end that is busy for long cannot have read yet does not count as lost") {
    struct Arrived {
        Message packet;
        TimeNs at;
    };
    for (const bool says : {true, false}) {
        ChannelPair pair(7, {.delay = 5 * kNsPerMs});
        pair.server.channel.send_reliable(Message(100'000));
        std::vector<Arrived> arrived;
        for (int tick = 0; tick < 20; ++tick) {  // that last 200 ms each, without a pause between them
            for (const Arrived& each : arrived) pair.server.channel.read_packet(each.packet, each.at);
            arrived.clear();
            if (says) pair.server.channel.heard_until(pair.now);
            for (int i = 0; i < 100; ++i) {
                pair.now += 2 * kNsPerMs;
                pair.network.advance(pair.now);
                pair.read(pair.client);
                pair.write(pair.client);
                SimDatagram datagram;
                while (pair.server.endpoint.receive(datagram)) arrived.push_back({datagram.bytes, pair.now});
            }
            pair.write(pair.server);
        }
        CHECK((pair.server.channel.stats().packets_lost == 0) == says);
        CHECK(pair.client.reliable.size() == (says ? 1 : 0));
    }
}

TEST_CASE("a hundred thousand packets: sequence numbers wrap, order holds, memory stays bounded") {
    ChannelPair pair(
        7, {.loss = 0.05, .duplicate = 0.02, .reorder = 0.02, .delay = 20 * kNsPerMs, .jitter = 10 * kNsPerMs});
    std::uint64_t sent = 0, received = 0, unreliable = 0;
    const std::uint64_t packets = orrery::test::few() ? 10'000 : 100'000;  // emulated: not as far as the wrap
    while (pair.server.channel.stats().packets_sent < packets) {
        for (int i = 0; i < 3; ++i) {
            // Two to a packet at most, so that packets and not messages are what is exercised.
            CHECK(pair.server.channel.send_unreliable(Message(500, static_cast<std::uint8_t>(i)), sent) ==
                  SendStatus::ok);
        }
        if (pair.server.channel.send_reliable(numbered_message(sent, sent % 700)) == SendStatus::ok) ++sent;
        pair.client.channel.send_unreliable(Message(20), 0);
        pair.step();
        for (const Message& message : pair.client.reliable) {
            REQUIRE(message == numbered_message(received, received % 700));
            ++received;
        }
        unreliable += pair.client.unreliable.size();
        for (auto* end : {&pair.server, &pair.client}) {
            end->reliable.clear();
            end->unreliable.clear();
            end->deliveries.clear();
        }
        REQUIRE(pair.sound());
        REQUIRE(pair.server.channel.unacknowledged_bytes() < 200'000);
    }
    CHECK(sent - received < 100);
    CHECK(received > packets * 3 / 10);
    CHECK(unreliable > packets);
}

TEST_CASE("what one packet has brought is not sent again when another packet with it is lost") {
    StreamSender sender(1'000, 10'000);
    CHECK(sender.append(Message(500, 1)));
    bool resent = false;
    for (int i = 0; i < 5; ++i) sender.sent(sender.next_range(100, resent));
    CHECK(sender.next_range(100, resent) == Interval{500, 502});
    CHECK_FALSE(resent);
    sender.acknowledged({200, 300});
    sender.lost({100, 400});
    CHECK(sender.next_range(1'000, resent) == Interval{100, 200});
    CHECK(resent);
    sender.sent({100, 200});
    CHECK(sender.next_range(50, resent) == Interval{300, 350});
    sender.acknowledged({300, 400});  // it was late, not lost
    CHECK(sender.next_range(100, resent) == Interval{500, 502});
    sender.acknowledged({0, 200});
    CHECK(sender.unacknowledged_bytes() == 102);
    sender.lost({0, 400});
    CHECK(sender.next_range(100, resent) == Interval{500, 502});
    CHECK(sender.piece({500, 502}).size() == 2);
}

TEST_CASE("limits of sending are answers, and leave the channel in order") {
    ChannelConfig config = server_channel_config();
    config.send_queue_bytes = 100'000;
    config.send.max_message_bytes = 50'000;
    config.unreliable_queue_bytes = 3'000;
    ChannelPair pair(8, {.delay = 10 * kNsPerMs}, config);
    Channel& channel = pair.server.channel;
    CHECK(channel.send_reliable(Message(50'001)) == SendStatus::too_large);
    CHECK(channel.send_reliable(Message(50'000, 1)) == SendStatus::ok);
    CHECK(channel.send_reliable(Message(49'000, 2)) == SendStatus::ok);
    CHECK(channel.send_reliable(Message(2'000, 3)) == SendStatus::queue_full);
    CHECK(channel.send_reliable(Message(100, 4)) == SendStatus::ok);
    CHECK(channel.send_unreliable(Message(kMaxUnreliableBytes + 1)) == SendStatus::too_large);
    CHECK(channel.send_unreliable(Message(kMaxUnreliableBytes)) == SendStatus::ok);
    CHECK(channel.send_unreliable(Message(kMaxUnreliableBytes)) == SendStatus::ok);
    CHECK(channel.send_unreliable(Message(kMaxUnreliableBytes)) == SendStatus::queue_full);
    CHECK(channel.stats().unreliable_dropped_sending == 1);
    for (int i = 0; i < 120; ++i) pair.step();
    REQUIRE(pair.client.reliable.size() == 3);
    CHECK(pair.client.reliable[2] == Message(100, 4));
    CHECK(pair.client.unreliable.size() == 2);
    CHECK(channel.send_reliable(Message(50'000)) == SendStatus::ok);
}
