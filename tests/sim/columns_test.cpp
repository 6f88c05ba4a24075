// Guards: that what stands stands, however slender (columns, a tower of Jenga's blocks, an overhang near its limit),
// and sways by millimetres; that what must fall falls, at the angle at which it must; and that what contacts hold for
// it changes no bit by target, threads or a restore.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/body_worlds.h"
#include "tests/support/courses.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

WorldDef on_ground() {
    WorldDef def;
    def.solver.sleep = false;
    add_ground(def);
    return def;
}
WorldDef column(int count, Vec3 half, float aside = 0.0f) {
    WorldDef def = on_ground();
    const std::uint32_t shape = add_box_shape(def, half);
    for (int i = 0; i < count; ++i)
        add_body(def, shape, {i % 2 == 0 ? -aside : aside, half.y * static_cast<float>(2 * i + 1), 0.0f});
    return def;
}
// Every other one from below, then the others from above: nobody lies on what was made just before.
WorldDef shuffled_column(int count, Vec3 half) {
    WorldDef def = on_ground();
    const std::uint32_t shape = add_box_shape(def, half);
    const auto add = [&](int place) { add_body(def, shape, {0.0f, half.y * static_cast<float>(2 * place + 1), 0.0f}); };
    for (int place = 0; place < count; place += 2) add(place);
    for (int place = count - 1 - count % 2; place > 0; place -= 2) add(place);
    return def;
}
// Levels of three blocks of 1.5 x 2.5 x 7.5 cm across each other.
WorldDef jenga(int levels) {
    WorldDef def = on_ground();
    const Vec3 half{0.0375f, 0.0075f, 0.0125f};
    const std::uint32_t shape = add_box_shape(def, half);
    for (int level = 0; level < levels; ++level) {
        const float y = half.y * static_cast<float>(2 * level + 1);
        for (int k = -1; k <= 1; ++k) {
            const float beside = static_cast<float>(k) * 2.0f * half.z;
            if (level % 2 == 0)
                add_body(def, shape, {0.0f, y, beside});
            else
                add_body(def, shape, {beside, y, 0.0f}, {0.0f, 0.70710678f, 0.0f, 0.70710678f});
        }
    }
    return def;
}
// Planks of 1 m, each of which juts out over those below by `part` of what the ones above allow.
WorldDef overhang(int count, float part) {
    WorldDef def = on_ground();
    const std::uint32_t shape = add_box_shape(def, {0.5f, 0.1f, 0.25f});
    std::vector<float> x{0.0f};
    for (int k = 1; k < count; ++k) x.push_back(x.back() - part / static_cast<float>(2 * k));
    for (int i = 0; i < count; ++i)
        add_body(def, shape, {x[static_cast<std::size_t>(count - 1 - i)], 0.1f * static_cast<float>(2 * i + 1), 0.0f});
    return def;
}

struct Course {
    double way = 0.0, sway = 0.0,
           drop = 0.0;  // m: of the topmost body, sideways at most, and to and fro in the last quarter; downwards
};
Course watch(const WorldDef& def, int ticks) {
    auto world = make_world(def);
    std::uint32_t top = 0;
    for (std::uint32_t i = 1; i < def.bodies.size(); ++i) {
        if (def.bodies[i].pose.position.y >= def.bodies[top].pose.position.y) top = i;
    }
    const Vec3 start = def.bodies[top].pose.position;
    Course course;
    double low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
    for (int n = 0; n < ticks; ++n) {
        world->step();
        const Vec3 p = state_of(*world, top).pose.position;
        course.way = std::max(course.way, std::hypot<double>(p.x - start.x, p.z - start.z));
        course.drop = std::max<double>(course.drop, start.y - p.y);
        if (n < ticks * 3 / 4) continue;
        low[0] = std::min<double>(low[0], p.x), low[1] = std::min<double>(low[1], p.z);
        high[0] = std::max<double>(high[0], p.x), high[1] = std::max<double>(high[1], p.z);
    }
    course.sway = std::max(high[0] - low[0], high[1] - low[1]);
    return course;
}

