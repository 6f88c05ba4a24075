// Guards: that chains and trees are solved exactly, whichever way they go, and graphs as exactly as they iterate:
// against dense solves in double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "sim/rigs/chain/chain.h"
#include "sim/rigs/rigs.h"
#include "tests/support/bodies.h"
#include "tests/support/rigs.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

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
            if (f == 0.0) continue;
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

// Velocities after one substep of h of a world of round bodies, ball sockets and rods: (A + e D) x = -(J v + bias). A
// rod has one row of its three. `curvings`: how often what points leave their tangents by is taken at the velocities of
// the solve before, and solved for (rig-inl.h). `spans`: two ball sockets of the same two bodies are one
// (tree_span-inl.h).
std::vector<std::array<double, 6>> dense_step(const World& world, const WorldDef& def, double h, int curvings,
                                              bool spans = false) {
    std::vector<BodyState> bodies;
    std::vector<JointState> joints;
    world.read_bodies(bodies);
    world.read_joints(joints);
    const std::size_t n = bodies.size(), rows = 3 * joints.size();
    std::vector<std::array<double, 6>> v(n);
    std::vector<double> m(n);
    std::vector<M3> inertia(n);  // inverse
    for (std::size_t i = 0; i < n; ++i) {
        const BodyState& body = bodies[i];
        m[i] = body.inverse_mass;
        const double r = def.shapes[body.shape].radius;
        for (std::size_t c = 0; c < 3; ++c) inertia[i][c][c] = m[i] / (0.4 * r * r);
        const bool dynamic = body.type == BodyType::dynamic;
        const D3 linear = plus(d(body.linear_velocity), times(d(def.gravity), dynamic ? h : 0.0)),
                 angular = d(body.angular_velocity);
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
        const double f = ball.spring.frequency_hz, w = 2.0 * 3.14159265358979 * f,
                     c = w * h + 2.0 * static_cast<double>(ball.spring.damping_ratio);
        const double rate = f > 0.0 ? w / c : 0.3 / h;
        const double asked = size(error) * rate,
                     most = f > 0.0 ? asked : static_cast<double>(def.solver.joint_recovery_speed);
        for (std::size_t row = 0; row < 3; ++row)
            b[3 * k + row] = -error[row] * rate * (asked > most ? most / asked : 1.0);
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
    for (std::size_t i = 0; i < n && curvings == 0; ++i) {  // what iterations solve
        std::vector<D3> arms;
        for (const JointState& joint : joints) {
            const RigLink link = *rig_link(joint.constraint);
            if (joint.a.valid() && joint.a.index - 1 == i)
                arms.push_back(turned(d(bodies[i].pose.orientation), d(link.anchor_a)));
            if (joint.b.valid() && joint.b.index - 1 == i)
                arms.push_back(turned(d(bodies[i].pose.orientation), d(link.anchor_b)));
        }
        if (m[i] != 0.0) inertia[i] = star_of(inertia[i], m[i], arms).value_or(inertia[i]);
    }
    // What row r of J^T does to a body, along or about axis c.
    const auto moves = [&](std::size_t r, std::size_t i, std::size_t c) {
        const double* const row = &jacobian[r][6 * i];
        if (c < 3) return m[i] * row[c];
        return (inertia[i][c - 3][0] * row[3] + inertia[i][c - 3][1] * row[4]) + inertia[i][c - 3][2] * row[5];
    };
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t c = 0; c < 6; ++c) b[r] -= jacobian[r][6 * i + c] * v[i][c];
        }
        for (const BodyId id : {joints[r / 3].a, joints[r / 3].b}) {  // all others have zeros in this row
            if (!id.valid()) continue;
            for (std::size_t s = 0; s < rows; ++s) {
                for (std::size_t c = 0; c < 6; ++c)
                    a[r][s] += jacobian[r][6 * (id.index - 1) + c] * moves(s, id.index - 1, c);
            }
        }
    }
    for (std::size_t k = 0; k < joints.size(); ++k) {
        const RigLink link = *rig_link(joints[k].constraint);
        const Spring spring = link.spring;
        if (link.rod) a[3 * k + 1][3 * k + 1] = a[3 * k + 2][3 * k + 2] = 1.0;
        const double w = 2.0 * 3.14159265358979 * static_cast<double>(spring.frequency_hz);
        const double softness = spring.frequency_hz > 0.0f
                                    ? 1.0 / (w * h * (w * h + 2.0 * static_cast<double>(spring.damping_ratio)))
                                    : static_cast<double>(def.solver.rig_compliance);
        for (std::size_t r = 3 * k; r < 3 * k + 3; ++r) {
            for (std::size_t s = 3 * k; s < 3 * k + 3; ++s) a[r][s] *= 1.0 + softness;
        }
    }
    // Of two ball sockets of the same two bodies what they might have along the line through both: nothing. So stiff
    // that it stays so.
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
                    const std::size_t row = r < 3 ? 3 * other + r : 3 * k + r - 3,
                                      column = s < 3 ? 3 * other + s : 3 * k + s - 3;
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
                for (std::size_t r = 0; r < rows; ++r) solution[i][c] += moves(r, i, c) * impulse[r];
            }
        }
    }
    return solution;
}

