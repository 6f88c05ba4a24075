// Guards: that a chain too long for one lane, which is cut into pieces while it is alone
// (sim/rigs/chain/chain_cut-inl.h), has one outcome on every target and with any workers; that nothing of it is state;
// and that it stays whole as it changes between its two solvers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "sim/rigs/chain/chain.h"
#include "tests/support/executors.h"
#include "tests/support/random_rigs.h"
#include "tests/support/rigs.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

TEST_CASE("long chains of every kind come out alike on every target, with any workers, and after a restore") {
    std::uint32_t broken = 0, coupled = 0;
    for (std::uint64_t n = 1; n <= static_cast<std::uint64_t>(sampled(3)); ++n) {
        const std::uint64_t seed = seeded(n);
        CAPTURE(seed);
        const WorldDef def = ropes(seed, 12, 3 * kLongChain);
        auto first = make_world(def, Target::scalar);
        std::vector<std::unique_ptr<World>> others;
        for (const Target target : available_targets()) others.push_back(make_world(def, target));
        ThreadedExecutor workers(3);
        const int ticks = few() ? 21 : 45;
        for (int tick = 0; tick < ticks; ++tick) {
            CAPTURE(tick);
            Command kick = command(CommandKind::impulse);  // so hard that links turn far, and some are lost
            kick.body = {static_cast<std::uint32_t>(100 * (tick + 1)), 0};
            kick.linear = {0.0f, 10.0f, tick % 20 == 0 ? 3000.0f : 50.0f};
            first->step({&kick, 1});
            broken += static_cast<std::uint32_t>(count_events(*first, EventKind::joint_broken));
            coupled += first->stats().manifolds > 0 ? 1u : 0u;
            for (std::unique_ptr<World>& world : others) {
                world->step({&kick, 1}, &workers);
                REQUIRE(world->hash().root == first->hash().root);
            }
            if (tick != ticks / 3) continue;
            std::vector<std::uint8_t> saved;
            first->save(saved);
            for (std::unique_ptr<World>& world : others) {
                world = make_world(def, available_targets()[static_cast<std::size_t>(&world - others.data())]);
                REQUIRE(world->restore(saved).ok());
            }
        }
    }
    CHECK(broken > 0);
    CHECK(coupled > 0);
}

// Between ticks all is read from the bodies anew; between substeps each piece hears from those beside it. What is
// refined is rounded another way.
TEST_CASE("four substeps of a long rope in a tick are four ticks of one substep, to the bit") {
    const auto hung = [](float tick_rate_hz, std::uint32_t substeps) {
        WorldDef def = rope_world(substeps);
        def.tick_rate_hz = tick_rate_hz;  // powers of two, so that a substep is the same number
        for (const std::uint32_t more : {0u, 5u}) {
            const Rope rope = add_rope(def, 2 * kLongChain + more, {0.0f, 0.0f, static_cast<float>(more)}, 0);
            def.bodies[rope.bodies.back()].mass_kg = 1000.0f;
            for (std::uint32_t k = 0; k < rope.bodies.size(); ++k) {
                const float side = k / 7 % 2 == 0 ? 1.0f : -1.0f;
                def.bodies[rope.bodies[k]].angular_velocity = {0.3f * side, 0.1f, 0.2f};
            }
        }
        return def;
    };
    const WorldDef def = hung(64.0f, 4);
    auto ticks = make_world(hung(256.0f, 1)), substeps = make_world(def);
    for (int tick = 0; tick < 20; ++tick) {
        CAPTURE(tick);
        run(*ticks, 4);
        run(*substeps, 1);
        for (std::uint32_t body = 0; body < def.bodies.size(); ++body) {
            const BodyState a = state_of(*ticks, body), b = state_of(*substeps, body);
            REQUIRE(std::memcmp(&a.pose, &b.pose, sizeof a.pose) == 0);
            REQUIRE(std::memcmp(&a.angular_velocity, &b.angular_velocity, sizeof a.angular_velocity) == 0);
        }
    }
}

TEST_CASE("a long rope stays whole and gains no energy as something flies against it and away again") {
    constexpr std::uint32_t kLinks = kLongChain + 44, kHit = 150;
    WorldDef def = rope_world(4);
    const Rope rope = add_rope(def, kLinks, {}, 0);
    def.bodies[rope.bodies[kHit]].mask = 1;
    const std::uint32_t ball =
        add_body(def, add_sphere_shape(def, 0.5f), {def.bodies[rope.bodies[kHit]].pose.position.x, -3.0f, 0.0f});
    def.bodies[ball].mass_kg = 20.0f;
    def.bodies[ball].linear_velocity = {0.0f, 8.0f, 0.0f};
    auto world = make_world(def);
    const auto energy_j = [&] {
        double sum = 0.0;
        for (std::uint32_t body = 0; body < def.bodies.size(); ++body) {
            const BodyState b = state_of(*world, body);
            const double mass = 1.0 / static_cast<double>(b.inverse_mass), radius = body == ball ? 0.5 : kRadius;
            sum += mass * (0.5 * std::pow(size(d(b.linear_velocity)), 2) +
                           0.2 * radius * radius * std::pow(size(d(b.angular_velocity)), 2) +
                           10.0 * static_cast<double>(b.pose.position.y));
        }
        return sum;
    };
    const double start = energy_j();
    double apart = 0.0, gained = -1.0e30;
    int touched = 0, changes = 0;
    bool touches = false;
    for (int tick = 0; tick < 120; ++tick) {
        world->step();
        REQUIRE(count_events(*world, EventKind::quarantined, EventCause::not_finite) == 0);
        const bool now = world->stats().manifolds > 0;
        touched += now ? 1 : 0;
        changes += now != touches ? 1 : 0;
        touches = now;
        apart = std::max(apart, largest_separation(*world));
        gained = std::max(gained, energy_j() - start);
    }
    MESSAGE("joints apart " << apart * 1e3 << " mm, energy above its start by at most " << gained << " J, touched in "
                            << touched << " ticks");
    CHECK(touched > 0);
    CHECK(changes > 1);
    CHECK(apart < 0.005);
    CHECK(gained < 0.0);
}
