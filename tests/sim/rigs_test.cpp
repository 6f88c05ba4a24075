// Guards: which joints are a rig's; that rigs carry, hang, break, sleep and wake; and that target, threads and a
// save/restore on the way change no bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sim/rigs/rigs.h"
#include "tests/support/bodies.h"
#include "tests/support/courses.h"
#include "tests/support/rigs.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// Beads in rows and columns, which meet nothing, all on a level; the first row hangs by its corners, with 4 of them the
// last does, too.
void add_net(WorldDef& def, std::uint32_t side, std::uint32_t corners, Spring spring = {}) {
    const auto first = static_cast<std::uint32_t>(def.bodies.size());
    for (std::uint32_t k = 0; k < side * side; ++k) {
        const std::uint32_t column = k % side, row = k / side;
        const Vec3 at{kGap * static_cast<float>(column), 0.0f, kGap * static_cast<float>(row)};
        const std::uint32_t bead = add_body(def, 0, at);
        def.bodies[bead].mask = 0;
        if (column > 0)
            add_joint(def, bead - 1, bead, BallSocket{{kGap / 2, 0.0f, 0.0f}, {-kGap / 2, 0.0f, 0.0f}, spring});
        if (row > 0)
            add_joint(def, bead - side, bead, BallSocket{{0.0f, 0.0f, kGap / 2}, {0.0f, 0.0f, -kGap / 2}, spring});
        const bool corner = column == 0 || column == side - 1;
        if (corner && (row == 0 || (corners == 4 && row == side - 1)))
            add_joint(def, kNone, first + k, BallSocket{at, {}, {}});
    }
}

// Of beads that are alike, J for each kg of one.
double energy(const World& world) {
    std::vector<BodyState> beads;
    world.read_bodies(beads);
    double sum = 0.0;
    for (const BodyState& b : beads) {
        const double v = size(d(b.linear_velocity)), w = size(d(b.angular_velocity));
        sum += 0.5 * v * v + 0.2 * 0.01 * w * w + 10.0 * static_cast<double>(b.pose.position.y);
    }
    return sum;
}

}  // namespace

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
    CHECK(named.faults == RigFaults{});
    CHECK(named.rigs[1].links == 4);
    CHECK(named.rigs[1].compliance == 0.01f);
    CHECK(named.joints[named.rigs[1].first] == small.joints[0]);  // from the end with the lowest joint
    const std::uint32_t lone = add_body(def, 0, {9.0f, 9.0f, 9.0f});
    def.rigs.push_back({"nobody", {lone}, RigSolver::automatic, 0.01f});
    CHECK(rigs_of(def).faults.idle == 1);
    CHECK(rigs_of(def).faults.first_idle == 1);
    def.rigs[1].bodies.push_back(small.bodies[1]);
    CHECK(rigs_of(def).faults == RigFaults{});
    def.rigs[1].compliance = 0.02f;
    CHECK(rigs_of(def).faults.unheeded == 1);
    CHECK(rigs_of(def).faults.first_unheeded == 1);
    CHECK(rigs_of(def).rigs[1].compliance == 0.01f);
    def.rigs.pop_back();
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
    CHECK(rigs_of(def).faults == RigFaults{});
    def.rigs.push_back({"ring", {3}, RigSolver::direct});
    CHECK(rigs_of(def).faults.looped == 1);
    CHECK(rigs_of(def).faults.first_looped == 1);
    def.rigs.pop_back();
    def.solver.rig_solver = RigSolver::jacobi;
    CHECK(rigs_of(def).rigs.size() == 2);
    CHECK(rigs_of(def).rigs[1].method == RigMethod::jacobi);
    def.solver.rig_solver = RigSolver::automatic;
    def.joints.back().constraint =
        CenterDistance{};  // what was the ring is a chain with a rod, which keeps it no chain
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
    for (const Constraint& rod : {Constraint(DistanceServo{}), Constraint(DistanceLimit{{}, {}, 1.0f, 1.0f, {}}),
                                  Constraint(CenterDistanceLimit{1.0f, 1.0f, {}})})
        CHECK(rig_link(rod).has_value());
    for (const Constraint& other :
         {Constraint(DistanceServo{{}, {}, 1.0f, {}, {2.0f, 0.0f, kNoLimit}}),
          Constraint(DistanceLimit{{}, {}, 0.5f, 1.0f, {}}), Constraint(CenterDistanceLimit{0.0f, 0.0f, {}}),
          Constraint(CenterDistance{0.0f, {}}), Constraint(Weld{})})
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
    CHECK(refused.faults.beyond_limits == 1);
    CHECK(refused.faults.limit == "kMaxGraphSides");
    CHECK(refused.coloured.size() == hub.joints.size());
    CHECK(refused.bodies.empty());
    CHECK(std::all_of(refused.rig_of_body.begin(), refused.rig_of_body.end(),
                      [](std::uint32_t rig) { return rig == kNone; }));

    WorldDef star = rope_world();
    add_body(star, 0, {});
    for (std::uint32_t k = 0; k + 1 < kMaxTreeSlots; ++k)
        add_joint(star, 0, add_body(star, 0, {1.0f, 0.0f, 0.0f}), ball);
    CHECK(rigs_of(star).rigs.size() == 1);
    CHECK(rigs_of(star).faults.beyond_limits == 0);
    add_joint(star, 0, add_body(star, 0, {1.0f, 0.0f, 0.0f}),
              ball);  // more bodies than bundles of trees may have slots
    CHECK(rigs_of(star).rigs.empty());
    CHECK(rigs_of(star).faults.beyond_limits == 1);
    CHECK(rigs_of(star).faults.limit == "kMaxTreeSlots");
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
                if (k == 0)
                    add_joint(def, kNone, 0, BallSocket{here, before, {}});
                else if (k == planks)
                    add_joint(def, kNone, k - 1, BallSocket{here, after, {}});
                else
                    add_joint(def, k - 1, k, BallSocket{after, before, {}});
            }
        }
        return def;
    };
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
    const double start = energy(*world);
    double released = 0.0;
    for (const std::uint32_t bead : rope.bodies)
        released += 10.0 * static_cast<double>(def.bodies[bead].pose.position.x);
    for (int tick = 1; tick <= 300; ++tick) {
        world->step();
        CHECK(energy(*world) <= start + 0.01 * released);
        if (tick == 60 || tick == 120 || tick == 300) CHECK(largest_separation(*world) < 0.004);
        CHECK(largest_separation(*world) < 0.3);  // as the end whips round
    }
}

