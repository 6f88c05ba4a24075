#ifndef ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_H_
#define ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives a point of B onto a point of A with a bounded speed and force: 3 degrees of freedom.
struct BallSocketServo {
    Vec3 anchor_a, anchor_b;  // m, local
    Spring spring;
    Servo servo;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.spring("spring", s.spring), v.servo("servo", s.servo);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_DATA_)
#define ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_DATA_

#include "sim/constraints/three_form.h"

namespace orrery::sim {

struct BallSocketServoBundle : PointThree {
    Vec3Rows anchor_a, anchor_b;  // local
};

inline void load_lane(BallSocketServoBundle& bundle, std::uint32_t lane, const BallSocketServo& joint, const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_servo(bundle, lane, joint.spring, joint.servo);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_INL_H_
#undef ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_INL_H_
#else
#define ORRERY_CONSTRAINTS_BALL_SOCKET_SERVO_INL_H_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// A BallSocket with servo settings: C = (xb + rb) - (xa + ra).
struct BallSocketServoFunctions : ThreeFunctions<BallSocketServoFunctions, PointThree> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const BallSocketServoBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                       const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        rows.arm_a = rotate(pose_a.orientation, get<F>(bundle.anchor_a, lane));
        rows.arm_b = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        rows.error = (pose_b.position - pose_a.position) + (rows.arm_b - rows.arm_a);
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