// The angle at which a box tips over on a plate that turns up by a quarter of a degree a second.
double tips_at_deg(Vec3 half) {
    WorldDef def;
    def.solver.sleep = false;
    def.gravity = {0.0f, -10.0f, 0.0f};
    def.materials[0].friction = 3.0f;
    const std::uint32_t plate = add_body(def, add_box_shape(def, {5.0f, 0.5f, 5.0f}), {0.0f, -0.5f, 0.0f});
    def.bodies[plate].type = BodyType::kinematic;
    def.bodies[plate].angular_velocity = {0.0f, 0.0f, kPi / 720.0f};
    const std::uint32_t box = add_body(def, add_box_shape(def, half), {0.0f, half.y, 0.0f});
    auto world = make_world(def);
    const auto angle_deg = [&](std::uint32_t body) {
        const Quat q = state_of(*world, body).pose.orientation;
        return 2.0 * std::atan2(double(q.z), double(q.w)) * 180.0 / double(kPi);
    };
    for (int n = 0; n < 4 * 60 * 60; ++n) {
        world->step();
        if (std::abs(angle_deg(box) - angle_deg(plate)) > 3.0) return angle_deg(plate);
    }
    return 90.0;
}

}  // namespace

TEST_CASE("slender columns stand for half a minute and sway by millimetres" * doctest::test_suite("quality")) {
    struct Case {
        int count;
        Vec3 half;
        double way;  // m
    };
    for (const Case& c :
         {Case{10, {0.1f, 0.5f, 0.1f}, 0.01}, Case{15, {0.1f, 0.5f, 0.1f}, 0.01}, Case{20, {0.1f, 0.5f, 0.1f}, 0.02},
          Case{30, {0.2f, 0.5f, 0.2f}, 0.05}, Case{30, {0.5f, 0.5f, 0.5f}, 0.05}, Case{20, {0.5f, 0.1f, 0.5f}, 0.01},
          Case{10, {0.01f, 0.05f, 0.01f}, 0.01}}) {
        for (const float aside : {0.0f, 0.01f * c.half.x}) {
            const Course course = watch(column(c.count, c.half, aside), 1800);
            const std::string name = std::to_string(c.count) + " of " + std::to_string(2 * c.half.x) + " m";
            CHECK_MESSAGE(course.way < c.way, name << ": " << course.way << " m");
            CHECK_MESSAGE(course.drop < 0.03 * c.count * 2.0 * double(c.half.y), name << ": " << course.drop << " m");
        }
    }
}

// Where sweeps over the contacts, in their order, had not come to all of it, the rest fell.
TEST_CASE("columns stand in whatever order they were made" * doctest::test_suite("quality")) {
    for (const Vec3 half : {Vec3{0.1f, 0.5f, 0.1f}, Vec3{0.05f, 0.05f, 0.05f}}) {
        const Course course = watch(shuffled_column(20, half), 900);
        CHECK_MESSAGE(course.way < 0.02, half.x << " x " << half.y << ": " << course.way << " m");
    }
}

TEST_CASE("a tower of Jenga's blocks and an overhang near its limit stand, one beyond it falls" *
          doctest::test_suite("quality")) {
    for (const int levels : {18, 24}) {
        const Course course = watch(jenga(levels), 1800);
        CHECK_MESSAGE(course.way < 0.005, levels << " levels: " << course.way << " m");
        CHECK_MESSAGE(course.sway < 0.002, levels << " levels: " << course.sway << " m");
    }
    CHECK(watch(overhang(8, 0.85f), 1800).drop < 0.1);
    CHECK(watch(overhang(5, 0.95f), 1800).drop < 0.1);
    CHECK(watch(overhang(8, 1.03f), 600).drop > 0.3);
}

