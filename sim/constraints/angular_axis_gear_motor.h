#ifndef ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_H_
#define ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Couples the rates of two bodies about an axis of A: w_b . axis = ratio (w_a . axis), torque on B bounded. It holds rates
// alone, so that a slip stays; a Gear holds angles.
struct AngularAxisGearMotor {
    Vec3 axis_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A
    float ratio = 1.0f;
    Motor motor;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.direction(Side::a, "axis_a", s.axis_a);
        v.number("ratio", s.ratio, -kMaxRatio, kMaxRatio);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_DATA_)
#define ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_DATA_

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

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_INL_H_
#undef ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_INL_H_
#else
#define ORRERY_CONSTRAINTS_ANGULAR_AXIS_GEAR_MOTOR_INL_H_
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
