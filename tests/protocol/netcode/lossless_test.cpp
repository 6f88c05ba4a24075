// Contract: over an ordered lossless stream a channel sends each byte once, however long the stream stands still, gives
// memory back as acknowledgements come, measures the round trip, and ends at what such a stream cannot bring.
#include <doctest/doctest.h>

#include "protocol/netcode/wire.h"
#include "tests/protocol/netcode/channel_fixture.h"
#include "tests/support/sim_stream.h"

using namespace orrery::testing;

namespace {

constexpr TimeNs kTick = kNsPerSecond / 60;

struct StreamPair {
    struct End {
        Channel channel;
        SimStream out;
        std::vector<Message> reliable{}, unreliable{}, game{};
        std::vector<Delivery> deliveries{};
        std::uint64_t packets = 0;
    };

    explicit StreamPair(TimeNs delay = 25 * kNsPerMs, double bytes_per_s = 2.5e6)
        : server{Channel(server_channel_config(true)), SimStream(delay, bytes_per_s)},
          client{Channel(client_channel_config(true)), SimStream(delay, bytes_per_s)} {}

    void read(End& end, SimStream& in) {
        Message packet;
        while (in.receive(packet, now)) end.channel.read_packet(packet, now);
        Bytes bytes;
        while (end.channel.pop_reliable(bytes)) end.reliable.emplace_back(bytes.begin(), bytes.end());
        while (end.channel.pop_reliable(bytes, StreamId::game)) end.game.emplace_back(bytes.begin(), bytes.end());
        while (end.channel.pop_unreliable(bytes)) end.unreliable.emplace_back(bytes.begin(), bytes.end());
        Delivery delivery;
        while (end.channel.next_delivery(delivery)) end.deliveries.push_back(delivery);
    }
    void write(End& end) {
        std::array<std::uint8_t, kMaxPayloadBytes> packet;
        while (end.out.ready(now)) {
            const std::size_t size = end.channel.write_packet(now, packet);
            if (size == 0) return;
            end.out.send(Bytes(packet).first(size), now);
            ++end.packets;
        }
    }
    void step() {
        now += kTick;
        read(server, client.out);
        read(client, server.out);
        write(server);
        write(client);
    }
    void run(double seconds) {
        for (const TimeNs end = now + static_cast<TimeNs>(seconds * 1e9); now < end;) step();
    }
    // In both directions, from now on.
    void stall(double seconds) {
        const TimeNs until = now + static_cast<TimeNs>(seconds * 1e9);
        server.out.stall(now, until);
        client.out.stall(now, until);
    }
    bool sound() const {
        return server.channel.error() == ChannelError::none && client.channel.error() == ChannelError::none;
    }

    TimeNs now = kNsPerSecond;
    End server, client;
};

// A packet that asks for an acknowledgement, with a range of the session stream at each of `offsets`.
Message range_packet(std::uint16_t sequence, std::initializer_list<std::uint64_t> offsets) {
    Message packet(kMaxPayloadBytes);
    WireWriter to(packet);
    to.u8(0x80);
    to.u16(sequence);
    for (const std::uint64_t offset : offsets) {
        to.u8(2);
        to.varint(offset);
        to.varint(10);
        to.bytes(Message(10, 0));  // empty messages
    }
    packet.resize(to.size());
    return packet;
}

}  // namespace