struct Draws : Lcg {
    using Lcg::Lcg;
    int below(int count) { return static_cast<int>(unit() * static_cast<float>(count)); }
};

// A chain of spheres of many sizes that lie and move anyhow near their joints; its joints go either way, and some are
// springs.
WorldDef random_chain(Draws& random, std::uint32_t links) {
    WorldDef def;
    def.substeps = 1;
    def.solver.sleep = false;
    def.solver.rig_joints = 1;
    def.solver.joint_recovery_speed = kNoLimit;
    def.solver.rig_compliance = 2.0e-3f;
    const int start = random.below(3), end = random.below(3);  // free, the world, a kinematic body
    if (start != 0 && end != 0)
        links = std::max(links, 3u);  // one body held at two points has fewer freedoms than joints
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
        const std::uint32_t next =
            to_world ? kNone : add(last && end == 2 && k > 0 ? BodyType::kinematic : BodyType::dynamic);
        BallSocket ball;
        ball.anchor_a = anchor;
        ball.anchor_b = to_world ? hold : Vec3{random.between(-0.2f, -0.05f), random.between(-0.1f, 0.1f), 0.03f};
        if (random.below(4) == 0) ball.spring = {random.between(2.0f, 20.0f), random.between(0.1f, 2.0f)};
        const bool flip = before != kNone && next != kNone && random.below(2) == 0;
        if (flip) std::swap(ball.anchor_a, ball.anchor_b);
        if (next == kNone) std::swap(ball.anchor_a, ball.anchor_b);
        add_joint(def,
                  flip            ? next
                  : next == kNone ? kNone
                                  : before,
                  flip            ? before
                  : next == kNone ? before
                                  : next,
                  ball);
        anchor = {random.between(0.05f, 0.2f), random.between(-0.1f, 0.1f), random.between(-0.1f, 0.1f)};
        before = next;
    }
    return def;
}

// A bead on a random one of those before, and so on, the first on the world, on a kinematic body or on nothing; `loops`
// more joints anywhere, to the world too. `rods`: half of the joints are some. `spans`: half are two.
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
        if (kind == 0)
            add_joint(def, a, b, CenterDistance{length, ball.spring});
        else if (kind == 1)
            add_joint(def, a, b, DistanceServo{ball.anchor_a, ball.anchor_b, length, ball.spring, {}});
        else if (kind == 2)
            add_joint(def, a, b, DistanceLimit{ball.anchor_a, ball.anchor_b, length, length, ball.spring});
        else if (kind == 3)
            add_joint(def, a, b, CenterDistanceLimit{length, length, ball.spring});
        else
            add_joint(def, a, b, ball);
        if (!spans || random.below(2) == 0) return;
        const auto beside = [&](Vec3 v, float side) {
            return Vec3{v.x + random.between(-0.02f, 0.02f), v.y + random.between(-0.02f, 0.02f), v.z + side};
        };
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
        const std::uint32_t parent =
            before == 0 ? kNone : static_cast<std::uint32_t>(random.below(std::min(before, 9)));
        if (parent != kNone || start == 2) connect(parent, bead);
    }
    if (start != 1 && loops == 0 && random.below(3) == 0)
        connect(kNone, static_cast<std::uint32_t>(def.bodies.size() - 1));
    for (std::uint32_t k = 0; k < loops; ++k) {
        const auto b = static_cast<std::uint32_t>(1 + random.below(static_cast<int>(def.bodies.size()) - 1));
        const auto a = static_cast<std::uint32_t>(random.below(static_cast<int>(b)));
        connect(random.below(4) == 0 ? kNone : a,
                def.bodies[b].type == BodyType::dynamic ? b : static_cast<std::uint32_t>(def.bodies.size() - 1));
    }
    return def;
}

