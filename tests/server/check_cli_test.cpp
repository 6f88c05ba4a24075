// Contract: `orrery check` ends with 2 for a scene that is refused, warns of probable mistakes with place and mend, and
// does not warn of good scenes.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "server/cli/check.h"
#include "server/cli/run.h"
#include "server/cli/scene_warnings.h"
#include "tests/support/captured_output.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using test::Printed;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string write_file(const test::TempFolder& folder, const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
}

Printed check(const std::vector<std::string>& arguments) {
    return test::printed_by([&] { return server::check_command(arguments); });
}

Printed check_text(const std::string& rest) {
    const test::TempFolder folder;
    return check({write_file(folder, "s.json", "{\"scene_version\": 1,\n" + rest + "\n}"), "--strict"});
}

// One warning of this kind alone, which says this.
void warns(const std::string& rest, const std::string& says) {
    const Printed printed = check_text(rest);
    CHECK_MESSAGE(has(printed.out, says), printed.out << printed.err << " lacks " << says);
    CHECK_MESSAGE(has(printed.out, ", 1 warning\n"), printed.out);
    CHECK(printed.code == 1);
}

void is_well(const std::string& rest) {
    const Printed printed = check_text(rest);
    CHECK_MESSAGE(printed.code == 0, printed.out << printed.err);
    CHECK_MESSAGE(has(printed.out, "no warnings"), printed.out);
}

const std::string kShapes =
    R"("shapes": [{"name": "ball", "sphere": {"radius": 0.5}}, {"name": "box", "box": {}}, {"name": "ground", "plane": {}},
    {"name": "pebble", "sphere": {"radius": 0.02}}, {"name": "bar", "compound": {"children": [{"shape": "ball", "position": [-1, 0, 0]}, {"shape": "ball", "position": [2, 0, 0]}]}}],)";

std::string ground(const std::string& bodies) {
    return kShapes + "\n\"bodies\": [{\"name\": \"ground\", \"type\": \"static\", \"shape\": \"ground\"},\n" + bodies +
           "]";
}

// A sheet of 2 by 2 cells of 2 m, with a body of it. `order`: of each triangle's corners; of the eighth `last`.
std::string sheet(const std::string& order, const std::string& last, const std::string& turn,
                  const std::string& bodies) {
    std::string vertices, indices;
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i)
            vertices += "[" + std::to_string(2 * i - 2) + ", 0, " + std::to_string(2 * k - 2) + "],";
    }
    int triangle = 0;
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 2; ++i) {
            const int a = 3 * k + i,
                      corners[2][3] = {{a, a + 3, a + 1}, {a + 1, a + 3, a + 4}};  // counter-clockwise from above
            for (const auto& corner : corners) {
                ++triangle;
                for (const char c : triangle == 8 ? last : order) indices += std::to_string(corner[c - '0']) + ",";
            }
        }
    }
    return R"("shapes": [{"name": "ball", "sphere": {"radius": 0.5}}, {"name": "sheet", "mesh": {"vertices": [)" +
           vertices + "],\n\"indices\": [" + indices +
           R"(]}}], "bodies": [{"name": "sheet", "type": "static", "shape": "sheet")" + turn + "}" + bodies + "]";
}

std::string cube(bool inside_out, const std::string& ball) {
    const char* const faces =
        !inside_out ? "0,1,2, 0,2,3, 4,6,5, 4,7,6, 0,5,1, 0,4,5, 3,2,6, 3,6,7, 0,3,7, 0,7,4, 1,6,2, 1,5,6"
                    : "0,2,1, 0,3,2, 4,5,6, 4,6,7, 0,1,5, 0,5,4, 3,6,2, 3,7,6, 0,7,3, 0,4,7, 1,2,6, 1,6,5";
    return R"("shapes": [{"name": "ball", "sphere": {"radius": 0.5}}, {"name": "cube", "mesh": {"vertices": [[-2,-2,2],[2,-2,2],[2,2,2],[-2,2,2],[-2,-2,-2],[2,-2,-2],[2,2,-2],[-2,2,-2]],
        "indices": [)" +
           std::string(faces) +
           R"(]}}], "bodies": [{"name": "cube", "type": "static", "shape": "cube"}, {"shape": "ball", "position": )" +
           ball + "}]";
}

}  // namespace

