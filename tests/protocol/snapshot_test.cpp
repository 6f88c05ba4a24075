#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <random>

#include "protocol/snapshot/delta_codec.h"
#include "protocol/snapshot/receiver.h"
#include "protocol/snapshot/sender.h"

using namespace orrery;
using namespace orrery::protocol;

namespace {

// A crowd of bodies that rest, wander, jump, die and are replaced under the same index.
struct Crowd {
    std::mt19937 random;
    std::vector<sim::BodyState> bodies;
    std::vector<bool> alive;

    Crowd(std::uint32_t seed, std::uint32_t count) : random(seed), bodies(count), alive(count, true) {
        for (std::uint32_t i = 0; i < count; ++i) {
            bodies[i].id = {i, 1};
            bodies[i].pose.position = {number(-50.0f, 50.0f), number(0.0f, 5.0f), number(-50.0f, 50.0f)};
            if (i % 16 == 0) bodies[i].slot = static_cast<std::uint16_t>(i / 16);
        }
    }
    float number(float low, float high) { return low + (high - low) * static_cast<float>(random() % 65536) / 65536.0f; }

    void step(std::uint64_t tick) {
        for (std::uint32_t i = 0; i < bodies.size(); ++i) {
            sim::BodyState& b = bodies[i];
            const bool awake = (tick / 40 + i) % 5 < 2;
            if (awake) {
                b.linear_velocity = {number(-3.0f, 3.0f), number(-3.0f, 3.0f), number(-3.0f, 3.0f)};
                b.pose.position.x += b.linear_velocity.x / 60.0f;
                b.pose.position.z += b.linear_velocity.z / 60.0f;
                sim::Quat q{number(-1, 1), number(-1, 1), number(-1, 1), number(-1, 1)};
                const float length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) + 1e-6f;
                b.pose.orientation = {q.x / length, q.y / length, q.z / length, q.w / length};
            } else {
                b.linear_velocity = {};
            }
            if (random() % 2000 == 0) {
                alive[i] = !alive[i];
                if (alive[i]) ++b.id.generation;
            }
        }
    }
    std::vector<sim::BodyState> living() const {
        std::vector<sim::BodyState> out;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            if (alive[i]) out.push_back(bodies[i]);
        }
        return out;
    }
};

struct Packet {
    std::uint64_t due;
    std::uint64_t tick;
    std::vector<std::uint8_t> coded;
    bool complete;
};
struct AckPacket {
    std::uint64_t due;
    Acknowledgement ack;
};

struct Link {
    std::uint32_t loss_percent, delay_ticks, jitter_ticks;
    std::uint32_t ack_loss_percent;
    std::uint32_t ticks_per_snapshot = 1;
};

