// Golden hashes of the scenes that ship: a scene file, its conversion and the world together. Driven, where players have seats.
#include <doctest/doctest.h>

#include <iomanip>
#include <sstream>

#include "protocol/scene/scene.h"
#include "tests/support/golden.h"

using namespace orrery;

namespace {

// The scenes' folder and ending: JSON, or made of it by flatc where JSON is not read.
std::vector<std::uint8_t> read_scene(const std::string& name) {
    const std::string text = test::read_text(ORRERY_SCENES "/" + name + ORRERY_SCENE_ENDING).value_or("");
    return {text.begin(), text.end()};
}

std::vector<sim::Command> player(std::uint64_t tick) {
    sim::Command join, control;
    join.kind = sim::CommandKind::join;
    control.channels = {1.0f, tick % 60 < 30 ? 0.4f : -0.2f};
    if (tick == 0) return {join, control};
    return {control};
}

std::string course_of(const sim::WorldDef& def, sim::Target target, std::uint64_t ticks) {
    auto world = sim::World::create(def, {target});
    REQUIRE(world.ok());
    std::ostringstream text;
    for (std::uint64_t tick = 0; tick < ticks; ++tick) {
        (*world)->step(def.slots.empty() ? std::vector<sim::Command>{} : player(tick));
        if ((tick + 1) % 30 != 0) continue;
        text << tick + 1 << ' ' << std::hex << std::setw(16) << std::setfill('0') << (*world)->hash().root << std::dec << '\n';
    }
    return text.str();
}

}  // namespace

TEST_CASE("golden hashes of the scenes that ship hold on every target") {
    struct Shipped {
        std::string name;
        std::uint64_t ticks;
    };
    for (const Shipped& shipped : {Shipped{"yard", 120}, Shipped{"rain", 60}, Shipped{"ragdolls", 60}, Shipped{"pyramid", 60},
                                   Shipped{"chains", 60}, Shipped{"vehicle", 120}}) {
        const std::string& name = shipped.name;
        const std::uint64_t ticks = shipped.ticks;
        CAPTURE(name);
        const auto scene = protocol::load_scene(read_scene(name), name);
        REQUIRE(scene.ok());
        const std::string reference = course_of(scene->world, sim::Target::scalar, ticks);
        for (const sim::Target target : sim::available_targets()) {
            CAPTURE(std::string(sim::target_name(target)));
            CHECK(course_of(scene->world, target, ticks) == reference);
        }
        test::check_golden("scene_" + name, reference);
    }
}
