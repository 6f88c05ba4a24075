// The gallery's scenes of shapes do what their comments say for a minute: what stands stands, what rolls rolls, nothing
// sinks or flies.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "protocol/scene/scene.h"
#include "tests/support/about.h"
#include "tests/support/seed.h"

using namespace orrery;

namespace {

constexpr int kTicks = 3600;

std::unique_ptr<sim::World> make_world(const std::string& name, bool weightless = false) {
    std::ifstream file(ORRERY_SOURCE_DIR "/deploy/scenes/" + name + ".json", std::ios::binary);
    const std::vector<std::uint8_t> text{std::istreambuf_iterator<char>(file), {}};
    const Result<protocol::LoadedScene> scene = protocol::load_scene(text, name);
    REQUIRE_MESSAGE(scene.ok(), (scene.ok() ? std::string() : scene.error().to_string()));
    sim::WorldDef def = scene->world;
    if (weightless) def.gravity = {};
    Result<std::unique_ptr<sim::World>> world = sim::World::create(def);
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
            REQUIRE(std::max({std::fabs(body.pose.position.x), body.pose.position.y, std::fabs(body.pose.position.z)}) <
                    40.0f);
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
    const auto world = make_world("gallery/cylinders");
    run_minute(*world);
    for (int i = 0; i < 8; ++i) CHECK(height(*world, "tower[" + std::to_string(i) + "]") == test::about(0.5 + i, 0.01));
    for (int i = 0; i < 7; ++i)
        CHECK(height(*world, "log_" + std::to_string(i)) == test::about(i < 4 ? 0.5 : 1.38, 0.03));
    CHECK(world->body(world->find_body("wheel")).pose.position.x > 4.0f);
    CHECK(height(*world, "coin") == test::about(0.04, 0.1));
}

TEST_CASE("gallery: hexagons stand, rocks come to rest on the ground") {
    const auto world = make_world("gallery/hulls");
    run_minute(*world);
    for (int i = 0; i < 8; ++i)
        CHECK(height(*world, "tower[" + std::to_string(i) + "]") == test::about(0.4 + 0.8 * i, 0.01));
    for (int i = 0; i < 36; ++i) CHECK(height(*world, "rocks[" + std::to_string(i) + "]") < 3.0f);
}

TEST_CASE("gallery: the ball rolls down the mesh and away, tables stand, the hollow holds what fell into it") {
    if (test::few()) return;
    const auto world = make_world("gallery/terrain");
    for (int i = 0; i < 300; ++i) world->step();
    CHECK(world->body(world->find_body("ball")).pose.position.x >
          10.5f);  // at the block; what it springs back with takes it anywhere
    run_minute(*world);
    for (const char* table : {"table_0", "table_1"}) {
        const sim::BodyState body = world->body(world->find_body(table));
        CHECK(std::fabs(body.linear_velocity.y) < 0.01f);
        CHECK(body.pose.position.y > 0.3f);
        CHECK(body.pose.position.y < 1.0f);
    }
    for (int i = 0; i < 27; ++i) CHECK(height(*world, "mixed[" + std::to_string(i) + "]") < 4.0f);
}

TEST_CASE("ragdolls: who joins bends a puppet's elbows and knees by their drives, and they hold within their limits") {
    const auto world = make_world("ragdolls", true);
    sim::Command join;
    join.kind = sim::CommandKind::join;
    world->step(std::array{join});
    std::vector<sim::BodyId> spawned;
    for (const sim::Event& event : world->events()) {
        if (event.kind == sim::EventKind::spawned) spawned.push_back(event.a);
    }
    REQUIRE(spawned.size() == 11);                                 // in the template's order
    const auto bend = [&](std::size_t upper, std::size_t lower) {  // rad
        const sim::Quat p = world->body(spawned[upper]).pose.orientation,
                        q = world->body(spawned[lower]).pose.orientation;
        return 2.0 * std::acos(std::min(1.0f, std::abs(((p.x * q.x + p.y * q.y) + p.z * q.z) + p.w * q.w)));
    };
    constexpr std::size_t kJoints[4][2] = {{3, 4}, {5, 6}, {7, 8}, {9, 10}};  // elbows, knees
    const auto hold = [&](float elbows, float knees, int ticks) {
        sim::Command control;
        control.channels = {elbows, knees};
        world->step(std::array{control});
        for (int i = 1; i < ticks; ++i) world->step();
    };
    for (const float wish : {1.0f, 0.0f, 0.5f}) {
        hold(wish, 0.75f * wish, 150);
        for (std::size_t k = 0; k < 4; ++k) {
            CAPTURE(wish);
            CAPTURE(k);
            CHECK(bend(kJoints[k][0], kJoints[k][1]) ==
                  test::about(2.0 * (k < 2 ? 1.0 : 0.75) * wish, 0.02).scale(1.0));
        }
    }
}
