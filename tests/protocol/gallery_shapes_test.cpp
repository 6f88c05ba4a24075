// The gallery's scenes of shapes do what their comments say for a minute: what stands stands, what rolls rolls, nothing sinks
// or flies.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>

#include "protocol/scene/scene.h"
#include "tests/support/seed.h"

using namespace orrery;

namespace {

constexpr int kTicks = 3600;

std::unique_ptr<sim::World> make_world(const std::string& name) {
    std::ifstream file(ORRERY_SOURCE_DIR "/deploy/scenes/gallery/" + name + ".json", std::ios::binary);
    const std::vector<std::uint8_t> text{std::istreambuf_iterator<char>(file), {}};
    const Result<protocol::LoadedScene> scene = protocol::load_scene(text, name);
    REQUIRE_MESSAGE(scene.ok(), (scene.ok() ? std::string() : scene.error().to_string()));
    Result<std::unique_ptr<sim::World>> world = sim::World::create(scene->world);
    REQUIRE_MESSAGE(world.ok(), (world.ok() ? std::string() : world.error().to_string()));
    return std::move(*world);
}

// Runs a minute; every body stays above the lowest ground and within 40 m, with no more speed than it could have got by
// falling.
void run_minute(sim::World& world) {
    std::vector<sim::BodyState> bodies;
    for (int i = 0; i < kTicks; ++i) {
        world.step();
        if (i % 10 != 0) continue;
        world.read_bodies(bodies);
        for (const sim::BodyState& body : bodies) {
            if (body.type != sim::BodyType::dynamic) continue;
            REQUIRE(body.pose.position.y > -0.5f);
            REQUIRE(std::max({std::fabs(body.pose.position.x), body.pose.position.y, std::fabs(body.pose.position.z)}) < 40.0f);
            REQUIRE(std::fabs(body.linear_velocity.y) < 20.0f);
        }
    }
}

float height(const sim::World& world, const std::string& name) {
    const sim::BodyId id = world.find_body(name);
    REQUIRE(id.valid());
    return world.body(id).pose.position.y;
}

}  // namespace

TEST_CASE("gallery: drums stand, logs stay between their posts, the wheel rolls away, the coin lies flat") {
    const auto world = make_world("cylinders");
    run_minute(*world);
    for (int i = 0; i < 8; ++i)
        CHECK(height(*world, "tower[" + std::to_string(i) + "]") == doctest::Approx(0.5 + i).epsilon(0.01));
    for (int i = 0; i < 7; ++i)
        CHECK(height(*world, "log_" + std::to_string(i)) == doctest::Approx(i < 4 ? 0.5 : 1.38).epsilon(0.03));
    CHECK(world->body(world->find_body("wheel")).pose.position.x > 4.0f);
    CHECK(height(*world, "coin") == doctest::Approx(0.04).epsilon(0.1));
}

TEST_CASE("gallery: hexagons stand, rocks come to rest on the ground") {
    const auto world = make_world("hulls");
    run_minute(*world);
    for (int i = 0; i < 8; ++i)
        CHECK(height(*world, "tower[" + std::to_string(i) + "]") == doctest::Approx(0.4 + 0.8 * i).epsilon(0.01));
    for (int i = 0; i < 36; ++i) CHECK(height(*world, "rocks[" + std::to_string(i) + "]") < 3.0f);
}

TEST_CASE("gallery: the ball rolls down the mesh and away, tables stand, the hollow holds what fell into it") {
    if (test::few()) return;
    const auto world = make_world("terrain");
    run_minute(*world);
    CHECK(world->body(world->find_body("ball")).pose.position.x > 4.0f);
    for (const char* table : {"table_0", "table_1"}) {
        const sim::BodyState body = world->body(world->find_body(table));
        CHECK(std::fabs(body.linear_velocity.y) < 0.01f);
        CHECK(body.pose.position.y > 0.3f);
        CHECK(body.pose.position.y < 1.0f);
    }
    for (int i = 0; i < 27; ++i) CHECK(height(*world, "mixed[" + std::to_string(i) + "]") < 4.0f);
}
