// The contract of continuous bodies: they pass no fixed body, thin as it may be, whether they fly, tumble or spin; and where
// nothing would be passed they are bodies like any other, to the last bit.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/support/body_worlds.h"
#include "tests/support/seed.h"
#include "tests/support/varied_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr int kWorlds = 150;

ShapeDef box_of(Vec3 half_extents) { return {"", ShapeType::box, 0.0f, 0.0f, half_extents}; }
ShapeDef hull_of_box(Vec3 h) {
    ShapeDef def;
    def.type = ShapeType::hull;
    for (int k = 0; k < 8; ++k) def.points.push_back({(k & 1) ? h.x : -h.x, (k & 2) ? h.y : -h.y, (k & 4) ? h.z : -h.z});
    return def;
}
// A shape after those that it is made of.
using Shapes = std::vector<ShapeDef>;
// Two of a box, side by side along an axis.
Shapes pair_of_boxes(Vec3 half_extents, Vec3 aside) {
    ShapeDef def;
    def.type = ShapeType::compound;
    def.children = {{0, {aside, {}}}, {0, {{-aside.x, -aside.y, -aside.z}, {}}}};
    return {box_of(half_extents), def};
}
std::uint32_t add_shapes(WorldDef& def, Shapes shapes) {
    const auto before = static_cast<std::uint32_t>(def.shapes.size());
    for (ShapeDef& shape : shapes) {
        for (CompoundChild& child : shape.children) child.shape += before;
        add_shape(def, shape);
    }
    return static_cast<std::uint32_t>(def.shapes.size() - 1);
}

struct Wall {
    Shapes shapes = {box_of({0.005f, 3.0f, 3.0f})};
    Quat turn = {};
};

// A 1 cm wall across x, and one body that comes at 300 m/s from up to 12 m away and does not touch it yet.
WorldDef flight(const Shapes& shapes, bool spins, Random& random, const Wall& barrier = {}) {
    WorldDef def;
    const std::uint32_t wall = add_body(def, add_shapes(def, barrier.shapes), {}, barrier.turn);
    def.bodies[wall].type = BodyType::fixed;
    const Vec3 from{random.in(-12.0f, -0.6f), random.in(-1.0f, 1.0f), random.in(-1.0f, 1.0f)};
    const Quat turn = random.rotation();
    const std::uint32_t body = add_body(def, add_shapes(def, shapes), from, turn);
    const float y = random.in(-0.15f, 0.15f), z = random.in(-0.15f, 0.15f), speed = 300.0f / std::sqrt(1.0f + y * y + z * z);
    def.bodies[body].linear_velocity = {speed, speed * y, speed * z};
    if (spins) def.bodies[body].angular_velocity = random.vec(30.0f);
    return def;
}

bool passes(const WorldDef& def) {
    auto world = make_world(def);
    for (int n = 0; n < 12; ++n) {
        world->step();
        const Vec3 at = state_of(*world, 1).pose.position;
        if (at.x > 0.0f && std::fabs(at.y) < 2.5f && std::fabs(at.z) < 2.5f) return true;
    }
    return false;
}

// A thin rod of 1 m that spins about z at 50 rad/s, and beside its centre a plate of 1 cm thickness: at `wall_x`, in the plane
// y = 0.
WorldDef spin(bool capsule, bool held, Random& random, float& wall_x) {
    WorldDef def;
    def.gravity = {};
    wall_x = random.in(0.2f, 0.55f);
    const std::uint32_t wall = add_body(def, add_box_shape(def, {0.1f, 0.005f, 0.5f}), {wall_x, 0.0f, 0.0f});
    def.bodies[wall].type = BodyType::fixed;
    const float angle = random.in(0.3f, 2.8f) - (capsule ? 0.5f * kPi : 0.0f);
    const std::uint32_t shape = capsule ? add_capsule_shape(def, 0.005f, 0.495f) : add_box_shape(def, {0.5f, 0.005f, 0.005f});
    const std::uint32_t rod = add_body(def, shape, {}, turn_about_z(angle));
    def.bodies[rod].angular_velocity = {0.0f, 0.0f, -50.0f};
    def.bodies[rod].locks = kLockAngularX | kLockAngularY;
    if (held) def.bodies[rod].locks |= kLockLinearX | kLockLinearY | kLockLinearZ;
    return def;
}

