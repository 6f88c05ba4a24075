// Contract: every scene of the gallery stays finite for 60 simulated seconds and within the bounds that it states.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include "protocol/scene/bounds.h"
#include "protocol/scene/scene.h"

#include "tests/support/seed.h"
using namespace orrery;

namespace {

constexpr int kTicks = 3600;
const std::filesystem::path kGallery = std::filesystem::path(ORRERY_SOURCE_DIR) / "deploy" / "scenes" / "gallery";

protocol::LoadedScene load(const std::string& name) {
    std::ifstream file(kGallery / (name + ".json"), std::ios::binary);
    const std::vector<std::uint8_t> text{std::istreambuf_iterator<char>(file), {}};
    Result<protocol::LoadedScene> scene = protocol::load_scene(text, name);
    REQUIRE_MESSAGE(scene.ok(), (scene.ok() ? std::string() : scene.error().to_string()));
    return std::move(*scene);
}

std::set<std::string> names_in_gallery() {
    std::set<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(kGallery))
        if (file.path().extension() == ".json") names.insert(file.path().stem());
    return names;
}

}  // namespace

TEST_CASE("every constraint has a scene in the gallery, and every scene there has bounds") {
    const std::set<std::string> scenes = names_in_gallery();
    for (const char* name : sim::kConstraintNames) {
        CAPTURE(name);
        CHECK(scenes.count(name) == 1);
    }
    for (const std::string& name : scenes) {
        CAPTURE(name);
        CHECK(!load(name).bounds.empty());
    }
}

TEST_CASE("every scene of the gallery keeps its bounds for 60 s") {
    int scenes = 0;
    for (const std::string& name : names_in_gallery()) {
        if (test::few() && scenes++ % 10 != 0) continue;
        CAPTURE(name);
        const protocol::LoadedScene scene = load(name);
        const auto world = sim::World::create(scene.world);
        REQUIRE(world.ok());
        protocol::BoundsWatch bounds(scene.bounds, **world);
        int quarantined = 0;
        for (int tick = 1; tick <= kTicks; ++tick) {
            (*world)->step();
            for (const sim::Event& event : (*world)->events())
                quarantined += event.kind == sim::EventKind::quarantined ? 1 : 0;
            bounds.look();
        }
        CHECK(quarantined == 0);
        for (std::size_t i = 0; i < scene.bounds.size(); ++i) {
            const protocol::BoundsWatch::Kept& kept = bounds.kept()[i];
            CHECK(kept.looks > 0);
            CHECK_MESSAGE(kept.broken_at == 0, bounds.text(i));
        }
    }
}

TEST_CASE("bounds tell what of which body left them when, and which way") {
    using Of = protocol::SceneBound::Of;
    sim::WorldDef def;
    def.shapes.push_back({.name = "ball", .type = sim::ShapeType::sphere, .radius = 0.5f});
    sim::BodyDef body;
    body.name = "ball";
    body.shape = 0;
    body.pose.position = {3.0f, 4.0f, 0.0f};
    body.pose.orientation = {0.0f, 0.0f, 0.70710678f, 0.70710678f};  // x to y
    body.linear_velocity = {0.0f, -3.0f, 0.0f};
    body.angular_velocity = {0.0f, 0.0f, 0.5f};
    def.bodies.push_back(body);
    def.gravity = {};
    constexpr double kNone = 1e300;
    const auto bound = [](Of of, double least, double most, double from_s = 0.0) {
        protocol::SceneBound made;
        made.body = "ball", made.of = of, made.least = least, made.most = most, made.from_s = from_s;
        made.axis[0] = 1.0, made.to[1] = 1.0;
        return made;
    };
    // y falls by 0.05 a tick, from 4; the axis turns by 0.4775 degrees a tick.
    const std::vector<protocol::SceneBound> bounds = {
        bound(Of::x, 2.99, 3.01),      bound(Of::y, 3.88, kNone),      bound(Of::y, -kNone, 3.0, 0.4),
        bound(Of::speed, 2.99, 3.01),  bound(Of::spin_z, 0.51, kNone), bound(Of::turn_z_deg, 90.0, 91.2),
        bound(Of::distance, 4.0, 5.0), bound(Of::angle_deg, 0.0, 1.2), bound(Of::z, 0.0, 0.0, 10.0)};
    auto world = sim::World::create(def);
    REQUIRE_MESSAGE(world.ok(), (world.ok() ? std::string() : world.error().to_string()));
    protocol::BoundsWatch watch(bounds, **world);
    for (int tick = 0; tick < 30; ++tick) {
        (*world)->step();
        watch.look();
    }
    const auto broken_at = [&](std::size_t i) { return watch.kept()[i].broken_at; };
    CHECK(broken_at(0) == 0);
    CHECK(broken_at(1) == 3);
    CHECK(watch.text(1) == "bounds[1]: y of \"ball\" was 3.85 after tick 3, below 3.88");
    CHECK(broken_at(2) == 0);
    CHECK(broken_at(3) == 0);
    CHECK(broken_at(4) == 1);
    CHECK(broken_at(5) == 3);
    CHECK(watch.text(5).find("turn_z_deg of \"ball\" was 91.4") != std::string::npos);
    CHECK(broken_at(6) > 20);  // below 4 m from the origin
    CHECK(broken_at(7) == 3);
    CHECK(watch.kept()[8].looks == 0);
    CHECK(watch.broken() == 5);
    CHECK(watch.not_reached() == 1);

    const std::vector<protocol::SceneBound> of_one_gone = {bound(Of::x, 2.0, 4.0)};
    protocol::BoundsWatch gone(of_one_gone, **world);
    sim::Command despawn;
    despawn.kind = sim::CommandKind::despawn;
    despawn.body = (*world)->find_body("ball");
    gone.look();
    (*world)->step({&despawn, 1});
    gone.look();
    CHECK(gone.text(0) == "bounds[0]: \"ball\" was gone after tick 31");
}
