// Scene files: from bytes (JSON text or the FlatBuffers binary form of scene.fbs) to a checked world definition.
//
// What counts is the *effective* scene: the file with the overrides applied. `LoadedScene::binary` is its binary form,
// which is recorded, handed to clients and loads again to the same hash and the same world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"
#include "sim/base/result.h"

namespace orrery::protocol {

inline constexpr std::uint32_t kSceneVersion = 1;          // newest scene_version that this program reads
inline constexpr std::size_t kMaxSceneBytes = 128u << 20;  // a file; a million bodies written out fit
inline constexpr std::uint64_t kDefaultMaxSceneBodies = 1'000'000;
inline constexpr std::uint64_t kDefaultMaxSceneJoints = 4'000'000;
inline constexpr unsigned kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxNameBytes = 120;  // of any name; keeps indices like chain[39] short enough, too
inline constexpr float kMaxTickRate_hz = 1000.0f;

struct SceneOverrides {  // what a command line or a room may change before the scene is loaded
    std::optional<float> tick_rate_hz;
    std::optional<std::uint32_t> substeps;
    std::optional<std::uint64_t> seed;
    std::optional<sim::RigSolver> rig_solver;  // of all rigs, named or not
};

struct SceneCaps {  // counts are checked by arithmetic before anything is expanded
    std::size_t max_bytes = kMaxSceneBytes;
    std::uint64_t max_bodies = kDefaultMaxSceneBodies;  // in the scene, its generators and templates together
    std::uint64_t max_joints = kDefaultMaxSceneJoints;
};

inline constexpr std::uint64_t kMaxSceneBounds = 10'000;

// What a body of a scene keeps to, as `Bound` in scene.fbs says.
struct SceneBound {
    enum class Of : std::uint8_t { x, y, z, speed, spin_x, spin_y, spin_z, turn_z_deg, distance, angle_deg };
    std::string body;
    Of of = Of::x;
    double least = 0.0, most = 0.0;  // infinite: none
    double from_s = 0.0;
    double point[3] = {};  // m, world
    double axis[3] = {}, to[3] = {};  // of length 1; of the body, of the world
};

// The bodies and joints of one generator, as ranges of WorldDef's lists.
struct GeneratedRange {
    std::uint32_t first = 0, count = 0;  // bodies; named ones answer to name[i]
    std::uint32_t first_joint = 0, joints = 0;
};

struct LoadedScene {
    std::string name;                  // the scene's own, or else the stem of the file's name
    std::vector<std::uint8_t> binary;  // the effective scene in binary form
    std::uint64_t scene_hash = 0;      // XXH3-64 of the canonical walk over the effective scene
    sim::WorldDef world;
    std::vector<SceneBound> bounds;
    std::vector<GeneratedRange> generated;  // by each of the scene's generators
};

// A scene whose definition is made: any number of rooms, worlds and recordings of it share what is here.
struct SharedScene {
    std::string name;
    std::vector<std::uint8_t> binary;
    std::uint64_t scene_hash = 0;
    std::shared_ptr<const sim::Definition> definition;
    std::vector<SceneBound> bounds;
};

// JSON and binary are told apart by content. An error names the file, the line (of JSON), the path inside
// (bodies[3].shape), the fault and its mend.
Result<LoadedScene> load_scene(std::span<const std::uint8_t> bytes, std::string_view file_name,
                               const SceneOverrides& overrides = {}, const SceneCaps& caps = {});

// Errors are those of sim::Definition::create; their places are paths in the scene (see scene_path).
Result<SharedScene> share_scene(LoadedScene scene);

// The path in the scene for a path in its WorldDef. joints[9].body_a may be joints[2].body_a of the scene; for a joint
// of a generator the path is generators[0].
std::string scene_path(std::string_view path, std::span<const GeneratedRange> generated);

// `error` with a line in its place: "FILE: bodies[3].shape" becomes "FILE:12: bodies[3].shape". `bytes` are the content
// of FILE. Places of another form, and places in binary scenes, stay as they are.
Error with_scene_line(Error error, std::span<const std::uint8_t> bytes, std::string_view file_name);

}  // namespace orrery::protocol