TEST_CASE("a chain with an end a hundred times heavier keeps its joints within a millimetre, 60 Hz and two substeps") {
    WorldDef def = rope_world();
    const Rope rope = add_rope(def, 40, {}, 0);
    for (const std::uint32_t bead : rope.bodies) def.bodies[bead].mass_kg = bead == rope.bodies.back() ? 100.0f : 1.0f;
    auto world = make_world(def);
    double sum = 0.0, peak = 0.0;
    for (int tick = 0; tick < 600; ++tick) {
        world->step();
        const double apart = largest_separation(*world);
        sum += apart;
        peak = std::max(peak, apart);
    }
    MESSAGE("mean of the largest separation " << sum / 600 * 1e3 << " mm, peak " << peak * 1e3 << " mm");
    CHECK(sum / 600 < 0.0003);
    CHECK(peak < 0.003);  // whips and all
}

// The bounds are what a study of the method found with four substeps.
TEST_CASE("block Jacobi holds a chain of 40 and one with a heavy end, and gains no energy" *
          doctest::test_suite("quality")) {
    for (const bool heavy : {false, true}) {
        for (const std::uint32_t substeps : {2u, 4u, 8u}) {
            CAPTURE(substeps);
            WorldDef def = rope_world(substeps);
            def.solver.rig_solver = RigSolver::block_jacobi;
            const Rope rope = add_rope(def, 40, {}, 0);
            for (const std::uint32_t bead : rope.bodies)
                def.bodies[bead].mass_kg = heavy && bead == rope.bodies.back() ? 100.0f : 1.0f;
            auto world = make_world(def);
            const auto energy_j = [&] {
                double sum = 0.0;
                for (const std::uint32_t bead : rope.bodies) {
                    const BodyState b = state_of(*world, bead);
                    const double v = size(d(b.linear_velocity)), w = size(d(b.angular_velocity)),
                                 mass = 1.0 / static_cast<double>(b.inverse_mass);
                    sum += mass * (0.5 * v * v + 0.2 * 0.01 * w * w + 10.0 * static_cast<double>(b.pose.position.y));
                }
                return sum;
            };
            double mean_m = 0.0, most_j = -1e9;
            for (int tick = 0; tick < 600; ++tick) {
                world->step();
                mean_m += largest_separation(*world) / 600;
                most_j = std::max(most_j, energy_j());
            }
            MESSAGE(std::string(heavy ? "heavy end, " : "chain, ")
                    << substeps << " substeps: " << mean_m * 1e3 << " mm on average, energy at most " << most_j
                    << " J");
            CHECK(most_j <= 0.0);
            CHECK(mean_m < (heavy ? 0.014 : 0.004) * (substeps == 2 ? 2.0 : 1.0));
        }
    }
}

