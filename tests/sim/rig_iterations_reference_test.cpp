// Guards: that a graph's layout holds each joint once at both of its bodies, and that iterations are what their
// derivations say, number by number, in double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "sim/rigs/coupled_groups.h"
#include "sim/rigs/rigs.h"
#include "tests/support/bodies.h"
#include "tests/support/rigs.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

struct Draws : Lcg {
    using Lcg::Lcg;
    int below(int count) { return static_cast<int>(unit() * static_cast<float>(count)); }
};

}  // namespace

// ---- connectivity

TEST_CASE("a graph's layout holds each joint once at home and once at its other body, where that moves") {
    Draws random(static_cast<std::uint32_t>(seeded(101)));
    for (int round = 0; round < sampled(30); ++round) {
        CAPTURE(round);
        Bodies bodies = test::make_bodies();
        const auto count = static_cast<std::uint32_t>(2 + random.below(80));
        for (std::uint32_t k = 0; k < count; ++k) {
            test::BodySpec spec;
            if (random.below(8) == 0) spec.kind = kBodyKinematic;
            test::add_body(bodies, spec);
        }
        std::vector<Joint> joints;
        const int hub = random.below(4);  // half of all joints hold it, sometimes
        while (joints.size() < 3 * count) {
            const auto any = [&] { return static_cast<std::uint32_t>(random.below(static_cast<int>(count) + 1)); };
            const std::uint32_t a = hub == 0 && random.below(2) == 0 ? 1 : any(),
                                b = random.below(2) == 0 ? any() : std::min(a + 1, count);
            if (a != b) joints.push_back(test::make_joint(a, b, BallSocket{{0.1f, 0.0f, 0.0f}, {}, {}}));
        }
        SolverSettings settings;
        settings.rig_joints = 1;
        settings.rig_solver = random.below(2) == 0 ? RigSolver::jacobi : RigSolver::block_jacobi;
        Rigs rigs;
        find_rigs({{}, settings}, bodies, joints, rigs);
        GraphGroups graphs;
        graphs.pack(rigs, bodies, joints);
        graphs.begin_tick(rigs, bodies, std::vector<std::uint8_t>(rigs.rigs.size(), 0));
        REQUIRE(graphs.awake() == rigs.rigs.size());
        std::vector<RigForce> force(joints.size() + 1);
        std::vector<float> mean(joints.size() + 1);
        std::vector<int> at_home(joints.size()), at_other(joints.size());
        int wrong = 0;  // lanes, of those that hold no joint, too
        for (std::uint32_t n = 0; n < graphs.awake(); ++n) {
            const GraphView g = graphs.view(n, force.data(), mean.data());
            const auto body_at = [&](std::uint32_t place) {
                REQUIRE(place >= kBundleLanes);
                REQUIRE(place / kBundleLanes - 1 < g.graph->bodies + g.graph->outer);
                return g.bodies[place / kBundleLanes - 1].body[place % kBundleLanes];
            };
            const auto moves = [&](std::uint32_t place) {
                const std::uint32_t group = place / kBundleLanes - 1;
                return group < g.graph->bodies && (g.bodies[group].dynamic >> place % kBundleLanes & 1u) != 0;
            };
            std::vector<std::uint32_t> joint_of_change(g.change_stride, kNone);
            for (std::uint32_t group = 0; group < g.graph->bodies; ++group) {
                const GraphBodies& home = g.bodies[group];
                for (std::uint32_t k = 0; k < home.own; ++k) {
                    const GraphJoints& row = g.joints[home.first_own + k];
                    for (std::uint32_t lane = 0; lane < kBundleLanes; ++lane) {
                        // A run is sixteen places from the first on, used or not.
                        if (row.run != 0) wrong += row.other.at[lane] != row.other.at[0] + lane;
                        const bool used = (row.jointed >> lane & 1u) != 0;
                        wrong += row.other.at[lane] >= g.stride || row.used.lane[lane] != (used ? 1.0f : 0.0f);
                        if (!used) continue;
                        const std::uint32_t i = row.force[lane] - force_row(0), place = row.home + lane;
                        REQUIRE(i < joints.size());
                        ++at_home[i];
                        const Joint& joint = joints[i];
                        const bool is_b = row.sign.lane[lane] > 0.0f;
                        CHECK(row.home == (group + 1) * kBundleLanes);
                        CHECK(moves(place));
                        CHECK(body_at(place) == (is_b ? joint.b : joint.a));
                        CHECK(body_at(row.other.at[lane]) == (is_b ? joint.a : joint.b));
                        CHECK(row.at_home.x.lane[lane] == (is_b ? 0.0f : 0.1f));
                        CHECK(row.at_other.x.lane[lane] == (is_b ? 0.1f : 0.0f));
                        const std::uint32_t at = is_b ? joint.b : joint.a;
                        const auto degree = std::ranges::count_if(
                            joints, [&](const Joint& other) { return other.a == at || other.b == at; });
                        CHECK(row.split_home.lane[lane] ==
                              (settings.rig_solver == RigSolver::jacobi ? static_cast<float>(degree) : 1.0f));
                        REQUIRE(row.change + lane < g.change_stride);
                        CHECK(joint_of_change[row.change + lane] == kNone);  // its own
                        CHECK(row.change >= kBundleLanes);                   // behind the row that is zero
                        joint_of_change[row.change + lane] = i;
                    }
                }
            }
            for (std::uint32_t group = 0; group < g.graph->bodies; ++group) {
                for (std::uint32_t k = 0; k < g.bodies[group].sides; ++k) {
                    const GraphSides& row = g.sides[g.bodies[group].first_side + k];
                    for (std::uint32_t lane = 0; lane < kBundleLanes; ++lane) {
                        if (row.run != 0) wrong += row.change.at[lane] != row.change.at[0] + lane;
                        const bool used = (row.jointed >> lane & 1u) != 0;
                        wrong += row.change.at[lane] >= g.change_stride || row.used.lane[lane] != (used ? 1.0f : 0.0f);
                        if (!used) continue;
                        REQUIRE(row.change.at[lane] < g.change_stride);
                        const std::uint32_t i = joint_of_change[row.change.at[lane]],
                                            place = (group + 1) * kBundleLanes + lane;
                        REQUIRE(i < joints.size());
                        ++at_other[i];
                        CHECK(moves(place));
                        CHECK((body_at(place) == joints[i].a || body_at(place) == joints[i].b));
                        CHECK(row.at.x.lane[lane] == (body_at(place) == joints[i].a ? 0.1f : 0.0f));
                    }
                }
            }
        }
        CHECK(wrong == 0);
        for (std::size_t i = 0; i < joints.size(); ++i) {
            const int moving = (bodies.dynamic(joints[i].a) ? 1 : 0) + (bodies.dynamic(joints[i].b) ? 1 : 0);
            CHECK(at_home[i] == (moving > 0 ? 1 : 0));
            CHECK(at_other[i] == (moving > 1 ? 1 : 0));
        }
    }
}

