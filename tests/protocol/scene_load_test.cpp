// A scene gives one hash and one world in both forms; what is wrong in it is named with its place.
#include <doctest/doctest.h>
#include <flatbuffers/idl.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "protocol/scene/scene.h"
#include "protocol/scene/scene_generated.h"
#include "protocol/scene/schema_text.h"

using namespace orrery;
using protocol::load_scene;
using protocol::LoadedScene;

namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Result<LoadedScene> load_text(const std::string& text, const protocol::SceneOverrides& overrides = {},
                              const protocol::SceneCaps& caps = {}) {
    return load_scene(bytes_of(text), "test.json", overrides, caps);
}

std::string error_of(const std::string& text) {
    const Result<LoadedScene> loaded = load_text(text);
    return loaded ? "no error" : loaded.error().to_string();
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A scene that uses every table of the schema.
const char* const kEverything = R"({
  "scene_version": 1, "name": "all", "tick_rate_hz": 50, "substeps": 3, "gravity": [0, -9.5, -0.0], "seed": 7,
  "solver": {"joint_frequency_hz": 50, "joint_damping_ratio": 1.5, "contact_frequency_hz": 25, "contact_damping_ratio": 8,
             "slop_m": 0.004, "speculative_margin_m": 0.03, "max_recovery_speed_mps": 2, "restitution_threshold_mps": 0.5,
             "sleep": false, "sleep_speed_mps": 0.1, "sleep_time_s": 2, "rig_joints": 9, "rig_solver": "direct", "rig_compliance": 0.02,
             "coupling_iterations": 3, "joint_recovery_speed": 7},
  "materials": [{"name": "rubber", "friction": 0.9, "restitution": 0.4, "density_kgpm3": 900},
                {"name": "ice", "friction": 0.05},
                {"name": "belt", "rolling_resistance": 0.2, "surface_velocity": [0, 0, -1.5]}],
  "shapes": [{"name": "ball", "sphere": {"radius": 0.25}}, {"name": "crate", "box": {"half_extents": [0.5, 0.6, 0.7]}},
             {"name": "pill", "capsule": {"radius": 0.3, "half_height": 0.4}}, {"name": "ground", "plane": {}}],
  "bodies": [
    {"name": "floor", "type": "static", "shape": "ground", "material": "ice"},
    {"name": "one", "shape": "crate", "position": [1, 2, 3], "rotation_deg": [0, 90, 0], "linear_velocity": [1, 0, 0],
     "angular_velocity": [0, 2, 0], "mass_kg": 5, "linear_damping": 0.1, "angular_damping": 0.2, "gravity_scale": 0.5,
     "locks": "linear_z angular_x", "category": 2, "mask": 3, "user_data": 18446744073709551615, "sensor": true, "can_sleep": false, "collision_mode": "passive"},
    {"name": "two", "shape": "ball", "position": [2, 2, 3], "orientation": [0, 0, 0.6, 0.8]},
    {"name": "lift", "type": "kinematic", "shape": "pill", "position": [4, 1, 0]},
    {"name": "ghost", "mass_kg": 2, "position": [0, 5, 0]}],
  "joints": [
    {"name": "ball", "a": "one", "b": "two", "ball_socket": {"at": [1.5, 2, 3], "spring": {"frequency_hz": 5, "damping_ratio": 0.7}}},
    {"name": "hinge", "a": "one", "b": "two", "hinge": {"at": [1.5, 2, 3], "axis": [0, 0, 2], "min_angle_deg": -30, "max_angle_deg": 60},
     "collide_connected": true, "break_force_n": 1000, "break_torque_nm": 50},
    {"name": "local", "b": "two", "hinge": {"anchor_a": [2, 2, 3], "anchor_b": [0, 0, 0], "axis_a": [0, 1, 0], "axis_b": [0, 1, 0],
     "normal_a": [1, 0, 0], "normal_b": [1, 0, 0], "limit_spring": {"frequency_hz": 9, "max_recovery_speed": 2}}},
    {"name": "weld", "a": "one", "b": "ghost", "weld": {}},
    {"name": "rope", "a": "one", "b": "two", "distance_limit": {"anchor_a": [0.1, 0, 0]}},
    {"name": "grab", "b": "ghost", "one_body_linear_servo": {"anchor_b": [0, 0.1, 0], "target": [0, 6, 0],
     "servo": {"max_speed": 2, "base_speed": 0.1, "max_force": 100}}},
    {"name": "motor", "a": "one", "b": "two", "angular_axis_motor": {"axis": [0, 0, 1], "target_radps": 3, "motor": {"max_force": 20, "damping": 1}}}],
  "actuators": [
    {"name": "spin", "slot": "p1", "weights": [10, -10], "offset": 0.5, "min": -8, "max": 8, "motor": {"joint": "motor"}},
    {"slot": "p1", "weights": [0, 0, 100], "force": {"body": "one", "direction": [0, 3, 4], "direction_in_world": true}},
    {"slot": "p1", "weights": [0, 0, 0, 5], "torque": {"body": "one"}},
    {"slot": "p1", "weights": [1], "kinematic": {"body": "lift", "direction": [0, 1, 0], "max_speed": 2}}],
  "slots": [{"name": "p1", "template": "car", "position": [0, 1, 0], "rotation_deg": [0, 180, 0]}],
  "templates": [{"name": "car", "bodies": [{"name": "hull", "shape": "crate"}, {"name": "wheel", "shape": "ball", "position": [0.8, 0, 0]},
               {"name": "driver", "shape": "pill", "position": [0, 2, 0], "locks": "angular_x angular_y angular_z"}],
    "joints": [{"name": "axle", "a": "hull", "b": "wheel", "hinge": {"at": [0.8, 0, 0], "axis": [1, 0, 0]}},
               {"name": "drive", "a": "hull", "b": "wheel", "angular_axis_motor": {"axis_a": [1, 0, 0]}}],
    "actuators": [{"weights": [20, 5], "motor": {"joint": "drive"}}, {"weights": [0, 0, 0, 0, 7], "jump": {"body": "driver"}},
                  {"weights": [0, 0, 0, 4], "walk": {"body": "driver", "direction": [2, 0, 0], "direction_in_world": true, "max_speed": 6,
                                                     "max_force": 900, "step_height": 0.2, "max_slope_deg": 30}}]}],
  "generators": [
    {"name": "g", "grid": {"count_x": 2, "count_y": 3, "count_z": 4, "origin": [20, 1, 0], "shape": "crate"}},
    {"stack": {"count": 3, "pitch": 1.3, "origin": [30, 1, 0], "shape": "crate"}},
    {"pyramid": {"base": 3, "origin": [40, 1, 0], "shape": "crate"}},
    {"name": "c", "chain": {"chains": 2, "links": 5, "origin": [0, 30, 0], "shape": "ball", "collide": true, "category": 4, "mask": 6}},
    {"net": {"columns": 3, "rows": 4, "pin": "first_row", "joint": "distance", "origin": [0, 40, 0], "shape": "ball"}},
    {"rain": {"count": 7, "side": 2, "origin": [0, 60, 0], "shapes": ["ball", "crate"]}},
    {"arena": {"half_x": 50}}],
  "rigs": [{"name": "necklace", "bodies": ["c[2]", "two"], "solver": "coloured", "compliance": 0.03}]
})";

}  // namespace

