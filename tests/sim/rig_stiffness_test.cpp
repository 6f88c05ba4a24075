// Guards: rigs whose links are far lighter to turn than what they bear (geometric stiffness, sim/rigs/rig-inl.h): they
// stay whole and gain no energy, what turns as a whole does so freely, and chains, trees, sockets and spans agree about
// it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/rigs.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// Sixteen links that are far lighter to turn than what hangs from them would have them be, `lean` from straight down,
// and a crate of `ratio` times their mass, all whirling about the vertical at `spin`, rad/s. ladder: by two joints
// each, but by one on the world. bola: without gravity, with such a crate at either end and nothing of the world; it
// turns about the middle.
struct HeavyEnd {
    float ratio = 100.0f;
    std::uint32_t substeps = 4;
    bool ladder = false;
    float lean = 0.0f, spin = 0.0f;
    Vec3 link{0.04f, 0.04f,
              0.04f};  // half extents; x along the links; all bodies are cubes where these are: a chain alone
    bool bola = false;
};
constexpr double kCrateAt = 5.05, kLinksAt = 2.4;  // m from the world, on average

WorldDef heavy_end(const HeavyEnd& setting) {
    WorldDef def = rope_world(setting.substeps);
    if (setting.bola) def.gravity = {};
    const auto link = add_box_shape(def, setting.link),
               crate = add_box_shape(def, {0.25f, 0.25f, setting.link.x == setting.link.z ? 0.25f : 0.3f});
    const float angle = setting.lean - 1.57079633f, centre = setting.bola ? 2.4f : 0.0f;
    for (int k = setting.bola ? -1 : 0; k <= 16; ++k) {
        const bool heavy = k < 0 || k == 16, first = k == (setting.bola ? -1 : 0);
        const float along = 0.3f * static_cast<float>(k) + (k < 0 ? 0.05f : heavy ? 0.25f : 0.15f) - centre;
        const Vec3 at{along * std::cos(angle), along * std::sin(angle), 0.0f};
        const auto body = add_body(def, heavy ? crate : link, at);
        def.bodies[body].pose.orientation = {0.0f, 0.0f, std::sin(0.5f * angle), std::cos(0.5f * angle)};
        def.bodies[body].linear_velocity = {0.0f, 0.0f, -setting.spin * at.x};
        def.bodies[body].angular_velocity = {0.0f, setting.spin, 0.0f};
        def.bodies[body].mass_kg = heavy ? setting.ratio : 1.0f;
        def.bodies[body].mask = 0;
        if (first && setting.bola) continue;
        const bool both = setting.ladder && (!first || setting.spin == 0.0f);
        for (const float side : {-0.25f, 0.25f}) {
            const float z = both ? side : 0.0f, before = first ? 0.0f : k == 0 ? 0.25f : 0.15f;
            add_joint(def, first ? kNone : body - 1, body,
                      BallSocket{{before, 0.0f, z}, {k == 16 ? -0.25f : -0.15f, 0.0f, z}, {}});
            if (!both) break;
        }
    }
    return def;
}

struct Sum {
    double energy = 0.0, moves = 0.0;  // J; what of it is not height
    D3 momentum{};                     // kg m^2/s about the origin
};
// Of a world of boxes.
Sum sum_of(const World& world, const WorldDef& def) {
    Sum sum;
    for (std::uint32_t i = 0; i < def.bodies.size(); ++i) {
        const BodyState b = state_of(world, i);
        const D3 v = d(b.linear_velocity), x = d(b.pose.position),
                 half = d(def.shapes[def.bodies[i].shape].half_extents);
        const double mass = 1.0 / static_cast<double>(b.inverse_mass);
        const D4 q = d(b.pose.orientation);
        D3 w = turned(back(q), d(b.angular_velocity)), spin{};
        for (std::size_t k = 0; k < 3; ++k) {
            spin[k] = w[k] * mass / 3.0 * (size(half) * size(half) - half[k] * half[k]);
            sum.moves += 0.5 * (mass * v[k] * v[k] + w[k] * spin[k]);
        }
        sum.momentum = plus(sum.momentum, plus(times(crossed(x, v), mass), turned(q, spin)));
        for (std::size_t k = 0; k < 3; ++k) sum.energy -= mass * d(def.gravity)[k] * x[k];
    }
    sum.energy += sum.moves;
    return sum;
}

}  // namespace

