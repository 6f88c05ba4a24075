// The contract: target, threads and a save/restore on the way change no bit of any tick's hash tree, nor any event.
#include <doctest/doctest.h>

#include <cstring>

#include "server/room/thread_pool.h"
#include "tests/support/seed.h"
#include "tests/support/varied_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr int kTicks = 150;

std::string bytes_of(std::span<const Event> events) {
    std::string text;
    const auto put = [&](const auto& value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (const Event& e : events) {
        put(e.kind), put(e.cause), put(e.command), put(e.slot), put(e.a), put(e.b), put(e.joint), put(e.tag);
        put(e.point), put(e.normal), put(e.impulse);
    }
    return text;
}

struct Course {
    std::vector<HashTree> hashes;
    std::vector<std::string> events;
};

// `fresh_every_tick`: the world is saved and restored into a newly made one, of the next target, before each tick.
Course run_course(const WorldDef& def, Target target, std::uint32_t threads, bool fresh_every_tick) {
    orrery::server::ThreadPool pool(threads);
    auto world = make_world(def, target);
    std::vector<std::uint8_t> saved;
    Course course;
    for (int n = 0; n < kTicks; ++n) {
        if (fresh_every_tick) {
            world->save(saved);
            world = make_world(def, available_targets()[static_cast<std::size_t>(n) % available_targets().size()]);
            const auto restored = world->restore(saved);
            REQUIRE_MESSAGE(restored.ok(), (restored.ok() ? std::string() : restored.error().to_string()));
        }
        REQUIRE(world->step(varied_commands(world->tick()), threads == 1 ? nullptr : &pool) == StepStatus::ok);
        course.hashes.push_back(world->hash());
        course.events.push_back(bytes_of(world->events()));
    }
    return course;
}

// The first tick and subsystem where two courses part, in words; empty where they are equal.
std::string difference(const Course& x, const Course& y) {
    for (int n = 0; n < kTicks; ++n) {
        const auto i = static_cast<std::size_t>(n);
        if (x.events[i] != y.events[i]) return "events of tick " + std::to_string(n + 1);
        for (std::size_t leaf = 0; leaf < kSubsystemCount; ++leaf) {
            if (x.hashes[i].leaves[leaf] != y.hashes[i].leaves[leaf])
                return std::string(subsystem_name(static_cast<Subsystem>(leaf))) + " of tick " + std::to_string(n + 1);
        }
        if (x.hashes[i].root != y.hashes[i].root) return "root of tick " + std::to_string(n + 1);
    }
    return {};
}

}  // namespace

TEST_CASE("the same bits for every target, thread count and way through save and restore") {
    const WorldDef def = varied_world();
    const Course reference = run_course(def, Target::scalar, 1, false);
    std::size_t events = 0;
    for (const std::string& tick : reference.events) events += tick.size();
    CHECK(events > 0);
    CHECK(reference.hashes.front().root != reference.hashes.back().root);
    for (const Target target : available_targets()) {
        for (const std::uint32_t threads : {1u, 2u, 3u, 8u}) {
            for (const bool fresh : {false, true}) {
                if (target == Target::scalar && threads == 1 && !fresh) continue;
                if (few() && (threads != 3 || fresh != (target != Target::scalar))) continue;
                CAPTURE(std::string(target_name(target)));
                CAPTURE(threads);
                CAPTURE(fresh);
                CHECK(difference(reference, run_course(def, target, threads, fresh)) == "");
            }
        }
    }
}

TEST_CASE("every subsystem's leaf sees its part of the state") {
    const WorldDef def = varied_world();
    auto world = make_world(def), other = make_world(def);
    CHECK(world->hash() == other->hash());
    const auto differing = [&] {
        std::string names;
        for (std::size_t leaf = 0; leaf < kSubsystemCount; ++leaf) {
            if (world->hash().leaves[leaf] != other->hash().leaves[leaf])
                names += std::string(subsystem_name(static_cast<Subsystem>(leaf))) + " ";
        }
        return names;
    };
    for (int n = 0; n < 30; ++n) world->step(), other->step();
    CHECK(differing() == "");
    Command join = command(CommandKind::join);
    world->step(std::array{join});
    other->step();
    CHECK(differing().find("identity") != std::string::npos);
    CHECK(differing().find("control") != std::string::npos);
    CHECK(differing().find("events") != std::string::npos);
    CHECK(world->hash().root != other->hash().root);
    other->step();
    CHECK(differing().find("clock") != std::string::npos);
}
