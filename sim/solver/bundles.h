// The bundles of a tick: every kind of constraint, in the order in which kinds stand in a colour.
#pragma once

#include <tuple>
#include <variant>
#include <vector>

#define ORRERY_CONSTRAINT_DATA
#include "sim/constraints/angular_axis_motor.h"
#include "sim/constraints/ball_socket.h"
#include "sim/constraints/contact.h"
#include "sim/constraints/distance_limit.h"
#include "sim/constraints/hinge.h"
#include "sim/constraints/one_body_linear_servo.h"
#include "sim/constraints/weld.h"
#include "sim/solver/joint.h"

namespace orrery::sim {

// Joints as in the variant Constraint, then contacts.
enum class Kind : std::uint8_t {
    ball_socket, hinge, weld, distance_limit, one_body_linear_servo, angular_axis_motor, contact,
};
inline constexpr std::size_t kKindCount = 7;
static_assert(std::variant_size_v<Constraint> == kKindCount - 1);

inline Kind kind_of(const Joint& joint) { return static_cast<Kind>(joint.constraint.index()); }

// A vector of bundles for each kind, in the order of Kind.
using BundleVectors = std::tuple<std::vector<BallSocketBundle>, std::vector<HingeBundle>, std::vector<WeldBundle>,
                                 std::vector<DistanceLimitBundle>, std::vector<OneBodyLinearServoBundle>,
                                 std::vector<AngularAxisMotorBundle>, std::vector<ContactBundle>>;

}  // namespace orrery::sim
