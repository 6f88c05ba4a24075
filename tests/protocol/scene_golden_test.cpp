// Golden hashes of the scenes that ship: a scene file, its conversion and the world together. Driven, where players
// have seats.
#include <doctest/doctest.h>

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/scene/scene.h"
#include "tests/support/golden.h"
#include "tests/support/seed.h"

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

// What threads may do to the order of tasks, where there are none.
class BackwardTasks final : public sim::Executor {
  public:
    std::uint32_t worker_count() const override { return 3; }
    void run(std::uint32_t count, Task task, void* context) override {
        for (std::uint32_t i = count; i-- > 0;) task(context, i);
    }
};

struct Course {
    std::uint64_t ticks;
    sim::Target target = sim::Target::scalar;
    bool backward = false;  // tasks
    bool restored = false;  // half way, in another world
};

std::unique_ptr<sim::World> created(const sim::WorldDef& def, sim::Target target) {
    auto world = sim::World::create(def, {target});
    REQUIRE(world.ok());
    return std::move(*world);
}

std::string course_of(const sim::WorldDef& def, const Course& course) {
    BackwardTasks backward;
    auto world = created(def, course.target);
    std::ostringstream text;
    for (std::uint64_t tick = 0; tick < course.ticks; ++tick) {
        if (course.restored && tick == course.ticks / 2) {
            std::vector<std::uint8_t> saved;
            world->save(saved);
            world = created(def, course.target);
            REQUIRE(world->restore(saved).ok());
        }
        world->step(def.slots.empty() ? std::vector<sim::Command>{} : player(tick),
                    course.backward ? &backward : nullptr);
        if ((tick + 1) % 30 != 0) continue;
        text << tick + 1 << ' ' << std::hex << std::setw(16) << std::setfill('0') << world->hash().root << std::dec
             << '\n';
    }
    return text.str();
}

// The course that all of them have. Where an instruction costs much, the other ways of a target are one course.
std::string one_course(const sim::WorldDef& def, std::uint64_t ticks) {
    const std::string reference = course_of(def, {ticks});
    for (const sim::Target target : sim::available_targets()) {
        CAPTURE(std::string(sim::target_name(target)));
        const bool few = test::few();
        if (!few || target != sim::Target::scalar) CHECK(course_of(def, {ticks, target, few, few}) == reference);
    }
    if (!test::few()) CHECK(course_of(def, {ticks, sim::Target::automatic, true, true}) == reference);
    return reference;
}

// The scenes of the gallery: those of the golden file in its order, then those that it lacks by name.
std::vector<std::string> gallery() {
    std::vector<std::string> names;
    std::istringstream all(ORRERY_GALLERY);
    for (std::string name; std::getline(all, name, ',');) names.push_back(name);
    const std::string golden = test::read_text(ORRERY_SOURCE_DIR "/tests/golden/gallery.txt").value_or("");
    std::ranges::stable_sort(names, {}, [&](const std::string& name) { return golden.find('\n' + name + '\n'); });
    return names;
}

}  // namespace

TEST_CASE(
    "golden hashes of the scenes that ship hold on every target, whatever the order of tasks, and through a restore") {
    struct Shipped {
        std::string name;
        std::uint64_t ticks;
    };
    for (const Shipped& shipped :
         {Shipped{"yard", 120}, Shipped{"rain", 60}, Shipped{"ragdolls", 60}, Shipped{"pyramid", 60},
          Shipped{"chains", 60}, Shipped{"vehicle", 120}, Shipped{"necklaces", 30}}) {
        const std::string& name = shipped.name;
        const std::uint64_t ticks = shipped.ticks;
        CAPTURE(name);
        if (test::few() && name == "necklaces") continue;  // 100,000 beads
        const auto scene = protocol::load_scene(read_scene(name), name);
        REQUIRE(scene.ok());
        test::check_golden("scene_" + name, "deploy/scenes/" + name + ".json", one_course(scene->world, ticks));
    }
}

TEST_CASE("golden hashes of the gallery hold on every target, whatever the order of tasks, and through a restore") {
    std::string all;
    for (const std::string& name : gallery()) {
        CAPTURE(name);
        const auto scene = protocol::load_scene(read_scene("gallery/" + name), name);
        REQUIRE(scene.ok());
        all += name + '\n' + one_course(scene->world, 60);
    }
    test::check_golden("gallery", "deploy/scenes/gallery/", all);
}
