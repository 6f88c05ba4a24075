// Guards: the pair set is exactly the pairs of bodies whose tight bounds overlap and whose filters agree, in order,
// whatever the trees remember of earlier ticks and however many workers there are. Brute force is the judge, over ticks
// in which bodies move, jump, appear, vanish and change their filters.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/collision/broad/broad_phase.h"
#include "sim/collision/collision.h"
#include "tests/support/body_worlds.h"
#include "tests/support/executors.h"
#include "tests/support/seed.h"

namespace orrery::sim {
namespace {

constexpr float kDt = 1.0f / 60.0f, kMargin = 0.02f;

bool overlap(const BoundsRecord& a, const BoundsRecord& b) {
    for (int i = 0; i < 3; ++i) {
        if (a.min[i] > b.max[i] || b.min[i] > a.max[i]) return false;
    }
    return true;
}

bool has_shape(const Bodies& b, std::uint32_t i) {
    return (b.flags[i] & kBodyAlive) != 0 && body_info(b, i).shape != kNone;
}

// Over bounds of a broad phase that has never seen another tick.
std::vector<Pair> brute_force(const test::TestBodies& world, const std::vector<Pair>& excluded) {
    BroadPhase fresh;
    test::SerialExecutor serial;
    fresh.update(world.bodies, world.shapes, kDt, kMargin, *broad_kernels_for(Target::scalar), serial);
    const Bodies& b = world.bodies;
    std::vector<Pair> pairs;
    for (std::uint32_t i = 1; i < b.size(); ++i) {
        for (std::uint32_t j = i + 1; j < b.size(); ++j) {
            if (!has_shape(b, i) || !has_shape(b, j) || (!b.dynamic(i) && !b.dynamic(j)) ||
                (!b.active(i) && !b.active(j)))
                continue;
            if ((body_info(b, i).category & body_info(b, j).mask) == 0 ||
                (body_info(b, j).category & body_info(b, i).mask) == 0)
                continue;
            if (std::binary_search(excluded.begin(), excluded.end(), Pair{i, j})) continue;
            if (overlap(fresh.bounds()[i], fresh.bounds()[j])) pairs.push_back({i, j});
        }
    }
    return pairs;
}

std::uint8_t random_flags(test::Random& random) {
    const std::uint32_t r = random.below(10);
    return r < 6 ? kBodyDynamic : r < 8 ? kBodyKinematic : 0;
}

// More pairs of category and mask than the broad phase has classes.
void filter(Bodies& b, std::uint32_t body, test::Random& random) {
    body_info(b, body).category = 1u << random.below(3);
    body_info(b, body).mask = random.bits() & 7u;
}

void disturb(test::TestBodies& world, test::Random& random, float extent) {
    Bodies& b = world.bodies;
    for (std::uint32_t i = 1; i < b.size(); ++i) {
        if ((b.flags[i] & (kBodyDynamic | kBodyKinematic)) != 0) {
            for (int k = 0; k < 3; ++k) b.pose[i].position[k] += b.velocity[i].linear[k] * kDt;
        }
        const std::uint32_t r = random.below(400);
        if (r == 0) world.place(i, {random.vec(extent), random.rotation()});
        if (r == 1) b.flags[i] = 0;
        if (r == 2) b.flags[i] = static_cast<std::uint8_t>(kBodyAlive | random_flags(random)), ++b.generation[i];
        if (r == 3) filter(b, i, random), ++b.generation[i];
        if (r == 4)
            body_info(b, i).shape =
                random.below(4) == 0 ? kNone : random.below(static_cast<std::uint32_t>(world.shapes.size())),
                         ++b.generation[i];
        if (r == 5) world.move(i, random.vec(20.0f), random.vec(10.0f));
    }
    for (std::uint32_t k = random.below(4); k > 0; --k) {
        const std::uint32_t shape = random.below(static_cast<std::uint32_t>(world.shapes.size()));
        world.move(world.add(shape, random_flags(random), {random.vec(extent), random.rotation()}), random.vec(3.0f),
                   random.vec(3.0f));
    }
}

// Broad phases that remember the world's earlier ticks, one of each target and one with three workers.
struct Remembering {
    std::span<const Target> targets = available_targets();
    std::vector<Collision> one_each{targets.size()};
    Collision threaded;
    test::SerialExecutor serial;
    test::ThreadedExecutor three{3};

