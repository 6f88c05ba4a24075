// Guards what bodies share by kind: nothing that a definition says of a body may come to another that says else.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "sim/world/core.h"
#include "tests/support/body_store.h"
#include "tests/support/worlds.h"

namespace orrery::sim {
namespace {

using namespace orrery::test;

TEST_CASE("bodies are of one kind where their definitions differ in nothing but name, place, speed and user data") {
    WorldDef def;
    def.materials.resize(2);
    def.materials[1].density_kgpm3 = 2 * def.materials[0].density_kgpm3;
    add_sphere_shape(def, 0.5f);
    add_sphere_shape(def, 0.25f);
    const auto add = [&](const std::function<void(BodyDef&)>& change) {
        BodyDef body;
        body.shape = 0;
        change(body);
        def.bodies.push_back(body);
    };
    add([](BodyDef&) {});
    const auto nothing = [](BodyDef& b) { b.type = BodyType::fixed, b.shape = kNone; };  // as kind 0 says
    add([](BodyDef& b) {
        b.name = "another", b.pose.position = {1, 2, 3}, b.linear_velocity = {4, 5, 6}, b.angular_velocity = {1, 0, 0},
        b.user_data = 7;
    });
    const std::vector<std::function<void(BodyDef&)>> changes{
        [](BodyDef& b) { b.type = BodyType::fixed; },
        [](BodyDef& b) { b.shape = 1; },
        [](BodyDef& b) { b.material = 1; },
        [](BodyDef& b) { b.mass_kg = 3.0f; },
        [](BodyDef& b) { b.linear_damping = 0.5f; },
        [](BodyDef& b) { b.angular_damping = 0.5f; },
        [](BodyDef& b) { b.gravity_scale = 0.5f; },
        [](BodyDef& b) { b.gravity_scale = -0.0f; },
        [](BodyDef& b) { b.gravity_scale = 0.0f; },
        [](BodyDef& b) { b.locks = 1; },
        [](BodyDef& b) { b.locks = 8; },
        [](BodyDef& b) { b.can_sleep = false; },
        [](BodyDef& b) { b.category = 2; },
        [](BodyDef& b) { b.mask = 2; },
        [](BodyDef& b) { b.sensor = true; },
        [](BodyDef& b) { b.collision_mode = CollisionMode::continuous; }};
    for (const auto& change : changes) add(change);
    add(nothing);
    PrefabDef prefab;
    prefab.bodies = {def.bodies[2], def.bodies[0]};
    def.prefabs.push_back(prefab);
    std::vector<Shape> shapes;
    REQUIRE(check_definition(def, shapes));

    const DefinedKinds kinds = find_kinds(def, shapes);
    CHECK(kinds.bodies[0] == kinds.bodies[1]);
    for (std::size_t i = 1; i < kinds.bodies.size(); ++i) {
        CHECK(kinds.bodies[i] != 0);
        for (std::size_t j = i + 1; j < kinds.bodies.size(); ++j) CHECK(kinds.bodies[i] != kinds.bodies[j]);
    }
    CHECK(kinds.prefabs[0] == std::vector<std::uint32_t>{kinds.bodies[2], kinds.bodies[0]});
    CHECK(kinds.first.size() == changes.size() + 3);
    WorldDef bare;
    for (int k = 0; k < 3; ++k) nothing(bare.bodies.emplace_back());
    bare.bodies[1].type = BodyType::dynamic, bare.bodies[1].mass_kg = 1.0f;
    REQUIRE(check_definition(bare, shapes));
    CHECK(find_kinds(bare, shapes).bodies == std::vector<std::uint32_t>{1, 2, 1});
}

TEST_CASE(
    "a body's own mass is its own, and memory of such masses stays bounded however often bodies get and lose one") {
    Bodies bodies;
    constexpr std::uint32_t kCount = 40, kKinds = 3;
    for (std::uint32_t i = 0; i < kCount; ++i) push_body(bodies, kBodyAlive);
    bodies.kinds.info.resize(kKinds);
    bodies.kinds.mass.resize(kKinds);
    bodies.kinds.count = kKinds;
    for (std::uint32_t k = 0; k < kKinds; ++k) bodies.kinds.mass[k].inverse_mass = 1.0f + static_cast<float>(k);
    std::vector<float> expected(kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) {
        bodies.set_kind(i, i % kKinds);
        expected[i] = 1.0f + static_cast<float>(i % kKinds);
    }
    std::uint32_t random = 12345;
    std::size_t most = 0;
    for (int step = 0; step < 20'000; ++step) {
        random = random * 1'664'525u + 1'013'904'223u;
        const std::uint32_t i = (random >> 16) % kCount;
        if ((random & 0x8000'0000u) != 0) {
            MassRecord mass = bodies.mass(i);
            mass.inverse_mass = expected[i] = static_cast<float>(step + 10);
            bodies.set_mass(i, mass);
        } else {
            bodies.set_kind(i, i % kKinds);
            expected[i] = 1.0f + static_cast<float>(i % kKinds);
        }
        most = std::max(most, bodies.kinds.mass.size());
        for (std::uint32_t b = 0; b < kCount; ++b) REQUIRE(bodies.mass(b).inverse_mass == expected[b]);
    }
    CHECK(most > kKinds + kCount);  // what nobody uses any more was dropped
    CHECK(most <= kKinds + 2 * kCount + 1);
}

}  // namespace
}  // namespace orrery::sim
