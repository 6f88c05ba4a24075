// Guards: which joints are a rig's; that chains and trees are solved exactly, whichever way they go, and graphs as exactly as they
// iterate; that rigs carry, hang, break, sleep and wake; and that target, threads and a save/restore on the way change no bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "server/room/thread_pool.h"
#include "sim/jacobi/rigs.h"
#include "tests/support/bodies.h"
#include "tests/support/rigs.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr float kRadius = 0.1f, kGap = 0.25f;

// Beads along x from `origin`, the first held by `hook` (kNone: the world).
struct Rope {
    std::vector<std::uint32_t> bodies, joints;
};
Rope add_rope(WorldDef& def, std::uint32_t links, Vec3 origin, std::uint32_t shape, std::uint32_t hook = kNone, bool collides = false) {
    Rope rope;
    std::uint32_t before = hook;
    for (std::uint32_t k = 0; k < links; ++k) {
        const std::uint32_t bead = add_body(def, shape, {origin.x + (static_cast<float>(k) + 0.5f) * kGap, origin.y, origin.z});
        if (!collides) def.bodies[bead].mask = 0;
        BallSocket ball;
        ball.anchor_a = k > 0 ? Vec3{kGap / 2, 0.0f, 0.0f} : hook == kNone ? origin : Vec3{};
        ball.anchor_b = {-kGap / 2, 0.0f, 0.0f};
        rope.joints.push_back(add_joint(def, before, bead, ball));
        rope.bodies.push_back(bead);
        before = bead;
    }
    return rope;
}
WorldDef rope_world(std::uint32_t substeps = 2) {
    WorldDef def;
    def.substeps = substeps;
    def.solver.sleep = false;
    def.solver.rig_joints = 8;
    add_sphere_shape(def, kRadius);
    return def;
}

// ---- the dense solve

// x of a x = b, by elimination with the largest pivot.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k; i < n; ++i) pivot = std::abs(a[i][k]) > std::abs(a[pivot][k]) ? i : pivot;
        std::swap(a[k], a[pivot]);
        std::swap(b[k], b[pivot]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double f = a[i][k] / a[k][k];
            for (std::size_t j = k; j < n; ++j) a[i][j] -= f * a[k][j];
            b[i] -= f * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return b;
}

// Velocities after one substep of h of a world of round bodies, ball sockets and rods: (A + e D) x = -(J v + bias). A rod has one
// row of its three. `curvings`: how often what points leave their tangents by is taken at the velocities of the solve before, and
// solved for (rig-inl.h). `spans`: two ball sockets of the same two bodies are one (tree_span-inl.h).
std::vector<std::array<double, 6>> dense_step(const World& world, const WorldDef& def, double h, int curvings, bool spans = false) {
    std::vector<BodyState> bodies;
    std::vector<JointState> joints;
    world.read_bodies(bodies);
    world.read_joints(joints);
    const std::size_t n = bodies.size(), rows = 3 * joints.size();
    std::vector<std::array<double, 6>> v(n);
    std::vector<double> m(n), inertia(n);
    for (std::size_t i = 0; i < n; ++i) {
        const BodyState& body = bodies[i];
        m[i] = body.inverse_mass;
        const double r = def.shapes[body.shape].radius;
        inertia[i] = m[i] / (0.4 * r * r);
        const bool dynamic = body.type == BodyType::dynamic;
        const D3 linear = plus(d(body.linear_velocity), times(d(def.gravity), dynamic ? h : 0.0)), angular = d(body.angular_velocity);
        v[i] = {linear[0], linear[1], linear[2], angular[0], angular[1], angular[2]};
    }
    // Rows of J by body and what each moves: three linear, three angular.
    std::vector<std::vector<double>> jacobian(rows, std::vector<double>(6 * n)), a(rows, std::vector<double>(rows));
    std::vector<double> b(rows);
    for (std::size_t k = 0; k < joints.size(); ++k) {
        const RigLink ball = *rig_link(joints[k].constraint);
        D3 error{};
        for (const bool second : {false, true}) {
            const BodyId id = second ? joints[k].b : joints[k].a;
            const D3 local = d(second ? ball.anchor_b : ball.anchor_a);
            const double sign = second ? 1.0 : -1.0;
            D3 at = local;
            if (id.valid()) {
                const std::size_t i = id.index - 1;
                const D3 arm = turned(d(bodies[i].pose.orientation), local);
                at = plus(d(bodies[i].pose.position), arm);
                for (std::size_t c = 0; c < 3; ++c) {
                    std::array<double, 3> turn{};
                    turn[c] = 1.0;
                    const D3 speed = crossed(turn, arm);  // of the point, for a turn about axis c
                    jacobian[3 * k + c][6 * i + c] += sign;
                    for (std::size_t row = 0; row < 3; ++row) jacobian[3 * k + row][6 * i + 3 + c] += sign * speed[row];
                }
            }
            error = plus(error, times(at, sign));
        }
        const double f = ball.spring.frequency_hz, w = 2.0 * 3.14159265358979 * f, c = w * h + 2.0 * static_cast<double>(ball.spring.damping_ratio);
        const double rate = f > 0.0 ? w / c : 0.3 / h;
        for (std::size_t row = 0; row < 3; ++row) b[3 * k + row] = -error[row] * rate;
        if (!ball.rod) continue;
        const double apart = size(error);
        for (std::size_t column = 0; column < 6 * n; ++column) {
            auto &x = jacobian[3 * k][column], &y = jacobian[3 * k + 1][column], &z = jacobian[3 * k + 2][column];
            x = (error[0] * x + error[1] * y + error[2] * z) / apart;
            y = z = 0.0;
        }
        b[3 * k] = -(apart - static_cast<double>(ball.length_m)) * rate;
        b[3 * k + 1] = b[3 * k + 2] = 0.0;
    }
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t c = 0; c < 6; ++c) b[r] -= jacobian[r][6 * i + c] * v[i][c];
        }
        for (std::size_t s = 0; s < rows; ++s) {
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t c = 0; c < 6; ++c) a[r][s] += jacobian[r][6 * i + c] * (c < 3 ? m[i] : inertia[i]) * jacobian[s][6 * i + c];
            }
        }
    }
    for (std::size_t k = 0; k < joints.size(); ++k) {
        const RigLink link = *rig_link(joints[k].constraint);
        const Spring spring = link.spring;
        if (link.rod) a[3 * k + 1][3 * k + 1] = a[3 * k + 2][3 * k + 2] = 1.0;
        const double w = 2.0 * 3.14159265358979 * static_cast<double>(spring.frequency_hz);
        const double softness = spring.frequency_hz > 0.0f ? 1.0 / (w * h * (w * h + 2.0 * static_cast<double>(spring.damping_ratio))) : static_cast<double>(def.solver.rig_compliance);
        for (std::size_t r = 3 * k; r < 3 * k + 3; ++r) {
            for (std::size_t s = 3 * k; s < 3 * k + 3; ++s) a[r][s] *= 1.0 + softness;
        }
    }
    // Of two ball sockets of the same two bodies what they might have along the line through both: nothing. So stiff that it stays so.
    for (std::size_t k = 0; k < joints.size(); ++k) {
        for (std::size_t other = 0; other < k && spans; ++other) {
            if (!(joints[other].a == joints[k].a && joints[other].b == joints[k].b)) continue;
            D3 line{};
            for (const bool second : {false, true}) {
                const BodyId id = second ? joints[k].b : joints[k].a;
                const RigLink x = *rig_link(joints[other].constraint), y = *rig_link(joints[k].constraint);
                const D3 apart = minus(d(second ? x.anchor_b : x.anchor_a), d(second ? y.anchor_b : y.anchor_a));
                line = plus(line, id.valid() ? turned(d(bodies[id.index - 1].pose.orientation), apart) : apart);
            }
            line = times(line, 1.0 / size(line));
            for (std::size_t r = 0; r < 6; ++r) {
                for (std::size_t s = 0; s < 6; ++s) {
                    const std::size_t row = r < 3 ? 3 * other + r : 3 * k + r - 3, column = s < 3 ? 3 * other + s : 3 * k + s - 3;
                    a[row][column] += 1.0e6 * line[r % 3] * line[s % 3] * (r < 3 ? 1.0 : -1.0) * (s < 3 ? 1.0 : -1.0);
                }
            }
        }
    }
    auto solution = v;
    for (int pass = 0; pass < std::max(curvings, 1); ++pass) {
        std::vector<double> wanted = b;
        for (std::size_t k = 0; k < joints.size() && curvings > 0; ++k) {
            const RigLink ball = *rig_link(joints[k].constraint);
            for (const bool second : {false, true}) {
                const BodyId id = second ? joints[k].b : joints[k].a;
                if (!id.valid()) continue;
                const std::size_t i = id.index - 1;
                const D3 spin{solution[i][3], solution[i][4], solution[i][5]};
                const D3 arm = turned(d(bodies[i].pose.orientation), d(second ? ball.anchor_b : ball.anchor_a));
                const double most = std::max(0.5 - 32.0 * h * h * size(spin) * size(spin), 0.0);
                const D3 off = times(crossed(spin, crossed(spin, arm)), h * most * (second ? 1.0 : -1.0));
                for (std::size_t row = 0; row < 3; ++row) wanted[3 * k + row] -= off[row];
            }
        }
        const std::vector<double> impulse = solved(a, wanted);
        solution = v;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t c = 0; c < 6; ++c) {
                for (std::size_t r = 0; r < rows; ++r) solution[i][c] += (c < 3 ? m[i] : inertia[i]) * jacobian[r][6 * i + c] * impulse[r];
            }
        }
    }
    return solution;
}