TEST_CASE("boxes tip at the angle at which their centres leave their feet" * doctest::test_suite("quality")) {
    for (const Vec3 half :
         {Vec3{0.5f, 0.5f, 0.5f}, Vec3{0.2f, 0.5f, 0.2f}, Vec3{0.1f, 0.5f, 0.1f}, Vec3{0.5f, 0.7f, 0.5f}}) {
        const double due = std::atan(double(half.x / half.y)) * 180.0 / double(kPi), found = tips_at_deg(half);
        CHECK_MESSAGE(found > due, half.x << " x " << half.y << ": " << found << " of " << due);
        CHECK_MESSAGE(found < due + 0.5, half.x << " x " << half.y << ": " << found << " of " << due);
    }
}

// Held in the world's axes, arms of what turns as a whole are a couple from nowhere.
TEST_CASE(
    "arms are held of what stands alone: boxes drawn together in free space and turntables' loads move as if there "
    "were none") {
    for (const int count : {2, 3}) {
        WorldDef def;
        def.gravity = {};
        def.solver.sleep = false;
        const std::uint32_t cube = add_box_shape(def, {0.5f, 0.5f, 0.5f});
        constexpr float kTurn = 0.02f;  // rad/s, of all as one
        for (int i = 0; i < count; ++i) {
            const float y = static_cast<float>(i) - 0.5f * static_cast<float>(count - 1);
            BodyDef& body = def.bodies[add_body(def, cube, {0.0f, y, 0.0f})];
            body.linear_velocity = {-kTurn * y, 0.0f, 0.0f};
            body.angular_velocity = {0.0f, 0.0f, kTurn};
        }
        CenterDistance draws;
        draws.target_m = 0.8f * static_cast<float>(count - 1);
        draws.spring = {20.0f, 1.0f};
        add_joint(def, 0, static_cast<std::uint32_t>(count - 1), draws);
        def.joints[0].collide_connected = true;
        auto world = make_world(def);
        double fastest = 0.0;
        for (int n = 0; n < 2400; ++n) {
            world->step();
            if (n >= 1200) fastest = std::max(fastest, std::abs(double(state_of(*world, 0).angular_velocity.z)));
        }
        CHECK(fastest < 1.1 * double(kTurn));
    }
    WorldDef def;
    def.solver.sleep = false;
    const std::uint32_t table = add_body(def, add_box_shape(def, {5.0f, 0.5f, 5.0f}), {0.0f, -0.5f, 0.0f});
    def.bodies[table].type = BodyType::kinematic;
    def.bodies[table].angular_velocity = {0.0f, 0.25f, 0.0f};
    const std::uint32_t box = add_body(def, add_box_shape(def, {0.5f, 0.5f, 0.5f}), {1.0f, 0.5f, 0.0f});
    def.bodies[box].linear_velocity = {0.0f, 0.0f, -0.25f};
    def.bodies[box].angular_velocity = {0.0f, 0.25f, 0.0f};
    auto world = make_world(def);
    run(*world, 600);
    const Vec3 p = state_of(*world, box).pose.position;
    CHECK(std::abs(std::hypot(double(p.x), double(p.z)) - 1.0) < 0.01);
}

