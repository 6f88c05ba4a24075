// Authenticated strangers: clients (and servers) that hold valid keys and send what no program of ours would. The room
// must go on, drop them with a reason, and never crash.
#include <doctest/doctest.h>

#include <random>

#include "tests/support/session_pair.h"
#include "tests/support/sim_room.h"

using namespace orrery;
using namespace orrery::protocol;
using namespace orrery::testing;

namespace {

using Buffer = std::vector<std::uint8_t>;

Buffer damage(std::mt19937& random, const Buffer& from) {
    Buffer out = from;
    const auto how = random() % 4;
    if (how == 0) out.resize(random() % out.size());
    for (std::uint32_t i = 0; i < 1 + random() % 8 && !out.empty(); ++i) {
        out[random() % out.size()] ^= static_cast<std::uint8_t>(how == 1 ? random() : 1u << (random() % 8));
    }
    return out;
}

// A peer that frames its messages correctly and fills them with what it likes.
Buffer some_message(std::mt19937& random, const std::vector<Buffer>& good) {
    if (random() % 8 == 0) {
        Buffer noise(random() % 300);
        for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
        return noise;
    }
    return damage(random, good[random() % good.size()]);
}

enum class Way { session, game, unreliable };
Way some_way(std::mt19937& random) { return static_cast<Way>(random() % 3); }

std::vector<Buffer> client_messages() {
    MessageWriter writer;
    std::vector<Buffer> out;
    const auto add = [&](Bytes bytes) { out.emplace_back(bytes.begin(), bytes.end()); };
    add(writer.write(default_client_hello()));
    add(writer.write(KeyFrameReady{1}));
    Input input;
    input.first_tick = 5;
    input.snapshots = {3, 7};
    input.controls.resize(6);
    add(writer.write(input));
    add(writer.write(GameMessage{1, Buffer(40, 2)}));
    add(writer.write(SceneRequest{}));
    return out;
}

WorldEvents some_events() {
    WorldEvents out;
    out.tick = 3;
    out.events.resize(3);
    return out;
}

std::vector<Buffer> server_messages() {
    MessageWriter writer;
    std::vector<Buffer> out;
    const auto add = [&](Bytes bytes) { out.emplace_back(bytes.begin(), bytes.end()); };
    SessionPair pair;
    add(writer.write(pair.room.hello));
    KeyFrameBegin begin;
    begin.tick = 1;
    begin.body_count = 40;
    begin.shapes.resize(3);
    add(writer.write(begin));
    for (const KeyFrameBodies& part : make_key_frame(pair.world, {}, pair.codec)) add(writer.write(part));
    add(writer.write(BodiesChanged{2, {{{50, 0}, 1, 0, sim::BodyType::dynamic}}, {{3, 0}}}));
    add(writer.write(Slip{3, 100}));
    add(writer.write(GameMessage{1, Buffer(40, 2)}));
    add(writer.write(BoardState{2, {{"a", {1, 2, 3}}, {"b", {}}}}));
    add(writer.write(BoardChange{3, {"a", {5}}, false}));
    add(writer.write(BoardChange{4, {"b", {}}, true}));
    add(writer.write(some_events()));
    add(writer.write(ScenePart{0, 20, Buffer(20, 2)}));
    SnapshotSender sender(pair.codec);
    sender.start(pair.world);
    for (auto& body : pair.bodies) body.pose.position.x += 1.0f;
    pair.world.update(1, pair.bodies);
    Snapshot snapshot;
    snapshot.tick = 1;
    (void)sender.encode(pair.world, 0, 1000, snapshot.coded);
    add(writer.write(snapshot));
    return out;
}

// Channel packets that hold `message`, unreliable or as the next of a reliable stream.
std::vector<Buffer> packets_with(Channel& channel, const Buffer& message, Way way, TimeNs now) {
    if (way == Way::unreliable)
        (void)channel.send_unreliable(message);
    else
        (void)channel.send_reliable(message, way == Way::game ? StreamId::game : StreamId::session);
    std::vector<Buffer> out;
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    while (const std::size_t size = channel.write_packet(now, packet)) {
        out.emplace_back(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
    }
    return out;
}

}  // namespace

TEST_CASE("damaged packets end a session at worst, at either end") {
    std::mt19937 random(1);
    int ended = 0;
    for (int n = 0; n < 400; ++n) {
        SessionPair pair;
        pair.warm_up();
        for (int i = 0; i < 10; ++i) {
            pair.server->receive_packet(damage(random, pair.to_server[random() % pair.to_server.size()]), pair.now);
            pair.client->receive_packet(damage(random, pair.to_client[random() % pair.to_client.size()]), pair.now);
            pair.step();
        }
        ended += pair.server->state() != ServerSession::State::playing ? 1 : 0;
    }
    CHECK(ended > 0);
}

TEST_CASE("a client that sends damaged messages is sent away, and no message of it does harm") {
    std::mt19937 random(2);
    const std::vector<Buffer> good = client_messages();
    int ended = 0;
    for (int n = 0; n < 1500; ++n) {
        SessionPair pair;
        Channel channel(client_channel_config());
        if (n % 2 == 0) {  // past the hello
            for (const Buffer& packet : packets_with(channel, good[0], Way::session, pair.now))
                pair.server->receive_packet(packet, pair.now);
        }
        for (int i = 0; i < 8; ++i) {
            const Buffer message = some_message(random, good);
            for (const Buffer& packet : packets_with(channel, message, some_way(random), pair.now)) {
                pair.server->receive_packet(packet, pair.now);
            }
            pair.step(false, false);
            channel.read_packet(pair.to_client.empty() ? Buffer{0} : pair.to_client.back(), pair.now);
        }
        const auto state = pair.server->state();
        ended += state == ServerSession::State::closing || state == ServerSession::State::closed ? 1 : 0;
    }
    CHECK(ended > 500);
}

TEST_CASE("a server that sends damaged messages costs a client its session, no more") {
    std::mt19937 random(3);
    const std::vector<Buffer> good = server_messages();
    int ended = 0;
    for (int n = 0; n < 1500; ++n) {
        SessionPair pair;
        Channel channel(server_channel_config());
        const auto deliver = [&](const Buffer& message, Way way) {
            for (const Buffer& packet : packets_with(channel, message, way, pair.now))
                pair.client->receive_packet(packet, pair.now);
            pair.now += 16 * kNsPerMs;
            pair.client->update(pair.now);
            std::array<std::uint8_t, kMaxPayloadBytes> packet;
            while (const std::size_t size = pair.client->write_packet(pair.now, packet)) {
                channel.read_packet(Bytes(packet).first(size), pair.now);
            }
        };
        const std::size_t honest = random() % good.size();
        for (std::size_t i = 0; i < honest && i < 3; ++i) deliver(good[i], Way::session);
        for (int i = 0; i < 8; ++i) deliver(some_message(random, good), some_way(random));
        ended += pair.client->state() == ClientSession::State::ended ? 1 : 0;
        CHECK(pair.client->bodies().size() <= kMaxSnapshotBodyIndex);
    }
    CHECK(ended > 500);
}

TEST_CASE("floods and noise on the room's address disturb nobody") {
    SimRoom sim(load_test_scene("yard"), {.seed = 5});
    SimClient& honest = sim.add_client();
    sim.run(2.0);
    REQUIRE(honest.playing());
    std::mt19937 random(4);
    const Address stranger = Address::ipv4(10, 9, 9, 9, 999);
    std::vector<SimDatagram> overheard;
    sim.network.set_tap([&](const SimDatagram& datagram) {
        if (datagram.to == sim.server_address() && overheard.size() < 500) overheard.push_back(datagram);
    });
    const std::uint64_t snapshots = honest.check.snapshots;
    for (int n = 0; n < 100; ++n) {
        for (int i = 0; i < 100; ++i) {
            Buffer noise(1 + random() % 1300);
            for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
            sim.network.send(stranger, sim.server_address(), noise);
        }
        const std::size_t known = overheard.size();
        for (std::size_t i = 0; i < 20 && known > 0; ++i) {
            const SimDatagram& from = overheard[random() % known];
            const Buffer bad = damage(random, from.bytes);
            if (!bad.empty()) sim.network.send(from.from, sim.server_address(), bad);
        }
        sim.run(0.05);
    }
    CHECK(honest.playing());
    CHECK(honest.check.snapshots > snapshots + 290);
    CHECK(sim.room->stats().clients == 1);
    CHECK(sim.room->stats().netcode.ignored_total() > 1000);
}

TEST_CASE("a client that connects and says nothing is sent away") {
    SessionPair pair;
    while (pair.server->state() == ServerSession::State::awaiting_hello && pair.tick < 2000) pair.step(false, true);
    CHECK(pair.server->state() == ServerSession::State::closing);
    CHECK(pair.now - kNsPerSecond > kHandshakeTimeout);
}

TEST_CASE("a client whose packets cannot be read is told so, though its channel at the server has failed") {
    SessionPair pair;
    pair.warm_up();
    pair.server->receive_packet(Buffer{0x00}, pair.now);
    CHECK(pair.server->state() == ServerSession::State::closing);
    REQUIRE(pair.server->goodbye() == GoodbyeReason::protocol_error);
    pair.step();
    pair.step();
    CHECK(pair.client->state() == ClientSession::State::ended);
    CHECK(pair.client->end_kind() == SessionEnd::said_goodbye);
    CHECK(pair.client->goodbye() == GoodbyeReason::protocol_error);
}
