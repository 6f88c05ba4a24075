// Guards: what materials ask for beside friction does what can be computed by hand. A running surface carries what lies
// on it, with friction's force and no more, and does not let it sleep; rolling resistance stops what rolls and holds it
// on a slope. Scenes without either have the bits that they had: that is what the golden hashes watch.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/about.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr double kGravity = 10.0, kDt = 1.0 / 60.0;

std::uint32_t add_material(WorldDef& def, float friction, float rolling_resistance, Vec3 surface_velocity) {
    MaterialDef material;
    material.friction = friction;
    material.rolling_resistance = rolling_resistance;
    material.surface_velocity = surface_velocity;
    def.materials.push_back(material);
    return static_cast<std::uint32_t>(def.materials.size() - 1);
}

// A crate of 1 m on a belt.
struct Conveyor {
    WorldDef def;
    std::uint32_t belt, crate;
    explicit Conveyor(Vec3 runs, float friction = 0.6f, Quat turn = {}) : belt(add_ground(def, turn)) {
        def.bodies[belt].material = add_material(def, friction, 0.0f, runs);
        crate = add_body(def, add_box_shape(def, {0.5f, 0.5f, 0.5f}), {0.0f, 0.5f, 0.0f});
    }
};

// A ball, or a cylinder across, that rolls towards x at 2 m/s.
struct Roller {
    WorldDef def;
    std::uint32_t body;
    Roller(float resistance, float radius, ShapeType type = ShapeType::sphere) {
        def.materials[0].rolling_resistance = resistance;
        add_ground(def);
        body = add_body(def, add_shape(def, {"", type, radius, 0.4f, {}}), {0.0f, radius, 0.0f});
        if (type != ShapeType::sphere)
            def.bodies[body].pose.orientation = {std::sqrt(0.5f), 0.0f, 0.0f, std::sqrt(0.5f)};
        def.bodies[body].linear_velocity = {2.0f, 0.0f, 0.0f};
        def.bodies[body].angular_velocity = {0.0f, 0.0f, -2.0f / radius};
    }
};

double speed_of(const BodyState& s) {
    return std::hypot(s.linear_velocity.x, s.linear_velocity.y, s.linear_velocity.z);
}
double turned(const BodyState& s, Quat from) {  // rad
    const Quat q = s.pose.orientation;
    return 2.0 * std::acos(std::min(1.0f, std::abs(((q.x * from.x + q.y * from.y) + q.z * from.z) + q.w * from.w)));
}

}  // namespace

TEST_CASE("a belt brings a crate to its speed by friction alone, in v / (mu g)") {
    for (const float speed : {1.0f, 2.0f}) {
        CAPTURE(speed);
        // Turned by a right angle about y, so that the belt's x is the world's -z.
        const Conveyor conveyor({speed, 0.0f, 0.0f}, 0.6f, {0.0f, std::sqrt(0.5f), 0.0f, std::sqrt(0.5f)});
        auto world = make_world(conveyor.def);
        const double pull = 0.6 * kGravity, until = speed / pull;
        for (int n = 1; n <= 60; ++n) {
            world->step();
            const BodyState s = state_of(*world, conveyor.crate);
            const double t = n * kDt, wanted = std::min(pull * t, double(speed));
            if (std::abs(t - until) > 2 * kDt) CHECK(-s.linear_velocity.z == about(wanted, 0.02));
            CHECK(-s.linear_velocity.z < 1.01 * speed);
            CHECK(std::abs(s.linear_velocity.x) < 1e-3);
        }
        const double way = speed * (1.0 - 0.5 * until);
        CHECK(-state_of(*world, conveyor.crate).pose.position.z == about(way, 0.02));
    }
}