struct Draws : Lcg {
    using Lcg::Lcg;
    int below(int count) { return static_cast<int>(unit() * static_cast<float>(count)); }
};

// A chain of spheres of many sizes that lie and move anyhow near their joints; its joints go either way, and some are springs.
WorldDef random_chain(Draws& random, std::uint32_t links) {
    WorldDef def;
    def.substeps = 1;
    def.solver.sleep = false;
    def.solver.rig_joints = 1;
    def.solver.joint_recovery_speed = kNoLimit;
    def.solver.rig_compliance = 2.0e-3f;
    const int start = random.below(3), end = random.below(3);  // free, the world, a kinematic body
    if (start != 0 && end != 0) links = std::max(links, 3u);  // one body held at two points has fewer freedoms than joints
    std::uint32_t before = kNone;
    Vec3 hold{random.between(-1.0f, 1.0f), 1.0f, random.between(-1.0f, 1.0f)}, anchor = hold;
    const auto add = [&](BodyType type) {
        const float radius = random.between(0.05f, 0.3f);
        const std::uint32_t body = add_body(def, add_sphere_shape(def, radius), hold);
        BodyDef& bead = def.bodies[body];
        bead.type = type;
        bead.mask = 0;
        bead.mass_kg = random.between(0.5f, 20.0f);
        bead.linear_velocity = {random.between(-2.0f, 2.0f), random.between(-2.0f, 2.0f), random.between(-2.0f, 2.0f)};
        bead.angular_velocity = {random.between(-3.0f, 3.0f), random.between(-3.0f, 3.0f), random.between(-3.0f, 3.0f)};
        bead.pose.orientation = exact_turn(random.between(-1.0f, 1.0f));
        return body;
    };
    if (start != 1) {
        before = add(start == 0 ? BodyType::dynamic : BodyType::kinematic);
        anchor = {random.between(0.05f, 0.2f), 0.02f, random.between(-0.1f, 0.1f)};
    }
    for (std::uint32_t k = 0; k < links; ++k) {
        const bool last = k + 1 == links;
        hold = {hold.x + 0.25f, hold.y + random.between(-0.05f, 0.05f), hold.z + random.between(-0.05f, 0.05f)};
        const bool to_world = last && end == 1 && before != kNone;
        const std::uint32_t next = to_world ? kNone : add(last && end == 2 && k > 0 ? BodyType::kinematic : BodyType::dynamic);
        BallSocket ball;
        ball.anchor_a = anchor;
        ball.anchor_b = to_world ? hold : Vec3{random.between(-0.2f, -0.05f), random.between(-0.1f, 0.1f), 0.03f};
        if (random.below(4) == 0) ball.spring = {random.between(2.0f, 20.0f), random.between(0.1f, 2.0f)};
        const bool flip = before != kNone && next != kNone && random.below(2) == 0;
        if (flip) std::swap(ball.anchor_a, ball.anchor_b);
        if (next == kNone) std::swap(ball.anchor_a, ball.anchor_b);
        add_joint(def, flip ? next : next == kNone ? kNone : before, flip ? before : next == kNone ? before : next, ball);
        anchor = {random.between(0.05f, 0.2f), random.between(-0.1f, 0.1f), random.between(-0.1f, 0.1f)};
        before = next;
    }
    return def;
}

