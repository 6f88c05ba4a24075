// Guards: a cast that begins flush. It meets nothing where it goes along or away, whatever the shapes, wherever they
// stand and however the surface lies or is made; it stops at once, with the surface's normal, where it goes in; and it
// says "inside" only where it is.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

struct V {
    double x = 0, y = 0, z = 0;
};
V operator+(V a, V b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
V operator*(V a, double s) { return {a.x * s, a.y * s, a.z * s}; }
double dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec3 plain(V v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }
V wide(Vec3 v) { return {v.x, v.y, v.z}; }
V turned(Quat q, V v) {
    const double n = std::sqrt(double(q.x) * q.x + double(q.y) * q.y + double(q.z) * q.z + double(q.w) * q.w);
    const double x = q.x / n, y = q.y / n, z = q.z / n, w = q.w / n;
    return {(1 - 2 * (y * y + z * z)) * v.x + 2 * (x * y - w * z) * v.y + 2 * (x * z + w * y) * v.z,
            2 * (x * y + w * z) * v.x + (1 - 2 * (x * x + z * z)) * v.y + 2 * (y * z - w * x) * v.z,
            2 * (x * z - w * y) * v.x + 2 * (y * z + w * x) * v.y + (1 - 2 * (x * x + y * y)) * v.z};
}

// ---- surfaces: all are level at y = 0 of their body, and 8 m wide

enum class Surface { plane, box, tiles, compound, mesh, field };
constexpr Surface kSurfaces[] = {Surface::plane,    Surface::box,  Surface::tiles,
                                 Surface::compound, Surface::mesh, Surface::field};
constexpr const char* kSurfaceNames[] = {"plane", "box", "tiles", "compound", "mesh", "height field"};

void add_at(WorldDef& def, std::uint32_t shape, const Pose& at, V local = {}) {
    const std::uint32_t body =
        add_body(def, shape, plain(wide(at.position) + turned(at.orientation, local)), at.orientation);
    def.bodies[body].type = BodyType::fixed;
}
void add_surface(WorldDef& def, Surface surface, const Pose& at) {
    switch (surface) {
        case Surface::plane:
            return add_at(def, add_shape(def, {"", ShapeType::plane, 0.0f, 0.0f, {}}), at);
        case Surface::box:
            return add_at(def, add_box_shape(def, {4.0f, 0.5f, 4.0f}), at, {0, -0.5, 0});
        case Surface::tiles: {
            const std::uint32_t tile = add_box_shape(def, {0.5f, 0.5f, 0.5f});
            for (int i = 0; i < 8; ++i) {
                for (int k = 0; k < 8; ++k) add_at(def, tile, at, {i - 3.5, -0.5, k - 3.5});
            }
            return;
        }
        case Surface::compound: {
            const std::uint32_t tile = add_box_shape(def, {0.5f, 0.5f, 0.5f});
            ShapeDef all;
            all.type = ShapeType::compound;
            for (int i = 0; i < 8; ++i) {
                for (int k = 0; k < 8; ++k)
                    all.children.push_back(
                        {tile, {{static_cast<float>(i) - 3.5f, -0.5f, static_cast<float>(k) - 3.5f}, {}}});
            }
            const std::uint32_t shape = add_shape(def, all);
            return add_at(def, shape, at, {0, -0.5, 0});  // its centre of mass is its position
        }
        case Surface::mesh: {
            ShapeDef mesh;
            mesh.type = ShapeType::mesh;
            for (int k = 0; k <= 8; ++k) {
                for (int i = 0; i <= 8; ++i)
                    mesh.points.push_back({static_cast<float>(i) - 4.0f, 0.0f, static_cast<float>(k) - 4.0f});
            }
            for (std::uint32_t k = 0; k < 8; ++k) {
                for (std::uint32_t i = 0; i < 8; ++i) {
                    const std::uint32_t a = k * 9 + i, b = a + 1, c = a + 9, d = c + 1;
                    mesh.indices.insert(mesh.indices.end(), {a, c, b, b, c, d});
                }
            }
            return add_at(def, add_shape(def, mesh), at);
        }
        case Surface::field: {
            ShapeDef field;
            field.type = ShapeType::height_field;
            field.columns = 9;
            field.heights.assign(81, 0.0f);
            return add_at(def, add_shape(def, field), at);
        }
    }
}

// ---- what is cast, and how high above a level its centre stands on it

struct Caster {
    const char* name;
    QueryShape shape;
    double height;
};
constexpr float kHullHeight = 0.25f;
std::uint32_t add_hull(WorldDef& def) {  // a brick
    ShapeDef hull;
    hull.type = ShapeType::hull;
    for (int i = 0; i < 8; ++i)
        hull.points.push_back(
            {(i & 1) != 0 ? 0.3f : -0.3f, (i & 2) != 0 ? kHullHeight : -kHullHeight, (i & 4) != 0 ? 0.2f : -0.2f});
    return add_shape(def, hull);
}
std::vector<Caster> casters(std::uint32_t hull) {
    return {{"sphere", {kNone, ShapeType::sphere, 0.3f, 0.0f, {}}, 0.3f},
            {"capsule", {kNone, ShapeType::capsule, 0.3f, 0.6f, {}}, double(0.3f) + double(0.6f)},
            {"box", {kNone, ShapeType::box, 0.0f, 0.0f, {0.3f, 0.2f, 0.5f}}, 0.2f},
            {"cylinder", {kNone, ShapeType::cylinder, 0.25f, 0.4f, {}}, 0.4f},
            {"hull", {hull, ShapeType::sphere, 0.5f, 0.5f, {}}, kHullHeight}};
}

struct Scene {
    std::unique_ptr<World> world;
    std::vector<Caster> shapes;
    Pose at;
    V across, along, up;

    Scene(Surface surface, const Pose& pose) : at(pose) {
        WorldDef def;
        add_surface(def, surface, pose);
        shapes = casters(add_hull(def));
        world = make_world(def);
        across = turned(pose.orientation, {1, 0, 0}), up = turned(pose.orientation, {0, 1, 0}),
        along = turned(pose.orientation, {0, 0, 1});
    }
    // From where the shape stands on the surface, `over` above it.
    QueryStatus cast(const Caster& shape, V way, std::vector<QueryHit>& hits, double over = 0, double x = 0.13,
                     double z = -0.41) const {
        ShapeCast query;
        query.shape = shape.shape;
        query.pose = {plain(wide(at.position) + turned(at.orientation, {x, shape.height + over, z})), at.orientation};
        query.translation = plain(way);
        return world->cast_shape(query, hits);
    }
};

std::vector<Pose> places() {
    const Quat turns[] = {{}, turn_about_z(0.5f), {0.2f, 0.4f, 0.1f, 0.888819f}, turn_about_z(kPi / 2)};
    std::vector<Pose> out;
    for (const Quat& turn : turns) {
        for (const Vec3 at :
             {Vec3{}, Vec3{3.3f, -1.7f, 2.9f}, Vec3{-47.1f, 12.3f, 88.7f}, Vec3{1234.5f, -321.0f, 777.7f}})
            out.push_back({at, turn});
    }
    return out;
}

template <class Check>
void on_all_surfaces(Check check) {
    for (const Surface surface : kSurfaces) {
        CAPTURE(kSurfaceNames[static_cast<int>(surface)]);
        for (const Pose& place : places()) {
            CAPTURE(place.position.x);
            CAPTURE(place.orientation.z);
            const Scene stage(surface, place);
            for (const Caster& shape : stage.shapes) {
                CAPTURE(shape.name);
                check(stage, shape);
            }
        }
    }
}

}  // namespace

