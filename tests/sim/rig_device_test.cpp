// Guards: that the GPU module's code, run on the CPU in the place of a GPU, gives the bits of the CPU's kernels whatever chains,
// on chip and not; that a device which is lost in any call, or has no memory, leaves no trace; and who takes how few chains.
#include <doctest/doctest.h>

#include <string>

#include "cuda_runtime.h"
#include "server/room/rig_module.h"
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
        device = {};
    }
};

// Ropes of random lengths side by side: pinned, free, and held at both ends; some with springs, dampers, breaking joints and a
// body between two of them; some touch the floor, so that they are solved with the contacts.
WorldDef ropes(std::uint64_t seed, std::uint32_t count, std::uint32_t longest) {
    Lcg random(static_cast<std::uint32_t>(seed));
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
                const std::uint32_t joint = turned ? add_joint(def, bead, before, ball) : add_joint(def, before, bead, ball);
                if (special && draw(0, 5) == 0) def.joints[joint].break_force_n = random.between(20.0f, 400.0f);
            }
            before = bead;
        }
    }
    add_ground(def);
    return def;
}

std::unique_ptr<World> world_on(const WorldDef& def, RigDevice* rig_device, Target target = Target::automatic) {
    auto world = World::create(def, {.target = target, .rig_device = rig_device});
    REQUIRE(world.ok());
    return std::move(world).value();
}

ModuleRigDevice module_device(std::uint64_t least_beads = 1, std::string* lost = nullptr) {
    ModuleRigDevice::Settings settings;
    settings.least_beads = least_beads;
    settings.least_chains = 1;
    if (lost != nullptr) settings.on_lost = [lost](const std::string& why) { *lost += why + "\n"; };
    return ModuleRigDevice(*orrery_rig_module(), std::move(settings));
}

}  // namespace

TEST_CASE("a GPU's threads give the bits of the CPU's lanes, on chip and off") {
    for (std::uint64_t n = 1; n <= (few() ? 1u : 5u); ++n) {
        const std::uint64_t seed = seeded(n);
        CAPTURE(seed);
        for (const bool on_chip : {false, true}) {
            const FreshDevice fresh;
            device.processors = on_chip ? 1000 : 1;
            device.on_chip_bytes = 256 * 1024;
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
            CHECK(device.on_chip_launches == (on_chip ? device.launches : 0u));
        }
    }
}

TEST_CASE("one warp takes two bundles on chip, one where the chip holds no more, none where it does not") {
    for (const int bytes : {256 * 1024, 80 * 1024, 16 * 1024}) {
        const FreshDevice fresh;
        device.on_chip_bytes = bytes;
        device.processors = 1000;
        const WorldDef def = ropes(3, 40, 30);
        ModuleRigDevice gpu = module_device();
        const auto there = world_on(def, &gpu), here = world_on(def, nullptr, Target::scalar);
        run(*there, 20);
        run(*here, 20);
        CHECK(there->hash().root == here->hash().root);
        CHECK((device.on_chip_launches > 0) == (bytes > 16 * 1024));
    }
}

TEST_CASE("a device that is lost in any call leaves the tick to the CPU, for good, and changes no bit") {
    const WorldDef def = ropes(5, 20, 12);
    const auto here = world_on(def, nullptr);
    run(*here, 6);
    std::uint32_t losses = 0;
    for (unsigned calls = 0; calls < 60; calls += few() ? 7u : 1u) {
        const FreshDevice fresh;
        device.calls_left = calls;
        std::string lost;
        ModuleRigDevice gpu = module_device(1, &lost);
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

TEST_CASE("what a device has no memory for is the CPU's, and comes back to it when there is less of it") {
    const FreshDevice fresh;
    device.memory_bytes = (std::size_t(64) << 20) + 1000;  // what is spared for others, and next to nothing
    std::string lost;
    ModuleRigDevice gpu = module_device(1, &lost);
    const WorldDef def = ropes(8, 20, 12);
    const auto there = world_on(def, &gpu), here = world_on(def, nullptr);
    run(*there, 3);
    run(*here, 3);
    CHECK(device.launches == 0);
    device.memory_bytes = std::size_t(1) << 30;
    run(*there, 3);
    run(*here, 3);
    CHECK(device.launches == 3);
    CHECK(there->hash().root == here->hash().root);
    CHECK(lost.empty());
}

TEST_CASE("a device that is lost while its memory grows gives back what it had, once") {
    for (unsigned calls = 0; calls < 30; calls += few() ? 9u : 1u) {
        const FreshDevice fresh;
        std::string lost;
        ModuleRigDevice gpu = module_device(1, &lost);
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
    const WorldDef def = ropes(11, 20, 12);
    ModuleRigDevice gpu = module_device(1), unwilling = module_device(1'000'000);
    const auto there = world_on(def, &gpu), few_beads = world_on(def, &unwilling), here = world_on(def, nullptr);
    run(*few_beads, 2);
    CHECK(device.launches == 0);
    run(*there, 10);
    run(*here, 10);
    CHECK(device.uploads == 2 + 10);  // slots and extras, then a copy a tick
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
