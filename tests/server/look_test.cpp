// What there is to see: triangles of shapes against the simulation's own, and the bodies, contacts and joints of a
// mirror against the server's.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "client_sdk/src/world_look.h"
#include "orrery/client.h"
#include "orrery/math.hpp"
#include "sim/shapes/shape.h"
#include "tests/support/mirror_room.h"

using namespace orrery;
using namespace orrery::testing;
using protocol::Triangles;

namespace {

// Volume and centre of what closed triangles contain.
struct Solid {
    double volume = 0.0;
    std::array<double, 3> centre{};
};

Solid solid_of(const Triangles& t) {
    Solid out;
    for (std::size_t i = 0; i < t.indices.size(); i += 3) {
        const sim::Vec3 a = t.positions[t.indices[i]], b = t.positions[t.indices[i + 1]],
                        c = t.positions[t.indices[i + 2]];
        const double six = static_cast<double>(sim::dot(a, sim::cross(b, c)));
        out.volume += six / 6.0;
        out.centre[0] += six / 24.0 * static_cast<double>(a.x + b.x + c.x);
        out.centre[1] += six / 24.0 * static_cast<double>(a.y + b.y + c.y);
        out.centre[2] += six / 24.0 * static_cast<double>(a.z + b.z + c.z);
    }
    for (double& x : out.centre) x /= out.volume;
    return out;
}

// Edges that are not met by their opposite, by place.
std::size_t open_edges(const Triangles& t) {
    using Place = std::array<float, 3>;
    std::map<std::pair<Place, Place>, int> count;
    const auto place = [&](std::uint32_t i) {
        const sim::Vec3& p = t.positions[i];
        return Place{p.x, p.y, p.z};
    };
    for (std::size_t i = 0; i < t.indices.size(); i += 3) {
        for (std::size_t k = 0; k < 3; ++k) {
            const Place a = place(t.indices[i + k]), b = place(t.indices[i + (k + 1) % 3]);
            if (a < b)
                ++count[{a, b}];
            else
                --count[{b, a}];
        }
    }
    std::size_t open = 0;
    for (const auto& [edge, sum] : count) open += sum != 0 ? 1 : 0;
    return open;
}

// By how much normals differ at most from their triangles', as 1 - cosine.
float worst_normal(const Triangles& t) {
    float worst = 0.0f;
    for (std::size_t i = 0; i < t.indices.size(); i += 3) {
        const sim::Vec3 a = t.positions[t.indices[i]], b = t.positions[t.indices[i + 1]],
                        c = t.positions[t.indices[i + 2]];
        const sim::Vec3 n = sim::normalised(sim::cross(b - a, c - a));
        for (std::size_t k = 0; k < 3; ++k) worst = std::max(worst, 1.0f - sim::dot(n, t.normals[t.indices[i + k]]));
    }
    return worst;
}

// The highest point of the triangles that face up, above or below (x, z).
float height_at(const Triangles& t, const sim::Pose& pose, float x, float z) {
    float highest = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < t.indices.size(); i += 3) {
        const sim::Vec3 a = sim::to_world(pose, t.positions[t.indices[i]]),
                        u = sim::to_world(pose, t.positions[t.indices[i + 1]]) - a,
                        v = sim::to_world(pose, t.positions[t.indices[i + 2]]) - a;
        const float area = u.z * v.x - u.x * v.z;
        if (area <= 1e-12f) continue;
        const float dx = x - a.x, dz = z - a.z;
        const float s = (dz * v.x - dx * v.z) / area, r = (u.z * dx - u.x * dz) / area;
        if (s < 0.0f || r < 0.0f || s + r > 1.0f) continue;
        highest = std::max(highest, a.y + s * u.y + r * v.y);
    }
    return highest;
}

struct Agreement {
    int rays = 0, hits = 0, different = 0;
    float worst_m = 0.0f;
};