TEST_CASE("of two surfaces the difference counts, and a belt pushes back on the body that carries it") {
    SUBCASE("a body on tracks drives itself") {
        WorldDef def;
        add_ground(def);
        const auto tank = add_body(def, add_box_shape(def, {0.5f, 0.5f, 0.5f}), {0.0f, 0.5f, 0.0f});
        def.bodies[tank].material = add_material(def, 0.6f, 0.0f, {2.0f, 0.0f, 0.0f});
        auto world = make_world(def);
        run(*world, 60);
        CHECK(state_of(*world, tank).linear_velocity.x == about(-2.0, 0.01));
    }
    SUBCASE("two that run alike do not") {
        Conveyor conveyor({2.0f, 0.0f, 0.0f});
        conveyor.def.bodies[conveyor.crate].material = 1;
        auto world = make_world(conveyor.def);
        run(*world, 120);
        CHECK(std::abs(state_of(*world, conveyor.crate).pose.position.x) < 1e-4);
        CHECK(state_of(*world, conveyor.crate).asleep);
    }
    SUBCASE("on ice the cart goes back as the crate on it goes on") {
        WorldDef def;
        def.materials[0].friction = 0.0f;
        add_ground(def);
        const auto cart = add_body(def, add_box_shape(def, {4.0f, 0.25f, 1.0f}), {0.0f, 0.25f, 0.0f});
        const auto crate = add_body(def, add_box_shape(def, {0.5f, 0.5f, 0.5f}), {0.0f, 1.0f, 0.0f});
        def.bodies[cart].mass_kg = 4.0f, def.bodies[crate].mass_kg = 1.0f;
        def.bodies[cart].material = add_material(def, 0.6f, 0.0f, {2.0f, 0.0f, 0.0f});
        def.bodies[crate].material = add_material(def, 0.6f, 0.0f, {});
        auto world = make_world(def);
        run(*world, 60);
        CHECK(state_of(*world, crate).linear_velocity.x == about(1.6, 0.01));
        CHECK(state_of(*world, cart).linear_velocity.x == about(-0.4, 0.01));
    }
}

TEST_CASE("a belt keeps awake what it pulls, however slow it runs or well it is held, and nothing else") {
    SUBCASE("slower than sleep") {
        const Conveyor conveyor({0.0f, 0.0f, 0.01f});
        auto world = make_world(conveyor.def);
        run(*world, 300);
        CHECK(!state_of(*world, conveyor.crate).asleep);
        CHECK(state_of(*world, conveyor.crate).pose.position.z == about(0.05, 0.02));
    }
    SUBCASE("held by a wall, then let go") {
        Conveyor conveyor({1.0f, 0.0f, 0.0f});
        const auto wall = add_body(conveyor.def, add_box_shape(conveyor.def, {0.25f, 0.5f, 2.0f}), {0.76f, 0.5f, 0.0f});
        conveyor.def.bodies[wall].type = BodyType::fixed;
        auto world = make_world(conveyor.def);
        run(*world, 120);
        CHECK(!state_of(*world, conveyor.crate).asleep);
        CHECK(std::abs(state_of(*world, conveyor.crate).pose.position.x) < 0.02);
        Command gone = command(CommandKind::despawn);
        gone.body = {wall + 1, 0};
        world->step(std::vector{gone});
        run(*world, 60);
        CHECK(state_of(*world, conveyor.crate).linear_velocity.x == about(1.0, 0.01));
    }
    SUBCASE("without friction, or across the contact's plane") {
        for (const Conveyor& conveyor : {Conveyor({1.0f, 0.0f, 0.0f}, 0.0f), Conveyor({0.0f, 1.0f, 0.0f})}) {
            auto world = make_world(conveyor.def);
            run(*world, 120);
            CHECK(state_of(*world, conveyor.crate).asleep);
            CHECK(std::abs(state_of(*world, conveyor.crate).pose.position.x) < 1e-4);
        }
    }
}

