// One row between two bodies, the form of most constraints. A value with a Jacobian row is held within [low, high] by a
// spring (a limit; a servo if both ends are equal), or is given a speed (a motor). The force is bounded. A constraint
// of this form defines its value and Jacobian; row_form-inl.h does the rest for all.
#pragma once

#include "sim/constraints/bundle.h"

namespace orrery::sim {

struct DriveRows {
    LimitRows hold;             // a motor's target speed is its `low`
    Row max_speed, base_speed;  // of servos
    Row max_force;
    Row damping;  // of motors
    // Set by prepare:
    Row max_impulse;  // of a substep
    Row softness;     // of motors: 1 / (damping h)
};

inline void set_servo(DriveRows& rows, std::uint32_t lane, float target, Spring spring, Servo servo) {
    set_lane(rows.hold.low, lane, target);
    set_lane(rows.hold.high, lane, target);
    set_lane(rows.hold.spring, lane, spring);
    set_lane(rows.max_speed, lane, servo.max_speed);
    set_lane(rows.base_speed, lane, servo.base_speed);
    set_lane(rows.max_force, lane, servo.max_force);
}
inline void set_limit(DriveRows& rows, std::uint32_t lane, float low, float high, Spring spring) {
    set_servo(rows, lane, low, spring, {});
    set_lane(rows.hold.high, lane, high);
}
inline void set_motor(DriveRows& rows, std::uint32_t lane, float target, Motor motor) {
    set_lane(rows.hold.low, lane, target);
    set_lane(rows.damping, lane, motor.damping);
    set_lane(rows.max_force, lane, motor.max_force);
}

// C' = b . vb - a . va, and likewise for the angular velocities.
struct LinearJacobianRows {
    Vec3Rows a, b;
    Row inverse_mass_a, inverse_mass_b;
};
struct AngularJacobianRows {
    Vec3Rows a, b;
    Vec3Rows response_a, response_b;  // inverse inertia times the row
};

struct RowForm {
    BundleHead head;
    DriveRows drive;
    JointForceRows force;
};
struct AngularRow : RowForm {  // turns bodies
    AngularJacobianRows angular;
};
struct CentreRow : RowForm {  // moves centres
    LinearJacobianRows linear;
};
struct PointRow : RowForm {  // both
    LinearJacobianRows linear;
    AngularJacobianRows angular;
};

inline void load_impulses(RowForm& bundle, std::uint32_t lane, const float* impulse) {
    set_lane(bundle.drive.hold.impulse, lane, impulse[0]);
}
inline void store_lane(const RowForm& bundle, std::uint32_t lane, float* impulse) {
    impulse[0] = bundle.drive.hold.impulse.lane[lane];
}

}  // namespace orrery::sim
