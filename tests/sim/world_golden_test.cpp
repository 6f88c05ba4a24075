// Golden hashes: the root of chosen scenes at chosen ticks, lines of `tick hash`. Every target and thread count must
// reach them, and so must every later build that calls itself the same engine version.
#include <doctest/doctest.h>

#include <iomanip>
#include <sstream>

#include "server/room/thread_pool.h"
#include "tests/support/golden.h"
#include "tests/support/seed.h"
#include "tests/support/varied_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// Sixty boxes in rows, and a ball that is thrown at them.
WorldDef wall_and_ball() {
    WorldDef def;
    add_ground(def);
    const auto box = add_box_shape(def, {0.5f, 0.25f, 0.25f});
    for (int i = 0; i < 60; ++i) {
        const int row = i / 10;
        add_body(def, box,
                 {static_cast<float>(i % 10) * 1.01f + (row % 2 == 0 ? 0.0f : 0.5f),
                  0.25f + 0.5f * static_cast<float>(row), 0.0f});
    }
    const auto ball = add_body(def, add_sphere_shape(def, 0.4f), {5.0f, 1.5f, -8.0f});
    def.bodies[ball].linear_velocity = {0.5f, 2.0f, 20.0f};
    def.bodies[ball].mass_kg = 900.0f;
    return def;
}

// A chain of capsules and spheres that swings down and strikes the ground.
WorldDef swinging_chain() {
    WorldDef def;
    def.materials[0].restitution = 0.5f;
    add_ground(def);
    const auto bead = add_sphere_shape(def, 0.2f), link = add_capsule_shape(def, 0.1f, 0.1f);
    std::uint32_t before = kNone;
    for (int i = 0; i < 16; ++i) {
        const auto body = add_body(def, i % 2 == 0 ? bead : link, {0.5f * static_cast<float>(i), 6.0f, 0.0f});
        add_joint(
            def, before, body,
            BallSocket{before == kNone ? Vec3{-0.25f, 6.0f, 0.0f} : Vec3{0.25f, 0.0f, 0.0f}, {-0.25f, 0.0f, 0.0f}, {}});
        before = body;
    }
    return def;
}

// A belt that carries a heap of all that rolls and does not against a wall, on ground that resists rolling; some roll
// off it.
WorldDef belt_and_rollers() {
    WorldDef def;
    def.materials[0].rolling_resistance = 0.03f;
    MaterialDef belt, slow_skin;
    belt.surface_velocity = {1.5f, 0.0f, 0.25f};
    slow_skin.surface_velocity = {0.0f, 0.1f, -0.3f};
    slow_skin.rolling_resistance = 0.1f;
    slow_skin.restitution = 0.3f;
    def.materials.insert(def.materials.end(), {belt, slow_skin});
    add_ground(def);
    const auto conveyor =
        add_body(def, add_box_shape(def, {4.0f, 0.25f, 1.5f}), {0.0f, 0.25f, 0.0f}, exact_turn(0.01f));
    const auto wall = add_body(def, add_box_shape(def, {0.25f, 1.0f, 1.0f}), {3.5f, 1.0f, 0.0f});
    def.bodies[conveyor].type = def.bodies[wall].type = BodyType::fixed;
    def.bodies[conveyor].material = 1;
    const auto ball = add_sphere_shape(def, 0.3f), pill = add_capsule_shape(def, 0.2f, 0.2f),
               box = add_box_shape(def, {0.3f, 0.2f, 0.25f}),
               log = add_shape(def, {"", ShapeType::cylinder, 0.25f, 0.3f, {}});
    ShapeDef pair;
    pair.type = ShapeType::compound;
    pair.children = {{ball, {{-0.3f, 0.0f, 0.0f}, {}}}, {box, {{0.3f, 0.0f, 0.0f}, {}}}};
    const std::uint32_t shapes[] = {ball, pill, box, log, add_shape(def, pair)};
    for (std::uint32_t i = 0; i < 40; ++i) {
        const auto x = static_cast<float>(i % 8) * 0.8f - 3.6f, y = 1.0f + static_cast<float>(i / 8) * 0.7f;
        const auto z = static_cast<float>(i % 3) * 0.7f - 0.7f, turn = static_cast<float>(i % 7) * 0.05f;
        const auto body = add_body(def, shapes[i % 5], {x, y, z}, exact_turn(turn));
        if (i % 4 == 3) def.bodies[body].material = 2;
        def.bodies[body].angular_velocity = {0.0f, 2.0f, -1.0f};
        if (i % 11 == 5) def.bodies[body].locks = kLockAngularX | kLockAngularY;
    }
    return def;
}