// Runs a sender and a receiver over a link for `ticks`, checks every decoded body against the server's state of its
// tick, and returns how many snapshots arrived.
std::uint32_t run_link(std::uint32_t seed, std::uint32_t count, const Link& link, std::uint64_t ticks,
                       std::size_t budget) {
    Crowd crowd(seed, count);
    std::mt19937 random(seed + 1);
    const DeltaCodec codec;
    QuantisedWorld world;
    SnapshotSender sender(codec);
    SnapshotReceiver receiver(codec, count);
    std::vector<std::vector<QuantisedWorld::Body>> truth;  // by tick
    std::deque<Packet> wire;
    std::deque<AckPacket> back;
    std::uint32_t arrived = 0;

    for (std::uint64_t tick = 0; tick < ticks; ++tick) {
        crowd.step(tick);
        world.update(tick, crowd.living());
        truth.emplace_back(world.bodies().begin(), world.bodies().end());
        if (tick == 0) {
            sender.start(world);
            std::vector<QuantisedBody> key;
            for (const auto& body : world.bodies()) {
                if (body.alive) key.push_back(body.state);
            }
            receiver.start(0, key);
            continue;
        }
        if (tick % link.ticks_per_snapshot == 0) {
            Packet packet;
            const std::uint64_t before = sender.last_tick();
            const SentSnapshot sent = sender.encode(world, 3, budget, packet.coded);
            REQUIRE(packet.coded.size() <= budget);
            REQUIRE(sent.ticks_since_last == (before == 0 ? 0 : std::min<std::uint64_t>(tick - before, kManyTicks)));
            packet.tick = tick;
            packet.complete = sent.complete;
            packet.due = tick + link.delay_ticks + (link.jitter_ticks ? random() % link.jitter_ticks : 0);
            if (random() % 100 >= link.loss_percent) {
                wire.push_back(packet);
                if (random() % 50 == 0) wire.push_back(packet);
            }
        }
        for (auto it = wire.begin(); it != wire.end();) {
            if (it->due > tick) {
                ++it;
                continue;
            }
            const ReceiveStatus status = receiver.receive(it->tick, it->coded);
            REQUIRE((status == ReceiveStatus::ok || status == ReceiveStatus::duplicate ||
                     status == ReceiveStatus::too_old));
            if (status == ReceiveStatus::ok) {
                ++arrived;
                for (const QuantisedBody& body : receiver.decoded()) {
                    REQUIRE(truth[it->tick][body.index].alive);
                    REQUIRE(body == truth[it->tick][body.index].state);
                }
                if (it->complete) {
                    // What a complete snapshot does not carry has not changed since the client last heard of it.
                    for (const auto& body : truth[it->tick]) {
                        if (!body.alive) continue;
                        const QuantisedBody* held = nullptr;
                        for (const BodySample& sample : receiver.history(body.state.index)) {
                            if (sample.tick <= it->tick) held = &sample.state;
                        }
                        REQUIRE(held != nullptr);
                        REQUIRE(*held == body.state);
                    }
                }
            }
            it = wire.erase(it);
        }
        if (random() % 100 >= link.ack_loss_percent) {
            back.push_back({tick + link.delay_ticks, receiver.acknowledgement()});
        }
        while (!back.empty() && back.front().due <= tick) {
            sender.acknowledge(back.front().ack.newest, back.front().ack.older);
            back.pop_front();
        }
    }
    return arrived;
}

}  // namespace

TEST_CASE("quantisation is within half a step of the state it stands for") {
    std::mt19937 random(7);
    for (int n = 0; n < 20000; ++n) {
        auto number = [&](float scale) { return (static_cast<float>(random() % 200001) / 100000.0f - 1.0f) * scale; };
        sim::BodyState body;
        body.pose.position = {number(4096), number(4096), number(4096)};
        sim::Quat q{number(1), number(1), number(1), number(1)};
        const float length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) + 1e-9f;
        body.pose.orientation = {q.x / length, q.y / length, q.z / length, q.w / length};
        body.linear_velocity = {number(1000), number(1000), number(1000)};
        const Motion motion = dequantise(quantise(body));
        CHECK(std::fabs(motion.pose.position.x - body.pose.position.x) <= 0.5f / kPositionStepsPerMetre + 3e-4f);
        CHECK(std::fabs(motion.linear_velocity.y - body.linear_velocity.y) <=
              0.5f / kLinearVelocityStepsPerMps + 1e-4f);
        const sim::Quat& a = motion.pose.orientation;
        const sim::Quat& b = body.pose.orientation;
        const double dot = std::fabs(double{a.x} * b.x + double{a.y} * b.y + double{a.z} * b.z + double{a.w} * b.w);
        CHECK(2.0 * std::acos(std::min(1.0, dot)) < 4.0e-3);
    }
}

