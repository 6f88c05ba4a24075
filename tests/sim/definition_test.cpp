// Guards: worlds of one Definition are each the world that they would be alone, on any threads; the definition never
// changes, lives as long as they do, and is refused for what World::create refuses.
#include <doctest/doctest.h>

#include <functional>
#include <thread>

#include "sim/world/core.h"
#include "tests/support/varied_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// The varied world, and bodies of the shapes that are made of lists: hulls and compounds, some over a height field.
WorldDef world_of_lists() {
    WorldDef def = varied_world();
    ShapeDef hull, compound, field;
    hull.type = ShapeType::hull;
    hull.points = {{-0.5f, -0.3f, -0.5f}, {0.5f, -0.3f, -0.5f}, {0.0f, -0.3f, 0.5f}, {0.0f, 0.6f, 0.0f}};
    const std::uint32_t pyramid = add_shape(def, hull), ball = add_sphere_shape(def, 0.3f);
    compound.type = ShapeType::compound;
    compound.children = {{pyramid, {{-0.4f, 0.0f, 0.0f}, {}}}, {ball, {{0.5f, 0.0f, 0.0f}, {}}}};
    const std::uint32_t both = add_shape(def, compound);
    field.type = ShapeType::height_field;
    field.columns = 8;
    for (int i = 0; i < 64; ++i) field.heights.push_back(0.1f * static_cast<float>(i * 7 % 5));
    def.bodies[add_body(def, add_shape(def, field), {-20.0f, 0.5f, 0.0f})].type = BodyType::fixed;
    for (int i = 0; i < 4; ++i) {
        const float k = static_cast<float>(i);
        add_body(def, i % 2 == 0 ? pyramid : both, {-21.0f + 0.7f * k, 2.0f + k, 0.2f * k});
        add_body(def, i % 2 == 0 ? both : pyramid, {3.0f + 0.7f * k, 1.0f + k, 0.2f * k});
    }
    return def;
}

std::shared_ptr<const Definition> made(WorldDef def) {
    auto definition = Definition::create(std::move(def));
    REQUIRE_MESSAGE(definition.ok(), (definition.ok() ? std::string() : definition.error().to_string()));
    return std::move(definition).value();
}
std::unique_ptr<World> world_of(const std::shared_ptr<const Definition>& definition, const WorldConfig& config = {}) {
    auto world = World::create(definition, config);
    REQUIRE_MESSAGE(world.ok(), (world.ok() ? std::string() : world.error().to_string()));
    return std::move(world).value();
}

// `shift` turns one course into another.
HashTree stepped(World& world, std::uint64_t shift = 0) {
    world.step(varied_commands(world.tick() + shift));
    return world.hash();
}

constexpr int kTicks = 60;
std::vector<HashTree> course(World& world, std::uint64_t shift = 0) {
    std::vector<HashTree> hashes;
    for (int n = 0; n < kTicks; ++n) hashes.push_back(stepped(world, shift));
    return hashes;
}

}  // namespace

TEST_CASE("worlds of one definition step independently of each other, each as a world made by itself") {
    const WorldDef def = world_of_lists();
    const auto shared = made(def);
    const auto a = world_of(shared), b = world_of(shared, {.target = available_targets().front()});
    const auto alone_a = make_world(def), alone_b = make_world(def);
    CHECK(&a->definition() == &b->definition());
    CHECK(&a->definition() == &shared->def());
    CHECK(&alone_a->definition() != &alone_b->definition());
    bool same = true, differed = false;
    for (int n = 0; n < kTicks; ++n) {  // in turn, by commands of their own
        const HashTree of_a = stepped(*a), of_b = stepped(*b, 1000);
        same = same && of_a == stepped(*alone_a) && of_b == stepped(*alone_b, 1000);
        differed = differed || of_a != of_b;
    }
    CHECK(same);
    CHECK(differed);
    // Nor has it changed: a world that begins now is as the first were.
    CHECK(course(*world_of(shared)) == course(*make_world(def)));
}

TEST_CASE("worlds of one definition are made and step on several threads at once") {
    const auto shared = made(world_of_lists());
    std::vector<std::vector<HashTree>> courses(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < courses.size(); ++i) {
        threads.emplace_back([&shared, &out = courses[i]] {
            auto world = World::create(shared);
            if (world) out = course(**world);
        });
    }
    for (std::thread& thread : threads) thread.join();
    const std::vector<HashTree> expected = course(*make_world(world_of_lists()));
    for (const std::vector<HashTree>& one : courses) CHECK(one == expected);
}