TEST_CASE("a cast that begins flush and goes along the surface, or away from it, hits nothing") {
    std::vector<QueryHit> hits;
    on_all_surfaces([&](const Scene& stage, const Caster& shape) {
        for (int i = 0; i < 8; ++i) {
            const double angle = 0.3 + 0.7853981633974483 * i;
            const V level = stage.across * std::cos(angle) + stage.along * std::sin(angle);
            CAPTURE(i);
            REQUIRE(stage.cast(shape, level * 2.5, hits) == QueryStatus::miss);
            REQUIRE(stage.cast(shape, level * 0.01, hits) == QueryStatus::miss);
            REQUIRE(stage.cast(shape, level + stage.up * 0.1, hits) == QueryStatus::miss);
        }
        REQUIRE(stage.cast(shape, stage.across * 3.0, hits) == QueryStatus::miss);
        REQUIRE(stage.cast(shape, stage.along * -3.0, hits) == QueryStatus::miss);
        REQUIRE(stage.cast(shape, stage.up, hits) == QueryStatus::miss);
        REQUIRE(stage.cast(shape, {}, hits) == QueryStatus::miss);
    });
}

TEST_CASE("a cast that begins flush and goes into the surface stops at once, with the surface's normal") {
    std::vector<QueryHit> hits;
    on_all_surfaces([&](const Scene& stage, const Caster& shape) {
        for (const V way : {stage.up * -1.0, stage.across + stage.up * -1.0, stage.along * 2.0 + stage.up * -0.05,
                            stage.up * -0.01}) {
            REQUIRE(stage.cast(shape, way, hits) == QueryStatus::hit);
            CHECK_FALSE(hits[0].inside);
            CHECK(hits[0].distance <= 1e-4f);
            CHECK(dot(wide(hits[0].normal), stage.up) > 1 - 1e-5);
        }
    });
}