// Whether within the first three ticks of contact the end that comes from above is below the plate.
bool sweeps_through(const WorldDef& def, bool capsule, float wall_x, bool& touches) {
    auto world = make_world(def);
    touches = false;
    for (int n = 0, after = 0; n < 12 && after < 3; ++n) {
        world->step();
        touches = touches || count_events(*world, EventKind::contact_begin) > 0;
        after += touches ? 1 : 0;
        const Pose pose = state_of(*world, 1).pose;
        const float angle = 2.0f * std::atan2(pose.orientation.z, pose.orientation.w) + (capsule ? 0.5f * kPi : 0.0f);
        const float along = (wall_x - pose.position.x) / std::cos(angle);
        if (std::cos(angle) > 0.2f && std::fabs(along) < 0.5f && pose.position.y + along * std::sin(angle) < -0.002f)
            return true;
    }
    return false;
}

void set_continuous(WorldDef& def) {
    for (BodyDef& body : def.bodies) body.continuous = true;
    for (PrefabDef& prefab : def.prefabs) {
        for (BodyDef& body : prefab.bodies) body.continuous = true;
    }
}

}  // namespace

TEST_CASE("a ball at 300 m/s passes no wall of 1 cm, even in discrete mode") {
    Random random(seeded(1));
    for (const float radius : {0.05f, 0.1f}) {
        for (int n = 0; n < kWorlds; ++n) {
            WorldDef def = flight({{"", ShapeType::sphere, radius, 0.0f, {}}}, n % 2 == 0, random);
            CHECK_FALSE(passes(def));
            set_continuous(def);
            CHECK_FALSE(passes(def));
        }
    }
}

TEST_CASE("nothing continuous that tumbles at 300 m/s passes a wall of 1 cm") {
    Random random(seeded(2));
    for (const ShapeDef& shape :
         {ShapeDef{"", ShapeType::box, 0.0f, 0.0f, {0.1f, 0.03f, 0.05f}}, ShapeDef{"", ShapeType::capsule, 0.03f, 0.1f, {}},
          ShapeDef{"", ShapeType::box, 0.0f, 0.0f, {0.5f, 0.005f, 0.005f}}}) {
        for (int n = 0; n < kWorlds; ++n) {
            WorldDef def = flight({shape}, true, random);
            set_continuous(def);
            CHECK_FALSE(passes(def));
        }
    }
}

TEST_CASE("nothing continuous passes a thin wall, whatever the shapes of both") {
    Random random(seeded(5));
    ShapeDef sheet, field;
    sheet.type = ShapeType::mesh;  // its front is towards those who come
    sheet.points = {{0, -3, -3}, {0, -3, 3}, {0, 3, 3}, {0, 3, -3}};
    sheet.indices = {0, 1, 2, 0, 2, 3};
    field.type = ShapeType::height_field;
    field.columns = 7;
    field.heights.assign(49, 0.0f);
    const Wall walls[] = {{{hull_of_box({0.005f, 3.0f, 3.0f})}, {}},
                          {pair_of_boxes({0.005f, 1.5f, 3.0f}, {0.0f, 1.5f, 0.0f}), {}},
                          {{sheet}, {}},
                          {{field}, turn_about_z(0.5f * kPi)},
                          {}};
    const Shapes bodies[] = {{hull_of_box({0.1f, 0.03f, 0.05f})},
                             {hull_of_box({0.5f, 0.005f, 0.005f})},
                             pair_of_boxes({0.25f, 0.005f, 0.005f}, {0.25f, 0.0f, 0.0f}),
                             {{"", ShapeType::cylinder, 0.02f, 0.3f, {}}}};
    for (const Wall& wall : walls) {
        int discrete = 0;
        for (const Shapes& body : bodies) {
            for (int n = 0; n < sampled(kWorlds / 5); ++n) {
                WorldDef def = flight(body, true, random, wall);
                discrete += passes(def) ? 1 : 0;
                set_continuous(def);
                CAPTURE(&wall - walls);
                CAPTURE(&body - bodies);
                CHECK_FALSE(passes(def));
            }
        }
        CHECK((discrete > 0 || sampled(kWorlds) < kWorlds));
    }
}