// ---- the iterations, in double precision, plainly

namespace {

// How the velocity of a body's point at `arm` answers to an impulse there.
M3 response(double mass, const M3& inertia, const D3& arm) {
    M3 columns;
    for (std::size_t c = 0; c < 3; ++c) {
        D3 e{};
        e[c] = 1.0;
        columns[c] = plus(times(e, mass), crossed(times(inertia, crossed(arm, e)), arm));
    }
    return transposed(columns);
}

struct Step {
    double keep, step;
};
// Chebyshev's polynomials over [a, 1] by their values at sigma, T_k = cosh(k acosh(sigma)).
struct Interval {
    double theta, delta, sigma;
    Interval(int iterations, double softness) {
        const double a = std::min(std::max(9.0 / (iterations * iterations), softness / (2.0 + softness)), 0.5);
        theta = (1.0 + a) / 2.0, delta = (1.0 - a) / 2.0, sigma = theta / delta;
    }
    double largest(int k) const { return std::cosh(k * std::acosh(sigma)); }
};
// Polynomials of sixteen, and of what is left.
std::vector<int> degrees(int iterations) {
    std::vector<int> out(static_cast<std::size_t>(iterations / 16), 16);
    if (iterations % 16 != 0) out.push_back(iterations % 16);
    return out;
}
std::vector<Step> chebyshev_steps(int iterations, double softness) {
    std::vector<Step> steps;
    for (const int degree : degrees(iterations)) {
        const Interval over(degree, softness);
        steps.push_back({0.0, 1.0 / over.theta});
        for (int k = 2; k <= degree; ++k) {
            const double rho = over.largest(k - 1) / over.largest(k),
                         before = over.largest(k - 2) / over.largest(k - 1);
            steps.push_back({rho * before, 2.0 * rho / over.delta});
        }
    }
    return steps;
}

// A world of bodies, ball sockets and rods, all of them rigs solved by iterations; impulses act on the joint's B.
class Iterated {
  public:
    Iterated(const World& world, const WorldDef& def) : def_(def), h_(1.0 / 60.0 / def.substeps) {
        split_ = def.solver.rig_solver == RigSolver::jacobi;
        const int asked = static_cast<int>(def.solver.rig_iterations), count = split_ ? asked : asked + asked % 2;
        steps_.assign(static_cast<std::size_t>(count), {0.0, 1.0});
        if (split_) steps_ = chebyshev_steps(count, static_cast<double>(def.solver.rig_compliance));
        bodies.resize(def.bodies.size() + 1);  // the first is the world
        for (std::size_t i = 1; i < bodies.size(); ++i) {
            const BodyState state = state_of(world, static_cast<std::uint32_t>(i - 1));
            Body& body = bodies[i];
            body.dynamic = state.type == BodyType::dynamic;
            if (!body.dynamic) continue;
            const ShapeDef& shape = def.shapes[state.shape];
            const double r = shape.radius, m = state.inverse_mass;
            const D3 e = d(shape.half_extents);
            body.own_mass = m;
            for (std::size_t c = 0; c < 3; ++c) {
                const double y = e[(c + 1) % 3], z = e[(c + 2) % 3];
                body.principal[c] = shape.type == ShapeType::sphere ? m / (0.4 * r * r) : 3.0 * m / (y * y + z * z);
            }
        }
        std::vector<JointState> joints;
        world.read_joints(joints);
        for (const JointState& joint : joints) {
            const RigLink rig = *rig_link(joint.constraint);
            Link link;
            link.a = joint.a.valid() ? joint.a.index : 0, link.b = joint.b.valid() ? joint.b.index : 0;
            link.in_a = d(rig.anchor_a), link.in_b = d(rig.anchor_b);
            link.rod = rig.rod, link.length = rig.length_m;
            const double f = rig.spring.frequency_hz, w = 2.0 * 3.14159265358979 * f;
            const double c = w * h_ + 2.0 * static_cast<double>(rig.spring.damping_ratio);
            link.user = f > 0.0;
            link.softness = link.user ? 1.0 / (w * h_ * c) : static_cast<double>(def.solver.rig_compliance);
            link.rate = link.user ? w / c : 0.3 / h_;
            ++bodies[link.a].held, ++bodies[link.b].held;
            links.push_back(link);
        }
        read(world);
    }
    // Poses and velocities; impulses stay.
    void read(const World& world) {
        for (std::size_t i = 1; i < bodies.size(); ++i) {
            const BodyState state = state_of(world, static_cast<std::uint32_t>(i - 1));
            Body& body = bodies[i];
            body.at = d(state.pose.position), body.turn = d(state.pose.orientation);
            body.v = d(state.linear_velocity), body.w = d(state.angular_velocity);
        }
    }
    void tick() {
        for (Link& link : links) link.bias = {};
        peak = 0.0;
        refresh();
        for (std::uint32_t substep = 0; substep < def_.substeps; ++substep) {
            for (Body& body : bodies) body.v = plus(body.v, times(d(def_.gravity), body.dynamic ? h_ : 0.0));
            for (Link& link : links) {
                link.impulse = times(link.impulse, 1.0 - link.rate * h_);
                push(link, link.impulse);
            }
            for (std::uint32_t k = 0; k < std::min(def_.solver.coupling_iterations, 2u); ++k) iterate(false);
            for (Body& body : bodies) move(body);
            refresh();
            iterate(true);
        }
    }
    // The largest eigenvalue of P^-1 (A + e D), by Rayleigh's quotients of its powers; of the state of the last
    // refresh.
    double largest_eigenvalue(Lcg& random) {
        std::vector<D3> x(links.size());
        for (D3& v : x) {
            for (double& c : v) c = static_cast<double>(random.between(-1.0f, 1.0f));
        }
        double value = 0.0;
        for (int power = 0; power < 300; ++power) {
            for (Body& body : bodies) body.v = body.w = {};
            for (std::size_t k = 0; k < links.size(); ++k) push(links[k], x[k]);
            double below = 0.0, above = 0.0, length = 0.0;
            for (std::size_t k = 0; k < links.size(); ++k) {
                const D3 y = plus(speed(links[k]), times(links[k].soft, x[k]));  // (A + e D) x
                below += along(y, x[k]);
                x[k] = times(links[k].inverse, y);
                above += along(y, x[k]);  // of x and P^-1 (A + e D) x, as (A + e D) measures
                length += along(x[k], x[k]);
            }
            if (power > 0) value = std::max(value, above / below);  // then rods have impulses along themselves only
            for (D3& v : x) v = times(v, 1.0 / std::sqrt(length));
        }
        return value;
    }
    struct Body {
        bool dynamic = false;
        double own_mass = 0.0, mass = 0.0;  // inverse; mass: as the solve takes it
        D3 principal{};                     // inverse inertia, in the body's axes
        M3 inertia{};                       // inverse, world, as the solve takes it
        D3 at{}, v{}, w{};
        D4 turn;
        int held = 0;  // by joints
    };
    std::vector<Body> bodies;
    double peak = 0.0;  // speed in the tick, as a share of what bodies may have

