// Three rows along the world's axes, of a common point (linear) or of a rotation (angular), solved as one 3x3 block. It
// is a servo that drives an error to zero, or a motor that drives a velocity. The force is bounded. The functions are
// in three_form-inl.h.
#pragma once

#include "sim/constraints/bundle.h"

namespace orrery::sim {

struct ThreeForm {
    BundleHead head;
    SpringRows spring;          // of servos
    Row max_speed, base_speed;  // of servos
    Row max_force, damping;     // `damping` is that of motors
    Row max_impulse, softness;  // set by prepare: for a substep, 1 / (damping h)
    Vec3Rows impulse;           // N s or N m s of one substep, world axes
    JointForceRows force;
    // Of the current poses:
    Sym3Rows mass;
    Vec3Rows bias;  // m/s or rad/s
};
struct PointThree : ThreeForm {
    InertiaRows a, b;
    Vec3Rows arm_a, arm_b;  // world
};
struct AngularThree : ThreeForm {
    Sym3Rows inertia_a, inertia_b;
};

inline void set_servo(ThreeForm& rows, std::uint32_t lane, Spring spring, Servo servo) {
    set_lane(rows.spring, lane, spring);
    set_lane(rows.max_speed, lane, servo.max_speed);
    set_lane(rows.base_speed, lane, servo.base_speed);
    set_lane(rows.max_force, lane, servo.max_force);
}
inline void set_motor(ThreeForm& rows, std::uint32_t lane, Motor motor) {
    set_lane(rows.damping, lane, motor.damping);
    set_lane(rows.max_force, lane, motor.max_force);
}
inline void load_impulses(ThreeForm& bundle, std::uint32_t lane, const float* impulse) {
    set_lane(bundle.impulse, lane, impulse);
}
inline void store_lane(const ThreeForm& bundle, std::uint32_t lane, float* impulse) {
    get_lane(bundle.impulse, lane, impulse);
}

}  // namespace orrery::sim