TEST_CASE("a thin continuous rod that spins at 50 rad/s does not sweep through a plate of 1 cm, and touches it") {
    Random random(seeded(3));
    int discrete = 0;
    for (const bool capsule : {false, true}) {
        for (const bool held : {false, true}) {
            for (int n = 0; n < kWorlds; ++n) {
                float wall_x = 0.0f;
                bool touches = false;
                WorldDef def = spin(capsule, held, random, wall_x);
                discrete += sweeps_through(def, capsule, wall_x, touches) ? 1 : 0;
                set_continuous(def);
                CHECK_FALSE(sweeps_through(def, capsule, wall_x, touches));
                CHECK(touches);
            }
        }
    }
    CHECK(discrete > kWorlds);  // which is what the mode is for
}

TEST_CASE("bodies that fall, roll, slide and rest have the same bits in continuous mode") {
    WorldDef def;
    const std::uint32_t floor = add_body(def, add_box_shape(def, {20.0f, 0.5f, 20.0f}), {0.0f, -0.5f, 0.0f});
    def.bodies[floor].type = BodyType::fixed;
    const std::uint32_t shapes[] = {add_box_shape(def, {0.5f, 0.3f, 0.4f}), add_sphere_shape(def, 0.3f),
                                    add_capsule_shape(def, 0.2f, 0.4f), add_shape(def, hull_of_box({0.4f, 0.3f, 0.2f}))};
    Random random(seeded(4));
    for (int i = 0; i < 60; ++i) {
        const Vec3 at{random.in(-4.0f, 4.0f), random.in(0.5f, 6.0f), random.in(-4.0f, 4.0f)};
        const Quat turn = random.rotation();
        def.bodies[add_body(def, shapes[i % 4], at, turn)].linear_velocity = random.vec(4.0f);
    }
    auto plain = make_world(def);
    set_continuous(def);
    auto continuous = make_world(def);
    for (int n = 0; n < 240; ++n) {
        plain->step(), continuous->step();
        REQUIRE(plain->hash().leaves[static_cast<std::size_t>(Subsystem::bodies)] ==
                continuous->hash().leaves[static_cast<std::size_t>(Subsystem::bodies)]);
    }
}

TEST_CASE("continuous bodies have the same bits on every target and through save and restore") {
    WorldDef def = varied_world();
    const std::uint32_t plate = add_box_shape(def, {0.5f, 0.005f, 0.5f}), rod = add_box_shape(def, {0.5f, 0.005f, 0.005f});
    for (int i = 0; i < 6; ++i) {
        def.bodies[add_body(def, plate, {20.0f + 2.0f * static_cast<float>(i), 2.0f, 0.0f})].type = BodyType::fixed;
        const std::uint32_t body =
            add_body(def, rod, {19.6f + 2.0f * static_cast<float>(i), 2.1f, 0.1f}, exact_turn(0.1f * static_cast<float>(i)));
        def.bodies[body].angular_velocity = {3.0f, 1.0f, -50.0f};
    }
    set_continuous(def);
    const auto course = [&](Target target, bool fresh) {
        auto world = make_world(def, target);
        std::vector<HashTree> hashes;
        std::vector<std::uint8_t> saved;
        for (int n = 0; n < 90; ++n) {
            if (fresh) {
                world->save(saved);
                world = make_world(def, available_targets()[static_cast<std::size_t>(n) % available_targets().size()]);
                REQUIRE(world->restore(saved).ok());
            }
            world->step(varied_commands(world->tick()));
            hashes.push_back(world->hash());
        }
        return hashes;
    };
    const std::vector<HashTree> reference = course(Target::scalar, false);
    for (const Target target : available_targets()) {
        CHECK((course(target, false) == reference));
        CHECK((course(target, true) == reference));
    }
}
