// Guards: that members of rigs whose joints are far from their centres are as hard to turn as rigs/graph/stars.h says,
// for all that touches them, for as long as their joints stand, and alike on every way through breaks, commands, save,
// restore and checkpoints.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sim/rigs/graph/stars.h"
#include "tests/support/bodies.h"
#include "tests/support/courses.h"
#include "tests/support/rigs.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

struct Draws : Lcg {
    using Lcg::Lcg;
    Vec3 within(float most) { return {between(-most, most), between(-most, most), between(-most, most)}; }
};

// A rope ladder of balls whose joints are far from their centres, hung up, over the ground; `breakable`: the lowest
// joints give way soon.
WorldDef ladder_of_balls(bool breakable) {
    WorldDef def;
    def.solver.rig_joints = 4;
    const std::uint32_t ball = add_sphere_shape(def, 0.03f);
    add_ground(def);
    std::uint32_t above[2] = {kNone, kNone};
    for (int k = 0; k < 6; ++k) {
        const float y = 3.0f - 0.5f * static_cast<float>(k);
        std::uint32_t row[2];
        for (int side = 0; side < 2; ++side) {
            const float z = side == 0 ? -0.25f : 0.25f;
            row[side] = add_body(def, ball, {0.0f, y, z});
            add_joint(def, above[side], row[side],
                      BallSocket{above[side] == kNone ? Vec3{0.0f, y + 0.25f, z} : Vec3{0.0f, -0.25f, 0.0f},
                                 {0.0f, 0.25f, 0.0f},
                                 {}});
            above[side] = row[side];
        }
        add_joint(def, row[0], row[1], BallSocket{{0.0f, 0.0f, 0.25f}, {0.0f, 0.0f, -0.25f}, {}});
    }
    for (BodyDef& body : def.bodies) {
        if (body.shape == ball) body.mass_kg = 1.0f;
    }
    for (std::size_t k = def.joints.size() - 6; breakable && k < def.joints.size(); ++k)
        def.joints[k].break_force_n = 25.0f;
    return def;
}

// rad/s that a turn by 1 mN m s gives a body in a tick without forces.
double turned_by_a_push(const WorldDef& def, std::span<const Command> first, std::uint32_t body) {
    const auto spin = [&](float push) {
        auto world = make_world(def);
        std::vector<Command> commands(first.begin(), first.end());
        if (!commands.empty()) world->step(commands);
        Command turn = command(CommandKind::impulse);
        turn.body = {body + 1, 0};
        turn.angular = {push, 0.0f, 0.0f};
        world->step({&turn, 1});
        CHECK(count_events(*world, EventKind::command_rejected) == 0);
        return static_cast<double>(state_of(*world, body).angular_velocity.x);
    };
    return spin(1.0e-3f) - spin(0.0f);
}

}  // namespace