// A bead on a random one of those before, and so on, the first on the world, on a kinematic body or on nothing; `loops` more joints
// anywhere, to the world too. `rods`: half of the joints are some. `spans`: half are two.
WorldDef random_rig(Draws& random, std::uint32_t beads, std::uint32_t loops, bool rods = false, bool spans = false) {
    WorldDef def;
    def.substeps = 1;
    def.solver.sleep = false;
    def.solver.rig_joints = 1;
    def.solver.joint_recovery_speed = kNoLimit;
    def.solver.rig_compliance = loops > 0 ? 0.02f : 2.0e-3f;
    const int start = random.below(3);
    const auto between = [&] { return random.between(-0.15f, 0.15f); };
    const auto offset = [&] {
        Vec3 v;
        v.x = between();
        v.y = between();
        v.z = between();
        return v;
    };
    const auto connect = [&](std::uint32_t a, std::uint32_t b) {
        BallSocket ball;
        ball.anchor_b = offset();
        ball.anchor_a = a == kNone ? def.bodies[b].pose.position : offset();
        if (random.below(4) == 0) {
            ball.spring.frequency_hz = random.between(2.0f, 20.0f);
            ball.spring.damping_ratio = random.between(0.1f, 2.0f);
        }
        if (random.below(2) == 0) {
            std::swap(a, b);
            std::swap(ball.anchor_a, ball.anchor_b);
        }
        const int kind = rods ? random.below(8) : 7;
        const float length = random.between(0.1f, 0.6f);
        if (kind == 0) add_joint(def, a, b, CenterDistance{length, ball.spring});
        else if (kind == 1) add_joint(def, a, b, DistanceServo{ball.anchor_a, ball.anchor_b, length, ball.spring, {}});
        else if (kind == 2) add_joint(def, a, b, DistanceLimit{ball.anchor_a, ball.anchor_b, length, length, ball.spring});
        else if (kind == 3) add_joint(def, a, b, CenterDistanceLimit{length, length, ball.spring});
        else add_joint(def, a, b, ball);
        if (!spans || random.below(2) == 0) return;
        const auto beside = [&](Vec3 v, float side) { return Vec3{v.x + random.between(-0.02f, 0.02f), v.y + random.between(-0.02f, 0.02f), v.z + side}; };
        const float side = random.between(0.05f, 0.5f);
        ball.anchor_a = beside(ball.anchor_a, side);
        ball.anchor_b = beside(ball.anchor_b, random.below(4) == 0 ? -0.5f * side : side);
        add_joint(def, a, b, ball);
    };
    const auto add = [&](BodyType type) {
        const float radius = random.between(0.1f, 0.3f);
        const Vec3 place = offset();
        const std::uint32_t body = add_body(def, add_sphere_shape(def, radius), place);
        BodyDef& bead = def.bodies[body];
        bead.type = type;
        bead.mask = 0;
        bead.mass_kg = random.between(0.5f, 20.0f);
        bead.linear_velocity = offset();
        bead.angular_velocity = offset();
        bead.pose.orientation = exact_turn(random.between(-1.0f, 1.0f));
        return body;
    };
    if (start == 1) add(BodyType::kinematic);
    for (std::uint32_t k = 0; k < beads; ++k) {
        const auto before = static_cast<int>(def.bodies.size());
        const std::uint32_t bead = add(BodyType::dynamic);
        const std::uint32_t parent = before == 0 ? kNone : static_cast<std::uint32_t>(random.below(std::min(before, 9)));
        if (parent != kNone || start == 2) connect(parent, bead);
    }
    if (start != 1 && loops == 0 && random.below(3) == 0) connect(kNone, static_cast<std::uint32_t>(def.bodies.size() - 1));
    for (std::uint32_t k = 0; k < loops; ++k) {
        const auto b = static_cast<std::uint32_t>(1 + random.below(static_cast<int>(def.bodies.size()) - 1));
        const auto a = static_cast<std::uint32_t>(random.below(static_cast<int>(b)));
        connect(random.below(4) == 0 ? kNone : a, def.bodies[b].type == BodyType::dynamic ? b : static_cast<std::uint32_t>(def.bodies.size() - 1));
    }
    return def;
}

// Whether no body of the rig that holds this one has more than two joints, and none two with another. A kinematic body ends a rig.
bool in_a_chain(const WorldDef& def, std::uint32_t body) {
    std::vector<std::uint32_t> rig{body};
    int most = 0;
    for (std::size_t k = 0; k < rig.size(); ++k) {
        int held = 0;
        std::vector<std::uint32_t> others;
        for (const JointDef& joint : def.joints) {
            if (joint.body_a != rig[k] && joint.body_b != rig[k]) continue;
            ++held;
            const std::uint32_t other = joint.body_a == rig[k] ? joint.body_b : joint.body_a;
            if (std::ranges::find(others, other) != others.end()) return false;  // a span
            others.push_back(other);
            if (other == kNone || def.bodies[other].type != BodyType::dynamic) continue;
            if (std::ranges::find(rig, other) == rig.end()) rig.push_back(other);
        }
        most = std::max(most, held);
    }
    return most <= 2;
}

// What the solve pass said is seen in how far the bodies went; the relax pass came after. `curvings`: dense_step's, by body: chains by
// themselves are solved once a substep, other rigs twice.
template <class Curvings>
void check_moves_as_dense(const WorldDef& def, double tolerance, const Curvings& curvings, bool spans = false) {
    for (const Target target : {Target::scalar, Target::automatic}) {
        auto world = make_world(def, target);
        std::vector<std::array<double, 6>> expected[3];
        for (int k = 0; k < 3; ++k) expected[k] = dense_step(*world, world->definition(), 1.0 / 60.0, k, spans);
        std::vector<BodyState> before;
        world->read_bodies(before);
        world->step();
        for (std::uint32_t i = 0; i < def.bodies.size(); ++i) {
            const std::array<double, 6>& v = expected[curvings(i)][i];
            const D3 moved = minus(d(state_of(*world, i).pose.position), d(before[i].pose.position));
            const double speed = 1.0 + std::hypot(v[0], v[1], v[2]);
            CHECK(size(minus(times(moved, 60.0), {v[0], v[1], v[2]})) < tolerance * speed);
        }
    }
}

}  // namespace

TEST_CASE("a tree is solved as a dense solve in double precision solves it") {
    Draws random(static_cast<std::uint32_t>(seeded(43)));
    for (int round = 0; round < sampled(40); ++round) {
        CAPTURE(round);
        const WorldDef def = random_rig(random, 4 + static_cast<std::uint32_t>(random.below(30)), 0);
        check_moves_as_dense(def, 1e-3, [&](std::uint32_t body) { return in_a_chain(def, body) ? 1 : 2; });
    }
}

TEST_CASE("a tree whose edges are ball sockets or pairs of them is solved as a dense solve in double precision solves it") {
    Draws random(static_cast<std::uint32_t>(seeded(46)));
    int spans = 0;
    for (int round = 0; round < sampled(40); ++round) {
        CAPTURE(round);
        const WorldDef def = random_rig(random, 4 + static_cast<std::uint32_t>(random.below(30)), 0, false, true);
        auto world = make_world(def);
        world->step();
        spans += static_cast<int>(def.joints.size() - def.bodies.size());
        CHECK(world->stats().solved_constraints == 0);  // all are a rig's
        check_moves_as_dense(def, 1e-3, [&](std::uint32_t body) { return in_a_chain(def, body) ? 1 : 2; }, true);
    }
    CHECK(spans > 0);
}

TEST_CASE("iterations over all joints at once come to what a dense solve says, whatever the loops") {
    Draws random(static_cast<std::uint32_t>(seeded(44)));
    for (int round = 0; round < sampled(20); ++round) {
        CAPTURE(round);
        WorldDef def = random_rig(random, 4 + static_cast<std::uint32_t>(random.below(30)), 1 + static_cast<std::uint32_t>(random.below(8)));
        def.solver.rig_solver = RigSolver::jacobi;
        def.solver.rig_iterations = kMaxRigIterations;
        check_moves_as_dense(def, 2e-3, [](std::uint32_t) { return 0; });
    }
}

TEST_CASE("rods among ball sockets come to what a dense solve says") {
    Draws random(static_cast<std::uint32_t>(seeded(45)));
    for (int round = 0; round < sampled(20); ++round) {
        CAPTURE(round);
        WorldDef def = random_rig(random, 4 + static_cast<std::uint32_t>(random.below(30)), 1 + static_cast<std::uint32_t>(random.below(8)), true);
        def.solver.rig_solver = RigSolver::jacobi;
        def.solver.rig_iterations = kMaxRigIterations;
        check_moves_as_dense(def, 2e-3, [](std::uint32_t) { return 0; });
    }
}

