// Guards: pairs that hardly move are looked at on a grid of poses, and what is found is carried along. It must be what
// is found where the bodies are, to second order of a grid's cell; nothing may stick to the grid; and what is held from
// tick to tick may change no bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/collision/general_scratch.h"
#include "sim/collision/held_pairs.h"
#include "tests/support/about.h"
#include "tests/support/body_worlds.h"
#include "tests/support/executors.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

namespace orrery::sim {
namespace {

constexpr float kMargin = 0.02f, kDt = 1.0f / 60;

using test::cylinder, test::hull_of;
// Around the origin; `height` above it.
template <class Height>
ShapeDef field(std::uint32_t columns, float cell, const Height& height) {
    ShapeDef def;
    def.type = ShapeType::height_field;
    def.columns = columns;
    def.spacing = {cell, 1.0f, cell};
    for (std::uint32_t k = 0; k < columns; ++k) {
        for (std::uint32_t i = 0; i < columns; ++i)
            def.heights.push_back(height((static_cast<float>(i) - 0.5f * static_cast<float>(columns - 1)) * cell,
                                         (static_cast<float>(k) - 0.5f * static_cast<float>(columns - 1)) * cell));
    }
    return def;
}
ShapeDef hills() {
    return field(33, 0.5f, [](float x, float z) {
        return 0.05f * (x * x * 0.1f - std::fabs(z) + static_cast<float>(static_cast<int>(x * 4) % 3));
    });
}

// What compounds are made of, the first shapes of a setting.
std::vector<ShapeDef> parts() {
    return {{{}, ShapeType::box, 0.5f, 0.5f, {0.4f, 0.15f, 0.2f}},
            {{}, ShapeType::sphere, 0.3f, 0.5f, {}},
            {{}, ShapeType::capsule, 0.15f, 0.4f, {}},
            cylinder(0.2f, 0.3f),
            {{}, ShapeType::box, 0.5f, 0.5f, {1.0f, 0.2f, 2.0f}}};
}
ShapeDef compound_of(std::vector<CompoundChild> children) {
    ShapeDef def;
    def.type = ShapeType::compound;
    def.children = std::move(children);
    return def;
}
const Quat kTurned{0.18257419f, 0.36514837f, 0.54772256f, 0.73029674f};
ShapeDef mixed_compound() {
    return compound_of({{0, {{-0.4f, 0.0f, 0.1f}, kTurned}},
                        {1, {{0.5f, 0.1f, 0.0f}, {}}},
                        {2, {{0.0f, 0.3f, 0.4f}, kTurned}},
                        {3, {{0.1f, -0.4f, 0.0f}, {}}}});
}
ShapeDef dumbbell() { return compound_of({{1, {{-0.4f, 0.0f, 0.0f}, {}}}, {1, {{0.4f, 0.0f, 0.0f}, {}}}}); }

// ---- one pair

struct Setting {
    test::TestBodies world;
    std::vector<Pair> pairs{{1, 2}};
    std::vector<std::uint32_t> which{0};
    ref::GeneralScratch scratch;
    PairContacts found;

    Setting(const ShapeDef& a, const ShapeDef& b) {
        for (const ShapeDef& def : parts()) world.shape(def);
        for (const ShapeDef* def : {&a, &b}) {
            world.shapes.push_back(*make_shape(*def, "shape", std::vector<Shape>(world.shapes)));
            const auto shape = static_cast<std::uint32_t>(world.shapes.size() - 1);
            world.add(shape, has_no_mass(world.shapes[shape].type) ? std::uint8_t(0) : std::uint8_t(kBodyDynamic), {});
        }
    }
    bool fixed(std::uint32_t body) const { return !world.bodies.dynamic(body); }
    GeneralInput input() const {
        const Target target = best_target();
        return {world.bodies,
                world.shapes,
                pairs,
                which,
                {},
                kDt,
                kMargin,
                *broad_kernels_for(target),
                *polytope_kernels_for(target),
                *narrow_kernels_for(target)};
    }
    // Where the bodies are, or on the grid and carried.
    std::vector<Manifold> look(bool on_grid) {
        std::vector<Manifold> out;
        ref::PairView view;
        found.clear();
        if (!ref::view_pair(input(), pairs[0], view)) return out;
        REQUIRE(view.slow);
        view.slow = on_grid;
        scratch.children.clear();
        ref::touch_pair(input(), pairs[0], on_grid ? ref::on_its_grid(view) : view, scratch, found);
        scratch.children.run(input().lanes, found);
        ref::place_contacts(view, pairs[0], found.contacts, found.points, found.touches, out);
        return out;
    }
};

double far(Vec3 a, Vec3 b) { return std::hypot(double(a.x) - b.x, double(a.y) - b.y, double(a.z) - b.z); }

// What two ways of looking differ by.
struct Compared {
    std::vector<double> deepest;               // by pair, of the deepest point's depth
    std::vector<double> depth, normal, place;  // by point: features that one way lacks are as far off as can be
    void compare(const std::vector<Manifold>& here, const std::vector<Manifold>& carried);
    // That which so large a part of them are within.
    static double most(std::vector<double> values, double part) {
        REQUIRE(!values.empty());
        std::sort(values.begin(), values.end());
        return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * part)];
    }
};

