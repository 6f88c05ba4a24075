// The bundle of angular_axis_gear_motor.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_BUNDLE_
#define ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_BUNDLE_

#include "sim/constraints/angular_axis_gear_motor.h"
#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct AngularAxisGearMotorBundle : AngularRow {
    Vec3Rows axis_a;  // local
    Row ratio;
};

inline void load_lane(AngularAxisGearMotorBundle& bundle, std::uint32_t lane, const AngularAxisGearMotor& joint,
                      const float* impulse) {
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.ratio, lane, joint.ratio);
    set_motor(bundle.drive, lane, 0.0f, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_FUNCTIONS_
#endif

#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

// With a the axis in world axes, a velocity constraint:
//
//   C' = wb . a - ratio (wa . a) = 0,  J = [0, -ratio a, 0, a]
struct AngularAxisGearMotorFunctions : RowFunctions<AngularAxisGearMotorFunctions, AngularRow, Drive::motor> {
    template <class F>
    ORRERY_FN static RowT<F> measure(const AngularAxisGearMotorBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                     const PoseT<F>&) {
        RowT<F> row;
        row.angular_b = rotate(pose_a.orientation, get<F>(bundle.axis_a, lane));
        row.angular_a = row.angular_b * get<F>(bundle.ratio, lane);
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
