// Contract: a script makes, changes and removes joints as a scene writes them, names what its commands make, and says
// what is wrong where.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "protocol/scene/command_script.h"
#include "protocol/scene/scene.h"

using namespace orrery;

namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::unique_ptr<sim::World> make_world(const std::string& text) {
    const auto scene = protocol::load_scene(bytes_of(text), "script_test.json");
    REQUIRE_MESSAGE(scene.ok(), (scene.ok() ? std::string() : scene.error().to_string()));
    auto world = sim::World::create(scene->world);
    REQUIRE_MESSAGE(world.ok(), (world.ok() ? std::string() : world.error().to_string()));
    return std::move(*world);
}

std::unique_ptr<sim::World> make_world() {
    return make_world(R"({"scene_version": 1, "shapes": [{"name": "box", "box": {}}], "bodies": [
        {"name": "one", "shape": "box", "position": [0, 4, 0]}, {"name": "two", "shape": "box", "position": [2, 4, 0]}],
        "joints": [{"name": "arm", "b": "one", "ball_socket": {"at": [0, 5, 0]}}]})");
}

// A cart of two bodies, of whose joints the first breaks at once; an egg, alone; and a player's cart.
std::unique_ptr<sim::World> make_yard() {
    return make_world(R"({"scene_version": 1, "gravity": [0, 0, 0], "shapes": [{"name": "box", "box": {}}], "bodies": [
        {"name": "post", "type": "static", "shape": "box"}],
        "generators": [{"name": "row", "stack": {"count": 3, "shape": "box", "origin": [50, 2, 0], "pitch": 3}}],
        "templates": [
            {"name": "cart", "bodies": [{"name": "chassis", "shape": "box"}, {"name": "wheel", "shape": "box", "position": [0, -3, 0], "linear_velocity": [100, 0, 0]}], "joints": [
                {"name": "thread", "a": "chassis", "b": "wheel", "break_force_n": 1, "ball_socket": {"at": [0, -1.5, 0]}},
                {"name": "left", "a": "chassis", "b": "wheel", "angular_axis_motor": {"axis": [1, 0, 0]}},
                {"name": "right", "a": "chassis", "b": "wheel", "angular_axis_motor": {"axis": [0, 0, 1]}}]},
            {"name": "egg", "bodies": [{"shape": "box", "mass_kg": 2}]}],
        "slots": [{"name": "driver", "template": "cart", "position": [0, 20, 0]}, {"name": "watcher"}]})");
}

protocol::CommandScript load(const std::string& commands, const sim::World& world) {
    auto script = protocol::CommandScript::load(bytes_of("{\"commands\": [" + commands + "]}"), "script.json", world);
    REQUIRE_MESSAGE(script.ok(), (script.ok() ? std::string() : script.error().to_string()));
    return std::move(*script);
}

void run(sim::World& world, protocol::CommandScript& script, std::uint64_t last_tick) {
    while (world.tick() < last_tick) {
        world.step(script.at(world.tick() + 1));
        script.note_made(world);
    }
}