double deepest_of(const std::vector<Manifold>& manifolds) {
    double most = -double(kMargin);
    for (const Manifold& m : manifolds) {
        for (std::uint32_t i = 0; i < m.count; ++i) most = std::max(most, double(m.points[i].depth));
    }
    return most;
}

void Compared::compare(const std::vector<Manifold>& here, const std::vector<Manifold>& carried) {
    deepest.push_back(std::fabs(deepest_of(here) - deepest_of(carried)));
    for (const Manifold& m : here) {
        const auto same = std::find_if(carried.begin(), carried.end(), [&](const Manifold& o) {
            return o.child_a == m.child_a && o.child_b == m.child_b;
        });
        for (std::uint32_t i = 0; i < m.count; ++i) {
            const ManifoldPoint& p = m.points[i];
            if (p.depth < -0.95f * kMargin) continue;  // the other may just not have it
            const ManifoldPoint* match = nullptr;
            for (std::uint32_t k = 0; same != carried.end() && k < same->count; ++k) {
                if (same->points[k].feature == p.feature) match = &same->points[k];
            }
            depth.push_back(match != nullptr ? std::fabs(double(match->depth) - p.depth) : 1.0);
            normal.push_back(match != nullptr ? far(m.normal, same->normal) : 1.0);
            place.push_back(match != nullptr ? far(match->offset_a, p.offset_a) : 1.0);
        }
    }
}

}  // namespace

