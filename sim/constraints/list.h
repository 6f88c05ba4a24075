// Every constraint that two or more bodies can be joined by: an #include and a line of ORRERY_CONSTRAINTS each, with the
// name that scenes use. The order is that of the variant Constraint and of what is saved: append only.
//
// Each header has three sections (see ball_socket.h): the description always, the data under ORRERY_CONSTRAINT_DATA, the
// functions under ORRERY_CONSTRAINT_FUNCTIONS, once a lane namespace. So this file has no include guard.
#include "sim/constraints/angular_axis_motor.h"
#include "sim/constraints/ball_socket.h"
#include "sim/constraints/distance_limit.h"
#include "sim/constraints/hinge.h"
#include "sim/constraints/one_body_linear_servo.h"
#include "sim/constraints/swing_limit.h"
#include "sim/constraints/twist_limit.h"
#include "sim/constraints/twist_motor.h"
#include "sim/constraints/twist_servo.h"
#include "sim/constraints/weld.h"

#ifndef ORRERY_CONSTRAINTS_LIST_H_
#define ORRERY_CONSTRAINTS_LIST_H_

#include <cstddef>
#include <variant>

// Parts of the list are compiled side by side: solver/joints_<part>.cpp.
#define ORRERY_CONSTRAINTS_1(X)                     \
    X(BallSocket, ball_socket)                      \
    X(Hinge, hinge)                                 \
    X(Weld, weld)                                   \
    X(DistanceLimit, distance_limit)                \
    X(OneBodyLinearServo, one_body_linear_servo)    \
    X(AngularAxisMotor, angular_axis_motor)

#define ORRERY_CONSTRAINTS_2(X)                     \
    X(SwingLimit, swing_limit)                      \
    X(TwistLimit, twist_limit)                      \
    X(TwistServo, twist_servo)                      \
    X(TwistMotor, twist_motor)

#define ORRERY_CONSTRAINTS(X) ORRERY_CONSTRAINTS_1(X) ORRERY_CONSTRAINTS_2(X)

namespace orrery::sim {

template <class Nothing, class... T>
struct ConstraintVariant {
    using type = std::variant<T...>;
};
#define ORRERY_CONSTRAINT(T, name) , T
using Constraint = ConstraintVariant<void ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)>::type;
#undef ORRERY_CONSTRAINT

inline constexpr std::size_t kConstraintTypes = std::variant_size_v<Constraint>;
#define ORRERY_CONSTRAINT(T, name) #name,
inline constexpr const char* kConstraintNames[kConstraintTypes] = {ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)};
#undef ORRERY_CONSTRAINT

// How many bodies a constraint is about: 1 (B alone, A is the world) to 4.
template <class T>
constexpr int body_count() {
    if constexpr (requires { T::kBodies; }) return T::kBodies;
    else return 2;
}
inline int body_count(const Constraint& constraint) {
    return std::visit([]<class T>(const T&) { return body_count<T>(); }, constraint);
}

}  // namespace orrery::sim
#endif
