// Guards: that two bodies which touch in one plane by several of their parts have one contact there, of the outermost
// points and the deepest, and stand on each other as bodies of one piece do; and that what lies in no plane with it
// keeps its own.
#include "sim/collision/mesh/patches.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/courses.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

struct Grid {
    std::uint32_t x, y, z;  // bricks of a cube of one metre
};

// Cubes of so many bricks each, as one body, one on the other.
WorldDef stack(Grid of, std::uint32_t count) {
    WorldDef def;
    def.solver.sleep = false;
    add_ground(def);
    const Vec3 half{0.5f / static_cast<float>(of.x), 0.5f / static_cast<float>(of.y), 0.5f / static_cast<float>(of.z)};
    const std::uint32_t brick = add_box_shape(def, half);
    ShapeDef cube;
    cube.name = "cube";
    cube.type = ShapeType::compound;
    const auto at = [](std::uint32_t k, float h) { return h * static_cast<float>(2 * k + 1) - 0.5f; };
    for (std::uint32_t i = 0; i < of.x * of.y * of.z; ++i)
        cube.children.push_back(
            {brick, {{at(i % of.x, half.x), at(i / of.x % of.y, half.y), at(i / of.x / of.y, half.z)}, {}}});
    def.shapes.push_back(cube);
    const auto shape = of.x * of.y * of.z == 1 ? brick : static_cast<std::uint32_t>(def.shapes.size() - 1);
    for (std::uint32_t k = 0; k < count; ++k) add_body(def, shape, {0.0f, 0.5f + static_cast<float>(k), 0.0f});
    return def;
}

struct Stood {
    float speed = 0.0f, aside = 0.0f,
          depth = 0.0f;  // the fastest body's in the last second, m/s; the top's, m; the deepest at the end, m
    std::uint32_t contacts = 0;
};
Stood stand(const WorldDef& def, int ticks) {
    auto world = World::create(def);
    REQUIRE(world.ok());
    World& w = **world;
    Stood out;
    const auto bodies = static_cast<std::uint32_t>(def.bodies.size());
    for (int tick = 0; tick < ticks; ++tick) {
        w.step();
        if (tick < ticks - 60) continue;
        for (std::uint32_t b = 0; b < bodies; ++b) {
            const BodyState body = state_of(w, b);
            const Vec3 v = body.linear_velocity;
            out.speed = std::max(out.speed, std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
        }
    }
    const Vec3 top = state_of(w, bodies - 1).pose.position, began = def.bodies[bodies - 1].pose.position;
    out.aside = std::hypot(top.x - began.x, top.z - began.z);
    out.depth = w.stats().max_penetration_m;
    out.contacts = w.stats().touching_pairs;
    return out;
}

Manifold square(float x, float height, std::uint32_t child, Vec3 normal = {0.0f, 1.0f, 0.0f}) {
    Manifold m;
    m.a = 1, m.b = 2, m.child_a = child, m.child_b = 7;
    m.normal = normal;
    m.count = 4;
    const float corner[4][2] = {{-1.0f, -1.0f}, {1.0f, -1.0f}, {1.0f, 1.0f}, {-1.0f, 1.0f}};
    for (std::uint32_t k = 0; k < 4; ++k) m.points[k] = {{x + corner[k][0], height, corner[k][1]}, 0.0f, k, 0.0f};
    return m;
}

Manifold joined(std::vector<Manifold> of) {
    std::vector<Manifold*> list;
    for (Manifold& m : of) list.push_back(&m);
    ref::join_contacts(list);
    for (std::uint32_t k = 0; k < of[0].count; ++k) {
        for (std::uint32_t j = 0; j < k; ++j) CHECK(of[0].points[j].feature != of[0].points[k].feature);
    }
    return of[0];
}

struct Brick {
    Vec3 half, at;
};
std::uint32_t add_compound(WorldDef& def, const std::vector<Brick>& bricks) {
    ShapeDef shape;
    shape.name = "compound" + std::to_string(def.shapes.size());
    shape.type = ShapeType::compound;
    for (const Brick& brick : bricks) shape.children.push_back({add_box_shape(def, brick.half), {brick.at, {}}});
    def.shapes.push_back(shape);
    return static_cast<std::uint32_t>(def.shapes.size() - 1);
}
Vec3 centre_of(const WorldDef& def, std::uint32_t shape) {
    const auto centre = shape_centre(def.shapes[shape], def.shapes);
    REQUIRE(centre.ok());
    return *centre;
}
// What these bricks make, with their lowest at height 0, on the ground.
Stood stand_on_ground(const std::vector<Brick>& bricks) {
    WorldDef def;
    def.solver.sleep = false;
    add_ground(def);
    const std::uint32_t shape = add_compound(def, bricks);
    add_body(def, shape, centre_of(def, shape));
    return stand(def, 300);
}

}  // namespace