TEST_CASE("a chain by itself is solved as a dense solve in double precision solves it") {
    Draws random(static_cast<std::uint32_t>(seeded(41)));
    for (int round = 0; round < sampled(40); ++round) {
        CAPTURE(round);
        const WorldDef def = random_chain(random, 1 + static_cast<std::uint32_t>(random.below(24)));
        for (const Target target : {Target::scalar, Target::automatic}) {
            auto world = make_world(def, target);
            const auto expected = dense_step(*world, world->definition(), 1.0 / 60.0, 1);
            world->step();
            // Of the fastest: a body's impulses are those of all.
            double speed = 1.0, spin = 1.0;
            for (const auto& v : expected) {
                speed = std::max(speed, 1.0 + std::hypot(v[0], v[1], v[2]));
                spin = std::max(spin, 1.0 + std::hypot(v[3], v[4], v[5]));
            }
            for (std::uint32_t i = 0; i < def.bodies.size(); ++i) {
                const BodyState body = state_of(*world, i);
                CHECK(size(minus(d(body.linear_velocity), {expected[i][0], expected[i][1], expected[i][2]})) < 5e-4 * speed);
                CHECK(size(minus(d(body.angular_velocity), {expected[i][3], expected[i][4], expected[i][5]})) < 2e-4 * spin);
            }
        }
    }
}

TEST_CASE("a chain that shares the passes of the coloured solver moves as the dense solve says") {
    Draws random(static_cast<std::uint32_t>(seeded(42)));
    for (int round = 0; round < sampled(40); ++round) {
        CAPTURE(round);
        WorldDef def = random_chain(random, 2 + static_cast<std::uint32_t>(random.below(24)));
        auto alone = make_world(def);
        const auto expected = dense_step(*alone, alone->definition(), 1.0 / 60.0, 2);
        DistanceLimit slack;  // is never at its end
        slack.max_m = 1000.0f;
        slack.min_m = 0.0f;
        const auto dynamic = std::find_if(def.bodies.begin(), def.bodies.end(), [](const BodyDef& body) { return body.type == BodyType::dynamic; });
        add_joint(def, kNone, static_cast<std::uint32_t>(dynamic - def.bodies.begin()), slack);
        auto world = make_world(def);
        world->step();
        for (std::uint32_t i = 0; i < def.bodies.size(); ++i) {
            // What the solve pass said is seen in how far the body went; the relax pass came after.
            const D3 moved = minus(d(state_of(*world, i).pose.position), d(state_of(*alone, i).pose.position));
            const double speed = 1.0 + std::hypot(expected[i][0], expected[i][1], expected[i][2]);
            CHECK(size(minus(times(moved, 60.0), {expected[i][0], expected[i][1], expected[i][2]})) < 5e-4 * speed);
        }
    }
}

TEST_CASE("rigs are what the scene names or what is large enough, and how each is solved depends on its joints") {
    WorldDef def = rope_world();
    add_rope(def, 10, {0.0f, 0.0f, 0.0f}, 0);
    const Rope small = add_rope(def, 4, {0.0f, 0.0f, 1.0f}, 0);
    const Rope forked = add_rope(def, 12, {0.0f, 0.0f, 2.0f}, 0);
    const std::uint32_t twig = add_body(def, 0, {1.0f, 1.0f, 2.0f});
    BallSocket ball;
    add_joint(def, forked.bodies[5], twig, ball);
    const auto rigs_of = [](const WorldDef& scene) {
        Bodies bodies = test::make_bodies();
        std::vector<Joint> joints;
        for (const BodyDef& body : scene.bodies) add_body(bodies, test::sphere_spec(body.pose.position, kRadius));
        for (const JointDef& joint : scene.joints)
            joints.push_back(test::make_joint(joint.body_a + 1, joint.body_b + 1, joint.constraint));
        Rigs rigs;
        find_rigs({scene.rigs, scene.solver}, bodies, joints, rigs);
        return rigs;
    };
    CHECK(rigs_of(def).rigs.size() == 2);
    CHECK(rigs_of(def).coloured.size() == 4);
    const Rig tree = rigs_of(def).rigs[1];
    CHECK(tree.kind == RigClass::tree);
    CHECK(tree.method == RigMethod::exact);
    CHECK(tree.members == 14);  // the world, twelve beads and the twig
    def.rigs.push_back({"small", {small.bodies[2]}, RigSolver::automatic, 0.01f});
    const Rigs named = rigs_of(def);
    REQUIRE(named.rigs.size() == 3);
    CHECK(named.rigs[1].links == 4);
    CHECK(named.rigs[1].compliance == 0.01f);
    CHECK(named.joints[named.rigs[1].first] == small.joints[0]);  // from the end with the lowest joint
    def.rigs[0].solver = RigSolver::coloured;
    CHECK(rigs_of(def).rigs.size() == 2);
    def.solver.rig_joints = 0;
    CHECK(rigs_of(def).rigs.empty());
    def.solver.rig_joints = 8;
    add_joint(def, 0, 9, ball);  // a ring
    Rigs loopy = rigs_of(def);
    CHECK(loopy.rigs[0].kind == RigClass::loopy);
    CHECK(loopy.rigs[0].method == RigMethod::jacobi);
    CHECK(loopy.rigs[0].members == 10);
    CHECK(loopy.rigs[0].links == 11);
    def.solver.rig_solver = RigSolver::direct;
    CHECK(rigs_of(def).rigs.size() == 1);  // the tree; the ring is the coloured solver's
    def.solver.rig_solver = RigSolver::jacobi;
    CHECK(rigs_of(def).rigs.size() == 2);
    CHECK(rigs_of(def).rigs[1].method == RigMethod::jacobi);
    def.solver.rig_solver = RigSolver::automatic;
    def.joints.back().constraint = CenterDistance{};  // what was the ring is a chain with a rod, which keeps it no chain
    const Rigs with_rod = rigs_of(def);
    CHECK(with_rod.rigs[0].kind == RigClass::chain);
    CHECK(with_rod.rigs[0].links == 10);
    CHECK(with_rod.rigs[0].always_coupled);
    CHECK(with_rod.coloured.back() + 1 == def.joints.size());
    def.solver.rig_solver = RigSolver::jacobi;
    loopy = rigs_of(def);
    CHECK(loopy.rigs[0].method == RigMethod::jacobi);
    CHECK(loopy.rigs[0].links == 11);
    def.solver.rig_solver = RigSolver::automatic;
    add_joint(def, 0, 2, ball);  // a loop of sockets: now the rod is part of it
    loopy = rigs_of(def);
    CHECK(loopy.rigs[0].method == RigMethod::jacobi);
    CHECK(loopy.rigs[0].links == 12);
    def.joints.pop_back();
    for (const Constraint& rod : {Constraint(DistanceServo{}), Constraint(DistanceLimit{{}, {}, 1.0f, 1.0f, {}}), Constraint(CenterDistanceLimit{1.0f, 1.0f, {}})})
        CHECK(rig_link(rod).has_value());
    for (const Constraint& other : {Constraint(DistanceServo{{}, {}, 1.0f, {}, {2.0f, 0.0f, kNoLimit}}), Constraint(DistanceLimit{{}, {}, 0.5f, 1.0f, {}}),
                                    Constraint(CenterDistanceLimit{0.0f, 0.0f, {}}), Constraint(CenterDistance{0.0f, {}}), Constraint(Weld{})})
        CHECK(!rig_link(other).has_value());
    def.joints.back().constraint = Weld{};
    CHECK(rigs_of(def).rigs[0].kind == RigClass::chain);
    def.joints.back().constraint = ball;

    WorldDef hub = rope_world();
    add_body(hub, 0, {});
    for (std::uint32_t k = 0; k < kMaxGraphSides; ++k) add_joint(hub, 0, add_body(hub, 0, {1.0f, 0.0f, 0.0f}), ball);
    CHECK(rigs_of(hub).rigs[0].method == RigMethod::exact);
    add_joint(hub, 1, 2, ball);  // a loop
    CHECK(rigs_of(hub).rigs[0].method == RigMethod::jacobi);
    add_joint(hub, 0, add_body(hub, 0, {1.0f, 0.0f, 0.0f}), ball);  // more sides than a graph may have
    const Rigs refused = rigs_of(hub);
    CHECK(refused.rigs.empty());
    CHECK(refused.coloured.size() == hub.joints.size());
    CHECK(refused.bodies.empty());
    CHECK(std::all_of(refused.rig_of_body.begin(), refused.rig_of_body.end(), [](std::uint32_t rig) { return rig == kNone; }));

    WorldDef star = rope_world();
    add_body(star, 0, {});
    for (std::uint32_t k = 0; k + 1 < kMaxTreeSlots; ++k) add_joint(star, 0, add_body(star, 0, {1.0f, 0.0f, 0.0f}), ball);
    CHECK(rigs_of(star).rigs.size() == 1);
    add_joint(star, 0, add_body(star, 0, {1.0f, 0.0f, 0.0f}), ball);  // more bodies than bundles of trees may have slots
    CHECK(rigs_of(star).rigs.empty());
    CHECK(rigs_of(star).coloured.size() == star.joints.size());
}