TEST_CASE("links that are light to turn bear a hundred times their mass and gain no energy" *
          doctest::test_suite("quality")) {
    for (const bool ladder : {false, true}) {
        for (const float ratio : {10.0f, 50.0f, 100.0f}) {
            for (const std::uint32_t substeps : {2u, 4u, 8u}) {
                CAPTURE(ladder);
                CAPTURE(ratio);
                CAPTURE(substeps);
                const WorldDef def =
                    heavy_end({ratio, substeps, ladder, 1.57079633f, 0.0f, {0.04f, 0.04f, ladder ? 0.3f : 0.04f}});
                auto world = make_world(def);
                double apart = 0.0, most = 0.0;
                for (int tick = 0; tick < 600; ++tick) {
                    world->step();
                    most = std::max(most, sum_of(*world, def).energy);
                    apart += largest_separation(*world);
                }
                const double fall = 10.0 * (static_cast<double>(ratio) * kCrateAt + 16 * kLinksAt);
                CHECK(most < 0.03 * fall);
                CHECK(apart / 600 < (substeps == 2 ? 0.003 : 0.0008));
                CHECK(largest_separation(*world) < 0.05);
            }
        }
    }
}

TEST_CASE("what swings, whirls or spins as a whole does so freely, however light its links are to turn" *
          doctest::test_suite("quality")) {
    for (const std::uint32_t substeps : {2u, 4u}) {
        for (const float ratio : {100.0f, 300.0f}) {
            for (const Vec3 link : {Vec3{0.04f, 0.04f, 0.04f}, Vec3{0.15f, 0.04f, 0.04f}, Vec3{0.04f, 0.14f, 0.05f},
                                    Vec3{0.15f, 0.04f, 0.4f}}) {
                CAPTURE(substeps);
                CAPTURE(ratio);
                CAPTURE(link.x);
                CAPTURE(link.z);
                const double low = -10.0 * (static_cast<double>(ratio) * kCrateAt + 16 * kLinksAt);
                HeavyEnd setting{ratio, substeps, false, 0.35f, 0.0f, link};
                const WorldDef leaning = heavy_end(setting);
                auto swing = make_world(leaning);
                const double swings = sum_of(*swing, leaning).energy - low;
                run(*swing, 1200);
                CHECK(std::abs((sum_of(*swing, leaning).energy - low) / swings - 1.0) < 0.02);

                setting.spin = static_cast<float>(std::sqrt(10.0 / (kCrateAt * std::cos(0.35))));
                const WorldDef whirling = heavy_end(setting);
                auto cone = make_world(whirling);
                const Sum before = sum_of(*cone, whirling);
                run(*cone, 1200);
                const Sum after = sum_of(*cone, whirling);
                CHECK(std::abs(after.momentum[1] / before.momentum[1] - 1.0) < 0.005);
                CHECK(std::abs(after.moves / before.moves - 1.0) < 0.02);
            }
            for (const bool of_rungs : {false, true}) {
                CAPTURE(of_rungs);
                const WorldDef bola = heavy_end(
                    {ratio, substeps, of_rungs, 1.57079633f, 5.0f, {0.15f, 0.04f, of_rungs ? 0.3f : 0.04f}, true});
                auto world = make_world(bola);
                const Sum before = sum_of(*world, bola);
                run(*world, 1200);
                const Sum after = sum_of(*world, bola);
                MESSAGE("bola: momentum " << after.momentum[1] / before.momentum[1] << ", energy "
                                          << after.energy / before.energy);
                const double lost = substeps == 2 && !of_rungs ? 0.05 : 0.005;
                CHECK(std::abs(after.momentum[1] / before.momentum[1] - 1.0) < lost);
                CHECK(std::abs(after.energy / before.energy - 1.0) < 2 * lost);
            }
            auto ladder = make_world(heavy_end({ratio, substeps, true, 0.0f, 2.0f, {0.04f, 0.04f, 0.3f}}));
            run(*ladder, 600);
            for (std::uint32_t i = 0; i <= 16; ++i)
                CHECK(std::abs(state_of(*ladder, i).angular_velocity.y - 2.0f) < 0.002f);
        }
    }
}