TEST_CASE("check ends with 2 for what cannot be loaded, with 0 for warnings, with 1 for warnings under --strict") {
    const test::TempFolder folder;
    const std::string good = write_file(folder, "good.json", R"({"scene_version": 1})");
    const std::string odd = write_file(folder, "odd.json", "{\"scene_version\": 1,\n\"slots\": [{\"name\": \"p\"}]}");
    const std::string bad = write_file(folder, "bad.json", "{\"scene_version\": 1,\n\"bodies\": [{\"mass\": 1}]}");
    const std::string refused =
        write_file(folder, "refused.json", R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {}}],
        "bodies": [{"name": "b", "shape": "s"}], "slots": [{"name": "p"}],
        "actuators": [{"slot": "p", "walk": {"body": "b"}}]})");
    CHECK(check({good}).code == 0);
    CHECK(has(check({good}).out, "good.json: 0 bodies, 0 joints, no warnings\n"));
    CHECK(check({odd}).code == 0);
    CHECK(check({odd, "--strict"}).code == 1);
    CHECK(check({good, "--strict"}).code == 0);
    CHECK(check({bad}).code == 2);
    CHECK(has(check({bad}).err, "bad.json:2: bodies[0].mass: unknown field"));
    CHECK(check({refused}).code == 2);
    CHECK_MESSAGE(has(check({refused}).err, "refused.json:3: actuators[0].body: is not a character"),
                  check({refused}).err);
    CHECK(check({folder / "none.json"}).code == 2);
    CHECK(check({}).code == 64);
    const Printed all = check({good, odd, bad, "--strict", "--json"});
    CHECK(all.code == 2);
    CHECK(all.err.empty());
    CHECK_MESSAGE(has(all.out, "{\"severity\": \"error\", \"kind\": \"error\", \"file\": \"" + bad +
                                   "\", \"line\": 2, \"path\": \"bodies[0].mass\", \"message\": \"unknown field"),
                  all.out);
    CHECK_MESSAGE(has(all.out, "{\"severity\": \"warning\", \"kind\": \"idle_slot\", \"file\": \"" + odd +
                                   "\", \"line\": 2, \"path\": \"slots[0]\", \"message\": \"controls nothing"),
                  all.out);
    CHECK_MESSAGE(has(all.out, "\"bodies\": 0, \"joints\": 0, \"warnings\": 1"), all.out);
    CHECK(has(check({"--help"}).out, "Exit codes"));
}

TEST_CASE(
    "check: a body that starts deep in another or in the ground is told with the way out, one that touches is not") {
    warns(ground(R"({"name": "low", "shape": "ball", "position": [0, 0.3, 0]})"),
          "s.json:5: bodies[1].position: warning: \"low\" starts about 2");
    warns(ground(R"({"name": "low", "shape": "box", "position": [0, 0.3, 0]})"),
          " mm deep inside \"ground\" (bodies[0]); move it by [0, 0.2");
    is_well(ground(
        R"({"shape": "ball", "position": [0, 0.5, 0]}, {"shape": "box", "position": [5, 0.5, 0]}, {"shape": "box", "position": [5, 1.495, 0]},
        {"shape": "bar", "position": [0, 0.5, 9]})"));
    warns(
        ground(
            R"({"name": "a", "shape": "box", "position": [0, 0.5, 0]}, {"name": "b", "shape": "box", "position": [0.9, 0.5, 0.1]})"),
        "\"b\" starts about 1");
    warns(
        ground(
            R"({"shape": "box", "position": [0, 0.5, 0]}, {"name": "bar", "shape": "bar", "position": [1.4, 0.5, 0.2]})"),
        "\"bar\" starts about ");
    // Small bodies overlap by less before it is deep.
    warns(ground(R"({"shape": "pebble", "position": [0, 0.015, 0]})"), "bodies[1] starts about ");
    is_well(ground(R"({"shape": "ball", "position": [0, 0.495, 0]})"));
    // What does not collide is where it is meant to be.
    is_well(ground(
        R"({"shape": "ball", "position": [0, 0.3, 0], "mask": 0}, {"shape": "ball", "position": [5, 0.3, 0], "sensor": true, "locks": "linear_y"})"));
    is_well(ground(
        R"({"name": "a", "shape": "ball", "position": [0, 0.5, 0]}, {"name": "b", "shape": "ball", "position": [0.5, 0.5, 0]}],
        "joints": [{"a": "a", "b": "b", "weld": {}})"));
    warns(
        ground("").substr(0, ground("").size() - 3) +
            R"(], "generators": [{"name": "pile", "stack": {"count": 2, "pitch": 0.7, "origin": [0, 0.5, 0], "shape": "box"}}])",
        "generators[0]: warning: \"pile[1]\" starts about 3");
}

TEST_CASE("check: players are where their slots are, each template once, and templates without a slot by themselves") {
    const std::string car =
        R"("templates": [{"name": "car", "bodies": [{"name": "hull", "shape": "box"}, {"name": "wheel", "shape": "ball", "position": WHEEL}],
        "actuators": [{"weights": [1], "force": {"body": "hull"}}]}])";
    const auto with = [&](const std::string& wheel, const std::string& rest) {
        std::string text = car;
        return kShapes + text.replace(text.find("WHEEL"), 5, wheel) + rest;
    };
    is_well(with("[2, 0, 0]", R"(, "slots": [{"template": "car"}, {"template": "car", "position": [0, 3, 0]}])"));
    warns(with("[0.5, 0, 0]", R"(, "slots": [{"template": "car"}, {"template": "car", "position": [0, 3, 0]}])"),
          "templates[0].bodies[1].position: warning: \"wheel\" of slots[0] starts about ");
    warns(with("[0.5, 0, 0]", ""), "templates[0].bodies[1].position: warning: \"wheel\" of templates[0] starts about ");
    warns(
        with(
            "[2, 0, 0]",
            R"(, "bodies": [{"name": "wall", "type": "static", "shape": "box", "position": [9, 0.6, 0]}], "slots": [{"template": "car", "position": [9, 0, 0]}])"),
        "templates[0].bodies[0].position: warning: \"hull\" of slots[0] starts about ");
    warns(with("[2, 0, 0]",
               ", \"slots\": [{\"template\": \"car\", \"position\": [0, 3, 0]},\n{\"template\": \"car\", \"position\": "
               "[0, 3, 0]}]"),
          "s.json:5: slots[1].position: warning: is the position of slots[0], too");
}

