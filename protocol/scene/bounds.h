// Whether bodies keep to what their scene says of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/scene/scene.h"

namespace orrery::protocol {

// What `bound` measures of a body, in the units of scene.fbs.
double measure(const SceneBound& bound, const sim::BodyState& body);

class BoundsWatch {
  public:
    // Both must outlive it.
    BoundsWatch(std::span<const SceneBound> bounds, const sim::World& world);

    // After every step.
    void look();

    struct Kept {
        std::uint64_t looks = 0;
        std::uint64_t broken_at = 0;         // the first tick; 0: never
        bool gone = false;                   // the body was, then; else
        double value = 0.0;                  // what it was
    };
    std::span<const Kept> kept() const { return kept_; }
    std::uint32_t broken() const;
    std::uint32_t not_reached() const;  // whose from_s has not come
    // "bounds[2]: x of "one" was 5.3 after tick 620, which is above 1.05"; of one that was broken.
    std::string text(std::size_t index) const;

  private:
    std::span<const SceneBound> bounds_;
    const sim::World& world_;
    std::vector<sim::BodyId> bodies_;  // of each bound
    std::vector<Kept> kept_;
};

}  // namespace orrery::protocol