  private:
    struct Link {
        std::size_t a = 0, b = 0;
        D3 in_a{}, in_b{}, arm_a{}, arm_b{};
        bool rod = false, user = false;  // user: a spring of the user's
        double length = 0.0, softness = 0.0, rate = 0.0;
        D3 impulse{}, change{}, bias{}, held{};
        M3 soft{}, inverse{};  // e D, P^-1
    };

    static double stiffened(double x) { return x > 2.0 ? 1.0 / (x - 1.0) : 1.0; }
    // What turns a body back, times the inverse inertia across the arm.
    static double stiffness(const M3& inertia, const D3& force, const D3& arm) {
        const double squared = along(arm, arm);
        if (squared == 0.0) return 0.0;
        const double trace = inertia[0][0] + inertia[1][1] + inertia[2][2];
        return std::max(along(force, arm), 0.0) * (trace - along(arm, times(inertia, arm)) / squared) / 2.0;
    }
    D3 apart(const Link& link) const {
        return minus(plus(bodies[link.b].at, link.arm_b), plus(bodies[link.a].at, link.arm_a));
    }
    D3 speed(const Link& link) const {
        const Body &a = bodies[link.a], &b = bodies[link.b];
        return minus(plus(b.v, crossed(b.w, link.arm_b)), plus(a.v, crossed(a.w, link.arm_a)));
    }
    void push(const Link& link, const D3& impulse) {
        Body &a = bodies[link.a], &b = bodies[link.b];
        a.v = minus(a.v, times(impulse, a.mass)), a.w = minus(a.w, times(a.inertia, crossed(link.arm_a, impulse)));
        b.v = plus(b.v, times(impulse, b.mass)), b.w = plus(b.w, times(b.inertia, crossed(link.arm_b, impulse)));
    }
    void move(Body& body) const {
        body.at = plus(body.at, times(body.v, h_));
        const D3 s = times(body.w, h_ / 2.0);
        const D4 q = body.turn;
        const D4 n{q.x + s[0] * q.w + s[1] * q.z - s[2] * q.y, q.y + s[1] * q.w + s[2] * q.x - s[0] * q.z,
                   q.z + s[2] * q.w + s[0] * q.y - s[1] * q.x, q.w - s[0] * q.x - s[1] * q.y - s[2] * q.z};
        const double length = std::sqrt(n.x * n.x + n.y * n.y + n.z * n.z + n.w * n.w);
        body.turn = {n.x / length, n.y / length, n.z / length, n.w / length};
    }
    void refresh() {
        std::vector<double> turn_back(bodies.size()), across(bodies.size());
        for (Body& body : bodies) {
            body.inertia = {};
            for (std::size_t c = 0; c < 3 && body.dynamic; ++c) {
                D3 axis{};
                axis[c] = 1.0;
                axis = turned(body.turn, axis);
                body.inertia = plus(body.inertia, times(outer(axis, axis), body.principal[c]));
            }
        }
        for (Link& link : links) {
            link.arm_a = turned(bodies[link.a].turn, link.in_a), link.arm_b = turned(bodies[link.b].turn, link.in_b);
            turn_back[link.a] += stiffness(bodies[link.a].inertia, times(link.impulse, -1.0), link.arm_a);
            turn_back[link.b] += stiffness(bodies[link.b].inertia, link.impulse, link.arm_b);
            if (!link.rod) continue;
            const D3 way = apart(link);
            const double pull = std::max(-along(link.impulse, way), 0.0) / along(way, way);
            across[link.a] += pull, across[link.b] += pull;
        }
        for (std::size_t i = 1; i < bodies.size(); ++i) {
            Body& body = bodies[i];
            body.inertia = times(body.inertia, stiffened(h_ * turn_back[i]));
            body.mass = body.own_mass * std::max(stiffened(h_ * across[i] * body.own_mass), 0.25);
        }
        for (Link& link : links) {
            const Body &a = bodies[link.a], &b = bodies[link.b];
            const M3 of_a = response(a.mass, a.inertia, link.arm_a), of_b = response(b.mass, b.inertia, link.arm_b);
            link.soft = times(plus(of_a, of_b), link.softness);
            M3 p = plus(plus(times(of_a, split_ ? a.held : 1), times(of_b, split_ ? b.held : 1)), link.soft);
            D3 error = apart(link);
            if (link.rod) {
                const double length = size(error);
                const D3 n = times(error, 1.0 / length);
                error = times(n, length - link.length);
                link.impulse = times(n, along(n, link.impulse));
                link.soft = times(outer(n, n), along(n, times(link.soft, n)));
                link.inverse = times(outer(n, n), 1.0 / along(n, times(p, n)));
            } else {
                link.inverse = inverted(p);
            }
            link.held = link.user ? link.bias : D3{};
            link.bias = times(error, link.rate);
            const double most = def_.solver.joint_recovery_speed, asked = size(link.bias);
            if (!link.user && asked > most) link.bias = times(link.bias, most / asked);
        }
    }
    void iterate(bool relax) {
        for (Link& link : links) link.change = {};
        for (const Step& by : steps_) {
            for (Link& link : links) {
                D3 wanted = plus(speed(link), relax ? link.held : link.bias);
                if (!relax || link.user) wanted = plus(wanted, times(link.soft, link.impulse));
                link.change = plus(times(link.change, by.keep), times(times(link.inverse, wanted), -by.step));
                link.impulse = plus(link.impulse, link.change);
            }
            for (const Link& link : links) push(link, link.change);
            for (const Body& body : bodies)
                peak = std::max({peak, size(body.v) / kMaxLinearSpeed_mps, size(body.w) / kMaxAngularSpeed_radps});
        }
    }

