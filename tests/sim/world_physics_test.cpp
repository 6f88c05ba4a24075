// Physics with answers that can be computed by hand, through the public interface.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "tests/support/about.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr double kGravity = 10.0, kDt = 1.0 / 60.0;

// Mean time between upward passages of `value` through zero, by linear interpolation; the first is not counted.
class PeriodMeter {
  public:
    void sample(double time_s, double value) {
        if (previous_ < 0.0 && value >= 0.0) {
            const double crossing = time_s - kDt * value / (value - previous_);
            if (count_++ == 0) first_ = crossing;
            last_ = crossing;
        }
        previous_ = value;
    }
    int periods() const { return count_ - 1; }
    double mean_s() const { return (last_ - first_) / periods(); }

  private:
    double previous_ = 0.0, first_ = 0.0, last_ = 0.0;
    int count_ = 0;
};

}  // namespace

TEST_CASE("a projectile flies the parabola, off by less than one substep's fall") {
    WorldDef def;
    const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 50.0f, 0.0f});
    def.bodies[ball].linear_velocity = {12.0f, 8.0f, -3.0f};
    auto world = make_world(def);
    for (int n = 1; n <= 120; ++n) {
        world->step();
        const double t = n * kDt, h = kDt / 4, v_error = 2e-5 * (1 + n);
        const BodyState s = state_of(*world, ball);
        CHECK(s.pose.position.x == about(12.0 * t, 1e-5));
        CHECK(s.pose.position.z == about(-3.0 * t, 1e-5));
        CHECK(std::abs(s.linear_velocity.y - (8.0 - kGravity * t)) < v_error);
        CHECK(std::abs(s.pose.position.y - (50.0 + 8.0 * t - 0.5 * kGravity * t * (t + h))) < 1e-3);
        CHECK(std::abs(s.pose.position.y - (50.0 + 8.0 * t - 0.5 * kGravity * t * t)) < 0.5 * kGravity * t * h + 1e-3);
    }
}

TEST_CASE("linear damping slows by its rate, and a locked axis stays") {
    WorldDef def;
    def.gravity = {};
    const auto shape = add_sphere_shape(def, 0.5f);
    const auto damped = add_body(def, shape, {});
    def.bodies[damped].linear_velocity = {10.0f, 0.0f, 0.0f};
    def.bodies[damped].linear_damping = 0.5f;
    const auto locked = add_body(def, shape, {0.0f, 10.0f, 0.0f});
    def.bodies[locked].linear_velocity = {1.0f, 1.0f, 1.0f};
    def.bodies[locked].locks = kLockLinearY;
    auto world = make_world(def);
    run(*world, 60);
    CHECK(state_of(*world, damped).linear_velocity.x == about(10.0 * std::exp(-0.5), 0.002));
    CHECK(state_of(*world, locked).pose.position.y == 10.0f);
    CHECK(state_of(*world, locked).pose.position.x == about(1.0, 1e-4));
}

TEST_CASE("a pendulum swings with the period of its length and inertia") {
    WorldDef def;
    const auto bob =
        add_body(def, add_sphere_shape(def, 0.1f), {std::sin(0.1f), -std::cos(0.1f), 0.0f}, turn_about_z(0.1f));
    add_joint(def, kNone, bob, BallSocket{{}, {0.0f, 1.0f, 0.0f}, {}});
    auto world = make_world(def);
    PeriodMeter meter;
    for (int n = 1; n <= 60 * 22; ++n) {
        world->step();
        meter.sample(n * kDt, state_of(*world, bob).pose.position.x);
    }
    REQUIRE(meter.periods() >= 9);
    const double inertia = 1.0 + 0.4 * 0.01;  // m L^2 + 2/5 m r^2, of m = L = 1
    const double expected = 2.0 * M_PI * std::sqrt(inertia / kGravity) * (1.0 + 0.1 * 0.1 / 16.0);
    CHECK(meter.mean_s() == about(expected, 0.005));
}

