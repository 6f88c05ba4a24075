#ifndef ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_H_
#define ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the velocity of a point of B relative to A, as A sees it where the point is: 3 degrees of freedom, force bounded.
struct BallSocketMotor {
    Vec3 anchor_b;    // m, local
    Vec3 target_mps;  // in the frame of A
    Motor motor;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::b, "anchor_b", s.anchor_b);
        v.velocity(Side::a, "target_mps", s.target_mps, kMaxLinearSpeed_mps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_DATA_)
#define ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_DATA_

#include "sim/constraints/three_form.h"

namespace orrery::sim {

struct BallSocketMotorBundle : PointThree {
    Vec3Rows anchor_b, target;  // local
};

inline void load_lane(BallSocketMotorBundle& bundle, std::uint32_t lane, const BallSocketMotor& joint, const float* impulse) {
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.target, lane, joint.target_mps);
    set_motor(bundle, lane, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_INL_H_
#undef ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_INL_H_
#else
#define ORRERY_CONSTRAINTS_BALL_SOCKET_MOTOR_INL_H_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// The point of A is the one that is where B's point is: ra = xb + rb - xa.
struct BallSocketMotorFunctions : ThreeFunctions<BallSocketMotorFunctions, PointThree, Drive::motor> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const BallSocketMotorBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                       const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        rows.arm_b = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        rows.arm_a = (pose_b.position - pose_a.position) + rows.arm_b;
        rows.error = rotate(pose_a.orientation, get<F>(bundle.target, lane));
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