// What links turn against each other is damped by as much as their levers on each other make of it, and not against
// what is hard to turn.
TEST_CASE("stiff links that shake are calmed among themselves alone" * doctest::test_suite("quality")) {
    for (const float spin : {1.0f, 5.0f}) {  // cubes: a chain alone
        WorldDef def = heavy_end({100.0f, 4, false, 1.57079633f, spin, {0.04f, 0.04f, 0.04f}, true});
        def.bodies.back().linear_velocity.y = 2.0f;
        auto world = make_world(def);
        const Sum before = sum_of(*world, def);
        double most = 0.0;
        for (int tick = 0; tick < 1200; ++tick) {
            world->step();
            most = std::max(most, sum_of(*world, def).energy);
        }
        const Sum after = sum_of(*world, def);
        MESSAGE("kicked bola at " << spin << " rad/s: at most " << most / before.energy << " of its energy, ends with "
                                  << after.momentum[1] / before.momentum[1] << " of its momentum");
        CHECK(most < 1.005 * before.energy);
        CHECK(std::abs(after.momentum[1] / before.momentum[1] - 1.0) < 0.01);
    }
    // Short and long links in turn.
    WorldDef def = rope_world(2);
    const auto small = add_box_shape(def, {0.02f, 0.02f, 0.02f}), large = add_box_shape(def, {0.04f, 0.04f, 0.04f}),
               crate = add_box_shape(def, {0.25f, 0.25f, 0.25f});
    constexpr float kLean = 0.6f;
    float along = 0.0f, before = 0.0f;
    for (std::uint32_t k = 0; k <= 12; ++k) {
        const float half = k == 12 ? 0.25f : k % 2 == 0 ? 0.02f : 0.04f;
        along += half;
        const Vec3 at{along * std::sin(kLean), -along * std::cos(kLean), 0.0f};
        const auto body = add_body(def, k == 12 ? crate : k % 2 == 0 ? small : large, at);
        def.bodies[body].pose.orientation = {0.0f, 0.0f, std::sin(0.5f * (kLean - 1.57079633f)),
                                             std::cos(0.5f * (kLean - 1.57079633f))};
        def.bodies[body].mass_kg = k == 12 ? 30.0f : 0.3f;
        def.bodies[body].mask = 0;
        def.bodies[body].linear_velocity = {0.0f, 0.0f, -0.7f * at.x};
        def.bodies[body].angular_velocity = {0.0f, 0.7f, 0.0f};
        add_joint(def, k == 0 ? kNone : body - 1, body, BallSocket{{before, 0.0f, 0.0f}, {-half, 0.0f, 0.0f}, {}});
        along += half;
        before = half;
    }
    auto world = make_world(def);
    const double low = -10.0 * (30.0 * (0.72 + 0.25) + 12 * 0.3 * 0.36);
    const auto over_a_swing = [&] {
        double mean = 0.0;
        for (int tick = 0; tick < 117; ++tick) {
            world->step();
            mean += (sum_of(*world, def).energy - low) / 117;
        }
        return mean;
    };
    const double first = over_a_swing();
    run(*world, 1200);
    const double kept = over_a_swing() / first;
    MESSAGE("short and long links under a crate keep " << kept << " of their energy");
    CHECK(std::abs(kept - 1.0) < 0.002);
}

