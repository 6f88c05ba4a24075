// Golden hashes of the scenes that ship: a scene file, its conversion and the world together. Driven, where players have seats.
#include <doctest/doctest.h>

#include <filesystem>
#include <iomanip>
#include <iterator>
#include <set>
#include <span>
#include <sstream>
#include <utility>

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
        world->step(def.slots.empty() ? std::vector<sim::Command>{} : player(tick), course.backward ? &backward : nullptr);
        if ((tick + 1) % 30 != 0) continue;
        text << tick + 1 << ' ' << std::hex << std::setw(16) << std::setfill('0') << world->hash().root << std::dec << '\n';
    }
    return text.str();
}

// The course that all of them have.
std::string one_course(const sim::WorldDef& def, std::uint64_t ticks) {
    const std::string reference = course_of(def, {ticks});
    for (const sim::Target target : sim::available_targets()) {
        CAPTURE(std::string(sim::target_name(target)));
        CHECK(course_of(def, {ticks, target}) == reference);
    }
    CHECK(course_of(def, {ticks, sim::Target::automatic, true, true}) == reference);
    return reference;
}

constexpr const char* kGallery[] = {
    "angular_axis_gear_motor", "angular_axis_motor", "angular_hinge", "angular_motor", "angular_servo", "angular_swivel_hinge",
    "area", "ball_socket", "ball_socket_motor", "ball_socket_servo", "center_distance", "center_distance_limit", "character",
    "conveyor", "cylinders", "distance_limit", "distance_servo", "gear", "hinge", "hulls", "linear_axis_limit",
    "linear_axis_motor", "linear_axis_servo", "modes", "one_body_angular_motor", "one_body_angular_servo",
    "one_body_linear_motor", "one_body_linear_servo", "point_on_line_servo", "pulley", "rack_and_pinion", "rigs", "rolling",
    "slider", "swing_limit", "swivel_hinge", "terrain", "twist_limit", "twist_motor", "twist_servo", "volume", "weld", "wheel", "nonconvex",
    "sensors", "soft_contacts", "rope_ladder", "drive_bridge"};

std::string courses_of(std::span<const char* const> names) {
    std::string all;
    for (const char* name : names) {
        CAPTURE(name);
        const auto scene = protocol::load_scene(read_scene(std::string("gallery/") + name), name);
        REQUIRE(scene.ok());
        all += std::string(name) + '\n' + one_course(scene->world, 60);
    }
    return all;
}

}  // namespace

TEST_CASE("golden hashes of the scenes that ship hold on every target, whatever the order of tasks, and through a restore") {
    struct Shipped {
        std::string name;
        std::uint64_t ticks;
    };
    for (const Shipped& shipped : {Shipped{"yard", 120}, Shipped{"rain", 60}, Shipped{"ragdolls", 60}, Shipped{"pyramid", 60},
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
    test::check_golden("gallery", "deploy/scenes/gallery/", courses_of(kGallery));
}

#ifndef __wasm__  // whose library lists no folders
TEST_CASE("each scene of the gallery has its golden hashes") {
    std::set<std::string> there, listed(std::begin(kGallery), std::end(kGallery));
    for (const auto& file : std::filesystem::directory_iterator(ORRERY_SCENES "/gallery")) {
        if (file.path().extension() == ORRERY_SCENE_ENDING) there.insert(file.path().stem().string());
    }
    CHECK(there == listed);
}
#endif
