// What the generators of rigs have in common, and rope ladders: each field reaches every body or joint that it speaks
// of, is in the scene's hash and is checked; what is generated breaks where it is overloaded, and collides with what it
// is told to.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "protocol/scene/scene.h"
#include "tests/support/about.h"

using namespace orrery;
using protocol::LoadedScene;

namespace {

Result<LoadedScene> load_text(const std::string& text) {
    return protocol::load_scene({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "test.json");
}
std::string error_of(const std::string& text) {
    const Result<LoadedScene> loaded = load_text(text);
    return loaded ? "no error" : loaded.error().to_string();
}

std::string scene_of(const std::string& generator, const std::string& rest = "") {
    return R"({"scene_version": 1, "shapes": [{"name": "bead", "sphere": {"radius": 0.1}}, {"name": "rung", "box": {"half_extents": [0.03, 0.03, 0.25]}}],
        "generators": [{"name": "rig", )" +
           generator + "}]" + rest + "}";
}

// Of each kind, open for further fields.
struct Kind {
    const char *name, *fields;
};
constexpr Kind kKinds[] = {{"chain", R"("links": 6, "shape": "bead")"},
                           {"net", R"("columns": 3, "rows": 4, "pin": "corners", "shape": "bead")"},
                           {"net", R"("columns": 3, "rows": 4, "joint": "distance", "shape": "bead")"},
                           {"tree", R"("branches": 2, "levels": 3, "shape": "bead")"},
                           {"ring", R"("count": 6, "shape": "bead")"},
                           {"bridge", R"("count": 5, "shape": "rung")"},
                           {"rope_ladder", R"("rungs": 3, "links": 2, "rung_shape": "rung", "link_shape": "bead")"}};

std::string scene_of(const Kind& kind, const std::string& more) {
    return scene_of("\"" + std::string(kind.name) + "\": {" + kind.fields + (more.empty() ? "" : ", " + more) + "}");
}

const sim::Spring& spring_of(const sim::JointDef& joint) {
    const auto* const ball = std::get_if<sim::BallSocket>(&joint.constraint);
    return ball ? ball->spring : std::get<sim::DistanceLimit>(joint.constraint).spring;
}

sim::Vec3 plus(sim::Vec3 a, sim::Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
bool near(sim::Vec3 a, sim::Vec3 b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z) < 1e-5f; }

std::unique_ptr<sim::World> world_of(const std::string& text) {
    const Result<LoadedScene> scene = load_text(text);
    REQUIRE_MESSAGE(scene.ok(), error_of(text));
    auto world = sim::World::create(scene->world);
    REQUIRE(world.ok());
    return std::move(*world);
}

}  // namespace

TEST_CASE(
    "a rope ladder's rungs hang from the top down, its links gap by gap, its sockets halfway between neighbours") {
    const std::string fields =
        R"("rungs": 3, "links": 2, "step": [0.1, -0.6, 0], "across": [0, 0.2, 0.8], "origin": [1, 5, 2],
        "rung_shape": "rung", "link_shape": "bead")";
    const Result<LoadedScene> loaded = load_text(scene_of("\"rope_ladder\": {" + fields + "}"));
    REQUIRE_MESSAGE(loaded.ok(), loaded.error().to_string());
    const auto& bodies = loaded->world.bodies;
    const auto& joints = loaded->world.joints;
    REQUIRE(bodies.size() == 3 + 3 * 2 * 2);
    REQUIRE(joints.size() == 3 * 2 * 3);
    const auto on_rope = [](double pitches, double side) {
        return sim::Vec3{static_cast<float>(1 + 0.1 / 3 * pitches), static_cast<float>(5 - 0.2 * pitches + side * 0.2),
                         static_cast<float>(2 + side * 0.8)};
    };
    for (std::uint32_t i = 0; i < bodies.size(); ++i) {
        CAPTURE(i);
        CHECK(bodies[i].name == "rig[" + std::to_string(i) + "]");
        CHECK(bodies[i].shape == (i < 3 ? 1u : 0u));
        CHECK(bodies[i].mask == 0xffff'ffffu);
        if (i < 3) {
            CHECK(near(bodies[i].pose.position, on_rope(3.0 * i + 2.5, 0.0)));
        } else {
            const std::uint32_t gap = (i - 3) / 4, side = (i - 3) / 2 % 2, link = (i - 3) % 2;
            CHECK(near(bodies[i].pose.position, on_rope(3.0 * gap + link + 0.5, side == 0 ? -0.5 : 0.5)));
        }
    }
    for (std::uint32_t k = 0; k < joints.size(); ++k) {
        CAPTURE(k);
        const std::uint32_t gap = k / 6, side = k / 3 % 2, place = k % 3, link = 3 + 4 * gap + 2 * side + place;
        const std::uint32_t above = place > 0 ? link - 1
                                    : gap > 0 ? gap - 1
                                              : sim::kNone,
                            below = place < 2 ? link : gap;
        CHECK(joints[k].body_a == above);
        CHECK(joints[k].body_b == below);
        const auto& ball = std::get<sim::BallSocket>(joints[k].constraint);
        const sim::Vec3 point = on_rope(3.0 * gap + place, side == 0 ? -0.5 : 0.5);
        CHECK(near(above == sim::kNone ? ball.anchor_a : plus(bodies[above].pose.position, ball.anchor_a), point));
        CHECK(near(plus(bodies[below].pose.position, ball.anchor_b), point));
    }
    const Result<LoadedScene> apart = load_text(scene_of("\"rope_ladder\": {" + fields + ", \"attached\": false}"));
    REQUIRE(apart.ok());
    CHECK(apart->world.joints.size() == joints.size() - 2);
    for (const sim::JointDef& joint : apart->world.joints) CHECK(joint.body_a != sim::kNone);
}

TEST_CASE("a rope ladder without links is a bridge that hangs by its first end") {
    const std::string place = R"("step": [0, -0.3, 0], "across": [0, 0, 0.5], "origin": [0, 4, 0])";
    const Result<LoadedScene> ladder =
        load_text(scene_of(R"("rope_ladder": {"rungs": 4, "links": 0, "rung_shape": "rung", )" + place + "}"));
    const Result<LoadedScene> defaults =
        load_text(scene_of(R"("rope_ladder": {"rungs": 4, "links": 0, "rung_shape": "rung", "origin": [0, 4, 0]})"));
    const Result<LoadedScene> bridge =
        load_text(scene_of(R"("bridge": {"count": 4, "ends": "first", "shape": "rung", )" + place + "}"));
    REQUIRE(ladder.ok());
    REQUIRE(defaults.ok());
    REQUIRE(bridge.ok());
    const auto hash = [](const Result<LoadedScene>& scene) {
        auto world = sim::World::create(scene->world);
        REQUIRE(world.ok());
        for (int i = 0; i < 10; ++i) (*world)->step();
        return (*world)->hash().root;
    };
    CHECK(hash(ladder) == hash(bridge));
    CHECK(hash(defaults) == hash(bridge));
}

TEST_CASE(
    "mass, damping, filter, breaking force and spring reach all that a rig's generator makes, and are in the scene's "
    "hash") {
    for (const Kind& kind : kKinds) {
        CAPTURE(std::string(kind.fields));
        const Result<LoadedScene> plain = load_text(scene_of(kind, ""));
        REQUIRE(plain.ok());
        const sim::BodyDef body;
        for (const sim::BodyDef& made : plain->world.bodies) {
            CHECK(made.mass_kg == 0.0f);
            CHECK(made.linear_damping == 0.0f);
            CHECK(made.angular_damping == 0.0f);
            CHECK(made.category == body.category);
        }
        for (const sim::JointDef& made : plain->world.joints) {
            CHECK(made.break_force_n == sim::kNoLimit);
            CHECK(spring_of(made).frequency_hz == 0.0f);
        }
        const std::string all =
            R"("mass_kg": 3, "linear_damping": 0.25, "angular_damping": 0.5, "collide": true, "category": 4, "mask": 11,
            "break_force_n": 900, "spring": {"frequency_hz": 5, "damping_ratio": 0.7, "max_recovery_speed": 2})";
        const Result<LoadedScene> set = load_text(scene_of(kind, all));
        REQUIRE_MESSAGE(set.ok(), error_of(scene_of(kind, all)));
        REQUIRE(set->world.bodies.size() == plain->world.bodies.size());
        REQUIRE(set->world.joints.size() == plain->world.joints.size());
        for (std::size_t i = 0; i < set->world.bodies.size(); ++i) {
            const sim::BodyDef& made = set->world.bodies[i];
            CHECK(made.pose.position == plain->world.bodies[i].pose.position);
            CHECK(made.mass_kg == 3.0f);
            CHECK(made.linear_damping == 0.25f);
            CHECK(made.angular_damping == 0.5f);
            CHECK(made.category == 4);
            CHECK(made.mask == 11);
        }
        for (const sim::JointDef& made : set->world.joints) {
            CHECK(made.break_force_n == 900.0f);
            CHECK(spring_of(made).frequency_hz == 5.0f);
            CHECK(spring_of(made).damping_ratio == 0.7f);
            CHECK(spring_of(made).max_recovery_speed == 2.0f);
        }
        const Result<LoadedScene> again = protocol::load_scene(set->binary, "elsewhere");
        REQUIRE(again.ok());
        CHECK(again->scene_hash == set->scene_hash);
        CHECK(again->binary == set->binary);
        // Each digit is a value of its own in the hash.
        const std::string text = scene_of(kind, all);
        for (std::size_t i = text.find("mass_kg"); i < text.size(); ++i) {
            if (text[i] < '1' || text[i] > '9' || (text[i - 1] != ' ' && text[i - 1] != '.')) continue;
            std::string other = text;
            other[i] = text[i] == '9' ? '8' : static_cast<char>(text[i] + 1);
            const Result<LoadedScene> changed = load_text(other);
            REQUIRE(changed.ok());
            CHECK_MESSAGE(changed->scene_hash != set->scene_hash, text.substr(i - 20, 24));
        }
    }
}

TEST_CASE("errors of the generators of rigs name the field and the mend") {
    const auto has = [](const std::string& text, const std::string& part) {
        const std::string error = error_of(text);
        CHECK_MESSAGE(error.find(part) != std::string::npos, error << " lacks " << part);
    };
    for (const Kind& kind : kKinds) {
        const std::string place = "test.json:2: generators[0]." + std::string(kind.name) + ".";
        has(scene_of(kind, "\"mass_kg\": -1"), place + "mass_kg: is -1; give a number from 0 to");
        has(scene_of(kind, "\"mass_kg\": nan"), place + "mass_kg: is nan");
        has(scene_of(kind, "\"linear_damping\": -0.5"), place + "linear_damping: is -0.5; give a number from 0 to");
        has(scene_of(kind, "\"angular_damping\": inf"), place + "angular_damping: is inf; give a number from 0 to");
        has(scene_of(kind, "\"break_force_n\": -1"), place + "break_force_n: is -1; give a number from 0 to");
        has(scene_of(kind, "\"break_force_n\": nan"), place + "break_force_n: is nan");
        has(scene_of(kind, R"("spring": {"frequency_hz": -1})"),
            place + "spring.frequency_hz: is -1; give a number from 0 to");
        has(scene_of(kind, R"("spring": {"damping_ratio": inf})"), place + "spring.damping_ratio: is inf");
        // Where nothing collides, a filter says what does not happen; chains have had both, and still may.
        const bool chain = std::string(kind.name) == "chain";
        const std::string refused = "is set, but the bodies collide with nothing; set \"collide\" to true";
        has(scene_of(kind, R"("collide": false, "category": 2)"), chain ? "no error" : place + "category: " + refused);
        has(scene_of(kind, R"("collide": false, "mask": 2)"), chain ? "no error" : place + "mask: " + refused);
    }
    const auto ladder = [](const std::string& fields) { return scene_of("\"rope_ladder\": {" + fields + "}"); };
    const std::string shapes = R"("rung_shape": "rung", "link_shape": "bead")",
                      place = "test.json:2: generators[0].rope_ladder.";
    has(ladder(shapes + ", \"rungs\": 0"), place + "rungs: is 0; give at least 1");
    has(ladder(shapes + ", \"step\": [0, 0, 0]"), place + "step: is 0; give the vector from one rung to the next (m)");
    has(ladder(shapes + ", \"across\": [0, 0, 0]"),
        place + "across: is 0; give the vector from one rope to the other (m)");
    const std::string at = "test.json:2: generators[0].";
    has(scene_of(R"("bridge": {"shape": "rung", "step": [0, 0, 0]})"),
        at + "bridge.step: is 0; give the vector from one plank to the next (m)");
    has(scene_of(R"("bridge": {"shape": "rung", "across": [0, 0, 0]})"),
        at + "bridge.across: is 0; give the vector from one row of joints to the other (m)");
    has(scene_of(R"("net": {"shape": "bead", "column_step": [0, 0, 0]})"),
        at + "net.column_step: is 0; give the vector from one column to the next (m)");
    has(scene_of(R"("net": {"shape": "bead", "row_step": [0, 0, 0]})"),
        at + "net.row_step: is 0; give the vector from one row to the next (m)");
    has(ladder(shapes + ", \"step\": [0, nan, 0]"), place + "step.y: is nan");
    has(ladder(shapes + ", \"across\": [0, 0, 1e9]"), place + "across.z: is 1e+09");
    has(ladder(shapes + ", \"origin\": [0, inf, 0]"), place + "origin.y: is inf");
    has(ladder(shapes + ", \"rungs\": 100000"),
        "test.json:2: generators[0]: puts body 13653 farther than 4096 m from the origin");
    has(ladder(R"("link_shape": "bead")"), place + "rung_shape: is missing");
    has(ladder(R"("rung_shape": "rung")"), place + "link_shape: is missing");
    has(ladder(R"("rung_shape": "rung", "links": 0)"), "no error");
    has(ladder(R"("rung_shape": "rung", "links": 0, "link_shape": "bread")"),
        place + "link_shape: no shape is called \"bread\"; did you mean \"bead\"?");
    has(ladder(shapes + ", \"material\": \"hemp\""), place + "material: no material is called \"hemp\"");
}

TEST_CASE("a generated rig breaks where a load is too much for its break_force_n, and holds where it is not") {
    struct Load {
        const char *name, *generator, *end, *at;  // where the body rig[end] is
        std::uint32_t joints;
        int rig_joints;
    };
    // A crate of 100 kg at the end: 1,000 N, by two ropes half of it each; several times as much where the chain
    // swings.
    for (const Load& load :
         {Load{"chain", R"("chain": {"links": 6, "shape": "bead", )", "5", "[1.375, 0, 0]", 6, 4},
          Load{"chain, joint by joint", R"("chain": {"links": 3, "shape": "bead", )", "2", "[0.625, 0, 0]", 3, 0},
          Load{"tree", R"("tree": {"branches": 1, "levels": 4, "shape": "bead", )", "3", "[0, -0.875, 0]", 4, 4},
          Load{"bridge", R"("bridge": {"count": 4, "ends": "first", "step": [0, -0.3, 0], "shape": "rung", )", "3",
               "[0, -1.05, 0]", 8, 4},
          Load{"rope_ladder", R"("rope_ladder": {"rungs": 4, "links": 1, "rung_shape": "rung", "link_shape": "bead", )",
               "3", "[0, -1.125, 0]", 16, 4}}) {
        CAPTURE(std::string(load.name));
        for (const bool breaks : {true, false}) {
            CAPTURE(breaks);
            const std::string solver =
                R"(, "solver": {"rig_iterations": 40, "rig_joints": )" + std::to_string(load.rig_joints) + "}";
            const std::string rig =
                std::string(load.generator) +
                "\"mass_kg\": 2, \"linear_damping\": 1, \"break_force_n\": " + (breaks ? "300}" : "20000}");
            const std::string rest =
                R"(, "solver": {"rig_iterations": 40, "rig_joints": )" + std::to_string(load.rig_joints) +
                R"(}, "bodies": [{"name": "crate", "shape": "bead", "mass_kg": 100, "mask": 0, "position": )" +
                load.at + R"(}], "joints": [{"a": "crate", "b": "rig[)" + load.end + R"(]", "ball_socket": {"at": )" +
                load.at + "}}]";
            const auto world = world_of(scene_of(rig, rest));
            const std::uint32_t whole = world->stats().joints;
            CHECK(whole == load.joints + 1);
            std::uint32_t broken = 0;
            float least_n = 1e9f;
            for (int tick = 0; tick < 120; ++tick) {
                world->step();
                for (const sim::Event& event : world->events()) {
                    if (event.kind != sim::EventKind::joint_broken) continue;
                    ++broken, least_n = std::min(least_n, event.impulse);
                }
            }
            CHECK(world->stats().joints == whole - broken);
            CHECK((broken > 0) == breaks);
            CHECK(least_n > 300.0f);
        }
    }
}

TEST_CASE("a net collides with the ground, and with itself only where its category meets its mask") {
    // Beads that overlap with those across the meshes, weightless, then fallen.
    const auto net = [](const char* filter, bool falls) {
        return R"({"scene_version": 1, "gravity": [0, )" + std::string(falls ? "-10" : "0") +
               R"(, 0], "solver": {"sleep": false},
            "shapes": [{"name": "bead", "sphere": {"radius": 0.2}}, {"name": "floor", "plane": {}}],
            "bodies": [{"type": "static", "shape": "floor"}],
            "generators": [{"net": {"columns": 3, "rows": 3, "centred": true, "origin": [0, 0.5, 0], "shape": "bead", "linear_damping": 1, )" +
               filter + "}}]}";
    };
    struct Way {
        const char* filter;
        bool itself, floor;
    };
    for (const Way& way :
         {Way{R"("collide": true)", true, true}, Way{R"("collide": true, "category": 2)", true, true},
          Way{R"("collide": true, "category": 2, "mask": 4294967293)", false, true},
          Way{R"("collide": true, "category": 2, "mask": 2)", true, false}, Way{R"("collide": false)", false, false}}) {
        CAPTURE(std::string(way.filter));
        const auto still = world_of(net(way.filter, false));
        still->step();
        CHECK((still->stats().touching_pairs > 0) == way.itself);
        const auto fallen = world_of(net(way.filter, true));
        for (int tick = 0; tick < 120; ++tick) fallen->step();
        std::vector<sim::BodyState> bodies;
        fallen->read_bodies(bodies);
        for (const sim::BodyState& body : bodies) {
            if (body.type == sim::BodyType::dynamic) CHECK((body.pose.position.y > 0.15f) == way.floor);
        }
        if (!way.itself && way.floor) CHECK(fallen->stats().touching_pairs == 9);
    }
}

TEST_CASE("every generator of rigs can be told to collide with all else, but not with itself") {
    for (const Kind& kind : kKinds) {
        CAPTURE(std::string(kind.fields));
        const Result<LoadedScene> scene =
            load_text(scene_of(kind, R"("collide": true, "category": 2, "mask": 4294967293)"));
        REQUIRE(scene.ok());
        const sim::BodyDef other;
        for (const sim::BodyDef& body : scene->world.bodies) {
            CHECK((body.category & body.mask) == 0);
            CHECK((body.category & other.mask) != 0);
            CHECK((other.category & body.mask) != 0);
        }
    }
}
