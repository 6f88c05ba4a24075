#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Lets B slide along an axis of A and holds the other 5 degrees of freedom, solved together: a point of B stays on a
// line of A, and the relative orientation stays constant. Along the axis it optionally has a limit, a spring or servo
// (the drive), and a motor. They act on the offset of anchor_b from anchor_a.
struct Slider {
    Vec3 anchor_a, anchor_b;            // m, local
    Vec3 axis_a{1.0f, 0.0f, 0.0f};      // unit, in the frame of A
    Quat relative_orientation;          // B in the frame of A: orientation_b = orientation_a * relative_orientation
    Spring spring;                      // of the five held degrees of freedom
    bool limited = false;               // true: the offset is limited to [min, max]
    float min_m = 0.0f, max_m = 0.0f;   // m, min <= max, both within kMaxTravel_m
    Spring limit_spring;                // of the limit
    float rest_m = 0.0f;                // offset to which the drive drives, m, within kMaxTravel_m
    Spring drive_spring;                // of the drive
    Servo drive{kNoLimit, 0.0f, 0.0f};  // max_force 0: no drive
    float target_mps = 0.0f;            // speed of the motor, m/s, within kMaxLinearSpeed_mps
    Motor motor{0.0f, 0.0f};            // max_force 0: no motor

    static constexpr auto kTarget = &Slider::target_mps;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.direction(Side::a, "axis_a", s.axis_a);
        v.turn("relative_orientation", s.relative_orientation);
        v.spring("spring", s.spring);
        v.flag(s.limited);
        v.number("min_m", s.min_m, -kMaxTravel_m, kMaxTravel_m),
            v.number("max_m", s.max_m, -kMaxTravel_m, kMaxTravel_m);
        v.spring("limit_spring", s.limit_spring);
        v.number("rest_m", s.rest_m, -kMaxTravel_m, kMaxTravel_m);
        v.spring("drive_spring", s.drive_spring), v.servo("drive", s.drive);
        v.speed("target_mps", s.target_mps, kMaxLinearSpeed_mps), v.motor("motor", s.motor);
        v.ordered("min_m", s.min_m, "max_m", s.max_m);
    }
};

}  // namespace orrery::sim
