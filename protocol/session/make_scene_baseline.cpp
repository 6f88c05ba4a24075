// Apart from the other files, since it alone takes the simulation into a client's program.
#include "protocol/scene/scene.h"
#include "protocol/session/scene_baseline.h"

namespace orrery::protocol {

Result<SceneBaseline> make_scene_baseline(Bytes scene) {
    Result<LoadedScene> loaded = load_scene(scene, "scene");
    if (!loaded) return loaded.error();
    const Result<SharedScene> shared = share_scene(std::move(loaded).value());
    if (!shared) return shared.error();
    const Result<std::unique_ptr<sim::World>> world = sim::World::create(shared->definition);
    if (!world) return world.error();
    return describe_scene(**world, shared->binary);
}

}  // namespace orrery::protocol