TEST_CASE("a rope of 4,000 links stays whole" * doctest::test_suite("quality")) {
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
    CHECK(lowest > 0.36f);  // it never sinks into the ground
    CHECK(largest_separation(*world) < 0.002);
    MESSAGE("residual speed " << size(d(state_of(*world, crate).linear_velocity)) << " m/s");
    CHECK(size(d(state_of(*world, crate).linear_velocity)) < 0.05);
}

TEST_CASE("a star of 32 and a tree keep their joints, and no energy comes from nowhere" *
          doctest::test_suite("quality")) {
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
        const double start = energy(*world);
        double sum = 0.0;
        for (int tick = 0; tick < 600; ++tick) {
            world->step();
            sum += largest_separation(*world);
            CHECK(energy(*world) < start + 0.02 * 10.0 * total);
        }
        CHECK(sum / 600 < 0.0007);
    }
}

// With all impulses of the last substep to begin with it gains energy and flies apart.
TEST_CASE("a net whose iterations hardly reach its middle swings whole, and no energy comes from nowhere" *
          doctest::test_suite("quality")) {
    for (const std::uint32_t iterations : {3u, kRigIterations}) {
        CAPTURE(iterations);
        WorldDef def = rope_world(4);
        def.solver.rig_iterations = iterations;
        constexpr std::uint32_t kSide = 16;
        add_net(def, kSide, 2);
        auto world = make_world(def);
        const double start = energy(*world);
        double sum = 0.0;
        for (int tick = 0; tick < 600; ++tick) {
            world->step();
            sum += largest_separation(*world);
            CHECK(energy(*world) <= start);
        }
        MESSAGE(iterations << " iterations: mean of the largest separation " << sum / 600 * 1e3 << " mm");
        CHECK(sum / 600 < (iterations == 3 ? 0.030 : 0.0063));
    }
}

// A net that were not held before its contacts would let it sink in by 3.4 mm, and one of such springs by 3.7, with
// contacts' springs at a quarter of the substep rate, where the bounds were 3.1 and 2.6; at 0.22 of it all sinks
// deeper.
TEST_CASE("what lies on a net of sockets or of stiff springs hardly sinks in" * doctest::test_suite("quality")) {
    for (const bool springs : {false, true}) {
        CAPTURE(springs);
        WorldDef def = rope_world(2);
        def.solver.coupling_iterations = 2;
        constexpr std::uint32_t kSide = 8;
        add_net(def, kSide, 4, springs ? Spring{30.0f, 0.1f} : Spring{});
        for (BodyDef& body : def.bodies) body.category = 2, body.mask = 1, body.mass_kg = 1.0f;
        const auto ball = add_body(def, add_sphere_shape(def, 0.3f), {0.875f, 0.5f, 0.875f});
        def.bodies[ball].mass_kg = 20.0f;
        auto world = make_world(def);
        run(*world, 900);
        double depth = 0.0;
        for (std::uint32_t bead = 0; bead < kSide * kSide; ++bead) {
            const D3 apart = minus(d(state_of(*world, ball).pose.position), d(state_of(*world, bead).pose.position));
            depth = std::max(depth, 0.4 - size(apart));
        }
        MESSAGE((springs ? "springs: " : "sockets: ") << depth * 1e3 << " mm deep");
        CHECK(depth > 0.0);
        CHECK(depth < (springs ? 0.0026 : 0.0037));
    }
}

