// Contract: every error of a scene has a line, unknown names come with a proposal, and a string is no number.
#include <doctest/doctest.h>

#include <string>

#include "protocol/scene/command_script.h"
#include "protocol/scene/scene.h"

using namespace orrery;
using protocol::load_scene;

namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string error_of(const std::string& text) {
    const auto loaded = load_scene(bytes_of(text), "s.json");
    return loaded ? "no error" : loaded.error().to_string();
}

void says(const std::string& text, const std::string& part) {
    const std::string error = error_of(text);
    CHECK_MESSAGE(error.find(part) != std::string::npos, error << " lacks " << part);
}

std::string body(const std::string& fields) {
    return R"({"scene_version": 1, "materials": [{"name": "wood"}], "shapes": [{"name": "s", "sphere": {}}], "bodies": [{"shape": "s", )" +
           fields + "}]}";
}

}  // namespace

TEST_CASE("a string is refused where a number, a boolean or a word of the schema belongs") {
    struct Case {
        const char *field, *says;
    };
    for (const Case& one :
         {Case{R"("mass_kg": "3")", "bodies[0].mass_kg: is the string \"3\"; write a number, without quotes"},
          {R"("mass_kg": '3')", "bodies[0].mass_kg: is the string \"3\""},
          {R"("category": "7")", "bodies[0].category: is the string \"7\"; write a number"},
          {R"("user_data": "0x10")", "bodies[0].user_data: is the string"},
          {R"("mass_kg": "nan")", "bodies[0].mass_kg: is the string"},
          {R"("mass_kg": "")", "bodies[0].mass_kg: is the string \"\""},
          {R"("sensor": "true")", "bodies[0].sensor: is the string \"true\"; write true or false, without quotes"},
          {R"("sensor": "1")", "bodies[0].sensor: is the string \"1\"; write true or false"},
          {R"("type": "1")", "bodies[0].type: is the string \"1\"; write a word of BodyType"},
          {R"("position": [0, "1", 0])", "bodies[0].position[1]: is the string \"1\"; write a number"},
          {R"("position": {"x": 0, "y": "1", "z": 0})", "bodies[0].position.y: is the string \"1\""},
          {R"("locks": "linear_x linear_w")",
           "bodies[0].locks: unknown word \"linear_w\"; did you mean \"linear_x\"? AxisLock has the words linear_x, "},
          {R"("collision_mode": "static")",
           "unknown word \"static\"; CollisionMode has the words discrete, passive, continuous"}}) {
        says(body(one.field), one.says);
    }
    says(R"({"scene_version": "1"})", "s.json:1: scene_version: is the string \"1\"");
    says(R"({"scene_version": 1, "shapes": [{"hull": {"points": [[0, 0, "0"]]}}]})",
         "shapes[0].hull.points[0][2]: is the string \"0\"");
    says(R"({"scene_version": 1, "slots": [{"name": "a"}], "actuators": [{"slot": "a", "weights": [1, "2"]}]})",
         "actuators[0].weights[1]: is the string \"2\"");
}

TEST_CASE("what is not strict JSON but was always taken, still is") {
    for (const char* field :
         {"mass_kg: 3", "'mass_kg': 3", R"("mass_kg": 3, /* so */ // and
        "sensor": true,)",
          R"("type": dynamic)", R"("locks": angular_y)", R"("locks": 3)", R"("type": 0)", R"("category": 0x10)",
          R"("mass_kg": +3e0)", R"("position": null)", R"("$schema": "scene.schema.json")",
          R"("position": {x: 1, "y": 2, z: 3})", R"("name": "it \"is\" // no comment")", R"("sensor": 1)"})
        CHECK_MESSAGE(error_of(body(field)) == "no error", field << ": " << error_of(body(field)));
    CHECK(error_of("\xef\xbb\xbf" + body("\"mass_kg\": 3")) == "no error");
}