TEST_CASE("what rolls stops where its energy is spent: after (1 + k) v^2 / (2 c g), k being I / (m r^2)") {
    struct Case {
        ShapeType type;
        float radius;
        double inertia;  // of m r^2
        std::uint8_t locks;
    };
    for (const Case& c : {Case{ShapeType::sphere, 0.5f, 0.4, 0}, Case{ShapeType::sphere, 0.1f, 0.4, 0},
                          Case{ShapeType::sphere, 0.5f, 0.4, kLockLinearZ | kLockAngularX | kLockAngularY},
                          Case{ShapeType::cylinder, 0.3f, 0.5, 0}}) {
        for (const float resistance : {0.05f, 0.1f}) {
            CAPTURE(static_cast<int>(c.type));
            CAPTURE(c.radius);
            CAPTURE(resistance);
            Roller roller(resistance, c.radius, c.type);
            roller.def.bodies[roller.body].locks = c.locks;
            auto world = make_world(roller.def);
            const double slowing = kGravity * resistance / (1.0 + c.inertia), until = 2.0 / slowing;
            run(*world, static_cast<int>(0.5 * until / kDt));
            CHECK(state_of(*world, roller.body).linear_velocity.x == about(1.0, 0.03));
            run(*world, static_cast<int>(0.6 * until / kDt) + 60);
            const BodyState s = state_of(*world, roller.body);
            CHECK(s.pose.position.x == about(2.0 / slowing, 0.02));  // v^2 / (2 slowing), v = 2
            CHECK(speed_of(s) < 1e-4);
            CHECK(s.asleep);
        }
    }
    Roller free(0.0f, 0.5f);
    auto world = make_world(free.def);
    run(*world, 300);
    CHECK(state_of(*world, free.body).linear_velocity.x == about(2.0, 1e-3));
}

TEST_CASE("a ball rests on a slope below the resistance and rolls above it by what is left") {
    for (const float slope : {0.05f, 0.15f, 0.19f, 0.21f, 0.3f, 0.5f}) {
        CAPTURE(slope);
        WorldDef def;
        def.solver.sleep = false;
        def.materials[0].rolling_resistance = 0.2f;
        const double angle = std::atan(double(slope));
        const Quat turn = turn_about_z(static_cast<float>(-angle));
        add_ground(def, turn);
        const auto sine = static_cast<float>(std::sin(angle)), cosine = static_cast<float>(std::cos(angle));
        const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.5f * sine, 0.5f * cosine, 0.0f});
        auto world = make_world(def);
        run(*world, 60);
        const BodyState before = state_of(*world, ball);
        run(*world, 60);
        const BodyState after = state_of(*world, ball);
        const double gained = speed_of(after) - speed_of(before);
        const double wanted = slope < 0.2f ? 0.0 : kGravity * (sine - 0.2 * cosine) / 1.4;
        CHECK(std::abs(gained - wanted) < 0.02 * wanted + 1e-3);
        if (slope > 0.2f) continue;
        const Vec3 from = before.pose.position, to = after.pose.position;
        CHECK(std::hypot(to.x - from.x, to.y - from.y) < 1e-4);
        CHECK(turned(after, before.pose.orientation) < 2e-3);
    }
}

TEST_CASE("a ball that spins on the spot stops after 0.4 r w / (c g)") {
    Roller roller(0.1f, 0.5f);
    roller.def.bodies[roller.body].linear_velocity = {};
    roller.def.bodies[roller.body].angular_velocity = {0.0f, 10.0f, 0.0f};
    auto world = make_world(roller.def);
    run(*world, 60);
    CHECK(state_of(*world, roller.body).angular_velocity.y == about(5.0, 0.02));
    run(*world, 66);
    CHECK(std::abs(state_of(*world, roller.body).angular_velocity.y) < 1e-4);
}

