// A peer that is authenticated and means harm: whatever its packets say, a channel does not crash, does not allocate
// by announced sizes, and fails with a name when the peer breaks a rule.
#include <doctest/doctest.h>

#include <algorithm>

#include "protocol/netcode/interval_set.h"
#include "protocol/netcode/wire.h"
#include "tests/protocol/netcode/channel_fixture.h"
#include "tests/support/seed.h"

using namespace orrery::testing;

namespace {

// A packet without acknowledgements.
struct PacketMaker {
    std::array<std::uint8_t, kMaxPayloadBytes> storage{};
    WireWriter to{storage};

    explicit PacketMaker(std::uint16_t sequence) {
        to.u8(0x80);
        to.u16(sequence);
    }
    PacketMaker& stream(std::uint64_t offset, std::uint64_t announced, Bytes bytes) {
        to.u8(2);
        to.varint(offset);
        to.varint(announced);
        to.bytes(bytes);
        return *this;
    }
    PacketMaker& unreliable(std::uint64_t announced, Bytes bytes) {
        to.u8(1);
        to.varint(announced);
        to.bytes(bytes);
        return *this;
    }
    Bytes bytes() const { return Bytes(storage).first(to.size()); }
};

Channel receiver() {
    ChannelConfig config;
    config.receive = {64u << 10, 64u << 10};
    config.receive_queue_bytes = 0;  // raised to what one message and a window need
    return Channel(config);
}

ChannelError error_after(const PacketMaker& packet) {
    Channel channel = receiver();
    const bool good = channel.read_packet(packet.bytes(), 0);
    CHECK(good == (channel.error() == ChannelError::none));
    return channel.error();
}

}  // namespace

TEST_CASE("an over-long last range is refused before a byte of it is copied") {
    const Message bytes(100, 1);
    // It says more than the packet holds.
    CHECK(error_after(PacketMaker(0).stream(0, 101, bytes)) == ChannelError::malformed_packet);
    CHECK(error_after(PacketMaker(0).stream(0, UINT64_MAX, bytes)) == ChannelError::malformed_packet);
    CHECK(error_after(PacketMaker(0).stream(UINT64_MAX, 100, bytes)) == ChannelError::window_exceeded);
    CHECK(error_after(PacketMaker(0).stream(UINT64_MAX - 50, 100, bytes)) == ChannelError::window_exceeded);
    // It ends one byte beyond the window.
    CHECK(error_after(PacketMaker(0).stream((64u << 10) - 99, 100, bytes)) == ChannelError::window_exceeded);
    CHECK(error_after(PacketMaker(0).stream((64u << 10) - 100, 100, bytes)) == ChannelError::none);
    CHECK(error_after(PacketMaker(0).unreliable(101, bytes)) == ChannelError::malformed_packet);
    CHECK(error_after(PacketMaker(0).unreliable(100, bytes)) == ChannelError::none);
    CHECK(error_after(PacketMaker(0).stream(0, 0, {})) == ChannelError::malformed_packet);
}

TEST_CASE("a message that announces too much fails at its head") {
    std::array<std::uint8_t, 10> head;
    WireWriter to(head);
    to.varint((64u << 10) + 1);
    CHECK(error_after(PacketMaker(0).stream(0, to.size(), Bytes(head).first(to.size()))) ==
          ChannelError::message_too_large);
    const Message endless(10, 0xff);
    CHECK(error_after(PacketMaker(0).stream(0, 10, endless)) == ChannelError::message_too_large);
}

TEST_CASE("headers that no honest peer writes fail the channel") {
    const auto error_of = [](const Message& packet) {
        Channel channel = receiver();
        channel.read_packet(packet, 0);
        return channel.error();
    };
    CHECK(error_of({}) == ChannelError::malformed_packet);
    CHECK(error_of({0x80}) == ChannelError::malformed_packet);
    CHECK(error_of({0x80, 1}) == ChannelError::malformed_packet);
    CHECK(error_of({0x80, 1, 0}) == ChannelError::none);
    CHECK(error_of({0x81, 1, 0, 0}) == ChannelError::malformed_packet);        // a vector without an ack
    CHECK(error_of({0xc0, 1, 0, 0, 0, 0}) == ChannelError::malformed_packet);  // acknowledges what was never sent
    CHECK(error_of({0x80, 1, 0, 4}) == ChannelError::malformed_packet);        // an unknown chunk
    CHECK(error_of(Message(kMaxPayloadBytes + 1, 0)) == ChannelError::malformed_packet);
}

TEST_CASE("a failed channel stays failed and says so") {
    Channel channel = receiver();
    CHECK_FALSE(channel.read_packet(Message{}, 0));
    CHECK_FALSE(channel.read_packet(PacketMaker(0).bytes(), 0));
    CHECK(channel.send_reliable(Message(1)) == SendStatus::failed);
    CHECK(channel.send_unreliable(Message(1)) == SendStatus::failed);
    std::array<std::uint8_t, kMaxPayloadBytes> out;
    CHECK(channel.write_packet(0, out) == 0);
    CHECK(channel_error_name(channel.error()) == "malformed packet");
}

