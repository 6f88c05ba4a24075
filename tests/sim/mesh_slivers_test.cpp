// Guards: slender triangles collide like all others, and triangles without an area are left out, counted, and change
// nothing of what is around them: no number, no neighbour, no bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "orrery/left_out.hpp"
#include "sim/shapes/mesh.h"
#include "tests/support/movers.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// Two level halves of 6 by 12 m, joined by a strip of `gap` metres at x = 0, all of cells that are 1 m wide and 1 or 12
// m long. `tilt`: rise by x.
ShapeDef joined_halves(float gap, bool long_ones, float tilt = 0.0f) {
    ShapeDef mesh;
    mesh.type = ShapeType::mesh;
    const auto columns = [&](int i) { return i <= 6 ? static_cast<float>(i - 6) : gap + static_cast<float>(i - 7); };
    const int rows = long_ones ? 1 : 12;
    for (int k = 0; k <= rows; ++k) {
        for (int i = 0; i <= 13; ++i)
            mesh.points.push_back({columns(i), tilt * columns(i), static_cast<float>(k * (12 / rows) - 6)});
    }
    for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(rows); ++k) {
        for (std::uint32_t i = 0; i < 13; ++i) {
            const std::uint32_t a = k * 14 + i, b = a + 1, c = a + 14, d = c + 1;
            mesh.indices.insert(mesh.indices.end(), {a, c, b, b, c, d});
        }
    }
    return mesh;
}

struct Crossed {
    double aside = 0, slowed = 0, moved_up = 0;
};
// Over the strip without friction, at 4 m/s and a little askew.
Crossed cross(const ShapeDef& ground, Mover kind) {
    WorldDef def;
    def.solver.sleep = false;
    def.materials[0].friction = 0.0f;
    const std::uint32_t floor = add_body(def, add_shape(def, ground), {});
    def.bodies[floor].type = BodyType::fixed;
    const std::uint32_t body = add_mover(def, kind, {-3.0f, kHigh, -0.37f}, {});
    def.bodies[body].linear_velocity = {4.0f, 0.0f, 0.4f};
    const auto world = make_world(def);
    Crossed out;
    for (int tick = 0; tick < 90; ++tick) {
        world->step();
        const BodyState s = state_of(*world, body);
        if (tick < 4) continue;
        out.aside = std::max(out.aside, std::abs(double(s.linear_velocity.z) - 0.4));
        out.slowed = std::max(out.slowed, std::abs(double(s.linear_velocity.x) - 4.0));
        out.moved_up = std::max(out.moved_up, std::abs(double(s.pose.position.y) - kHigh));
    }
    return out;
}

std::shared_ptr<const Definition> defined(const ShapeDef& mesh) {
    WorldDef def;
    def.shapes.push_back(mesh);
    auto made = Definition::create(def);
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? std::string() : made.error().to_string()));
    return std::move(made).value();
}
Shape made(const ShapeDef& def) {
    auto shape = make_shape(def, "shapes[0]");
    REQUIRE(shape.ok());
    return *shape;
}

// Bodies fall on two like meshes; where they come to has to be the same bits.
void check_same_ways(const ShapeDef& one, const ShapeDef& other) {
    std::unique_ptr<World> worlds[2];
    for (int w = 0; w < 2; ++w) {
        WorldDef def;
        const std::uint32_t floor = add_body(def, add_shape(def, w == 0 ? one : other), {});
        def.bodies[floor].type = BodyType::fixed;
        const std::uint32_t shapes[] = {add_box_shape(def, {0.2f, 0.1f, 0.3f}), add_sphere_shape(def, 0.2f),
                                        add_capsule_shape(def, 0.1f, 0.3f)};
        for (int i = 0; i < 12; ++i) {
            const auto f = static_cast<float>(i);
            const std::uint32_t body =
                add_body(def, shapes[i % 3], {0.5f * (f - 6.0f) + 0.07f, 0.6f + 0.2f * f, 0.3f * f - 2.0f},
                         exact_turn(0.1f * f));
            def.bodies[body].linear_velocity = {1.0f, 0.0f, -0.5f};
        }
        worlds[w] = make_world(def);
    }
    for (int tick = 0; tick < 150; ++tick) {
        for (auto& world : worlds) world->step();
        for (std::uint32_t i = 1; i <= 12; ++i) {
            const BodyState a = state_of(*worlds[0], i), b = state_of(*worlds[1], i);
            REQUIRE(a.pose.position == b.pose.position);
            REQUIRE(a.linear_velocity == b.linear_velocity);
            REQUIRE(a.angular_velocity == b.angular_velocity);
        }
    }
}

}  // namespace

TEST_CASE("a floor with triangles of 12 m by 0.1 mm holds up what slides over it, and turns nothing aside") {
    for (const float gap : {1e-3f, 1e-4f}) {
        for (const bool long_ones : {false, true}) {
            const ShapeDef ground = joined_halves(gap, long_ones);
            const auto definition = defined(ground);
            CHECK(left_out_triangles(*definition).empty());
            for (const Mover kind : kMovers) {
                CAPTURE(gap);
                CAPTURE(long_ones);
                CAPTURE(static_cast<int>(kind));
                const Crossed crossed = cross(ground, kind);
                CHECK(crossed.aside < 0.01);
                CHECK(crossed.slowed < 0.02);
                CHECK(crossed.moved_up < 0.004);
            }
        }
    }
}