TEST_CASE("two ball sockets of the same two bodies are one edge of a tree, if they are alike and hold points apart") {
    // Planks along x, each held on the one before at both sides, and both ends on the world.
    const auto bridge = [](std::uint32_t planks) {
        WorldDef def = rope_world(4);
        const auto box = add_box_shape(def, {0.22f, 0.05f, 0.6f});
        for (std::uint32_t k = 0; k <= planks; ++k) {
            const float x = 0.5f * static_cast<float>(k);
            if (k < planks) def.bodies[add_body(def, box, {x + 0.25f, 0.0f, 0.0f})].mask = 0;
            for (const float side : {-0.5f, 0.5f}) {
                const Vec3 here{x, 0.0f, side}, after{0.25f, 0.0f, side}, before{-0.25f, 0.0f, side};
                if (k == 0) add_joint(def, kNone, 0, BallSocket{here, before, {}});
                else if (k == planks) add_joint(def, kNone, k - 1, BallSocket{here, after, {}});
                else add_joint(def, k - 1, k, BallSocket{after, before, {}});
            }
        }
        return def;
    };
    const auto rigs_of = [](const WorldDef& scene) {
        Bodies bodies = test::make_bodies();
        std::vector<Joint> joints;
        for (const BodyDef& body : scene.bodies) add_body(bodies, test::sphere_spec(body.pose.position, kRadius));
        for (const JointDef& joint : scene.joints) joints.push_back(test::make_joint(joint.body_a + 1, joint.body_b + 1, joint.constraint));
        Rigs rigs;
        find_rigs({scene.rigs, scene.solver}, bodies, joints, rigs);
        return rigs;
    };
    WorldDef def = bridge(16);
    const Rigs whole = rigs_of(def);
    REQUIRE(whole.rigs.size() == 1);
    CHECK(whole.rigs[0].kind == RigClass::tree);
    CHECK(whole.rigs[0].method == RigMethod::exact);
    CHECK(whole.rigs[0].links == 17);
    CHECK(whole.rigs[0].members == 18);  // the world at either end
    CHECK(whole.rigs[0].compliance == kHeldCompliance);
    CHECK(whole.joints.size() == 34);
    CHECK(whole.coloured.empty());
    CHECK(std::ranges::count(whole.seconds, kNone) == 1);  // of the root
    for (std::size_t k = 1; k < whole.bodies.size(); ++k) CHECK(whole.seconds[k] == whole.joints[k - 1] + 1);

    BallSocket& fifth = std::get<BallSocket>(def.joints[5].constraint);
    const BallSocket as_it_was = fifth;
    fifth.spring = {3.0f, 1.0f};  // unlike its neighbour
    CHECK(rigs_of(def).rigs[0].kind == RigClass::loopy);
    fifth = std::get<BallSocket>(def.joints[4].constraint);  // the same point twice
    CHECK(rigs_of(def).rigs[0].kind == RigClass::loopy);
    fifth = as_it_was;
    add_joint(def, 4, 5, BallSocket{{0.25f, 0.0f, 0.0f}, {-0.25f, 0.0f, 0.0f}, {}});  // three
    CHECK(rigs_of(def).rigs[0].kind == RigClass::loopy);
    def.joints.back().body_a = 2;  // a loop
    CHECK(rigs_of(def).rigs[0].kind == RigClass::loopy);
    def.joints.back().constraint = CenterDistance{};  // a rod, which is left out
    CHECK(rigs_of(def).rigs[0].kind == RigClass::tree);
    CHECK(rigs_of(def).coloured.size() == 1);
    def.joints.pop_back();
    add_joint(def, kNone, 15, BallSocket{{8.0f, 0.0f, 0.0f}, {0.25f, 0.0f, 0.0f}, {}});  // three, but on the world
    const Rigs thrice = rigs_of(def);
    CHECK(thrice.rigs[0].kind == RigClass::tree);
    CHECK(thrice.rigs[0].links == 19);
    CHECK(std::ranges::count(thrice.seconds, kNone) == 4);
    def.joints.pop_back();
    def.solver.rig_solver = RigSolver::jacobi;
    CHECK(rigs_of(def).rigs[0].method == RigMethod::jacobi);
    def.solver.rig_solver = RigSolver::automatic;

    // It sags by what its softness gives, stays whole, and with one side of a span cut hangs by the other.
    auto world = make_world(def);
    run(*world, 600);
    CHECK(largest_separation(*world) < 0.0006);
    CHECK(std::abs(state_of(*world, 8).pose.position.z) < 1e-4f);
    def.joints[16].break_force_n = 1.0f;
    auto cut = make_world(def);
    int broken = 0;
    for (int tick = 0; tick < 600; ++tick) {
        cut->step();
        broken += count_events(*cut, EventKind::joint_broken);
    }
    CHECK(broken == 1);
    CHECK(cut->stats().rigs == 1);
    CHECK(cut->stats().solved_constraints == 0);
    CHECK(largest_separation(*cut) < 0.002);
}

TEST_CASE("a rig's definition that makes no sense is an error that names it") {
    WorldDef def = rope_world();
    add_rope(def, 10, {}, 0);
    def.rigs.push_back({"rope", {99}, RigSolver::automatic, 0.0f});
    const auto place_of = [&] {
        auto world = World::create(def);
        REQUIRE_FALSE(world.ok());
        return world.error().place;
    };
    CHECK(place_of() == "rigs[0].bodies");
    def.rigs[0].bodies = {};
    CHECK(place_of() == "rigs[0].bodies");
    def.bodies[3].type = BodyType::fixed;
    def.rigs[0].bodies = {3};
    CHECK(place_of() == "rigs[0].bodies");
    def.rigs[0].bodies = {4};
    def.rigs[0].iterations = kMaxRigIterations + 1;
    CHECK(place_of() == "rigs[0].iterations");
    def.rigs.clear();
    def.solver.coupling_iterations = 0;
    CHECK(place_of() == "solver.coupling_iterations");
    def.solver.coupling_iterations = 1;
    def.solver.rig_iterations = 0;
    CHECK(place_of() == "solver.rig_iterations");
}