// Two nets, of ball sockets and of rods, that fall on a ball, and a hub held by rods to many bodies that stand.
WorldDef nets_and_hub() {
    WorldDef def;
    def.solver.rig_joints = 8;
    const auto bead = add_sphere_shape(def, 0.1f);
    const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.8f, -0.7f, 0.8f});
    def.bodies[ball].type = BodyType::fixed;
    constexpr float kGap = 0.25f;
    for (const bool rods : {false, true}) {
        const auto first = static_cast<std::uint32_t>(def.bodies.size());
        for (std::uint32_t k = 0; k < 42; ++k) {
            const float x = kGap * static_cast<float>(k % 7), z = kGap * static_cast<float>(k / 7);
            const auto here = add_body(def, bead, {x, rods ? 0.6f : 0.0f, z});
            const auto hold = [&](std::uint32_t to, Vec3 half) {
                if (rods)
                    add_joint(def, to, here, DistanceLimit{{}, {}, kGap, kGap, {}});
                else
                    add_joint(def, to, here, BallSocket{half, {-half.x, 0.0f, -half.z}, {}});
            };
            if (k % 7 > 0) hold(here - 1, {kGap / 2, 0.0f, 0.0f});
            if (k >= 7) hold(here - 7, {0.0f, 0.0f, kGap / 2});
        }
        add_joint(def, kNone, first, BallSocket{def.bodies[first].pose.position, {}, {}});
    }
    const auto hub = add_body(def, bead, {5.0f, 0.0f, 0.0f});
    for (std::uint32_t k = 0; k < 20; ++k) {
        const float x = 0.3f * static_cast<float>(k % 5) - 0.6f, z = 0.3f * static_cast<float>(k / 5) - 0.45f;
        const auto spoke = add_body(def, bead, {5.0f + x, 0.4f, z}),
                   hook = add_body(def, bead, {5.0f + x, 1.0f, 2.0f * z});
        def.bodies[hook].type = BodyType::fixed;
        def.bodies[hook].mask = def.bodies[spoke].mask = 0;
        add_joint(def, hub, spoke, BallSocket{{}, {-x, -0.4f, -z}, k % 3 == 0 ? Spring{6.0f, 0.7f} : Spring{}});
        add_joint(def, spoke, hook, DistanceServo{{}, {0.0f, -0.1f, 0.0f}, 0.5f, {}, {}});
    }
    def.rigs.push_back({"hub", {hub}, RigSolver::jacobi});
    return def;
}

// Flaps whose hinges strike their limits, and thin rods of each collision mode that turn and fly at a thin wall.
WorldDef limits_and_modes() {
    WorldDef def;
    add_ground(def);
    const auto flap = add_box_shape(def, {0.4f, 0.05f, 0.3f}), rod = add_box_shape(def, {0.5f, 0.02f, 0.02f}),
               wall = add_body(def, add_box_shape(def, {0.01f, 1.0f, 6.0f}), {6.0f, 1.5f, 0.0f});
    def.bodies[wall].type = BodyType::fixed;
    for (std::uint32_t k = 0; k < 12; ++k) {
        const float z = 0.8f * static_cast<float>(k) - 4.4f;
        const auto upper = add_body(def, flap, {0.0f, 3.0f, z}), lower = add_body(def, flap, {0.8f, 3.0f, z});
        Hinge hinge;
        hinge.axis_a = hinge.axis_b = {0.0f, 0.0f, 1.0f};
        hinge.limited = true;
        hinge.min_angle_rad = -0.2f - 0.1f * static_cast<float>(k), hinge.max_angle_rad = 0.3f;
        hinge.anchor_a = {-0.4f, 3.0f, z}, hinge.anchor_b = {-0.4f, 0.0f, 0.0f};
        add_joint(def, kNone, upper, hinge);
        hinge.anchor_a = {0.4f, 0.0f, 0.0f};
        if (k % 4 == 3) hinge.limit_spring = {4.0f, 0.3f};
        add_joint(def, upper, lower, hinge);
        const auto thin = add_body(def, rod, {5.0f, 1.2f, z});
        def.bodies[thin].collision_mode = static_cast<CollisionMode>(k % 3);
        def.bodies[thin].angular_velocity = {0.0f, 10.0f + 3.0f * static_cast<float>(k), 5.0f};
        def.bodies[thin].linear_velocity = {k < 6 ? 2.0f : 200.0f, 0.0f, 0.0f};
    }
    return def;
}