TEST_CASE("an unknown field is explained by the fields of the table that it stands in") {
    struct Case {
        const char *field, *says;
    };
    for (const Case& one :
         {Case{R"("mass": 3)",
               "bodies[0].mass: unknown field \"mass\"; did you mean \"mass_kg\"? Body has the fields name, type, "
               "shape, "},
          {R"("rotation": [0, 90, 0])", "did you mean \"rotation_deg\"?"},
          {R"("velocity": [0, 1, 0])", "did you mean \"linear_velocity\"?"},
          {R"("friction": 0.5)", "did you mean \"material\"? (friction belongs to the material that is named here)"},
          {R"("fixed": true)", "did you mean \"type\"? (a body that never moves has \"type\": \"static\")"},
          {R"("size": [1, 1, 1])", "did you mean \"shape\"? (the size belongs to the shape that the body names)"},
          {R"("linearVelocity": [0, 1, 0])", "did you mean \"linear_velocity\"?"},
          {R"("Mass_KG": 3)", "did you mean \"mass_kg\"?"},
          {R"("gravity": 1)", "did you mean \"gravity_scale\"?"},
          {R"("half_extents": [1, 1, 1])", "did you mean \"shape\"?"}}) {
        says(body(one.field), one.says);
    }
    const auto shape = [](const std::string& form) {
        return R"({"scene_version": 1, "shapes": [{"name": "s", )" + form + "}]}";
    };
    says(shape(R"("box": {"size": [1, 1, 1]})"),
         "shapes[0].box.size: unknown field \"size\"; did you mean \"half_extents\"? (give half of each edge) BoxShape "
         "has the fields half_extents");
    says(shape(R"("box": {"extents": [1, 1, 1]})"), "did you mean \"half_extents\"?");
    says(shape(R"("sphere": {"size": 1})"), "did you mean \"radius\"? SphereShape has the fields radius");
    says(shape(R"("mesh": {"file": "hill.obj"})"),
         "did you mean \"vertices\"? (write the points in the scene; a scene does not name other files) MeshShape has "
         "the fields vertices, indices");
    says(shape(R"("plane": {"normal": [0, 1, 0]})"), "unknown field \"normal\"; PlaneShape has no fields");
    // "half_height" is a capsule's: what another table has is not meant here.
    says(shape(R"("sphere": {"half_height": 1})"), "unknown field \"half_height\"; SphereShape has the fields radius");
    says(R"({"scene_version": 1, "joints": [{"b": "x", "hinge": {"min_angle": 1}}]})",
         "joints[0].hinge.min_angle: unknown field \"min_angle\"; did you mean \"min_angle_deg\"?");
    says(body(R"("colour": 1)"), "unknown field \"colour\"; Body has the fields ");
    // The key of old scenes that is refused is not among them.
    CHECK(error_of(body("\"colour\": 1")).find("continuous") == std::string::npos);
}

TEST_CASE("an error that is found after the text was read bears the line of the innermost thing that its place names") {
    const std::string scene =
        "\xef\xbb\xbf// A comment with \"bodies\": [{}, {}, {}]\r\n"
        "{\n"
        "  scene_version: 1, // bodies: [\n"
        "  'shapes': [{\"name\": \"a]}\\\"\", \"sphere\": {}},\n"
        "             {\"name\": \"s\", \"sphere\": {}}],\n"
        "  /* \"bodies\": [\n"
        "  */ \"bodies\": [\n"
        "    {\"name\": \"one\", \"shape\": \"s\"},\n"
        "    {\"name\": \"two\",\n"
        "     \"position\":\n"
        "       [0, POSITION, 0], \"linear_velocity\": {x: 0,\n"
        "       \"z\": 0, y: VELOCITY},\n"
        "     \"shape\":\n"
        "       \"SHAPE\"},\n"
        "  ],\n"
        "  \"joints\": [{\"a\": \"one\", \"b\": \"two\", \"weld\": {}},\n"
        "    {\"a\": \"one\",\n"
        "     JOINT\n"
        "     \"weld\": {}}]\n"
        "}\n";
    const auto with = [&](const std::string& position, const std::string& velocity, const std::string& shape,
                          const std::string& joint) {
        std::string text = scene;
        for (const auto& [from, to] : {std::pair<std::string, std::string>{"POSITION", position},
                                       {"VELOCITY", velocity},
                                       {"SHAPE", shape},
                                       {"JOINT", joint}})
            text.replace(text.find(from), from.size(), to);
        return text;
    };
    const std::string b = "\"b\": \"two\",";
    CHECK(error_of(with("0", "0", "s", b)) == "no error");
    says(with("5000", "0", "s", b), "s.json:11: bodies[1].position.y: is 5000");
    says(with("0", "5000", "s", b), "s.json:12: bodies[1].linear_velocity.y: is 5000");
    says(with("0", "0", "t", b), "s.json:13: bodies[1].shape: no shape is called \"t\"");
    says(with("0", "0", "s", "\"b\": \"three\","), "s.json:18: joints[1].b: no body is called \"three\"");
    says(with("0", "0", "s", ""), "s.json:17: joints[1].b: is missing");
    // The parser's own places count the same lines.
    says(with("0", "0", "s", "\"c\": 3,"), "s.json:18: joints[1].c: ");
    says(with("0", "0", "s", "\"e\": 3,"), "s.json:18: joints[1].e: unknown field \"e\"");
}

