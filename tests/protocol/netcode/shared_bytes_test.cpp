// Contract: a message that many channels send is kept once, until the last of them has had it acknowledged.
#include <doctest/doctest.h>

#include "protocol/netcode/stream_sender.h"
#include "tests/protocol/netcode/channel_fixture.h"
#include "tests/support/seed.h"

using namespace orrery::testing;

TEST_CASE("ten channels that send one message of 3 MB hold one copy, and let it go when it is acknowledged") {
    const auto owner = std::make_shared<const Message>(numbered_message(1, 3u << 20));
    std::vector<std::unique_ptr<ChannelPair>> pairs;
    for (std::uint64_t i = 0; i < 10; ++i) {
        pairs.push_back(
            std::make_unique<ChannelPair>(orrery::test::seeded(i + 1), SimLink{.loss = 0.02, .delay = 10 * kNsPerMs}));
        Channel& channel = pairs.back()->server.channel;
        const Bytes all(*owner);
        const std::size_t half = all.size() / 2;
        REQUIRE(channel.send_reliable(SharedBytes{owner, all.first(half)}) == SendStatus::ok);
        REQUIRE(channel.send_reliable(Message(100, 7)) == SendStatus::ok);
        REQUIRE(channel.send_reliable(SharedBytes{owner, all.subspan(half)}) == SendStatus::ok);
        CHECK(channel.own_bytes() < 2'000);
        CHECK(channel.unacknowledged_bytes() > owner->size());
    }
    CHECK(owner.use_count() == 21);
    for (auto& pair : pairs) {
        while (pair->server.channel.unacknowledged_bytes() > 0 && pair->seconds() < 60.0) {
            pair->step();
            REQUIRE(pair->server.channel.own_bytes() < 2'000);
        }
        REQUIRE(pair->client.reliable.size() == 3);
        Message received = pair->client.reliable[0];
        received.insert(received.end(), pair->client.reliable[2].begin(), pair->client.reliable[2].end());
        CHECK(received == *owner);
        CHECK(pair->client.reliable[1] == Message(100, 7));
    }
    CHECK(owner.use_count() == 1);
}

TEST_CASE("own messages give their memory back piece by piece as they are acknowledged") {
    StreamSender sender(1u << 20, 8u << 20);
    REQUIRE(sender.append(Bytes(Message(4u << 20, 1))));
    CHECK(sender.own_bytes() > 4u << 20);
    bool resent = false;
    for (int i = 0; i < 3'000; ++i) {
        const Interval range = sender.next_range(1'000, resent);
        sender.sent(range);
        sender.acknowledged(range);
    }
    CHECK(sender.unacknowledged_bytes() < 1'300'000);
    CHECK(sender.own_bytes() < 1'500'000);
}

TEST_CASE("a stream of own and shared messages of every size reads as they were appended") {
    const std::uint64_t seed = orrery::test::seeded(3);
    CAPTURE(seed);
    Random random(seed);
    StreamSender sender(1u << 20, 4u << 20);
    Message expected, read;
    for (int i = 0; i < 400; ++i) {
        const Message message = numbered_message(random.next(), random.below(i % 10 == 0 ? 9'000 : 700));
        std::uint64_t size = message.size();
        for (; size >= 0x80; size >>= 7) expected.push_back(static_cast<std::uint8_t>(size | 0x80));
        expected.push_back(static_cast<std::uint8_t>(size));
        expected.insert(expected.end(), message.begin(), message.end());
        if (random.chance(0.5)) {
            const auto owner = std::make_shared<const Message>(message);
            REQUIRE(sender.append(SharedBytes{owner, Bytes(*owner)}));
        } else {
            REQUIRE(sender.append(Bytes(message)));
        }
        while (random.chance(0.6) && sender.has_data_to_send()) {
            bool resent = false;
            const Interval range = sender.next_range(1 + random.below(3'000), resent);
            sender.sent(range);
            for (Interval rest = range; rest.size() > 0;) {
                const Bytes piece = sender.piece(rest);
                REQUIRE(piece.size() > 0);
                read.insert(read.end(), piece.begin(), piece.end());
                rest.begin += piece.size();
            }
            sender.acknowledged(range);
        }
    }
    REQUIRE(read.size() > 100'000);
    expected.resize(read.size());
    CHECK(read == expected);
}
