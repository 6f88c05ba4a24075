// The list of all constraints. A new one needs an #include here and in list-inl.h, and a line of ORRERY_CONSTRAINTS
// with the name that scenes use. The order is that of the variant Constraint and of saved states: append only.
#pragma once

#include <cstddef>
#include <variant>

#include "sim/constraints/angular_axis_gear_motor.h"
#include "sim/constraints/angular_axis_motor.h"
#include "sim/constraints/angular_hinge.h"
#include "sim/constraints/angular_motor.h"
#include "sim/constraints/angular_servo.h"
#include "sim/constraints/angular_swivel_hinge.h"
#include "sim/constraints/area.h"
#include "sim/constraints/ball_socket.h"
#include "sim/constraints/ball_socket_motor.h"
#include "sim/constraints/ball_socket_servo.h"
#include "sim/constraints/center_distance.h"
#include "sim/constraints/center_distance_limit.h"
#include "sim/constraints/distance_limit.h"
#include "sim/constraints/distance_servo.h"
#include "sim/constraints/gear.h"
#include "sim/constraints/hinge.h"
#include "sim/constraints/linear_axis_limit.h"
#include "sim/constraints/linear_axis_motor.h"
#include "sim/constraints/linear_axis_servo.h"
#include "sim/constraints/one_body_angular_motor.h"
#include "sim/constraints/one_body_angular_servo.h"
#include "sim/constraints/one_body_linear_motor.h"
#include "sim/constraints/one_body_linear_servo.h"
#include "sim/constraints/point_on_line_servo.h"
#include "sim/constraints/pulley.h"
#include "sim/constraints/rack_and_pinion.h"
#include "sim/constraints/slider.h"
#include "sim/constraints/swing_limit.h"
#include "sim/constraints/swivel_hinge.h"
#include "sim/constraints/twist_limit.h"
#include "sim/constraints/twist_motor.h"
#include "sim/constraints/twist_servo.h"
#include "sim/constraints/volume.h"
#include "sim/constraints/weld.h"
#include "sim/constraints/wheel.h"

// The parts of the list are compiled in parallel: solver/joints_<part>.cpp. The first part has the constraints that
// scenes have thousands of.
#define ORRERY_CONSTRAINTS_1(X)                  \
    X(BallSocket, ball_socket)                   \
    X(Hinge, hinge)                              \
    X(Weld, weld)                                \
    X(DistanceLimit, distance_limit)             \
    X(OneBodyLinearServo, one_body_linear_servo) \
    X(AngularAxisMotor, angular_axis_motor)      \
    X(SwingLimit, swing_limit)                   \
    X(TwistLimit, twist_limit)

// The second part.
#define ORRERY_CONSTRAINTS_2(X)                      \
    X(TwistServo, twist_servo)                       \
    X(TwistMotor, twist_motor)                       \
    X(AngularSwivelHinge, angular_swivel_hinge)      \
    X(AngularAxisGearMotor, angular_axis_gear_motor) \
    X(DistanceServo, distance_servo)                 \
    X(CenterDistance, center_distance)               \
    X(CenterDistanceLimit, center_distance_limit)    \
    X(LinearAxisServo, linear_axis_servo)            \
    X(LinearAxisLimit, linear_axis_limit)            \
    X(LinearAxisMotor, linear_axis_motor)            \
    X(Gear, gear)                                    \
    X(RackAndPinion, rack_and_pinion)                \
    X(Pulley, pulley)

// The third part.
#define ORRERY_CONSTRAINTS_3(X)                    \
    X(BallSocketServo, ball_socket_servo)          \
    X(BallSocketMotor, ball_socket_motor)          \
    X(AngularServo, angular_servo)                 \
    X(AngularMotor, angular_motor)                 \
    X(OneBodyLinearMotor, one_body_linear_motor)   \
    X(OneBodyAngularServo, one_body_angular_servo) \
    X(OneBodyAngularMotor, one_body_angular_motor) \
    X(SwivelHinge, swivel_hinge)                   \
    X(AngularHinge, angular_hinge)                 \
    X(PointOnLineServo, point_on_line_servo)       \
    X(Slider, slider)                              \
    X(Wheel, wheel)                                \
    X(Area, area)                                  \
    X(Volume, volume)

// Calls X with the type and the name of each constraint, in order.
#define ORRERY_CONSTRAINTS(X) ORRERY_CONSTRAINTS_1(X) ORRERY_CONSTRAINTS_2(X) ORRERY_CONSTRAINTS_3(X)

namespace orrery::sim {

// The variant of all arguments but the first, so that each element of the list may begin with a comma.
template <class Nothing, class... T>
struct ConstraintVariant {
    using type = std::variant<T...>;  // without Nothing
};
#define ORRERY_CONSTRAINT(T, name) , T
// The description of a constraint of any type.
using Constraint = ConstraintVariant<void ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)>::type;
#undef ORRERY_CONSTRAINT

inline constexpr std::size_t kConstraintTypes = std::variant_size_v<Constraint>;  // of Constraint
#define ORRERY_CONSTRAINT(T, name) #name,
// The names that scenes use, by Constraint::index().
inline constexpr const char* kConstraintNames[kConstraintTypes] = {ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)};
#undef ORRERY_CONSTRAINT

// The number of bodies of a constraint: 1 to 4. 1: B alone; A is the world.
template <class T>
constexpr int body_count() {
    if constexpr (requires { T::kBodies; })
        return T::kBodies;
    else
        return 2;
}
inline int body_count(const Constraint& constraint) {
    return std::visit([]<class T>(const T&) { return body_count<T>(); }, constraint);
}

}  // namespace orrery::sim