// An arm that lags behind what hangs pulls it outwards: one that balances on a post with its weights below swung ever
// higher.
TEST_CASE("what hangs by a contact comes to rest" * doctest::test_suite("quality")) {
    WorldDef def;
    def.solver.sleep = false;
    def.materials[0].friction = 0.8f;
    const std::uint32_t post = add_body(def, add_box_shape(def, {0.03f, 0.5f, 0.03f}), {0.0f, -0.5f, 0.0f});
    def.bodies[post].type = BodyType::fixed;
    const std::uint32_t foot = add_box_shape(def, {0.12f, 0.03f, 0.12f}),
                        arm = add_box_shape(def, {0.4f, 0.03f, 0.03f}), leg = add_box_shape(def, {0.02f, 0.75f, 0.02f}),
                        weight = add_box_shape(def, {0.1f, 0.1f, 0.1f});
    ShapeDef bird;
    bird.type = ShapeType::compound;
    bird.children = {{foot, {{0.0f, 0.03f, 0.0f}, {}}}, {arm, {{0.0f, 0.03f, 0.0f}, {}}}};
    for (const float side : {-0.4f, 0.4f}) {
        bird.children.push_back({leg, {{side, -0.75f, 0.0f}, {}}});
        bird.children.push_back({weight, {{side, -1.5f, 0.0f}, {}}});
    }
    const float centre = shape_centre(bird, def.shapes).value().y, tilt = 0.035f;
    CHECK(centre < -0.9f);
    const std::uint32_t body = add_body(def, add_shape(def, bird),
                                        {-centre * std::sin(tilt), centre * std::cos(tilt), 0.0f}, turn_about_z(tilt));
    auto world = make_world(def);
    double late = 0.0;  // rad
    for (int n = 0; n < 2400; ++n) {
        world->step();
        const Quat q = state_of(*world, body).pose.orientation;
        if (n >= 1200) late = std::max(late, 2.0 * std::hypot<double>(q.x, q.z));
    }
    CHECK_MESSAGE(late < 0.75 * double(tilt), "from 20 s on it swings by " << late << " rad, 0.035 at first");
}
// On a plane all vertices near it count, whose middle rolls along: a rocker drove itself as fast as it may turn and
// still stand.
TEST_CASE("what rolls from facet to facet comes to rest" * doctest::test_suite("quality")) {
    constexpr float kRadius = 0.2f, kFacet = 2.0f * kPi / 50.0f;
    WorldDef def = on_ground();
    def.materials[0].friction = 0.9f;
    def.tick_rate_hz = 240.0f;
    ShapeDef rocker;
    rocker.type = ShapeType::hull;
    for (int k = -8; k <= 8; ++k) {
        for (const float z : {-0.14f, 0.14f})
            rocker.points.push_back({kRadius * std::sin(kFacet * static_cast<float>(k)),
                                     -kRadius * std::cos(kFacet * static_cast<float>(k)), z});
    }
    const float centre = shape_centre(rocker, def.shapes).value().y;
    const std::uint32_t body = add_body(def, add_shape(def, rocker), {0.0f, kRadius + centre, 0.0f});
    def.bodies[body].angular_velocity = {0.0f, 0.0f, 0.1327f};
    auto world = make_world(def);
    double late = 0.0;  // rad/s
    for (int n = 0; n < 8 * 240; ++n) {
        world->step();
        if (n >= 6 * 240) late = std::max(late, std::abs(double(state_of(*world, body).angular_velocity.z)));
    }
    CHECK_MESSAGE(late < 0.13, "after 6 s it turns by " << late << " rad/s");
}
// A tray that a joint holds, with boxes on it: 1.5 cm above the ground, which is looked at but not touched, it stood
// there and swung ever higher.
TEST_CASE("nobody stands on ground that is near but not touched") {
    const auto swings = [](float gap) {
        constexpr float kSize = 0.05f, kTilt = 0.035f;
        WorldDef def;
        def.solver.sleep = false;
        const std::uint32_t ground = add_body(def, add_box_shape(def, {1.0f, 0.5f, 1.0f}), {0.0f, -0.5f - gap, 0.0f});
        def.bodies[ground].type = BodyType::fixed;
        const auto hung = [&](Vec3 half, float y, float mass_kg) {  // of a pendulum of 3 m, so many times smaller
            const float r = kSize * (3.0f - y);
            const std::uint32_t shape = add_box_shape(def, {kSize * half.x, kSize * half.y, kSize * half.z});
            const std::uint32_t body = add_body(
                def, shape, {r * std::sin(kTilt), kSize * 3.0f - r * std::cos(kTilt), 0.0f}, turn_about_z(kTilt));
            def.bodies[body].mass_kg = mass_kg;
            return body;
        };
        const std::uint32_t tray = hung({0.8f, 0.04f, 0.8f}, 0.04f, 0.05f);
        hung({0.5f, 0.15f, 0.5f}, 0.23f, 0.4f);
        hung({0.5f, 0.15f, 0.5f}, 0.53f, 0.4f);
        add_joint(def, kNone, tray, BallSocket{{0.0f, kSize * 3.0f, 0.0f}, {0.0f, kSize * 2.96f, 0.0f}, {}});
        auto world = make_world(def);
        std::vector<double> x;
        for (int n = 0; n < 600; ++n) {
            world->step();
            x.push_back(double(state_of(*world, tray).pose.position.x));
        }
        return x;
    };
    const std::vector<double> near = swings(0.015f), far = swings(5.0f);
    double apart = 0.0;
    for (std::size_t n = 0; n < near.size(); ++n) apart = std::max(apart, std::abs(near[n] - far[n]));
    CHECK_MESSAGE(apart < 1e-4, apart << " m");
}