TEST_CASE("a crack of a micrometre that slivers fill is none, and the slivers are left out") {
    const ShapeDef ground = joined_halves(1e-6f, false);
    const auto definition = defined(ground);
    REQUIRE(left_out_triangles(*definition).size() == 1);
    CHECK(left_out_triangles(*definition)[0].count == 24);
    const Shape shape = made(ground);
    for (std::uint32_t t = 0; t < shape.mesh->triangle.size(); ++t) {
        const MeshTriangle& triangle = shape.mesh->triangle[t];
        if (triangle.patch() == kNone) continue;
        CHECK(triangle.patch() == 0);
        for (std::uint32_t k = 0; k < 3; ++k) {  // a rim only along the border of the floor
            const Vec3 a = ground.points[triangle.corner(k)], b = ground.points[triangle.corner((k + 1) % 3)];
            const bool border =
                (a.z == b.z && std::abs(a.z) == 6.0f) || (std::abs(a.x - b.x) < 0.1f && std::abs(a.x) > 5.9f);
            CHECK((triangle.opposite(k) == kNone) == border);
        }
    }
    for (const Mover kind : kMovers) {
        CAPTURE(static_cast<int>(kind));
        const Crossed crossed = cross(ground, kind);
        CHECK(crossed.aside < 0.01);
        CHECK(crossed.slowed < 0.02);
        CHECK(crossed.moved_up < 0.004);
    }
}

TEST_CASE("what comes down on a sliver is stopped by it") {
    // The sliver alone, and a box that is held by nothing else.
    ShapeDef mesh;
    mesh.type = ShapeType::mesh;
    mesh.points = {{0.0f, 0.0f, -6.0f}, {0.0f, 0.0f, 6.0f}, {1e-4f, 0.0f, -6.0f}};
    mesh.indices = {0, 1, 2};
    WorldDef def;
    const std::uint32_t edge = add_body(def, add_shape(def, mesh), {});
    def.bodies[edge].type = BodyType::fixed;
    const std::uint32_t box = add_body(def, add_box_shape(def, {0.3f, 0.1f, 0.3f}), {0.0f, 0.4f, 0.0f});
    def.bodies[box].locks = kLockAngularX | kLockAngularY | kLockAngularZ;
    const auto world = make_world(def);
    run(*world, 60);
    CHECK(state_of(*world, box).pose.position.y == doctest::Approx(0.1).epsilon(0.02));
}

TEST_CASE("triangles without an area are left out and counted by shape, and the others keep their numbers") {
    ShapeDef mesh = joined_halves(1.0f, false);
    const auto whole = static_cast<std::uint32_t>(mesh.indices.size() / 3);
    WorldDef def;
    def.shapes.push_back(mesh);  // all of it is well
    mesh.indices.insert(mesh.indices.end(),
                        {0, 0, 1, 3, 4, 3, 0, 1, 2, 5, 5, 5});  // twice the same corner, in a line, a point
    def.shapes.push_back(mesh);
    mesh.indices.insert(mesh.indices.begin(), {14, 15, 16});  // in a line
    def.shapes.push_back(mesh);
    const auto definition = Definition::create(def);
    REQUIRE(definition.ok());
    const std::vector<LeftOutTriangles> out = left_out_triangles(**definition);
    REQUIRE(out.size() == 2);
    CHECK(out[0].shape == 1);
    CHECK(out[0].count == 4);
    CHECK(out[0].first == whole);
    CHECK(out[1].shape == 2);
    CHECK(out[1].count == 5);
    CHECK(out[1].first == 0);

    WorldDef one;
    add_body(one, add_shape(one, mesh), {});
    one.bodies[0].type = BodyType::fixed;
    const auto world = make_world(one);
    RayCast ray;
    ray.origin = {-5.9f, 1.0f, -5.9f};
    ray.translation = {0.0f, -2.0f, 0.0f};
    std::vector<QueryHit> hits;
    REQUIRE(world->cast_ray(ray, hits) == QueryStatus::hit);
    CHECK(hits[0].child == 1);
}

TEST_CASE("a mesh of nothing but triangles without an area is an error") {
    ShapeDef mesh;
    mesh.type = ShapeType::mesh;
    mesh.points = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
    mesh.indices = {0, 1, 2, 1, 1, 2};
    const auto shape = make_shape(mesh, "shapes[0]");
    REQUIRE_FALSE(shape.ok());
    CHECK(shape.error().to_string().find("shapes[0].indices: make no triangle with an area") == 0);
}