TEST_CASE("a heap of what resists rolling comes to rest, and standing barrels stay as still as without") {
    WorldDef heap;
    heap.materials[0].rolling_resistance = 0.3f;
    add_ground(heap);
    const auto pill = add_capsule_shape(heap, 0.2f, 0.3f);
    Lcg random(77);
    for (int i = 0; i < 75; ++i) {
        const float x = random.between(-0.1f, 0.1f) + static_cast<float>(i % 5) * 0.7f;
        const float z = random.between(-0.1f, 0.1f) + static_cast<float>(i / 5 % 5) * 0.7f;
        const float turn = random.between(-1.0f, 1.0f);
        add_body(heap, pill, {x, 1.0f + static_cast<float>(i / 25), z}, exact_turn(turn));
    }
    auto world = make_world(heap);
    run(*world, 600);
    CHECK(world->stats().sleeping_bodies == 75);

    WorldDef barrels;
    barrels.materials[0].rolling_resistance = 0.02f;
    add_ground(barrels);
    const auto barrel = add_shape(barrels, {"", ShapeType::cylinder, 0.25f, 0.3f, {}});
    for (int i = 0; i < 20; ++i)
        add_body(barrels, barrel, {static_cast<float>(i / 5), 0.3f + 0.6f * static_cast<float>(i % 5), 0.0f});
    world = make_world(barrels);
    run(*world, 600);
    CHECK(world->stats().sleeping_bodies == 20);
    for (std::uint32_t i = 0; i < 20; ++i)
        CHECK(std::abs(state_of(*world, i + 1).pose.position.x - static_cast<float>(i / 5)) < 0.01);
}

TEST_CASE(
    "of resistances and radii the larger counts, a compound's by its children, and what does not roll feels none of "
    "it") {
    const auto slowing = [](float below, float above, bool compound) {
        WorldDef def;
        def.gravity = {0.0f, -10.0f, 0.0f};
        const auto ground = add_ground(def);
        def.bodies[ground].material = add_material(def, 0.6f, below, {});
        std::uint32_t shape = add_sphere_shape(def, 0.5f);
        if (compound) {
            ShapeDef two;
            two.type = ShapeType::compound;
            two.children = {{shape, {}}, {add_sphere_shape(def, 0.2f), {}}};
            shape = add_shape(def, two);
        }
        const auto ball = add_body(def, shape, {0.0f, 0.5f, 0.0f});
        def.bodies[ball].material = add_material(def, 0.6f, above, {});
        def.bodies[ball].linear_velocity = {2.0f, 0.0f, 0.0f};
        def.bodies[ball].angular_velocity = {0.0f, 0.0f, -4.0f};
        auto world = make_world(def);
        run(*world, 60);
        return 2.0 - state_of(*world, ball).linear_velocity.x;
    };
    CHECK(slowing(0.1f, 0.0f, false) == about(1.0 / 1.4, 0.02));
    CHECK(slowing(0.1f, 0.05f, false) == about(1.0 / 1.4, 0.02));
    CHECK(slowing(0.05f, 0.1f, false) == about(1.0 / 1.4, 0.02));
    CHECK(slowing(0.0f, 0.1f, true) == about(1.0 / 1.4, 0.03));

    const auto box = [](float resistance) {
        WorldDef def;
        def.materials[0].rolling_resistance = resistance;
        add_ground(def);
        const auto body = add_body(def, add_box_shape(def, {0.5f, 0.3f, 0.4f}), {0.0f, 1.5f, 0.0f}, turn_about_z(0.7f));
        def.bodies[body].linear_velocity = {3.0f, 0.0f, 1.0f};
        auto world = make_world(def);
        run(*world, 90);
        return state_of(*world, body).pose;
    };
    CHECK(box(0.0f) == box(1.0f));
}

// The soft form leaves the body where its spring bears it: depth = g / w^2, whatever it weighs and lies on.
TEST_CASE("a material's own spring bears a body at the depth that its frequency says, the softer of two") {
    for (const float frequency_hz : {4.0f, 8.0f}) {
        for (const bool other_softer : {false, true}) {
            CAPTURE(frequency_hz);
            CAPTURE(other_softer);
            WorldDef def;
            def.solver.sleep = false;
            const std::uint32_t ground = add_ground(def);
            def.materials.push_back({});
            def.materials[1].contact_frequency_hz = frequency_hz;
            def.materials.push_back({});
            def.materials[2].contact_frequency_hz = 30.0f;
            def.bodies[ground].material = other_softer ? 1 : 2;
            const std::uint32_t ball = add_body(def, add_sphere_shape(def, 0.5f), {0, 0.5f, 0}),
                                crate = add_body(def, add_box_shape(def, {0.5f, 0.5f, 0.5f}), {3, 0.5f, 0});
            for (const std::uint32_t body : {ball, crate}) def.bodies[body].material = other_softer ? 2 : 1;
            const auto world = make_world(def);
            run(*world, 600);
            const double w = 2.0 * 3.14159265358979 * frequency_hz, depth = kGravity / (w * w);
            for (const std::uint32_t body : {ball, crate}) {
                CHECK(0.5 - state_of(*world, body).pose.position.y == about(depth, 0.02));
                CHECK(speed_of(state_of(*world, body)) < 1e-3);
            }
        }
    }
}

