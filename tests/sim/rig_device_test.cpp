// Guards: that the GPU module's code, run on the CPU in the place of a GPU, gives the bits of the CPU's kernels
// whatever rigs, on chip and not, in whatever order threads run; that a device which is lost in any call, or has no
// memory, leaves no trace; that a tick is one launch, and what has not changed is not sent; and who takes how few rigs.
#include <doctest/doctest.h>

#include <string>

#include "cuda_runtime.h"
#include "server/room/rig_costs.h"
#include "server/room/rig_module.h"
#include "sim/rigs/chain/chain.h"
#include "tests/support/random_rigs.h"
#include "tests/support/rigs.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

extern "C" const orrery::sim::RigModule* orrery_rig_module();

using namespace orrery::sim;
using namespace orrery::test;
using cuda_emulation::device;
using orrery::server::ModuleRigDevice;

namespace {

struct FreshDevice {
    FreshDevice() { device = {}; }
    ~FreshDevice() {
        CHECK(device.used_bytes == 0);
        CHECK(cuda_emulation::graphs == 0);
        device = {};
    }
};

std::unique_ptr<World> world_on(const WorldDef& def, RigDevice* rig_device, Target target = Target::automatic) {
    auto world = World::create(def, {.target = target, .rig_device = rig_device});
    REQUIRE(world.ok());
    return std::move(world).value();
}

ModuleRigDevice module_device(bool always = true, std::string* lost = nullptr) {
    ModuleRigDevice::Settings settings;
    settings.always = always;
    if (lost != nullptr) settings.on_lost = [lost](const std::string& why) { *lost += why + "\n"; };
    return ModuleRigDevice(*orrery_rig_module(), std::move(settings));
}

}  // namespace

TEST_CASE("a GPU's threads give the bits of the CPU's lanes, on chip and off") {
    for (std::uint64_t n = 1; n <= (few() ? 1u : 5u); ++n) {
        const std::uint64_t seed = seeded(n);
        CAPTURE(seed);
        // Room for no bundle, for one, and for several.
        for (const int on_chip_kib : {1, 64, 250, 256}) {
            const FreshDevice fresh;
            device.on_chip_bytes = on_chip_kib * 1024;
            device.processors = on_chip_kib == 250 ? 1 : 4;  // or less than all of the work lies there
            device.backwards = on_chip_kib == 256;
            const WorldDef def = ropes(seed, 40, 24);
            ModuleRigDevice gpu = module_device();
            const auto there = world_on(def, &gpu), here = world_on(def, nullptr);
            std::uint32_t solved = 0;
            for (int tick = 0; tick < 90; ++tick) {
                there->step();
                here->step();
                solved += there->stats().device_rigs;
                CHECK(here->stats().device_rigs == 0);
                REQUIRE(there->hash().root == here->hash().root);
            }
            CHECK(solved > 90 * 20);
            CHECK(device.launches > 60);
            CHECK(device.on_chip_launches == (on_chip_kib > 1 ? device.launches : 0u));
            CHECK(there->stats().device_times.solve_ms > 0.0f);
            CHECK(here->stats().device_times.solve_ms == 0.0f);
        }
    }
}

TEST_CASE("chains that are cut stay with the CPU, whatever a GPU solves beside them") {
    const FreshDevice fresh;
    WorldDef def = rope_world(3);
    for (std::uint32_t k = 0; k < 8; ++k)
        add_rope(def,
                 k % 4 == 0   ? kLongChain + 1 + k
                 : k % 4 == 1 ? kLongChain
                              : 20,
                 {0.0f, 0.0f, 0.5f * static_cast<float>(k)}, 0);
    ModuleRigDevice gpu = module_device();
    const auto there = world_on(def, &gpu), here = world_on(def, nullptr);
    for (int tick = 0; tick < 30; ++tick) {
        CAPTURE(tick);
        there->step();
        here->step();
        CHECK(there->stats().device_rigs == 6);
        REQUIRE(there->hash().root == here->hash().root);
    }
}