TEST_CASE(
    "quantisation takes the nearest step, from the middle upwards, as plain arithmetic in double precision does") {
    const auto plain = [](float value, std::int32_t steps) {
        return static_cast<std::int32_t>(
            std::clamp(std::floor(static_cast<double>(value) * steps + 0.5), -8388608.0, 8388608.0));
    };
    std::mt19937 random(17);
    for (int n = 0; n < 40000; ++n) {
        sim::BodyMotion body;
        float* const numbers[] = {&body.pose.position.x,    &body.pose.position.y,    &body.pose.position.z,
                                  &body.linear_velocity.x,  &body.linear_velocity.y,  &body.linear_velocity.z,
                                  &body.angular_velocity.x, &body.angular_velocity.y, &body.angular_velocity.z};
        for (float* const number : numbers) {
            switch (random() % 4) {
                case 0:
                    *number = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
                    break;  // any bits at all
                case 1:
                    *number = static_cast<float>(static_cast<std::int32_t>(random() % 4001) - 2000) / 1024.0f;
                    break;  // middles, too
                default:
                    *number = (static_cast<float>(random() % 2000001) / 1e6f - 1.0f) * 4096.0f;
            }
            if (n % 3 == 0) *number = std::nextafter(*number, random() % 2 == 0 ? 1e30f : -1e30f);
            if (!std::isfinite(*number)) *number = 0.0f;
        }
        const QuantisedBody q = quantise(body);
        for (std::size_t k = 0; k < 9; ++k) {
            const std::int32_t steps = k < 3   ? kPositionStepsPerMetre
                                       : k < 6 ? kLinearVelocityStepsPerMps
                                               : kAngularVelocityStepsPerRadps;
            const std::int32_t got = k < 3   ? q.position[k]
                                     : k < 6 ? q.linear_velocity[k - 3]
                                             : q.angular_velocity[k - 6];
            REQUIRE(got == plain(*numbers[k], steps));
        }
    }
}

TEST_CASE("quantisation is a fixed point: what was quantised and restored quantises to itself") {
    std::mt19937 random(8);
    for (int n = 0; n < 20000; ++n) {
        const PackedOrientation once = quantise_orientation(dequantise_orientation(random()));
        const PackedOrientation twice = quantise_orientation(dequantise_orientation(once));
        const sim::Quat a = dequantise_orientation(once), b = dequantise_orientation(twice);
        CHECK(std::fabs(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w) > 0.99999f);
    }
}

TEST_CASE("quantisation of values that are not finite stays in range") {
    sim::BodyState body;
    const float nan = std::nanf(""), inf = INFINITY;
    body.pose.position = {nan, inf, -inf};
    body.pose.orientation = {nan, 0, 0, 1};
    body.linear_velocity = {1e30f, -1e30f, 0};
    const QuantisedBody q = quantise(body);
    CHECK(q.position == std::array<std::int32_t, 3>{0, 0, 0});
    CHECK(q.orientation == quantise_orientation({}));
    CHECK(q.linear_velocity[0] > 0);
    CHECK(q.linear_velocity[1] < 0);
}

TEST_CASE("every decoded snapshot equals the server's quantised state of its tick") {
    SUBCASE("perfect link") { CHECK(run_link(1, 60, {0, 0, 0, 0}, 600, 1100) == 599); }
    SUBCASE("loss, delay, duplicates, reordering") { CHECK(run_link(2, 60, {10, 5, 6, 10}, 1500, 1100) > 1000); }
    SUBCASE("more changes than fit a packet") { CHECK(run_link(3, 400, {5, 3, 4, 5}, 800, 500) > 600); }
    SUBCASE("acknowledgements mostly lost") { CHECK(run_link(4, 80, {5, 3, 4, 97}, 1500, 1100) > 1000); }
    SUBCASE("round trip longer than the window") { CHECK(run_link(5, 40, {2, 50, 3, 0}, 800, 1100) > 500); }
    SUBCASE("every fifth tick") { CHECK(run_link(7, 60, {10, 5, 6, 10, 5}, 3000, 1100) > 400); }
    SUBCASE("every seventh tick, acknowledgements mostly lost") {
        CHECK(run_link(8, 80, {5, 3, 4, 99, 7}, 5000, 1100) > 500);
    }
    SUBCASE("less often than the window is long") { CHECK(run_link(9, 40, {5, 3, 4, 20, 300}, 9000, 1100) > 20); }
    SUBCASE("packets later than the window") { CHECK(run_link(6, 40, {2, 2, 120, 0}, 800, 1100) > 100); }
}