TEST_CASE("triangles that are left out change no bit of what lies on the others") {
    ShapeDef plain = joined_halves(1.0f, false, 0.05f);
    for (Vec3& p : plain.points) p.y += 0.1f * std::abs(p.x);  // a valley
    ShapeDef more = plain;
    // On inner edges: with twice the same corner, and with corners in a line.
    more.indices.insert(more.indices.end(), {6, 20, 20, 20, 6, 6, 6, 20, 34, 62, 48, 34});
    check_same_ways(plain, more);
}

TEST_CASE("across a triangle without an area those on its sides are neighbours") {
    // On one side of the line x = 0 a triangle of 2 m, on the other two of 1 m; what is left out fills the crack
    // between them.
    ShapeDef mesh;
    mesh.type = ShapeType::mesh;
    mesh.points = {{0, 0, 0}, {0, 0, 2}, {0, 0, 1}, {-1, 0, 1}, {1, 0, 0.5f}, {1, 0, 1.5f}};
    const std::vector<std::uint32_t> solid = {0, 3, 1, 0, 2, 4, 2, 1, 5};
    // Its normal is up: corners go round counter-clockwise seen from above, where z points to the right of x.
    for (const bool turned : {false, true}) {
        CAPTURE(turned);
        mesh.indices = solid;
        if (turned)
            std::swap(mesh.indices[1], mesh.indices[2]), std::swap(mesh.indices[4], mesh.indices[5]),
                std::swap(mesh.indices[7], mesh.indices[8]);
        for (const bool alike : {false, true}) {
            CAPTURE(alike);
            ShapeDef filled = mesh;
            if (alike)
                filled.indices.insert(filled.indices.end(), {0, 1, 2});
            else
                filled.indices.insert(filled.indices.end(), {0, 2, 1});
            const Shape shape = made(filled);
            const Mesh& m = *shape.mesh;
            REQUIRE(m.left_out == 1);
            REQUIRE(m.first_left_out == 3);
            const auto across = [&](std::uint32_t t, std::uint32_t from, std::uint32_t to) {
                for (std::uint32_t k = 0; k < 3; ++k) {
                    const std::uint32_t a = m.triangle[t].corner(k), b = m.triangle[t].corner((k + 1) % 3);
                    if ((a == from && b == to) || (a == to && b == from)) return m.triangle[t].opposite(k);
                }
                return kNone - 1;
            };
            const std::uint32_t beyond = across(0, 0, 1);
            CHECK((beyond == 4 || beyond == 5));
            CHECK(across(1, 0, 2) == 3);
            CHECK(across(2, 2, 1) == 3);
            for (std::uint32_t t = 0; t < 3; ++t) {
                CHECK(m.triangle[t].patch() == 0);
                CHECK((m.triangle[t].inner(0) || m.triangle[t].inner(1) || m.triangle[t].inner(2)));
            }
            CHECK(m.triangle[3].patch() == kNone);
            // From the corner in the middle of the long edge the surface goes on into that triangle.
            const auto begin = m.fan.begin() + m.fan_begin[2], end = m.fan.begin() + m.fan_begin[3];
            CHECK(std::find(begin, end, 3u) != end);
        }
    }
}

TEST_CASE("over a crack that triangles without an area fill, a box slides as over one surface") {
    // Cells of 1 m on one side, of 0.5 m on the other, and in between what exporters leave there.
    ShapeDef mesh;
    mesh.type = ShapeType::mesh;
    for (int k = 0; k <= 12; ++k) {
        for (int i = 0; i <= 6; ++i)
            mesh.points.push_back({static_cast<float>(i - 6), 0.0f, static_cast<float>(k - 6)});
    }
    const auto first = static_cast<std::uint32_t>(mesh.points.size());
    for (int k = 0; k <= 24; ++k) {
        for (int i = 0; i <= 12; ++i)
            mesh.points.push_back({0.5f * static_cast<float>(i), 0.0f, 0.5f * static_cast<float>(k) - 6.0f});
    }
    const auto cells = [&](std::uint32_t from, std::uint32_t columns, std::uint32_t rows) {
        for (std::uint32_t k = 0; k < rows; ++k) {
            for (std::uint32_t i = 0; i < columns; ++i) {
                const std::uint32_t a = from + k * (columns + 1) + i, b = a + 1, c = a + columns + 1, d = c + 1;
                mesh.indices.insert(mesh.indices.end(), {a, c, b, b, c, d});
            }
        }
    };
    cells(0, 6, 12);
    cells(first, 12, 24);
    for (std::uint32_t k = 0; k < 12; ++k) {
        const std::uint32_t a = k * 7 + 6, c = a + 7, middle = first + (2 * k + 1) * 13;
        mesh.indices.insert(mesh.indices.end(), {a, c, middle});
    }
    const auto definition = defined(mesh);
    REQUIRE(left_out_triangles(*definition).size() == 1);
    CHECK(left_out_triangles(*definition)[0].count == 12);
    for (const Mover kind : kMovers) {
        CAPTURE(static_cast<int>(kind));
        const Crossed crossed = cross(mesh, kind);
        CHECK(crossed.aside < 0.01);
        CHECK(crossed.slowed < 0.02);
        CHECK(crossed.moved_up < 0.004);
    }
}
