#include "orrery/sim.hpp"

namespace orrery::sim {

std::string_view subsystem_name(Subsystem subsystem) {
    constexpr std::string_view kNames[kSubsystemCount] = {"clock", "identity", "bodies", "joints", "contacts", "control", "events"};
    const auto i = static_cast<std::size_t>(subsystem);
    return i < kSubsystemCount ? kNames[i] : "unknown";
}

std::string_view stage_name(Stage stage) {
    constexpr std::string_view kNames[kStageCount] = {
        "commands", "bounds", "pairs", "narrow_phase", "colouring", "prepare", "integrate_velocities", "warm_start",
        "solve", "relax", "integrate_poses", "restitution", "store", "events", "hash"};
    const auto i = static_cast<std::size_t>(stage);
    return i < kStageCount ? kNames[i] : "unknown";
}

}  // namespace orrery::sim