TEST_CASE("a sprung joint oscillates with the frequency and decay that were asked for") {
    WorldDef def;
    def.gravity = {};
    const auto ball = add_body(def, add_sphere_shape(def, 0.1f), {1.0f, 0.0f, 0.0f});
    add_joint(def, kNone, ball, BallSocket{{}, {}, {1.0f, 0.05f}});
    auto world = make_world(def);
    PeriodMeter meter;
    double largest_late = 0.0;
    for (int n = 1; n <= 60 * 8; ++n) {
        world->step();
        const double x = state_of(*world, ball).pose.position.x;
        meter.sample(n * kDt, x);
        if (n > 60 * 7) largest_late = std::max(largest_late, std::abs(x));
    }
    REQUIRE(meter.periods() >= 6);
    CHECK(meter.mean_s() == about(1.0 / std::sqrt(1.0 - 0.0025), 0.02));
    CHECK(largest_late < std::exp(-0.05 * 2.0 * M_PI * 7.0) * 1.15);
    CHECK(largest_late > std::exp(-0.05 * 2.0 * M_PI * 8.0) * 0.75);
}

TEST_CASE("a box sticks on a slope below the friction angle and slides above it as Coulomb says") {
    for (const float degrees : {10.0f, 20.0f, 29.0f}) {
        CAPTURE(degrees);
        WorldDef def;  // friction 0.6: the angle is 30.96 degrees
        const float angle = degrees * kPi / 180.0f;
        add_ground(def, turn_about_z(angle));
        const auto box = add_body(def, add_box_shape(def, {0.5f, 0.25f, 0.5f}),
                                  {-0.25f * std::sin(angle), 0.25f * std::cos(angle), 0.0f}, turn_about_z(angle));
        auto world = make_world(def);
        run(*world, 60);
        const Vec3 settled = state_of(*world, box).pose.position;
        run(*world, 240);
        const Vec3 now = state_of(*world, box).pose.position;
        CHECK(std::hypot(now.x - settled.x, now.y - settled.y) < 0.02);
    }
    for (const float degrees : {34.0f, 40.0f, 50.0f}) {
        CAPTURE(degrees);
        WorldDef def;
        const float angle = degrees * kPi / 180.0f;
        add_ground(def, turn_about_z(angle));
        const auto box = add_body(def, add_box_shape(def, {0.5f, 0.1f, 0.5f}),
                                  {-0.1f * std::sin(angle), 0.1f * std::cos(angle), 0.0f}, turn_about_z(angle));
        auto world = make_world(def);
        run(*world, 60);
        const Vec3 before = state_of(*world, box).linear_velocity;
        run(*world, 60);
        const Vec3 after = state_of(*world, box).linear_velocity;
        const double gained = std::hypot(after.x, after.y) - std::hypot(before.x, before.y);
        const double friction = (std::sin(angle) - gained / kGravity) / std::cos(angle);  // a = g (sin - mu cos)
        CHECK(friction == about(0.6, 0.01));
    }
}

TEST_CASE("a ball bounces to the square of its restitution") {
    for (const float restitution : {0.3f, 0.5f, 0.8f}) {
        CAPTURE(restitution);
        WorldDef def;
        def.materials[0].restitution = restitution;
        add_ground(def);
        const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 4.5f, 0.0f});
        auto world = make_world(def);
        bool bounced = false, begun = false;
        float top = 0.0f;
        for (int n = 0; n < 150; ++n) {
            world->step();
            begun = begun || count_events(*world, EventKind::contact_begin) == 1;
            const BodyState s = state_of(*world, ball);
            if (s.linear_velocity.y > 0.0f) bounced = true;
            if (bounced) top = std::max(top, s.pose.position.y - 0.5f);
            if (bounced && s.linear_velocity.y < 0.0f) break;
        }
        CHECK(begun);
        CHECK(top == about(4.0 * restitution * restitution, 0.06));
    }
}

TEST_CASE(
    "a ball of restitution 1 comes back to where it fell from, but for two substeps of its speed, and never higher" *
    doctest::test_suite("quality")) {
    for (const std::uint32_t substeps : {2u, 4u, 8u}) {
        for (const bool onto_ball : {false, true}) {
            WorldDef def;
            def.materials[0].restitution = 1.0f;
            def.materials[0].friction = 0.0f;
            def.substeps = substeps;
            def.solver.sleep = false;
            if (onto_ball)
                def.bodies[add_body(def, add_sphere_shape(def, 0.5f), {0.0f, -0.5f, 0.0f})].type = BodyType::fixed;
            else
                add_ground(def);
            const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 4.5f, 0.0f});
            auto world = make_world(def);
            double before = 0.0, highest = 4.0;
            int bounces = 0;
            for (int tick = 0; tick < 1200; ++tick) {
                world->step();
                const double y = state_of(*world, ball).pose.position.y - 0.5f,
                             v = state_of(*world, ball).linear_velocity.y;
                if (before > 0.0 && v <= 0.0) {
                    CAPTURE(substeps);
                    CAPTURE(onto_ball);
                    CHECK(y < highest + 1e-4);
                    CHECK(y > highest - 2 * std::sqrt(2 * 10 * highest) / (60.0 * substeps) -
                                  10 / 7200.0);  // and between two ticks
                    highest = y;
                    ++bounces;
                }
                before = v;
            }
            CHECK(bounces >= 10);
        }
    }
}

