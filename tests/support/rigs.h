// Points in double precision, how far a world's joints are apart, and ropes of beads.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

#include "sim/rigs/rigs.h"
#include "tests/support/worlds.h"

namespace orrery::test {

using D3 = std::array<double, 3>;

inline D3 d(sim::Vec3 v) { return {v.x, v.y, v.z}; }
inline D3 plus(const D3& a, const D3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline D3 minus(const D3& a, const D3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline D3 times(const D3& a, double s) { return {a[0] * s, a[1] * s, a[2] * s}; }
inline D3 crossed(const D3& a, const D3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double along(const D3& a, const D3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline double size(const D3& a) { return std::hypot(a[0], a[1], a[2]); }

using M3 = std::array<D3, 3>;  // rows

inline M3 outer(const D3& a, const D3& b) { return {times(b, a[0]), times(b, a[1]), times(b, a[2])}; }
inline M3 plus(const M3& a, const M3& b) { return {plus(a[0], b[0]), plus(a[1], b[1]), plus(a[2], b[2])}; }
inline M3 times(const M3& a, double s) { return {times(a[0], s), times(a[1], s), times(a[2], s)}; }
inline D3 times(const M3& a, const D3& b) { return {along(a[0], b), along(a[1], b), along(a[2], b)}; }
inline M3 transposed(const M3& a) {
    return {D3{a[0][0], a[1][0], a[2][0]}, D3{a[0][1], a[1][1], a[2][1]}, D3{a[0][2], a[1][2], a[2][2]}};
}
inline M3 inverted(const M3& a) {
    const D3 x = crossed(a[1], a[2]), y = crossed(a[2], a[0]), z = crossed(a[0], a[1]);
    return transposed({times(x, 1.0 / along(a[0], x)), times(y, 1.0 / along(a[0], x)), times(z, 1.0 / along(a[0], x))});
}

// The inverse inertia of a body that iterations hold by joints at these arms, far from its centre (rigs/graph/stars.h);
// none: its own.
inline std::optional<M3> star_of(const M3& inverse, double inverse_mass, const std::vector<D3>& arms) {
    M3 star{};
    double held = 0.0, much = 0.0;
    for (const D3& r : arms) {
        if (size(r) == 0.0) continue;
        held += 1.0;
        const double rr = along(r, r);
        star = plus(star, plus(M3{D3{rr, 0.0, 0.0}, D3{0.0, rr, 0.0}, D3{0.0, 0.0, rr}}, times(outer(r, r), -1.0)));
    }
    if (held == 0.0) return std::nullopt;
    star = times(star, 0.25 / (held * inverse_mass));
    for (std::size_t row = 0; row < 3; ++row) much += 0.5 * along(inverse[row], star[row]);
    if (much <= 1.0) return std::nullopt;
    return inverted(plus(inverted(inverse), times(star, 2.0 - 2.0 / much)));
}

struct D4 {
    double x = 0.0, y = 0.0, z = 0.0, w = 1.0;
};
inline D4 d(sim::Quat q) { return {q.x, q.y, q.z, q.w}; }
inline D4 back(const D4& q) { return {-q.x, -q.y, -q.z, q.w}; }
inline D3 turned(const D4& q, const D3& v) {
    const D3 u{q.x, q.y, q.z}, t = times(crossed(u, v), 2.0);
    return plus(plus(v, times(t, q.w)), crossed(u, t));
}

// How far a ball socket's points are apart, or a rod's from its length, m.
inline double separation(const sim::World& world, const sim::JointState& joint, const sim::RigLink& link) {
    const auto at = [&](sim::BodyId id, sim::Vec3 anchor) {
        if (!id.valid()) return d(anchor);
        const sim::Pose pose = world.body(id).pose;
        return plus(d(pose.position), turned(d(pose.orientation), d(anchor)));
    };
    return std::abs(size(minus(at(joint.a, link.anchor_a), at(joint.b, link.anchor_b))) -
                    static_cast<double>(link.length_m));
}
inline double largest_separation(const sim::World& world) {
    std::vector<sim::JointState> joints;
    world.read_joints(joints);
    double largest = 0.0;
    for (const sim::JointState& joint : joints) {
        if (const auto link = sim::rig_link(joint.constraint))
            largest = std::max(largest, separation(world, joint, *link));
    }
    return largest;
}

inline constexpr float kRadius = 0.1f, kGap = 0.25f;  // of beads and between them, m

// Beads along x from `origin`, the first held by `hook` (kNone: the world).
struct Rope {
    std::vector<std::uint32_t> bodies, joints;
};
inline Rope add_rope(sim::WorldDef& def, std::uint32_t links, sim::Vec3 origin, std::uint32_t shape,
                     std::uint32_t hook = sim::kNone, bool collides = false) {
    Rope rope;
    std::uint32_t before = hook;
    for (std::uint32_t k = 0; k < links; ++k) {
        const std::uint32_t bead =
            add_body(def, shape, {origin.x + (static_cast<float>(k) + 0.5f) * kGap, origin.y, origin.z});
        if (!collides) def.bodies[bead].mask = 0;
        sim::BallSocket ball;
        ball.anchor_a = k > 0 ? sim::Vec3{kGap / 2, 0.0f, 0.0f} : hook == sim::kNone ? origin : sim::Vec3{};
        ball.anchor_b = {-kGap / 2, 0.0f, 0.0f};
        rope.joints.push_back(add_joint(def, before, bead, ball));
        rope.bodies.push_back(bead);
        before = bead;
    }
    return rope;
}
inline sim::WorldDef rope_world(std::uint32_t substeps = 2) {
    sim::WorldDef def;
    def.substeps = substeps;
    def.solver.sleep = false;
    def.solver.rig_joints = 8;
    add_sphere_shape(def, kRadius);
    return def;
}

}  // namespace orrery::test