TEST_CASE("a cast that begins inside says so, whatever its way") {
    std::vector<QueryHit> hits;
    on_all_surfaces([&](const Scene& stage, const Caster& shape) {
        for (const V way : {stage.up, stage.up * -1.0, stage.across, V{}}) {
            REQUIRE(stage.cast(shape, way, hits, -0.01) == QueryStatus::hit);
            CHECK(hits[0].inside);
            CHECK(hits[0].distance == 0.0f);
            CHECK(hits[0].normal == Vec3{});
        }
    });
}

TEST_CASE("a cast from above or askew stops at the surface, and what it slid past does not count") {
    std::vector<QueryHit> hits;
    on_all_surfaces([&](const Scene& stage, const Caster& shape) {
        for (const V way : {stage.up * -1.0, stage.across * 2.0 + stage.up * -1.0}) {
            REQUIRE(stage.cast(shape, way, hits, 0.5) == QueryStatus::hit);
            CHECK_FALSE(hits[0].inside);
            CHECK(hits[0].fraction == doctest::Approx(0.5).epsilon(2e-3));
            CHECK(dot(wide(hits[0].normal), stage.up) > 1 - 1e-5);
        }
    });
}

TEST_CASE("a cast along a surface that it lies on stops at what stands on it, however thin") {
    for (const Pose& place : places()) {
        WorldDef def;
        add_surface(def, Surface::tiles, place);
        const std::uint32_t hull = add_hull(def);
        add_at(def, add_box_shape(def, {0.001f, 0.5f, 3.0f}), place, {2.0, 0.5, 0});
        const auto world = make_world(def);
        for (const Caster& shape : casters(hull)) {
            CAPTURE(shape.name);
            ShapeCast query;
            query.shape = shape.shape;
            query.pose = {plain(wide(place.position) + turned(place.orientation, {0.1, shape.height, 0.2})),
                          place.orientation};
            const V way = turned(place.orientation, {3, 0, 0});
            query.translation = plain(way);
            std::vector<QueryHit> hits;
            REQUIRE(world->cast_shape(query, hits) == QueryStatus::hit);
            CHECK_FALSE(hits[0].inside);
            CHECK(hits[0].body.index == 65);
            CHECK(dot(wide(hits[0].normal), way) < -2.999);
        }
    }
}

