// Guards: that a GPU's bits are the CPU's whatever rigs. Not run by itself: tests/e2e/gpu.py asks for it where there is
// a GPU.
#include <doctest/doctest.h>

#include "server/room/rig_module.h"
#include "tests/support/random_rigs.h"
#include "tests/support/seed.h"

using namespace orrery;
using namespace orrery::server;

TEST_CASE("a GPU gives the CPU's bits for random rigs" * doctest::skip()) {
    const RigModuleFound found = find_rig_module();
    REQUIRE_MESSAGE(found.module != nullptr, found.text);
    std::uint32_t solved = 0;
    for (std::uint64_t n = 1; n <= 40; ++n) {
        const std::uint64_t seed = test::seeded(n);
        CAPTURE(seed);
        ModuleRigDevice::Settings settings;
        settings.always = true;
        std::string lost;
        settings.on_lost = [&lost](const std::string& why) { lost = why; };
        ModuleRigDevice gpu(*found.module, std::move(settings));
        const sim::WorldDef def =
            n % 4 == 0 ? test::ropes(seed, 60, n % 8 == 0 ? 200 : 40) : test::trees_and_graphs(seed, 20);
        const auto there = sim::World::create(def, {.rig_device = &gpu}), here = sim::World::create(def);
        REQUIRE(there.ok());
        REQUIRE(here.ok());
        for (int tick = 0; tick < 60; ++tick) {
            (*there)->step();
            (*here)->step();
            solved += (*there)->stats().device_rigs;
            REQUIRE((*there)->hash().root == (*here)->hash().root);
        }
        REQUIRE_MESSAGE(lost.empty(), lost);
    }
    CHECK(solved > 60 * 40 * 5);
}