int rejected(const sim::World& world) {
    return static_cast<int>(std::count_if(world.events().begin(), world.events().end(), [](const sim::Event& e) {
        return e.kind == sim::EventKind::command_rejected;
    }));
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
    has(message(R"({"tick": 1, "kind": "create_joint", "order": {"b": "two"}})"),
        "commands[0].order: has no constraint");
    has(message(R"({"tick": 1, "kind": "create_joint", "order": {"a": "nobody", "b": "two", "weld": {}}})"),
        "commands[0].order.a");
    has(message(R"({"tick": 1, "kind": "create_joint", "order": {"a": "one", "b": "two", "area": {}}})"),
        "commands[0].order");
    has(message(R"({"tick": 1, "kind": "set_joint", "joint": "leg", "order": {"b": "two", "weld": {}}})"),
        "commands[0].joint: no joint of the scene is called");
    has(message(R"({"tick": 1, "kind": "despawn"})"), "commands[0].body: is missing; name a body of the scene");
    has(message(R"({"tick": 1, "kind": "despawn", "body": "onee"})"),
        "commands[0].body: no body of the scene is called \"onee\"; did you mean \"one\"?");
    has(message(R"({"kind": "despawn", "body": "one"})"), "commands[0].tick: is missing or 0");
    has(message(R"({"tick": 1, "kind": "despawn", "body": "one", "value": 3})"),
        "commands[0].value: does not belong to a command of kind despawn, which takes body; leave it out");
    has(message(R"({"tick": 1, "kind": "impulse", "body": "one", "linear": [1, 0, 0], "channels": [1]})"),
        "commands[0].channels: does not belong");
    has(message(R"({"tick": 1, "kind": "impulse", "body": "one"})"),
        "commands[0].linear: is missing, and so is `angular`; give one of them or both");
    has(message(R"({"tick": 1, "kind": "teleport", "body": "one", "linear": [1, 0, 0]})"),
        "commands[0].position: is missing; give the new position of the body");
    has(message(R"({"tick": 1, "kind": "teleport", "body": "one", "position": [1, 5000, 0]})"),
        "commands[0].position.y: is 5000; give a number from -4096 to 4096 (kMaxCoordinate_m)");
    const std::string arm =
        R"({"tick": 1, "kind": "set_joint", "joint": "arm", "order": {"ball_socket": {"at": [0, 5, 0]}, )";
    has(message(arm + R"("a": "two", "b": "one"}})"),
        "commands[0].order.a: is \"two\", but the joint holds the world; a joint keeps its bodies");
    has(message(arm + R"("b": "two"}})"),
        "commands[0].order.b: is \"two\", but the joint holds \"one\"; a joint keeps its bodies");
    has(message(R"({"tick": 1, "kind": "create_joint", "order": {"name": "k", "a": "one", "b": "two", "weld": {}}},
                   {"tick": 2, "kind": "set_joint", "joint": "k", "order": {"a": "two", "b": "one", "weld": {}}})"),
        "commands[1].order.a: is \"two\", but the joint holds \"one\"");
}

