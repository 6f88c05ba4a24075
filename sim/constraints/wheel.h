#ifndef ORRERY_CONSTRAINTS_WHEEL_H_
#define ORRERY_CONSTRAINTS_WHEEL_H_

#include "sim/constraints/fields.h"

namespace orrery::sim {

// A wheel, body B, on a chassis, body A. Its hub moves along the suspension axis on a spring between two stops, its axle stays
// across that axis and is steered about it, and it spins freely about the axle, but for a drive and a brake.
struct Wheel {
    Vec3 anchor_a, anchor_b;                   // m, local: the hub at rest, the wheel's centre
    Vec3 suspension_a{0.0f, 1.0f, 0.0f};       // unit, in the frame of A: up
    Vec3 axle_a{0.0f, 0.0f, 1.0f};             // unit, in the frame of A, perpendicular to it: the axle when steered straight
    Vec3 axle_b{0.0f, 0.0f, 1.0f};             // unit, in the frame of B
    // Of what is held: the hub on its line, the axle across it. Its frequency is that of a hub at the wheel's centre: beside it, at z along
    // the axle, firm steering lowers it by the root of 1 + m z^2 / I.
    Spring spring;
    float rest_m = 0.0f;                       // of the hub along the suspension axis
    Spring suspension{2.0f, 0.7f};
    float max_suspension_n = kNoLimit;
    float min_m = -0.2f, max_m = 0.2f;         // the stops
    float steer_rad = 0.0f;                    // of the axle about the suspension axis, by the right-hand rule; -pi to pi
    Servo steering{4.0f, 0.0f, kNoLimit};      // rad/s, N m
    float target_radps = 0.0f;                 // of the wheel about its axle, relative to the chassis
    Motor drive{0.0f, 0.0f};                   // max_force, N m: the torque of the drive
    float brake_nm = 0.0f;                     // the most that the brake takes to stop it

    static constexpr auto kTarget = &Wheel::target_radps;
    static constexpr auto kSteer = &Wheel::steer_rad;
    static constexpr auto kBrake = &Wheel::brake_nm;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "suspension_a", s.suspension_a);
        v.direction(Side::a, "axle_a", s.axle_a), v.direction(Side::b, "axle_b", s.axle_b);
        v.spring("spring", s.spring);
        v.number("rest_m", s.rest_m, -kMaxTravel_m, kMaxTravel_m), v.spring("suspension", s.suspension);
        v.amount("max_suspension_n", s.max_suspension_n);
        v.number("min_m", s.min_m, -kMaxTravel_m, kMaxTravel_m), v.number("max_m", s.max_m, -kMaxTravel_m, kMaxTravel_m);
        v.number("steer_rad", s.steer_rad, -kAboutPi, kAboutPi), v.servo("steering", s.steering);
        v.speed("target_radps", s.target_radps, kMaxAngularSpeed_radps), v.motor("drive", s.drive);
        v.amount("brake_nm", s.brake_nm);
        v.perpendicular("axle_a", s.axle_a, "suspension_a", s.suspension_a);
        v.ordered("min_m", s.min_m, "max_m", s.max_m);
    }
};

}  // namespace orrery::sim
#endif

#if defined(ORRERY_CONSTRAINT_DATA) && !defined(ORRERY_CONSTRAINTS_WHEEL_DATA_)
#define ORRERY_CONSTRAINTS_WHEEL_DATA_

#include "sim/constraints/block_form.h"

namespace orrery::sim {

struct WheelBundle : WheelRows {
    Vec3Rows anchor_a, anchor_b, suspension_a, axle_a, axle_b;  // local
};

inline void load_lane(WheelBundle& bundle, std::uint32_t lane, const Wheel& joint, const float* impulse) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.suspension_a, lane, joint.suspension_a);
    set_lane(bundle.axle_a, lane, joint.axle_a);
    set_lane(bundle.axle_b, lane, joint.axle_b);
    set_lane(bundle.spring, lane, joint.spring);
    set_servo(bundle.drive[0], lane, joint.rest_m, joint.suspension, {kNoLimit, 0.0f, joint.max_suspension_n});
    set_limit(bundle.drive[1], lane, joint.min_m, joint.max_m, {});
    set_servo(bundle.drive[2], lane, joint.steer_rad, {}, joint.steering);
    set_motor(bundle.drive[3], lane, joint.target_radps, joint.drive);
    set_motor(bundle.drive[4], lane, 0.0f, {joint.brake_nm, 0.0f});
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim
#endif

#ifdef ORRERY_CONSTRAINT_FUNCTIONS
#if defined(ORRERY_CONSTRAINTS_WHEEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_WHEEL_INL_H_
#undef ORRERY_CONSTRAINTS_WHEEL_INL_H_
#else
#define ORRERY_CONSTRAINTS_WHEEL_INL_H_
#endif

#include "sim/constraints/block_form-inl.h"

ORRERY_LANES_BEGIN

// With s the suspension axis, u the straight axle and v = s x u of A, x the axle of B, and d the way from hub to centre, in
// world axes:
//
//   held      u . d and v . d, along() of block_form-inl.h; s . x, whose derivative is (wb - wa) . (x x s)
//   single    suspension and stops: s . d, along() too
//             steering: theta = atan2((u x x) . s, u . x), theta' = (wb - wa) . s where x is across s
//             drive and brake: (wb - wa) . x
struct WheelFunctions : BlockFunctions<WheelFunctions, WheelRows> {
    static constexpr Drive kDrives[] = {Drive::servo, Drive::hold, Drive::servo, Drive::motor, Drive::motor};

    template <class F>
    ORRERY_FN static BlockT<WheelRows, F> measure(const WheelBundle& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                              const PoseT<F>& pose_b) {
        const QuatT<F> qa = pose_a.orientation, qb = pose_b.orientation;
        const Vec3T<F> s = rotate(qa, get<F>(bundle.suspension_a, lane)), u = rotate(qa, get<F>(bundle.axle_a, lane));
        const Vec3T<F> v = cross(s, u);
        const Vec3T<F> x = rotate(qb, get<F>(bundle.axle_b, lane));
        const Vec3T<F> ra = rotate(qa, get<F>(bundle.anchor_a, lane)), rb = rotate(qb, get<F>(bundle.anchor_b, lane));
        const Vec3T<F> d = (pose_b.position - pose_a.position) + (rb - ra);
        BlockT<WheelRows, F> block;
        block.row[0] = along(u, ra, rb, d);
        block.row[1] = along(v, ra, rb, d);
        block.row[2] = LineT<F>::turn(cross(x, s), dot(s, x));
        block.drive[0] = block.drive[1] = along(s, ra, rb, d);
        block.drive[2] = LineT<F>::turn(s, unwound(bundle.drive[2].hold, lane, atan2(dot(cross(u, x), s), dot(u, x))));
        block.drive[3] = block.drive[4] = LineT<F>::turn(x, F(0.0f));
        return block;
    }
};

ORRERY_LANES_END

#endif
#endif
