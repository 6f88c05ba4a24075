// Contract: a script makes, changes and removes joints as a scene writes them, and says what is wrong where.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "protocol/scene/command_script.h"
#include "protocol/scene/scene.h"

using namespace orrery;

namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::unique_ptr<sim::World> make_world() {
    const std::string text = R"({"scene_version": 1, "shapes": [{"name": "box", "box": {}}], "bodies": [
        {"name": "one", "shape": "box", "position": [0, 4, 0]}, {"name": "two", "shape": "box", "position": [2, 4, 0]}],
        "joints": [{"name": "arm", "b": "one", "ball_socket": {"at": [0, 5, 0]}}]})";
    const auto scene = protocol::load_scene(bytes_of(text), "script_test.json");
    REQUIRE(scene.ok());
    auto world = sim::World::create(scene->world);
    REQUIRE(world.ok());
    return std::move(*world);
}

}  // namespace

TEST_CASE("script: joints are created between named bodies, set and removed") {
    const auto world = make_world();
    const std::string text = R"({"commands": [
        {"tick": 2, "kind": "create_joint", "tag": 5, "order": {"a": "one", "b": "two", "hinge": {"at": [1, 4, 0], "axis": [0, 0, 1]}}},
        {"tick": 3, "kind": "create_joint", "order": {"b": "two", "linear_axis_motor": {"at": [2, 4, 0], "axis": [1, 0, 0], "target_mps": 1}}},
        {"tick": 4, "kind": "set_joint", "joint": "arm", "order": {"b": "one", "ball_socket": {"at": [0.5, 5, 0], "spring": {"frequency_hz": 3}}}},
        {"tick": 9, "kind": "remove_joint", "joint": "arm"}]})";
    const auto script = protocol::CommandScript::load(bytes_of(text), "script.json", *world);
    REQUIRE_MESSAGE(script.ok(), (script.ok() ? std::string() : script.error().to_string()));
    const auto step = [&](std::uint64_t tick) { world->step(script->at(tick)); };
    step(1);
    CHECK(world->stats().joints == 1);
    step(2);
    REQUIRE(world->events().size() == 1);
    CHECK(world->events()[0].kind == sim::EventKind::joint_created);
    CHECK(world->events()[0].tag == 5);
    CHECK(std::holds_alternative<sim::Hinge>(world->joint(world->events()[0].joint).constraint));
    step(3);
    CHECK(world->stats().joints == 3);
    step(4);
    const sim::JointState arm = world->joint(world->find_joint("arm"));
    CHECK(std::get<sim::BallSocket>(arm.constraint).anchor_a.x == 0.5f);
    CHECK(std::get<sim::BallSocket>(arm.constraint).spring.frequency_hz == 3.0f);
    for (std::uint64_t tick = 5; tick <= 9; ++tick) step(tick);
    CHECK(world->stats().joints == 2);
}

TEST_CASE("script: a bad order names its place") {
    const auto world = make_world();
    const auto message = [&](const std::string& command) {
        const std::string text = "{\"commands\": [" + command + "]}";
        const auto script = protocol::CommandScript::load(bytes_of(text), "script.json", *world);
        return script.ok() ? std::string("accepted") : script.error().to_string();
    };
    const auto has = [](const std::string& text, const std::string& part) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    };
    has(message(R"({"tick": 1, "kind": "create_joint"})"), "commands[0].order: is missing");
    has(message(R"({"tick": 1, "kind": "create_joint", "order": {"b": "two"}})"), "commands[0].order: has no constraint");
    has(message(R"({"tick": 1, "kind": "create_joint", "order": {"a": "nobody", "b": "two", "weld": {}}})"), "commands[0].order.a");
    has(message(R"({"tick": 1, "kind": "create_joint", "order": {"a": "one", "b": "two", "area": {}}})"), "commands[0].order");
    has(message(R"({"tick": 1, "kind": "set_joint", "joint": "leg", "order": {"b": "two", "weld": {}}})"), "commands[0].joint: no joint of the scene is called");
    has(message(R"({"tick": 1, "kind": "despawn"})"), "commands[0].body: is missing; name a body of the scene");
    has(message(R"({"tick": 1, "kind": "despawn", "body": "onee"})"), "commands[0].body: no body of the scene is called \"onee\"; did you mean \"one\"?");
    has(message(R"({"kind": "despawn", "body": "one"})"), "commands[0].tick: is missing or 0");
}
