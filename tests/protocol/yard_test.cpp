// The demo yard does what its comments say: vehicles drive and turn, the ball strikes, the seesaw tips, the bridge
// holds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>

#include "orrery/math.hpp"
#include "protocol/scene/scene.h"

using namespace orrery;

namespace {

constexpr int kTicksPerSecond = 60;

std::unique_ptr<sim::World> make_yard() {
    std::ifstream file(ORRERY_SOURCE_DIR "/deploy/scenes/yard.json", std::ios::binary);
    const std::vector<std::uint8_t> text{std::istreambuf_iterator<char>(file), {}};
    const Result<protocol::LoadedScene> scene = protocol::load_scene(text, "yard.json");
    REQUIRE_MESSAGE(scene.ok(), scene.error().to_string());
    Result<std::unique_ptr<sim::World>> world = sim::World::create(scene->world);
    REQUIRE_MESSAGE(world.ok(), world.error().to_string());
    return std::move(*world);
}

// The first body of a slot's vehicle: its chassis.
sim::BodyState chassis(const sim::World& world, std::uint16_t slot) {
    std::vector<sim::BodyState> bodies;
    world.read_bodies(bodies);
    for (const sim::BodyState& body : bodies) {
        if (body.slot == slot) return body;
    }
    return {};
}

void drive(sim::World& world, std::uint16_t slot, float throttle, float steer, int ticks) {
    sim::Command join, control;
    join.kind = sim::CommandKind::join;
    control.kind = sim::CommandKind::control;
    join.slot = control.slot = slot;
    control.channels = {throttle, steer};
    const std::vector<sim::Command> commands{join, control};
    for (int i = 0; i < ticks; ++i)
        world.step(i == 0 && !world.slot_taken(slot) ? std::span(commands) : std::span(commands).subspan(1));
}

// How far the anchors of ball sockets and hinges are from each other at most; those of a slot's bodies, or of all.
double largest_error_m(const sim::World& world, std::uint16_t slot = 0xffff) {
    std::vector<sim::JointState> joints;
    world.read_joints(joints);
    double most = 0.0;
    for (const sim::JointState& joint : joints) {
        if (slot != 0xffff && world.body(joint.b).slot != slot) continue;
        const auto at = [&](sim::BodyId id, const sim::Vec3& anchor) {
            return id.valid() ? sim::to_world(world.body(id).pose, anchor) : anchor;
        };
        const auto measure = [&](const auto& of) {
            most = std::max<double>(most, sim::distance(at(joint.a, of.anchor_a), at(joint.b, of.anchor_b)));
        };
        if (const auto* ball = std::get_if<sim::BallSocket>(&joint.constraint)) measure(*ball);
        if (const auto* hinge = std::get_if<sim::Hinge>(&joint.constraint)) measure(*hinge);
    }
    return most;
}

}  // namespace

TEST_CASE("every player's vehicle drives well over 5 m straight ahead in 10 s") {
    for (std::uint16_t slot = 0; slot < 4; ++slot) {
        const auto world = make_yard();
        drive(*world, slot, 0.0f, 0.0f, 1);
        const sim::BodyState start = chassis(*world, slot);
        drive(*world, slot, 1.0f, 0.0f, 10 * kTicksPerSecond);
        const sim::BodyState end = chassis(*world, slot);
        const float ahead = slot < 2 ? -1.0f : 1.0f;  // the first two look to -z, the others to +z
        CHECK((end.pose.position.z - start.pose.position.z) * ahead > 20.0f);
        CHECK(std::fabs(end.pose.position.x - start.pose.position.x) < 2.0f);
    }
}

TEST_CASE("steer turns the vehicle to the right on the spot, and left with the other sign") {
    for (const float steer : {1.0f, -1.0f}) {
        const auto world = make_yard();
        drive(*world, 0, 0.0f, steer, 2 * kTicksPerSecond);
        const sim::BodyState state = chassis(*world, 0);
        CHECK(state.angular_velocity.y * steer < -1.0f);
        CHECK(std::fabs(state.pose.position.x - 1.5f) < 0.5f);
        CHECK(std::fabs(state.pose.position.z - 20.0f) < 0.5f);
    }
}

