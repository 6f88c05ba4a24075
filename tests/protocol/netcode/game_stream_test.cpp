// The second reliable stream of a channel: its messages arrive whole, once and in order, and do not wait behind what
// the first stream carries.
#include <doctest/doctest.h>

#include <vector>

#include "protocol/netcode/wire.h"
#include "tests/protocol/netcode/channel_fixture.h"
#include "tests/support/seed.h"

using namespace orrery::testing;

namespace {

constexpr SimLink kBadLink{
    .loss = 0.05, .duplicate = 0.02, .reorder = 0.02, .delay = 45 * kNsPerMs, .jitter = 10 * kNsPerMs};

// A packet with one range of the game stream, without acknowledgements.
Message game_range(std::uint16_t sequence, std::uint64_t offset, const Message& bytes) {
    Message packet(kMaxPayloadBytes);
    WireWriter to(packet);
    to.u8(0x80);
    to.u16(sequence);
    to.u8(3);
    to.varint(offset);
    to.varint(bytes.size());
    to.bytes(bytes);
    packet.resize(to.size());
    return packet;
}

}  // namespace

TEST_CASE("messages of both streams arrive whole, once and in the order of their stream, both ways") {
    for (std::uint64_t n = 1; n <= 5; ++n) {
        const std::uint64_t seed = orrery::test::seeded(n);
        CAPTURE(seed);
        ChannelPair pair(
            seed, {.loss = 0.2, .duplicate = 0.1, .reorder = 0.1, .delay = 30 * kNsPerMs, .jitter = 40 * kNsPerMs});
        Random random(seed);
        std::vector<Message> down, up, game_down, game_up;
        for (int i = 0; i < 300; ++i) {
            const std::size_t sizes[] = {0, 1, 127, 128, 300, 1'150, 1'200, 5'000, 16'383, 60'000};
            down.push_back(numbered_message(random.next(), sizes[random.below(9)]));
            game_down.push_back(numbered_message(random.next(), sizes[random.below(i % 16 == 0 ? 10 : 8)]));
            up.push_back(numbered_message(random.next(), random.below(200)));
            game_up.push_back(numbered_message(random.next(), random.below(900)));
            CHECK(pair.server.channel.send_reliable(down.back()) == SendStatus::ok);
            CHECK(pair.server.channel.send_reliable(game_down.back(), StreamId::game) == SendStatus::ok);
            CHECK(pair.client.channel.send_reliable(up.back()) == SendStatus::ok);
            CHECK(pair.client.channel.send_reliable(game_up.back(), StreamId::game) == SendStatus::ok);
            pair.step();
        }
        for (int i = 0; i < 60 * 60 && (pair.client.reliable.size() < 300 || pair.server.reliable.size() < 300 ||
                                        pair.client.game.size() < 300 || pair.server.game.size() < 300);
             ++i) {
            pair.step();
        }
        CHECK(pair.client.reliable == down);
        CHECK(pair.server.reliable == up);
        CHECK(pair.client.game == game_down);
        CHECK(pair.server.game == game_up);
        CHECK(pair.sound());
        for (int i = 0; i < 300; ++i) pair.step();
        for (const StreamId stream : {StreamId::session, StreamId::game}) {
            CHECK(pair.server.channel.unacknowledged_bytes(stream) == 0);
            CHECK(pair.client.channel.unacknowledged_bytes(stream) == 0);
        }
    }
}

TEST_CASE("a game message arrives within a few round trips while a key frame of 5 MB is on its way") {
    ChannelConfig config = server_channel_config();
    config.rate = fixed_rate(512.0 * 1024);
    ChannelPair pair(12, kBadLink, config);
    const Message frame = numbered_message(1, 5u << 20);
    REQUIRE(pair.server.channel.send_reliable(frame) == SendStatus::ok);
    REQUIRE(pair.server.channel.send_reliable(Message(100, 7)) == SendStatus::ok);  // behind the frame
    for (int i = 0; i < 60; ++i) pair.step();
    std::vector<TimeNs> sent_at;
    double longest_s = 0.0, total_s = 0.0;
    while (pair.client.reliable.empty() && pair.seconds() < 30.0) {
        if (sent_at.size() < 500) {
            const Message message = numbered_message(sent_at.size(), 200);
            REQUIRE(pair.server.channel.send_reliable(message, StreamId::game) == SendStatus::ok);
            sent_at.push_back(pair.now);
        }
        const std::size_t known = pair.client.game.size();
        pair.step();
        for (std::size_t i = known; i < pair.client.game.size(); ++i) {
            REQUIRE(pair.client.game[i] == numbered_message(i, 200));
            const double took_s = static_cast<double>(pair.now - sent_at[i]) * 1e-9;
            longest_s = std::max(longest_s, took_s);
            total_s += took_s;
        }
    }
    REQUIRE(pair.client.game.size() == 500);
    const double round_trip_s = pair.server.channel.stats().rtt_s;
    CHECK(longest_s < 6 * round_trip_s);
    CHECK(total_s / 500 < 1.5 * round_trip_s);
    // The frame took as long as its bytes need, and what stood behind it came after it.
    CHECK(pair.seconds() > 9.0);
    CHECK(pair.seconds() < 14.0);
    for (int i = 0; i < 120; ++i) pair.step();
    REQUIRE(pair.client.reliable.size() == 2);
    CHECK(pair.client.reliable[0] == frame);
    MESSAGE("messages beside 5 MiB: " << total_s / 500 << " s on average, " << longest_s << " s at most; round trip "
                                      << round_trip_s << " s; the frame took " << pair.seconds() << " s");
}

TEST_CASE("limits of the game stream are answers, and the session stream goes on") {
    ChannelPair pair(13, {.delay = 10 * kNsPerMs});
    Channel& client = pair.client.channel;
    CHECK(client.send_reliable(Message((60u << 10) + 1), StreamId::game) == SendStatus::too_large);
    for (int i = 0; i < 4; ++i) CHECK(client.send_reliable(Message(60u << 10, 1), StreamId::game) == SendStatus::ok);
    CHECK(client.send_reliable(Message(60u << 10, 2), StreamId::game) == SendStatus::queue_full);
    CHECK(client.send_reliable(Message(60u << 10, 3)) == SendStatus::ok);
    for (int i = 0; i < 240; ++i) pair.step();
    CHECK(pair.server.game.size() == 4);
    CHECK(pair.server.reliable.size() == 1);
    CHECK(client.send_reliable(Message(60u << 10, 2), StreamId::game) == SendStatus::ok);
}

TEST_CASE("game messages that nobody pops fail the channel by name, at a bound") {
    Channel channel(server_channel_config());
    std::uint64_t offset = 0;
    std::uint16_t sequence = 0;
    const Message zeros(1'000, 0);  // empty messages
    while (channel.read_packet(game_range(sequence, offset, zeros), 0)) {
        ++sequence;
        offset += zeros.size();
        REQUIRE(offset < 1u << 20);
    }
    CHECK(channel.error() == ChannelError::game_queue_full);
    CHECK(offset >= 256u << 10);
}

TEST_CASE("a range beyond the window of the game stream, or a message beyond its limit, fails the channel") {
    const auto error_after = [](std::uint64_t offset, const Message& bytes) {
        Channel channel(server_channel_config());
        channel.read_packet(game_range(0, offset, bytes), 0);
        return channel.error();
    };
    CHECK(error_after((64u << 10) - 100, Message(100)) == ChannelError::none);
    CHECK(error_after((64u << 10) - 99, Message(100)) == ChannelError::window_exceeded);
    CHECK(error_after(UINT64_MAX - 50, Message(100)) == ChannelError::window_exceeded);
    Message head(3);
    WireWriter to(head);
    to.varint((60u << 10) + 1);
    CHECK(error_after(0, head) == ChannelError::message_too_large);
}
