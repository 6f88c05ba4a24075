// Guards: the soft-step pipeline on bodies made by hand, without shapes or a world: integration has the analytic
// answers, joints hold, contacts carry, and every target, worker count and solver object gives the same bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "sim/solver/colouring.h"
#include "sim/solver/solver.h"
#include "tests/support/about.h"
#include "tests/support/bodies.h"

namespace orrery::sim::test {
namespace {

// Chains of beads that start horizontal, as in the benchmark S1.
struct Chains {
    Bodies bodies = make_bodies();
    std::vector<Joint> joints;
    Chains(std::uint32_t chains, std::uint32_t beads) {
        for (std::uint32_t c = 0; c < chains; ++c) {
            std::uint32_t before = kWorldBody;
            for (std::uint32_t k = 0; k < beads; ++k) {
                const Vec3 at{0.25f * static_cast<float>(k), 0.0f, 0.4f * static_cast<float>(c)};
                const std::uint32_t bead = add_body(bodies, sphere_spec(at, 0.1f));
                BallSocket ball;
                ball.anchor_a = before == kWorldBody ? Vec3{at.x - 0.125f, at.y, at.z} : Vec3{0.125f, 0.0f, 0.0f};
                ball.anchor_b = {-0.125f, 0.0f, 0.0f};
                joints.push_back(make_joint(before, bead, ball));
                before = bead;
            }
        }
    }
};

double separation(const Bodies& bodies, const Joint& joint) {
    const auto& ball = std::get<BallSocket>(joint.constraint);
    const Point a = to_world(bodies, joint.a, ball.anchor_a), b = to_world(bodies, joint.b, ball.anchor_b);
    return std::hypot(b.x - a.x, b.y - a.y, b.z - a.z);
}

}  // namespace

TEST_CASE("a free body falls as semi-implicit Euler says and drifts by nothing else") {
    Bodies bodies = make_bodies();
    const std::uint32_t body = add_body(bodies, {.position = {1.0f, 2.0f, 3.0f}, .linear = {4.0f, 0.0f, 0.0f}});
    ShuffledExecutor executor(1);
    const StepInput input = make_input(executor);
    Solver solver;
    for (int tick = 0; tick < 60; ++tick) solver.step(input, bodies, {}, {});
    // n substeps of h: y = -g h^2 n (n + 1) / 2.
    CHECK(position(bodies, body).y == orrery::test::about(2.0 - 10.0 / 240 / 240 * 240 * 241 / 2, 1e-5));
    CHECK(position(bodies, body).x == orrery::test::about(5.0, 1e-5));
    CHECK(linear_velocity(bodies, body).y == orrery::test::about(-10.0, 1e-5));
    CHECK(position(bodies, body).z == 3.0f);
}

TEST_CASE("a kinematic body moves by its velocity and nothing moves a fixed one") {
    Bodies bodies = make_bodies();
    const std::uint32_t kinematic = add_body(bodies, {.linear = {1.0f, 0.0f, 0.0f}, .kind = kBodyKinematic});
    const std::uint32_t fixed = add_body(bodies, {.position = {0.0f, -1.0f, 0.0f}, .kind = 0});
    ShuffledExecutor executor(1);
    Solver solver;
    for (int tick = 0; tick < 60; ++tick) solver.step(make_input(executor), bodies, {}, {});
    CHECK(position(bodies, kinematic).x == orrery::test::about(1.0, 1e-5));
    CHECK(linear_velocity(bodies, kinematic) == Vec3{1.0f, 0.0f, 0.0f});
    CHECK(position(bodies, fixed) == Vec3{0.0f, -1.0f, 0.0f});
}

TEST_CASE("a box rests on the floor inside the slop and friction holds it against a push below mu m g") {
    const Vec3 h{0.5f, 0.5f, 0.5f};
    Bodies bodies = make_bodies();
    const std::uint32_t floor = add_body(bodies, {.kind = 0});
    const std::uint32_t box = add_body(bodies, box_spec({0.0f, 0.5f, 0.0f}, h));
    ShuffledExecutor executor(1);
    std::vector<Vec3> force(bodies.size());
    force[box] = {0.55f * 10000.0f, 0.0f, 0.0f};
    StepInput input = make_input(executor);
    Solver solver;
    Manifold last;
    const auto run = [&](int ticks) {
        for (int tick = 0; tick < ticks; ++tick) {
            Manifold m = box_on_floor(bodies, floor, box, h, 0.6f);
            carry(last, m);
            solver.step(input, bodies, {}, test::listed({&m, 1}));
            last = m;
        }
    };
    run(120);
    CHECK(position(bodies, box).y < 0.5f);
    CHECK(position(bodies, box).y > 0.5f - 0.006f);
    CHECK(last.total_normal_impulse == orrery::test::about(10000.0 / 60, 0.01));
    input.force = force;
    run(120);
    const float settled = position(bodies, box).x;
    run(240);
    CHECK(std::abs(settled) < 0.002f);
    CHECK(std::abs(position(bodies, box).x - settled) < 1.0e-4f);
    force[box].x = 0.65f * 10000.0f;
    run(120);
    CHECK(position(bodies, box).x > 0.5f);  // 0.05 g for 2 s is 1 m
}

TEST_CASE("a swinging chain of 40 beads keeps its anchors together") {
    Chains scene(1, 40);
    ShuffledExecutor executor(1);
    Solver solver;
    std::vector<JointImpulse> impulses(scene.joints.size());
    StepInput input = make_input(executor);
    input.impulses = impulses;
    for (int tick = 1; tick <= 300; ++tick) {
        solver.step(input, scene.bodies, scene.joints, {});
        if (tick != 60 && tick != 120 && tick != 300) continue;
        double largest = 0.0;
        for (const Joint& joint : scene.joints) largest = std::max(largest, separation(scene.bodies, joint));
        CAPTURE(tick);
        CHECK(largest < 0.015);
    }
}

TEST_CASE("no two constraints of a colour share a dynamic body, and colours depend on order alone") {
    Bodies bodies = make_bodies();
    for (int k = 0; k < 200; ++k) {
        BodySpec spec;
        spec.kind = k % 10 == 0 ? std::uint8_t{0} : std::uint8_t{kBodyDynamic};
        add_body(bodies, spec);
    }
    std::uint32_t state = 12345;
    const auto next = [&](std::uint32_t below) {
        state = state * 1664525u + 1013904223u;
        return (state >> 8) % below;
    };
    std::vector<Joint> joints;
    std::vector<Manifold> manifolds;
    for (int k = 0; k < 600; ++k) {
        const std::uint32_t a = next(200), b = 1 + (a + 1 + next(198)) % 200;
        if (a == b) continue;
        if (k % 3 == 0) joints.push_back(make_joint(a, b, BallSocket{}));
        Manifold m;
        m.a = std::min(a, b), m.b = std::max(a, b), m.count = 1 + next(4);
        manifolds.push_back(m);
    }
    Colouring colouring;
    std::vector<std::uint32_t> every(joints.size());
    std::iota(every.begin(), every.end(), 0u);
    std::vector<Contact> contacts;
    for (const Manifold& m : manifolds)
        contacts.push_back({m.a, m.b, static_cast<std::uint8_t>(m.count), 1, bodies.dynamic(m.a), bodies.dynamic(m.b)});
    colour_joints(bodies, joints, every, colouring);
    colour_contacts(contacts, colouring);
    std::vector<std::vector<int>> seen(kMaxColours, std::vector<int>(bodies.size()));
    bool valid = true;
    std::uint32_t highest_between = 0, lowest_fixed = kMaxColours;
    const auto check = [&](std::uint8_t colour, std::uint32_t a, std::uint32_t b) {
        if (!bodies.dynamic(a) && !bodies.dynamic(b)) {
            valid = valid && colour == kNoColour;
            return;
        }
        valid = valid && colour < colouring.colours;
        if (!valid) return;
        if (bodies.dynamic(a)) valid = valid && seen[colour][a]++ == 0;
        if (bodies.dynamic(b)) valid = valid && seen[colour][b]++ == 0;
    };
    for (std::size_t k = 0; k < joints.size(); ++k) check(colouring.joints[k], joints[k].a, joints[k].b);
    for (std::size_t k = 0; k < manifolds.size(); ++k) {
        const Manifold& m = manifolds[k];
        check(colouring.contacts[k], m.a, m.b);
        if (bodies.dynamic(m.a) && bodies.dynamic(m.b)) {
            highest_between = std::max<std::uint32_t>(highest_between, colouring.contacts[k]);
        } else if (colouring.contacts[k] != kNoColour) {
            lowest_fixed = std::min<std::uint32_t>(lowest_fixed, colouring.contacts[k]);
        }
    }
    CHECK(valid);
    CHECK(colouring.colours > 3);
    CHECK(highest_between < lowest_fixed);  // contacts against the ground come last
}

TEST_CASE("a hub with more joints than colours is solved whole, and to the same bits everywhere") {
    const auto run = [](Target target, std::uint32_t workers, SolverStats* stats) {
        Bodies bodies = make_bodies();
        const std::uint32_t hub = add_body(bodies, box_spec({0.0f, 0.0f, 0.0f}, {2.0f, 2.0f, 2.0f}));
        std::vector<Joint> joints;
        for (int k = 0; k < 150; ++k) {
            const float x = 0.02f * static_cast<float>(k) - 1.5f;
            const std::uint32_t bead = add_body(bodies, sphere_spec({x, -2.5f, 0.0f}, 0.1f));
            joints.push_back(make_joint(hub, bead, BallSocket{{x, -2.25f, 0.0f}, {0.0f, 0.25f, 0.0f}, {}}));
        }
        joints.push_back(make_joint(kWorldBody, hub, BallSocket{{0.0f, 2.0f, 0.0f}, {0.0f, 2.0f, 0.0f}, {}}));
        ShuffledExecutor executor(workers);
        StepInput input = make_input(executor);
        input.target = target;
        std::vector<JointImpulse> impulses(joints.size());
        input.impulses = impulses;
        Solver solver;
        for (int tick = 0; tick < 30; ++tick) *stats = solver.step(input, bodies, joints, {});
        for (const Joint& joint : joints) CHECK(separation(bodies, joint) < 0.01);
        return bodies;
    };
    SolverStats stats;
    const Bodies reference = run(Target::scalar, 1, &stats);
    CHECK(stats.colours == kMaxColours);
    CHECK(stats.overflow_constraints == 151 - kMaxColours);
    for (const Target target : available_targets()) CHECK(same_bits(run(target, 3, &stats), reference));
}

TEST_CASE("every target, worker count and solver object gives the same bits") {
    const auto run = [](Target target, std::uint32_t workers, bool fresh) {
        Chains scene(30, 20);
        const Vec3 h{0.5f, 0.4f, 0.3f};
        const std::uint32_t floor = add_body(scene.bodies, {.kind = 0});
        std::vector<std::uint32_t> boxes;
        for (int k = 0; k < 37; ++k) {
            BodySpec spec = box_spec({3.0f * static_cast<float>(k), 0.41f, 20.0f}, h);
            spec.linear = {0.3f, -2.0f, 0.1f}, spec.angular = {0.0f, 1.0f, 0.0f};
            boxes.push_back(add_body(scene.bodies, spec));
        }
        ShuffledExecutor executor(workers);
        StepInput input = make_input(executor);
        input.target = target;
        std::vector<JointImpulse> impulses(scene.joints.size());
        input.impulses = impulses;
        auto solver = std::make_unique<Solver>();
        std::vector<Manifold> last(boxes.size());
        for (int tick = 0; tick < 20; ++tick) {
            std::vector<Manifold> manifolds;
            for (std::size_t k = 0; k < boxes.size(); ++k) {
                manifolds.push_back(box_on_floor(scene.bodies, floor, boxes[k], h, 0.6f));
                manifolds.back().restitution = k % 3 == 0 ? 0.5f : 0.0f;
                manifolds.back().count = 1 + static_cast<std::uint32_t>(k % 4);
                carry(last[k], manifolds.back());
            }
            if (fresh) solver = std::make_unique<Solver>();
            solver->step(input, scene.bodies, scene.joints, test::listed(manifolds));
            last = manifolds;
        }
        return scene.bodies;
    };
    const Bodies reference = run(Target::scalar, 1, false);
    CHECK(std::isfinite(reference.pose[1].position[1]));
    for (const Target target : available_targets()) {
        for (const std::uint32_t workers : {1u, 2u, 3u, 8u}) {
            CAPTURE(target_name(target));
            CAPTURE(workers);
            CHECK(same_bits(run(target, workers, workers == 3), reference));
        }
    }
}

}  // namespace orrery::sim::test
