// Contract: clients that join at one tick or soon after share one key frame, and each ends up with the server's world.
#include <doctest/doctest.h>

#include "tests/support/session_pair.h"

using namespace orrery;
using namespace orrery::protocol;
using namespace orrery::testing;

namespace {

// Holds what a client decodes to the server's world of that tick.
class Check final : public SnapshotObserver {
  public:
    void remember(const QuantisedWorld& world) {
        states_[world.tick()].assign(world.bodies().begin(), world.bodies().end());
    }
    void decoded(std::uint64_t tick, bool, std::span<const QuantisedBody> bodies) override {
        const auto state = states_.find(tick);
        REQUIRE(state != states_.end());
        for (const QuantisedBody& body : bodies) {
            REQUIRE(body.index < state->second.size());
            REQUIRE(state->second[body.index].state == body);
            ++checked;
        }
    }
    std::size_t checked = 0;

  private:
    std::map<std::uint64_t, std::vector<QuantisedWorld::Body>> states_;
};

void check_mirror(const SessionPair& pair) {
    std::size_t living = 0;
    for (const MirrorBody& body : pair.client->bodies()) living += body.alive;
    CHECK(living == pair.world.living());
    for (const QuantisedWorld::Body& body : pair.world.bodies()) {
        if (!body.alive) continue;
        REQUIRE(body.state.index < pair.client->bodies().size());
        const MirrorBody& mirrored = pair.client->bodies()[body.state.index];
        CHECK(mirrored.alive);
        CHECK(mirrored.description == describe(body));
    }
}

}  // namespace

TEST_CASE("a client that joins by a key frame of some ticks ago has the bodies that came and went since") {
    SessionPair pair;
    pair.room.hello.body_capacity = 1'000;
    std::optional<KeyFrame> key_frame(std::in_place, pair.world, std::vector<sim::ShapeDef>{},
                                      std::map<sim::BodyId, std::string>{}, pair.codec);
    pair.key_frame = &*key_frame;
    // 25 ticks pass. Bodies move, some go, an index comes back with another body, and a new one comes.
    for (std::uint64_t tick = 1; tick <= 25; ++tick) {
        for (auto& body : pair.bodies) body.pose.position.y += 0.02f;
        if (tick == 5) pair.bodies.erase(pair.bodies.begin() + 7);
        if (tick == 9) pair.bodies[3].id.generation = 1;
        if (tick == 12) {
            pair.bodies.emplace_back();
            pair.bodies.back().id = {99, 2};
            pair.bodies.back().shape = 1;
        }
        if (tick == 20) pair.bodies.back().id.generation = 3;
        pair.tick = tick;
        pair.world.update(tick, pair.bodies);
        key_frame->follow(pair.world);
    }
    CHECK(key_frame->tick() == 0);
    CHECK(key_frame->serves(25, 60.0));
    CHECK_FALSE(key_frame->changes().empty());
    Check check;
    pair.client->set_observer(&check);
    const auto step = [&](bool to_client) {
        pair.step(true, to_client);
        key_frame->follow(pair.world);
        check.remember(pair.world);
    };
    while (pair.server->state() != ServerSession::State::playing && pair.tick < 60) step(true);
    REQUIRE(pair.server->state() == ServerSession::State::playing);
    for (int i = 0; i < 100; ++i) step(i % 7 != 0);
    for (int i = 0; i < 20; ++i) step(true);
    check_mirror(pair);
    CHECK(check.checked > 2'000);
    CHECK(pair.client->stats().snapshots_undecodable == 0);
}

TEST_CASE("a key frame serves for half a second, the tick that it has followed to, and not after many changes") {
    SessionPair pair;
    KeyFrame key_frame(pair.world, {}, {}, pair.codec);
    CHECK(key_frame.serves(0, 60.0));
    CHECK_FALSE(key_frame.serves(1, 60.0));
    for (std::uint64_t tick = 1; tick <= 31; ++tick) {
        pair.world.update(tick, pair.bodies);
        key_frame.follow(pair.world);
        CHECK(key_frame.serves(tick, 60.0) == (tick <= 30));
    }
    KeyFrame changing(pair.world, {}, {}, pair.codec);
    pair.bodies.resize(60'000);
    for (std::uint32_t i = 0; i < pair.bodies.size(); ++i) pair.bodies[i].id = {i + 1, 7};
    pair.world.update(32, pair.bodies);
    changing.follow(pair.world);
    CHECK_FALSE(changing.serves(32, 60.0));
}

TEST_CASE("ten joiners of 20,000 bodies hold one copy of a key frame, each until it has it") {
    constexpr std::uint32_t kBodies = 20'000;
    std::vector<std::unique_ptr<SessionPair>> pairs;
    std::vector<sim::BodyState> bodies(kBodies);
    for (std::uint32_t i = 0; i < kBodies; ++i) {
        bodies[i].id = {i, 0};
        bodies[i].shape = i % 3;
    }
    QuantisedWorld world;
    world.update(0, bodies);
    const DeltaCodec codec;
    const KeyFrame key_frame(world, {}, {}, codec);
    CHECK(key_frame.size_bytes() > 400'000);
    CHECK(key_frame.holders() == 1);
    for (int n = 0; n < 10; ++n) {
        pairs.push_back(std::make_unique<SessionPair>());
        SessionPair& pair = *pairs.back();
        pair.room.hello.body_capacity = kBodies;
        pair.bodies = bodies;
        pair.world = world;
        pair.key_frame = &key_frame;
        pair.still = true;
        for (int i = 0; i < 3 && pair.server->needs_key_frame() == false; ++i) pair.step();
        pair.step();
    }
    CHECK(key_frame.holders() > 10 * 5);
    for (auto& pair : pairs) CHECK(pair->server->own_bytes() < 20'000);
    for (auto& pair : pairs) {
        for (int i = 0; i < 600 && pair->client->state() != ClientSession::State::playing; ++i) {
            pair->step();
            REQUIRE(pair->server->own_bytes() < 80'000);
        }
        REQUIRE(pair->client->state() == ClientSession::State::playing);
        for (int i = 0; i < 60; ++i) pair->step();
    }
    CHECK(key_frame.holders() == 1);
}
