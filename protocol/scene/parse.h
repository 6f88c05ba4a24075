// Parses untrusted bytes to the object tree of a scene. Internal to protocol/scene.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/scene/scene.h"
#include "protocol/scene/scene_generated.h"

namespace orrery::protocol::scene {

bool is_binary(std::span<const std::uint8_t> bytes);
Result<std::unique_ptr<SceneT>> parse_binary(std::span<const std::uint8_t> bytes, std::string_view file_name,
                                             const SceneCaps& caps);
Result<std::unique_ptr<SceneT>> parse_json(std::string_view text, std::string_view file_name, const SceneCaps& caps);

}  // namespace orrery::protocol::scene