// A polynomial that goes on behind contacts shakes it by 0.7 m/s for ever (7 iterations, 8 solves), or by 0.04 (40 and
// 2). By one polynomial over a substep's solves it swings on by 3 mm/s.
TEST_CASE("a heavy crate that a net has caught swings ever less" * doctest::test_suite("quality")) {
    struct Load {
        std::uint32_t iterations, solves;
        double mps;
    };
    for (const Load load : {Load{kRigIterations, 1, 0.001}, Load{kRigIterations, 2, 0.001},
                            Load{kRigIterations, 8, 0.001}, Load{40, 2, 0.001}}) {
        CAPTURE(load.iterations);
        CAPTURE(load.solves);
        WorldDef def = rope_world(4);
        def.solver.rig_iterations = load.iterations;
        def.solver.coupling_iterations = load.solves;
        constexpr std::uint32_t kSide = 11;
        add_net(def, kSide, 4);
        for (BodyDef& body : def.bodies) body.category = 2, body.mask = 1, body.mass_kg = 1.0f;
        const auto crate = add_body(def, add_box_shape(def, {0.4f, 0.4f, 0.4f}), {1.25f, 0.5f, 1.25f});
        def.bodies[crate].mass_kg = 100.0f;
        auto world = make_world(def);
        double early = 0.0, late = 0.0;
        for (int tick = 0; tick < 900; ++tick) {
            world->step();
            const double speed = size(d(state_of(*world, crate).linear_velocity));
            if (tick >= 300 && tick < 420) early = std::max(early, speed);
            if (tick >= 780) late = std::max(late, speed);
        }
        MESSAGE(load.iterations << " iterations, " << load.solves << " solves: " << early * 1e3 << " mm/s after 5 s, "
                                << late * 1e3 << " after 13");
        CHECK(late < std::max(early / 2, 1e-4));
        CHECK(late < load.mps);
    }
}

TEST_CASE("a net that hangs by its corners comes to rest, carries a ball, and sleeps") {
    WorldDef def = rope_world(4);
    def.solver.sleep = true;
    add_net(def, 8, 4);
    for (BodyDef& body : def.bodies) {
        body.category = 2;
        body.mask = 1;
        body.linear_damping = body.angular_damping = 1.0f;
    }
    const auto ball = add_body(def, add_sphere_shape(def, 0.3f), {0.875f, 0.6f, 0.875f});
    def.bodies[ball].mass_kg = 50.0f;
    auto world = make_world(def);
    run(*world, 1200);
    CHECK(largest_separation(*world) < 0.01);
    CHECK(state_of(*world, ball).pose.position.y > -1.0f);
    MESSAGE("residual speed " << size(d(state_of(*world, ball).linear_velocity)) << " m/s, joints apart "
                              << largest_separation(*world) * 1e3 << " mm");
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
    CHECK(state_of(*world, rope.bodies[11]).pose.position.y > -4.0f);  // still hangs
    CHECK(state_of(*world, rope.bodies[23]).pose.position.y < -5.0f);  // falls
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
            const auto crate =
                add_body(def, box, {last.pose.position.x + 0.5f, last.pose.position.y, last.pose.position.z});
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
            const auto bead = add_body(def, copy % 4 == 1 && k == 12 ? box : 0u,
                                       {0.25f * static_cast<float>(k % 5), 2.0f - 0.25f * static_cast<float>(k), z});
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
                if (copy % 2 == 0 && k == 8)
                    add_joint(def, kNone, plank, BallSocket{{5.85f, 2.0f, z + side}, {0.325f, 0.0f, side}, {}});
            }
            before = plank;
        }
    }
    // Short ones, some of them stiff beside others of the same bundle that are not, with zeros of both signs: what is
    // done for the ones changes no bit of the others, or targets would differ.
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
            const auto body =
                add_body(def,
                         kind == 0   ? 0u
                         : kind == 1 ? stick
                                     : rung,
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
                add_joint(def, before, body,
                          BallSocket{before == kNone ? on_before : Vec3{0.15f, 0.0f, z}, {-0.15f, zero(), z}, {}});
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
    const auto commands = [](std::uint64_t tick) {
        std::vector<Command> out;
        if (tick % 20 == 15) {  // without joints: it only falls onto the ropes
            out.push_back(command(CommandKind::spawn));
            out.back().prefab = 0;
            out.back().pose.position = {1.0f, 4.5f, 0.3f * static_cast<float>(tick / 20)};
        }
        if (tick == 40) {
            out.push_back(command(CommandKind::remove_joint));
            out.back().joint = {20, 0};
        }
        return out;
    };
    check_one_course({def, 90, commands});
}