TEST_CASE(
    "the wrecking ball stays on its chain and knocks the pile, the tower stands, the bridge hangs, the seesaw tips") {
    const auto world = make_yard();
    const auto at = [&](const char* name) { return world->body(world->find_body(name)).pose.position; };
    const sim::Vec3 pile = at("pile[8]");
    sim::Command push;
    push.kind = sim::CommandKind::impulse;
    push.body = world->find_body("seesaw");
    push.angular = {200.0f, 0.0f, 0.0f};
    world->step(std::span(&push, 1));
    for (int i = 0; i < 6 * kTicksPerSecond; ++i) {
        world->step();
        const sim::Vec3 ball = at("wrecking_ball");
        const float dy = ball.y - 6.0f, dz = ball.z + 12.0f, dx = ball.x + 12.0f;
        REQUIRE(std::sqrt(dx * dx + dy * dy + dz * dz) < 4.35f);
        for (const char* plank : {"plank_1", "plank_5", "plank_10"}) REQUIRE(at(plank).y > 0.5f);
    }
    const sim::Vec3 hit = at("pile[8]");
    CHECK(std::fabs(hit.x - pile.x) + std::fabs(hit.y - pile.y) + std::fabs(hit.z - pile.z) > 0.5f);
    CHECK(at("tower[5]").y > 5.3f);
    const sim::Quat tilt = world->body(push.body).pose.orientation;
    CHECK(std::fabs(tilt.x) > 0.05f);
    CHECK(std::fabs(tilt.x) < 0.12f);  // the limit of 12 degrees: sin 6 degrees = 0.105
}

TEST_CASE("the yard starts clean: with every seat taken nothing overlaps and no joint is apart at its first tick") {
    const auto world = make_yard();
    std::vector<sim::Command> joins(world->definition().slots.size());
    for (std::size_t slot = 0; slot < joins.size(); ++slot) {
        joins[slot].kind = sim::CommandKind::join;
        joins[slot].slot = static_cast<std::uint16_t>(slot);
    }
    world->step(joins);
    CHECK(world->stats().max_penetration_m < 0.001f);
    std::vector<sim::JointState> joints;
    world->read_joints(joints);
    REQUIRE(joints.size() == 31 + 4 * 8);
    CHECK(largest_error_m(*world) < 0.001);
}

TEST_CASE("a vehicle that is driving is teleported whole, and respawned where it joined") {
    const auto world = make_yard(), alone = make_yard();
    for (sim::World* w : {world.get(), alone.get()}) drive(*w, 0, 1.0f, 0.3f, 90);
    const sim::Pose from = chassis(*world, 0).pose, to{{30.0f, 12.0f, 25.0f}, {0.0f, 0.6f, 0.0f, 0.8f}};
    std::vector<sim::BodyState> before, after, others;
    world->read_bodies(before);
    world->step(std::vector{sim::Command::teleport_group(chassis(*world, 0).id, to)});
    alone->step();
    CHECK(largest_error_m(*world, 0) < 0.001);
    world->read_bodies(after);
    alone->read_bodies(others);
    REQUIRE(after.size() == before.size());
    int carried = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (after[i].slot != 0) {
            CHECK(after[i].pose == others[i].pose);
            continue;
        }
        ++carried;
        // The wheels go on turning about their axles; gravity acts for a tick.
        const sim::Vec3 was = sim::to_local(from, before[i].pose.position),
                        is = sim::to_local(to, after[i].pose.position);
        CHECK(sim::distance(was, is) < 0.01f);
    }
    CHECK(carried == 5);
    const sim::Pose home = world->definition().slots[0].pose;
    const sim::Vec3 body = world->definition().prefabs[world->definition().slots[0].prefab].bodies[0].pose.position;
    world->step(std::vector{sim::Command::respawn(0, home)});
    CHECK(largest_error_m(*world, 0) < 0.001);
    CHECK(sim::distance(chassis(*world, 0).pose.position, sim::to_world(home, body)) < 0.01f);
    drive(*world, 0, 1.0f, 0.0f, 300);
    CHECK(sim::distance(chassis(*world, 0).pose.position, home.position) > 5.0f);
}
