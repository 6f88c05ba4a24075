// Scenes from files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/scene/scene.h"
#include "sim/base/result.h"

namespace orrery::server {

// Reads a whole file of at most `max_bytes`. `limit` is the name of that limit.
Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::size_t max_bytes, const char* limit);
Result<protocol::LoadedScene> load_scene_file(const std::string& path, const protocol::SceneOverrides& overrides = {},
                                              const protocol::SceneCaps& caps = {});
// protocol::share_scene for a scene that was loaded from the file. An error names the file and the line in it.
Result<protocol::SharedScene> share_scene_file(protocol::LoadedScene scene, const std::string& path);

}  // namespace orrery::server
