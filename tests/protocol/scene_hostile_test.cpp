// Scenes from strangers: bounded in time and memory, an error or a scene, never a crash.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <fstream>
#include <iterator>
#include <random>

#include "protocol/scene/scene.h"
#include "protocol/scene/scene_generated.h"

#include "tests/support/seed.h"
using namespace orrery;
using protocol::load_scene;
using protocol::LoadedScene;

namespace {

std::vector<std::uint8_t> read_file(const std::string& name) {
    std::ifstream file(ORRERY_SOURCE_DIR "/deploy/scenes/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

long peak_kib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

// Loads what may be anything: the answer is a scene whose parts are within the caps, or an error with a place.
void load_anything(const std::vector<std::uint8_t>& bytes) {
    protocol::SceneCaps caps;
    caps.max_bodies = 20'000;
    caps.max_joints = 20'000;
    const Result<LoadedScene> loaded = load_scene(bytes, "hostile", {}, caps);
    if (loaded)
        CHECK(loaded->world.bodies.size() <= caps.max_bodies);
    else
        CHECK(loaded.error().place.starts_with("hostile"));
}

}  // namespace

TEST_CASE("a small scene that asks for 10^12 bodies is refused before anything is made") {
    const char* const scenes[] = {
        R"({"grid": {"count_x": 10000, "count_y": 10000, "count_z": 10000, "shape": "s"}})",
        R"({"grid": {"count_x": 4294967295, "count_y": 4294967295, "count_z": 4294967295, "shape": "s"}})",
        R"({"grid": {"count_x": 0, "count_y": 4294967295, "count_z": 4294967295, "shape": "s"}})",
        R"({"stack": {"count": 4294967295, "shape": "s"}})",
        R"({"pyramid": {"base": 4294967295, "shape": "s"}})",
        R"({"chain": {"chains": 1000000, "links": 1000000, "shape": "s"}})",
        R"({"chain": {"chains": 4294967295, "links": 0, "shape": "s"}})",
        R"({"net": {"columns": 1000000, "rows": 1000000, "shape": "s"}})",
        R"({"net": {"columns": 0, "rows": 4294967295, "shape": "s"}})",
        R"({"rain": {"count": 4294967295, "side": 1, "shapes": ["s"]}})",
        R"({"crowd": {"count": 4294967295, "template": "t"}})",
        R"({"rope_ladder": {"rungs": 4294967295, "links": 0, "rung_shape": "s"}})",
        R"({"rope_ladder": {"rungs": 1, "links": 4294967295, "rung_shape": "s", "link_shape": "s"}})",
        R"({"rope_ladder": {"rungs": 4294967295, "links": 4294967295, "rung_shape": "s", "link_shape": "s"}})",
    };
    for (const char* generator : scenes) {
        const long before = peak_kib();
        const auto text = bytes_of(std::string(R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {}}],
                                 "templates": [{"name": "t", "bodies": [{"shape": "s"}]}], "generators": [)") +
                                   generator + "]}");
        const Result<LoadedScene> loaded = load_scene(text, "big.json");
        REQUIRE_FALSE(loaded.ok());
        CHECK(loaded.error().code == ErrorCode::limit_reached);
        CHECK(loaded.error().place == "big.json:2: generators[0]");
        CHECK(peak_kib() - before < 64 * 1024);
    }
    // Many generators whose sum is too much, each alone within the cap.
    std::string many = R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {}}], "generators": [)";
    for (int i = 0; i < 12; ++i) many += R"({"stack": {"count": 90000, "pitch": 0.001, "shape": "s"}},)";
    CHECK(load_scene(bytes_of(many + "]}"), "big.json").error().place == "big.json:1: generators[11]");
    // The cap is the caller's to raise.
    protocol::SceneCaps caps;
    caps.max_bodies = 2'000'000;
    CHECK(load_scene(bytes_of(many + "]}"), "big.json", {}, caps).ok());
}

