// Checks the bounds that a scene states for its bodies.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/scene/scene.h"

namespace orrery::protocol {

// The quantity that `bound` measures of a body, in the units of scene.fbs.
double measure(const SceneBound& bound, const sim::BodyState& body);

class BoundsWatch {
  public:
    // Both arguments must outlive the object.
    BoundsWatch(std::span<const SceneBound> bounds, const sim::World& world);

    // Call it after every step.
    void look();

    struct Kept {
        std::uint64_t looks = 0;
        std::uint64_t broken_at = 0;  // the first tick at which the bound was broken; 0: never
        bool gone = false;            // true: the body was gone at that tick; false:
        double value = 0.0;           // the measured value
    };
    std::span<const Kept> kept() const { return kept_; }
    std::uint32_t broken() const;
    std::uint32_t not_reached() const;  // number of bounds whose `from_s` is not reached
    // The text for a broken bound: "bounds[2]: x of "one" was 5.3 after tick 620, which is above 1.05".
    std::string text(std::size_t index) const;

  private:
    std::span<const SceneBound> bounds_;
    const sim::World& world_;
    std::vector<sim::BodyId> bodies_;  // of each bound
    std::vector<Kept> kept_;
};

}  // namespace orrery::protocol