// What a single pass along the points left: a plate that turned by 2 rad/s and half of its speed, a cube by 1.
TEST_CASE("what comes down flat bounces flat, with e times its speed") {
    struct Fall {
        Vec3 half;
        float e;
        bool wall;
        ShapeType type = ShapeType::box;
    };
    for (const Fall& fall :
         {Fall{{1.0f, 0.05f, 1.0f}, 0.5f, false}, Fall{{0.5f, 0.5f, 0.5f}, 0.5f, false},
          Fall{{0.5f, 0.5f, 0.5f}, 1.0f, false}, Fall{{0.2f, 0.6f, 0.3f}, 0.8f, false},
          Fall{{0.5f, 0.5f, 0.5f}, 0.8f, true}, Fall{{0.4f, 0.5f, 0.4f}, 0.7f, false, ShapeType::cylinder}}) {
        CAPTURE(fall.half.x);
        CAPTURE(fall.e);
        CAPTURE(fall.wall);
        WorldDef def;
        if (fall.wall) def.gravity = {};
        def.materials.resize(1);
        def.materials[0].restitution = fall.e;
        if (fall.wall) def.materials[0].friction = 0.0f;
        const std::uint32_t ground = add_body(def, add_box_shape(def, {5.0f, 0.5f, 5.0f}), {0.0f, -0.5f, 0.0f});
        def.bodies[ground].type = BodyType::fixed;
        const std::uint32_t shape = fall.type == ShapeType::box
                                        ? add_box_shape(def, fall.half)
                                        : add_shape(def, {"", ShapeType::cylinder, fall.half.x, fall.half.y, {}});
        const std::uint32_t body = add_body(def, shape, {0.1f, fall.half.y + (fall.wall ? 0.5f : 2.0f), 0.0f});
        if (fall.wall) def.bodies[body].linear_velocity = {0.0f, -6.0f, 0.0f};
        auto world = make_world(def);
        float fastest = 0.0f, up = 0.0f, spin = 0.0f;
        for (int tick = 0; tick < 60 && up == 0.0f; ++tick) {
            world->step();
            const BodyState state = state_of(*world, body);
            fastest = std::max(fastest, -state.linear_velocity.y);
            if (state.linear_velocity.y > 0.1f) {
                up = state.linear_velocity.y;
                const Vec3 w = state.angular_velocity;
                spin = std::sqrt(w.x * w.x + w.y * w.y + w.z * w.z);
            }
        }
        CHECK(up == doctest::Approx(fall.e * fastest).epsilon(0.05));  // a tick's fall before and after
        CHECK(spin < 0.1f);
    }
}

TEST_CASE("bodies that collide or hang together keep their linear and angular momentum") {
    WorldDef def;
    def.gravity = {};
    const auto ball = add_sphere_shape(def, 0.5f), box = add_box_shape(def, {0.4f, 0.6f, 0.3f});
    for (int i = 0; i < 12; ++i) {
        const float k = static_cast<float>(i);
        const auto body = add_body(def, i % 2 == 0 ? ball : box, {k * 1.3f, std::sin(k) * 0.3f, std::cos(k) * 0.2f});
        def.bodies[body].linear_velocity = {i < 6 ? 2.0f : -2.0f, 0.0f, 0.1f * k};
        def.bodies[body].angular_velocity = {0.5f, -0.3f * k, 0.2f};
    }
    add_joint(def, 2, 3, BallSocket{{0.65f, 0.0f, 0.0f}, {-0.65f, 0.0f, 0.0f}, {}});
    auto world = make_world(def);
    const auto momentum = [&](double p[3]) {
        std::vector<BodyState> bodies;
        world->read_bodies(bodies);
        for (const BodyState& b : bodies) {
            const double m = 1.0 / b.inverse_mass;
            p[0] += m * b.linear_velocity.x, p[1] += m * b.linear_velocity.y, p[2] += m * b.linear_velocity.z;
        }
    };
    double before[3] = {}, after[3] = {};
    momentum(before);
    bool touched = false;
    for (int n = 0; n < 240; ++n) {
        world->step();
        touched = touched || world->stats().touching_pairs > 0;
    }
    momentum(after);
    CHECK(touched);
    const double scale = 12 * 500.0 * 2.0;  // of the momenta that the collisions exchange
    for (int k = 0; k < 3; ++k) CHECK(std::abs(after[k] - before[k]) < 1e-4 * scale);
}