TEST_CASE("a scene that uses everything becomes the world it describes") {
    const Result<LoadedScene> loaded = load_text(kEverything);
    REQUIRE_MESSAGE(loaded.ok(), error_of(kEverything));
    const sim::WorldDef& world = loaded->world;
    CHECK(loaded->name == "all");
    CHECK(world.tick_rate_hz == 50.0f);
    CHECK(world.substeps == 3);
    CHECK(world.gravity.y == -9.5f);
    CHECK(std::signbit(world.gravity.z));
    CHECK(world.solver.contact_frequency_hz == 25.0f);
    CHECK(!world.solver.sleep);
    CHECK(world.solver.sleep_speed_mps == 0.1f);
    CHECK(world.solver.sleep_time_s == 2.0f);
    CHECK(world.solver.rig_joints == 9);
    CHECK(world.solver.rig_solver == sim::RigSolver::direct);
    CHECK(world.solver.rig_compliance == 0.02f);
    CHECK(world.solver.coupling_iterations == 3);
    REQUIRE(world.rigs.size() == 1);
    REQUIRE(world.rigs[0].bodies.size() == 2);
    CHECK(world.bodies[world.rigs[0].bodies[0]].name == "c[2]");
    CHECK(world.bodies[world.rigs[0].bodies[0]].mask == 6);
    CHECK(world.rigs[0].bodies[1] == 2);
    CHECK(world.rigs[0].solver == sim::RigSolver::coloured);
    CHECK(world.rigs[0].compliance == 0.03f);
    CHECK(world.solver.joint_recovery_speed == 7.0f);
    CHECK(!world.bodies[1].can_sleep);
    REQUIRE(world.bodies.size() == 5 + 24 + 3 + 6 + 10 + 12 + 7 + 5);
    CHECK(world.bodies[0].type == sim::BodyType::fixed);
    CHECK(world.bodies[0].material == 1);
    REQUIRE(world.materials.size() == 3);
    CHECK(world.materials[2].rolling_resistance == 0.2f);
    CHECK(world.materials[2].surface_velocity == sim::Vec3{0.0f, 0.0f, -1.5f});
    CHECK(world.bodies[1].locks == (sim::kLockLinearZ | sim::kLockAngularX));
    CHECK(world.bodies[1].user_data == std::numeric_limits<std::uint64_t>::max());
    CHECK(world.bodies[1].sensor);
    CHECK(world.bodies[1].collision_mode == sim::CollisionMode::passive);
    CHECK(world.bodies[2].collision_mode == sim::CollisionMode::discrete);
    CHECK(world.bodies[1].pose.orientation.y == doctest::Approx(std::sqrt(0.5)));
    CHECK(world.bodies[5].name == "g[0]");
    const auto& ball = std::get<sim::BallSocket>(world.joints[2 * 5 + 9 + 8 + 0].constraint);
    CHECK(ball.anchor_a.z ==
          doctest::Approx(0.5));  // body `one` is turned by 90 degrees about y: its z axis is world x
    CHECK(ball.anchor_b.x == doctest::Approx(-0.5 * 0.28));
    CHECK(std::get<sim::Hinge>(world.joints[2 * 5 + 9 + 8 + 2].constraint).limit_spring.max_recovery_speed == 2.0f);
    REQUIRE(world.actuators.size() == 4);
    CHECK(world.actuators[1].direction.y == doctest::Approx(0.6));
    CHECK_FALSE(world.actuators[1].direction_local);
    REQUIRE(world.prefabs.size() == 1);
    CHECK(world.prefabs[0].actuators[0].joint == 1);
    REQUIRE(world.prefabs[0].actuators.size() == 3);
    const sim::ActuatorDef& jump = world.prefabs[0].actuators[1];
    const sim::ActuatorDef& walk = world.prefabs[0].actuators[2];
    CHECK(jump.kind == sim::ActuatorKind::jump);
    CHECK(jump.body == 2);
    CHECK(walk.kind == sim::ActuatorKind::walk);
    CHECK(walk.body == 2);
    CHECK(walk.direction.x == 1.0f);
    CHECK_FALSE(walk.direction_local);
    CHECK(walk.max_speed == 6.0f);
    CHECK(walk.max_force == 900.0f);
    CHECK(walk.step_height == 0.2f);
    CHECK(walk.max_slope_rad == doctest::Approx(0.5236));
    CHECK(world.slots[0].prefab == 0);
    CHECK(world.slots[0].pose.orientation.y == doctest::Approx(1.0));
}