TEST_CASE("script: what commands make is named by commands of later ticks") {
    const auto world = make_yard();
    protocol::CommandScript script = load(R"(
        {"tick": 4, "kind": "despawn", "body": "egg"},
        {"tick": 1, "kind": "spawn", "template": "cart", "position": [0, 40, 0], "name": "red"},
        {"tick": 1, "kind": "spawn", "template": "cart", "position": [0, 60, 0], "rotation_deg": [0, 90, 0], "name": "blue"},
        {"tick": 1, "kind": "spawn", "template": "egg", "position": [0, 80, 0], "name": "egg", "tag": 7},
        {"tick": 1, "kind": "spawn", "template": "egg", "position": [0, 90, 0], "tag": 8},
        {"tick": 1, "kind": "join", "slot": "driver", "name": "mine"},
        {"tick": 2, "kind": "create_joint", "order": {"name": "k", "a": "blue.chassis", "b": "row[1]", "distance_limit": {}}},
        {"tick": 2, "kind": "create_joint", "order": {"name": "spin", "a": "red.chassis", "b": "row[1]", "angular_axis_motor": {"axis": [0, 1, 0]}}},
        {"tick": 2, "kind": "grab", "body": "row[0]", "linear": [50, 2, 0], "value": 9, "name": "hand"},
        {"tick": 2, "kind": "impulse", "body": "egg", "linear": [0, 0, 3]},
        {"tick": 3, "kind": "motor_target", "joint": "red.left", "value": 1},
        {"tick": 3, "kind": "motor_target", "joint": "blue.right", "value": 2},
        {"tick": 3, "kind": "motor_target", "joint": "mine[1]", "value": 3},
        {"tick": 3, "kind": "motor_target", "joint": "spin", "value": 4},
        {"tick": 3, "kind": "move_grab", "joint": "hand", "linear": [51, 2, 0]},
        {"tick": 4, "kind": "set_joint", "joint": "k", "order": {"a": "blue[0]", "b": "row[1]", "distance_limit": {"max_m": 500}}},
        {"tick": 5, "kind": "remove_joint", "joint": "k"})",
                                          *world);
    run(*world, script, 1);
    std::vector<sim::BodyState> bodies;
    world->read_bodies(bodies);
    std::vector<sim::BodyId> spawned;
    int broken = 0;
    for (const sim::Event& event : world->events()) {
        if (event.kind == sim::EventKind::spawned) spawned.push_back(event.a);
        broken += event.kind == sim::EventKind::joint_broken ? 1 : 0;
    }
    REQUIRE(spawned.size() == 8);  // the player's first
    CHECK(broken == 3);            // every thread
    CHECK(script.name_of(spawned[2]) == "red.chassis");
    CHECK(script.name_of(spawned[5]) == "blue.wheel");
    CHECK(script.name_of(spawned[6]) == "egg");
    CHECK(script.name_of(spawned[7]).empty());
    run(*world, script, 2);
    CHECK(rejected(*world) == 0);
    CHECK(world->body(spawned[6]).linear_velocity.z > 1e-4f);
    CHECK(world->body(spawned[7]).linear_velocity.z == 0.0f);
    run(*world, script, 3);
    CHECK(rejected(*world) == 0);
    std::vector<sim::JointState> joints;
    world->read_joints(joints);
    const auto target = [&](sim::BodyId a, sim::Vec3 axis) {
        for (const sim::JointState& joint : joints) {
            const auto* motor = std::get_if<sim::AngularAxisMotor>(&joint.constraint);
            if (motor && joint.a == a && motor->axis_a == axis) return motor->target_radps;
        }
        return -1.0f;
    };
    CHECK(target(spawned[2], {1, 0, 0}) == 1.0f);
    CHECK(target(spawned[4], {0, 0, 1}) == 2.0f);
    CHECK(target(spawned[0], {1, 0, 0}) == 3.0f);
    CHECK(target(spawned[2], {0, 1, 0}) == 4.0f);
    CHECK(std::any_of(joints.begin(), joints.end(), [](const sim::JointState& joint) {
        const auto* grab = std::get_if<sim::OneBodyLinearServo>(&joint.constraint);
        return grab && grab->target == sim::Vec3{51, 2, 0};
    }));
    const std::size_t held = joints.size();
    run(*world, script, 4);
    CHECK(rejected(*world) == 0);
    CHECK(world->alive(spawned[7]));
    CHECK_FALSE(world->alive(spawned[6]));
    run(*world, script, 5);
    CHECK(rejected(*world) == 0);
    world->read_joints(joints);
    CHECK(joints.size() == held - 1);
}

TEST_CASE("script: a joint is placed as the bodies that it names were made") {
    const auto world = make_yard();
    protocol::CommandScript script = load(R"(
        {"tick": 1, "kind": "spawn", "template": "cart", "position": [0, 60, 0], "rotation_deg": [0, 0, 90], "name": "c"},
        {"tick": 2, "kind": "create_joint", "order": {"a": "post", "b": "c.wheel", "ball_socket": {"at": [3, 61, 0]}}})",
                                          *world);
    run(*world, script, 2);
    const auto created = std::find_if(world->events().begin(), world->events().end(),
                                      [](const sim::Event& e) { return e.kind == sim::EventKind::joint_created; });
    REQUIRE(created != world->events().end());
    const auto ball = std::get<sim::BallSocket>(world->joint(created->joint).constraint);
    CHECK(ball.anchor_a == sim::Vec3{3, 61, 0});
    CHECK(ball.anchor_b.x == doctest::Approx(1.0f));  // the wheel stands at (3, 60, 0), turned by a quarter
    CHECK(ball.anchor_b.y == doctest::Approx(0.0f));
}

TEST_CASE("script: what was not made is a stale id") {
    const auto world = make_yard();
    protocol::CommandScript script = load(R"(
        {"tick": 1, "kind": "spawn", "template": "egg", "position": [0, 20, 0], "linear": [1e9, 0, 0], "name": "egg"},
        {"tick": 2, "kind": "despawn", "body": "egg"},
        {"tick": 3, "kind": "create_joint", "order": {"a": "egg", "b": "post", "ball_socket": {"at": [0, 3, 0]}}},
        {"tick": 4, "kind": "create_joint", "order": {"a": "post", "b": "egg", "ball_socket": {"at": [0, 3, 0]}}})",
                                          *world);
    for (std::uint64_t tick = 1; tick <= 4; ++tick) {
        CAPTURE(tick);
        run(*world, script, tick);
        REQUIRE(rejected(*world) == 1);
        CHECK(world->events().back().cause == (tick == 1 ? sim::EventCause::too_fast : sim::EventCause::stale_id));
    }
    CHECK(script.subject(1) == "body \"egg\"");
}