// A plate that lies on more balls than there are colours, hard ones, ones that bounce and ones that roll heavily in
// turn: what overflows is of several kinds.
WorldDef crowded_plate() {
    WorldDef def;
    MaterialDef bouncy, heavy;
    bouncy.restitution = 0.6f;
    heavy.rolling_resistance = 0.05f;
    def.materials.insert(def.materials.end(), {bouncy, heavy});
    add_ground(def);
    const auto ball = add_sphere_shape(def, 0.25f);
    for (std::uint32_t k = 0; k < 144; ++k) {
        const auto body = add_body(
            def, ball, {0.6f * static_cast<float>(k % 12) - 3.3f, 0.26f, 0.6f * static_cast<float>(k / 12) - 3.3f});
        def.bodies[body].material = k % 3;
        def.bodies[body].linear_velocity = {0.1f * static_cast<float>(k % 5) - 0.2f, 0.0f,
                                            0.05f * static_cast<float>(k % 7) - 0.15f};
    }
    const auto plate = add_body(def, add_box_shape(def, {3.6f, 0.1f, 3.6f}), {0.0f, 0.7f, 0.0f});
    def.bodies[plate].linear_velocity = {0.0f, -3.0f, 0.0f};
    return def;
}

// Tetrahedra that are turned inside out, triangles that are to grow, some of them of bodies of very different masses:
// their recovery is at its bound.
WorldDef areas_and_volumes() {
    WorldDef def;
    add_ground(def);
    const auto bead = add_sphere_shape(def, 0.1f);
    MaterialDef lead;
    lead.density_kgpm3 = 50'000.0f;
    def.materials.push_back(lead);
    for (std::uint32_t k = 0; k < 12; ++k) {
        const float x = 2.5f * static_cast<float>(k % 4) - 4.0f, z = 2.5f * static_cast<float>(k / 4) - 2.5f,
                    edge = 0.5f + 0.1f * static_cast<float>(k);
        const Vec3 corner[] = {{x, 1.0f, z},
                               {x + edge, 1.0f, z},
                               {x + 0.2f * edge, 1.0f, z - edge},
                               {x + 0.1f * edge, 1.0f + 0.9f * edge, z}};
        std::uint32_t id[4] = {};
        const bool volume = k % 3 != 2;
        for (std::uint32_t i = 0; i < (volume ? 4u : 3u); ++i) id[i] = add_body(def, bead, corner[i]);
        if (k % 2 == 1) def.bodies[id[1]].material = 1;
        const float most = k % 4 == 3 ? 0.7f : 0.0f;
        JointDef joint;
        joint.body_a = id[0], joint.body_b = id[1], joint.body_c = id[2];
        if (volume)
            joint.body_d = id[3], joint.constraint = Volume{-0.15f * edge * edge * edge, {0.0f, 1.0f, most}};
        else
            joint.constraint = Area{1.5f * edge * edge, {0.0f, 1.0f, most}};
        def.joints.push_back(joint);
    }
    return def;
}

