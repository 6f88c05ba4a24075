// Guards: ropes of thousands of links stay whole and gain no energy, wherever in the world they hang.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/rigs/rigs.h"
#include "tests/support/bodies.h"
#include "tests/support/rigs.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

TEST_CASE("a rope of 4,000 links that swings down from level for ten seconds stays whole and gains no energy" *
          doctest::test_suite("quality")) {
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
            moves += 0.5 * std::pow(size(d(b.linear_velocity)), 2) +
                     0.2 * kRadius * kRadius * std::pow(size(d(b.angular_velocity)), 2);
            lies += 10.0 * static_cast<double>(b.pose.position.y);
        }
        REQUIRE(std::isfinite(moves));
        gained = std::max(gained, (moves + lies) / moves);
        // What falls freely loses by its tangents, in n substeps, one part in n.
        lost = std::max(lost, -(moves + lies) / moves - 1.0 / (2.0 * tick));
    }
    MESSAGE("energy above its start by at most " << gained * 100 << " % of what moves, lost beyond the tangents' "
                                                 << lost * 100 << " %; joints apart " << apart * 1e3 << " mm");
    CHECK(gained < 0.002);
    CHECK(lost < 0.001);
    CHECK(apart < 0.0002);
}

// Far out, positions are coarse; their differences are exact. A forked one is a tree, one of boxes takes part in the
// coloured solver's passes.
TEST_CASE("long ropes stay whole wherever they hang, however they begin and with what at their end" *
          doctest::test_suite("quality")) {
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
         {Hung{4000, 0.0f, 0.05f, 1.0f, false, 0.0005}, Hung{4000, 0.0f, 0.5f, 100.0f, false, 0.0005},
          Hung{4000, 0.0f, 1.2f, 1.0f, false, 0.0005}, Hung{1000, 3500.0f, 0.05f, 1.0f, false, 0.0015},
          Hung{1000, 3500.0f, 0.5f, 100.0f, false, 0.0015}, Hung{2000, 3000.0f, 0.5f, 1.0f, false, 0.0015},
          Hung{4000, 0.0f, 0.05f, 1.0f, true, 0.002}, Hung{1000, 3500.0f, 0.05f, 1.0f, true, 0.003},
          Hung{1000, 3500.0f, 0.8f, 1.0f, false, 0.0015, true, 8},
          Hung{4000, 0.0f, 0.5f, 1.0f, false, 0.0005, false, 8, 0.0f}}) {
        CAPTURE(hung.links);
        CAPTURE(hung.x_m);
        CAPTURE(hung.angle_rad);
        CAPTURE(hung.forked);
        CAPTURE(hung.boxes);
        WorldDef def = rope_world(hung.substeps);
        def.solver.rig_compliance = hung.compliance;
        const std::uint32_t shape = hung.boxes ? add_box_shape(def, {0.1f, 0.025f, 0.1f}) : 0;
        const double along_x = std::cos(static_cast<double>(hung.angle_rad)),
                     down = std::sin(static_cast<double>(hung.angle_rad));
        const Quat turn = exact_turn(static_cast<float>(-std::tan(static_cast<double>(hung.angle_rad) / 4)));
        const auto hang = [&](std::uint32_t to, const BallSocket& ball, double way_m, float z, float mass_kg) {
            const auto bead = add_body(def, shape,
                                       {static_cast<float>(static_cast<double>(hung.x_m) + way_m * along_x),
                                        static_cast<float>(-way_m * down), z},
                                       turn);
            def.bodies[bead].mask = 0;
            def.bodies[bead].mass_kg = mass_kg;
            add_joint(def, to, bead, ball);
            return bead;
        };
        std::uint32_t last = kNone;
        for (std::uint32_t k = 0; k < hung.links; ++k) {
            const Vec3 anchor{k > 0 ? kGap / 2 : hung.x_m, 0.0f, 0.0f};
            last = hang(last, {anchor, {-kGap / 2, 0.0f, 0.0f}, {}}, static_cast<double>(kGap) * (k + 0.5), 0.0f,
                        k + 1 == hung.links ? hung.end_kg : 1.0f);
        }
        if (hung.forked)
            hang(2, {{0.0f, 0.0f, kGap / 2}, {0.0f, 0.0f, -kGap / 2}, {}}, static_cast<double>(kGap) * 2.5, kGap, 1.0f);
        auto world = make_world(def);
        const auto energy_j = [&](double& moves) {
            double lies = 0.0;
            moves = 0.0;
            for (std::uint32_t body = 0; body < def.bodies.size(); ++body) {
                const BodyState b = state_of(*world, body);
                const double mass = 1.0 / static_cast<double>(b.inverse_mass);
                moves += mass * (0.5 * std::pow(size(d(b.linear_velocity)), 2) +
                                 0.2 * kRadius * kRadius * std::pow(size(d(b.angular_velocity)), 2));
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
        MESSAGE("joints apart " << apart * 1e3 << " mm, energy above its start by at most " << gained * 100
                                << " % of what moves");
        CHECK(apart < hung.apart_m);
        CHECK(gained < 0.0);
    }
}

// As a rope that was slack snaps taut its links turn by radians in a substep: what is linear in that misses by metres.
TEST_CASE("ropes that are laid in folds and let go stay whole as they snap taut" * doctest::test_suite("quality")) {
    enum class Kind { beads, boxes, forked, over_a_drum };
    struct Folded {
        Kind kind;
        std::uint32_t links, fold;
        float kink_rad;
        std::uint32_t substeps;
        double apart_m;  // at most
    };
    for (const Folded& folded :
         {Folded{Kind::beads, 1000, 10, 0.64f, 2, 0.005}, Folded{Kind::beads, 1000, 10, 0.64f, 4, 0.005},
          Folded{Kind::beads, 4000, 5, 0.1f, 2, 0.06}, Folded{Kind::beads, 4000, 5, 0.1f, 4, 0.005},
          Folded{Kind::beads, 2000, 1, 0.5f, 4, 0.005}, Folded{Kind::beads, 2000, 50, 1.2f, 2, 0.005},
          Folded{Kind::boxes, 1000, 10, 0.64f, 2, 0.005}, Folded{Kind::boxes, 4000, 5, 0.1f, 4, 0.01},
          Folded{Kind::forked, 1000, 10, 0.64f, 2, 0.005}, Folded{Kind::forked, 4000, 5, 0.1f, 4, 0.01},
          Folded{Kind::over_a_drum, 1000, 10, 0.64f, 2, 0.02}}) {
        const int kind = static_cast<int>(folded.kind);
        CAPTURE(kind);
        CAPTURE(folded.links);
        CAPTURE(folded.fold);
        CAPTURE(folded.substeps);
        WorldDef def = rope_world(folded.substeps);
        const std::uint32_t shape = folded.kind == Kind::boxes ? add_box_shape(def, {0.0775f, 0.0775f, 0.0774f}) : 0;
        const auto hang = [&](std::uint32_t to, D3 at, const BallSocket& ball) {
            const auto bead =
                add_body(def, shape, {static_cast<float>(at[0]), static_cast<float>(at[1]), static_cast<float>(at[2])});
            def.bodies[bead].category = 2;
            def.bodies[bead].mask = folded.kind == Kind::over_a_drum ? 1 : 0;
            add_joint(def, to, bead, ball);
            return bead;
        };
        const double across = 0.5 * kGap * std::sin(static_cast<double>(folded.kink_rad)),
                     down = 0.5 * kGap * std::cos(static_cast<double>(folded.kink_rad));
        D3 at{};
        Vec3 anchor{};
        std::uint32_t last = kNone;
        for (std::uint32_t k = 0; k < folded.links; ++k) {
            const double side = k / folded.fold % 2 == 0 ? -across : across;
            const Vec3 half{static_cast<float>(side), static_cast<float>(-down), 0.0f};
            at = plus(at, d(half));
            last = hang(last, at, {anchor, {-half.x, -half.y, 0.0f}, {}});
            anchor = half;
            at = plus(at, d(half));
            if (folded.kind == Kind::forked && k == 3)
                hang(last, {at[0], at[1], kGap}, {{half.x, half.y, 0.5f * kGap}, {0.0f, 0.0f, -0.5f * kGap}, {}});
        }
        if (folded.kind == Kind::over_a_drum) {
            const Vec3 middle = def.bodies[folded.links / 2].pose.position;
            const auto drum = add_body(def, add_sphere_shape(def, 1.5f), {middle.x + 1.7f, middle.y - 2.0f, 0.0f});
            def.bodies[drum].type = BodyType::fixed;
        }
        auto world = make_world(def);
        const auto energy_j = [&] {
            double moves = 0.0, lies = 0.0;
            for (std::uint32_t body = 0; body < def.bodies.size(); ++body) {
                const BodyState b = state_of(*world, body);
                if (b.type != BodyType::dynamic) continue;
                moves += 0.5 * std::pow(size(d(b.linear_velocity)), 2) +
                         0.2 * kRadius * kRadius * std::pow(size(d(b.angular_velocity)), 2);
                lies += 10.0 * static_cast<double>(b.pose.position.y);
            }
            return moves + lies;
        };
        const double start = energy_j();
        double apart = 0.0, gained = -1.0e30;
        for (int tick = 1; tick <= 240; ++tick) {
            world->step();
            REQUIRE(count_events(*world, EventKind::quarantined, EventCause::not_finite) == 0);
            REQUIRE(count_events(*world, EventKind::quarantined, EventCause::too_far) == 0);
            REQUIRE(count_events(*world, EventKind::quarantined, EventCause::too_fast) +
                        count_events(*world, EventKind::quarantined, EventCause::turns_too_fast) ==
                    0);
            apart = std::max(apart, largest_separation(*world));
            gained = std::max(gained, energy_j() - start);
        }
        MESSAGE("joints apart " << apart * 1e3 << " mm, energy above its start by at most " << gained << " J");
        CHECK(apart < folded.apart_m);
        CHECK(gained < 0.0);
    }
}
