// Steps a scene and tells the hash of its world: shows that a module steps as the server does, and what a tick costs.
#include "protocol/scene/scene.h"

extern "C" {

// `scene`: of binary form. The hash after `ticks` steps without commands; 0: the scene cannot be loaded or stepped.
std::uint64_t orrery_web_scene_hash(const std::uint8_t* scene, std::size_t size, std::uint32_t ticks) {
    const auto loaded = orrery::protocol::load_scene({scene, size}, "scene");
    if (!loaded) return 0;
    auto world = orrery::sim::World::create(loaded->world, {});
    if (!world) return 0;
    for (std::uint32_t i = 0; i < ticks; ++i) (*world)->step({});
    return (*world)->hash().root;
}
}