TEST_CASE("script: a name that cannot be used says why") {
    const auto world = make_yard();
    const auto says = [&](const std::string& commands, const std::string& part) {
        const auto script =
            protocol::CommandScript::load(bytes_of("{\"commands\": [" + commands + "]}"), "script.json", *world);
        const std::string message = script.ok() ? "accepted" : script.error().to_string();
        CHECK_MESSAGE(message.find(part) != std::string::npos, message);
    };
    const std::string egg = R"({"tick": 3, "kind": "spawn", "template": "egg", "name": "egg"},)";
    says(egg + R"({"tick": 3, "kind": "despawn", "body": "egg"})",
         "commands[1].body: \"egg\" is made by commands[0] in tick 3; name it from tick 4 on");
    says(egg + R"({"tick": 4, "kind": "despawn", "body": "eg"})",
         "commands[1].body: no body of the scene is called \"eg\", and no command makes one; did you mean \"egg\"?");
    says(egg + R"({"tick": 9, "kind": "spawn", "template": "egg", "name": "egg"})",
         "commands[1].name: a second body is called \"egg");
    says(R"({"tick": 1, "kind": "spawn", "template": "egg", "name": "post"})",
         "commands[0].name: a second body is called \"post\"");
    says(
        R"({"tick": 1, "kind": "spawn", "template": "cart", "name": "c"}, {"tick": 2, "kind": "despawn", "body": "c"})",
        "commands[1].body: no body of the scene is called \"c\", and no command makes one");
    says(R"({"tick": 1, "kind": "despawn", "body": "post", "name": "p"})",
         "commands[0].name: is the name of what a command makes, but this command makes nothing");
    says(R"({"tick": 1, "kind": "join", "slot": "watcher", "name": "p"})",
         "commands[0].name: is the name of what a command makes, but the slot has no template");
    says(R"({"tick": 1, "kind": "join", "slot": "driverr", "name": "p"})", "commands[0].slot: no slot is called");
    says(R"({"tick": 1, "kind": "create_joint", "name": "k", "order": {"b": "row[0]", "weld": {}}})",
         "commands[0].name: is not used by create_joint");
    says(
        R"({"tick": 1, "kind": "spawn", "template": "cart", "name": "c"}, {"tick": 2, "kind": "set_joint", "joint": "c.left", "order": {"a": "post", "b": "c.wheel", "angular_axis_motor": {"axis": [1, 0, 0]}}})",
        "commands[1].order.a: is \"post\", but the joint holds \"c.chassis\"");
    says(R"({"tick": 1, "kind": "grab", "body": "post"})",
         "commands[0].linear: is missing; give the point of the world that the body is pulled to");
    says(
        R"({"tick": 1, "kind": "spawn", "template": "egg", "name": "a", "tag": 5}, {"tick": 1, "kind": "spawn", "template": "egg", "tag": 5})",
        "commands[1].tag: is also that of commands[0]");
}

