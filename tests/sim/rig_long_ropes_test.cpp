// Guards: ropes of thousands of links stay whole and gain no energy, wherever in the world they hang.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/jacobi/rigs.h"
#include "tests/support/bodies.h"
#include "tests/support/rigs.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

TEST_CASE("a rope of 4,000 links that swings down from level for ten seconds stays whole and gains no energy" * doctest::test_suite("quality")) {
    constexpr std::uint32_t kLinks = 4000;
    WorldDef def = rope_world();
    std::vector<std::uint32_t> rope;
    for (std::uint32_t k = 0; k < kLinks; ++k) {
        const float x = kGap * (static_cast<float>(k) + 0.5f);
        const auto bead = add_body(def, 0, {x - 500.0f, 0.0f, 0.0f});
        def.bodies[bead].mask = 0;
        const Vec3 anchor{k > 0 ? kGap / 2 : -500.0f, 0.0f, 0.0f};
        add_joint(def, k > 0 ? bead - 1 : kNone, bead, BallSocket{anchor, {-kGap / 2, 0.0f, 0.0f}, {}});
        rope.push_back(bead);
    }
    auto world = make_world(def);
    double apart = 0.0, gained = -1.0, lost = 0.0;
    const int ticks = sampled(600);
    for (int tick = 1; tick <= ticks; ++tick) {
        world->step();
        REQUIRE(count_events(*world, EventKind::quarantined, EventCause::not_finite) == 0);
        REQUIRE(count_events(*world, EventKind::quarantined, EventCause::too_far) == 0);
        if (tick % 10 != 0) continue;
        apart = std::max(apart, largest_separation(*world));
        double moves = 0.0, lies = 0.0;
        for (const std::uint32_t bead : rope) {
            const BodyState b = state_of(*world, bead);
            moves += 0.5 * std::pow(size(d(b.linear_velocity)), 2) + 0.2 * kRadius * kRadius * std::pow(size(d(b.angular_velocity)), 2);
            lies += 10.0 * static_cast<double>(b.pose.position.y);
        }
        REQUIRE(std::isfinite(moves));
        gained = std::max(gained, (moves + lies) / moves);
        // What falls freely loses by its tangents, in n substeps, one part in n.
        lost = std::max(lost, -(moves + lies) / moves - 1.0 / (2.0 * tick));
    }
    MESSAGE("energy above its start by at most " << gained * 100 << " % of what moves, lost beyond the tangents' " << lost * 100
            << " %; joints apart " << apart * 1e3 << " mm");
    CHECK(gained < 0.002);
    CHECK(lost < 0.001);
    CHECK(apart < 0.0002);
}

// Far out, positions are coarse; their differences are exact. A forked one is a tree, one of boxes takes part in the coloured solver's passes.
TEST_CASE("long ropes stay whole wherever they hang, however they begin and with what at their end" * doctest::test_suite("quality")) {
    struct Hung {
        std::uint32_t links;
        float x_m, angle_rad, end_kg;
        bool forked;
        double apart_m;  // at most
        bool boxes = false;
        std::uint32_t substeps = 2;
        float compliance = kRigCompliance;
    };
    for (const Hung& hung :
         {Hung{4000, 0.0f, 0.05f, 1.0f, false, 0.0005}, Hung{4000, 0.0f, 0.5f, 100.0f, false, 0.0005}, Hung{4000, 0.0f, 1.2f, 1.0f, false, 0.0005},
          Hung{1000, 3500.0f, 0.05f, 1.0f, false, 0.0015}, Hung{1000, 3500.0f, 0.5f, 100.0f, false, 0.0015}, Hung{2000, 3000.0f, 0.5f, 1.0f, false, 0.0015},
          Hung{4000, 0.0f, 0.05f, 1.0f, true, 0.002}, Hung{1000, 3500.0f, 0.05f, 1.0f, true, 0.003}, Hung{1000, 3500.0f, 0.8f, 1.0f, false, 0.0015, true, 8},
          Hung{4000, 0.0f, 0.5f, 1.0f, false, 0.0005, false, 8, 0.0f}}) {
        CAPTURE(hung.links);
        CAPTURE(hung.x_m);
        CAPTURE(hung.angle_rad);
        CAPTURE(hung.forked);
        CAPTURE(hung.boxes);
        WorldDef def = rope_world(hung.substeps);
        def.solver.rig_compliance = hung.compliance;
        const std::uint32_t shape = hung.boxes ? add_box_shape(def, {0.1f, 0.025f, 0.1f}) : 0;
        const double along_x = std::cos(static_cast<double>(hung.angle_rad)), down = std::sin(static_cast<double>(hung.angle_rad));
        const Quat turn = exact_turn(static_cast<float>(-std::tan(static_cast<double>(hung.angle_rad) / 4)));
        const auto hang = [&](std::uint32_t to, const BallSocket& ball, double way_m, float z, float mass_kg) {
            const auto bead = add_body(def, shape, {static_cast<float>(static_cast<double>(hung.x_m) + way_m * along_x), static_cast<float>(-way_m * down), z}, turn);
            def.bodies[bead].mask = 0;
            def.bodies[bead].mass_kg = mass_kg;
            add_joint(def, to, bead, ball);
            return bead;
        };
        std::uint32_t last = kNone;
        for (std::uint32_t k = 0; k < hung.links; ++k) {
            const Vec3 anchor{k > 0 ? kGap / 2 : hung.x_m, 0.0f, 0.0f};
            last = hang(last, {anchor, {-kGap / 2, 0.0f, 0.0f}, {}}, static_cast<double>(kGap) * (k + 0.5), 0.0f, k + 1 == hung.links ? hung.end_kg : 1.0f);
        }
        if (hung.forked) hang(2, {{0.0f, 0.0f, kGap / 2}, {0.0f, 0.0f, -kGap / 2}, {}}, static_cast<double>(kGap) * 2.5, kGap, 1.0f);
        auto world = make_world(def);
        const auto energy_j = [&](double& moves) {
            double lies = 0.0;
            moves = 0.0;
            for (std::uint32_t body = 0; body < def.bodies.size(); ++body) {
                const BodyState b = state_of(*world, body);
                const double mass = 1.0 / static_cast<double>(b.inverse_mass);
                moves += mass * (0.5 * std::pow(size(d(b.linear_velocity)), 2) + 0.2 * kRadius * kRadius * std::pow(size(d(b.angular_velocity)), 2));
                lies += 10.0 * mass * static_cast<double>(b.pose.position.y);
            }
            return moves + lies;
        };
        double moves = 0.0, apart = 0.0, gained = -1.0;
        const double start = energy_j(moves);
        for (int tick = 1; tick <= 240; ++tick) {
            world->step();
            REQUIRE(count_events(*world, EventKind::quarantined, EventCause::not_finite) == 0);
            REQUIRE(count_events(*world, EventKind::quarantined, EventCause::too_far) == 0);
            if (tick % 10 != 0) continue;
            apart = std::max(apart, largest_separation(*world));
            gained = std::max(gained, (energy_j(moves) - start) / moves);
        }
        MESSAGE("joints apart " << apart * 1e3 << " mm, energy above its start by at most " << gained * 100 << " % of what moves");
        CHECK(apart < hung.apart_m);
        CHECK(gained < 0.0);
    }
}
