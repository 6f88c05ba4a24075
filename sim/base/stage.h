// The stages of a step, and an observer for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orrery::sim {

// `rigs` is all work on rigs: of those that are solved alone, and in the passes that they share with the coloured
// solver.
enum class Stage : std::uint8_t {
    commands,
    bounds,
    pairs,
    narrow_phase,
    rigs,
    colouring,
    prepare,
    integrate_velocities,
    warm_start,
    solve,
    relax,
    integrate_poses,
    restitution,
    store,
    events,
    sleep,
    hash,
};
inline constexpr std::size_t kStageCount = 17;
std::string_view stage_name(Stage stage);

// Called when a stage of a step begins and ends, on the thread that steps. A host that measures times reads its own
// clock. The observer must not use the world during the step.
class StageObserver {
  public:
    virtual ~StageObserver() = default;
    virtual void begin(Stage stage) = 0;
    virtual void end(Stage stage) = 0;
};

}  // namespace orrery::sim
