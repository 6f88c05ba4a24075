// A room's session and a client that mirrors it, hand to hand: states, reports of divergences, and what is refused.
#include <doctest/doctest.h>

#include <array>
#include <memory>

#include "protocol/session/client_session.h"
#include "protocol/session/handshake.h"
#include "protocol/session/mirror_sender.h"
#include "protocol/session/server_session.h"

using namespace orrery;
using namespace orrery::protocol;

namespace {

struct MirrorSessions {
    RoomDescription room;
    DeltaCodec codec;
    MirrorLog log;
    std::unique_ptr<ServerSession> server;
    std::unique_ptr<ClientSession> client;
    TimeNs now = kNsPerSecond;
    std::uint64_t tick = 0;
    std::size_t state_bytes = 50'000;

    explicit MirrorSessions(SessionMode mode = SessionMode::mirror, bool allowed = true) {
        ClientHello hello = default_client_hello();
        hello.mode = mode;
        room.hello.protocol_version = hello.protocol_version;
        room.hello.schema_hash = hello.schema_hash;
        room.hello.engine_version = sim::kEngineVersion;
        room.hello.body_capacity = 64;
        room.hello.snapshot_codec = DeltaCodec::kId;
        room.hello.allow_mirror = allowed;
        server = std::make_unique<ServerSession>(room, codec, std::uint16_t{0}, now);
        client = std::make_unique<ClientSession>(hello, now);
    }
    void step(int ticks = 1) {
        for (int i = 0; i < ticks; ++i) {
            now += kNsPerSecond / 60;
            ++tick;
            log.add(tick, {}, {{tick, 2, 3, 4, 5, 6, 7}, tick * 10});
            server->process(tick - 1, now, kNsPerSecond / 60, ServerSession::Joins::welcome, now);
            if (server->needs_mirror_state(now)) {
                const auto save = [this](std::vector<std::uint8_t>& out) { out.assign(state_bytes, 9); };
                server->send_mirror_state(log.state(tick, 1, now, save), tick, now);
            }
            server->send_tick_commands(log);
            client->update(now);
            std::array<std::uint8_t, kMaxPayloadBytes> packet;
            while (const std::size_t size = server->write_packet(now, packet))
                client->receive_packet(Bytes(packet).first(size), now);
            while (const std::size_t size = client->write_packet(now, packet))
                server->receive_packet(Bytes(packet).first(size), now);
        }
    }
    // What a mirror does with what has come. Returns the number of ticks.
    int take() {
        std::uint64_t at = 0;
        std::vector<std::uint8_t> state;
        if (client->mirror()->take_state(at, state)) ++states;
        int ticks = 0;
        for (; client->mirror()->next(); client->mirror()->pop()) ++ticks;
        return ticks;
    }
    int states = 0;
};

}  // namespace

TEST_CASE("a mirror gets a state and then every tick, and its controls reach the server") {
    MirrorSessions pair;
    pair.step(60);
    CHECK(pair.server->state() == ServerSession::State::playing);
    CHECK(pair.client->state() == ClientSession::State::playing);
    CHECK(pair.take() > 40);
    CHECK(pair.states == 1);
    pair.step(60);
    CHECK(pair.take() == 60);
    CHECK(pair.server->inputs().newest_tick() >= pair.tick);
    CHECK(pair.client->own_control(pair.client->control_tick()) != nullptr);
    CHECK(pair.client->own_control(pair.client->control_tick() + 1) == nullptr);
}

TEST_CASE("a report of a divergence is answered by the leaves of the tick and, not too often, by a new state") {
    MirrorSessions pair;
    pair.step(60);
    pair.take();
    pair.client->report_divergence(pair.tick - 5);
    const std::uint64_t reported = pair.tick - 5;
    pair.step(10);
    const std::optional<MirrorLeaves> leaves = pair.client->mirror()->take_leaves();
    REQUIRE(leaves);
    CHECK(leaves->tick == reported);
    REQUIRE(leaves->leaves);
    CHECK((*leaves->leaves)[0] == reported);
    CHECK((*leaves->leaves)[6] == 7);
    pair.step(120);
    pair.take();
    CHECK(pair.states == 2);
    pair.client->report_divergence(pair.tick);
    pair.step(40);
    pair.take();
    CHECK(pair.states == 2);  // a state comes no more often than every 2 s
    pair.step(40);
    pair.take();
    CHECK(pair.states == 3);
    pair.client->report_divergence(1);  // long forgotten
    pair.step(2000 - static_cast<int>(pair.tick));
    pair.take();
    CHECK(pair.states == 4);
    CHECK(pair.server->mirror_reports() == 3);
    CHECK(pair.server->state() == ServerSession::State::playing);
    pair.client->report_divergence(pair.tick);  // a fourth within a minute
    pair.step(10);
    REQUIRE(pair.server->goodbye());
    CHECK(*pair.server->goodbye() == GoodbyeReason::message_limits);
}

