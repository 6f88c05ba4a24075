#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// A wheel, body B, on a chassis, body A. The hub moves along the suspension axis on a spring between two stops. The
// axle stays perpendicular to that axis and is steered about it. The wheel spins freely about the axle, apart from a
// drive and a brake.
struct Wheel {
    // Local, m: anchor_a is the hub at rest, anchor_b the wheel's centre.
    Vec3 anchor_a, anchor_b;
    Vec3 suspension_a{0.0f, 1.0f, 0.0f};  // unit, in the frame of A: up
    // Unit, in the frame of A, perpendicular to suspension_a: the axle when steered straight.
    Vec3 axle_a{0.0f, 0.0f, 1.0f};
    Vec3 axle_b{0.0f, 0.0f, 1.0f};  // unit, in the frame of B
    // Spring of the rigid directions: the hub on the suspension axis, and the axle perpendicular to it. The frequency
    // is exact for a hub at the wheel's centre of mass. If the hub is at a distance z (m) from it along the axle and
    // the steering is stiff, the frequency is lower by a factor of the square root of 1 + m z^2 / I, with the mass m
    // and the inertia I of the wheel.
    Spring spring;
    float rest_m = 0.0f;  // position of the hub along the suspension axis at which the suspension exerts no force, m
    Spring suspension{2.0f, 0.7f};      // along the suspension axis
    float max_suspension_n = kNoLimit;  // largest force of the suspension, N, at least 0
    float min_m = -0.2f, max_m = 0.2f;  // the stops: smallest and largest position of the hub, m, within kMaxTravel_m
    // Target angle of the axle about the suspension axis, by the right-hand rule: rad, -pi to pi.
    float steer_rad = 0.0f;
    Servo steering{4.0f, 0.0f, kNoLimit};  // rad/s, N m
    float target_radps = 0.0f;             // speed about the axle, relative to the chassis, rad/s
    Motor drive{0.0f, 0.0f};               // max_force is the torque of the drive, N m
    float brake_nm = 0.0f;                 // largest torque of the brake, N m, at least 0

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
        v.number("min_m", s.min_m, -kMaxTravel_m, kMaxTravel_m),
            v.number("max_m", s.max_m, -kMaxTravel_m, kMaxTravel_m);
        v.number("steer_rad", s.steer_rad, -kAboutPi, kAboutPi), v.servo("steering", s.steering);
        v.speed("target_radps", s.target_radps, kMaxAngularSpeed_radps), v.motor("drive", s.drive);
        v.amount("brake_nm", s.brake_nm);
        v.perpendicular("axle_a", s.axle_a, "suspension_a", s.suspension_a);
        v.ordered("min_m", s.min_m, "max_m", s.max_m);
    }
};

}  // namespace orrery::sim
