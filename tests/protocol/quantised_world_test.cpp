// A quantised world that reads what a step may have changed is that which reads all bodies.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "protocol/snapshot/quantised_world.h"
#include "tests/support/resting_world.h"

using namespace orrery;
using protocol::QuantisedWorld;

namespace {

bool same(const QuantisedWorld::Body& a, const QuantisedWorld::Body& b) {
    return a.state == b.state && a.changed_tick == b.changed_tick && a.user_data == b.user_data && a.shape == b.shape &&
           a.material == b.material && a.prefab == b.prefab && a.member == b.member && a.slot == b.slot &&
           a.type == b.type && a.alive == b.alive;
}

}  // namespace

TEST_CASE("what a step changed is what a look at all bodies finds") {
    auto world = test::make_world(test::resting_world(false));
    QuantisedWorld of_changes, of_all;
    std::vector<sim::BodyState> bodies;
    std::vector<std::uint8_t> saved;
    std::size_t added = 0, removed = 0;
    for (std::uint32_t t = 0; t < 23 * 12 * 3; ++t) {
        if (t == 300) {  // and after a restore
            world->save(saved);
            REQUIRE(world->restore(saved).ok());
        }
        REQUIRE(world->step(test::commands_of(t)) == sim::StepStatus::ok);
        if (t == 500) continue;  // a tick that nobody watched
        of_changes.update(*world);
        world->read_bodies(bodies);
        of_all.update(world->tick(), bodies);
        INFO("tick " << t);
        REQUIRE(of_changes.tick() == of_all.tick());
        REQUIRE(of_changes.living() == of_all.living());
        REQUIRE(std::ranges::equal(of_changes.bodies(), of_all.bodies(), same));
        REQUIRE(std::ranges::equal(of_changes.added(), of_all.added()));
        REQUIRE(std::ranges::equal(of_changes.removed(), of_all.removed()));
        added += of_all.added().size();
        removed += of_all.removed().size();
    }
    CHECK(added > 40);
    CHECK(removed > 5);
}