TEST_CASE("the parts of a state are kept once for all who join at a tick") {
    MirrorLog log;
    log.add(1, {}, {{}, 1});
    int saves = 0;
    const auto save = [&](std::vector<std::uint8_t>& out) {
        ++saves;
        out.assign(100'000, 9);
    };
    const std::vector<SharedBytes> first = log.state(1, 5, 1, save), second = log.state(1, 5, 1, save);
    CHECK(saves == 1);
    REQUIRE(first.size() == second.size());
    for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i].owner == second[i].owner);
    log.drop_state();
    CHECK(first[0].owner.use_count() == 2);
}

TEST_CASE("reports of divergences have the world saved once a second at most, and joiners at once") {
    MirrorLog log;
    log.add(1, {}, {{}, 1});
    const TimeNs at = 5 * kNsPerSecond;
    CHECK(log.may_have_state(1, false, at));
    REQUIRE_FALSE(log.state(1, 5, at, [](std::vector<std::uint8_t>& out) { out.assign(100, 9); }).empty());
    CHECK(log.may_have_state(1, false, at));  // this one is there already
    log.drop_state();
    log.add(2, {}, {{}, 2});
    CHECK_FALSE(log.may_have_state(2, false, at + kMirrorSaveInterval - 1));
    CHECK(log.may_have_state(2, true, at + 1));
    CHECK(log.may_have_state(2, false, at + kMirrorSaveInterval));
}

TEST_CASE("a world whose state is too large is saved again only when it has fewer bodies") {
    MirrorLog log;
    int saves = 0;
    std::size_t size = kMaxMirrorStateBytes + 1;
    const auto save = [&](std::vector<std::uint8_t>& out) {
        ++saves;
        out.assign(size, 9);
    };
    for (std::uint64_t tick = 1; tick < 4; ++tick) CHECK(log.state(tick, 100, tick * kNsPerSecond, save).empty());
    CHECK(saves == 1);
    size = kMaxMirrorStateBytes;
    CHECK_FALSE(log.state(4, 99, 4 * kNsPerSecond, save).empty());
    CHECK(saves == 2);
    log.drop_state();
    CHECK_FALSE(log.state(5, 101, 5 * kNsPerSecond, save).empty());
    CHECK(saves == 3);
}

TEST_CASE("a second report for one state, and a report of a client that does not mirror, end the session") {
    MirrorSessions pair;
    pair.step(60);
    pair.client->report_divergence(3);
    pair.client->report_divergence(3);
    pair.step(10);
    REQUIRE(pair.server->goodbye());
    CHECK(*pair.server->goodbye() == GoodbyeReason::protocol_error);

    MirrorSessions other(SessionMode::snapshots);
    other.step(10);
    REQUIRE(other.server->welcome());
    other.client->report_divergence(3);
    other.step(10);
    REQUIRE(other.server->goodbye());
    CHECK(*other.server->goodbye() == GoodbyeReason::protocol_error);
}

TEST_CASE("a room that does not allow it refuses a mirror, and a state that is too large is told as such") {
    MirrorSessions pair(SessionMode::mirror, false);
    pair.step(10);
    CHECK(pair.server->refusal().reason == RefusalReason::mirror_not_allowed);
    CHECK(pair.client->state() == ClientSession::State::ended);

    MirrorSessions large;
    large.state_bytes = kMaxMirrorStateBytes + 1;
    large.step(10);
    REQUIRE(large.server->goodbye());
    CHECK(*large.server->goodbye() == GoodbyeReason::world_too_large);
}