// Rays from above at a body of the shape, and at its triangles.
Agreement compare_by_rays(const sim::WorldDef& scene, std::uint32_t shape, const sim::Quat& turn, float tolerance) {
    sim::WorldDef def;
    def.shapes = scene.shapes;
    def.materials = scene.materials;
    const sim::Pose pose{{3.0f, -2.0f, 5.0f}, turn};
    def.bodies = {sim::BodyDef::fixed(shape, pose)};
    auto world = sim::World::create(def);
    if (!world) FAIL(world.error().to_string());
    const Triangles t = protocol::triangles_of((*world)->definition().shapes, shape).value();
    client::Seen seen;
    client::look_at_bodies(**world, seen);
    REQUIRE(seen.bodies.size() == 1);
    const sim::Vec3 low = seen.bodies[0].low, high = seen.bodies[0].high;
    Agreement out;
    Random random(1 + shape);
    std::vector<sim::QueryHit> hits;
    for (; out.rays < 2000; ++out.rays) {
        const float x = low.x + (high.x - low.x) * static_cast<float>(random.below(100'000)) / 100'000.0f;
        const float z = low.z + (high.z - low.z) * static_cast<float>(random.below(100'000)) / 100'000.0f;
        const float top = high.y + 0.01f, way = high.y - low.y + 0.02f;
        sim::RayCast ray;
        ray.origin = {x, top, z};
        ray.translation = {0.0f, -way, 0.0f};
        const sim::QueryStatus status = (*world)->cast_ray(ray, hits);
        const float drawn = height_at(t, pose, x, z);
        if (status != sim::QueryStatus::hit || !std::isfinite(drawn)) {
            out.different += (status == sim::QueryStatus::hit) != std::isfinite(drawn) ? 1 : 0;
            continue;
        }
        ++out.hits;
        const float off = std::abs(hits[0].point.y - drawn);
        out.worst_m = std::max(out.worst_m, off);
        out.different += off > tolerance ? 1 : 0;
    }
    return out;
}

sim::ShapeDef cloud(Random& random, std::size_t points, const sim::Vec3& at, const sim::Vec3& size, int steps) {
    std::vector<sim::Vec3> out;
    const auto one = [&] {
        return static_cast<float>(random.below(static_cast<std::uint32_t>(steps) + 1)) / static_cast<float>(steps) -
               0.5f;
    };
    for (std::size_t i = 0; i < points; ++i)
        out.push_back(at + sim::Vec3{size.x * one(), size.y * one(), size.z * one()});
    return sim::ShapeDef::hull(std::move(out));
}

}  // namespace

TEST_CASE("the triangles of the gallery's shapes are what rays of the simulation hit") {
    const sim::Quat tilt = sim::turn_about(sim::normalised(sim::Vec3{1.0f, 0.0f, 2.0f}), 0.3f);
    int seen = 0;
    for (const char* name : {"gallery/terrain", "gallery/hulls", "gallery/nonconvex", "gallery/drive_bridge", "yard"}) {
        const protocol::LoadedScene scene = load_test_scene(name);
        for (std::uint32_t i = 0; i < scene.world.shapes.size(); ++i) {
            const sim::ShapeDef& shape = scene.world.shapes[i];
            if (shape.type == sim::ShapeType::plane) continue;
            CAPTURE(std::string(name));
            CAPTURE(shape.name);
            bool flat = shape.type != sim::ShapeType::sphere && shape.type != sim::ShapeType::capsule &&
                        shape.type != sim::ShapeType::cylinder;
            for (const sim::CompoundChild& child : shape.children)
                flat = flat && scene.world.shapes[child.shape].type == sim::ShapeType::box;
            const Agreement rays = compare_by_rays(scene.world, i, tilt, flat ? 2e-4f : 0.02f);
            CHECK(rays.hits > 100);
            // At a rim the one may hit and the other miss; a round shape is a little smaller as triangles.
            CHECK(rays.different <= (flat ? 10 : 200));
            ++seen;
        }
    }
    CHECK(seen > 25);
}

TEST_CASE("children of one shape are made once, and a shape of too many vertices has no triangles") {
    Random random(11);
    std::vector<sim::ShapeDef> shapes{cloud(random, 2000, {}, {1.0f, 1.0f, 1.0f}, 1'000'000),
                                      sim::ShapeDef::sphere(1.0f)};
    const std::size_t of_hull = protocol::triangles_of(shapes, 0)->positions.size();
    const std::size_t of_sphere = protocol::triangles_of(shapes, 1)->positions.size();
    const auto compound_of = [&](std::uint32_t shape, std::size_t count) {
        std::vector<sim::CompoundChild> children;
        for (std::size_t i = 0; i < count; ++i)
            children.push_back({shape, {{0.01f * static_cast<float>(i), 0.0f, 0.0f}, {}}});
        shapes.push_back(sim::ShapeDef::compound(std::move(children)));
        return protocol::triangles_of(shapes, static_cast<std::uint32_t>(shapes.size() - 1));
    };
    const auto start = std::chrono::steady_clock::now();
    (void)protocol::triangles_of(shapes, 0);
    const auto one = std::chrono::steady_clock::now();
    const auto many = compound_of(0, 1000);
    const auto end = std::chrono::steady_clock::now();
    REQUIRE(many);
    CHECK(many->positions.size() == 1000 * of_hull);
    CHECK(many->positions.back().x - many->positions[of_hull - 1].x == doctest::Approx(9.99f));
    CHECK(end - one < 200 * (one - start));
    const std::size_t most = protocol::kMostVertices / of_sphere;
    CHECK(compound_of(1, most)->positions.size() == most * of_sphere);
    CHECK_FALSE(compound_of(1, most + 1));
    shapes.push_back(sim::ShapeDef{});
    shapes.back().type = sim::ShapeType::mesh;
    shapes.back().points.resize(protocol::kMostVertices + 1);
    CHECK_FALSE(protocol::triangles_of(shapes, static_cast<std::uint32_t>(shapes.size() - 1)));
}

TEST_CASE("closed shapes are closed, face outward, and have their volume and centre of mass where the simulation has") {
    Random random(7);
    std::vector<sim::ShapeDef> shapes;
    for (int i = 0; i < 60; ++i) {
        const auto at = static_cast<float>(random.below(200));
        // Few steps make many points in one plane.
        shapes.push_back(cloud(random, 8 + random.below(200), {at, -at, 0.5f * at},
                               {1.0f, 0.2f + 0.1f * static_cast<float>(i % 5), 3.0f},
                               i % 3 == 0   ? 3
                               : i % 3 == 1 ? 12
                                            : 1'000'000));
    }
    shapes.push_back(sim::ShapeDef::box({0.5f, 1.0f, 2.0f}));
    shapes.push_back(sim::ShapeDef::sphere(0.7f));
    shapes.push_back(sim::ShapeDef::capsule(0.3f, 0.8f));
    shapes.push_back(sim::ShapeDef::cylinder(0.4f, 0.6f));
    // Its centre of mass is far off its origin.
    shapes.push_back(sim::ShapeDef::compound(
        {{0, {{4.0f, 0.0f, 0.0f}, {}}}, {60, {{9.0f, 2.0f, 0.0f}, sim::turn_about({0.0f, 0.0f, 1.0f}, 1.0f)}}}));
    sim::WorldDef def;
    def.shapes = shapes;
    const auto definition = sim::Definition::create(def);
    if (!definition) FAIL(definition.error().to_string());
    std::vector<sim::Shape> made;
    for (std::uint32_t i = 0; i < shapes.size(); ++i) {
        CAPTURE(i);
        auto shape = sim::make_shape(shapes[i], "shape", made);
        REQUIRE(shape);
        made.push_back(*shape);
        const Triangles t = protocol::triangles_of((*definition)->def().shapes, i).value();
        CHECK(open_edges(t) == 0);
        const bool round = i > 60 && i < 64;
        const Solid solid = solid_of(t);
        const auto mass = static_cast<double>(shape->unit_mass.mass);
        CHECK(solid.volume == doctest::Approx(mass).epsilon(round ? 0.03 : 1e-3));
        for (const double x : solid.centre) CHECK(std::abs(x) < 1e-3);
        CHECK(worst_normal(t) < (round ? 0.02f : 1e-4f));
    }
    const auto children =
        protocol::children_of((*definition)->def().shapes, static_cast<std::uint32_t>(shapes.size() - 1));
    REQUIRE(children.size() == 2);
    CHECK(children[1].shape == 60);
    CHECK(children[0].pose.position.x < -0.1f);  // on both sides of the centre of mass
    CHECK(children[1].pose.position.x > 0.1f);
}
