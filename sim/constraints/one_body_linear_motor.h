#ifndef ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_H_
#define ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Drives the velocity of one body's point in the world: 3 degrees of freedom, force bounded. The body is B of the joint; A is
// the world.
struct OneBodyLinearMotor {
    Vec3 anchor_b;    // m, local
    Vec3 target_mps;  // world
    Motor motor;

    static constexpr int kBodies = 1;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::b, "anchor_b", s.anchor_b);
        v.velocity(Side::a, "target_mps", s.target_mps, kMaxLinearSpeed_mps);
        v.motor("motor", s.motor);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_DATA_)
#define ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_DATA_

#include "sim/constraints/three_form.h"

namespace orrery::sim {

struct OneBodyLinearMotorBundle : PointThree {
    Vec3Rows anchor_b;  // local
    Vec3Rows target;    // m/s, world
};

inline void load_lane(OneBodyLinearMotorBundle& bundle, std::uint32_t lane, const OneBodyLinearMotor& joint,
                      const float* impulse) {
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.target, lane, joint.target_mps);
    set_motor(bundle, lane, joint.motor);
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_INL_H_
#undef ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_INL_H_
#else
#define ORRERY_CONSTRAINTS_ONE_BODY_LINEAR_MOTOR_INL_H_
#endif

#include "sim/constraints/three_form-inl.h"

ORRERY_LANES_BEGIN

// C' = vb + wb x rb - target. A does not move, so its arm does not matter.
struct OneBodyLinearMotorFunctions : ThreeFunctions<OneBodyLinearMotorFunctions, PointThree, Drive::motor> {
    template <class F>
    ORRERY_FN static ThreeT<F> measure(const OneBodyLinearMotorBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                       const PoseT<F>& pose_b) {
        ThreeT<F> rows;
        static_cast<void>(pose_a);
        rows.arm_b = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        rows.error = get<F>(bundle.target, lane);
        return rows;
    }
};

ORRERY_LANES_END

#endif
#endif