TEST_CASE("a stack of bodies of several bricks stands as one of bodies of one piece" * doctest::test_suite("quality")) {
    const Stood whole = stand(stack({1, 1, 1}, 10), 600);
    CHECK(whole.contacts == 10);
    for (const Grid grid : {Grid{2, 1, 1}, Grid{2, 1, 2}, Grid{3, 1, 3}, Grid{2, 2, 2}, Grid{1, 3, 1}}) {
        CAPTURE(grid.x);
        CAPTURE(grid.y);
        CAPTURE(grid.z);
        const Stood bricks = stand(stack(grid, 10), 600);
        CHECK(bricks.contacts == 10);
        CHECK(bricks.speed < 1.2f * whole.speed + 2e-3f);  // 0.5 m/s where every brick's contact counts alone
        CHECK(bricks.aside < 1e-3f);
        CHECK(std::fabs(bricks.depth - whole.depth) < 1e-4f);
    }
}

TEST_CASE("contacts in one plane become one of the outermost points") {
    const Manifold m = joined({square(-4.0f, 0.5f, 0), square(-2.0f, 0.5f, 1), square(0.0f, 0.5f, 2)});
    REQUIRE(m.count == 4);
    float least = 0.0f, most = -10.0f;
    for (std::uint32_t k = 0; k < 4; ++k) {
        const Vec3 at = m.points[k].offset_a;
        CHECK((at.x == -5.0f || at.x == 1.0f));
        CHECK(std::fabs(at.z) == 1.0f);
        least = std::min(least, at.x), most = std::max(most, at.x);
    }
    CHECK(least == -5.0f);
    CHECK(most == 1.0f);
    CHECK(m.child_a == 0);
}

TEST_CASE("the deepest point is kept, wherever it lies, and however many there are") {
    for (const std::uint32_t parts : {3u, 40u}) {
        for (const std::uint32_t deep : {0u, 1u, parts - 1}) {
            std::vector<Manifold> row;
            for (std::uint32_t k = 0; k < parts; ++k) row.push_back(square(static_cast<float>(2 * k), 0.5f, k));
            row[deep].points[1].depth = 0.2f;
            const float right = static_cast<float>(2 * parts - 1);
            const Manifold m = joined(row);
            REQUIRE(m.count == 4);
            std::uint32_t deepest = 0, corners = 0;
            for (std::uint32_t k = 0; k < 4; ++k) {
                deepest += m.points[k].depth == 0.2f ? 1u : 0u;
                corners += m.points[k].offset_a.x == -1.0f || m.points[k].offset_a.x == right ? 1u : 0u;
            }
            CHECK(deepest == 1);
            CHECK(corners >= 3);
        }
    }
}

TEST_CASE("what hangs above the ground bears nothing: pedestals, pallets, lamps and short legs stand still") {
    const auto still = [](const Stood& stood) {
        CHECK(stood.speed < 1e-3f);
        CHECK(stood.aside < 1e-3f);
        CHECK(stood.depth < 3e-4f);
    };
    for (const float gap : {0.005f, 0.010f, 0.015f}) {
        CAPTURE(gap);
        // A foot, with wings that hang above the ground.
        still(stand_on_ground({{{0.2f, 0.2f, 0.2f}, {0.0f, 0.2f, 0.0f}},
                               {{0.2f, 0.1f, 0.2f}, {-0.4f, 0.1f + gap, 0.0f}},
                               {{0.2f, 0.1f, 0.2f}, {0.4f, 0.1f + gap, 0.0f}}}));
        // A plate on two skids.
        still(stand_on_ground({{{0.05f, gap / 2, 0.5f}, {-0.3f, gap / 2, 0.0f}},
                               {{0.05f, gap / 2, 0.5f}, {0.3f, gap / 2, 0.0f}},
                               {{0.5f, 0.05f, 0.5f}, {0.0f, gap + 0.05f, 0.0f}}}));
        // A post on a plate with a smaller foot.
        still(stand_on_ground({{{0.15f, 0.05f, 0.15f}, {0.0f, 0.05f, 0.0f}},
                               {{0.3f, 0.05f, 0.3f}, {0.0f, 0.05f + gap, 0.0f}},
                               {{0.05f, 0.5f, 0.05f}, {0.0f, 0.6f, 0.0f}}}));
        // A table with four legs, and four at the corners that are too short.
        std::vector<Brick> table = {{{0.6f, 0.03f, 0.6f}, {0.0f, 0.53f, 0.0f}}};
        for (const float x : {-1.0f, 1.0f}) {
            for (const float z : {-1.0f, 1.0f}) {
                table.push_back({{0.03f, 0.25f, 0.03f}, {0.3f * x, 0.25f, 0.3f * z}});
                table.push_back({{0.03f, 0.25f - gap / 2, 0.03f}, {0.55f * x, 0.25f + gap / 2, 0.55f * z}});
            }
        }
        still(stand_on_ground(table));
    }
    // Tables of 2 cm.
    std::vector<Brick> small = {{{0.01f, 0.001f, 0.01f}, {0.0f, 0.011f, 0.0f}}};
    for (const float x : {-1.0f, 1.0f}) {
        for (const float z : {-1.0f, 1.0f})
            small.push_back({{0.001f, 0.005f, 0.001f}, {0.008f * x, 0.005f, 0.008f * z}});
    }
    still(stand_on_ground(small));
}