// A world of so many would take gigabytes: what is counted is what there would be.
TEST_CASE(
    "a world has room for as many bodies and joints as it may hold, itself and those there included, and says what is "
    "too many") {
    WorldDef def;
    const std::uint32_t ball = add_sphere_shape(def, 0.3f);
    for (int i = 0; i < 5; ++i) add_body(def, ball, {static_cast<float>(i), 0.0f, 0.0f});
    for (std::uint32_t i = 1; i < 5; ++i) add_joint(def, i - 1, i, BallSocket{});
    Core core(made(std::move(def)), Target::scalar);
    populate(core);
    const std::size_t bodies = kMaxBodies - 6, joints = kMaxJoints - 4;
    CHECK(room_for(core, 0, 0) == EventCause::none);
    CHECK(room_for(core, bodies, joints) == EventCause::none);
    CHECK(room_for(core, bodies + 1, joints) == EventCause::too_many_bodies);
    CHECK(room_for(core, bodies, joints + 1) == EventCause::too_many_joints);
    CHECK(room_for(core, bodies + 1, joints + 1) == EventCause::too_many_bodies);
    remove_body(core, 5, 0);  // and with it a joint
    finish_removals(core);
    CHECK(room_for(core, bodies + 1, joints + 1) == EventCause::none);
    CHECK(room_for(core, bodies + 2, joints + 1) == EventCause::too_many_bodies);
    CHECK(room_for(core, bodies + 1, joints + 2) == EventCause::too_many_joints);
}

TEST_CASE("a definition lives as long as the last world of it, and no longer") {
    auto shared = made(world_of_lists());
    const std::weak_ptr<const Definition> watched = shared;
    auto first = world_of(shared), second = world_of(first->shared_definition());
    shared.reset();
    CHECK(first->shared_definition() == watched.lock());
    const std::vector<HashTree> hashes = course(*first);
    first.reset();
    REQUIRE_FALSE(watched.expired());
    CHECK(course(*second) == hashes);
    CHECK(second->definition().bodies.size() == world_of_lists().bodies.size());
    second.reset();
    CHECK(watched.expired());
}

TEST_CASE("a world of one definition goes on from what another of it saved, or was at a checkpoint") {
    const auto shared = made(world_of_lists());
    const auto from = world_of(shared), restored = world_of(shared), back = world_of(shared);
    run(*from, 25);
    run(*restored, 3);
    course(*back);
    std::vector<std::uint8_t> bytes;
    from->save(bytes);
    Checkpoint checkpoint;
    from->checkpoint(checkpoint);
    REQUIRE(restored->restore(bytes).ok());
    REQUIRE(back->roll_back(checkpoint).ok());
    const auto alone = make_world(world_of_lists());
    REQUIRE(alone->restore(bytes).ok());
    const std::vector<HashTree> future = course(*from);
    CHECK(course(*restored) == future);
    CHECK(course(*back) == future);
    CHECK(course(*alone) == future);

    WorldDef heavier = world_of_lists();
    heavier.gravity.y -= 1.0f;
    const auto other = world_of(made(heavier));
    CHECK_FALSE(other->restore(bytes).ok());
    CHECK_FALSE(other->roll_back(checkpoint).ok());
}

TEST_CASE("a bad definition is refused with the error of World::create") {
    const std::function<void(WorldDef&)> faults[] = {
        [](WorldDef& def) { def.substeps = 0; },
        [](WorldDef& def) { def.shapes.back().heights.pop_back(); },
        [](WorldDef& def) { def.materials[1].friction = -1.0f; },
        [](WorldDef& def) { def.bodies[3].shape = 1000; },
        [](WorldDef& def) {
            def.bodies[4].pose.orientation = {0.0f, 0.0f, 0.0f, 2.0f};
        },
        [](WorldDef& def) { def.joints[2].body_b = def.joints[2].body_a; },
        [](WorldDef& def) { def.prefabs[0].bodies[1].mass_kg = -1.0f; },
        [](WorldDef& def) { def.slots[1].prefab = 7; },
    };
    for (std::size_t i = 0; i < std::size(faults); ++i) {
        CAPTURE(i);
        WorldDef def = world_of_lists();
        faults[i](def);
        const auto definition = Definition::create(def);
        const auto world = World::create(def);
        REQUIRE_FALSE(definition.ok());
        REQUIRE_FALSE(world.ok());
        CAPTURE(world.error().to_string());
        CHECK_FALSE(definition.error().place.empty());
        CHECK(definition.error().code == world.error().code);
        CHECK(definition.error().to_string() == world.error().to_string());
    }
    const auto none = World::create(std::shared_ptr<const Definition>());
    REQUIRE_FALSE(none.ok());
    CHECK(none.error().place == "definition");
    CHECK_FALSE(World::create(made(world_of_lists()), {.history_ticks = kMaxHistoryTicks + 1}).ok());
}

TEST_CASE("what is wrong with a world's configuration is told before what is wrong with its definition") {
    WorldDef def;
    def.substeps = 0;
    const auto refused = World::create(def, {.history_ticks = kMaxHistoryTicks + 1});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().place == "history_ticks");
}

TEST_CASE(
    "a definition's hash is of what influences a state, and its bodies and joints take no more room than they need") {
    WorldDef roomy = world_of_lists(), def = roomy;
    roomy.bodies.reserve(2 * def.bodies.size());
    roomy.joints.reserve(2 * def.joints.size());
    const auto first = made(std::move(roomy));
    CHECK(first->def().bodies.capacity() == def.bodies.size());
    CHECK(first->def().joints.capacity() == def.joints.size());
    def.name = "another";
    def.bodies[5].name = "named";
    CHECK(made(def)->hash() == first->hash());
    def.bodies[5].pose.position.x += 0.25f;
    CHECK(made(def)->hash() != first->hash());
}