TEST_CASE("stars have the inertia of rods to their joints, transcribed in double precision") {
    Draws random(static_cast<std::uint32_t>(seeded(261)));
    int stars = 0;
    double worst = 0.0;
    for (int round = 0; round < sampled(10'000); ++round) {
        Bodies bodies = test::make_bodies();
        const float mass = std::exp(random.between(-7.0f, 7.0f)), across = std::exp(random.between(-5.0f, 0.0f));
        for (int i = 0; i < 2; ++i) {
            test::BodySpec spec;
            spec.mass = mass;
            const float k = mass * across * across;
            spec.inertia = {k * random.between(0.5f, 1.0f), k * random.between(0.5f, 1.0f),
                            k * random.between(0.5f, 1.0f)};
            test::add_body(bodies, spec);
        }
        Rigs rigs;
        Rig& rig = rigs.rigs.emplace_back();
        rig.method = RigMethod::jacobi;
        rig.links = 1 + static_cast<std::uint32_t>(random.between(0.0f, 5.0f));
        std::vector<Joint> joints;
        std::vector<D3> arms[2];
        for (std::uint32_t i = 0; i < rig.links; ++i) {
            const float far = std::exp(random.between(-5.0f, 1.0f));
            const Vec3 a = random.unit() < 0.1f ? Vec3{} : random.within(far), b = random.within(far);
            const bool held = random.unit() < 0.3f;  // by the world
            joints.push_back(test::make_joint(held ? 0 : 1, 2, BallSocket{a, b, {}}));
            if (!held) arms[0].push_back(d(a));
            arms[1].push_back(d(b));
            rigs.joints.push_back(i);
        }
        std::vector<Star> found;
        ref::find_stars(rigs, bodies, joints, found);
        std::size_t next = 0;
        for (std::uint32_t i = 1; i <= 2; ++i) {
            const MassRecord& own = mass_record(bodies, i);
            const float* w = own.inverse_inertia;
            const M3 inverse{D3{w[0], w[1], w[2]}, D3{w[1], w[3], w[4]}, D3{w[2], w[4], w[5]}};
            const auto wanted = star_of(inverse, static_cast<double>(own.inverse_mass), arms[i - 1]);
            const bool is = next < found.size() && found[next].body == i;
            if (!wanted || !is) {  // s is 1 to rounding, or both say no
                if (is) ++next;
                double most = 0.0;
                if (wanted)
                    for (std::size_t k = 0; k < 3; ++k)
                        most = std::max(most, std::abs((*wanted)[k][k] / inverse[k][k] - 1.0));
                CHECK(most < 1e-5);
                if (!wanted && is) CHECK(found[next - 1].inverse_inertia[0] == doctest::Approx(w[0]).epsilon(1e-5));
                continue;
            }
            const float* const s = found[next++].inverse_inertia;
            const D3 rows[3] = {D3{s[0], s[1], s[2]}, D3{s[1], s[3], s[4]}, D3{s[2], s[4], s[5]}};
            double scale = 0.0;
            for (std::size_t k = 0; k < 3; ++k) scale = std::max(scale, (*wanted)[k][k]);
            for (std::size_t row = 0; row < 3; ++row) {
                for (std::size_t column = 0; column < 3; ++column)
                    worst = std::max(worst, std::abs(rows[row][column] - (*wanted)[row][column]) / scale);
            }
            ++stars;
        }
        CHECK(next == found.size());
    }
    MESSAGE(stars << " stars, off by at most " << worst << " of their largest");
    CHECK(stars > sampled(10'000) / 2);
    CHECK(worst < 1e-5);
}

// To impulses, too: 4.4e-4 kg m^2 is a ball of 0.03 m alone, what a ladder holds at three points 0.25 m away is a
// hundred times that.
TEST_CASE("a star turns as one for impulses until its joints are gone") {
    const WorldDef def = ladder_of_balls(false);
    const std::uint32_t ball = 5;
    const double alone = 1.0e-3 / (0.4 * 0.03 * 0.03);
    std::vector<Command> all;
    for (std::uint32_t i = 0; i < def.joints.size(); ++i) {
        all.push_back(command(CommandKind::remove_joint));
        all.back().joint = {i, 0};
        all.back().sequence = i;
    }
    CHECK(turned_by_a_push(def, {}, ball) < 0.05 * alone);
    CHECK(turned_by_a_push(def, all, ball) == doctest::Approx(alone).epsilon(0.01));
}

TEST_CASE(
    "stars have the same bits for every target, thread count and way through breaks, impulses, save and restore") {
    const WorldDef def = ladder_of_balls(true);
    int broken = 0;
    const auto commands = [&](std::uint64_t tick) {
        std::vector<Command> out;
        out.push_back(command(CommandKind::impulse));
        out.back().body = {2 + static_cast<std::uint32_t>(tick * 5 % 12), 0};
        out.back().angular = {0.01f, -0.02f, 0.015f};
        out.back().linear = {0.0f, tick % 9 == 0 ? -1.5f : 0.2f, 0.1f};
        if (tick == 30) {
            out.push_back(command(CommandKind::remove_joint));
            out.back().joint = {4, 0};
            out.back().sequence = 1;
        }
        return out;
    };
    check_one_course({def, 60, commands, [&](const World& world) {
                          broken += static_cast<int>(
                              std::ranges::count(world.events(), EventKind::joint_broken, &Event::kind));
                      }});
    CHECK(broken > 0);
}

TEST_CASE("a world that goes back to a checkpoint has the stars of then") {
    WorldDef def = ladder_of_balls(false);
    auto world = make_world(def);
    run(*world, 5);
    Checkpoint before;
    world->checkpoint(before);
    const auto push = [](std::uint32_t body) {
        Command turn = command(CommandKind::impulse);
        turn.body = {body + 1, 0};
        turn.angular = {0.01f, 0.0f, 0.02f};
        return turn;
    };
    const auto go_on = [&](World& of) {
        std::vector<HashTree> hashes;
        for (std::uint32_t tick = 0; tick < 20; ++tick) {
            const Command turn = push(2 + tick % 10);
            of.step({&turn, 1});
            hashes.push_back(of.hash());
        }
        return hashes;
    };
    const std::vector<HashTree> as_it_was = go_on(*world);
    std::vector<Command> all;
    for (std::uint32_t i = 0; i < def.joints.size(); i += 2) {
        all.push_back(command(CommandKind::remove_joint));
        all.back().joint = {i, 0};
        all.back().sequence = i;
    }
    world->step(all);
    run(*world, 3);
    Checkpoint after;
    world->checkpoint(after);
    const std::vector<HashTree> torn = go_on(*world);
    for (int round = 0; round < 2; ++round) {
        REQUIRE(world->roll_back(before).ok());
        CHECK((go_on(*world) == as_it_was));
        REQUIRE(world->roll_back(after).ok());
        CHECK((go_on(*world) == torn));
    }
}