TEST_CASE(
    "what is found on the grid and carried along is what is found where the bodies are, to second order of a cell") {
    const ShapeDef part{{}, ShapeType::box, 0.5f, 0.5f, {0.3f, 0.2f, 0.2f}},
        ball{{}, ShapeType::sphere, 0.3f, 0.5f, {}};
    struct Case {
        const char* name;
        ShapeDef a, b;
        double of_faces;     // so large a part of the contacts is of a face, and its normal the same to rounding
        bool exact = false;  // what moves along with a ball, or stands on a plane, is so, too
    };
    const Case cases[] = {
        {"hulls", hull_of(5, 24, {0.6f, 0.5f, 0.4f}), hull_of(6, 9, {0.5f, 0.3f, 0.5f}), 0.5},
        {"a hull and a smaller box", hull_of(7, 24, {1.6f, 1.5f, 1.4f}), part, 0.6},
        {"a box and a larger hull", part, hull_of(7, 24, {1.6f, 1.5f, 1.4f}), 0.6},
        {"a cylinder and a box", cylinder(0.4f, 0.3f), part, 0.3},
        {"cylinders", cylinder(0.4f, 0.3f), cylinder(0.2f, 0.7f), 0.0},
        {"a plane and a hull", {{}, ShapeType::plane, 0.5f, 0.5f, {}}, hull_of(5, 24, {0.6f, 0.5f, 0.4f}), 0.98, true},
        {"a hull and a plane", hull_of(5, 24, {0.6f, 0.5f, 0.4f}), {{}, ShapeType::plane, 0.5f, 0.5f, {}}, 0.98, true},
        {"hills and a box", hills(), part, 0.7},
        {"a hull and hills", hull_of(6, 9, {0.5f, 0.3f, 0.5f}), hills(), 0.7},
        {"hills and a ball", hills(), ball, 0.98, true},
        {"a capsule and hills", {{}, ShapeType::capsule, 0.2f, 0.4f, {}}, hills(), 0.7},
        {"hills and a cylinder", hills(), cylinder(0.3f, 0.3f), 0.7},
        {"a ball and a larger hull", ball, hull_of(7, 24, {1.6f, 1.5f, 1.4f}), 0.55},
        {"a larger hull and a ball", hull_of(7, 24, {1.6f, 1.5f, 1.4f}), ball, 0.55},
        {"a ball and a smaller hull", ball, hull_of(6, 9, {0.15f, 0.1f, 0.2f}), 0.0},
        {"a dumbbell and a larger hull", dumbbell(), hull_of(7, 24, {1.6f, 1.5f, 1.4f}), 0.5},
        {"a dumbbell and a plane", dumbbell(), {{}, ShapeType::plane, 0.5f, 0.5f, {}}, 0.98, true},
        {"hills and a dumbbell", hills(), dumbbell(), 0.85},
        {"a dumbbell and a box", dumbbell(), parts()[4], 0.5},
        {"a box and a dumbbell", parts()[4], dumbbell(), 0.5},
        {"mixed compounds", mixed_compound(), mixed_compound(), 0.1},
        {"a mixed compound and a box", mixed_compound(), part, 0.1},
        {"a plane and a mixed compound", {{}, ShapeType::plane, 0.5f, 0.5f, {}}, mixed_compound(), 0.98},
        {"a mixed compound and hills", mixed_compound(), hills(), 0.7},
    };
    std::uint64_t seed = 70;
    for (const Case& c : cases) {
        CAPTURE(std::string(c.name));
        Setting setting(c.a, c.b);
        test::Random random(test::seeded(seed++));
        Compared sum;
        const bool first_fixed = setting.fixed(1), second_fixed = setting.fixed(2);
        const int wanted = test::sampled(400);
        for (int i = 0; i < wanted; ++i) {
            const Vec3 base = random.vec(3.0f);
            Vec3 way = first_fixed ? Vec3{0.0f, 1.0f, 0.0f} : second_fixed ? Vec3{0.0f, -1.0f, 0.0f} : random.vec(1.0f);
            const double n = far(way, {});
            const Quat qa = first_fixed ? Quat{} : random.rotation(), qb = second_fixed ? Quat{} : random.rotation();
            const float deep = random.in(-0.015f, 0.02f);
            float near = 0.0f, far_off = 4.0f;
            for (int k = 0; k < 20; ++k) {
                const float mid = 0.5f * (near + far_off), s = static_cast<float>(double(mid) / n);
                setting.world.place(1, {base, qa});
                setting.world.place(2, {{base.x + way.x * s, base.y + way.y * s, base.z + way.z * s}, qb});
                (deepest_of(setting.look(false)) > double(deep) ? near : far_off) = mid;
            }
            if (deepest_of(setting.look(false)) > 0.05)
                continue;  // from overlapping to nothing at once: past a mesh's rim
            sum.compare(setting.look(false), setting.look(true));
        }
        REQUIRE(sum.depth.size() >= static_cast<std::size_t>(wanted));
        // A few meet along edges that are nearly parallel, where a cell turns the normal by more, or touch another edge
        // from one cell on. Of a small sample a few are a larger part.
        const bool exact = c.exact;
        const double common = wanted < 100 ? 0.9 : 0.98;
        CHECK(Compared::most(sum.deepest, common) < (exact ? 1e-7 : 5e-5));
        CHECK(Compared::most(sum.depth, common) < (exact ? 1e-7 : 3e-4));
        CHECK(Compared::most(sum.normal, common) < (exact ? 1e-7 : 6e-3));
        if (c.of_faces > 0.0) CHECK(Compared::most(sum.normal, c.of_faces) < 1e-6);
        CHECK(Compared::most(sum.place, common) < (exact ? 2e-7 : 1.5e-3));
        if (exact) CHECK(Compared::most(sum.deepest, 1.0) < 1e-7);
    }
}