TEST_CASE("a swinging chain of 40 keeps its joints within 4 mm at two substeps and gains no energy") {
    WorldDef def = rope_world();
    const Rope rope = add_rope(def, 40, {}, 0);
    auto world = make_world(def);
    const auto energy = [&] {
        double sum = 0.0;
        for (const std::uint32_t bead : rope.bodies) {
            const BodyState b = state_of(*world, bead);
            sum += 0.5 * std::pow(size(d(b.linear_velocity)), 2) + 0.2 * 0.01 * std::pow(size(d(b.angular_velocity)), 2) + 10.0 * static_cast<double>(b.pose.position.y);
        }
        return sum;
    };
    const double start = energy();
    double released = 0.0;
    for (const std::uint32_t bead : rope.bodies) released += 10.0 * static_cast<double>(def.bodies[bead].pose.position.x);
    for (int tick = 1; tick <= 300; ++tick) {
        world->step();
        CHECK(energy() <= start + 0.01 * released);
        if (tick == 60 || tick == 120 || tick == 300) CHECK(largest_separation(*world) < 0.004);
        CHECK(largest_separation(*world) < 0.3);  // as the end whips round
    }
}

TEST_CASE("a chain with an end a hundred times heavier keeps its joints within 1 mm on average, 60 Hz and two substeps") {
    WorldDef def = rope_world();
    const Rope rope = add_rope(def, 40, {}, 0);
    for (const std::uint32_t bead : rope.bodies) def.bodies[bead].mass_kg = bead == rope.bodies.back() ? 100.0f : 1.0f;
    auto world = make_world(def);
    double sum = 0.0, peak = 0.0;
    for (int tick = 0; tick < 300; ++tick) {
        world->step();
        const double apart = largest_separation(*world);
        sum += apart;
        peak = std::max(peak, apart);
    }
    MESSAGE("mean of the largest separation " << sum / 300 * 1e3 << " mm, peak " << peak * 1e3 << " mm");
    CHECK(sum / 300 < 0.001);
}

TEST_CASE("a rope of 4,000 links stays whole") {
    WorldDef def = rope_world();
    const Rope rope = add_rope(def, 4000, {-500.0f, 0.0f, 0.0f}, 0);
    auto world = make_world(def);
    for (int tick = 0; tick < sampled(60); ++tick) {
        world->step();
        CHECK(count_events(*world, EventKind::quarantined, EventCause::not_finite) == 0);
    }
    CHECK(largest_separation(*world) < 0.05);
    CHECK(std::isfinite(state_of(*world, rope.bodies.back()).pose.position.y));
}

TEST_CASE("a chain that leaves the world in the middle of a tick stays where the tick found it") {
    WorldDef def = rope_world();
    const Rope rope = add_rope(def, 12, {kMaxCoordinate_m - 4.0f, 0.0f, 0.0f}, 0);
    def.joints.erase(def.joints.begin());  // nothing holds it
    for (const std::uint32_t bead : rope.bodies) def.bodies[bead].linear_velocity = {30.0f, 0.0f, 0.0f};
    add_rope(def, 12, {}, 0);
    for (const Target target : available_targets()) {
        auto world = make_world(def, target);
        std::vector<Pose> before;
        std::size_t lost = 0;
        for (int tick = 0; tick < 10 && lost == 0; ++tick) {
            before.clear();
            for (const std::uint32_t bead : rope.bodies) before.push_back(state_of(*world, bead).pose);
            world->step();
            lost = count_events(*world, EventKind::quarantined, EventCause::too_far);
        }
        CHECK(lost > 0);
        std::size_t held = 0;
        for (std::size_t k = 0; k < before.size(); ++k) {
            const Vec3 now = state_of(*world, rope.bodies[k]).pose.position;
            held += size(minus(d(now), d(before[k].position))) == 0.0;
        }
        CHECK(held == lost);
    }
}

TEST_CASE("a bridge held at both ends, straight and so over-constrained when it is made, sags and stays whole") {
    WorldDef def = rope_world(4);
    const Rope rope = add_rope(def, 30, {}, 0);
    BallSocket ball;
    ball.anchor_a = {30 * kGap - 0.1f, 0.0f, 0.0f};  // not quite where it ends
    ball.anchor_b = {kGap / 2, 0.0f, 0.0f};
    add_joint(def, kNone, rope.bodies.back(), ball);
    auto world = make_world(def);
    run(*world, 600);
    CHECK(largest_separation(*world) < 0.002);
    CHECK(size(d(state_of(*world, rope.bodies[15]).linear_velocity)) < 2.0);
    CHECK(state_of(*world, rope.bodies[15]).pose.position.y < -0.3f);

    std::get<BallSocket>(def.joints.back().constraint).anchor_a.x = 30 * kGap + 0.01f;  // taut, and too long by 1 cm
    auto taut = make_world(def);
    run(*taut, 300);
    CHECK(std::abs(state_of(*taut, rope.bodies[15]).pose.position.y) < 0.5f);
    CHECK(largest_separation(*taut) < 0.02);
}

TEST_CASE("a rope carries a crate that lies on the ground, and both come to rest") {
    WorldDef def = rope_world(4);
    def.solver.sleep = true;
    add_ground(def);
    const Rope rope = add_rope(def, 12, {0.0f, 2.4f, 0.0f}, 0, kNone, true);
    const auto box = add_box_shape(def, {0.4f, 0.4f, 0.4f});
    const auto crate = add_body(def, box, {3.3f, 0.41f, 0.0f});
    BallSocket ball;
    ball.anchor_a = {kGap / 2, 0.0f, 0.0f};
    ball.anchor_b = {-0.3f, 1.99f, 0.0f};  // a long eye: the crate may turn below it
    add_joint(def, rope.bodies.back(), crate, ball);
    auto world = make_world(def);
    float lowest = 1.0f;
    for (int tick = 0; tick < 600; ++tick) {
        world->step();
        lowest = std::min(lowest, state_of(*world, crate).pose.position.y);
    }
    CHECK(lowest > 0.36f);                       // it never sinks into the ground
    CHECK(largest_separation(*world) < 0.002);
    MESSAGE("residual speed " << size(d(state_of(*world, crate).linear_velocity)) << " m/s");
    CHECK(size(d(state_of(*world, crate).linear_velocity)) < 0.05);
}

TEST_CASE("a star of 32 and a tree keep their joints, and no energy comes from nowhere") {
    for (const bool star : {true, false}) {
        CAPTURE(star);
        WorldDef def = rope_world(4);
        const std::uint32_t branches = star ? 32 : 3, total = star ? 33 : 40;
        for (std::uint32_t k = 0; k < total; ++k) {
            const std::uint32_t parent = k == 0 ? kNone : (k - 1) / branches;
            const Vec3 from = k == 0 ? Vec3{} : def.bodies[parent].pose.position;
            const float turn = k == 0 ? 0.0f : static_cast<float>((k - 1) % branches) / static_cast<float>(branches);
            const Vec3 way{kGap * (turn - 0.5f), -kGap * 0.8f, kGap * 0.2f};
            const auto bead = add_body(def, 0, {from.x + way.x, from.y + way.y, from.z + way.z});
            def.bodies[bead].mask = 0;
            BallSocket ball;
            ball.anchor_a = k == 0 ? Vec3{} : Vec3{way.x / 2, way.y / 2, way.z / 2};
            ball.anchor_b = k == 0 ? Vec3{-way.x, -way.y, -way.z} : Vec3{-way.x / 2, -way.y / 2, -way.z / 2};
            add_joint(def, parent, bead, ball);
        }
        auto world = make_world(def);
        const auto energy = [&] {
            double sum = 0.0;
            for (std::uint32_t i = 0; i < total; ++i) {
                const BodyState b = state_of(*world, i);
                sum += 0.5 * std::pow(size(d(b.linear_velocity)), 2) + 0.2 * 0.01 * std::pow(size(d(b.angular_velocity)), 2) + 10.0 * static_cast<double>(b.pose.position.y);
            }
            return sum;
        };
        const double start = energy();
        double sum = 0.0;
        for (int tick = 0; tick < 600; ++tick) {
            world->step();
            sum += largest_separation(*world);
            CHECK(energy() < start + 0.02 * 10.0 * total);
        }
        CHECK(sum / 600 < 0.0007);
    }
}