// Hulls and boxes that fall into a heap: faces, edges and corners meet.
WorldDef heap_of_hulls() {
    WorldDef def;
    add_ground(def);
    std::vector<std::uint32_t> shapes{add_box_shape(def, {0.35f, 0.3f, 0.25f})};
    Lcg random(77);
    for (const std::uint32_t points : {6u, 11u, 40u}) {
        ShapeDef hull;
        hull.type = ShapeType::hull;
        for (std::uint32_t i = 0; i < points; ++i)
            hull.points.push_back(
                {random.between(-0.5f, 0.5f), random.between(-0.4f, 0.4f), random.between(-0.5f, 0.5f)});
        shapes.push_back(add_shape(def, hull));
    }
    for (std::uint32_t k = 0; k < 48; ++k) {
        const float x = 0.7f * static_cast<float>(k % 4) - 1.0f, y = 0.8f + 0.9f * static_cast<float>(k / 16),
                    z = 0.7f * static_cast<float>(k / 4 % 4) - 1.0f;
        const auto body = add_body(def, shapes[k % 4], {x, y, z}, exact_turn(0.1f * static_cast<float>(k % 9)));
        def.bodies[body].angular_velocity = {random.between(-3.0f, 3.0f), random.between(-3.0f, 3.0f),
                                             random.between(-3.0f, 3.0f)};
    }
    return def;
}

struct GoldenScene {
    const char* name;
    WorldDef def;
    bool commands;
};

constexpr std::uint64_t kGoldenTicks[] = {1, 10, 60, 180};

// Saved after every tick and restored into a newly made world, or straight on.
enum class Way : std::uint8_t { straight, restored };

std::string course_of(const GoldenScene& scene, Target target, std::uint32_t threads, Way way) {
    orrery::server::ThreadPool pool(threads);
    auto world = make_world(scene.def, target);
    std::vector<std::uint8_t> saved;
    std::ostringstream text;
    for (const std::uint64_t stop : kGoldenTicks) {
        while (world->tick() < stop) {
            world->step(scene.commands ? varied_commands(world->tick()) : std::vector<Command>{},
                        threads == 1 ? nullptr : &pool);
            if (way == Way::straight) continue;
            world->save(saved);
            world = make_world(scene.def, target);
            REQUIRE(world->restore(saved).ok());
        }
        text << stop << ' ' << std::hex << std::setw(16) << std::setfill('0') << world->hash().root << std::dec << '\n';
    }
    return text.str();
}

#if defined(__x86_64__)
constexpr std::uint32_t kThreads[] = {1, 2, 3, 8};
#else
constexpr std::uint32_t kThreads[] = {1, 3};  // emulated in our tests: spinning threads are dear there
#endif

}  // namespace

TEST_CASE("golden hashes of this engine version hold on every target and thread count, straight and restored") {
    for (const GoldenScene& scene :
         {GoldenScene{"wall_and_ball", wall_and_ball(), false}, GoldenScene{"swinging_chain", swinging_chain(), false},
          GoldenScene{"belt_and_rollers", belt_and_rollers(), false},
          GoldenScene{"nets_and_hub", nets_and_hub(), false},
          GoldenScene{"limits_and_modes", limits_and_modes(), false},
          GoldenScene{"crowded_plate", crowded_plate(), false},
          GoldenScene{"areas_and_volumes", areas_and_volumes(), false},
          GoldenScene{"heap_of_hulls", heap_of_hulls(), false}, GoldenScene{"varied", varied_world(), true}}) {
        CAPTURE(std::string(scene.name));
        const std::string reference = course_of(scene, Target::scalar, 1, Way::straight);
        for (const Target target : available_targets()) {
            CAPTURE(std::string(target_name(target)));
            for (const std::uint32_t threads : kThreads) {
                if (few() && threads != 3) continue;
                CAPTURE(threads);
                if (!few()) CHECK(course_of(scene, target, threads, Way::straight) == reference);
                CHECK(course_of(scene, target, threads, Way::restored) == reference);
            }
        }
        check_golden(std::string("world_") + scene.name, "tests/sim/world_golden_test.cpp", reference);
    }
}

TEST_CASE("the golden scene of a crowded plate has more contacts on one body than there are colours") {
    auto world = make_world(crowded_plate(), Target::scalar);
    std::uint32_t most = 0;
    for (int tick = 0; tick < 60; ++tick) {
        world->step();
        most = std::max(most, world->stats().overflow_constraints);
    }
    CHECK(most > 16);
}
