// What a scene says that loads, but hardly means what its author meant.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/scene/scene.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr double kMaxMassRatio = 1000.0;          // of bodies that touch or are jointed; the solver's tests go up to it
inline constexpr std::uint32_t kMaxToldWarnings = 20;    // of a kind; more are counted

enum class WarningKind : std::uint8_t { mesh_winding, overlap, slots_at_one_pose, idle_slot, static_velocity, idle_joint, mass_ratio };
inline constexpr std::size_t kWarningKinds = 7;
std::string_view warning_name(WarningKind kind);  // "mesh_winding", "overlap", ...

struct SceneWarning {
    WarningKind kind = WarningKind::overlap;
    std::string path;     // inside the scene: bodies[3].position
    std::string message;  // what it is, and the mend
};

struct SceneWarnings {
    std::vector<SceneWarning> told;                          // in the order of kinds, the first kMaxToldWarnings of each
    std::array<std::uint64_t, kWarningKinds> count{};        // by kind, of all
    std::uint64_t total() const;
};

// `definition` is made of the scene. Steps a world of it for at most a second, with every slot taken, to see which bodies touch. An error is
// that of the world or of a step.
Result<SceneWarnings> scene_warnings(const protocol::LoadedScene& scene, const sim::Definition& definition);

}  // namespace orrery::server
