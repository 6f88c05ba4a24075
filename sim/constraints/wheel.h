#pragma once

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