TEST_CASE("stiff links swing the same whether sockets or spans hold them, and whether it is a chain or a tree") {
    // In one plane a ladder is a rope of its rungs. A speck hung on the crate makes a tree of a chain.
    for (const Vec3 link : {Vec3{0.04f, 0.04f, 0.04f}, Vec3{0.04f, 0.04f, 0.3f}}) {
        HeavyEnd setting{100.0f, 4, false, 1.0f, 0.0f, link};
        auto rope = make_world(heavy_end(setting));
        WorldDef speck = heavy_end(setting);
        const auto bead = add_sphere_shape(speck, 0.1f);
        for (const float side : {-0.2f, 0.2f}) {
            const auto body = add_body(speck, bead, speck.bodies[16].pose.position);
            speck.bodies[body].mass_kg = 1.0e-4f;
            speck.bodies[body].mask = 0;
            add_joint(speck, 16, body, BallSocket{{0.0f, side, 0.0f}, {0.0f, side, 0.0f}, {}});
        }
        auto tree = make_world(speck);
        setting.ladder = true;
        auto ladder = make_world(heavy_end(setting));
        double of_tree = 0.0, of_ladder = 0.0;
        for (int tick = 0; tick < 90; ++tick) {
            for (World* world : {rope.get(), tree.get(), ladder.get()}) world->step();
            const D3 at = d(state_of(*rope, 16).pose.position);
            of_tree = std::max(of_tree, size(minus(d(state_of(*tree, 16).pose.position), at)));
            of_ladder = std::max(of_ladder, size(minus(d(state_of(*ladder, 16).pose.position), at)));
        }
        MESSAGE("the crate of a tree is elsewhere by " << of_tree * 1e3 << " mm, of a ladder by " << of_ladder * 1e3);
        CHECK(of_tree < 0.001);
        CHECK(of_ladder < 0.02);
    }
}