    const WorldDef& def_;
    double h_;
    bool split_ = false;
    std::vector<Step> steps_;
    std::vector<Link> links;
};

// Bodies held by the world, by a moving kinematic body and by each other, at random; half of the joints are rods, a
// quarter springs. chains: each by the one before.
WorldDef random_graph(Draws& random, bool boxes, bool chains = false) {
    WorldDef def;
    def.solver.sleep = false;
    def.solver.rig_joints = 1;
    def.solver.joint_recovery_speed = random.below(2) == 0 ? kNoLimit : 4.0f;
    constexpr float kCompliances[] = {kRigCompliance, 0.02f, 0.3f};
    def.solver.rig_compliance = kCompliances[random.below(3)];
    const auto offset = [&](float most) {
        Vec3 v;
        v.x = random.between(-most, most);
        v.y = random.between(-most, most);
        v.z = random.between(-most, most);
        return v;
    };
    const bool fast = random.below(3) == 0;  // so that rods pull
    const auto add = [&](BodyType type) {
        ShapeDef shape;
        shape.type = boxes ? ShapeType::box : ShapeType::sphere;
        shape.radius = random.between(0.28f, 0.4f);  // no stars (rig_stars_test.cpp): they would turn by themselves
        const Vec3 more = offset(0.1f), place = offset(0.4f);
        shape.half_extents = {0.35f + more.x, 0.35f + more.y, 0.35f + more.z};
        const auto body = add_body(def, add_shape(def, shape), place, exact_turn(random.between(-1.0f, 1.0f)));
        BodyDef& made = def.bodies[body];
        made.type = type;
        made.mask = 0;
        const float cube_root = random.between(0.3f, 2.7f);
        made.mass_kg = cube_root * cube_root * cube_root;
        made.linear_velocity = offset(fast ? 40.0f : 1.0f);
        if (!boxes) made.angular_velocity = offset(2.0f);  // of a box it would turn by itself
        return body;
    };
    const auto connect = [&](std::uint32_t a, std::uint32_t b) {
        BallSocket ball;
        ball.anchor_b = offset(0.2f);
        ball.anchor_a = offset(a == kNone ? 0.5f : 0.2f);
        if (random.below(4) == 0) {
            ball.spring.frequency_hz = random.between(2.0f, 20.0f);
            ball.spring.damping_ratio = random.between(0.1f, 2.0f);
        }
        if (random.below(2) == 0) {
            std::swap(a, b);
            std::swap(ball.anchor_a, ball.anchor_b);
        }
        const float length = random.between(0.1f, 0.6f);
        switch (random.below(8)) {
            case 0:
                add_joint(def, a, b, CenterDistance{length, ball.spring});
                break;
            case 1:
                add_joint(def, a, b, DistanceServo{ball.anchor_a, ball.anchor_b, length, ball.spring, {}});
                break;
            case 2:
                add_joint(def, a, b, DistanceLimit{ball.anchor_a, ball.anchor_b, length, length, ball.spring});
                break;
            case 3:
                add_joint(def, a, b, CenterDistanceLimit{length, length, ball.spring});
                break;
            default:
                add_joint(def, a, b, ball);
        }
    };
    add(BodyType::kinematic);
    const int beads = 4 + random.below(40), loops = chains ? 0 : random.below(12);
    for (int k = 0; k < beads; ++k) {
        const auto bead = add(BodyType::dynamic);
        const auto any = static_cast<std::uint32_t>(random.below(static_cast<int>(bead)));
        connect(random.below(8) == 0 ? kNone : chains ? bead - 1 : any, bead);
    }
    for (int k = 0; k < loops; ++k) {
        const auto b = static_cast<std::uint32_t>(1 + random.below(beads)),
                   a = static_cast<std::uint32_t>(random.below(static_cast<int>(b)));
        connect(a, b);
    }
    return def;
}

// The most by which the world's poses and velocities after a tick differ from the transcription's, as shares of the
// fastest.
struct Difference {
    double moved = 0.0, turned = 0.0, linear = 0.0, angular = 0.0;
    void look(const World& world, const Iterated& expected, const Iterated& before) {
        double speed = 1.0, spin = 1.0;
        for (std::size_t i = 1; i < expected.bodies.size(); ++i) {
            const Iterated::Body &now = expected.bodies[i], &old = before.bodies[i];
            speed = std::max({speed, size(now.v), size(minus(now.at, old.at)) * 60.0});
            spin = std::max(spin, size(now.w));
        }
        for (std::size_t i = 1; i < expected.bodies.size(); ++i) {
            const Iterated::Body& body = expected.bodies[i];
            const BodyState state = state_of(world, static_cast<std::uint32_t>(i - 1));
            const D4 p = body.turn, q = d(state.pose.orientation);
            moved = std::max(moved, size(minus(d(state.pose.position), body.at)) * 60.0 / speed);
            turned =
                std::max(turned, std::hypot(size({p.x - q.x, p.y - q.y, p.z - q.z}), p.w - q.w) * 2.0 * 60.0 / spin);
            linear = std::max(linear, size(minus(d(state.linear_velocity), body.v)) / speed);
            angular = std::max(angular, size(minus(d(state.angular_velocity), body.w)) / spin);
        }
    }
    double most() const { return std::max({moved, turned, linear, angular}); }
};

}  // namespace

