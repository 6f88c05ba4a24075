// A world's course, tick by tick, and that it is the same for every target, thread count and way through save and
// restore.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/room/thread_pool.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

namespace orrery::test {

struct CourseOf {
    const sim::WorldDef& def;
    std::uint64_t ticks;
    std::function<std::vector<sim::Command>(std::uint64_t tick)> commands = {};  // of the tick after so many
    std::function<void(const sim::World&)> look = {};                            // after each tick
};

// The hashes of all ticks. `fresh`: before each the world is saved and restored into a newly made one, of the next
// target.
inline std::vector<sim::HashTree> course(const CourseOf& of, sim::Target target, std::uint32_t threads, bool fresh) {
    server::ThreadPool pool(threads);
    auto world = make_world(of.def, target);
    std::vector<sim::HashTree> hashes;
    std::vector<std::uint8_t> saved;
    for (std::uint64_t tick = 0; tick < of.ticks; ++tick) {
        if (fresh) {
            world->save(saved);
            world = make_world(of.def, sim::available_targets()[tick % sim::available_targets().size()]);
            REQUIRE(world->restore(saved).ok());
        }
        const std::vector<sim::Command> commands = of.commands ? of.commands(tick) : std::vector<sim::Command>{};
        REQUIRE(world->step(commands, threads == 1 ? nullptr : &pool) == sim::StepStatus::ok);
        if (of.look) of.look(*world);
        hashes.push_back(world->hash());
    }
    return hashes;
}

// Bodies that both worlds have first, tick by tick.
inline void require_same_motion(sim::World& one, sim::World& other, std::uint32_t bodies, int ticks) {
    for (int tick = 0; tick < ticks; ++tick) {
        one.step(), other.step();
        for (std::uint32_t i = 0; i < bodies; ++i) {
            const sim::BodyState a = state_of(one, i), b = state_of(other, i);
            REQUIRE(a.pose == b.pose);
            REQUIRE(a.linear_velocity == b.linear_velocity);
            REQUIRE(a.angular_velocity == b.angular_velocity);
        }
    }
}

inline void check_one_course(const CourseOf& of) {
    const std::vector<sim::HashTree> reference = course(of, sim::Target::scalar, 1, false);
    const auto same = [&](sim::Target target, std::uint32_t threads, bool fresh) {
        CAPTURE(std::string(sim::target_name(target)));
        CAPTURE(threads);
        CAPTURE(fresh);
        CHECK((course(of, target, threads, fresh) == reference));
    };
    // Where few ways are taken, threads go straight on with one world in the scalar one.
    for (const sim::Target target : sim::available_targets())
        same(target, few() && target == sim::Target::scalar ? 3 : 1, false);
    if (few()) return same(sim::best_target(), 3, true);
    for (const std::uint32_t threads : {2u, 3u, 8u}) same(sim::best_target(), threads, false);
    for (const sim::Target target : sim::available_targets()) same(target, 3, true);
}

}  // namespace orrery::test