TEST_CASE("trees and graphs are a GPU's, too, in whatever order its threads run") {
    std::uint32_t solved = 0;
    for (std::uint64_t n = 1; n <= (few() ? 2u : 24u); ++n) {
        const std::uint64_t seed = seeded(n);
        CAPTURE(seed);
        const FreshDevice fresh;
        device.backwards = (n / 4 + n) % 2 == 1;
        // All graphs stay on chip, or the small ones, or none.
        const unsigned kind = n % 4 < 2 ? 0 : n % 4 - 1;
        device.on_chip_bytes = kind == 0 ? 64 * 1024 : kind == 1 ? 6 * 1024 : 0;
        WorldDef def = trees_and_graphs(seed, 12);
        if (n % 3 == 0) {  // and ropes beside them
            const WorldDef more = ropes(seed, 10, 12);
            const auto bodies = static_cast<std::uint32_t>(def.bodies.size());
            for (BodyDef body : more.bodies) {
                if (body.type != BodyType::dynamic) continue;
                body.pose.position.x -= 20.0f;
                def.bodies.push_back(body);
            }
            for (JointDef joint : more.joints) {
                if (joint.body_a == kNone || joint.body_b == kNone) continue;
                joint.body_a += bodies, joint.body_b += bodies;
                def.joints.push_back(joint);
            }
        }
        ModuleRigDevice gpu = module_device();
        const auto there = world_on(def, &gpu), here = world_on(def, nullptr);
        for (int tick = 0; tick < 60; ++tick) {
            there->step();
            here->step();
            solved += there->stats().device_rigs;
            CAPTURE(tick);
            REQUIRE(there->hash().root == here->hash().root);
        }
        CHECK((device.on_chip_launches > 0) == (kind != 2));
    }
    CHECK(solved > (few() ? 200u : 2000u));
}

TEST_CASE("a tree beside one on which something acts is solved and relaxed as often as that is") {
    for (const bool welded : {false, true}) {  // the last but one of them to a crate, else it falls to the floor
        CAPTURE(welded);
        const FreshDevice fresh;
        WorldDef def;
        def.solver.rig_joints = 2;
        def.solver.coupling_iterations = 4;
        add_sphere_shape(def, 0.1f);
        for (std::uint32_t tree = 0; tree < 17; ++tree) {  // alike, so that sixteen lie in one bundle
            const Vec3 at{static_cast<float>(2 * tree), welded || tree != 15 ? 100.0f : 0.15f, 0.0f};
            const std::uint32_t root = add_body(def, 0, at);
            for (std::uint32_t k = 0; k < 3; ++k) {
                const float along = 0.4f * static_cast<float>(k) - 0.4f;
                const std::uint32_t leaf = add_body(def, 0, {at.x + along, at.y, 0.4f});
                def.bodies[leaf].linear_velocity = {0.1f * static_cast<float>(k), 0.3f,
                                                    static_cast<float>(tree) * 0.1f};
                add_joint(def, root, leaf, BallSocket{{along / 2, 0.0f, 0.2f}, {-along / 2, 0.0f, -0.2f}, {}});
            }
            if (!welded || tree != 15) continue;
            const std::uint32_t crate = add_body(def, 0, {at.x, at.y - 1.0f, 0.0f});
            add_joint(def, root, crate, Weld{{0.0f, -1.0f, 0.0f}, {}, {}, {}});
        }
        add_ground(def);
        ModuleRigDevice gpu = module_device();
        const auto there = world_on(def, &gpu), here = world_on(def, nullptr);
        std::uint32_t solved = 0;
        for (int tick = 0; tick < 30; ++tick) {
            CAPTURE(tick);
            there->step();
            here->step();
            solved += there->stats().device_rigs;
            REQUIRE(there->hash().root == here->hash().root);
        }
        if (welded)
            CHECK(solved == 30);  // the seventeenth
        else
            CHECK(solved > 30);  // and all before one has fallen
        CHECK(solved < 30 * 16);
    }
}

TEST_CASE("where an actuator pushes something else, forces of 0 act on a device's rigs, too") {
    for (const bool pushes : {false, true}) {
        const FreshDevice fresh;
        WorldDef def;
        def.solver.rig_joints = 2;
        def.gravity = {-0.0f, -10.0f, -0.0f};
        add_sphere_shape(def, 0.1f);
        std::uint32_t before = kNone;
        for (std::uint32_t k = 0; k < 9; ++k) {
            const std::uint32_t bead = add_body(def, 0, {0.3f * static_cast<float>(k), 100.0f, 0.0f});
            def.bodies[bead].mask = 0;
            def.bodies[bead].linear_velocity = {-0.0f, 0.0f, -0.0f};
            def.bodies[bead].angular_velocity = {-0.0f, -1.0f, -0.0f};
            def.bodies[bead].locks = kLockAngularY | kLockLinearZ;
            if (before != kNone) add_joint(def, before, bead, CenterDistance{0.3f, {}});
            before = bead;
        }
        const std::uint32_t rocket = add_body(def, 0, {0.0f, 50.0f, 0.0f});
        if (pushes) {
            def.slots.resize(1);
            ActuatorDef thrust;
            thrust.kind = ActuatorKind::force;
            thrust.body = rocket;
            thrust.weights[0] = 1.0f;
            thrust.offset = 2.0f;
            thrust.min = 0.0f;
            thrust.max = 10.0f;
            def.actuators.push_back(thrust);
        }
        ModuleRigDevice gpu = module_device();
        const auto there = world_on(def, &gpu), here = world_on(def, nullptr);
        const Command join = command(CommandKind::join);
        std::uint32_t solved = 0;
        for (int tick = 0; tick < 20; ++tick) {
            CAPTURE(tick);
            CAPTURE(pushes);
            const std::span<const Command> commands(&join, tick == 5 && pushes ? 1u : 0u);
            there->step(commands);
            here->step(commands);
            solved += there->stats().device_rigs;
            REQUIRE(there->hash().root == here->hash().root);
        }
        CHECK(solved == 20);
    }
}