TEST_CASE("check: a slot that controls nothing") {
    warns(R"("slots": [{"name": "p"}])", "s.json:2: slots[0]: warning: controls nothing");
    warns(kShapes + R"("templates": [{"name": "t", "bodies": [{"shape": "box"}]}], "slots": [{"template": "t"}])",
          "slots[0]: warning: controls nothing");
    is_well(
        kShapes +
        R"("bodies": [{"name": "b", "shape": "box"}], "slots": [{"name": "p"}], "actuators": [{"slot": "p", "weights": [1], "force": {"body": "b"}}])");
}

TEST_CASE("check: a static body with a velocity, a joint that holds no dynamic body") {
    warns(kShapes + "\"bodies\": [{\"type\": \"static\", \"shape\": \"box\",\n\"angular_velocity\": [0, 1, 0]}]",
          "s.json:4: bodies[0].angular_velocity: warning: is the velocity of a static body, which never moves; remove "
          "it, or write \"type\": \"kinematic\"");
    warns(
        kShapes +
            R"("templates": [{"name": "t", "bodies": [{"type": "static", "shape": "box", "linear_velocity": [0, 1, 0]}]}])",
        "templates[0].bodies[0].linear_velocity: warning: ");
    is_well(
        kShapes +
        R"("bodies": [{"type": "kinematic", "shape": "box", "angular_velocity": [0, 1, 0]}, {"shape": "box", "position": [5, 0, 0], "linear_velocity": [1, 0, 0]}])");
    const std::string posts =
        kShapes +
        R"("bodies": [{"name": "a", "type": "static", "shape": "box"}, {"name": "b", "type": "TYPE", "shape": "box", "position": [3, 0, 0]}],)";
    const auto of_type = [&](const std::string& type) {
        std::string text = posts;
        return text.replace(text.find("TYPE"), 4, type);
    };
    warns(of_type("static") + "\n\"joints\": [{\"a\": \"a\", \"b\": \"b\", \"weld\": {}}]",
          "s.json:4: joints[0]: warning: connects only static bodies");
    warns(of_type("kinematic") + R"("joints": [{"a": "a", "b": "b", "weld": {}}])",
          "connects only static or kinematic bodies");
    warns(of_type("static") + R"("joints": [{"b": "b", "ball_socket": {"at": [3, 0, 0]}}])",
          "joints[0]: warning: connects only static bodies");
    is_well(of_type("dynamic") + R"("joints": [{"a": "a", "b": "b", "weld": {}}])");
}

TEST_CASE("check: mass ratios beyond 1,000 of what is jointed, and of what touches within the first second") {
    const auto joined = [](const char* mass) {
        return kShapes +
               R"("bodies": [{"name": "a", "shape": "box", "mass_kg": 1}, {"name": "b", "shape": "box", "position": [3, 0, 0], "mass_kg": )" +
               mass + R"(}], "joints": [{"a": "a", "b": "b", "weld": {}}])";
    };
    warns(joined("1100"),
          "joints[0]: warning: \"a\" (1 kg) is jointed to \"b\" (1100 kg), which is 1100 times as heavy; the solver "
          "holds ratios of up to 1000");
    is_well(joined("900"));
    warns(
        ground(
            R"({"name": "egg", "shape": "box", "position": [0, 0.5, 0], "mass_kg": 0.1}, {"name": "anvil", "shape": "box", "position": [0, 1.6, 0], "mass_kg": 200})"),
        "s.json:5: bodies[1]: warning: \"egg\" (0.1 kg) touches \"anvil\" (200 kg)");
    is_well(ground(
        R"({"name": "egg", "shape": "box", "position": [9, 0.5, 0], "mass_kg": 0.1}, {"name": "anvil", "shape": "box", "position": [0, 1.6, 0], "mass_kg": 200})"));
}

