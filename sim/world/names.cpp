#include "orrery/sim.hpp"

namespace orrery::sim {

std::string_view subsystem_name(Subsystem subsystem) {
    constexpr std::string_view kNames[kSubsystemCount] = {"clock",    "identity", "bodies", "joints",
                                                          "contacts", "control",  "events"};
    const auto i = static_cast<std::size_t>(subsystem);
    return i < kSubsystemCount ? kNames[i] : "unknown";
}

std::string_view stage_name(Stage stage) {
    constexpr std::string_view kNames[kStageCount] = {"commands",    "bounds",    "pairs",   "narrow_phase",
                                                      "rigs",        "colouring", "prepare", "integrate_velocities",
                                                      "warm_start",  "solve",     "relax",   "integrate_poses",
                                                      "restitution", "store",     "events",  "sleep",
                                                      "hash"};
    const auto i = static_cast<std::size_t>(stage);
    return i < kStageCount ? kNames[i] : "unknown";
}

std::string_view rig_solver_name(RigSolver solver) {
    constexpr std::string_view kNames[kRigSolverCount] = {"auto", "coloured", "direct", "jacobi", "block_jacobi"};
    const auto i = static_cast<std::size_t>(solver);
    return i < kRigSolverCount ? kNames[i] : "unknown";
}

Error step_error(StepStatus status, std::uint64_t tick) {
    Error error{ErrorCode::limit_reached, "tick " + std::to_string(tick), "was not taken"};
    if (status == StepStatus::too_many_commands) {
        error.message =
            "has more than " + std::to_string(kMaxCommandsPerTick) + " commands (kMaxCommandsPerTick): send fewer";
    } else if (status == StepStatus::too_many_pairs) {
        error.message =
            "has more than " + std::to_string(kMaxPairs) +
            " pairs of bodies with overlapping bounds (kMaxPairs): place bodies farther apart, exclude pairs"
            " by their masks, or use fewer bodies";
    }
    return error;
}

}  // namespace orrery::sim