TEST_CASE("a tick is one launch, recorded once, and sends what the host has changed") {
    const FreshDevice fresh;
    WorldDef def = trees_and_graphs(4, 20);
    for (BodyDef& body : def.bodies) body.mask = 0;  // nothing touches
    for (JointDef& joint : def.joints) joint.break_force_n = kNoLimit;
    def.solver.sleep = false;
    def.solver.rig_solver = RigSolver::automatic;
    ModuleRigDevice gpu = module_device();
    const auto there = world_on(def, &gpu), here = world_on(def, nullptr);
    run(*there, 1);
    CHECK(device.recordings == 1);
    const std::size_t first = device.uploaded_bytes;
    run(*there, 9);
    CHECK(device.recordings == 1);
    CHECK(device.graph_launches == 10);
    CHECK(device.uploaded_bytes - first < 10 * first);  // the bodies that move by themselves, with what lies near them
    const unsigned uploads = device.uploads;
    run(*there, 1);
    CHECK(device.uploads - uploads <= 3);  // poses, velocities and forces of what the host solves
    run(*here, 11);
    CHECK(there->hash().root == here->hash().root);

    // A push of one bead is sent, and what lies beside it.
    Command push = command(CommandKind::impulse);
    push.body = {5, 0};
    push.linear = {0.0f, 5.0f, 0.0f};
    for (World* const world : {there.get(), here.get()}) {
        world->step({&push, 1});
        run(*world, 3);
    }
    CHECK(device.recordings == 1);
    CHECK(there->hash().root == here->hash().root);
}

TEST_CASE("bodies and joints that come, go and are moved between ticks are the device's as they are the host's") {
    for (std::uint64_t n = 1; n <= (few() ? 1u : 8u); ++n) {
        const std::uint64_t seed = seeded(n);
        CAPTURE(seed);
        const FreshDevice fresh;
        WorldDef def = trees_and_graphs(seed, 8);
        PrefabDef& prefab = def.prefabs.emplace_back();
        for (std::uint32_t k = 0; k < 12; ++k) {  // beads and, of six of them, a ring
            BodyDef bead;
            bead.shape = 0;
            bead.mask = 0;
            bead.pose.position = {0.25f * static_cast<float>(k), 0.0f, 0.0f};
            prefab.bodies.push_back(bead);
            if (k >= 6) continue;
            JointDef joint;
            joint.body_a = k;
            joint.body_b = (k + 1) % 6;
            joint.constraint = BallSocket{{0.1f, 0.0f, 0.0f}, {-0.1f, 0.0f, 0.0f}, {}};
            prefab.joints.push_back(joint);
        }
        ModuleRigDevice gpu = module_device();
        const auto there = world_on(def, &gpu), here = world_on(def, nullptr);
        Lcg random(static_cast<std::uint32_t>(seed) + 3u);
        std::vector<JointState> joints;
        std::vector<BodyId> came;
        std::uint32_t solved = 0;
        for (int tick = 0; tick < 120; ++tick) {
            CAPTURE(tick);
            here->read_joints(joints);
            Command c;
            c.body = {5u + static_cast<std::uint32_t>(random.unit() * static_cast<float>(def.bodies.size() - 6)), 0};
            const float what = random.unit();
            if (what < 0.2f) {
                c.kind = CommandKind::impulse;
                c.linear = {random.between(-3.0f, 3.0f), random.between(0.0f, 5.0f), 0.0f};
            } else if (what < 0.3f) {
                c.kind = CommandKind::teleport;
                c.pose.position = {random.between(0.0f, 5.0f), 102.0f, random.between(0.0f, 5.0f)};
            } else if (what < 0.4f && !joints.empty()) {
                c.kind = CommandKind::remove_joint;
                c.joint = joints[static_cast<std::size_t>(random.unit() * static_cast<float>(joints.size()))].id;
            } else if (what < 0.6f) {
                c.kind = CommandKind::spawn;
                c.prefab = 0;
                c.pose.position = {random.between(-9.0f, 9.0f), 103.0f, random.between(-9.0f, 9.0f)};
            } else if (what < 0.8f && !came.empty()) {
                c.kind = CommandKind::despawn;
                c.body = came.back();
                came.pop_back();
            }
            const std::span<const Command> commands(&c, what < 0.8f ? 1u : 0u);
            there->step(commands);
            here->step(commands);
            for (const Event& event : here->events()) {
                if (event.kind == EventKind::spawned) came.push_back(event.a);
            }
            solved += there->stats().device_rigs;
            REQUIRE(there->hash().root == here->hash().root);
        }
        CHECK(came.size() > 20);
        CHECK(solved > 200);
    }
}