TEST_CASE("errors of a binary scene, and those that name no place inside, bear no line") {
    const std::string text = R"({"scene_version": 1, "tick_rate_hz": 60})";
    auto loaded = load_scene(bytes_of(text), "s.json");
    REQUIRE(loaded.ok());
    protocol::SceneOverrides overrides;
    overrides.substeps = 0;
    CHECK(load_scene(loaded->binary, "s.orscene", overrides).error().place == "s.orscene: substeps");
    protocol::SceneCaps caps;
    caps.max_bytes = 10;
    CHECK(load_scene(bytes_of(text), "s.json", {}, caps).error().place == "s.json");
    CHECK(protocol::with_scene_line({ErrorCode::io, "other.json: bodies[0]", ""}, bytes_of(text), "s.json").place ==
          "other.json: bodies[0]");
    // One that is not in the text, an override's, has the line where the scene begins.
    CHECK(load_scene(bytes_of("\n\n" + text), "s.json", overrides).error().place == "s.json:3: substeps");
}

TEST_CASE("an error of the definition is placed where the scene says what it is about") {
    const std::string text = R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {"radius": 0.1}}],
        "bodies": [{"name": "a", "shape": "s"}],
        "generators": [{"name": "g", "chain": {"links": 3, "shape": "s"}}, {"stack": {"count": 2, "shape": "s"}}, {"tree": {"branches": 1, "levels": 2, "shape": "s"}}],
        "joints": [{"a": "a", "b": "g[0]", "weld": {}}]})";
    const auto loaded = load_scene(bytes_of(text), "s.json");
    REQUIRE_MESSAGE(loaded.ok(), error_of(text));
    REQUIRE(loaded->generated.size() == 3);
    REQUIRE(loaded->world.bodies.size() == 1 + 3 + 2 + 2);
    REQUIRE(loaded->world.joints.size() == 3 + 2 + 1);
    const auto path = [&](const char* of) { return protocol::scene_path(of, loaded->generated); };
    CHECK(path("bodies[0].shape") == "bodies[0].shape");
    CHECK(path("bodies[1].shape") == "generators[0]");
    CHECK(path("bodies[3]") == "generators[0]");
    CHECK(path("bodies[5].mass_kg") == "generators[1]");
    CHECK(path("bodies[7]") == "generators[2]");
    CHECK(path("joints[0].body_a") == "generators[0]");
    CHECK(path("joints[4]") == "generators[2]");
    CHECK(path("joints[5].body_a") == "joints[0].body_a");
    CHECK(path("prefabs[2].bodies[1].shape") == "templates[2].bodies[1].shape");
    CHECK(path("slots[1].pose") == "slots[1].pose");
    CHECK(path("definition") == "definition");

    protocol::LoadedScene broken = *loaded;
    broken.world.joints[5].body_b = 99;
    CHECK(protocol::share_scene(broken).error().place == "joints[0].body_b");
    broken.world.joints[4].body_b = 99;
    CHECK(protocol::share_scene(std::move(broken)).error().place == "generators[2]");
}

TEST_CASE("an error of a command script bears its line") {
    const std::string scene = R"({"scene_version": 1, "slots": [{"name": "p"}]})";
    const auto world = sim::World::create(load_scene(bytes_of(scene), "s.json")->world);
    REQUIRE(world.ok());
    const auto place = [&](const std::string& text) {
        return protocol::CommandScript::load(bytes_of(text), "c.json", **world).error().place;
    };
    CHECK(place("{\"commands\": [\n{\"tick\": 1, \"slot\": \"p\"},\n{\"tick\": 2,\n\"slot\": \"q\"}]}") ==
          "c.json:4: commands[1].slot");
    CHECK(place("{\"commands\": [\n{\"tick\": \"1\", \"slot\": \"p\"}]}") == "c.json:2: commands[0].tick");
}