TEST_CASE("a box stands on the higher of two planks of one body") {
    for (const float step : {0.003f, 0.008f, 0.015f}) {
        CAPTURE(step);
        WorldDef def;
        def.solver.sleep = false;
        const std::uint32_t floor = add_compound(
            def, {{{1.0f, 0.1f, 1.0f}, {-1.0f, -0.1f, 0.0f}}, {{1.0f, 0.1f, 1.0f}, {1.0f, -0.1f - step, 0.0f}}});
        add_body(def, floor, centre_of(def, floor));
        def.bodies.back().type = BodyType::fixed;
        add_body(def, add_box_shape(def, {0.5f, 0.5f, 0.5f}), {-0.2f, 0.5f, 0.0f});
        auto world = World::create(def);
        REQUIRE(world.ok());
        run(**world, 300);
        const BodyState box = state_of(**world, 1);
        CHECK(std::fabs(box.pose.position.x + 0.2f) < 1e-3f);
        CHECK(std::fabs(box.linear_velocity.y) < 1e-3f);
        CHECK((*world)->stats().max_penetration_m < 3e-4f);
    }
}

TEST_CASE("a body of bricks on a height field touches each flat patch of it once") {
    WorldDef def;
    def.solver.sleep = false;
    ShapeDef hills;
    hills.name = "hills";
    hills.type = ShapeType::height_field;
    hills.columns = 41;
    hills.spacing = {0.3f, 0.01f, 0.3f};
    hills.heights.assign(41 * 41, 0);
    def.shapes.push_back(hills);
    add_body(def, 0, {0.0f, 0.0f, 0.0f});
    def.bodies.back().type = BodyType::fixed;
    add_body(
        def,
        add_compound(def, {{{0.25f, 0.5f, 0.5f}, {-0.25f, 0.0f, 0.0f}}, {{0.25f, 0.5f, 0.5f}, {0.25f, 0.0f, 0.0f}}}),
        {0.1f, 0.5f, 0.13f});
    const Stood bricks = stand(def, 120);
    CHECK(bricks.contacts == 1);
    CHECK(bricks.speed < 1e-3f);
}

// On flat ground and on a height field, standing, toppling, hit by a ball: contacts are joined and are not, from tick
// to tick.
TEST_CASE("bodies of bricks have the same bits for every target, thread count and way through save and restore") {
    WorldDef def = stack({2, 1, 2}, 6);
    const auto cube = static_cast<std::uint32_t>(def.shapes.size() - 1);
    ShapeDef hills;
    hills.name = "hills";
    hills.type = ShapeType::height_field;
    hills.columns = 21;
    hills.spacing = {0.7f, 0.01f, 0.7f};
    for (int k = 0; k < 21 * 21; ++k) hills.heights.push_back(k % 3 == 0 ? 1 : 0);
    def.shapes.push_back(hills);
    add_body(def, static_cast<std::uint32_t>(def.shapes.size() - 1), {20.0f, 0.0f, 0.0f});
    def.bodies.back().type = BodyType::fixed;
    Lcg random(static_cast<std::uint32_t>(seeded(241)));
    for (std::uint32_t k = 0; k < 8; ++k) {
        const std::uint32_t body =
            add_body(def, cube,
                     {20.0f + random.between(-4.0f, 4.0f), 0.6f + static_cast<float>(k), random.between(-4.0f, 4.0f)});
        if (k % 2 == 0)
            def.bodies[body].pose.orientation = {0.0f, std::sin(0.1f * static_cast<float>(k)), 0.0f,
                                                 std::cos(0.1f * static_cast<float>(k))};
    }
    const std::uint32_t ball = add_body(def, add_sphere_shape(def, 0.5f), {-8.0f, 3.2f, 0.1f});
    def.bodies[ball].linear_velocity = {12.0f, 1.0f, 0.0f};
    check_one_course({def, 120});
}