TEST_CASE("a net that hangs by two corners comes to rest, carries a ball, and sleeps") {
    WorldDef def = rope_world(4);
    def.solver.sleep = true;
    constexpr std::uint32_t kSide = 8;
    const auto place = [](std::uint32_t column, std::uint32_t row) { return Vec3{kGap * static_cast<float>(column), 0.0f, kGap * static_cast<float>(row)}; };
    for (std::uint32_t row = 0; row < kSide; ++row) {
        for (std::uint32_t column = 0; column < kSide; ++column) {
            const auto bead = add_body(def, 0, place(column, row));
            def.bodies[bead].category = 2;
            def.bodies[bead].mask = 1;
            def.bodies[bead].linear_damping = def.bodies[bead].angular_damping = 1.0f;
            BallSocket ball;
            if (column > 0) {
                ball.anchor_a = {kGap / 2, 0.0f, 0.0f}, ball.anchor_b = {-kGap / 2, 0.0f, 0.0f};
                add_joint(def, bead - 1, bead, ball);
            }
            if (row > 0) {
                ball.anchor_a = {0.0f, 0.0f, kGap / 2}, ball.anchor_b = {0.0f, 0.0f, -kGap / 2};
                add_joint(def, bead - kSide, bead, ball);
            }
            if ((row == 0 || row == kSide - 1) && (column == 0 || column == kSide - 1)) {
                ball.anchor_a = place(column, row), ball.anchor_b = {};
                add_joint(def, kNone, bead, ball);
            }
        }
    }
    const auto ball = add_body(def, add_sphere_shape(def, 0.3f), {0.875f, 0.6f, 0.875f});
    def.bodies[ball].mass_kg = 50.0f;
    auto world = make_world(def);
    run(*world, 1200);
    CHECK(largest_separation(*world) < 0.01);
    CHECK(state_of(*world, ball).pose.position.y > -1.0f);
    MESSAGE("residual speed " << size(d(state_of(*world, ball).linear_velocity)) << " m/s, joints apart " << largest_separation(*world) * 1e3 << " mm");
    CHECK(size(d(state_of(*world, ball).linear_velocity)) < 0.05);
}

TEST_CASE("a hanging rope sleeps, and wakes when it is pushed or when what it hangs on moves") {
    WorldDef def = rope_world(4);
    def.solver.sleep = true;
    const auto hook = add_body(def, 0, {});
    def.bodies[hook].type = BodyType::kinematic;
    def.bodies[hook].mask = 0;
    Rope rope;
    std::uint32_t before = hook;
    for (int k = 0; k < 10; ++k) {  // straight down
        const auto bead = add_body(def, 0, {0.0f, -kGap * (static_cast<float>(k) + 0.5f), 0.0f});
        def.bodies[bead].mask = 0;
        BallSocket ball;
        if (k > 0) ball.anchor_a = {0.0f, -kGap / 2, 0.0f};
        ball.anchor_b = {0.0f, kGap / 2, 0.0f};
        rope.joints.push_back(add_joint(def, before, bead, ball));
        rope.bodies.push_back(bead);
        before = bead;
    }
    auto world = make_world(def);
    run(*world, 60);
    for (const std::uint32_t bead : rope.bodies) CHECK(state_of(*world, bead).asleep);
    Command push = command(CommandKind::impulse);
    push.body = {rope.bodies[4] + 1, 0};
    push.linear = {2.0f, 0.0f, 0.0f};
    world->step(std::array{push});
    for (const std::uint32_t bead : rope.bodies) CHECK_FALSE(state_of(*world, bead).asleep);
    run(*world, 10);
    CHECK(std::abs(state_of(*world, rope.bodies[4]).pose.position.x) > 0.001f);
    CHECK(largest_separation(*world) < 0.001);
    Command drive = command(CommandKind::teleport);
    drive.body = {hook + 1, 0};
    drive.linear = {1.0f, 0.0f, 0.0f};
    world->step(std::array{drive});
    run(*world, 120);
    CHECK(state_of(*world, rope.bodies[0]).pose.position.x > 1.5f);  // carried along
}

TEST_CASE("a rope that is cut goes on as two, and one that breaks says so") {
    WorldDef def = rope_world();
    const Rope rope = add_rope(def, 24, {}, 0);
    for (const std::uint32_t joint : rope.joints) def.joints[joint].break_force_n = 1.0e6f;
    auto world = make_world(def);
    run(*world, 30);
    Command cut = command(CommandKind::remove_joint);
    cut.joint = {rope.joints[12], 0};
    world->step(std::array{cut});
    run(*world, 60);
    CHECK(state_of(*world, rope.bodies[11]).pose.position.y > -4.0f);   // still hangs
    CHECK(state_of(*world, rope.bodies[23]).pose.position.y < -5.0f);   // falls
    CHECK(largest_separation(*world) < 0.01);

    def.joints[rope.joints[0]].break_force_n = 500.0f;  // 24 beads of 4.2 kg weigh 1,005 N
    auto weak = make_world(def);
    int broken = 0;
    for (int tick = 0; tick < 120; ++tick) {
        weak->step();
        broken += count_events(*weak, EventKind::joint_broken);
    }
    CHECK(broken == 1);
    CHECK(state_of(*weak, rope.bodies[0]).pose.position.y < -5.0f);
}

