// Guards: what refines a rig's poses (sim/rigs/rig-inl.h) leaves other rigs' bits alone, and springs as they were.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/support/bodies.h"
#include "tests/support/rigs.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

enum class RigKind { beads, boxes, tree, bridge };

// Two rigs of a kind that lie in lanes side by side; the second spins where it is wild.
WorldDef two_rigs(RigKind kind, bool wild) {
    WorldDef def = rope_world(4);
    def.solver.rig_joints = 2;
    const std::uint32_t shape =
        kind == RigKind::beads || kind == RigKind::tree ? 0 : add_box_shape(def, {0.1f, 0.02f, 0.2f});
    for (const bool second : {false, true}) {
        const float y = second ? 15.0f : 5.0f;
        std::uint32_t before = kNone;
        for (std::uint32_t k = 0; k < 6; ++k) {
            const auto link = [&](std::uint32_t to, Vec3 at, float turns) {
                const std::uint32_t body = add_body(def, shape, at);
                def.bodies[body].mask = 0;
                def.bodies[body].angular_velocity = second && wild ? Vec3{0.0f, 0.0f, turns} : Vec3{0.1f, 0.2f, 0.3f};
                for (const float z : {-0.15f, 0.15f}) {
                    if (z > 0.0f && kind != RigKind::bridge) break;
                    const float side = 0.1f * z;  // so that the pairs are somewhat skew
                    const Vec3 from = to == kNone ? Vec3{0.0f, y + side, z} : Vec3{0.1f, side, z};
                    add_joint(def, to, body, BallSocket{from, {-0.1f, side, z}, {}});
                }
                return body;
            };
            const std::uint32_t body =
                link(before, {0.2f * static_cast<float>(k) + 0.1f, y, 0.0f}, k % 2 == 0 ? -30.0f : 30.0f);
            if (kind == RigKind::tree && k > 0) link(before, {0.2f * static_cast<float>(k) + 0.1f, y, 0.2f}, 25.0f);
            before = body;
        }
    }
    return def;
}

}  // namespace

TEST_CASE("a rig's bits are its own whatever is refined in the lane beside it") {
    for (const RigKind kind : {RigKind::beads, RigKind::boxes, RigKind::tree, RigKind::bridge}) {
        CAPTURE(static_cast<int>(kind));
        const WorldDef def = two_rigs(kind, true);
        auto calm = make_world(two_rigs(kind, false)), beside = make_world(def),
             scalar = make_world(def, Target::scalar);
        const auto bodies = static_cast<std::uint32_t>(def.bodies.size());
        for (int tick = 0; tick < 100; ++tick) {
            for (World* world : {calm.get(), beside.get(), scalar.get()}) world->step();
            for (std::uint32_t body = 0; body < bodies / 2; ++body) {
                const BodyState a = state_of(*calm, body), b = state_of(*beside, body);
                REQUIRE(std::memcmp(&a.pose, &b.pose, sizeof a.pose) == 0);
                REQUIRE(std::memcmp(&a.angular_velocity, &b.angular_velocity, sizeof a.angular_velocity) == 0);
            }
            REQUIRE(beside->hash().root == scalar->hash().root);
        }
        CHECK(largest_separation(*beside) < 0.002);
    }
}

// A spring's stiffness is along and across its bodies' arms; what follows these within a substep pumps energy from one
// to the other.
TEST_CASE("chains and trees of soft springs gain no energy") {
    struct Sprung {
        float frequency_hz, damping_ratio, end_kg;
        std::uint32_t substeps;
        bool forked;
    };
    for (const Sprung& sprung : {Sprung{2.0f, 0.1f, 100.0f, 4, false}, Sprung{10.0f, 0.5f, 100.0f, 4, false},
                                 Sprung{5.0f, 0.3f, 30.0f, 2, false}, Sprung{8.0f, 0.3f, 10.0f, 4, true}}) {
        CAPTURE(sprung.frequency_hz);
        CAPTURE(sprung.forked);
        WorldDef def = rope_world(sprung.substeps);
        Rope rope = add_rope(def, 12, {}, 0);
        def.bodies[rope.bodies.back()].mass_kg = sprung.end_kg;
        if (sprung.forked) {
            const std::uint32_t twig = add_body(def, 0, {3.5f * kGap, 0.0f, kGap});
            def.bodies[twig].mask = 0;
            add_joint(def, rope.bodies[3], twig, BallSocket{{0.0f, 0.0f, kGap / 2}, {0.0f, 0.0f, -kGap / 2}, {}});
        }
        for (JointDef& joint : def.joints)
            std::get_if<BallSocket>(&joint.constraint)->spring = {sprung.frequency_hz, sprung.damping_ratio};
        auto world = make_world(def);
        double gained = -1.0e30;
        for (int tick = 0; tick < 600; ++tick) {
            world->step();
            REQUIRE(std::ranges::none_of(world->events(), [](const Event& event) {
                return event.kind == EventKind::quarantined || event.kind == EventKind::speed_limited;
            }));
            double energy = 0.0;
            for (std::uint32_t body = 0; body < def.bodies.size(); ++body) {
                const BodyState b = state_of(*world, body);
                const double mass = 1.0 / static_cast<double>(b.inverse_mass);
                energy += mass * (0.5 * std::pow(size(d(b.linear_velocity)), 2) +
                                  0.2 * kRadius * kRadius * std::pow(size(d(b.angular_velocity)), 2) +
                                  10.0 * static_cast<double>(b.pose.position.y));
            }
            gained = std::max(gained, energy);
        }
        CHECK(gained < 0.0);  // from level
    }
}