// Arms held in the world's axes while what bears turns let it creep outwards by 0.2 m a minute.
TEST_CASE("what lies on a slab that turns slowly on the ground turns with it") {
    WorldDef def = on_ground();
    def.materials.push_back({});
    def.materials[1].friction = 0.0f;
    def.bodies[0].material = 1;
    constexpr float kTurn = 0.25f;  // rad/s
    const std::uint32_t slab = add_body(def, add_box_shape(def, {1.0f, 0.1f, 1.0f}), {0.0f, 0.1f, 0.0f});
    def.bodies[slab].angular_velocity = {0.0f, kTurn, 0.0f};
    const std::uint32_t cube = add_box_shape(def, {0.25f, 0.25f, 0.25f});
    for (const float side : {-1.0f, 1.0f}) {
        BodyDef& body = def.bodies[add_body(def, cube, {0.7f * side, 0.45f, 0.0f})];
        body.linear_velocity = {0.0f, 0.0f, -kTurn * 0.7f * side};
        body.angular_velocity = {0.0f, kTurn, 0.0f};
    }
    auto world = make_world(def);
    run(*world, 600);
    CHECK(state_of(*world, slab).angular_velocity.y == doctest::Approx(kTurn).epsilon(0.01));
    for (const std::uint32_t load : {slab + 1, slab + 2}) {
        const Vec3 p = state_of(*world, load).pose.position;
        CHECK(std::abs(std::hypot(double(p.x), double(p.z)) - 0.7) < 0.008);
    }
}

TEST_CASE("a row of dominoes falls however small they are" * doctest::test_suite("quality")) {
    for (const float size : {1.0f, 0.2f, 0.05f}) {
        WorldDef def = on_ground();
        const std::uint32_t shape = add_box_shape(def, {0.01f * size, 0.06f * size, 0.03f * size});
        for (int i = 0; i < 20; ++i) add_body(def, shape, {0.06f * size * static_cast<float>(i), 0.06f * size, 0.0f});
        def.bodies[1].angular_velocity = {0.0f, 0.0f, -12.0f / std::sqrt(size)};
        auto world = make_world(def);
        run(*world, 600);
        int fallen = 0;
        for (std::uint32_t i = 1; i <= 20; ++i) fallen += state_of(*world, i).pose.position.y < 0.05f * size;
        CHECK_MESSAGE(fallen == 20, fallen << " of 20 dominoes of " << 12.0f * size << " cm");
    }
}

TEST_CASE(
    "what contacts hold is part of the state: columns that sway go on alike after a restore, on every target and any "
    "threads") {
    WorldDef def = column(10, {0.1f, 0.5f, 0.1f}, 0.003f);
    const std::uint32_t cube = add_box_shape(def, {0.3f, 0.3f, 0.3f}),
                        wedge = add_shape(def, hull_of(7, 20, {0.3f, 0.3f, 0.3f}));
    for (int i = 0; i < 4; ++i) {
        add_body(def, i % 2 == 0 ? cube : wedge,
                 {3.0f, 0.4f + 0.7f * static_cast<float>(i), 0.01f * static_cast<float>(i)});
        add_body(def, cube, {-3.0f, 0.3f + 0.6f * static_cast<float>(i), 0.0f},
                 exact_turn(0.002f * static_cast<float>(i)));
    }
    check_one_course({def, 120});
}
