// Warnings about scenes that load but are probably mistaken.
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

// between bodies that touch or are jointed; the solver's tests go up to it
inline constexpr double kMaxMassRatio = 1000.0;
inline constexpr std::uint32_t kMaxToldWarnings = 20;    // of each kind; further ones are counted

enum class WarningKind : std::uint8_t { mesh_winding, overlap, slots_at_one_pose, idle_slot, static_velocity, idle_joint, mass_ratio };
inline constexpr std::size_t kWarningKinds = 7;
std::string_view warning_name(WarningKind kind);  // "mesh_winding", "overlap", ...

struct SceneWarning {
    WarningKind kind = WarningKind::overlap;
    std::string path;     // inside the scene: bodies[3].position
    std::string message;  // what is wrong, and the remedy
};

struct SceneWarnings {
    std::vector<SceneWarning> told;  // in the order of kinds, the first kMaxToldWarnings of each
    std::array<std::uint64_t, kWarningKinds> count{};        // of all warnings, by kind
    std::uint64_t total() const;
};

// `definition` is made from the scene. To find touching bodies, a world of it is stepped for at most a second, with
// every slot taken. An error is that of the world or of a step.
Result<SceneWarnings> scene_warnings(const protocol::LoadedScene& scene, const sim::Definition& definition);

}  // namespace orrery::server