// The same world so slow that nothing turns far in a substep: what is solved is linear, and nothing is refined
// (rig-inl.h).
WorldDef calm(WorldDef def) {
    def.tick_rate_hz = 480.0f;
    def.solver.joint_recovery_speed = 0.1f;
    for (BodyDef& body : def.bodies) {
        body.linear_velocity = {0.1f * body.linear_velocity.x, 0.1f * body.linear_velocity.y,
                                0.1f * body.linear_velocity.z};
        body.angular_velocity = {0.1f * body.angular_velocity.x, 0.1f * body.angular_velocity.y,
                                 0.1f * body.angular_velocity.z};
    }
    for (JointDef& joint : def.joints) {
        if (auto* ball = std::get_if<BallSocket>(&joint.constraint)) ball->spring.frequency_hz *= 0.1f;
    }
    return def;
}

// Whether no body of the rig that holds this one has more than two joints, and none two with another. A kinematic body
// ends a rig.
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

// What the solve pass said is seen in how far the bodies went; the relax pass came after. `curvings`: dense_step's, by
// body: chains by themselves are solved once a substep, other rigs twice.
template <class Curvings>
void check_moves_as_dense(const WorldDef& def, double tolerance, const Curvings& curvings, bool spans = false) {
    const double rate = static_cast<double>(def.tick_rate_hz);
    for (const Target target : {Target::scalar, Target::automatic}) {
        auto world = make_world(def, target);
        std::vector<std::array<double, 6>> expected[3];
        for (int k = 0; k < 3; ++k) expected[k] = dense_step(*world, world->definition(), 1.0 / rate, k, spans);
        std::vector<BodyState> before;
        world->read_bodies(before);
        world->step();
        for (std::uint32_t i = 0; i < def.bodies.size(); ++i) {
            const std::array<double, 6>& v = expected[curvings(i)][i];
            const D3 moved = minus(d(state_of(*world, i).pose.position), d(before[i].pose.position));
            const double speed = 1.0 + std::hypot(v[0], v[1], v[2]);
            CHECK(size(minus(times(moved, rate), {v[0], v[1], v[2]})) < tolerance * speed);
        }
    }
}

}  // namespace

TEST_CASE("a tree is solved as a dense solve in double precision solves it") {
    Draws random(static_cast<std::uint32_t>(seeded(43)));
    for (int round = 0; round < sampled(40); ++round) {
        CAPTURE(round);
        const WorldDef def = calm(random_rig(random, 4 + static_cast<std::uint32_t>(random.below(30)), 0));
        check_moves_as_dense(def, 1e-3, [&](std::uint32_t body) { return in_a_chain(def, body) ? 1 : 2; });
    }
}

TEST_CASE(
    "a tree whose edges are ball sockets or pairs of them is solved as a dense solve in double precision solves it") {
    Draws random(static_cast<std::uint32_t>(seeded(46)));
    int spans = 0;
    for (int round = 0; round < sampled(40); ++round) {
        CAPTURE(round);
        const WorldDef def = calm(random_rig(random, 4 + static_cast<std::uint32_t>(random.below(30)), 0, false, true));
        auto world = make_world(def);
        world->step();
        spans += static_cast<int>(def.joints.size() - def.bodies.size());
        CHECK(world->stats().solved_constraints == 0);  // all are a rig's
        check_moves_as_dense(
            def, 1e-3, [&](std::uint32_t body) { return in_a_chain(def, body) ? 1 : 2; }, true);
    }
    CHECK(spans > 0);
}

