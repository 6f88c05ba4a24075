// The bundles of a tick: every kind of constraint, in the order in which kinds stand in a colour.
#pragma once

#define ORRERY_CONSTRAINT_DATA
#include "sim/constraints/ball_socket.h"
#include "sim/constraints/contact.h"
#include "sim/solver/joint.h"

namespace orrery::sim {

enum class Kind : std::uint8_t { ball_socket, contact };
inline constexpr std::size_t kKindCount = 2, kJointKinds = kKindCount - 1;

}  // namespace orrery::sim
