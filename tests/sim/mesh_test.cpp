// Guards: meshes, height fields and compounds. What moves over a flat mesh of many triangles moves as over a plane: no
// inner edge turns it, lifts it or slows it down; what lies in a valley or on a ridge rests; a compound falls as one
// body; and all of it is the same bits whatever the target, the threads and the way through save and restore.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/about.h"
#include "tests/support/courses.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// A grid of count x count cells of `cell` metres around the origin, its heights by `height`; the diagonals alternate.
template <class Height>
ShapeDef grid_mesh(int count, float cell, Height height) {
    ShapeDef def;
    def.type = ShapeType::mesh;
    for (int k = 0; k <= count; ++k) {
        for (int i = 0; i <= count; ++i) {
            const float x = (static_cast<float>(i) - 0.5f * static_cast<float>(count)) * cell,
                        z = (static_cast<float>(k) - 0.5f * static_cast<float>(count)) * cell;
            def.points.push_back({x, height(x, z), z});
        }
    }
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < count; ++i) {
            const auto a = static_cast<std::uint32_t>(k * (count + 1) + i), b = a + 1,
                       c = a + static_cast<std::uint32_t>(count) + 1, d = c + 1;
            if ((i + k) % 2 == 0)
                def.indices.insert(def.indices.end(), {a, c, b, b, c, d});
            else
                def.indices.insert(def.indices.end(), {a, c, d, a, d, b});
        }
    }
    return def;
}
float flat(float, float) { return 0.0f; }

std::uint32_t add_surface(WorldDef& def, ShapeDef shape) {
    const std::uint32_t body = add_body(def, add_shape(def, std::move(shape)), {});
    def.bodies[body].type = BodyType::fixed;
    return body;
}
std::string fault_of(const ShapeDef& shape) {
    WorldDef def;
    def.shapes.push_back(shape);
    const auto world = World::create(def);
    return world ? std::string() : world.error().to_string();
}
double speed(const BodyState& s) { return std::hypot(s.linear_velocity.x, s.linear_velocity.y, s.linear_velocity.z); }

}  // namespace

TEST_CASE("a ball rolls over a flat mesh of many triangles as over a plane: straight, without a hop" *
          doctest::test_suite("quality")) {
    struct Roll {
        double highest = 0, aside = 0, least_speed = 1e9, far = 0;
    };
    const auto roll = [](int ground) {
        WorldDef def;
        ShapeDef field;
        field.type = ShapeType::height_field;
        field.columns = 121;
        field.heights.assign(121 * 121, 0.0f);
        field.spacing = {0.25f, 1.0f, 0.25f};
        if (ground == 0) add_ground(def);
        if (ground == 1) add_surface(def, grid_mesh(120, 0.25f, flat));
        if (ground == 2) add_surface(def, field);
        const std::uint32_t ball = add_body(def, add_sphere_shape(def, 0.3f), {-12.03f, 0.3f, -6.01f});
        def.bodies[ball].linear_velocity = {3.0f, 0.0f, 1.7f};
        def.bodies[ball].angular_velocity = {1.7f / 0.3f, 0.0f, -3.0f / 0.3f};
        auto world = make_world(def);
        Roll out;
        for (int i = 0; i < 420; ++i) {
            world->step();
            const BodyState s = state_of(*world, ball);
            out.highest = std::max(out.highest, double(s.pose.position.y));
            out.aside =
                std::max(out.aside, std::abs((s.pose.position.x + 12.03) * 1.7 - (s.pose.position.z + 6.01) * 3.0) /
                                        std::hypot(3.0, 1.7));
            out.least_speed = std::min(out.least_speed, speed(s));
            out.far = s.pose.position.x;
        }
        return out;
    };
    const Roll plane = roll(0);
    for (const int ground : {1, 2}) {
        CAPTURE(ground);
        const Roll mesh = roll(ground);
        CHECK(mesh.highest < plane.highest + 1e-5);
        CHECK(mesh.aside < plane.aside + 1e-3);
        CHECK(mesh.least_speed > plane.least_speed - 1e-3);
        CHECK(mesh.far == about(plane.far, 1e-3));
    }
}