TEST_CASE("JSON and binary forms of a scene give one hash and one binary form again") {
    for (const char* name : {"", "chains", "pyramid", "rain", "yard"}) {
        const std::string text =
            *name ? read_file(std::string(ORRERY_SOURCE_DIR "/deploy/scenes/") + name + ".json") : kEverything;
        const Result<LoadedScene> from_text = load_text(text);
        REQUIRE_MESSAGE(from_text.ok(), name << from_text.error().to_string());
        const Result<LoadedScene> from_binary = load_scene(from_text->binary, "elsewhere.orscene");
        REQUIRE(from_binary.ok());
        CHECK(from_binary->scene_hash == from_text->scene_hash);
        CHECK(from_binary->binary == from_text->binary);
        CHECK(from_binary->world.bodies.size() == from_text->world.bodies.size());
        std::vector<std::uint8_t> shifted(from_text->binary.size() + 1);  // bytes of a chunk lie anywhere
        std::memcpy(shifted.data() + 1, from_text->binary.data(), from_text->binary.size());
        CHECK(load_scene(std::span(shifted).subspan(1), "x")->scene_hash == from_text->scene_hash);
    }
}

TEST_CASE("collision modes come through JSON, binary and JSON again") {
    const Result<LoadedScene> loaded = load_text(R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {}}],
        "bodies": [{"shape": "s"}, {"shape": "s", "collision_mode": "discrete"}, {"shape": "s", "collision_mode": "passive"},
                   {"shape": "s", "collision_mode": "continuous"}]})");
    REQUIRE(loaded.ok());
    flatbuffers::IDLOptions options;
    options.strict_json = true;
    flatbuffers::Parser parser(options);
    REQUIRE(parser.Parse(protocol::scene::scene_schema_text()));
    std::string text;
    REQUIRE(flatbuffers::GenerateText(parser, loaded->binary.data(), &text));
    const Result<LoadedScene> again = load_text(text);
    REQUIRE_MESSAGE(again.ok(), error_of(text));
    CHECK(again->scene_hash == loaded->scene_hash);
    CHECK(again->binary == loaded->binary);
    using enum sim::CollisionMode;
    const sim::CollisionMode modes[] = {discrete, discrete, passive, continuous};
    for (std::size_t i = 0; i < 4; ++i) CHECK(again->world.bodies[i].collision_mode == modes[i]);
}

TEST_CASE("the old key of continuous bodies is refused with what to write in its place, unknown modes with the known") {
    const auto error_with = [](const std::string& field) {
        return error_of(R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {}}], "bodies": [{"shape": "s", )" +
                        field + "}]}");
    };
    CHECK(error_with("\"continuous\": true").find("write \"collision_mode\": \"continuous\"") != std::string::npos);
    CHECK(error_with("\"continuous\": false") == "no error");
    CHECK(error_with("\"collision_mode\": 7") != "no error");
    CHECK(error_with("\"collision_mode\": \"fast\"") != "no error");
}

TEST_CASE("every value of a scene is in its hash, its spelling is not") {
    const std::string text = kEverything;
    const std::uint64_t hash = load_text(text)->scene_hash;
    CHECK(load_text("// a comment\n" + text)->scene_hash == hash);
    // One digit at a time: each numeral of the text is a value, and each changed one another scene (or none).
    int changed = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool numeral = text[i] >= '1' && text[i] <= '9' &&
                             (text[i - 1] == ' ' || text[i - 1] == '.' || text[i - 1] == '[' || text[i - 1] == '-');
        if (!numeral) continue;
        std::string other = text;
        other[i] = text[i] == '9' ? '8' : static_cast<char>(text[i] + 1);
        const Result<LoadedScene> loaded = load_text(other);
        if (!loaded) continue;
        CHECK_MESSAGE(loaded->scene_hash != hash, "at byte " << i << ": " << text.substr(i > 20 ? i - 20 : 0, 40));
        ++changed;
    }
    CHECK(changed > 80);
    for (const char* word :
         {"\"rubber\"", "\"collide_connected\": true", "\"direction_in_world\": true", "\"pin\": \"first_row\"",
          "\"joint\": \"distance\"", "\"type\": \"kinematic\"", "\"locks\": \"linear_z"}) {
        std::string other = text;
        const std::size_t at = other.find(word);
        REQUIRE(at != std::string::npos);
        const std::string replacement = word[1] == 'r' ? "\"gummi\""
                                        : word[1] == 'c' || word[1] == 'd'
                                            ? std::string(word).substr(0, std::strlen(word) - 4) + "false"
                                        : word[1] == 'p' ? "\"pin\": \"none\""
                                        : word[1] == 'j' ? "\"joint\": \"ball_socket\""
                                        : word[1] == 't' ? "\"type\": \"dynamic\""
                                                         : "\"locks\": \"linear_x";
        other.replace(at, std::strlen(word), replacement);
        const Result<LoadedScene> loaded = load_text(other);
        if (loaded)
            CHECK_MESSAGE(loaded->scene_hash != hash, word);
        else
            CHECK_MESSAGE(word[1] == 't', loaded.error().to_string());  // the kinematic actuator objects
    }
}