TEST_CASE("a material's own recovery speed bounds how fast an overlap is driven out") {
    WorldDef def;
    def.gravity = {};
    def.solver.sleep = false;
    const std::uint32_t ground = add_ground(def);
    for (const float speed : {0.1f, 0.4f}) {
        def.materials.push_back({});
        def.materials.back().max_recovery_speed_mps = speed;
    }
    def.bodies[ground].material = 2;  // 0.4; of two the lower counts
    const std::uint32_t shape = add_sphere_shape(def, 0.5f);
    std::uint32_t body[3];
    for (std::uint32_t k = 0; k < 3; ++k) {
        body[k] = add_body(def, shape, {3.0f * float(k), 0.2f, 0});
        def.bodies[body[k]].material = k;
    }
    const auto world = make_world(def);
    run(*world, 30);
    // Half a second: at most by that speed, and nearly by it, for the contact is soft.
    for (const auto& [k, most] : {std::pair{0, 0.2}, {1, 0.05}, {2, 0.2}}) {  // the first: the ground's
        const double risen = state_of(*world, body[k]).pose.position.y - 0.2;
        CHECK(risen <= most * 1.0001);
        CHECK(risen >= most * 0.91);
    }
    run(*world, 270);
    for (const std::uint32_t k : body) {
        CHECK(std::abs(state_of(*world, k).pose.position.y - 0.5f) < 0.03f);
        CHECK(speed_of(state_of(*world, k)) < 0.02);
    }
}

TEST_CASE("a contact's own spring or recovery speed that makes no sense is an error that names it") {
    const auto refused = [](float MaterialDef::*field, float value) {
        WorldDef def;
        def.materials[0].*field = value;
        const auto world = World::create(def);
        return world.ok() ? std::string() : world.error().to_string();
    };
    CHECK(refused(&MaterialDef::contact_frequency_hz, -1.0f).find("contact_frequency_hz") != std::string::npos);
    CHECK(refused(&MaterialDef::contact_damping_ratio, std::nanf("")).find("contact_damping_ratio") !=
          std::string::npos);
    CHECK(refused(&MaterialDef::max_recovery_speed_mps, -0.5f).find("max_recovery_speed_mps") != std::string::npos);
    CHECK(refused(&MaterialDef::contact_frequency_hz, 5.0f).empty());
}

// A push at the foot of a tall plate turns it about its long side and hardly about the other: friction must point
// against the slip all the same.
TEST_CASE("a plate that slides askew is braked by mu g against its way, from the first tick on") {
    WorldDef def;
    def.materials[0].friction = 0.3f;
    add_ground(def);
    const std::uint32_t plate = add_body(def, add_box_shape(def, {2.0f, 0.4f, 0.25f}), {0, 0.4f, 0});
    def.bodies[plate].linear_velocity = {3.0f, 0.0f, 1.5f};
    const auto world = make_world(def);
    for (int tick = 1; tick <= 20; ++tick) {
        world->step();
        const BodyState s = state_of(*world, plate);
        const double speed = std::hypot(s.linear_velocity.x, s.linear_velocity.z);
        CHECK(std::hypot(3.0, 1.5) - speed == about(0.3 * kGravity * tick * kDt, 0.02));
        CHECK(s.linear_velocity.x / s.linear_velocity.z == about(2.0, 0.01));
    }
}
