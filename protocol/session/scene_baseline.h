// What a client that has the scene knows of a room's world before it joins: the world of the scene before its first
// tick, with all that bodies refer to. A key frame for such a client tells what differs from it (scene_key_frame.h).
//
// Room and client make it of the same bytes by the same code. Its hash in the client's hello says that both came to the
// same result, which builds of different versions need not do. A client with another hash is told everything.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "protocol/session/messages.h"
#include "protocol/snapshot/quantised_world.h"

namespace orrery::protocol {

struct SceneBaseline {
    std::vector<sim::ShapeDef> shapes;         // without names and points
    std::map<sim::BodyId, std::string> names;  // of bodies
    Vocabulary vocabulary;
    QuantisedWorld world;
    std::uint64_t scene_bytes_hash = 0;  // XXH3-64 of the scene's binary form
    std::uint64_t hash = 0;              // of all above; not 0
};

// `world` is a new world of the scene whose binary form is `binary`.
SceneBaseline describe_scene(const sim::World& world, Bytes binary);

// The hash that `scene` should have.
std::uint64_t hash_of(const SceneBaseline& scene);

// For a client. `scene` is JSON or binary. It makes a world, which takes as long as at a server's start. Errors are
// those of load_scene, share_scene and World::create.
Result<SceneBaseline> make_scene_baseline(Bytes scene);

}  // namespace orrery::protocol