// A torque that is not across the body's own arm, but across the line between centres, feeds motion out of the plane of
// both.
TEST_CASE(
    "stiff links that are kicked and twisted out of their plane hold, are whole again after 5 s and gain nothing" *
    doctest::test_suite("quality")) {
    const auto linked = [](WorldDef& def, std::uint32_t a, std::uint32_t b, Vec3 here) {
        const BodyDef& bb = def.bodies[b];
        const auto local = [](const BodyDef& body, Vec3 p) {
            const D3 r = turned(back(d(body.pose.orientation)), minus(d(p), d(body.pose.position)));
            return Vec3{static_cast<float>(r[0]), static_cast<float>(r[1]), static_cast<float>(r[2])};
        };
        add_joint(def, a, b, BallSocket{a == kNone ? here : local(def.bodies[a], here), local(bb, here), {}});
    };
    const Quat down{0.0f, 0.0f, -0.70710678f, 0.70710678f};
    struct Scene {
        const char* name;
        WorldDef def;
    };
    std::vector<Scene> scenes;
    for (const int links : {1, 2, 3, 6}) {  // a crate on a cord of the world
        WorldDef def = rope_world(4);
        def.solver.rig_joints = 2;
        const auto link = add_box_shape(def, {0.1f, 0.02f, 0.02f}), crate = add_box_shape(def, {0.25f, 0.25f, 0.25f});
        std::uint32_t before = kNone;
        for (int k = 0; k <= links; ++k) {
            const float y = -0.2f * static_cast<float>(k);
            const auto body =
                add_body(def, k == links ? crate : link, {0.0f, y - (k == links ? 0.25f : 0.1f), 0.0f}, down);
            def.bodies[body].mass_kg = k == links ? 60.0f : 0.1f;
            linked(def, before, body, {0.0f, y, 0.0f});
            before = body;
        }
        def.bodies[before].linear_velocity = {2.0f, 0.0f, 2.0f};
        def.bodies[before].angular_velocity = {3.0f, 0.0f, 0.0f};
        scenes.push_back({"a crate on a cord", def});
    }
    for (const std::uint32_t substeps : {2u, 4u}) {  // a nunchaku, one stick faster than the other
        WorldDef def = rope_world(substeps);
        def.solver.rig_joints = 2;
        def.gravity = {};
        const auto link = add_box_shape(def, {0.025f, 0.005f, 0.005f}),
                   stick = add_box_shape(def, {0.3f, 0.03f, 0.03f});
        std::uint32_t before = kNone;
        for (int k = -1; k <= 4; ++k) {
            const bool far = k < 0 || k == 4;
            const float start = 0.05f * static_cast<float>(k) - 0.1f, x = k < 0    ? -0.4f
                                                                          : k == 4 ? 0.4f
                                                                                   : start + 0.025f;
            const auto body = add_body(def, far ? stick : link, {x, 0.0f, 0.0f});
            def.bodies[body].mass_kg = far ? 1.0f : 0.005f;
            def.bodies[body].linear_velocity = k == 4 ? Vec3{0.0f, 10.2f, -0.9f} : Vec3{0.0f, 12.0f * x, 0.0f};
            def.bodies[body].angular_velocity = k == 4 ? Vec3{0.0f, 3.0f, 30.0f} : Vec3{0.0f, 0.0f, 12.0f};
            if (before != kNone) linked(def, before, body, {start, 0.0f, 0.0f});
            before = body;
        }
        scenes.push_back({"a nunchaku", def});
    }
    {  // a swing's seat: two cords of twelve links, a child of 30 kg, pushed aside
        WorldDef def = rope_world(4);
        def.solver.rig_joints = 2;
        const auto link = add_box_shape(def, {0.1f, 0.02f, 0.02f}), seat = add_box_shape(def, {0.1f, 0.02f, 0.35f});
        const auto plank = add_body(def, seat, {0.0f, -2.4f, 0.0f});
        def.bodies[plank].mass_kg = 30.0f;
        def.bodies[plank].linear_velocity = {3.0f, 0.0f, 1.0f};
        def.bodies[plank].angular_velocity = {0.0f, 4.0f, 0.0f};
        for (const float side : {-0.3f, 0.3f}) {
            std::uint32_t before = kNone;
            for (int k = 0; k < 12; ++k) {
                const float y = -0.2f * static_cast<float>(k);
                const auto body = add_body(def, link, {0.0f, y - 0.1f, side}, down);
                def.bodies[body].mass_kg = 0.1f;
                linked(def, before, body, {0.0f, y, side});
                before = body;
            }
            linked(def, before, plank, {0.0f, -2.4f, side});
        }
        scenes.push_back({"a swing", def});
    }
    for (Scene& scene : scenes) {
        WorldDef& def = scene.def;
        for (BodyDef& body : def.bodies) body.mask = 0;
        auto world = make_world(def);
        const Sum before = sum_of(*world, def);
        double most = before.energy, ever_apart = 0.0, apart = 0.0;
        for (int tick = 0; tick < 600; ++tick) {
            world->step();
            most = std::max(most, sum_of(*world, def).energy);
            const double now = largest_separation(*world);
            ever_apart = std::max(ever_apart, now);
            if (tick >= 300) apart = std::max(apart, now);
        }
        MESSAGE(std::string(scene.name) << " of " << def.bodies.size() << ", " << def.substeps << " substeps: gains "
                                        << (most - before.energy) / before.moves << " of its speed's energy, ends with "
                                        << (sum_of(*world, def).energy - before.energy) / before.moves << ", apart by "
                                        << apart * 1e3 << " mm");
        CHECK(world->stats().rigs == 1);
        CHECK(most - before.energy < 0.003 * before.moves);
        CHECK(ever_apart < (def.substeps == 2 ? 0.04 : 0.01));
        CHECK(apart < 0.005);
    }
}

TEST_CASE("a free rope with a crate at either end stays as symmetric as it was") {
    HeavyEnd setting{300.0f, 2, false, 1.57079633f, 0.0f, {0.04f, 0.04f, 0.04f}, true};
    WorldDef def = heavy_end(setting);
    const auto last = static_cast<std::uint32_t>(def.bodies.size()) - 1;
    for (std::uint32_t i = 0; i <= last; ++i) {  // bent, and point for point about the middle
        const float side = static_cast<float>(i) / static_cast<float>(last) - 0.5f;
        def.bodies[i].linear_velocity = {-4.0f * side, 6.0f * side * (1.0f - 4.0f * side * side), 3.0f * side};
        def.bodies[i].angular_velocity = {0.0f, 0.0f, 2.0f};
    }
    auto world = make_world(def);
    run(*world, 10);
    double aside = 0.0;
    for (std::uint32_t i = 0; i <= last / 2; ++i) {
        aside = std::max(aside,
                         size(plus(d(state_of(*world, i).pose.position), d(state_of(*world, last - i).pose.position))));
    }
    MESSAGE("after 10 ticks " << aside * 1e3 << " mm from symmetric");
    CHECK(aside < 5.0e-4);
}