TEST_CASE("messages that nobody pops fail the channel at a bound") {
    Channel channel = receiver();
    std::uint64_t offset = 0, total = 0;
    std::uint16_t sequence = 0;
    // Empty messages: the cheapest to send, one byte each.
    const Message zeros(1'000, 0);
    while (channel.read_packet(PacketMaker(sequence).stream(offset, zeros.size(), zeros).bytes(), 0)) {
        ++sequence;
        offset += zeros.size();
        total += zeros.size();
        REQUIRE(total < 1u << 20);
    }
    CHECK(channel.error() == ChannelError::receive_queue_full);
    CHECK(total >= 130'000);
}

TEST_CASE("a stream full of gaps costs a bounded number of intervals, and an honest resend still completes it") {
    Channel channel = receiver();
    const std::uint8_t one = 0;
    // Every second byte of the window, a few to a packet.
    std::uint16_t sequence = 0;
    for (std::uint64_t offset = 2; offset + 1 < 64u << 10; offset += 2) {
        REQUIRE(channel.read_packet(PacketMaker(sequence++).stream(offset, 1, {&one, 1}).bytes(), 0));
    }
    CHECK(channel.stats().packets_received == 1024);
    for (std::uint64_t offset = 0; offset < 60'000; offset += 1'000) {
        REQUIRE(channel.read_packet(PacketMaker(sequence++).stream(offset, 1'000, Message(1'000, 0)).bytes(), 0));
    }
    std::size_t messages = 0;
    Bytes message;
    while (channel.pop_reliable(message)) ++messages;
    CHECK(messages == 60'000);
}

TEST_CASE("tens of thousands of damaged packets never crash a channel") {
    // Honest packets of both directions, recorded; then damaged and given to ends in the same state.
    ChannelPair pair(21, {.loss = 0.1, .duplicate = 0.05, .delay = 30 * kNsPerMs, .jitter = 20 * kNsPerMs});
    std::vector<SimDatagram> recorded;
    pair.network.set_tap([&](const SimDatagram& datagram) { recorded.push_back(datagram); });
    for (int i = 0; i < 60; ++i) {
        pair.server.channel.send_reliable(numbered_message(static_cast<std::uint64_t>(i), 900));
        pair.server.channel.send_unreliable(Message(50), 1);
        pair.client.channel.send_reliable(Message(30));
        pair.step();
    }
    REQUIRE(recorded.size() > 100);
    Random random(orrery::test::seeded(5));
    std::size_t cases = 0, failed = 0;
    ChannelConfig config = server_channel_config();
    config.receive = config.send;
    std::array<std::uint8_t, kMaxPayloadBytes> out;
    for (int round = 0; round < 60; ++round) {
        Channel channel(config);
        TimeNs now = 0;
        for (int i = 0; i < 1'000; ++i) {
            channel.send_reliable(Message(300));
            channel.send_unreliable(Message(30), 7);
            now += 5 * kNsPerMs;
            while (channel.write_packet(now, out) > 0) {
            }
            auto bytes = recorded[random.below(recorded.size())].bytes;
            for (std::uint64_t flips = random.below(3); flips > 0; --flips) {
                bytes[random.below(bytes.size())] ^= static_cast<std::uint8_t>(1u << random.below(8));
            }
            if (random.chance(0.1)) bytes.resize(random.below(bytes.size() + 1));
            ++cases;
            const bool good = channel.read_packet(bytes, now);
            Bytes message;
            while (channel.pop_reliable(message)) {
            }
            while (channel.pop_unreliable(message)) {
            }
            if (!good) {
                ++failed;
                channel = Channel(config);
            }
        }
    }
    CHECK(cases == 60'000);
    CHECK(failed > 1'000);
    CHECK(failed < cases);
}

TEST_CASE("interval sets agree with a plain list of bytes") {
    Random random(orrery::test::seeded(2));
    for (int round = 0; round < 200; ++round) {
        IntervalSet set;
        std::vector<bool> plain(64, false);
        for (int i = 0; i < 40; ++i) {
            std::uint64_t a = random.below(65), b = random.below(65);
            if (a > b) std::swap(a, b);
            const bool add = random.chance(0.6);
            add ? set.insert({a, b}) : set.erase({a, b});
            for (std::uint64_t k = a; k < b; ++k) plain[k] = add;
            std::vector<bool> listed(64, false);
            std::uint64_t last_end = 0;
            bool first = true;
            for (const Interval& part : set.parts()) {
                REQUIRE(part.begin < part.end);
                REQUIRE((first || part.begin > last_end));  // sorted, and neighbours have melted
                first = false;
                last_end = part.end;
                for (std::uint64_t k = part.begin; k < part.end; ++k) listed[k] = true;
            }
            REQUIRE(listed == plain);
        }
    }
}
