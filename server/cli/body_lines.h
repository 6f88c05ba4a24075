// A body's name and its motion, as `run --bodies` and `replay trace` print them.
#pragma once

#include <string>

#include "orrery/sim.hpp"

namespace orrery::server {

// The names by which people find bodies: NAME of a body of the scene, SLOT/NAME of a body of a player's template,
// TEMPLATE/NAME of a body of any other spawn. A body without a name has its number in the list: "bodies[3]",
// "car/bodies[0]".
std::string body_name(const sim::WorldDef& def, const sim::BodyState& body);

// "tick 3 body crate at x y z ..." or the same as a JSON object; SI units, world frame. No line end.
std::string body_line(std::uint64_t tick, const std::string& name, const sim::BodyMotion& body, bool json);

}  // namespace orrery::server