namespace {

// ---- floors that have no functions over the lanes, or for compounds alone

enum class Floor { field, plane, hull, boxes };
ShapeDef block(Vec3 half) {
    ShapeDef def;
    def.type = ShapeType::hull;
    for (int k = 0; k < 8; ++k)
        def.points.push_back(
            {(k & 1) != 0 ? half.x : -half.x, (k & 2) != 0 ? half.y : -half.y, (k & 4) != 0 ? half.z : -half.z});
    return def;
}
// Its top at y = 0.
void add_floor(WorldDef& def, Floor floor) {
    std::uint32_t shape = 0;
    switch (floor) {
        case Floor::field:
            shape = test::add_shape(def, field(9, 0.7f, [](float, float) { return 0.0f; }));
            break;
        case Floor::plane:
            shape = test::add_shape(def, {{}, ShapeType::plane, 0.5f, 0.5f, {}});
            break;
        case Floor::hull:
            shape = test::add_shape(def, block({3.0f, 0.5f, 3.0f}));
            break;
        case Floor::boxes: {
            const std::uint32_t half = test::add_box_shape(def, {1.5f, 0.5f, 3.0f});
            shape = test::add_shape(def,
                                    compound_of({{half, {{-1.5f, 0.0f, 0.0f}, {}}}, {half, {{1.5f, 0.0f, 0.0f}, {}}}}));
            break;
        }
    }
    const std::uint32_t body =
        test::add_body(def, shape, {0.0f, floor == Floor::field || floor == Floor::plane ? 0.0f : -0.5f, 0.0f});
    def.bodies[body].type = BodyType::fixed;
}
// The feet of a roller that a compound is.
std::uint32_t add_dumbbell(WorldDef& def, float radius) {
    const std::uint32_t foot = test::add_sphere_shape(def, radius);
    return test::add_shape(def, compound_of({{foot, {{0.0f, 0.0f, -0.4f}, {}}}, {foot, {{0.0f, 0.0f, 0.4f}, {}}}}));
}

}  // namespace

TEST_CASE("what is slow on a slope of a hundredth of a degree rolls and slides as fast as without a grid" *
          doctest::test_suite("quality")) {
    constexpr double kSlope = 2e-4, kSeconds = 5.0, kGravity = 10.0;  // reaches 10 mm/s, a third of a cell in a tick
    struct Case {
        const char* name;
        ShapeDef def;
        bool rolls;
        double height, share;  // m; of g sin(slope)
    };
    const Case cases[] = {
        {"ball", {{}, ShapeType::sphere, 0.5f, 0.5f, {}}, true, 0.5, 5.0 / 7.0},
        {"small ball", {{}, ShapeType::sphere, 0.05f, 0.5f, {}}, true, 0.05, 5.0 / 7.0},
        {"cylinder", cylinder(0.1f, 0.8f), true, 0.1, 2.0 / 3.0},
        {"dumbbell", compound_of({}), true, 0.2, 5.0 / 7.0},  // about the line between its feet it turns as one ball
        {"smooth hull", block({0.5f, 0.3f, 0.4f}), false, 0.3, 1.0},
    };
    for (const Floor floor : {Floor::field, Floor::plane, Floor::hull, Floor::boxes}) {
        for (const bool floor_first : {true, false}) {
            for (const Case& c : cases) {
                CAPTURE(std::string(c.name));
                CAPTURE(static_cast<int>(floor));
                CAPTURE(floor_first);
                WorldDef def;
                def.gravity = {static_cast<float>(kGravity * kSlope), static_cast<float>(-kGravity), 0.0f};
                def.solver.sleep = false;
                def.materials[0].friction = c.rolls ? 1.0f : 0.0f;
                if (floor_first) add_floor(def, floor);
                const std::uint32_t shape =
                    c.def.type == ShapeType::compound ? add_dumbbell(def, 0.2f) : test::add_shape(def, c.def);
                const Quat lies =
                    c.def.type == ShapeType::cylinder ? Quat{0.70710678f, 0.0f, 0.0f, 0.70710678f} : Quat{};
                const std::uint32_t body =
                    test::add_body(def, shape, {0.6f, static_cast<float>(c.height), 0.13f}, lies);
                if (!floor_first) add_floor(def, floor);
                auto world = test::make_world(def);
                // Until it has come down onto the floor, and then by what its speed is.
                test::run(*world, 60);
                const BodyState from = test::state_of(*world, body);
                test::run(*world, static_cast<int>(kSeconds * 60));
                const BodyState to = test::state_of(*world, body);
                const double a = kGravity * kSlope * c.share;
                CHECK(double(to.linear_velocity.x) - double(from.linear_velocity.x) == test::about(a * kSeconds, 0.03));
                CHECK(double(to.pose.position.x) - double(from.pose.position.x) ==
                      test::about(double(from.linear_velocity.x) * kSeconds + 0.5 * a * kSeconds * kSeconds, 0.03));
                CHECK(std::fabs(double(to.linear_velocity.z)) < 1e-4);
            }
        }
    }
}