TEST_CASE("iterations do to velocities and poses what their derivation says, tick by tick, relax pass included") {
    for (const RigSolver solver : {RigSolver::block_jacobi, RigSolver::jacobi}) {
        for (const bool boxes : {false, true}) {
            for (const std::uint32_t iterations : {1u, 2u, 3u, kRigIterations, 35u}) {
                Draws random(static_cast<std::uint32_t>(seeded(111)));
                Difference difference;
                int compared = 0;
                for (int round = 0; round < sampled(16); ++round) {
                    const bool block = solver == RigSolver::block_jacobi;
                    WorldDef def = random_graph(random, boxes, block && round % 2 == 0);
                    def.solver.rig_solver = solver;
                    def.solver.rig_iterations = iterations;
                    def.substeps = boxes || round % 3 > 0 ? 1 : 2;
                    def.solver.coupling_iterations = 1 + static_cast<std::uint32_t>(round) % 4;
                    auto world = make_world(def);
                    Iterated expected(*world, world->definition());
                    // The first tick begins without impulses, later ones with those of the last.
                    for (int tick = 0; tick < (boxes ? 1 : 3); ++tick) {
                        const Iterated before = expected;
                        expected.tick();
                        world->step();
                        if (expected.peak > 0.8) break;  // block Jacobi hardly converges but on chains
                        difference.look(*world, expected, before);
                        ++compared;
                        expected.read(*world);
                    }
                }
                MESSAGE(std::string(rig_solver_name(solver))
                        << std::string(boxes ? ", boxes, " : ", spheres, ") << iterations << " iterations, " << compared
                        << " ticks: moved " << difference.moved << ", turned " << difference.turned << ", velocity "
                        << difference.linear << ", spin " << difference.angular << " of the fastest");
                CHECK(difference.most() <
                      (solver == RigSolver::jacobi ? 2e-5 : 1e-4));  // whose impulses may outgrow all speeds
                CHECK(compared >= sampled(16) / 4);
            }
        }
    }
}