TEST_CASE("what a scene leaves out is the engine's default") {
    const Result<LoadedScene> loaded = load_text(R"({"scene_version": 1, "solver": {}, "materials": [{}],
        "shapes": [{"name": "s", "sphere": {}}, {"name": "b", "box": {}}, {"name": "c", "capsule": {}}], "bodies": [{"name": "n", "shape": "s"}],
        "rigs": [{"bodies": ["n"]}], "bounds": [{"body": "n", "least": 1}]})");
    REQUIRE(loaded.ok());
    const sim::WorldDef& world = loaded->world;
    const sim::WorldDef absent;
    const sim::SolverSettings &is = world.solver, &want = absent.solver;
    CHECK(world.tick_rate_hz == absent.tick_rate_hz);
    CHECK(world.substeps == absent.substeps);
    CHECK(world.gravity == absent.gravity);
    CHECK(is.joint_frequency_hz == want.joint_frequency_hz);
    CHECK(is.joint_damping_ratio == want.joint_damping_ratio);
    CHECK(is.contact_frequency_hz == want.contact_frequency_hz);
    CHECK(is.contact_damping_ratio == want.contact_damping_ratio);
    CHECK(is.slop_m == want.slop_m);
    CHECK(is.speculative_margin_m == want.speculative_margin_m);
    CHECK(is.max_recovery_speed_mps == want.max_recovery_speed_mps);
    CHECK(is.restitution_threshold_mps == want.restitution_threshold_mps);
    CHECK(is.sleep == want.sleep);
    CHECK(is.sleep_speed_mps == want.sleep_speed_mps);
    CHECK(is.sleep_time_s == want.sleep_time_s);
    CHECK(is.rig_joints == want.rig_joints);
    CHECK(is.rig_solver == want.rig_solver);
    CHECK(is.rig_compliance == want.rig_compliance);
    CHECK(is.coupling_iterations == want.coupling_iterations);
    CHECK(is.rig_iterations == want.rig_iterations);
    const sim::RigDef rig;
    CHECK(world.rigs[0].solver == rig.solver);
    CHECK(world.rigs[0].compliance == rig.compliance);
    CHECK(world.rigs[0].iterations == rig.iterations);
    const protocol::SceneBound& bound = loaded->bounds[0];
    CHECK(bound.of == protocol::SceneBound::Of::x);
    CHECK(bound.least == 1.0);
    CHECK(bound.most > 1e300);
    CHECK(bound.from_s == 0.0);
    CHECK(bound.axis[0] == 1.0);
    CHECK(bound.to[1] == 1.0);
    CHECK(is.joint_recovery_speed == want.joint_recovery_speed);
    const sim::MaterialDef material;
    CHECK(world.materials[0].friction == material.friction);
    CHECK(world.materials[0].restitution == material.restitution);
    CHECK(world.materials[0].density_kgpm3 == material.density_kgpm3);
    CHECK(world.materials[0].rolling_resistance == material.rolling_resistance);
    CHECK(world.materials[0].surface_velocity == material.surface_velocity);
    const sim::ShapeDef shape;
    CHECK(world.shapes[0].radius == shape.radius);
    CHECK(world.shapes[1].half_extents == shape.half_extents);
    CHECK(world.shapes[2].half_height == shape.half_height);
    const sim::BodyDef body;
    CHECK(world.bodies[0].category == body.category);
    CHECK(world.bodies[0].mask == body.mask);
    CHECK(world.bodies[0].gravity_scale == body.gravity_scale);
    CHECK(world.bodies[0].type == body.type);
    CHECK(world.bodies[0].can_sleep == body.can_sleep);
    CHECK(world.bodies[0].collision_mode == body.collision_mode);
}

TEST_CASE("overrides are part of the effective scene") {
    protocol::SceneOverrides overrides;
    overrides.tick_rate_hz = 120.0f;
    overrides.substeps = 8;
    overrides.seed = 99;
    overrides.rig_solver = sim::RigSolver::automatic;
    const Result<LoadedScene> plain = load_text(kEverything), changed = load_text(kEverything, overrides);
    REQUIRE(changed.ok());
    CHECK(changed->world.tick_rate_hz == 120.0f);
    CHECK(changed->world.substeps == 8);
    CHECK(changed->world.seed == 99);
    CHECK(changed->world.solver.rig_solver == sim::RigSolver::automatic);
    CHECK(changed->world.rigs[0].solver == sim::RigSolver::automatic);
    CHECK(changed->scene_hash != plain->scene_hash);
    const Result<LoadedScene> again = load_scene(changed->binary, "recorded");
    CHECK(again->scene_hash == changed->scene_hash);
    CHECK(again->world.tick_rate_hz == 120.0f);
    overrides.tick_rate_hz = 0.0f;
    CHECK_FALSE(load_text(kEverything, overrides).ok());
}