TEST_CASE("balls, alone and as feet, that rest on hulls and compounds drive nothing, whichever comes first" *
          doctest::test_suite("quality")) {
    for (const Floor floor : {Floor::field, Floor::plane, Floor::hull, Floor::boxes}) {
        for (const bool floor_first : {true, false}) {
            CAPTURE(static_cast<int>(floor));
            CAPTURE(floor_first);
            WorldDef def;
            def.solver.sleep = false;
            if (floor_first) add_floor(def, floor);
            const std::uint32_t ball = test::add_sphere_shape(def, 0.1f), dumbbell_shape = add_dumbbell(def, 0.2f);
            std::vector<std::uint32_t> bodies;
            for (int k = 0; k < 9; ++k) {
                const float x = 0.6f * static_cast<float>(k % 3) - 0.63f, z = 1.3f * static_cast<float>(k / 3) - 1.27f;
                bodies.push_back(test::add_body(def, k % 2 == 0 ? ball : dumbbell_shape,
                                                {x, k % 2 == 0 ? 0.1f : 0.2f, z},
                                                test::exact_turn(0.05f * static_cast<float>(k))));
            }
            // A ball on a brick that is smaller than it.
            const auto add_brick = [&] {
                def.bodies[test::add_body(def, test::add_shape(def, block({0.2f, 0.1f, 0.15f})), {1.7f, 0.1f, 0.2f})]
                    .type = BodyType::fixed;
            };
            if (floor_first) add_brick();
            bodies.push_back(test::add_body(def, test::add_sphere_shape(def, 0.5f), {1.71f, 0.7f, 0.22f}));
            if (!floor_first) add_brick();
            if (!floor_first) add_floor(def, floor);
            auto world = test::make_world(def);
            test::run(*world, 120);
            std::vector<BodyState> before;
            for (const std::uint32_t body : bodies) before.push_back(test::state_of(*world, body));
            test::run(*world, 900);
            double farthest = 0.0;
            for (std::size_t i = 0; i < bodies.size(); ++i)
                farthest =
                    std::max(farthest, far(test::state_of(*world, bodies[i]).pose.position, before[i].pose.position));
            CHECK(farthest < 1e-4);
        }
    }
}

TEST_CASE("stools stand on a ball that is ten thousand times as large, whichever comes first" *
          doctest::test_suite("quality")) {
    for (const bool ball_first : {true, false}) {
        CAPTURE(ball_first);
        WorldDef def;
        def.solver.sleep = false;
        const auto add_ball = [&] {
            def.bodies[test::add_body(def, test::add_sphere_shape(def, 4000.0f), {0.0f, -4000.0f, 0.0f})].type =
                BodyType::fixed;
        };
        if (ball_first) add_ball();
        std::uint32_t stools[2];
        for (const bool round : {false, true}) {
            const std::uint32_t foot =
                round ? test::add_sphere_shape(def, 0.05f) : test::add_box_shape(def, {0.03f, 0.05f, 0.03f});
            std::vector<CompoundChild> feet;
            for (int k = 0; k < 4; ++k)
                feet.push_back({foot, {{k % 2 == 0 ? -0.2f : 0.2f, 0.0f, k / 2 == 0 ? -0.2f : 0.2f}, {}}});
            stools[round ? 1 : 0] = test::add_body(def, test::add_shape(def, compound_of(feet)),
                                                   {round ? 0.5f : -0.5f, 0.05f, 0.0f}, test::exact_turn(0.001f));
        }
        if (!ball_first) add_ball();
        auto world = test::make_world(def);
        test::run(*world, 120);
        const BodyState before[2] = {test::state_of(*world, stools[0]), test::state_of(*world, stools[1])};
        test::run(*world, 600);
        for (int k = 0; k < 2; ++k)
            CHECK(far(test::state_of(*world, stools[k]).pose.position, before[k].pose.position) < 1e-3);
    }
}

// Hulls, cylinders, balls, capsules and compounds on hills.
WorldDef heap_on_hills() {
    WorldDef def;
    def.solver.sleep = false;
    const std::uint32_t ground = test::add_body(def, test::add_shape(def, hills()), {0.0f, 0.0f, 0.0f});
    def.bodies[ground].type = BodyType::fixed;
    std::vector<std::uint32_t> shapes{test::add_shape(def, hull_of(5, 24, {0.3f, 0.25f, 0.2f})),
                                      test::add_shape(def, cylinder(0.2f, 0.15f)),
                                      test::add_box_shape(def, {0.2f, 0.15f, 0.2f}), test::add_sphere_shape(def, 0.2f),
                                      test::add_capsule_shape(def, 0.12f, 0.2f)};
    ShapeDef compound;
    compound.type = ShapeType::compound;
    compound.children = {{shapes[2], {{-0.25f, 0.0f, 0.0f}, {}}}, {shapes[4], {{0.25f, 0.0f, 0.0f}, {}}}};
    shapes.push_back(test::add_shape(def, compound));
    for (std::uint32_t k = 0; k < 36; ++k)
        test::add_body(def, shapes[k % shapes.size()],
                       {0.75f * static_cast<float>(k % 6) - 2.0f, 1.2f + 0.02f * static_cast<float>(k % 5),
                        0.75f * static_cast<float>(k / 6) - 2.0f},
                       test::exact_turn(0.03f * static_cast<float>(k % 9)));
    return def;
}

