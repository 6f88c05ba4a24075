// The scene hash: XXH3-64 of a canonical little-endian walk over the object tree, never over a FlatBuffers buffer.
#pragma once

#include <cstdint>

#include "protocol/scene/scene_generated.h"

namespace orrery::protocol::scene {

// Each table is its fields in schema order, those that differ from their defaults alone, as (u16 field number, value),
// then 0xffff. Numbers are fixed-width little endian (floats by their bits), strings and vectors begin with a u32
// count. So a field that is appended to the schema leaves the hashes of scenes that do not use it as they were.
std::uint64_t hash_scene(const SceneT& scene);

}  // namespace orrery::protocol::scene