// A viewer of a crowd, over a link that delivers every packet and acknowledgement.
struct Viewer {
    const DeltaCodec& codec;
    SnapshotSender sender{codec};
    SnapshotReceiver receiver;
    Viewer(const DeltaCodec& with, const QuantisedWorld& world) : codec(with), receiver(with, 1000) {
        sender.start(world);
        std::vector<QuantisedBody> key;
        for (const auto& body : world.bodies()) {
            if (body.alive) key.push_back(body.state);
        }
        receiver.start(world.tick(), key);
    }
    std::vector<std::uint8_t> step(const QuantisedWorld& world) {
        std::vector<std::uint8_t> coded;
        (void)sender.encode(world, 0xffff, 4000, coded);
        REQUIRE(receiver.receive(world.tick(), coded) == ReceiveStatus::ok);
        const Acknowledgement ack = receiver.acknowledgement();
        sender.acknowledge(ack.newest, ack.older);
        return coded;
    }
};

TEST_CASE("clients that have acknowledged the same states get the same bytes, whenever they came") {
    const DeltaCodec codec;
    Crowd crowd(12, 50);
    QuantisedWorld world;
    const auto step = [&](std::uint64_t tick) {
        for (auto& body : crowd.bodies) body.pose.position.x += 0.01f;
        world.update(tick, crowd.living());
    };
    step(0);
    Viewer early(codec, world);
    for (std::uint64_t tick = 1; tick <= 37; ++tick) {
        step(tick);
        (void)early.step(world);
    }
    Viewer late(codec, world);
    for (std::uint64_t tick = 38; tick <= 200; ++tick) {
        step(tick);
        CHECK(early.step(world) == late.step(world));
    }
    // A lost acknowledgement is another reference.
    step(201);
    std::vector<std::uint8_t> unheard;
    (void)late.sender.encode(world, 0xffff, 4000, unheard);
    CHECK(early.step(world) == unheard);
    step(202);
    std::vector<std::uint8_t> older;
    (void)late.sender.encode(world, 0xffff, 4000, older);
    CHECK(early.step(world) != older);
}

TEST_CASE("a snapshot of the key frame's tick or before it is refused") {
    const DeltaCodec codec;
    Crowd crowd(13, 10);
    QuantisedWorld world;
    world.update(40, crowd.living());
    Viewer viewer(codec, world);
    crowd.bodies[0].pose.position.x += 1.0f;
    world.update(41, crowd.living());
    std::vector<std::uint8_t> coded;
    (void)viewer.sender.encode(world, 0xffff, 1000, coded);
    CHECK(viewer.receiver.receive(40, coded) == ReceiveStatus::malformed);
    CHECK(viewer.receiver.receive(0, coded) == ReceiveStatus::malformed);
    CHECK(viewer.receiver.receive(41, coded) == ReceiveStatus::ok);
    CHECK(viewer.receiver.receive(41, coded) == ReceiveStatus::duplicate);
}

TEST_CASE("a body that waits is sent in the end, however many others change") {
    const DeltaCodec codec;
    Crowd crowd(9, 300);
    QuantisedWorld world;
    world.update(0, crowd.living());
    SnapshotSender sender(codec);
    sender.start(world);
    SnapshotReceiver receiver(codec, 300);
    std::vector<int> seen(300, 0);
    for (std::uint64_t tick = 1; tick <= 300; ++tick) {
        for (auto& body : crowd.bodies) body.pose.position.x += 0.01f;
        world.update(tick, crowd.living());
        std::vector<std::uint8_t> coded;
        const SentSnapshot sent = sender.encode(world, 0xffff, 120, coded);
        CHECK_FALSE(sent.complete);
        if (tick == 1) {
            std::vector<QuantisedBody> key;
            for (auto& b : crowd.bodies) {
                sim::BodyState before = b;
                before.pose.position.x -= 0.01f;
                key.push_back(quantise(before));
            }
            receiver.start(0, key);
        }
        if (receiver.receive(tick, coded) == ReceiveStatus::ok) {
            for (const QuantisedBody& body : receiver.decoded()) ++seen[body.index];
        }
        const Acknowledgement ack = receiver.acknowledgement();
        sender.acknowledge(ack.newest, ack.older);
    }
    for (const int count : seen) CHECK(count >= 2);
}

