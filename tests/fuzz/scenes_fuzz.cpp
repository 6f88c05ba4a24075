// Scene files, JSON and binary. What loads, loads again from its own binary form to the same hash, and makes a world
// that can be stepped. Small caps: the fuzzer looks for wrong arithmetic, not for patience.
#include "input.h"
#include "protocol/scene/scene.h"

using namespace orrery;
using namespace orrery::protocol;
using orrery::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr SceneCaps kCaps{.max_bytes = 1u << 20, .max_bodies = 2000, .max_joints = 2000};
    constexpr std::size_t kMaxBodiesToStep = 100;

    fuzz::Input input(data, size);
    SceneOverrides overrides;
    if (input.u8() & 1) overrides.tick_rate_hz = 30.0f;
    const auto scene = load_scene(input.rest(), "scene.json", overrides, kCaps);
    if (!scene.ok()) {
        require(!scene.error().message.empty());
        return 0;
    }
    const auto again = load_scene(scene->binary, "scene.bin", {}, SceneCaps{});
    require(again.ok());
    require(again->scene_hash == scene->scene_hash);
    require(again->binary == scene->binary);

    if (scene->world.bodies.size() > kMaxBodiesToStep) return 0;
    const auto world = sim::World::create(scene->world);
    if (!world.ok()) return 0;
    for (int i = 0; i < 2; ++i) require((*world)->step() == sim::StepStatus::ok);
    return 0;
}
