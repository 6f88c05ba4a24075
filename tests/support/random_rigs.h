// Worlds of rigs of every kind, which a GPU and a CPU must move alike.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tests/support/worlds.h"

namespace orrery::test {

// Ropes of random lengths side by side: pinned, free, and held at both ends; some with springs, dampers, breaking
// joints and a body between two of them; some touch the floor, so that they are solved with the contacts.
inline sim::WorldDef ropes(std::uint64_t seed, std::uint32_t count, std::uint32_t longest) {
    Lcg random(static_cast<std::uint32_t>(seed));
    using namespace orrery::sim;
    const auto draw = [&random](std::uint32_t low, std::uint32_t high) {  // low to high, both included
        return low + static_cast<std::uint32_t>(random.unit() * static_cast<float>(high - low + 1));
    };
    WorldDef def;
    def.substeps = 1 + static_cast<std::uint32_t>(seed % 4);
    def.solver.rig_joints = 2;
    add_sphere_shape(def, 0.1f);
    for (std::uint32_t r = 0; r < count; ++r) {
        const std::uint32_t links = draw(2, longest);
        const float z = static_cast<float>(r);
        const bool special = draw(0, 3) == 0, low = draw(0, 9) == 0;
        std::uint32_t before = kNone;
        for (std::uint32_t k = 0; k < links; ++k) {
            const std::uint32_t bead = add_body(def, 0, {0.25f * static_cast<float>(k), low ? 0.2f : 100.0f, z});
            BodyDef& body = def.bodies[bead];
            if (!low) body.mask = 0;
            if (special) {
                body.gravity_scale = random.between(0.0f, 2.0f);
                body.linear_damping = random.between(0.0f, 1.0f);
                body.angular_damping = random.between(0.0f, 1.0f);
            }
            if (k > 0 || draw(0, 1) == 0) {
                BallSocket ball;
                ball.anchor_a = k > 0 ? Vec3{0.125f, 0.0f, 0.0f} : Vec3{-0.125f, low ? 0.2f : 100.0f, z};
                ball.anchor_b = {-0.125f, 0.0f, 0.0f};
                if (special && draw(0, 1) == 0) ball.spring = {random.between(1.0f, 10.0f), random.between(0.1f, 2.0f)};
                const bool turned = k > 0 && special && draw(0, 2) == 0;
                if (turned) std::swap(ball.anchor_a, ball.anchor_b);
                const std::uint32_t joint =
                    turned ? add_joint(def, bead, before, ball) : add_joint(def, before, bead, ball);
                if (special && draw(0, 5) == 0) def.joints[joint].break_force_n = random.between(20.0f, 400.0f);
            }
            before = bead;
        }
    }
    add_ground(def);
    return def;
}

// Trees with branches and spans, rings, nets and any graphs, of sockets, rods and springs; round members and others;
// free, or held by the world, by what stands and by two bodies that move and turn. Some break, some lie on the floor,
// some have a hinge besides.
inline sim::WorldDef trees_and_graphs(std::uint64_t seed, std::uint32_t count) {
    Lcg random(static_cast<std::uint32_t>(seed) * 77u + 5u);
    using namespace orrery::sim;
    const auto draw = [&random](std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(random.unit() * static_cast<float>(high - low + 1));
    };
    WorldDef def;
    def.substeps = 1 + static_cast<std::uint32_t>(seed % 4);
    def.solver.rig_joints = 2;
    def.solver.rig_iterations = draw(1, 12);
    def.solver.coupling_iterations = draw(1, 5);
    def.solver.rig_solver = draw(0, 4) == 0   ? RigSolver::block_jacobi
                            : draw(0, 3) == 0 ? RigSolver::jacobi
                                              : RigSolver::automatic;
    add_sphere_shape(def, 0.1f);
    add_box_shape(def, {0.1f, 0.05f, 0.15f});
    std::uint32_t holders[3];
    for (std::uint32_t k = 0; k < 3; ++k) {
        holders[k] = add_body(def, 0, {static_cast<float>(k), 101.0f, -1.0f});
        BodyDef& body = def.bodies[holders[k]];
        body.type = k == 0 ? BodyType::fixed : BodyType::kinematic;
        body.mask = 0;
        if (k > 0)
            body.linear_velocity = {0.5f, 0.1f * static_cast<float>(k), 0.0f},
            body.angular_velocity = {0.0f, 1.0f, 0.5f};
    }
    for (std::uint32_t r = 0; r < count; ++r) {
        const bool low = draw(0, 7) == 0, special = draw(0, 2) == 0, breaks = draw(0, 3) == 0, rods = draw(0, 3) == 0;
        const Vec3 origin{0.0f, low ? 0.15f : 100.0f, 1.5f * static_cast<float>(r)};
        const std::uint32_t kind = draw(0, 3), members = draw(3, 30), wide = draw(2, 6),
                            first = static_cast<std::uint32_t>(def.bodies.size());
        const auto place = [&](std::uint32_t k) {
            return Vec3{origin.x + 0.3f * static_cast<float>(k % wide), origin.y,
                        origin.z + 0.3f * static_cast<float>(k / wide)};
        };
        for (std::uint32_t k = 0; k < members; ++k) {
            BodyDef& body = def.bodies[add_body(def, draw(0, 3) == 0 ? 1 : 0, place(k))];
            if (!low) body.mask = 0;
            body.angular_velocity = {random.between(-2.0f, 2.0f), random.between(-2.0f, 2.0f),
                                     random.between(-2.0f, 2.0f)};
            if (!special) continue;
            body.gravity_scale = random.between(0.0f, 2.0f);
            body.linear_damping = random.between(0.0f, 1.0f);
            body.angular_damping = random.between(0.0f, 1.0f);
            if (draw(0, 9) == 0) body.locks = static_cast<std::uint8_t>(draw(0, 63));
        }
        const auto tie = [&](std::uint32_t a, std::uint32_t b, Vec3 at_a, Vec3 at_b, bool rod) {
            const Spring spring =
                special && draw(0, 3) == 0 ? Spring{random.between(1.0f, 20.0f), random.between(0.1f, 2.0f)} : Spring{};
            std::uint32_t joint = 0;
            if (rod)
                joint = add_joint(def, a, b, CenterDistance{0.3f, spring});
            else
                joint = add_joint(def, a, b, BallSocket{at_a, at_b, spring});
            if (breaks) def.joints[joint].break_force_n = random.between(20.0f, 2000.0f);
        };
        const auto join = [&](std::uint32_t a, std::uint32_t b) {
            const Vec3 pa = place(a), pb = place(b), half{(pb.x - pa.x) / 2, 0.0f, (pb.z - pa.z) / 2};
            const Vec3 back{-half.x, 0.0f, -half.z};
            if (draw(0, 5) == 0)
                tie(first + b, first + a, back, half, rods);
            else
                tie(first + a, first + b, half, back, rods);
        };
        for (std::uint32_t k = 1; k < members; ++k) {
            if (kind == 0) {  // a net
                if (k % wide != 0) join(k - 1, k);
                if (k >= wide) join(k - wide, k);
                continue;
            }
            const std::uint32_t parent = kind == 1 ? k - 1 : k - draw(1, std::min(k, 3u));  // a ring; a tree, a graph
            join(parent, k);
            if (kind == 2 && !rods && draw(0, 3) == 0) {  // a span
                tie(first + parent, first + k, {0.15f, 0.1f, 0.0f}, {-0.15f, 0.1f, 0.0f}, false);
                def.joints.back().break_force_n = def.joints[def.joints.size() - 2].break_force_n;
                std::get<BallSocket>(def.joints.back().constraint).spring =
                    std::get<BallSocket>(def.joints[def.joints.size() - 2].constraint).spring;
            }
            if (kind == 3 && draw(0, 2) == 0) join(draw(0, k - 1), k);
        }
        if (kind == 1) join(0, members - 1);
        for (std::uint32_t held = draw(0, 2); held > 0; --held) {
            const std::uint32_t by = draw(0, 3), k = draw(0, members - 1);
            tie(by == 3 ? kNone : holders[by], first + k, by == 3 ? place(k) : Vec3{0.0f, 0.1f, 0.1f},
                {0.0f, 0.1f, 0.0f}, false);
        }
        if (draw(0, 9) == 0) add_joint(def, first, first + members - 1, AngularHinge{});
    }
    add_ground(def);
    return def;
}

}  // namespace orrery::test