TEST_CASE("an error names the file, the place inside it and the mend") {
    const auto scene = [](const std::string& rest) { return "{\n\"scene_version\": 1,\n" + rest + "\n}"; };
    const auto has = [](const std::string& text, const std::string& part) {
        const std::string error = error_of(text);
        CHECK_MESSAGE(error.find(part) != std::string::npos, error << " lacks " << part);
    };
    const std::string shape = "\"shapes\": [{\"name\": \"crate\", \"box\": {}}],";
    has("", "test.json");
    has("hello", "test.json:1");
    has("{", "test.json");
    has("{}", "test.json:1: scene_version: is missing");
    has("{\"scene_version\": 2}", "test.json:1: scene_version: is 2; this program reads up to 1");
    CHECK(load_text("{\"scene_version\": 2}").error().code == ErrorCode::version_mismatch);
    has(scene("\"boddies\": []"), "test.json:3: boddies: unknown field \"boddies\"; did you mean \"bodies\"?");
    has(scene("\"substeps\": \"four\""),
        "test.json:3: substeps: is the string \"four\"; write a number, without quotes");
    has(scene("\"bodies\": [{\"type\": \"dynamo\"}]"),
        "bodies[0].type: unknown word \"dynamo\"; did you mean \"dynamic\"? BodyType has the words dynamic, static, "
        "kinematic");
    has(scene("\"name\": \"" + std::string(500, 'x') + "\", \"gravity\": [0, -10]"), "xxx\", \"gravity\": [0, -10]");
    has(R"({"bodies": [{}, {"position": "up"}]})",
        "bodies[1].position: string constant where an object belongs; write {...}, for a vector [x, y, z]");
    has("{\"bodies\": [{\"name\": \"a[,{:\"}, // {[\n /* {[ \n */ {\"locks\": [1]}]}",
        ":3: bodies[1].locks[0]: a list is written where one value belongs; write a number, true or false, or a word "
        "of the schema");
    has("{\"bodies\": [{\"name\": \"a\"},\n {\"position\":\n [1, 2]}]}",
        ":3: bodies[1].position: wrong number of unnamed fields in table vector; write all of them, for a vector [x, "
        "y, z]");
    has(R"({"bodies": [{"name": "a", "masss_kg": 3}]})",
        "bodies[0].masss_kg: unknown field \"masss_kg\"; did you mean \"mass_kg\"?");
    has(R"({"bodies": {"name": "a"}})", "bodies: an object where a list belongs; write [...]");
    has("{\"gravity\": [0, -10]" + std::string(1'000'000, '\n') + "}",
        "wrong number of unnamed fields in table vector");  // soon said
    has(scene("\"bodies\": [\n{},\n{\"possition\": [0, 0, 0]}]"),
        "test.json:5: bodies[1].possition: unknown field \"possition\"; did you mean \"position\"?");
    has(scene("\"bodies\": [{\"position\": [0, 0]}]"), "test.json:3");
    has(scene("\"bodies\": [{\"type\": \"fluid\"}]"), "test.json:3");
    has(scene("\"substeps\": -1, \"seed\": 0"), "test.json:3");
    has(scene("\"substeps\": 65"), "test.json:3: substeps: is 65; give 1 to 64");
    has(scene("\"tick_rate_hz\": nan"), "test.json:3: tick_rate_hz");
    has(scene("\"gravity\": [0, -inf, 0]"), "test.json:3: gravity.y");
    has(scene("\"gravity\": [0, 1e39, 0]"), "test.json");
    has(scene("\"tick_rate_hz\": rad(60)"), "test.json:3: the text has a function call");
    has(scene("\"name\": \"../../etc\""), "test.json:3: name");
    has(scene("\"name\": \"unfinished"), "test.json:3: a string does not end");
    has(scene("/* unfinished"), "test.json:3: a comment does not end");
    has(scene(shape + "\"bodies\": [{}, {\"shape\": \"crat\"}]"),
        "test.json:3: bodies[0].mass_kg: is missing for a dynamic body without a shape");
    has(scene(shape + "\"bodies\": [{\"mass_kg\": 1}, {\"shape\": \"crat\"}]"),
        "test.json:3: bodies[1].shape: no shape is called \"crat\"; did you mean \"crate\"?");
    has(scene(shape + "\"bodies\": [{\"shape\": \"crate\", \"material\": \"wood\"}]"),
        "bodies[0].material: no material is called \"wood\"");
    has(scene(shape + "\"bodies\": [{\"name\": \"x\", \"shape\": \"crate\"}, {\"name\": \"x\", \"shape\": \"crate\"}]"),
        "bodies[1].name: a second body is called \"x\"");
    has(scene(shape + "\"bodies\": [{\"shape\": \"crate\", \"orientation\": [0, 0, 0, 2]}]"), "bodies[0].orientation");
    has(scene(shape +
              "\"bodies\": [{\"shape\": \"crate\", \"orientation\": [0, 0, 0, 1], \"rotation_deg\": [0, 0, 0]}]"),
        "bodies[0].rotation_deg: is given together with `orientation`");
    has(scene(shape + "\"bodies\": [{\"shape\": \"crate\", \"position\": [5000, 0, 0]}]"),
        "bodies[0].position.x: is 5000");
    has(scene("\"shapes\": [{\"sphere\": {}, \"box\": {}}]"), "shapes[0]: has more than one form");
    has(scene("\"shapes\": [{\"name\": \"a\"}]"), "shapes[0]: has no form");
    has(scene("\"shapes\": [{\"sphere\": {\"radius\": -1}}]"), "shapes[0].sphere.radius: is -1");
    has(scene("\"shapes\": [{\"sphere\": {\"half_height\": 1}}]"), "unknown field");
    has(scene("\"shapes\": [{\"name\": \"p\", \"plane\": {}}], \"bodies\": [{\"shape\": \"p\"}]"),
        "bodies[0].type: does not fit a plane");
    const std::string pair =
        shape + "\"bodies\": [{\"name\": \"a\", \"shape\": \"crate\"}, {\"name\": \"b\", \"shape\": \"crate\"}],";
    has(scene(pair + "\"joints\": [{\"a\": \"a\", \"b\": \"b\"}]"), "joints[0]: has no constraint");
    has(scene(pair + "\"joints\": [{\"a\": \"a\", \"ball_socket\": {\"at\": [0, 0, 0]}}]"), "joints[0].b: is missing");
    has(scene(pair + "\"joints\": [{\"a\": \"a\", \"b\": \"a\", \"ball_socket\": {\"at\": [0, 0, 0]}}]"),
        "joints[0].b: is the same body");
    has(scene(pair + "\"joints\": [{\"a\": \"a\", \"b\": \"b\", \"ball_socket\": {}}]"),
        "joints[0].ball_socket: has no place");
    has(scene(pair + "\"joints\": [{\"a\": \"a\", \"b\": \"b\", \"hinge\": {\"at\": [0, 0, 0]}}]"),
        "joints[0].hinge: has no axis");
    has(scene(pair + "\"joints\": [{\"a\": \"a\", \"b\": \"b\", \"hinge\": {\"at\": [0, 0, 0], \"axis\": [0, 0, 0]}}]"),
        "joints[0].hinge.axis: is zero or too short");
    has(scene(pair + "\"joints\": [{\"a\": \"a\", \"b\": \"c\", \"weld\": {}}]"),
        "joints[0].b: no body is called \"c\"");
    has(scene(pair + "\"joints\": [{\"a\": \"chain[2]\", \"b\": \"a\", \"weld\": {}}]"),
        "joints[0].a: no generator is called \"chain\"");
    has(scene(
            pair +
            "\"joints\": [{\"name\": \"w\", \"a\": \"a\", \"b\": \"b\", \"weld\": {}}], \"slots\": [{\"name\": \"s\"}],"
            "\"actuators\": [{\"slot\": \"s\", \"motor\": {\"joint\": \"w\"}}]"),
        "actuators[0].motor.joint: \"w\" has no target that this actuator sets");
    has(scene("\"slots\": [{\"template\": \"car\"}]"), "slots[0].template: no template is called \"car\"");
    const auto character = [&](const std::string& body, const std::string& actuator) {
        return scene(
            R"("shapes": [{"name": "hero", "capsule": {"radius": 0.3}}, {"name": "crate", "box": {}}], "bodies": [{"name": "a", )" +
            body + R"(}], "slots": [{"name": "s"}], "actuators": [{"slot": "s", )" + actuator + "}]");
    };
    const std::string hero = R"("shape": "hero", "locks": "angular_x angular_y angular_z")";
    has(character(hero, R"("walk": {"body": "b"})"), "actuators[0].walk.body: no body is called \"b\"");
    has(character(hero, R"("walk": {"body": "a", "step_height": 20})"), "actuators[0].walk.step_height: is 20");
    has(character(hero, R"("walk": {"body": "a", "max_slope_deg": 81})"), "actuators[0].walk.max_slope_deg: is 81");
    has(character(hero, R"("walk": {"body": "a", "max_force": 0})"), "actuators[0].walk.max_force: is 0");
    const auto refused = [&](const std::string& body, const std::string& actuator,
                             const std::string& part) {  // by the world
        const Result<LoadedScene> loaded = load_text(character(body, actuator));
        REQUIRE(loaded.ok());
        const auto world = sim::World::create(loaded->world);
        REQUIRE_FALSE(world.ok());
        CHECK_MESSAGE(world.error().to_string().find(part) != std::string::npos, world.error().to_string());
    };
    refused(R"("shape": "crate", "locks": "angular_x angular_y angular_z")", R"("walk": {"body": "a"})",
            "actuators[0].body: is not a character: make it a dynamic capsule");
    refused(R"("shape": "hero", "locks": "angular_x")", R"("walk": {"body": "a"})",
            "actuators[0].body: is not a character");
    refused(hero, R"("jump": {"body": "a"})", "actuators[0].body: has no walk actuator, which a jump needs");
    has(character(hero, R"("walk": {"body": "a"}, "jump": {"body": "a"})"), "actuators[0]: needs exactly one of motor");
    has(scene(pair + "\"rigs\": [{}]"), "rigs[0].bodies: is empty; name a dynamic body");
    has(scene(pair + "\"rigs\": [{\"bodies\": [\"a\", \"c\"]}]"), "rigs[0].bodies[1]: no body is called \"c\"");
    has(scene(shape + "\"bodies\": [{\"name\": \"f\", \"type\": \"static\", \"shape\": \"crate\"}], \"rigs\": "
                      "[{\"bodies\": [\"f\"]}]"),
        "rigs[0].bodies[0]: \"f\" is not dynamic");
    const auto bound = [&](const std::string& rest) { return scene(pair + "\"bounds\": [{" + rest + "}]"); };
    has(bound("\"of\": \"y\", \"least\": 0"), "bounds[0].body: is missing; name the body to measure");
    has(bound("\"body\": \"c\", \"least\": 0"), "bounds[0].body: no body is called \"c\"");
    has(bound("\"body\": \"a\", \"of\": \"y\""), "bounds[0]: has no bound; give \"least\", \"most\" or both");
    has(bound("\"body\": \"a\", \"least\": 2, \"most\": 1"), "bounds[0].least: is above \"most\"");
    has(bound("\"body\": \"a\", \"least\": 2, \"from_s\": -1"), "bounds[0].from_s: ");
    has(bound("\"body\": \"a\", \"least\": 2, \"of\": \"angle_deg\", \"axis\": [0, 0, 0]"), "bounds[0].axis: ");
    has(bound("\"body\": \"a\", \"least\": 2, \"of\": \"height\""), "test.json");
    has(scene("\"solver\": {\"coupling_iterations\": 0}"), "solver.coupling_iterations: is 0; give 1 to 16");
    has(scene("\"solver\": {\"rig_solver\": \"magic\"}"), "test.json");
    has(scene("\"generators\": [{\"stack\": {\"count\": 3}}]"), "generators[0].stack.shape: is missing");
    has(scene(shape + "\"generators\": [{\"stack\": {\"count\": 3, \"pitch\": 4000, \"shape\": \"crate\"}}]"),
        "generators[0]: puts body 2");
}

