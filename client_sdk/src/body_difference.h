// The first body whose motion differs between two states, for people. `orrery bisect` names every field; this one is
// small enough for the page.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "orrery/sim.hpp"

namespace orrery::client {

struct BodyDifference {
    sim::BodyId body;
    std::string text;  // "position.y is 1.25, recorded 1.26"
};

// Nothing: all bodies move alike, or the recorded bytes are no state of the world's definition.
std::optional<BodyDifference> first_body_difference(const sim::World& world, std::span<const std::uint8_t> recorded);

}  // namespace orrery::client
