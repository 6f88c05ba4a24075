// Loads scene files: from bytes (JSON text or the FlatBuffers binary form of scene.fbs) to a checked world definition.
//
// The *effective* scene is the file with the overrides applied. `LoadedScene::binary` is its binary form. It is
// recorded, sent to clients, and loads again to the same hash and the same world.
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

inline constexpr std::uint32_t kSceneVersion = 1;          // the newest scene_version that this program reads
inline constexpr std::size_t kMaxSceneBytes = 128u << 20;  // of a file; a written-out million bodies fit
inline constexpr std::uint64_t kDefaultMaxSceneBodies = 1'000'000;
inline constexpr std::uint64_t kDefaultMaxSceneJoints = 4'000'000;
inline constexpr unsigned kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxNameBytes = 120;  // of any name; leaves room for indices such as chain[39]
inline constexpr float kMaxTickRate_hz = 1000.0f;

// Values that a command line or a room may change before the scene is loaded.
struct SceneOverrides {
    std::optional<float> tick_rate_hz;
    std::optional<std::uint32_t> substeps;
    std::optional<std::uint64_t> seed;
    std::optional<sim::RigSolver> rig_solver;  // of all rigs, with and without a name
};

// Limits. Counts are checked by arithmetic before anything is expanded.
struct SceneCaps {
    std::size_t max_bytes = kMaxSceneBytes;
    std::uint64_t max_bodies = kDefaultMaxSceneBodies;  // of the scene, its generators and templates together
    std::uint64_t max_joints = kDefaultMaxSceneJoints;
};

inline constexpr std::uint64_t kMaxSceneBounds = 10'000;

// A bound that a body must keep: `Bound` of scene.fbs.
struct SceneBound {
    enum class Of : std::uint8_t { x, y, z, speed, spin_x, spin_y, spin_z, turn_z_deg, distance, angle_deg };
    std::string body;
    Of of = Of::x;
    double least = 0.0, most = 0.0;  // infinite: no bound
    double from_s = 0.0;
    double point[3] = {};             // m, world
    double axis[3] = {}, to[3] = {};  // unit vectors: `axis` of the body, `to` of the world
};

// The bodies and joints of one generator, as ranges of WorldDef's lists.
struct GeneratedRange {
    std::uint32_t first = 0, count = 0;  // bodies; their names are name[i] if the generator has a name
    std::uint32_t first_joint = 0, joints = 0;
};

struct LoadedScene {
    std::string name;                  // of the scene, or else the file name without extension
    std::vector<std::uint8_t> binary;  // the effective scene in binary form
    std::uint64_t scene_hash = 0;      // XXH3-64 of the canonical walk over the effective scene
    sim::WorldDef world;
    std::vector<SceneBound> bounds;
    std::vector<GeneratedRange> generated;  // one entry for each generator of the scene
};

// A scene with its definition. Any number of rooms, worlds and recordings of the scene share it.
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