TEST_CASE("script: commands for games are written with the fields that they take") {
    const auto world = make_world(R"({"scene_version": 1, "gravity": [0, 0, 0], "shapes": [{"name": "box", "box": {}}],
        "materials": [{"name": "stone"}, {"name": "ice", "friction": 0}],
        "bodies": [{"name": "crate", "shape": "box", "material": "stone"},
                   {"name": "deck", "type": "kinematic", "shape": "box", "position": [0, -9, 0]}],
        "templates": [{"name": "egg", "bodies": [{"shape": "box"}, {"shape": "box", "position": [0, 3, 0]}]}],
        "slots": [{"name": "bot", "template": "egg", "position": [0, 20, 0]}]})");
    auto script = load(R"(
        {"tick": 1, "kind": "set_filter", "body": "crate", "category": 2, "mask": 4294967294},
        {"tick": 1, "kind": "set_body_type", "body": "crate", "type": "static"},
        {"tick": 1, "kind": "set_gravity_scale", "body": "crate", "value": 0.5},
        {"tick": 1, "kind": "set_material", "body": "crate", "material": "ice"},
        {"tick": 1, "kind": "set_damping", "body": "crate", "linear_damping": 1, "angular_damping": 2},
        {"tick": 1, "kind": "kinematic_target", "body": "deck", "position": [0, -8.9, 0]},
        {"tick": 1, "kind": "occupy", "slot": "bot", "name": "egg"},
        {"tick": 2, "kind": "set_body_type", "body": "crate", "type": "dynamic"},
        {"tick": 2, "kind": "drive", "slot": "bot", "channels": [0.25, -1]},
        {"tick": 2, "kind": "force", "body": "egg[1]", "linear": [0, 0, 6000], "position": [0, 23, 0]},
        {"tick": 2, "kind": "wake", "body": "crate"},
        {"tick": 3, "kind": "teleport_group", "body": "egg[1]", "position": [5, 5, 5], "rotation_deg": [0, 0, 90]},
        {"tick": 4, "kind": "respawn", "slot": "bot", "position": [0, 30, 0], "tag": 3},
        {"tick": 6, "kind": "vacate", "slot": "bot"})",
                       *world);
    run(*world, script, 1);
    CHECK(rejected(*world) == 0);
    const sim::BodyState crate = world->body(world->find_body("crate"));
    CHECK(crate.category == 2);
    CHECK(crate.mask == 0xffff'fffeu);
    CHECK(crate.type == sim::BodyType::fixed);
    CHECK(crate.gravity_scale == 0.5f);
    CHECK(crate.material == 1);
    CHECK(crate.linear_damping == 1.0f);
    CHECK(crate.angular_damping == 2.0f);
    CHECK(world->body(world->find_body("deck")).pose.position.y == -8.9f);
    CHECK(world->slot_driven(0));
    run(*world, script, 2);
    CHECK(rejected(*world) == 0);
    CHECK(world->body(crate.id).type == sim::BodyType::dynamic);
    CHECK(world->controls(0)[0] == 0.25f);
    const sim::BodyId upper = script.body_named("egg[1]").value_or(sim::BodyId{});
    CHECK(world->body(upper).linear_velocity.z == doctest::Approx(0.1f));
    run(*world, script, 3);
    CHECK(rejected(*world) == 0);
    CHECK(world->body(upper).pose.position.x == doctest::Approx(2.0f));
    run(*world, script, 4);
    CHECK(rejected(*world) == 0);
    CHECK(world->body(script.body_named("egg[0]").value_or(sim::BodyId{})).pose.position.y == doctest::Approx(30.0f));
    run(*world, script, 6);
    CHECK(rejected(*world) == 0);
    CHECK(world->stats().bodies == 2);

    const auto message = [&](const std::string& command) {
        const std::string text = "{\"commands\": [{\"tick\": 1, " + command + "}]}";
        const auto wrong = protocol::CommandScript::load(bytes_of(text), "script.json", *world);
        return wrong.ok() ? std::string("accepted") : wrong.error().to_string();
    };
    const auto has = [](const std::string& text, const std::string& part) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    };
    has(message(R"("kind": "set_body_type", "body": "crate")"), "commands[0].type: is missing");
    has(message(R"("kind": "set_material", "body": "crate", "material": "icy")"), "did you mean \"ice\"");
    has(message(R"("kind": "set_damping", "body": "crate", "linear_damping": -1)"), "commands[0].linear_damping");
    has(message(R"("kind": "wake", "body": "crate", "mask": 3)"), "commands[0].mask: does not belong");
    has(message(R"("kind": "respawn", "slot": "bot")"), "commands[0].position: is missing");
    has(message(R"("kind": "kinematic_target", "body": "deck")"), "commands[0].position: is missing");
    has(message(R"("kind": "vacate", "slot": "bot", "channels": [1])"), "commands[0].channels: does not belong");
    has(message(R"("kind": "force", "body": "crate")"), "commands[0].linear: is missing");
}