TEST_CASE("iterations over all joints at once come to what a dense solve says, whatever the loops") {
    Draws random(static_cast<std::uint32_t>(seeded(44)));
    for (int round = 0; round < sampled(20); ++round) {
        CAPTURE(round);
        WorldDef def = random_rig(random, 4 + static_cast<std::uint32_t>(random.below(12)),
                                  1 + static_cast<std::uint32_t>(random.below(8)));
        def.solver.rig_solver = RigSolver::jacobi;
        def.solver.rig_iterations = kMaxRigIterations;
        check_moves_as_dense(def, 2e-3, [](std::uint32_t) { return 0; });
    }
}

TEST_CASE("rods among ball sockets come to what a dense solve says") {
    Draws random(static_cast<std::uint32_t>(seeded(45)));
    for (int round = 0; round < sampled(20); ++round) {
        CAPTURE(round);
        WorldDef def = random_rig(random, 4 + static_cast<std::uint32_t>(random.below(12)),
                                  1 + static_cast<std::uint32_t>(random.below(8)), true);
        def.solver.rig_solver = RigSolver::jacobi;
        def.solver.rig_iterations = kMaxRigIterations;
        check_moves_as_dense(def, 2e-3, [](std::uint32_t) { return 0; });
    }
}

namespace {

void check_chain_as_dense(const WorldDef& def, std::span<const Target> targets) {
    std::vector<std::array<double, 6>> expected;
    for (const Target target : targets) {
        auto world = make_world(def, target);
        if (expected.empty()) expected = dense_step(*world, world->definition(), 1.0 / 480.0, 1);
        world->step();
        // Of the fastest: a body's impulses are those of all.
        double speed = 1.0, spin = 1.0;
        for (const auto& v : expected) {
            speed = std::max(speed, 1.0 + std::hypot(v[0], v[1], v[2]));
            spin = std::max(spin, 1.0 + std::hypot(v[3], v[4], v[5]));
        }
        for (std::uint32_t i = 0; i < def.bodies.size(); ++i) {
            const BodyState body = state_of(*world, i);
            CHECK(size(minus(d(body.linear_velocity), {expected[i][0], expected[i][1], expected[i][2]})) <
                  5e-4 * speed);
            CHECK(size(minus(d(body.angular_velocity), {expected[i][3], expected[i][4], expected[i][5]})) <
                  5e-4 * spin);
        }
    }
}

}  // namespace

TEST_CASE("a chain by itself is solved as a dense solve in double precision solves it") {
    Draws random(static_cast<std::uint32_t>(seeded(41)));
    for (int round = 0; round < sampled(40); ++round) {
        CAPTURE(round);
        const WorldDef def = calm(random_chain(random, 1 + static_cast<std::uint32_t>(random.below(24))));
        check_chain_as_dense(def, std::array{Target::scalar, Target::automatic});
    }
}

TEST_CASE("a chain that is cut into pieces is solved as a dense solve in double precision solves it") {
    Draws random(static_cast<std::uint32_t>(seeded(48)));
    for (int round = 0; round < sampled(4); ++round) {
        CAPTURE(round);
        // Pieces that are alike, a last one of two links, and any.
        const std::uint32_t links = round == 0   ? kLongChain + kBundleLanes
                                    : round == 1 ? kLongChain + 1
                                                 : kLongChain + 2 + static_cast<std::uint32_t>(random.below(60));
        CAPTURE(links);
        check_chain_as_dense(calm(random_chain(random, links)), available_targets());
    }
}

