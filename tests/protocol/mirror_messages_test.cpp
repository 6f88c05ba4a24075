// Mirror mode without a world: its messages, and that every tick's commands arrive once and in order over a network
// that loses, doubles and reorders.
#include <doctest/doctest.h>

#include <deque>
#include <optional>

#include "protocol/netcode/reliable.h"
#include "protocol/session/mirror_receiver.h"
#include "protocol/session/mirror_sender.h"
#include "tests/support/seed.h"
#include "tests/support/seeded_random.h"

using namespace orrery;
using namespace orrery::protocol;
using testing::Random;
using Buffer = std::vector<std::uint8_t>;

namespace {

sim::Command steer(std::uint16_t slot, float value) {
    std::array<float, sim::kControlChannels> channels{};
    channels[0] = value;
    return sim::Command::control(slot, channels);
}

std::vector<sim::Command> some_commands(Random& random, std::size_t most) {
    std::vector<sim::Command> commands(random.below(most + 1));
    std::uint16_t slot = 0;
    for (sim::Command& command : commands) command = steer(slot++, 0.5f + 0.25f * static_cast<float>(random.below(2)));
    return commands;
}

Buffer coded(std::span<const sim::Command> commands) {
    Buffer out;
    encode_commands(commands, out);
    return out;
}

// A server's sender and a client's receiver with a stream and a lossy way of datagrams between them.
struct MirrorPair {
    MirrorLog log;
    MirrorSender sender;
    MirrorReceiver receiver;
    std::uint64_t tick = 0, stepped = 0;
    std::uint64_t stream_messages = 0;
    std::deque<Buffer> stream, datagrams;
    std::map<std::uint64_t, Buffer> truth;
    InputFeedback feedback;

    void begin(std::size_t state_bytes = 100) {
        ++tick;
        log.add(tick, {}, {{}, tick});
        for (const SharedBytes& message : log.state(tick, 1, 0, [&](Buffer& out) { out.assign(state_bytes, 7); }))
            stream.emplace_back(message.bytes.begin(), message.bytes.end());
        sender.begin(tick);
        deliver_stream();
        std::uint64_t at = 0;
        Buffer state;
        REQUIRE(receiver.take_state(at, state));
        REQUIRE(at == tick);
        REQUIRE(state == Buffer(state_bytes, 7));
        stepped = at;
    }
    void deliver_stream() {
        for (; !stream.empty(); stream.pop_front())
            REQUIRE(receiver.receive(stream.front(), static_cast<MessageType>(stream.front()[0])));
    }
    // Returns the size of the datagram.
    std::size_t serve(std::span<const sim::Command> commands) {
        ++tick;
        log.add(tick, commands, {{}, tick * 1000});
        truth[tick] = coded(commands);
        Buffer message;
        while (sender.next_stream_message(log, message)) {
            stream.push_back(message);
            ++stream_messages;
        }
        sender.datagram(log, feedback, message);
        REQUIRE(message.size() <= kMaxUnreliableBytes);
        datagrams.push_back(message);
        return message.size();
    }
    void step_client() {
        while (const MirrorReceiver::Tick* next = receiver.next()) {
            REQUIRE(receiver.next_tick() == ++stepped);
            REQUIRE(next->coded == truth[stepped]);
            if (next->root) REQUIRE(*next->root == stepped * 1000);
            receiver.pop();
        }
    }
};

}  // namespace

TEST_CASE("a tick without commands takes 12 bytes, and unacknowledged ones before it one byte more") {
    MirrorPair pair;
    pair.begin();
    CHECK(pair.serve({}) == 12);
    pair.sender.acknowledge(pair.tick, pair.log);
    CHECK(pair.serve({}) == 12);
    for (int i = 0; i < 20; ++i) CHECK(pair.serve({}) == 12);  // a run
    const sim::Command command = steer(0, 1.0f);
    pair.serve({&command, 1});
    CHECK(pair.serve({}) == 14 + coded({&command, 1}).size());
    pair.sender.acknowledge(pair.tick, pair.log);
    CHECK(pair.serve({}) == 12);
}