TEST_CASE("a box, a cylinder and a hull slide over the seams of a mesh as over one big box" *
          doctest::test_suite("quality")) {
    for (const int kind : {0, 1, 2}) {
        CAPTURE(kind);
        const auto run_on = [&](bool mesh) {
            WorldDef def;
            def.materials[0].friction = 0.2f;
            if (mesh) {
                add_surface(def, grid_mesh(60, 0.5f, flat));
            } else {
                const std::uint32_t ground = add_body(def, add_box_shape(def, {15, 1, 15}), {0, -1, 0});
                def.bodies[ground].type = BodyType::fixed;
            }
            ShapeDef hull;
            hull.type = ShapeType::hull;
            for (int k = 0; k < 8; ++k)
                hull.points.push_back({(k & 1) ? 0.4f : -0.4f, (k & 2) ? 0.3f : -0.3f, (k & 4) ? 0.5f : -0.5f});
            const std::uint32_t shape = kind == 0   ? add_box_shape(def, {0.4f, 0.3f, 0.5f})
                                        : kind == 1 ? add_shape(def, {"", ShapeType::cylinder, 0.4f, 0.3f, {}})
                                                    : add_shape(def, hull);
            const std::uint32_t body =
                add_body(def, shape, {-9.1f, 0.3f, -3.3f}, {0.0f, 0.13052619f, 0.0f, 0.99144486f});
            def.bodies[body].linear_velocity = {6.0f, 0.0f, 2.0f};
            auto world = make_world(def);
            double highest = 0;
            for (int i = 0; i < 200; ++i) {
                world->step();
                highest = std::max(highest, double(state_of(*world, body).pose.position.y));
            }
            CHECK(highest < 0.302);
            return state_of(*world, body);
        };
        const BodyState on_mesh = run_on(true), on_box = run_on(false);
        CHECK(on_mesh.pose.position.x == about(on_box.pose.position.x, 0.01));
        CHECK(on_mesh.pose.position.z == about(on_box.pose.position.z, 0.02));
        CHECK(std::abs(on_mesh.pose.orientation.y - on_box.pose.orientation.y) < 0.02f);
        CHECK(speed(on_mesh) < 0.05);
    }
}

TEST_CASE("bodies of all shapes come to rest in a bowl and on a ridge of a mesh, and none falls through" *
          doctest::test_suite("quality")) {
    WorldDef def;
    add_surface(def, grid_mesh(40, 0.5f, [](float x, float z) {
                    return 0.04f * (x * x + z * z) + (std::abs(x) < 0.3f ? 0.4f : 0.0f);
                }));
    ShapeDef hull;
    hull.type = ShapeType::hull;
    hull.points = {{0.4f, 0, 0}, {-0.4f, 0.1f, 0}, {0, 0.4f, 0}, {0, -0.4f, 0.1f}, {0, 0, 0.5f}, {0.1f, 0, -0.5f}};
    const std::uint32_t shapes[] = {add_sphere_shape(def, 0.3f), add_box_shape(def, {0.3f, 0.25f, 0.4f}),
                                    add_capsule_shape(def, 0.2f, 0.3f),
                                    add_shape(def, {"", ShapeType::cylinder, 0.3f, 0.25f, {}}), add_shape(def, hull)};
    std::vector<std::uint32_t> bodies;
    Lcg random(4242);
    for (int i = 0; i < 40; ++i) {
        const float x = random.between(-4.0f, 4.0f), z = random.between(-4.0f, 4.0f);
        bodies.push_back(
            add_body(def, shapes[i % 5], {x, 2.5f + 0.3f * static_cast<float>(i % 8), z}, exact_turn(random.unit())));
    }
    auto world = make_world(def);
    run(*world, 900);
    for (const std::uint32_t body : bodies) {
        const BodyState s = state_of(*world, body);
        CHECK(s.pose.position.y > 0.0f);
        CHECK(s.pose.position.y < 5.0f);
        CHECK(speed(s) < 1.0);
    }
}

TEST_CASE("a compound of two boxes lies, falls and turns as the one box that it is") {
    WorldDef def;
    const std::uint32_t ground = add_body(def, add_box_shape(def, {20, 1, 20}), {0, -1, 0});
    def.bodies[ground].type = BodyType::fixed;
    const std::uint32_t half = add_box_shape(def, {0.5f, 0.25f, 0.4f}), whole = add_box_shape(def, {1.0f, 0.25f, 0.4f});
    ShapeDef both;
    both.type = ShapeType::compound;
    both.children = {{half, {{3.5f, 7, 0}, {}}}, {half, {{4.5f, 7, 0}, {}}}};
    const std::uint32_t compound = add_shape(def, both);
    const Vec3 centre = *shape_centre(both, def.shapes);
    CHECK(centre.x == doctest::Approx(4.0));
    CHECK(centre.y == doctest::Approx(7.0));
    const std::uint32_t a = add_body(def, compound, {-3, 1.5f, 0}, turn_about_z(0.4f)),
                        b = add_body(def, whole, {3, 1.5f, 0}, turn_about_z(0.4f));
    auto world = make_world(def);
    CHECK(world->body({a + 1, 0}).inverse_mass == doctest::Approx(world->body({b + 1, 0}).inverse_mass));
    run(*world, 20);
    CHECK(state_of(*world, a).pose.position.y == about(state_of(*world, b).pose.position.y, 1e-4));
    run(*world, 280);
    for (const std::uint32_t body : {a, b}) {
        CHECK(state_of(*world, body).pose.position.y == about(0.25, 0.01));
        CHECK(speed(state_of(*world, body)) < 0.01);
    }
}