TEST_CASE("generated bodies answer to name[i], in joints and in the world") {
    const std::string text = R"({"scene_version": 1, "shapes": [{"name": "bead", "sphere": {"radius": 0.1}}],
        "bodies": [{"name": "ball", "shape": "bead", "position": [3, 0, 0]}],
        "generators": [{"name": "chain", "chain": {"links": 5, "shape": "bead"}}],
        "joints": [{"a": "chain[4]", "b": "ball", "distance_limit": {}}]})";
    const Result<LoadedScene> loaded = load_text(text);
    REQUIRE_MESSAGE(loaded.ok(), error_of(text));
    const sim::JointDef& joint = loaded->world.joints.back();
    CHECK(loaded->world.bodies[joint.body_a].name == "chain[4]");
    CHECK(joint.body_b == 0);
    CHECK(std::get<sim::DistanceLimit>(joint.constraint).max_m == doctest::Approx(3.0 - 4.5 * 0.25));
    std::string other = text;
    other.replace(other.find("chain[4]"), 8, "chain[5]");
    CHECK(error_of(other).find("joints[0].a: names body \"chain[5]\" of a generator that makes 5 bodies") !=
          std::string::npos);
}

TEST_CASE("a crowd is copies of a template, side by side in layers, tilted about the pivot") {
    const auto crowd = [](const std::string& fields, const std::string& rest = "") {
        return R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {}}],
            "templates": [{"name": "pair", "bodies": [{"name": "low", "shape": "s", "linear_velocity": [0, 1, 0]},
                {"name": "high", "shape": "s", "position": [0, 2, 0]}],
                "joints": [{"name": "rod", "a": "low", "b": "high", "distance_limit": {}}])" +
               rest + R"(}],
            "generators": [{"name": "c", "crowd": {)" +
               fields + "}}]}";
    };
    const std::string grid =
        R"("template": "pair", "count": 7, "side_x": 3, "side_z": 2, "pitch_x": 4, "pitch_y": 5, "pitch_z": 6)";
    const Result<LoadedScene> plain = load_text(crowd(grid));
    REQUIRE_MESSAGE(plain.ok(), error_of(crowd(grid)));
    const sim::WorldDef& world = plain->world;
    REQUIRE(world.bodies.size() == 14);
    REQUIRE(world.joints.size() == 7);
    CHECK(world.bodies[3].name == "c[3]");
    CHECK(world.bodies[0].pose.position == sim::Vec3{-4.0f, 0.0f, -3.0f});
    CHECK(world.bodies[9].pose.position == sim::Vec3{0.0f, 2.0f, 3.0f});  // the fifth copy's upper ball
    CHECK(world.bodies[12].pose.position == sim::Vec3{-4.0f, 5.0f, -3.0f});
    CHECK(world.joints[6].body_a == 12);
    CHECK(world.joints[6].body_b == 13);

    const Result<LoadedScene> tilted = load_text(crowd(grid + R"(, "max_tilt_deg": 30, "tilt_pivot": [0, 2, 0])"));
    REQUIRE(tilted.ok());
    bool leans = false;
    for (std::size_t i = 0; i < 14; i += 2) {
        const sim::BodyDef &low = tilted->world.bodies[i], &high = tilted->world.bodies[i + 1];
        CHECK(high.pose.position == world.bodies[i + 1].pose.position);  // it stands on the pivot
        const sim::Vec3 p = low.pose.position, q = high.pose.position;
        CHECK(std::hypot(p.x - q.x, p.y - q.y, p.z - q.z) == doctest::Approx(2.0));
        CHECK(q.y - p.y >= 2.0 * 0.75 - 1e-6);  // cos(30)^2
        CHECK(low.linear_velocity.y == doctest::Approx((q.y - p.y) / 2));
        leans = leans || std::fabs(p.x - q.x) > 0.1;
    }
    CHECK(leans);

    const auto has = [](const std::string& text, const std::string& part) {
        const std::string error = error_of(text);
        CHECK_MESSAGE(error.find(part) != std::string::npos, error << " lacks " << part);
    };
    has(crowd(""), "generators[0].crowd.template: is missing");
    has(crowd(R"("template": "pear")"), "generators[0].crowd.template: no template is called \"pear\"");
    has(crowd(R"("template": "pair", "side_z": 0)"), "generators[0].crowd.side_z: is 0");
    has(crowd(R"("template": "pair", "max_tilt_deg": 181)"), "generators[0].crowd.max_tilt_deg");
    has(crowd(R"("template": "pair")", R"(, "actuators": [{"force": {"body": "low"}}])"), "a template with actuators");
}

TEST_CASE(
    "trees branch level by level, rings close, bridges hang by both ends, ladders by one, and their errors name the "
    "field") {
    const auto rig = [](const std::string& generator) {
        return R"({"scene_version": 1, "shapes": [{"name": "bead", "sphere": {"radius": 0.1}}], "generators": [{"name": "rig", )" +
               generator + "}]}";
    };
    const Result<LoadedScene> tree =
        load_text(rig(R"("tree": {"branches": 3, "levels": 3, "shape": "bead", "origin": [1, 2, 3]})"));
    REQUIRE(tree.ok());
    REQUIRE(tree->world.bodies.size() == 13);
    REQUIRE(tree->world.joints.size() == 13);
    CHECK(tree->world.joints[0].body_a == sim::kNone);
    CHECK(tree->world.bodies[0].pose.position == sim::Vec3{1.0f, 1.875f, 3.0f});
    CHECK(tree->world.bodies[0].mask == 0);
    for (std::uint32_t k = 1; k < 13; ++k) {
        const sim::JointDef& joint = tree->world.joints[k];
        CHECK(joint.body_a == (k - 1) / 3);
        CHECK(joint.body_b == k);
        const sim::Vec3 p = tree->world.bodies[joint.body_a].pose.position, q = tree->world.bodies[k].pose.position;
        CHECK(std::hypot(p.x - q.x, p.y - q.y, p.z - q.z) == doctest::Approx(0.25));
        CHECK(q.y < p.y);
    }
    for (const std::uint32_t branches : {2u, 3u, 5u}) {
        const Result<LoadedScene> apart = load_text(
            rig("\"tree\": {\"branches\": " + std::to_string(branches) + R"(, "levels": 5, "shape": "bead"})"));
        REQUIRE(apart.ok());
        const auto& beads = apart->world.bodies;
        for (std::size_t a = 0; a < beads.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                const sim::Vec3 p = beads[a].pose.position, q = beads[b].pose.position;
                CHECK(std::hypot(p.x - q.x, p.y - q.y) > 1e-3);
            }
        }
    }
    const Result<LoadedScene> ring =
        load_text(rig(R"("ring": {"count": 7, "spacing": 0.5, "shape": "bead", "attached": false, "collide": true})"));
    REQUIRE(ring.ok());
    REQUIRE(ring->world.bodies.size() == 7);
    REQUIRE(ring->world.joints.size() == 7);
    for (std::uint32_t k = 0; k < 7; ++k) {
        const sim::Vec3 p = ring->world.bodies[k].pose.position, q = ring->world.bodies[(k + 1) % 7].pose.position;
        CHECK(std::hypot(p.x - q.x, p.y - q.y, p.z - q.z) == doctest::Approx(0.5));
    }
    CHECK(ring->world.joints.back().body_b == 0);
    const Result<LoadedScene> bridge =
        load_text(rig(R"("bridge": {"count": 4, "shape": "bead", "origin": [1, 2, 3]})"));
    REQUIRE(bridge.ok());
    REQUIRE(bridge->world.bodies.size() == 4);
    REQUIRE(bridge->world.joints.size() == 10);
    CHECK(bridge->world.bodies[3].pose.position == sim::Vec3{2.75f, 2.0f, 3.0f});
    CHECK(bridge->world.joints[0].body_a == sim::kNone);
    CHECK(std::get<sim::BallSocket>(bridge->world.joints[0].constraint).anchor_a == sim::Vec3{1.0f, 2.0f, 2.5f});
    CHECK(bridge->world.joints[9].body_a == sim::kNone);
    CHECK(std::get<sim::BallSocket>(bridge->world.joints[9].constraint).anchor_b == sim::Vec3{0.25f, 0.0f, 0.5f});
    const Result<LoadedScene> ladder = load_text(
        rig(R"("bridge": {"count": 4, "shape": "bead", "ends": "first", "step": [0, -0.3, 0], "collide": false})"));
    REQUIRE(ladder.ok());
    CHECK(ladder->world.joints.size() == 8);
    CHECK(error_of(rig(R"("ring": {"count": 2, "shape": "bead"})"))
              .find("generators[0].ring.count: is 2; give at least 3") != std::string::npos);
    for (const char* kind : {"\"ring\": {\"count\": 5", "\"chain\": {\"links\": 5", "\"tree\": {\"levels\": 3"})
        CHECK(error_of(rig(std::string(kind) + ", \"spacing\": 0, \"shape\": \"bead\"}"))
                  .find(".spacing: is 0; give the distance from one link to the next (m)") != std::string::npos);
    CHECK(error_of(rig(R"("chain": {"links": 5, "spacing": 1e16, "shape": "bead"})"))
              .find("is 1e+16; give a number from -") != std::string::npos);
    CHECK(error_of(rig(R"("tree": {"levels": 21, "branches": 1, "shape": "bead"})"))
              .find("generators[0].tree.levels: is 21; give at most 20") != std::string::npos);
    CHECK(error_of(rig(R"("tree": {"levels": 20, "branches": 1000, "shape": "bead"})")).find("1000000") !=
          std::string::npos);
    CHECK(error_of(rig(R"("tree": {}, "ring": {})")).find("exactly one of") != std::string::npos);
    const std::string rigs = R"({"scene_version": 1, "solver": {"rig_iterations": 0}})";
    CHECK(error_of(rigs).find("solver.rig_iterations: is 0; give 1 to 256") != std::string::npos);
}