TEST_CASE("with split masses no eigenvalue is above 1, whatever the graph; without them some are") {
    Draws random(static_cast<std::uint32_t>(seeded(121)));
    double split = 0.0, whole = 0.0;
    for (int round = 0; round < sampled(20); ++round) {
        WorldDef def = random_graph(random, round % 2 == 0);
        for (const RigSolver solver : {RigSolver::jacobi, RigSolver::block_jacobi}) {
            def.solver.rig_solver = solver;
            auto world = make_world(def);
            Iterated model(*world, world->definition());
            model.tick();
            double& most = solver == RigSolver::jacobi ? split : whole;
            most = std::max(most, model.largest_eigenvalue(random));
        }
    }
    MESSAGE("largest: split masses 1 + " << split - 1.0 << ", whole ones " << whole);
    CHECK(split <= 1.0 + 1e-9);
    CHECK(whole > 1.5);
}

TEST_CASE("the steps of graphs leave of each eigenvalue's share what Chebyshev's polynomial does") {
    double worst = 0.0;
    for (const int iterations : {1, 2, 3, 4, 10, 16, 17, 40, 256}) {
        for (const float softness : {kRigCompliance, 0.02f, 1.0f}) {
            std::vector<GraphStep> steps(static_cast<std::size_t>(iterations));
            ref::make_graph_steps(true, static_cast<std::uint32_t>(iterations), softness, steps.data());
            double most = 0.0;
            for (int k = 1; k <= 200; ++k) {
                const double lambda = k / 200.0;
                double left = 1.0, change = 0.0;
                for (const GraphStep& by : steps) {
                    change = static_cast<double>(by.keep) * change + static_cast<double>(by.step) * left;
                    left -= lambda * change;
                }
                double wanted = 1.0;
                for (const int degree : degrees(iterations)) {
                    const Interval over(degree, static_cast<double>(softness));
                    const double at = (over.theta - lambda) / over.delta;
                    const double value =
                        std::abs(at) <= 1.0 ? std::cos(degree * std::acos(at)) : std::cosh(degree * std::acosh(at));
                    wanted *= value / over.largest(degree);
                }
                most = std::max(most, std::abs(left - wanted));
            }
            worst = std::max(worst, most);
        }
    }
    MESSAGE("off by at most " << worst);
    CHECK(worst < 4e-5);
    GraphStep plain[3];
    ref::make_graph_steps(false, 3, 0.5f, plain);
    for (const GraphStep& by : plain) {
        CHECK(by.keep == 0.0f);
        CHECK(by.step == 1.0f);
    }
}