    // How many pairs there are. All find those of brute force.
    std::size_t check(const test::TestBodies& world, const std::vector<Pair>& excluded) {
        const std::vector<Pair> expected = brute_force(world, excluded);
        std::vector<Pair> pairs;
        for (std::size_t t = 0; t < targets.size(); ++t) {
            one_each[t].update_bounds(world.bodies, world.shapes, kDt, kMargin, targets[t], serial);
            test::find_pairs(one_each[t], world.bodies, excluded, targets[t], serial, pairs);
            REQUIRE(pairs == expected);
        }
        threaded.update_bounds(world.bodies, world.shapes, kDt, kMargin, best_target(), three);
        test::find_pairs(threaded, world.bodies, excluded, best_target(), three, pairs);
        REQUIRE(pairs == expected);
        return expected.size();
    }
    void forget_bodies() {
        for (Collision& collision : one_each) collision.forget_bodies();
        threaded.forget_bodies();
    }
};

}  // namespace

TEST_CASE("the pairs are those of brute force, in order, on every target and with any number of workers") {
    for (const std::uint32_t count : {0u, 1u, 15u, 200u, 1500u}) {
        test::Random random(test::seeded(count));
        test::TestBodies world;
        world.sphere(0.5f);
        world.box(0.5f, 0.3f, 0.4f);
        world.capsule(0.3f, 0.6f);
        world.box(4.0f, 0.2f, 4.0f);
        const float extent = 1.0f + 0.5f * std::cbrt(static_cast<float>(count) * 4.0f);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t body = world.add(random.below(40) == 0 ? 3 : random.below(3), random_flags(random),
                                                 {random.vec(extent), random.rotation()});
            world.move(body, random.vec(random.below(3) == 0 ? 0.1f : 4.0f), random.vec(3.0f));
        }
        Remembering phases;
        std::size_t seen = 0;
        for (int tick = 0; tick < (test::few() ? 3 : count > 1000 ? 12 : 40); ++tick) {
            std::vector<Pair> excluded;
            if (world.bodies.size() > 10) {
                for (int k = 0; k < 50; ++k) {
                    const std::uint32_t a = 1 + random.below(world.bodies.size() - 1),
                                        c = 1 + random.below(world.bodies.size() - 1);
                    if (a < c) excluded.push_back({a, c});
                }
            }
            std::sort(excluded.begin(), excluded.end());
            excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
            seen += phases.check(world, excluded);
            disturb(world, random, extent);
            if (random.below(5) != 0) continue;
            // Another state, as after a restore: bodies are others though nothing else says so.
            for (std::uint32_t i = 1; i < world.bodies.size(); ++i) {
                if (random.below(10) == 0) filter(world.bodies, i, random);
            }
            phases.forget_bodies();
        }
        if (count >= 200) CHECK(seen > count);
    }
}

// As beads and what stirs them. The many are held against each of the others while these are few, which at one time
// they are not, and then are again; once most of the many fall asleep.
TEST_CASE("few that meet many which do not meet each other: the pairs are those of brute force") {
    for (const std::uint32_t share_of_fast : {1u, 3u, 12u}) {  // one of so many
        CAPTURE(share_of_fast);
        test::Random random(test::seeded(share_of_fast));
        test::TestBodies world;
        world.sphere(0.2f);
        world.box(3.0f, 0.4f, 3.0f);
        const auto add = [&](std::uint32_t shape, std::uint8_t flags, std::uint32_t category, std::uint32_t mask,
                             float speed) {
            const std::uint32_t body = world.add(shape, flags, {random.vec(6.0f), random.rotation()});
            body_info(world.bodies, body).category = category;
            body_info(world.bodies, body).mask = mask;
            if (flags != 0) world.move(body, random.vec(speed), random.vec(2.0f));
        };
        for (std::uint32_t i = 0; i < 700; ++i)
            add(0, random.below(8) == 0 ? 0 : kBodyDynamic, 1, 2, random.below(share_of_fast) == 0 ? 12.0f : 0.05f);
        for (std::uint32_t i = 0; i < 6; ++i)
            add(1, i % 3 == 0 ? kBodyDynamic : i % 3 == 1 ? kBodyKinematic : 0, 2, 5, i < 3 ? 9.0f : 0.1f);
        for (std::uint32_t i = 0; i < 5; ++i) add(0, kBodyDynamic, 4, 2, 4.0f);
        Remembering phases;
        std::size_t seen = 0;
        for (int tick = 0; tick < (test::few() ? 4 : 30); ++tick) {
            std::vector<Pair> excluded;
            for (std::uint32_t i = 1; i < world.bodies.size(); i += 3) {
                for (std::uint32_t other = 701; other < 707; ++other)
                    excluded.push_back({std::min(i, other), std::max(i, other)});
            }
            std::sort(excluded.begin(), excluded.end());
            excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
            seen += phases.check(world, excluded);
            if (tick % 4 == 2) phases.check(world, {});
            if (tick % 5 == 1) {  // a kinematic one stops, or goes on; another state, in which some are others
                world.move(702, tick % 2 == 0 ? Vec3{} : Vec3{3.0f, 0.0f, 1.0f}, {});
                for (std::uint32_t i = 5; i < 12; ++i)
                    std::swap(body_info(world.bodies, i),
                              body_info(world.bodies, 701 + (i + static_cast<std::uint32_t>(tick)) % 5));
                phases.forget_bodies();
            }
            for (std::uint32_t i = 1; i < world.bodies.size(); ++i) {
                if ((world.bodies.flags[i] & (kBodyDynamic | kBodyKinematic)) == 0) continue;
                for (int k = 0; k < 3; ++k)
                    world.bodies.pose[i].position[k] += world.bodies.velocity[i].linear[k] * kDt;
                if (std::fabs(world.bodies.pose[i].position[0]) > 7.0f)
                    world.place(i, {random.vec(6.0f), random.rotation()});
            }
            for (int k = 0; k < 12; ++k) {
                if (tick == 6)
                    add(1, kBodyDynamic, 2, 5, 1.0f);
                else if (tick == 14)
                    world.bodies.flags[world.bodies.size() - 1 - static_cast<std::uint32_t>(k)] = 0;
            }
            if (tick == 18 || tick == 24) {
                for (std::uint32_t i = 1; i < 650; ++i) {
                    if (world.bodies.dynamic(i)) world.bodies.flags[i] ^= kBodyAsleep;
                }
            }
            if (tick % 7 == 3) {  // one goes, one comes
                world.bodies.flags[1 + random.below(world.bodies.size() - 1)] = 0;
                add(random.below(10) == 0 ? 1 : 0, kBodyDynamic, 1, 2, 3.0f);
            }
        }
        CHECK(seen > 100);
    }
}

}  // namespace orrery::sim
