// Guards what a world keeps of bodies that rest, so that a tick need not look at them: who may move, bounds, digests of
// the hash. All of it is derived. A world that is made anew from its saved state before every tick, and so keeps
// nothing, has the same hashes, whatever commands wake, move, change, bring or take away; and a tick in which nothing
// moves hands out no work, however many bodies there are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "sim/bodies/movers.h"
#include "tests/support/body_store.h"
#include "tests/support/resting_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

class CountingExecutor : public Executor {
  public:
    std::uint32_t worker_count() const override { return 1; }
    void run(std::uint32_t count, Task task, void* context) override {
        tasks += count;
        for (std::uint32_t i = 0; i < count; ++i) task(context, i);
    }
    std::uint32_t tasks = 0;
};

// Balls on a plane, apart.
WorldDef balls(std::uint32_t count) {
    WorldDef def;
    def.solver.sleep_time_s = 0.1f;
    add_ground(def);
    const std::uint32_t ball = add_sphere_shape(def, 0.5f);
    for (std::uint32_t i = 0; i < count; ++i)
        add_body(def, ball, {1.5f * static_cast<float>(i % 100), 0.5f, 1.5f * static_cast<float>(i / 100)});
    return def;
}

std::vector<std::uint32_t> that_may_move(const Bodies& bodies) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 1; i < bodies.size(); ++i) {
        const std::uint8_t f = bodies.flags[i];
        if ((f & kBodyKinematic) != 0 || ((f & kBodyDynamic) != 0 && (f & kBodyAsleep) == 0)) out.push_back(i);
    }
    return out;
}

}  // namespace

TEST_CASE("a world goes on with the same bits as one that is made anew of its saved state before every tick") {
    for (const bool turning : {false, true}) {
        const WorldDef def = resting_world(turning);
        auto world = make_world(def), anew = make_world(def), back = make_world(def);
        std::vector<std::uint8_t> saved;
        Checkpoint checkpoint;
        std::uint32_t quiet = 0, sleepers = 0;
        std::uint64_t before = 0;
        for (std::uint32_t t = 0; t < 23 * 12 * 3; ++t) {
            const std::vector<Command> commands = commands_of(t);
            world->save(saved);
            world->checkpoint(checkpoint);
            REQUIRE(anew->restore(saved).ok());
            if (t % 5 == 0) REQUIRE(back->roll_back(checkpoint).ok());
            REQUIRE(world->step(commands) == StepStatus::ok);
            REQUIRE(anew->step(commands) == StepStatus::ok);
            REQUIRE(back->step(commands) == StepStatus::ok);
            const HashTree now = world->hash();
            INFO("tick " << t);
            REQUIRE(anew->hash() == now);
            REQUIRE(back->hash() == now);
            const std::uint64_t bodies = now.leaves[static_cast<std::size_t>(Subsystem::bodies)];
            quiet += bodies == before ? 1 : 0;
            before = bodies;
            sleepers = std::max(sleepers, world->stats().sleeping_bodies);
        }
        CHECK(sleepers >= 10);  // or nothing was looked at
        CHECK((quiet >= 20) == !turning);
    }
}

TEST_CASE("a step names all bodies that it changed, and of a world at rest few") {
    const WorldDef def = resting_world(false);
    auto world = make_world(def);
    std::vector<std::uint32_t> changed;
    CHECK(!world->read_changed(changed));  // new
    const auto look = [&] {
        std::vector<BodyMotion> all(64);
        for (std::uint32_t i = 0; i < all.size(); ++i)
            if (!world->read_motion(i, all[i])) all[i] = {};
        return all;
    };
    const auto same = [](const BodyMotion& a, const BodyMotion& b) {
        return a.id == b.id && a.type == b.type && std::memcmp(&a.pose, &b.pose, sizeof a.pose) == 0 &&
               std::memcmp(&a.linear_velocity, &b.linear_velocity, sizeof a.linear_velocity) == 0 &&
               std::memcmp(&a.angular_velocity, &b.angular_velocity, sizeof a.angular_velocity) == 0;
    };
    REQUIRE(world->step() == StepStatus::ok);
    CHECK(!world->read_changed(changed));  // its first step
    std::vector<BodyMotion> before = look();
    std::size_t least = before.size(), found = 0;
    for (std::uint32_t t = 1; t < 23 * 12 * 3; ++t) {
        REQUIRE(world->step(commands_of(t)) == StepStatus::ok);
        REQUIRE(world->read_changed(changed));
        REQUIRE(std::is_sorted(changed.begin(), changed.end(), std::less_equal<>()));
        const std::vector<BodyMotion> now = look();
        for (std::uint32_t i = 0; i < now.size(); ++i) {
            if (same(before[i], now[i])) continue;
            ++found;
            INFO("tick " << t << ", body " << i);
            REQUIRE(std::binary_search(changed.begin(), changed.end(), i));
        }
        least = std::min(least, changed.size());
        before = now;
    }
    CHECK(found > 1000);
    CHECK(least <= 4);  // the kinematic ones
    Checkpoint checkpoint;
    world->checkpoint(checkpoint);
    REQUIRE(world->roll_back(checkpoint).ok());
    CHECK(!world->read_changed(changed));
}

TEST_CASE("a tick in which nothing moves hands out no work, however many bodies sleep") {
    for (const std::uint32_t count : {1'000u, 10'000u}) {
        auto world = make_world(balls(count));
        CountingExecutor executor;
        run(*world, 20);
        REQUIRE(world->stats().sleeping_bodies == count);
        const HashTree asleep = world->hash();
        for (int n = 0; n < 3; ++n) REQUIRE(world->step({}, &executor) == StepStatus::ok);
        CHECK(executor.tasks == 0);
        const HashTree later = world->hash();
        for (std::size_t leaf = 1; leaf < later.leaves.size(); ++leaf) CHECK(later.leaves[leaf] == asleep.leaves[leaf]);
    }
}

TEST_CASE("who may move is known after any changes of flags, and in order") {
    Bodies bodies;
    push_body(bodies, kBodyAlive);
    Movers movers;
    Lcg random(7);
    constexpr std::uint8_t kFlags[] = {0,
                                       kBodyAlive,
                                       kBodyAlive | kBodyDynamic,
                                       kBodyAlive | kBodyDynamic | kBodyAsleep,
                                       kBodyAlive | kBodyKinematic,
                                       kBodyAlive | kBodyDynamic | kBodyAtSpeedLimit};
    for (int round = 0; round < 200; ++round) {
        const auto some = static_cast<std::uint32_t>(random.between(0.0f, round % 10 == 0 ? 300.0f : 6.0f));
        const std::uint64_t epoch = movers.epoch();
        for (std::uint32_t k = 0; k < some; ++k) {
            auto body = 1 + static_cast<std::uint32_t>(random.between(0.0f, static_cast<float>(bodies.size())));
            if (body >= bodies.size()) body = push_body(bodies, kBodyAlive);
            bodies.flags[body] = kFlags[static_cast<std::size_t>(random.between(0.0f, 5.99f))];
            movers.note(body);
        }
        CHECK((movers.epoch() != epoch) == (some != 0));
        movers.update(bodies);
        const std::vector<std::uint32_t> list(movers.list().begin(), movers.list().end());
        REQUIRE(list == that_may_move(bodies));
    }
    CHECK(bodies.size() > 50);
}