TEST_CASE(
    "where a cast has stopped at a body, in any attitude, a second one goes on along it and away, and not into it") {
    Lcg random(static_cast<std::uint32_t>(seeded(3)));
    const auto turn = [&] {
        for (;;) {
            const Quat q{random.between(-1, 1), random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)};
            const float n = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
            if (n > 0.1f) return Quat{q.x / n, q.y / n, q.z / n, q.w / n};
        }
    };
    std::vector<QueryHit> hits;
    int touched = 0;
    const int count = sampled(600);
    for (int i = 0; i < count; ++i) {
        WorldDef def;
        const std::uint32_t shapes[] = {add_box_shape(def, {0.6f, 0.25f, 0.4f}), add_sphere_shape(def, 0.5f),
                                        add_capsule_shape(def, 0.2f, 0.5f), add_hull(def)};
        const std::uint32_t body =
            add_body(def, shapes[i % 4], {random.between(-1, 1), 0.0f, random.between(-1, 1)}, turn());
        def.bodies[body].type = BodyType::fixed;
        const auto world = make_world(def);
        std::vector<Caster> all = casters(shapes[3]);
        all.erase(all.begin() +
                  3);  // the normal at a cylinder's round side has an error of up to 0.06 rad in the first cast
        ShapeCast query;
        query.shape = all[static_cast<std::size_t>(i / 4) % all.size()].shape;
        query.pose = {{random.between(-3, 3), 3.0f, random.between(-3, 3)}, turn()};
        const Vec3 at = query.pose.position;
        query.translation = {-at.x * 2, -at.y * 2, -at.z * 2};
        if (world->cast_shape(query, hits) != QueryStatus::hit) continue;
        REQUIRE_FALSE(hits[0].inside);
        ++touched;
        CAPTURE(i);
        const QueryHit first = hits[0];
        const V n = wide(first.normal), axis = std::abs(n.x) < 0.6 ? V{1, 0, 0} : V{0, 1, 0};
        const double along = dot(axis, n);
        const V u = axis + n * -along, v{n.y * u.z - n.z * u.y, n.z * u.x - n.x * u.z, n.x * u.y - n.y * u.x};
        query.pose.position = plain(wide(at) + wide(query.translation) * double(first.fraction));
        for (const V way : {u, u * -1.0, v, v * -1.0, n, n + u}) {
            query.translation = plain(way);
            CHECK(world->cast_shape(query, hits) == QueryStatus::miss);
        }
        for (const V way : {n * -1.0, u + n * -0.2, v + n * -0.2}) {
            query.translation = plain(way);
            REQUIRE(world->cast_shape(query, hits) == QueryStatus::hit);
            CHECK_FALSE(hits[0].inside);
            CHECK(hits[0].distance < 1e-5f);
            CHECK(dot(wide(hits[0].normal), n) > 0.999);
        }
    }
    CHECK(touched > count / 4);
}

TEST_CASE("a capsule goes along the wall that it touches, and up to the wall ahead") {
    // A corridor: a wall beside at x = 0.3, one ahead at z = 4.
    WorldDef def;
    const std::uint32_t wall = add_box_shape(def, {0.1f, 2.0f, 5.0f}), end = add_box_shape(def, {5.0f, 2.0f, 0.1f});
    for (const auto& [shape, at] : {std::pair(wall, Vec3{0.4f, 1.0f, 0.0f}), std::pair(end, Vec3{0.0f, 1.0f, 4.1f})}) {
        const std::uint32_t body = add_body(def, shape, at);
        def.bodies[body].type = BodyType::fixed;
    }
    const auto world = make_world(def);
    ShapeCast query;
    query.shape = {kNone, ShapeType::capsule, 0.3f, 0.6f, {}};
    query.pose.position = {0.0f, 1.0f, 0.0f};
    query.translation = {0.0f, 0.0f, 8.0f};
    std::vector<QueryHit> hits;
    REQUIRE(world->cast_shape(query, hits) == QueryStatus::hit);
    CHECK(hits[0].body.index == 2);
    CHECK(hits[0].distance == doctest::Approx(3.7).epsilon(1e-5));
    CHECK(hits[0].normal.z < -0.999f);
}