TEST_CASE("a stack of ten boxes comes to rest and stays") {
    WorldDef def;
    def.solver.sleep = false;
    add_ground(def);
    const auto shape = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    for (int i = 0; i < 10; ++i) add_body(def, shape, {0.0f, 0.5f + static_cast<float>(i), 0.0f});
    auto world = make_world(def);
    run(*world, 120);
    const Vec3 settled = state_of(*world, 10).pose.position;
    run(*world, 300);
    for (std::uint32_t i = 1; i <= 10; ++i) {
        const BodyState s = state_of(*world, i);
        CHECK(std::hypot(s.linear_velocity.x, s.linear_velocity.y, s.linear_velocity.z) < 0.01);
        CHECK(s.pose.position.y == about(i - 0.5, 0.02));
    }
    CHECK(std::abs(state_of(*world, 10).pose.position.x - settled.x) < 0.01);
    CHECK(world->stats().touching_pairs == 10);
    CHECK(world->stats().max_penetration_m < 0.002f);
}

TEST_CASE("a pyramid of boxes, twenty at its base, stands for five seconds" * doctest::test_suite("quality")) {
    WorldDef def;
    add_ground(def);
    const auto shape = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    std::vector<Vec3> places;
    for (int row = 0; row < 20; ++row) {
        for (int i = 0; i < 20 - row; ++i) {
            const Vec3 place{(static_cast<float>(i) - static_cast<float>(19 - row) * 0.5f) * 1.1f,
                             0.5f + static_cast<float>(row), 0.0f};
            add_body(def, shape, place);
            places.push_back(place);
        }
    }
    auto world = make_world(def);
    run(*world, 300);
    double largest = 0.0;
    for (std::uint32_t i = 0; i < places.size(); ++i) {
        const Vec3 p = state_of(*world, i + 1).pose.position;
        largest = std::max(largest, std::hypot<double>(p.x - places[i].x, p.y - places[i].y, p.z - places[i].z));
    }
    CHECK(largest < 0.25);
}

TEST_CASE("contact events begin, hit and end once each, with the impulse that stopped the body") {
    WorldDef def;
    add_ground(def);
    const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 3.0f, 0.0f});
    auto world = make_world(def);
    int begins = 0, hits = 0, ends = 0;
    float impulse = 0.0f;
    for (int n = 0; n < 120; ++n) {
        world->step();
        begins += count_events(*world, EventKind::contact_begin);
        hits += count_events(*world, EventKind::contact_hit);
        for (const Event& event : world->events()) {
            if (event.kind != EventKind::contact_hit) continue;
            impulse = event.impulse;
            CHECK(event.a == BodyId{1, 0});
            CHECK(event.b == BodyId{2, 0});
            CHECK(event.normal.y == doctest::Approx(1.0));
        }
    }
    CHECK(begins == 1);
    CHECK(hits >= 1);
    const double mass = 1.0 / state_of(*world, ball).inverse_mass;
    CHECK(impulse == about(mass * std::sqrt(2.0 * kGravity * 2.5), 0.1));
    Command lift = command(CommandKind::teleport);
    lift.body = {2, 0};
    lift.pose.position = {0.0f, 10.0f, 0.0f};
    world->step(std::array{lift});
    ends += count_events(*world, EventKind::contact_end);
    CHECK(ends == 1);
}