TEST_CASE("each body's bits are those of the snapshot, and its cost is that of the ticks asked for") {
    Crowd crowd(11, 40);
    const DeltaCodec codec;
    SnapshotSender sender(codec);
    SnapshotReceiver receiver(codec, 40);
    QuantisedWorld world;
    world.update(0, crowd.living());
    sender.start(world);
    std::vector<QuantisedBody> frame;
    for (const QuantisedWorld::Body& body : world.bodies()) frame.push_back(body.state);
    receiver.start(0, frame);
    std::vector<std::size_t> body_bits(201, 0);  // by tick, of all bodies
    for (std::uint64_t tick = 1; tick <= 200; ++tick) {
        crowd.bodies[0].pose.position.x += 0.25f;  // moves in every tick, and the others until tick 100
        for (std::size_t i = 1; i < crowd.bodies.size() && tick <= 100; ++i) crowd.bodies[i].pose.position.y += 0.125f;
        world.update(tick, crowd.living());
        std::vector<std::uint8_t> coded;
        sender.encode(world, 0xffff, 1100, coded);
        REQUIRE(receiver.receive(tick, coded) == ReceiveStatus::ok);
        for (const QuantisedBody& body : receiver.decoded()) {
            const std::span<const BodySample> history = receiver.history(body.index);
            body_bits[tick] += history.back().bits;
            CHECK(history.back().baseline_age == (tick <= 2 ? tick : 2));
        }
        const std::size_t bits = body_bits[tick] + 16;  // with the head of the snapshot
        CHECK((bits + 7) / 8 == coded.size());
        if (tick == 100) {
            std::uint32_t sum = 0;
            for (std::uint32_t i = 0; i < 40; ++i) sum += receiver.cost(i, 1, 60).bits;
            std::size_t expected = 0;
            for (std::size_t t = 41; t <= 100; ++t) expected += body_bits[t];
            CHECK(sum == expected);
            CHECK(receiver.cost(7, 1, 60).updates == 60);
        }
        if (tick > 1) sender.acknowledge(tick - 1, 0);
    }
    CHECK(receiver.cost(0, 1, 60).updates == 60);
    CHECK(receiver.cost(0, 1, 60).left_out == 0);
    CHECK(receiver.cost(0, 1, 5).updates == 5);
    CHECK(receiver.cost(0, 1, 1000).updates == kHistoryWindow);
    CHECK(receiver.cost(7, 1, 60).updates == 0);
    CHECK(receiver.cost(7, 1, 60).bits == 0);
    // It was sent until the acknowledgement of its last state came.
    CHECK(receiver.cost(7, 1, 60).left_out == 99);
    CHECK(receiver.cost(7, 2, 60).left_out == 0);  // another body, which has not come
    CHECK(receiver.cost(400, 1, 60).updates == 0);
}

TEST_CASE("damaged snapshots are refused or decode to something, never crash") {
    const DeltaCodec codec;
    Crowd crowd(11, 100);
    QuantisedWorld world;
    world.update(0, crowd.living());
    SnapshotSender sender(codec);
    sender.start(world);
    std::vector<QuantisedBody> key;
    for (const auto& body : world.bodies()) key.push_back(body.state);
    crowd.step(1);
    world.update(1, crowd.living());
    std::vector<std::uint8_t> coded;
    sender.encode(world, 0, 1100, coded);
    std::mt19937 random(5);
    for (int n = 0; n < 20000; ++n) {
        SnapshotReceiver receiver(codec, 100);
        if (n % 8 == 0) receiver.start(0, key);
        std::vector<std::uint8_t> bad = coded;
        if (n % 3 == 0) bad.resize(random() % (bad.size() + 1));
        for (std::uint32_t i = 0; i < n % 7u && !bad.empty(); ++i) bad[random() % bad.size()] ^= 1u << (random() % 8);
        const ReceiveStatus status = receiver.receive(random() % 80, bad);
        if (status == ReceiveStatus::ok) {
            for (const QuantisedBody& body : receiver.decoded()) CHECK(body.index < 100);
        }
    }
}
