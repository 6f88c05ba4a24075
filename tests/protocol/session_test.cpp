// Contract: what the two ends of a session tell each other beside the bodies: losses, controls, coders and modes.
#include <doctest/doctest.h>

#include "tests/support/session_pair.h"

using namespace orrery;
using namespace orrery::protocol;
using orrery::testing::SessionPair;

namespace {

// A pair whose packets take `steps` steps of 16 ms in each direction.
struct FarPair {
    SessionPair pair;
    std::size_t steps;
    std::vector<std::pair<std::size_t, std::size_t>> sent{{0, 0}};  // packets after each step, to server and client

    explicit FarPair(std::size_t far) : steps(far) {
        pair.room.hello.tick_rate_hz = 62.5f;  // of its steps of 16 ms
    }
    void step() {
        pair.step(false, false);
        sent.emplace_back(pair.to_server.size(), pair.to_client.size());
        if (sent.size() <= steps + 1) return;
        const auto [server_from, client_from] = sent[sent.size() - steps - 2];
        const auto [server_to, client_to] = sent[sent.size() - steps - 1];
        for (std::size_t i = server_from; i < server_to; ++i) pair.server->receive_packet(pair.to_server[i], pair.now);
        for (std::size_t i = client_from; i < client_to; ++i) pair.client->receive_packet(pair.to_client[i], pair.now);
    }
};

ServerSession::State state_after(SessionPair& pair, const ClientHello& hello) {
    pair.client = std::make_unique<ClientSession>(hello, pair.now);
    for (int i = 0; i < 20; ++i) pair.step();
    return pair.server->state();
}

}  // namespace

TEST_CASE("an input of constant controls takes less than 120 bytes at a round trip of half a second") {
    FarPair far(16);
    far.pair.client->set_control({32'767, -32'767, 1, 2, 3, 4, 5, 6});
    for (int i = 0; i < 300; ++i) far.step();
    REQUIRE(far.pair.client->state() == ClientSession::State::playing);
    CHECK(far.pair.client->channel_stats().rtt_s > 0.45);
    const std::uint64_t applied = far.pair.server->inputs().counters().applied;
    std::size_t largest = 0;
    for (int i = 0; i < 200; ++i) {
        const std::size_t before = far.pair.to_server.size();
        far.step();
        // The message is in a packet, with what else the channel says.
        for (std::size_t k = before; k < far.pair.to_server.size(); ++k)
            largest = std::max(largest, far.pair.to_server[k].size());
        (void)far.pair.server->inputs().take(far.pair.tick);
    }
    CHECK(largest < 120);
    CHECK(largest > 60);
    CHECK(far.pair.server->inputs().counters().applied > applied + 150);
    CHECK(far.pair.server->inputs().take(far.pair.tick + 1)[0] == 32'767);
}

TEST_CASE("lost snapshots are counted, and late ones are not lost") {
    for (const std::uint64_t every : {1, 3}) {
        CAPTURE(every);
        SessionPair pair;
        pair.ticks_per_snapshot = every;
        for (int i = 0; i < 30; ++i) pair.step();
        REQUIRE(pair.client->state() == ClientSession::State::playing);
        CHECK(pair.client->stats().snapshots_lost == 0);
        while (pair.tick % every != every - 1) pair.step();
        std::vector<std::vector<std::uint8_t>> held;
        const auto lose = [&] {  // the packets of one snapshot
            const std::size_t before = pair.to_client.size();
            pair.step(true, false);
            held.assign(pair.to_client.begin() + static_cast<std::ptrdiff_t>(before), pair.to_client.end());
            for (std::uint64_t i = 1; i < every; ++i) pair.step();
        };
        const auto deliver = [&](std::uint64_t snapshots) {
            for (std::uint64_t i = 0; i < every * snapshots; ++i) pair.step();
        };
        lose();
        deliver(4);
        CHECK(pair.client->stats().snapshots_lost == 1);
        for (int i = 0; i < 3; ++i) lose();
        deliver(4);
        CHECK(pair.client->stats().snapshots_lost == 4);
        for (const auto& packet : held) pair.client->receive_packet(packet, pair.now);
        deliver(1);
        CHECK(pair.client->stats().snapshots_lost == 3);
    }
}

TEST_CASE("fewer snapshots than ticks are no losses") {
    SessionPair pair;
    pair.warm_up();
    for (const std::uint64_t every : {1, 4, 2, 5, 1}) {
        pair.ticks_per_snapshot = every;
        for (int i = 0; i < 41; ++i) pair.step();
    }
    pair.ticks_per_snapshot = 1'000'000;
    for (int i = 0; i < 300; ++i) pair.step();
    pair.ticks_per_snapshot = 1;
    for (int i = 0; i < 20; ++i) pair.step();
    CHECK(pair.client->stats().snapshots_received > 100);
    CHECK(pair.client->stats().snapshots_lost == 0);
    CHECK(pair.client->newest_tick() + 1 == pair.tick);  // read in the next step
}

TEST_CASE("a client whose coders are all unknown to the server is refused, one with a known one plays") {
    ClientHello hello = default_client_hello();
    hello.codecs = {77, 78};
    SessionPair refused;
    CHECK(state_after(refused, hello) != ServerSession::State::playing);
    CHECK(refused.server->refusal().reason == RefusalReason::no_common_codec);
    CHECK(refused.client->end_kind() == SessionEnd::refused);
    hello.codecs.push_back(DeltaCodec::kId);
    SessionPair plays;
    CHECK(state_after(plays, hello) == ServerSession::State::playing);
    CHECK(plays.client->hello().snapshot_codec == DeltaCodec::kId);
}

TEST_CASE("a client that mirrors is refused where that is not allowed") {
    ClientHello hello = default_client_hello();
    hello.mode = SessionMode::mirror;
    SessionPair pair;
    CHECK(state_after(pair, hello) != ServerSession::State::playing);
    CHECK(pair.server->refusal().reason == RefusalReason::mirror_not_allowed);
    CHECK(pair.client->end_kind() == SessionEnd::refused);
}