namespace {

// Ropes of many lengths and ends, some in each other's way, some with a crate, a spring, a weak joint.
WorldDef many_ropes() {
    WorldDef def = rope_world(3);
    def.solver.sleep = true;
    add_ground(def);
    const auto box = add_box_shape(def, {0.3f, 0.2f, 0.25f});
    for (std::uint32_t k = 0; k < 22; ++k) {
        const Vec3 origin{0.0f, 1.0f + 0.1f * static_cast<float>(k), 0.35f * static_cast<float>(k)};
        std::uint32_t hook = kNone;
        if (k % 5 == 2) {
            hook = add_body(def, 0, origin);
            def.bodies[hook].type = BodyType::kinematic;
            def.bodies[hook].linear_velocity = {0.0f, 0.3f, 0.1f};
            def.bodies[hook].angular_velocity = {0.0f, 1.0f, 0.0f};
        }
        const Rope rope = add_rope(def, 8 + (k * 7) % 19, origin, 0, hook, k % 3 != 0);
        if (k % 4 == 1) {
            const BodyDef last = def.bodies[rope.bodies.back()];
            const auto crate = add_body(def, box, {last.pose.position.x + 0.5f, last.pose.position.y, last.pose.position.z});
            BallSocket ball;
            ball.anchor_a = {kGap / 2, 0.0f, 0.0f};
            ball.anchor_b = {kGap / 2 - 0.5f, 0.0f, 0.0f};
            add_joint(def, rope.bodies.back(), crate, ball);
        }
        if (k % 6 == 3) std::get<BallSocket>(def.joints[rope.joints[4]].constraint).spring = {8.0f, 0.3f};
        if (k % 7 == 4) def.joints[rope.joints[3]].break_force_n = 450.0f;
        if (k % 7 == 5) def.bodies[rope.bodies[2]].linear_damping = 0.4f;
    }
    for (std::uint32_t copy = 0; copy < 18; ++copy) {  // trees, more than a bundle takes, and rings
        const float z = 8.0f + 0.4f * static_cast<float>(copy);
        const std::uint32_t first = static_cast<std::uint32_t>(def.bodies.size());
        for (std::uint32_t k = 0; k < 13; ++k) {
            const auto bead = add_body(def, copy % 4 == 1 && k == 12 ? box : 0u, {0.25f * static_cast<float>(k % 5), 2.0f - 0.25f * static_cast<float>(k), z});
            def.bodies[bead].mask = copy % 3 == 0 ? 0u : ~0u;
            BallSocket ball;
            ball.anchor_b = {0.0f, 0.12f, 0.01f};
            ball.anchor_a = k == 0 ? Vec3{0.0f, 2.2f, z} : Vec3{0.0f, -0.12f, 0.02f};
            if (copy == 3) ball.spring = {6.0f, 0.5f};
            const auto joint = add_joint(def, k == 0 ? kNone : first + (k - 1) / 3, bead, ball);
            if (copy == 2 && k == 4) def.joints[joint].break_force_n = 60.0f;
        }
        BallSocket ball;
        if (copy >= 12) add_joint(def, first + 5, first + 12, ball);
        if (copy == 14) def.joints.back().break_force_n = 30.0f;
    }
    for (std::uint32_t copy = 0; copy < 19; ++copy) {  // bridges and ladders, more than a bundle takes
        const float z = 16.0f + 0.8f * static_cast<float>(copy);
        std::uint32_t before = kNone;
        for (std::uint32_t k = 0; k < 9; ++k) {
            const auto plank = add_body(def, copy == 18 ? 0u : box, {0.65f * (static_cast<float>(k) + 0.5f), 2.0f, z});
            for (const float side : {-0.2f, 0.2f}) {
                BallSocket ball;
                ball.anchor_a = before == kNone ? Vec3{0.0f, 2.0f, z + side} : Vec3{0.325f, 0.0f, side};
                ball.anchor_b = {-0.325f, 0.0f, side};
                if (copy == 5) ball.spring = {6.0f, 0.5f};
                const bool flip = before != kNone && (k + copy) % 3 == 0;
                if (flip) std::swap(ball.anchor_a, ball.anchor_b);
                const auto joint = add_joint(def, flip ? plank : before, flip ? before : plank, ball);
                if (copy == 7 && k == 2 && side > 0.0f) def.joints[joint].break_force_n = 2000.0f;
                if (copy % 2 == 0 && k == 8) add_joint(def, kNone, plank, BallSocket{{5.85f, 2.0f, z + side}, {0.325f, 0.0f, side}, {}});
            }
            before = plank;
        }
    }
    // Short ones, some of them stiff beside others of the same bundle that are not, with zeros of both signs: what is done for the ones
    // changes no bit of the others, or targets would differ.
    const auto rung = add_box_shape(def, {0.15f, 0.04f, 0.3f}), stick = add_box_shape(def, {0.15f, 0.04f, 0.04f});
    std::uint32_t coin = 0;
    const auto zero = [&] { return (coin = coin * 1664525u + 1013904223u) >> 31 != 0 ? -0.0f : 0.0f; };
    for (std::uint32_t copy = 0; copy < 48; ++copy) {
        const std::uint32_t kind = copy % 3;
        const bool heavy = copy % 5 == 3;
        const float angle = heavy ? -1.3f : 0.7f * static_cast<float>(copy % 9) - 3.0f;
        const Vec3 origin{-6.0f - 3.0f * static_cast<float>(copy % 4), 40.0f, static_cast<float>(copy) * 1.5f};
        std::uint32_t before = kNone;
        for (std::uint32_t k = 0; k < 4; ++k) {
            const float along = 0.3f * static_cast<float>(k) + 0.15f;
            const auto body = add_body(def, kind == 0 ? 0u : kind == 1 ? stick : rung,
                                       {origin.x + along * std::cos(angle), origin.y + along * std::sin(angle), origin.z});
            BodyDef& b = def.bodies[body];
            b.pose.orientation = {zero(), zero(), std::sin(0.5f * angle), std::cos(0.5f * angle)};
            b.linear_velocity = {0.0f, 0.0f, zero()};
            b.angular_velocity = {zero(), zero(), k > 0 || copy % 2 == 0 ? 0.0f : 3.0f};
            b.mass_kg = heavy && k == 3 ? 3000.0f : 1.0f;
            b.mask = 0;
            for (const float side : {-0.25f, 0.25f}) {
                const float z = kind == 2 ? side : zero();
                const Vec3 on_before{origin.x, origin.y, origin.z + z};
                add_joint(def, before, body, BallSocket{before == kNone ? on_before : Vec3{0.15f, 0.0f, z}, {-0.15f, zero(), z}, {}});
                if (kind != 2) break;
            }
            before = body;
        }
    }
    def.solver.rig_joints = 4;
    PrefabDef crate;
    crate.bodies.emplace_back().shape = box;
    def.prefabs.push_back(crate);
    return def;
}

}  // namespace

TEST_CASE("rigs have the same bits for every target, thread count and way through save and restore") {
    const WorldDef def = many_ropes();
    constexpr int kTicks = 90;
    const auto hashes = [&](Target target, std::uint32_t threads, bool restore) {
        orrery::server::ThreadPool pool(threads);
        auto world = make_world(def, target);
        std::vector<std::uint8_t> saved;
        std::vector<std::uint64_t> roots;
        for (int n = 0; n < kTicks; ++n) {
            if (restore) {
                world->save(saved);
                world = make_world(def, available_targets()[static_cast<std::size_t>(n) % available_targets().size()]);
                REQUIRE(world->restore(saved).ok());
            }
            std::vector<Command> commands;
            if (n % 20 == 15) {  // without joints: it only falls onto the ropes
                commands.push_back(command(CommandKind::spawn));
                commands.back().prefab = 0;
                commands.back().pose.position = {1.0f, 4.5f, 0.3f * static_cast<float>(n / 20)};
            }
            if (n == 40) {
                commands.push_back(command(CommandKind::remove_joint));
                commands.back().joint = {20, 0};
            }
            REQUIRE(world->step(commands, threads == 1 ? nullptr : &pool) == StepStatus::ok);
            roots.push_back(world->hash().root);
        }
        return roots;
    };
    const auto reference = hashes(Target::scalar, 1, false);
    for (const Target target : available_targets()) CHECK(hashes(target, 1, false) == reference);
    if (few()) return;
    for (const std::uint32_t threads : {2u, 3u, 8u}) CHECK(hashes(best_target(), threads, false) == reference);
    CHECK(hashes(best_target(), 2, true) == reference);
}