TEST_CASE("a chain that shares the passes of the coloured solver moves as the dense solve says") {
    Draws random(static_cast<std::uint32_t>(seeded(42)));
    for (int round = 0; round < sampled(40); ++round) {
        CAPTURE(round);
        WorldDef def = calm(random_chain(random, 2 + static_cast<std::uint32_t>(random.below(24))));
        auto alone = make_world(def);
        const auto expected = dense_step(*alone, alone->definition(), 1.0 / 480.0, 2);
        DistanceLimit slack;  // is never at its end
        slack.max_m = 1000.0f;
        slack.min_m = 0.0f;
        const auto dynamic = std::find_if(def.bodies.begin(), def.bodies.end(),
                                          [](const BodyDef& body) { return body.type == BodyType::dynamic; });
        add_joint(def, kNone, static_cast<std::uint32_t>(dynamic - def.bodies.begin()), slack);
        auto world = make_world(def);
        world->step();
        for (std::uint32_t i = 0; i < def.bodies.size(); ++i) {
            // What the solve pass said is seen in how far the body went; the relax pass came after.
            const D3 moved = minus(d(state_of(*world, i).pose.position), d(state_of(*alone, i).pose.position));
            const double speed = 1.0 + std::hypot(expected[i][0], expected[i][1], expected[i][2]);
            CHECK(size(minus(times(moved, 480.0), {expected[i][0], expected[i][1], expected[i][2]})) < 5e-4 * speed);
        }
    }
}

namespace {

// How far apart a ball socket's points are, by world axes, and how long its arms are.
struct Apart {
    D3 error{};
    double arms = 0.0;
};
std::vector<Apart> read_apart(const World& world) {
    std::vector<JointState> joints;
    world.read_joints(joints);
    std::vector<Apart> out;
    for (const JointState& joint : joints) {
        const RigLink link = *rig_link(joint.constraint);
        Apart& apart = out.emplace_back();
        for (const bool second : {false, true}) {
            const BodyId id = second ? joint.b : joint.a;
            D3 at = d(second ? link.anchor_b : link.anchor_a);
            if (id.valid()) {
                const Pose pose = world.body(id).pose;
                const D3 arm = turned(d(pose.orientation), at);
                apart.arms = std::hypot(apart.arms, size(arm));
                at = plus(d(pose.position), arm);
            }
            apart.error = plus(apart.error, times(at, second ? 1.0 : -1.0));
        }
    }
    return out;
}

}  // namespace

// Guards refinement: bodies turn by radians in such a substep, and what is linear in that misses by the length of arms.
TEST_CASE("a substep in which bodies turn far leaves joints where it was to leave them") {
    Draws random(static_cast<std::uint32_t>(seeded(47)));
    int rigs = 0;
    for (int round = 0; round < sampled(120); ++round) {
        CAPTURE(round);
        const bool tree = round % 3 == 2;
        WorldDef def = tree ? random_rig(random, 4 + static_cast<std::uint32_t>(random.below(30)), 0)
                            : random_chain(random, 2 + static_cast<std::uint32_t>(random.below(24)));
        def.solver.rig_compliance = 1.0e-6f;
        double turn = 0.0;
        std::size_t dynamic = 0;
        for (BodyDef& body : def.bodies) {
            if (body.type != BodyType::dynamic) continue;
            ++dynamic;
            body.angular_velocity = {random.between(-30.0f, 30.0f), random.between(-30.0f, 30.0f),
                                     random.between(-30.0f, 30.0f)};
            body.linear_velocity = {random.between(-1.0f, 1.0f), random.between(-1.0f, 1.0f),
                                    random.between(-1.0f, 1.0f)};
            turn = std::max(turn, size(d(body.angular_velocity)) / 60.0);
        }
        if (def.joints.size() > dynamic) continue;  // what hangs from two places is softer
        ++rigs;
        for (JointDef& joint : def.joints) std::get_if<BallSocket>(&joint.constraint)->spring = {};
        if (round % 3 == 1) {  // a box, so that the chain shares the coloured solver's passes
            const auto first = std::ranges::find(def.bodies, BodyType::dynamic, &BodyDef::type);
            first->shape = add_box_shape(def, {0.1f, 0.12f, 0.14f});
        }
        auto world = make_world(def);
        const std::vector<Apart> before = read_apart(*world);
        world->step();
        const std::vector<Apart> after = read_apart(*world);
        double most = 0.0;
        for (std::size_t k = 0; k < def.joints.size(); ++k) {
            if (!std::holds_alternative<BallSocket>(def.joints[k].constraint)) continue;
            most = std::max(most, size(minus(after[k].error, times(before[k].error, 0.7))) / after[k].arms);
        }
        CHECK(turn > 0.1);
        CHECK(most < 0.0031);
    }
    CHECK(rigs > sampled(40));
}
