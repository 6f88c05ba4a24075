// Probable mistakes in a scene that loads.
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

inline constexpr double kMaxMassRatio = 1000.0;  // of bodies that touch or are jointed; the solver is tested up to it
inline constexpr std::uint32_t kMaxToldWarnings = 20;  // of a kind, so that a person reads them; others are counted

enum class WarningKind : std::uint8_t {
    mesh_winding,
    overlap,
    slots_at_one_pose,
    idle_slot,
    static_velocity,
    idle_joint,
    mass_ratio
};
inline constexpr std::size_t kWarningKinds = 7;
std::string_view warning_name(WarningKind kind);  // "mesh_winding", "overlap", ...

struct SceneWarning {
    WarningKind kind = WarningKind::overlap;
    std::string path;     // inside the scene: bodies[3].position
    std::string message;  // the mistake and its mend
};

struct SceneWarnings {
    std::vector<SceneWarning> told;                    // in the order of kinds; at most kMaxToldWarnings of a kind
    std::array<std::uint64_t, kWarningKinds> count{};  // of all, by kind
    std::uint64_t total() const;
};

// `definition` is that of the scene. A world of it is stepped for at most one second with every slot taken, to find the
// bodies that touch. Errors are those of World::create and World::step.
Result<SceneWarnings> scene_warnings(const protocol::LoadedScene& scene, const sim::Definition& definition);

}  // namespace orrery::server