TEST_CASE("contacts of bodies of several parts begin and end by pairs of parts, in turn, until the bodies are gone") {
    WorldDef def;
    const std::uint32_t bar = add_box_shape(def, {0.6f, 0.1f, 0.1f}), ball = add_sphere_shape(def, 0.2f);
    ShapeDef jack, mesh;
    jack.type = ShapeType::compound;
    jack.children = {{bar, {}}, {bar, {{}, {0.0f, 0.0f, 0.70710678f, 0.70710678f}}}, {ball, {{0.6f, 0.0f, 0.0f}, {}}}};
    mesh.type = ShapeType::mesh;
    mesh.points = {{-6.0f, 2.0f, -6.0f},
                   {6.0f, 2.0f, -6.0f},
                   {6.0f, 2.0f, 6.0f},
                   {-6.0f, 2.0f, 6.0f},
                   {0.0f, 0.0f, 0.0f}};  // a funnel
    mesh.indices = {0, 4, 1, 1, 4, 2, 2, 4, 3, 3, 4, 0};
    const std::uint32_t jacks = add_shape(def, jack), funnel = add_shape(def, mesh);
    def.bodies[add_body(def, funnel, {})].type = BodyType::fixed;
    constexpr std::uint32_t kJacks = 8;
    for (std::uint32_t i = 0; i < kJacks; ++i)
        add_body(def, jacks, {0.5f * static_cast<float>(i % 2), 2.0f + 1.5f * static_cast<float>(i), 0.3f},
                 exact_turn(0.1f * static_cast<float>(i)));
    auto world = make_world(def);
    using Parts = std::tuple<BodyId, std::uint32_t, BodyId, std::uint32_t>;
    std::set<Parts> touching;
    std::set<std::pair<std::uint32_t, std::uint32_t>> parts;
    const auto step = [&](std::span<const Command> commands) {
        world->step(commands);
        const auto key = [](const Event& e) {
            return std::tuple(e.kind, e.a, e.child_a, e.b, e.child_b, e.joint, e.tag);
        };
        CHECK(std::is_sorted(world->events().begin(), world->events().end(),
                             [&](const Event& x, const Event& y) { return key(x) < key(y); }));
        for (const Event& e :
             world->events()) {  // begins stand before ends, and one that ended may begin in the next tick
            if (e.kind == EventKind::contact_begin) CHECK(touching.emplace(e.a, e.child_a, e.b, e.child_b).second);
            if (e.kind == EventKind::contact_end) CHECK(touching.erase({e.a, e.child_a, e.b, e.child_b}) == 1);
            if (e.kind == EventKind::contact_begin) parts.emplace(e.child_a, e.child_b);
        }
    };
    for (int tick = 0; tick < 400; ++tick) step({});
    CHECK(touching.size() > kJacks);
    CHECK(parts.size() > 8);
    for (std::uint32_t i = 0; i < kJacks; ++i) {
        Command despawn = command(CommandKind::despawn);
        despawn.body = {2 + i, 0};
        step(std::array{despawn});
    }
    CHECK(touching.empty());
}

TEST_CASE("a pair that a joint connects does not collide unless it asks to") {
    for (const bool collide : {false, true}) {
        WorldDef def;
        def.gravity = {};
        const auto shape = add_sphere_shape(def, 0.5f);
        add_body(def, shape, {});
        add_body(def, shape, {0.8f, 0.0f, 0.0f});
        add_joint(def, 1, 0, DistanceLimit{{}, {}, 0.0f, 5.0f, {}});
        def.joints[0].collide_connected = collide;
        auto world = make_world(def);
        run(*world, 2);
        CHECK((world->stats().touching_pairs == 1) == collide);
    }
}