TEST_CASE("compounds rest on meshes, planes and each other; thousands of children are found through their tree") {
    WorldDef def;
    add_surface(def, grid_mesh(40, 0.5f, flat));
    const std::uint32_t brick = add_box_shape(def, {0.25f, 0.25f, 0.25f}), ball = add_sphere_shape(def, 0.25f);
    ShapeDef table, wall;
    table.type = wall.type = ShapeType::compound;
    table.children.push_back({brick, {{0, 0.5f, 0}, {}}});
    for (int k = 0; k < 4; ++k)
        table.children.push_back({ball, {{(k & 1) ? 0.4f : -0.4f, 0, (k & 2) ? 0.4f : -0.4f}, {}}});
    for (int x = 0; x < 50; ++x) {
        for (int y = 0; y < 40; ++y)
            wall.children.push_back(
                {brick, {{0.5f * static_cast<float>(x) - 12.25f, 0.25f + 0.5f * static_cast<float>(y), 0}, {}}});
    }
    const std::uint32_t table_shape = add_shape(def, table), wall_shape = add_shape(def, wall);
    const std::uint32_t fixed_wall = add_body(def, wall_shape, {0, 10.0f, 3.0f});
    def.bodies[fixed_wall].type = BodyType::fixed;
    std::vector<std::uint32_t> bodies;
    for (int i = 0; i < 4; ++i)
        bodies.push_back(add_body(def, table_shape, {-6.0f + 2.0f * static_cast<float>(i), 0.6f, 0}));
    bodies.push_back(add_body(def, table_shape, {0.0f, 1.7f, 0.0f}));
    const std::uint32_t thrown = add_body(def, ball, {3.0f, 1.0f, 0.0f});
    def.bodies[thrown].linear_velocity = {0, 0, 20};
    auto world = make_world(def);
    run(*world, 300);
    for (const std::uint32_t body : bodies) {
        CHECK(state_of(*world, body).pose.position.y > 0.2f);
        CHECK(state_of(*world, body).pose.position.y < 2.0f);
        CHECK(speed(state_of(*world, body)) < 0.3);
    }
    CHECK(state_of(*world, thrown).pose.position.z < 2.6f);  // the wall stopped it
}

TEST_CASE(
    "meshes, height fields and compounds: the same bits for every target, thread count and way through save and "
    "restore") {
    WorldDef def;
    add_surface(def, grid_mesh(24, 0.5f, [](float x, float z) { return 0.05f * x * x + 0.03f * z * z; }));
    const std::uint32_t brick = add_box_shape(def, {0.2f, 0.15f, 0.25f}), ball = add_sphere_shape(def, 0.25f),
                        can = add_shape(def, {"", ShapeType::cylinder, 0.2f, 0.3f, {}});
    ShapeDef lump;
    lump.type = ShapeType::compound;
    lump.children = {{brick, {{0.3f, 0, 0}, {}}}, {ball, {{-0.2f, 0.1f, 0}, {}}}, {can, {{0, 0.2f, 0.3f}, {}}}};
    const std::uint32_t shapes[] = {brick, ball, can, add_shape(def, lump)};
    Lcg random(99);
    for (int i = 0; i < 48; ++i) {
        const float x = random.between(-1.5f, 1.5f), z = random.between(-1.5f, 1.5f);
        add_body(def, shapes[i % 4], {x, 0.8f + 0.3f * static_cast<float>(i), z}, exact_turn(random.unit()));
    }
    check_one_course({def, 120, {}, [](const World& world) {
                          if (world.tick() == 120) CHECK(world.stats().touching_pairs > 20);
                      }});
}

TEST_CASE("malformed meshes, height fields and compounds are errors that name the place and the mend") {
    const auto says = [](const std::string& text, const char* where, const char* what) {
        return text.find(where) == 0 && text.find(what) != std::string::npos;
    };
    ShapeDef mesh = grid_mesh(2, 1.0f, flat);
    CHECK(fault_of(mesh).empty());
    ShapeDef bad = mesh;
    bad.indices.pop_back();
    CHECK(says(fault_of(bad), "shapes[0].indices", "multiple of 3"));
    bad = mesh;
    bad.indices[4] = 99;
    CHECK(says(fault_of(bad), "shapes[0].indices", "at index 4 the number 99"));
    bad.indices = {0, 0, 1, 2, 1, 2};
    CHECK(says(fault_of(bad), "shapes[0].indices", "no triangle with an area"));
    bad = mesh;
    bad.points[3].y = NAN;
    CHECK(says(fault_of(bad), "shapes[0].points", "index 3"));
    bad.points.clear();
    CHECK(says(fault_of(bad), "shapes[0].points", "at least 3"));
    ShapeDef field;
    field.type = ShapeType::height_field;
    field.columns = 3;
    field.heights.assign(8, 0.0f);
    CHECK(says(fault_of(field), "shapes[0].heights", "whole rows"));
    field.heights.assign(9, 0.0f);
    CHECK(fault_of(field).empty());
    field.spacing.z = 0.0f;
    CHECK(says(fault_of(field), "shapes[0].spacing.z", "too small"));
    ShapeDef compound;
    compound.type = ShapeType::compound;
    CHECK(says(fault_of(compound), "shapes[0].children", "at least one"));
    compound.children = {{0, {}}};
    CHECK(says(fault_of(compound), "shapes[0].children[0].shape", "earlier shape"));
    WorldDef def;
    add_body(def, add_shape(def, mesh), {});
    const auto world = World::create(def);
    REQUIRE(!world.ok());
    CHECK(says(world.error().to_string(), "bodies[0].shape", "fixed or kinematic"));
}