TEST_CASE("feedback about controls comes with the datagrams every few ticks, and at once after a late control") {
    MirrorPair pair;
    pair.begin();
    int with = 0;
    for (std::uint64_t i = 1; i <= 40; ++i) {
        pair.feedback = {i, static_cast<std::int32_t>(i) - 20, 0};
        pair.serve({});
        REQUIRE(pair.receiver.receive_datagram(pair.datagrams.back()));
        if (const std::optional<InputFeedback> told = pair.receiver.take_feedback()) {
            CHECK(*told == pair.feedback);
            ++with;
        }
    }
    CHECK(with == 10);
    for (std::uint32_t late = 1; late <= 3; ++late) {
        pair.feedback.late_inputs = late;
        pair.serve({});
        REQUIRE(pair.receiver.receive_datagram(pair.datagrams.back()));
        CHECK(pair.receiver.take_feedback() == pair.feedback);
    }
}

TEST_CASE("every tick arrives once and in order over a network that loses, doubles and reorders") {
    Random random(test::seeded(1));
    MirrorPair pair;
    pair.begin(100'000);
    std::deque<std::uint64_t> acknowledgements;
    for (int i = 0; i < 3000; ++i) {
        pair.serve(some_commands(random, i % 500 < 250 ? 1 : 40));
        const bool stall = i % 1000 > 700 && i % 1000 < 950;
        if (!stall) {
            if (random.chance(0.2)) pair.deliver_stream();
            while (pair.datagrams.size() > 6) {
                const std::size_t which = random.below(3);
                if (!random.chance(0.3)) REQUIRE(pair.receiver.receive_datagram(pair.datagrams[which]));
                if (!random.chance(0.1)) pair.datagrams.erase(pair.datagrams.begin() + static_cast<int>(which));
            }
            pair.step_client();
            acknowledgements.push_back(pair.receiver.complete_up_to());
            if (acknowledgements.size() > 5) {
                if (!random.chance(0.3)) pair.sender.acknowledge(acknowledgements.front(), pair.log);
                acknowledgements.pop_front();
            }
        } else if (pair.datagrams.size() > 3) {
            pair.datagrams.pop_front();  // lost
        }
    }
    pair.deliver_stream();
    REQUIRE(pair.receiver.receive_datagram(pair.datagrams.back()));
    pair.step_client();
    CHECK(pair.stepped == pair.tick);
    CHECK_FALSE(pair.receiver.overflowed());
}

TEST_CASE("a client that acknowledges nothing gets ticks beyond 64 by the stream, and few messages for them") {
    MirrorPair pair;
    pair.begin();
    for (int i = 0; i < 300; ++i) CHECK(pair.serve({}) <= 12);
    CHECK(pair.stream_messages >= 7);
    CHECK(pair.stream_messages <= 9);
    pair.deliver_stream();
    REQUIRE(pair.receiver.receive_datagram(pair.datagrams.back()));
    pair.step_client();
    CHECK(pair.stepped == pair.tick);
}

TEST_CASE("a client whose ticks the log has forgotten needs a new state") {
    MirrorPair pair;
    pair.begin();
    pair.serve({});
    for (std::uint32_t i = 0; i < 2 * kMirrorLogCommandTicks; ++i) {  // the room did not send
        ++pair.tick;
        pair.log.add(pair.tick, {}, {{}, pair.tick * 1000});
    }
    Buffer message;
    CHECK_FALSE(pair.sender.next_stream_message(pair.log, message));
    CHECK(pair.sender.lost());
    for (const SharedBytes& part : pair.log.state(pair.tick, 1, 0, [](Buffer& out) { out.assign(10, 1); }))
        pair.stream.emplace_back(part.bytes.begin(), part.bytes.end());
    pair.sender.begin(pair.tick);
    CHECK_FALSE(pair.sender.lost());
    pair.deliver_stream();
    Buffer state;
    REQUIRE(pair.receiver.take_state(pair.stepped, state));
    CHECK(pair.serve({}) == 12);
    REQUIRE(pair.receiver.receive_datagram(pair.datagrams.back()));
    pair.step_client();
    CHECK(pair.stepped == pair.tick);
}

TEST_CASE("a tick too large for a datagram goes by the stream, and its hash by the datagram") {
    MirrorPair pair;
    pair.begin();
    std::vector<sim::Command> many;
    for (std::uint16_t slot = 0; slot < 200; ++slot) many.push_back(steer(slot, 0.5f));
    CHECK(pair.serve(many) == kTickCommandsHeadBytes);
    CHECK(pair.stream_messages == 1);
    pair.deliver_stream();
    REQUIRE(pair.receiver.receive_datagram(pair.datagrams.back()));
    REQUIRE(pair.receiver.next());
    CHECK(pair.receiver.next()->root == pair.tick * 1000);
    pair.step_client();
    CHECK(pair.stepped == pair.tick);
}

TEST_CASE("a new state drops the ticks up to its own and keeps those after it") {
    MirrorPair pair;
    pair.begin();
    for (int i = 0; i < 10; ++i) pair.serve({});
    REQUIRE(pair.receiver.receive_datagram(pair.datagrams.back()));
    for (const SharedBytes& message : pair.log.state(pair.tick - 4, 1, 0, [](Buffer& out) { out.assign(10, 1); }))
        REQUIRE(pair.receiver.receive(message.bytes, static_cast<MessageType>(message.bytes[0])));
    std::uint64_t at = 0;
    Buffer state;
    REQUIRE(pair.receiver.take_state(at, state));
    CHECK(pair.receiver.next_tick() == pair.tick - 3);
    pair.stepped = at;
    pair.step_client();
    CHECK(pair.stepped == pair.tick);
}

TEST_CASE("what waits at a mirror is bounded") {
    MirrorPair pair;
    pair.begin();
    for (std::size_t i = 0; i < kMaxPendingMirrorTicks + 100; ++i) {
        pair.serve({});
        REQUIRE(pair.receiver.receive_datagram(pair.datagrams.back()));
        pair.datagrams.clear();
    }
    CHECK(pair.receiver.overflowed());
    CHECK(pair.receiver.complete_up_to() == 1 + kMaxPendingMirrorTicks);
}

TEST_CASE("damaged messages of mirror mode are refused or harmless") {
    Random random(test::seeded(2));
    std::vector<Buffer> messages;
    MirrorPair pair;
    pair.begin();
    pair.feedback = {5, -7, 2};
    pair.serve(some_commands(random, 5));
    pair.serve({});
    messages.push_back(pair.datagrams.back());
    for (int i = 0; i < 80; ++i) pair.serve(some_commands(random, 2));
    messages.push_back(pair.stream.front());
    messages.push_back(pair.datagrams.back());
    write_message(MirrorBegin{9, 1000}, messages.emplace_back());
    messages.push_back({static_cast<std::uint8_t>(MessageType::mirror_part), 1, 2, 3});
    write_message(MirrorLeaves{9, std::array<std::uint64_t, sim::kSubsystemCount>{1, 2, 3}}, messages.emplace_back());
    for (int i = 0; i < 20'000; ++i) {
        Buffer damaged = messages[random.below(messages.size())];
        for (std::size_t n = 1 + random.below(3); n > 0; --n) {
            if (random.chance(0.3) && damaged.size() > 1) damaged.resize(1 + random.below(damaged.size() - 1));
            damaged[random.below(damaged.size())] = static_cast<std::uint8_t>(random.below(256));
            if (random.chance(0.1)) damaged.push_back(static_cast<std::uint8_t>(random.below(256)));
        }
        MirrorReceiver receiver;
        receiver.receive(messages[3], MessageType::mirror_begin);
        receiver.receive(damaged, static_cast<MessageType>(damaged[0]));
        receiver.receive_datagram(damaged);
        std::vector<sim::Command> commands;
        for (; receiver.next(); receiver.pop()) decode_commands(receiver.next()->coded, commands);
        MirrorReport report;
        read_message(damaged, report);
    }
}

TEST_CASE("messages of mirror mode out of their order are refused") {
    MirrorReceiver receiver;
    Buffer begin, other, part{static_cast<std::uint8_t>(MessageType::mirror_part), 1, 2};
    write_message(MirrorBegin{9, 2}, begin);
    write_message(MirrorBegin{8, 2}, other);
    CHECK_FALSE(receiver.receive(part, MessageType::mirror_part));
    CHECK(receiver.receive(begin, MessageType::mirror_begin));
    CHECK_FALSE(receiver.receive(begin, MessageType::mirror_begin));  // the first state is not whole
    CHECK(receiver.receive(part, MessageType::mirror_part));
    CHECK_FALSE(receiver.receive(part, MessageType::mirror_part));
    CHECK_FALSE(receiver.receive(other, MessageType::mirror_begin));  // older than the first
    CHECK(receiver.receive(begin, MessageType::mirror_begin));
    Buffer huge;
    write_message(MirrorBegin{9, static_cast<std::uint32_t>(kMaxMirrorStateBytes + 1)}, huge);
    MirrorReceiver another;
    CHECK_FALSE(another.receive(huge, MessageType::mirror_begin));
}