TEST_CASE("check: meshes that let through what stands on them, by their winding") {
    const std::string on = R"(, {"shape": "ball", "position": [0.5, 0.6, 0.5]})",
                      under = R"(, {"shape": "ball", "position": [0.5, -3, 0.5]})";
    is_well(sheet("012", "012", "", on));
    is_well(sheet("012", "120", "", on));
    warns(sheet("021", "021", "", on),
          "s.json:3: shapes[1].mesh.indices: warning: turn all faces of the mesh down: bodies that stand on it fall "
          "through; swap two corners");
    warns(sheet("021", "021", "", ""), "turn all faces of the mesh down");
    is_well(sheet("021", "021", "", under));  // a ceiling
    is_well(sheet("021", "021", R"(, "rotation_deg": [180, 0, 0])", on));
    warns(sheet("012", "012", R"(, "rotation_deg": [180, 0, 0])", on), "turn all faces of the mesh down");
    warns(sheet("012", "021", "", on),
          "shapes[1].mesh.indices: warning: wind triangle 7 against its neighbour, triangle ");
    is_well(cube(false, "[0, 2.6, 0]"));
    warns(cube(true, "[0, 2.6, 0]"), "turn the faces of a closed mesh inward");
    is_well(cube(true, "[0, 0, 0]"));  // a room
}

TEST_CASE("check tells 20 warnings of a kind and counts the others") {
    std::string slots = "\"slots\": [";
    for (int i = 0; i < 25; ++i) slots += "{},";
    const Printed printed = check_text(slots + "]");
    CHECK(std::count(printed.out.begin(), printed.out.end(), '\n') == server::kMaxToldWarnings + 1);
    CHECK_MESSAGE(has(printed.out, "25 warnings, of which 5 are not shown"), printed.out);
}

TEST_CASE("check has nothing to say of the scenes that newcomers meet first") {
    std::vector<std::string> arguments{"--strict"};
    for (const char* name : {"yard", "chains", "pyramid", "rain", "vehicle"})
        arguments.push_back(ORRERY_SOURCE_DIR "/deploy/scenes/" + std::string(name) + ".json");
    const Printed printed = check(arguments);
    CHECK_MESSAGE(printed.code == 0, printed.out << printed.err);
}

TEST_CASE("run --bodies prints bodies that commands make, from the tick in which they are made until they are gone") {
    const test::TempFolder folder;
    const std::string scene = write_file(
        folder, "s.json",
        R"({"scene_version": 1, "shapes": [{"name": "ball", "sphere": {}}], "bodies": [{"name": "one", "shape": "ball"}],
        "templates": [{"name": "egg", "bodies": [{"shape": "ball"}]}, {"name": "cart", "bodies": [{"name": "hull", "shape": "ball"}, {"shape": "ball", "position": [3, 0, 0]}]}]})");
    const std::string script = write_file(
        folder, "c.json",
        R"({"commands": [{"tick": 3, "kind": "spawn", "template": "egg", "position": [9, 5, 0], "name": "egg"},
        {"tick": 6, "kind": "despawn", "body": "egg"}, {"tick": 5, "kind": "spawn", "template": "cart", "position": [20, 0, 0], "name": "cart"}]})");
    const auto run = [&](const std::string& bodies, bool scripted = true) {
        std::vector<std::string> arguments{scene, "--ticks", "7", "--json", "--bodies", bodies};
        if (scripted) arguments.insert(arguments.end(), {"--commands", script});
        return test::printed_by([&] { return server::run_command(arguments); });
    };
    const Printed printed = run("egg,cart.hull,cart[1],one");
    REQUIRE_MESSAGE(printed.code == 0, printed.err);
    const auto lines = [&](const std::string& name) {
        std::string ticks;
        for (int tick = 1; tick <= 7; ++tick) {
            if (has(printed.out, "{\"tick\": " + std::to_string(tick) + ", \"body\": \"" + name + "\", "))
                ticks += std::to_string(tick);
        }
        return ticks;
    };
    CHECK(lines("egg") == "345");
    CHECK(lines("cart.hull") == "567");
    CHECK(lines("cart[1]") == "567");
    CHECK(lines("one") == "1234567");
    CHECK(has(printed.out, "\"body\": \"cart[1]\", \"position\": [23, "));
    const Printed wrong = run("eggs");
    CHECK(wrong.code == 2);
    CHECK_MESSAGE(has(wrong.err, "--bodies: no body of the scene is called \"eggs\", and no command makes one"),
                  wrong.err);
    CHECK(has(run("egg", false).err, "--bodies: no body of the scene is called \"egg\"\n"));
}