TEST_CASE("lossless: messages of both streams arrive whole and in order over stalls of seconds, each byte sent once") {
    StreamPair pair;
    std::vector<Message> down, game_down, up;
    std::size_t down_bytes = 0;
    for (int i = 0; i < 900; ++i) {
        if (i == 60 || i == 400) pair.stall(i == 60 ? 1.5 : 5.0);
        const auto number = static_cast<std::uint64_t>(i);
        down.push_back(numbered_message(number, i % 100 == 0 ? 60'000 : 700));
        game_down.push_back(numbered_message(number + 1'000, 300));
        up.push_back(numbered_message(number + 2'000, 100));
        down_bytes += down.back().size() + game_down.back().size();
        REQUIRE(pair.server.channel.send_reliable(down.back()) == SendStatus::ok);
        REQUIRE(pair.server.channel.send_reliable(game_down.back(), StreamId::game) == SendStatus::ok);
        REQUIRE(pair.client.channel.send_reliable(up.back()) == SendStatus::ok);
        pair.step();
        REQUIRE(pair.sound());
    }
    pair.run(2.0);
    CHECK(pair.client.reliable == down);
    CHECK(pair.client.game == game_down);
    CHECK(pair.server.reliable == up);
    for (const auto* end : {&pair.server, &pair.client}) {
        const ChannelStats& stats = end->channel.stats();
        CHECK(stats.stream_bytes_resent == 0);
        CHECK(stats.packets_lost == 0);
        CHECK(stats.loss == 0.0);
        CHECK(end->channel.unacknowledged_bytes() == 0);
        CHECK(end->channel.unacknowledged_bytes(StreamId::game) == 0);
        CHECK(end->channel.unacknowledged_for(pair.now) == 0);
    }
    // Heads, acknowledgements and probes; nothing of the streams twice.
    CHECK(pair.server.out.bytes_sent < down_bytes * 103 / 100 + 20'000);
}

TEST_CASE("lossless: a key frame of 3 MB takes the time that the stream needs") {
    StreamPair pair(25 * kNsPerMs, 2.5e6);
    const Message frame = numbered_message(1, 3u << 20);
    REQUIRE(pair.server.channel.send_reliable(frame) == SendStatus::ok);
    const TimeNs begun = pair.now;
    while (pair.client.reliable.empty() && pair.now < begun + 10 * kNsPerSecond) pair.step();
    REQUIRE(pair.client.reliable.size() == 1);
    CHECK(pair.client.reliable[0] == frame);
    const double seconds = static_cast<double>(pair.now - begun) * 1e-9;
    MESSAGE("3 MiB over a lossless stream of 2.5 MB/s: " << seconds << " s");
    CHECK(seconds < 1.15 * (3u << 20) / 2.5e6 + 0.2);
}

TEST_CASE("lossless: the round trip is measured, with what waits in the stream") {
    StreamPair pair(40 * kNsPerMs);
    for (int i = 0; i < 300; ++i) {
        pair.server.channel.send_unreliable(Message(300), 1);
        pair.client.channel.send_unreliable(Message(30), 1);
        pair.step();
    }
    const ChannelStats& stats = pair.server.channel.stats();
    CHECK(stats.rtt_min_s >= 0.08);
    CHECK(stats.rtt_s < 0.125);  // each end looks every 16.7 ms
    CHECK(pair.server.deliveries.size() > 280);
    for (const Delivery& delivery : pair.server.deliveries) CHECK(delivery.acknowledged);
}

TEST_CASE("lossless: unacknowledged_for grows while the stream stands still, and the channel is quiet after 2 s") {
    StreamPair pair;
    const auto tick = [&] {
        pair.server.channel.send_unreliable(Message(600), 1);
        pair.step();
    };
    for (int i = 0; i < 60; ++i) tick();
    CHECK(pair.server.channel.unacknowledged_for(pair.now) < 150 * kNsPerMs);
    pair.stall(4.0);
    for (int i = 0; i < 90; ++i) tick();
    CHECK(pair.server.channel.unacknowledged_for(pair.now) > 1'300 * kNsPerMs);
    CHECK_FALSE(pair.server.channel.quiet(pair.now));
    for (int i = 0; i < 60; ++i) tick();
    CHECK(pair.server.channel.quiet(pair.now));
    const std::uint64_t packets = pair.server.packets;
    for (int i = 0; i < 60; ++i) tick();
    CHECK(pair.server.packets <= packets + 1);  // a probe a second
    for (int i = 0; i < 60; ++i) tick();
    CHECK_FALSE(pair.server.channel.quiet(pair.now));  // the first acknowledgement after the stall ends it
    CHECK(pair.server.channel.unacknowledged_for(pair.now) < 150 * kNsPerMs);
    CHECK(pair.sound());
}

TEST_CASE("lossless: what is still on its way stays owed after an acknowledgement of something before it") {
    Channel server(server_channel_config(true)), client(client_channel_config(true));
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    server.send_unreliable(Message(10), 1);
    std::size_t size = server.write_packet(0, packet);
    REQUIRE(client.read_packet(Bytes(packet).first(size), kNsPerMs));
    server.send_unreliable(Message(10), 2);
    REQUIRE(server.write_packet(kNsPerMs, packet) > 0);  // it stands in the stream
    size = client.write_packet(50 * kNsPerMs, packet);
    REQUIRE(size > 0);
    REQUIRE(server.read_packet(Bytes(packet).first(size), 60 * kNsPerMs));
    CHECK(server.unacknowledged_for(60 * kNsPerMs) == 0);
    CHECK(server.unacknowledged_for(2'060 * kNsPerMs) == 2'000 * kNsPerMs);
    CHECK(server.quiet(2'060 * kNsPerMs));
}

TEST_CASE("lossless: acknowledgements free a stream although more packets are on their way than are remembered") {
    ChannelConfig config = server_channel_config(true);
    config.guard = false;  // which would stop long before
    Channel server(config), client(client_channel_config(true));
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    std::vector<Message> stream;
    TimeNs now = 0;
    REQUIRE(server.send_reliable(Message(5'000, 1)) == SendStatus::ok);
    for (int i = 0; i < 3'000; ++i) {
        now += kNsPerMs;
        server.send_unreliable(Message(20), static_cast<std::uint64_t>(i));
        if (i == 1'500) REQUIRE(server.send_reliable(Message(5'000, 2)) == SendStatus::ok);
        while (const std::size_t size = server.write_packet(now, packet))
            stream.emplace_back(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
    }
    CHECK(stream.size() >= 3'000);
    for (const Message& one : stream) REQUIRE(client.read_packet(one, now));
    now += 25 * kNsPerMs;
    const std::size_t size = client.write_packet(now, packet);
    REQUIRE(size > 0);
    REQUIRE(server.read_packet(Bytes(packet).first(size), now));
    CHECK(server.unacknowledged_bytes() == 0);
    CHECK(server.stats().stream_bytes_resent == 0);
    std::size_t acknowledged = 0, given_up = 0;
    Delivery delivery;
    while (server.next_delivery(delivery)) ++(delivery.acknowledged ? acknowledged : given_up);
    CHECK(acknowledged + given_up == 3'000);
    CHECK(acknowledged >= 1'000);
}

TEST_CASE("lossless: packets and ranges that are not the next ones end the channel") {
    const auto error_after = [](std::initializer_list<Message> packets) {
        Channel channel(server_channel_config(true));
        for (const Message& packet : packets) channel.read_packet(packet, 0);
        return channel.error();
    };
    CHECK(error_after({range_packet(0, {0}), range_packet(1, {10})}) == ChannelError::none);
    CHECK(error_after({range_packet(1, {0})}) == ChannelError::out_of_order);
    CHECK(error_after({range_packet(0, {0}), range_packet(2, {10})}) == ChannelError::out_of_order);
    CHECK(error_after({range_packet(0, {0}), range_packet(0, {0})}) == ChannelError::out_of_order);
    CHECK(error_after({range_packet(0, {0}), range_packet(65'535, {10})}) == ChannelError::out_of_order);
    CHECK(error_after({range_packet(0, {0}), range_packet(1, {11})}) == ChannelError::out_of_order);
    CHECK(error_after({range_packet(0, {0}), range_packet(1, {9})}) == ChannelError::out_of_order);
    CHECK(error_after({range_packet(0, {0, 10})}) == ChannelError::none);
    CHECK(error_after({range_packet(0, {0, 11})}) == ChannelError::out_of_order);
    CHECK(error_after({range_packet(0, {UINT64_MAX - 4})}) == ChannelError::window_exceeded);
    // An acknowledgement of a packet that was never sent.
    CHECK(error_after({{0x40, 0, 0, 5, 0, 0}}) == ChannelError::malformed_packet);
}

TEST_CASE("lossless: sequence numbers wrap, and memory stays bounded") {
    StreamPair pair;
    std::uint64_t sent = 0, received = 0;
    while (pair.server.channel.stats().packets_sent < 70'000) {
        for (int i = 0; i < 12; ++i) pair.server.channel.send_unreliable(Message(1'000), sent);
        REQUIRE(pair.server.channel.send_reliable(numbered_message(sent, 100)) == SendStatus::ok);
        ++sent;
        pair.step();
        for (const Message& message : pair.client.reliable) REQUIRE(message == numbered_message(received++, 100));
        for (auto* end : {&pair.server, &pair.client}) {
            end->reliable.clear();
            end->unreliable.clear();
            end->deliveries.clear();
        }
        REQUIRE(pair.sound());
        REQUIRE(pair.server.channel.unacknowledged_bytes() < 10'000);
    }
    CHECK(sent - received < 30);
}