TEST_CASE("nesting, size and names are bounded") {
    const auto code = [](const std::string& text) {
        const Result<LoadedScene> loaded = load_scene(bytes_of(text), "x.json");
        return loaded ? ErrorCode::io : loaded.error().code;
    };
    CHECK(code("{\"x\":" + std::string(100'000, '[')) == ErrorCode::limit_reached);
    CHECK(code(std::string(1'000'000, '{')) == ErrorCode::limit_reached);
    CHECK(code(R"({"scene_version": 1, "materials": [{"name": ")" + std::string(1'000, 'n') + "\"}]}") ==
          ErrorCode::limit_reached);
    std::string slots = R"({"scene_version": 1, "slots": [)";
    for (int i = 0; i < 257; ++i) slots += "{},";
    CHECK(code(slots + "]}") == ErrorCode::limit_reached);
    protocol::SceneCaps caps;
    caps.max_bytes = 10;
    CHECK(load_scene(bytes_of(R"({"scene_version": 1})"), "x.json", {}, caps).error().code == ErrorCode::limit_reached);
    CHECK(load_scene(bytes_of(R"({"scene_version": 1})"), "x.json").ok());
}

TEST_CASE("an error of a limit carries the limit's name") {
    const auto message = [](const std::string& rest) {
        const Result<LoadedScene> loaded = load_scene(
            bytes_of(R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {}}], )" + rest + "}"), "x.json");
        return loaded ? std::string("accepted") : loaded.error().to_string();
    };
    const auto list = [](const char* field, const std::string& one, int count) {
        std::string text = std::string("\"") + field + "\": [";
        for (int i = 0; i < count; ++i) text += one + ",";
        return text + "]";
    };
    struct Case {
        std::string scene;
        const char* says;
    };
    const Case cases[] = {
        {list("slots", "{}", 257), "slots: has 257 entries; at most 256 are accepted (kMaxSlots)"},
        {list("templates", "{}", 10'001), "templates: has 10001 entries; at most 10000 are accepted (kMaxTemplates)"},
        {list("generators", "{}", 10'001),
         "generators: has 10001 entries; at most 10000 are accepted (kMaxGenerators)"},
        {R"("generators": [{"rain": {)" + list("shapes", "\"s\"", 17) + "}}]", "(kMaxRainShapes)"},
        {R"("generators": [{"tree": {"levels": 21, "branches": 1, "shape": "s"}}])", "(kMaxTreeLevels)"},
        {R"("materials": [{"name": ")" + std::string(121, 'n') + "\"}]", "(kMaxNameBytes)"},
        {R"("slots": [{"name": "p"}], "bodies": [{"name": "b", "shape": "s"}], "actuators": [{"slot": "p", "weights": [1,1,1,1,1,1,1,1,1], "force": {"body": "b"}}])",
         "(kControlChannels)"},
        {list("bounds", "{}", 10'001), "bounds: has 10001 entries; at most 10000 are accepted (kMaxSceneBounds)"},
        {R"("rigs": [{"bodies": [")" + std::string(121, 'n') + "\"]}]", "(kMaxNameBytes)"},
        {R"("substeps": 65)", "(kMaxSubsteps)"},
        {R"("solver": {"rig_iterations": 257})", "(kMaxRigIterations)"},
        {R"("solver": {"coupling_iterations": 17})", "(kMaxCouplingIterations)"},
        {R"("gravity": )" + std::string(100, '['), "(kMaxJsonDepth)"},
    };
    for (const Case& one : cases)
        CHECK_MESSAGE(message(one.scene).find(one.says) != std::string::npos, message(one.scene));
    const auto shaped = [&](const std::string& form) {
        const Result<LoadedScene> loaded = load_scene(
            bytes_of(R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {}}, {)" + form + "}]}"), "x.json");
        return loaded ? std::string("accepted") : loaded.error().to_string();
    };
    const std::string hull = shaped("\"hull\": {" + list("points", "[0, 0, 0]", 65'537) + "}"),
                      compound = shaped("\"compound\": {" + list("children", "{\"shape\": \"s\"}", 65'537) + "}");
    CHECK_MESSAGE(hull.find("shapes[1].hull.points: has 65537 entries; at most 65536 are accepted (kMaxHullPoints)") !=
                      std::string::npos,
                  hull);
    CHECK_MESSAGE(
        compound.find(
            "shapes[1].compound.children: has 65537 entries; at most 65536 are accepted (kMaxCompoundChildren)") !=
            std::string::npos,
        compound);
}

TEST_CASE("a binary scene that shares one long string or one table among many is refused by its size unpacked") {
    flatbuffers::FlatBufferBuilder builder;
    const auto name = builder.CreateString(std::string(60'000, 'x'));
    std::vector<flatbuffers::Offset<protocol::scene::Body>> bodies;
    for (int i = 0; i < 4'000; ++i)
        bodies.push_back(protocol::scene::CreateBody(builder, name, protocol::scene::BodyType::dynamic, name, name));
    const auto list = builder.CreateVector(bodies);
    protocol::scene::SceneBuilder scene(builder);
    scene.add_scene_version(1);
    scene.add_bodies(list);
    protocol::scene::FinishSceneBuffer(builder, scene.Finish());
    const long before = peak_kib();
    const Result<LoadedScene> loaded = load_scene({builder.GetBufferPointer(), builder.GetSize()}, "shared");
    REQUIRE_FALSE(loaded.ok());
    CHECK(loaded.error().code == ErrorCode::limit_reached);
    CHECK(peak_kib() - before < 64 * 1024);

    flatbuffers::FlatBufferBuilder sharing;
    const auto body = protocol::scene::CreateBody(sharing);
    const auto same = sharing.CreateVector(std::vector<flatbuffers::Offset<protocol::scene::Body>>(100'000, body));
    protocol::scene::SceneBuilder root(sharing);
    root.add_scene_version(1);
    root.add_bodies(same);
    protocol::scene::FinishSceneBuffer(sharing, root.Finish());
    CHECK(load_scene({sharing.GetBufferPointer(), sharing.GetSize()}, "shared").error().code == ErrorCode::corrupt);
}

TEST_CASE("bit flips and truncations of real scenes give a scene or an error") {
    std::mt19937 random(20'240);
    for (const char* name : {"chains.json", "pyramid.json", "ragdolls.json", "rain.json", "yard.json"}) {
        const std::vector<std::uint8_t> text = read_file(name);
        REQUIRE_FALSE(text.empty());
        const std::vector<std::uint8_t> binary = load_scene(text, name)->binary;
        for (const std::vector<std::uint8_t>* form : {&text, &binary}) {
            const int cases = test::sampled(form == &text ? 300 : 1'500);
            for (int i = 0; i < cases; ++i) {
                std::vector<std::uint8_t> damaged = *form;
                const int flips = 1 + static_cast<int>(random() % 3);
                for (int flip = 0; flip < flips; ++flip)
                    damaged[random() % damaged.size()] ^= static_cast<std::uint8_t>(1u << (random() % 8));
                if (i % 4 == 0) damaged.resize(random() % damaged.size());
                load_anything(damaged);
            }
        }
    }
}