TEST_CASE("a crowd's joints of four bodies join the bodies of their own copy") {
    const std::string text = R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {}}],
        "templates": [{"name": "soft", "bodies": [{"name": "p", "shape": "s"}, {"name": "q", "shape": "s", "position": [2, 0, 0]},
            {"name": "r", "shape": "s", "position": [0, 2, 0]}, {"name": "t", "shape": "s", "position": [0, 0, 2]}],
            "joints": [{"a": "p", "b": "q", "c": "r", "d": "t", "volume": {}}, {"a": "p", "b": "q", "c": "r", "area": {}}]}],
        "generators": [{"crowd": {"template": "soft", "count": 3, "side_x": 3, "pitch_x": 5}}]})";
    const Result<LoadedScene> loaded = load_text(text);
    REQUIRE_MESSAGE(loaded.ok(), error_of(text));
    const sim::WorldDef& world = loaded->world;
    REQUIRE(world.joints.size() == 6);
    const sim::JointDef &volume = world.joints[4], &area = world.joints[5];  // of the third copy
    CHECK(volume.body_a == 8);
    CHECK(volume.body_b == 9);
    CHECK(volume.body_c == 10);
    CHECK(volume.body_d == 11);
    CHECK(std::get<sim::Volume>(volume.constraint).target_m3 == doctest::Approx(8.0 / 6.0));
    CHECK(area.body_c == 10);
    CHECK(area.body_d == sim::kNone);
    CHECK(sim::World::create(world).ok());
}