TEST_CASE("more passes than a graph may have are launched one by one") {
    const FreshDevice fresh;
    device.on_chip_bytes = 0;
    WorldDef def = trees_and_graphs(9, 3);
    def.substeps = 20;
    def.solver.rig_iterations = 200;
    def.solver.coupling_iterations = 2;
    def.solver.rig_solver = RigSolver::jacobi;
    ModuleRigDevice gpu = module_device();
    const auto there = world_on(def, &gpu), here = world_on(def, nullptr);
    run(*there, 3);
    run(*here, 3);
    CHECK(device.launches > 20'000);
    CHECK(device.graph_launches == 0);
    CHECK(there->hash().root == here->hash().root);
}

TEST_CASE("chains lie on chip where they fit, shorter ones where longer ones do not") {
    for (const int kib : {256, 80, 24, 1}) {
        const FreshDevice fresh;
        device.on_chip_bytes = kib * 1024;
        const WorldDef def = ropes(3, 40, 30);
        ModuleRigDevice gpu = module_device();
        const auto there = world_on(def, &gpu), here = world_on(def, nullptr, Target::scalar);
        run(*there, 20);
        run(*here, 20);
        CHECK(there->hash().root == here->hash().root);
        CHECK((device.on_chip_launches > 0) == (kib > 1));
        CHECK((device.on_chip_launches == device.launches) == (kib > 24));
    }
}

TEST_CASE("a device that is lost in any call leaves the tick to the CPU, for good, and changes no bit") {
    struct Course {
        bool others;
        int on_chip_bytes;
        unsigned calls, apart;  // lost after fewer than so many; of those after the sixtieth one of so many is tried
    };
    for (const Course& course :
         {Course{false, 64 * 1024, 60, 1}, Course{true, 64 * 1024, 150, 2}, Course{true, 0, 1800, 29}}) {
        const WorldDef def = course.others ? trees_and_graphs(5, 6) : ropes(5, 20, 12);
        const auto here = world_on(def, nullptr);
        run(*here, 6);
        std::uint32_t losses = 0;
        const unsigned apart = course.apart * (few() ? 7u : 1u);
        for (unsigned calls = 0; calls < course.calls; calls += calls < 60 && !few() ? 1u : apart) {
            const FreshDevice fresh;
            device.on_chip_bytes = course.on_chip_bytes;
            device.calls_left = calls;
            std::string lost;
            ModuleRigDevice gpu = module_device(true, &lost);
            const auto there = world_on(def, &gpu);
            run(*there, 6);
            CHECK(there->hash().root == here->hash().root);
            if (lost.empty()) continue;
            ++losses;
            CHECK(lost.find("the device is lost") != std::string::npos);
            CHECK(lost.find('\n') == lost.size() - 1);  // said once
            CHECK(there->stats().device_rigs == 0);
        }
        CHECK(losses > (few() ? 2u : 20u));
    }
}

TEST_CASE("what a device has no memory for is the CPU's, and comes back to it when there is less of it") {
    const FreshDevice fresh;
    device.memory_bytes = (std::size_t(64) << 20) + 1000;  // what is spared for others, and next to nothing
    std::string lost;
    ModuleRigDevice gpu = module_device(true, &lost);
    const WorldDef def = ropes(8, 20, 12);
    const auto there = world_on(def, &gpu), here = world_on(def, nullptr);
    run(*there, 3);
    run(*here, 3);
    CHECK(device.launches == 0);
    device.memory_bytes = std::size_t(1) << 30;
    run(*there, 3);
    run(*here, 3);
    CHECK(device.graph_launches == 3);
    CHECK(there->hash().root == here->hash().root);
    CHECK(lost.empty());
}

TEST_CASE("a device that is lost while its memory grows gives back what it had, once") {
    for (unsigned calls = 0; calls < 30; calls += few() ? 9u : 1u) {
        const FreshDevice fresh;
        std::string lost;
        ModuleRigDevice gpu = module_device(true, &lost);
        const WorldDef def = ropes(13, 10, 8), larger = ropes(13, 60, 20);
        const auto world = world_on(def, &gpu), other = world_on(larger, nullptr);
        run(*world, 2);
        device.calls_left = calls;
        const auto second = world_on(larger, &gpu);  // another session of the same device
        run(*world, 2);
        run(*second, 2);
        run(*other, 2);
        CHECK(second->hash().root == other->hash().root);
    }
}

TEST_CASE("few beads are the CPU's, topology is sent when it changes alone, and a restored world goes on") {
    const FreshDevice fresh;
    WorldDef def = ropes(11, 20, 12);
    for (BodyDef& body : def.bodies) body.mask = 0;  // nothing touches
    for (JointDef& joint : def.joints) joint.break_force_n = kNoLimit;
    def.solver.rig_joints = 1;  // all are rigs
    ModuleRigDevice gpu = module_device(), unwilling = module_device(false);
    const auto there = world_on(def, &gpu), few_beads = world_on(def, &unwilling), here = world_on(def, nullptr);
    run(*few_beads, 2);
    CHECK(device.launches == 0);
    run(*there, 10);
    run(*here, 10);
    CHECK(device.uploaded_bytes < (std::size_t(1) << 20));
    const std::size_t sent = device.uploaded_bytes;
    run(*there, 5);
    run(*here, 5);
    CHECK(device.uploaded_bytes == sent);  // nobody has changed anything
    std::vector<std::uint8_t> saved;
    there->save(saved);
    run(*there, 10);
    const auto again = world_on(def, &gpu);
    REQUIRE(again->restore(saved).ok());
    run(*again, 10);
    run(*here, 10);
    CHECK(again->hash().root == here->hash().root);
    CHECK(there->hash().root == here->hash().root);
}

TEST_CASE("a GPU is asked where it pays: for a large net, or many chains on few cores") {
    const FreshDevice fresh;
    const auto asked = [](const WorldDef& def) {
        ModuleRigDevice gpu = module_device(false);
        const auto world = world_on(def, &gpu);
        world->step();
        return world->stats().device_rigs > 0;
    };
    const auto net = [](std::uint32_t side) {
        WorldDef def;
        def.solver.rig_joints = 2;
        add_sphere_shape(def, 0.1f);
        for (std::uint32_t k = 0; k < side * side; ++k) {
            const std::uint32_t bead =
                add_body(def, 0, {0.25f * static_cast<float>(k % side), 0.0f, 0.25f * static_cast<float>(k / side)});
            def.bodies[bead].mask = 0;
            if (k % side > 0)
                add_joint(def, bead - 1, bead, BallSocket{{0.125f, 0.0f, 0.0f}, {-0.125f, 0.0f, 0.0f}, {}});
            if (k >= side)
                add_joint(def, bead - side, bead, BallSocket{{0.0f, 0.0f, 0.125f}, {0.0f, 0.0f, -0.125f}, {}});
        }
        return def;
    };
    CHECK(!asked(net(8)));
    CHECK(asked(net(60)));

    AloneTick tick{};
    std::vector<ChainBundle> bundles(625);  // 10,000 chains of 40 links
    std::vector<std::uint32_t> alone(bundles.size());
    for (std::uint32_t b = 0; b < bundles.size(); ++b) bundles[b].links = 40, bundles[b].alone = 0xffff, alone[b] = b;
    tick.substeps = 4;
    tick.body_count = 400'001;
    tick.bundles = bundles.data();
    tick.alone = alone.data();
    tick.alone_count = static_cast<std::uint32_t>(alone.size());
    tick.workers = 1;
    orrery::server::RigCosts costs = orrery::server::rig_costs(tick);
    CHECK(costs.device_ms < costs.host_ms / 2);
    tick.workers = 64;  // copies gain no more from them
    costs = orrery::server::rig_costs(tick);
    CHECK(costs.device_ms > costs.host_ms);
}
