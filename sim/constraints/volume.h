#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Holds the volume of the tetrahedron between the centres of four bodies A, B, C and D, for soft bodies. The volume is
// positive if (B - A) x (C - A) points to the side of D. It applies no torque.
struct Volume {
    float target_m3 = 1.0f;  // m^3; negative if D lies on the other side
    Spring spring;

    static constexpr int kBodies = 4;
    static constexpr auto kTarget = &Volume::target_m3;

    template <class Start>
    static double at_start(const Volume&, const Start& start) {
        return dot(cross(start.b() - start.a(), start.c() - start.a()), start.d() - start.a()) / 6.0;
    }

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.number("target_m3", s.target_m3, -kNoLimit, kNoLimit);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