TEST_CASE("a body that comes to a speed limit says so once, until it is slower again") {
    WorldDef def;
    def.gravity = {};
    const std::uint32_t shape = add_sphere_shape(def, 0.5f);
    for (const float x : {-3000.0f, 0.0f}) {
        const auto ball = add_body(def, shape, {x, 0.0f, 0.0f});
        def.bodies[ball].mass_kg = 1.0f;
        def.bodies[ball].linear_velocity = {x == 0.0f ? 0.0f : 400.0f, 0.0f, 0.0f};
    }
    const auto world = make_world(def);
    const BodyId flies{1, 0}, turns{2, 0};
    const auto push = [&](World& w, BodyId body, Vec3 linear, Vec3 angular) {
        Command order = command(CommandKind::impulse);
        order.body = body;
        order.linear = linear;
        order.angular = angular;
        w.step(std::array{order});
    };
    run(*world, 1);
    CHECK(world->events().empty());
    push(*world, flies, {599.9f, 0.0f, 0.0f}, {});
    REQUIRE(world->events().size() == 1);
    CHECK(world->events()[0].kind == EventKind::speed_limited);
    CHECK(world->events()[0].cause == EventCause::too_fast);
    CHECK(world->events()[0].a == flies);
    std::vector<std::uint8_t> saved;
    world->save(saved);
    const auto again = make_world(def);
    REQUIRE(again->restore(saved).ok());
    for (World* w : {world.get(), again.get()}) {
        for (int tick = 0; tick < 3; ++tick) {
            run(*w, 1);
            CHECK(w->events().empty());
        }
        push(*w, flies, {-20.0f, 0.0f, 0.0f}, {});
        push(*w, flies, {20.0f, 0.0f, 0.0f}, {});  // it had not left it
        CHECK(w->events().empty());
        push(*w, flies, {-500.0f, 0.0f, 0.0f}, {});
        CHECK(w->events().empty());
        push(*w, flies, {500.0f, 0.0f, 0.0f}, {});
        CHECK(count_events(*w, EventKind::speed_limited, EventCause::too_fast) == 1);
        push(*w, turns, {}, {0.0f, 49.98f, 0.0f});  // inertia 0.1 kg m^2
        CHECK(count_events(*w, EventKind::speed_limited, EventCause::turns_too_fast) == 1);
    }
    CHECK(world->hash() == again->hash());
}

TEST_CASE("what spins at its limit without a shape falls asleep, and can be saved and restored in every tick") {
    WorldDef def;
    def.gravity = {};
    def.solver.sleep_time_s = 0.1f;
    BodyDef top;
    top.mass_kg = 1.0f;
    top.angular_velocity = {0.0f, 500.0f, 0.0f};
    def.bodies.push_back(top);
    const auto world = make_world(def), again = make_world(def);
    int said = 0;
    for (int tick = 0; tick < 20; ++tick) {
        run(*world, 1);
        said += count_events(*world, EventKind::speed_limited, EventCause::turns_too_fast);
        std::vector<std::uint8_t> saved;
        world->save(saved);
        const auto restored = again->restore(saved);
        REQUIRE_MESSAGE(restored.ok(), (restored.ok() ? "" : restored.error().to_string()));
        CHECK(world->hash() == again->hash());
    }
    CHECK(said == 1);
    CHECK(world->body({1, 0}).asleep);
}

TEST_CASE("beads of a chain that is solved by itself say it, too") {
    WorldDef def;
    def.gravity = {};
    def.solver.rig_joints = 1;
    const std::uint32_t shape = add_sphere_shape(def, 0.1f);
    for (std::uint32_t i = 0; i < 20; ++i) {
        const auto bead = add_body(def, shape, {static_cast<float>(i) * 0.25f, 0.0f, -2000.0f});
        def.bodies[bead].linear_velocity = {0.0f, 0.0f, 999.5f};
        def.bodies[bead].linear_damping = 0.05f;
        if (i > 0) add_joint(def, bead - 1, bead, BallSocket{{0.125f, 0.0f, 0.0f}, {-0.125f, 0.0f, 0.0f}, {}});
    }
    const auto world = make_world(def);
    run(*world, 1);
    REQUIRE(world->stats().rigs == 1);
    CHECK(count_events(*world, EventKind::speed_limited, EventCause::too_fast) == 0);  // damping was faster
    for (int tick = 0; tick < 5; ++tick) {
        std::vector<Command> orders;
        for (std::uint32_t i = 0; i < 20; ++i) {
            Command order = command(CommandKind::impulse);
            order.sequence = i;
            order.body = {i + 1, 0};
            const BodyState bead = world->body(order.body);
            order.linear = {0.0f, 0.0f, (tick == 0 ? 1.2f : 0.8f) / bead.inverse_mass};
            orders.push_back(order);
        }
        world->step(orders);
        CHECK(count_events(*world, EventKind::speed_limited, EventCause::too_fast) == (tick == 0 ? 20 : 0));
    }
    run(*world, 30);  // alone again, and slower
    CHECK(world->body({1, 0}).linear_velocity.z < 990.0f);
    std::vector<std::uint8_t> saved;
    world->save(saved);
    const auto again = make_world(def);
    REQUIRE(again->restore(saved).ok());
    CHECK(world->hash() == again->hash());
}