TEST_CASE("what is held of slow pairs changes no bit: straight on, and from a save in a new world every tick") {
    const WorldDef def = heap_on_hills();
    const int ticks = test::sampled(400);
    auto straight = test::make_world(def), restored = test::make_world(def, Target::scalar);
    int different = 0, slow = 0;
    for (int tick = 0; tick < ticks; ++tick) {
        std::vector<std::uint8_t> bytes;
        restored->save(bytes);
        auto fresh = test::make_world(def, Target::scalar);
        REQUIRE(fresh->restore(bytes).ok());
        fresh->step();
        straight->step();
        different += fresh->hash() != straight->hash() ? 1 : 0;
        restored = std::move(fresh);
        for (std::uint32_t body = 1; body < def.bodies.size(); ++body) {
            const BodyState state = test::state_of(*straight, body);
            slow += far(state.linear_velocity, {}) + 0.3 * far(state.angular_velocity, {}) <
                            0.25 * ref::kCell_m / double(kDt)
                        ? 1
                        : 0;
        }
    }
    CHECK(different == 0);
    CHECK((ticks < 400 || slow > ticks * 6));  // a sixth of them, on average, once they have fallen
}

TEST_CASE("what is held is found by its pair and its key alone, wherever the last tick's chunks ended") {
    test::Random random(test::seeded(31));
    HeldPairs held;
    const auto key_of = [](std::uint32_t i, std::uint32_t tick) {
        PairKey key;
        key.shape_a = i % 7;
        key.position[1] = static_cast<float>(i % 5 == 0 ? tick : 0u);
        return key;
    };
    std::vector<std::uint32_t> last;
    int found = 0, wrong = 0;
    for (std::uint32_t tick = 0; tick < 200; ++tick) {
        std::vector<std::uint32_t> now;  // pairs by number, ascending; odd ones are not slow
        for (std::uint32_t i = 0; i < 120; ++i) {
            if (random.below(4) != 0) now.push_back(i);
        }
        if (random.below(10) == 0) now.clear();
        const std::uint32_t size = 1 + random.below(16),
                            count = (static_cast<std::uint32_t>(now.size()) + size - 1) / size;
        held.begin(count);
        for (std::uint32_t c = count; c-- > 0;) {
            const auto pair_of = [](std::uint32_t i) { return Pair{i / 10, 50 + i % 10}; };
            const auto begin = now.begin() + c * size,
                       end = now.end() - begin < static_cast<std::ptrdiff_t>(size) ? now.end() : begin + size;
            HeldPairs::Chunk& chunk = held.begin_chunk(c, pair_of(*begin));
            HeldPairs::Walk walk = held.walk(pair_of(*begin));
            for (auto i = begin; i != end; ++i) {
                if (*i % 2 != 0) continue;
                std::span<const PairContact> known;
                const std::vector<PairPoint>* points = nullptr;
                const bool is = walk.find(pair_of(*i), key_of(*i, tick), known, points);
                const bool should = std::binary_search(last.begin(), last.end(), *i) && *i % 5 != 0;
                wrong += is != should;
                wrong += is && known.size() != *i % 3;
                for (const PairContact& contact : known)
                    wrong += contact.child_a != *i || (*points)[contact.first].feature != *i;
                found += is ? 1 : 0;
                std::vector<PairContact> contacts(*i % 3);
                std::vector<PairPoint> of_them(contacts.size());
                for (std::uint32_t k = 0; k < contacts.size(); ++k) {
                    contacts[k].child_a = *i, contacts[k].first = k, contacts[k].count = 1;
                    of_them[k].feature = *i;
                }
                contacts.emplace_back();  // without a point
                chunk.add(pair_of(*i), key_of(*i, tick), contacts, of_them);
            }
        }
        last = now;
    }
    CHECK(found > 1000);
    CHECK(wrong == 0);
}

}  // namespace orrery::sim
