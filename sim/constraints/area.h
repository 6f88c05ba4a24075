#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Holds the area of the triangle between the centres of three bodies A, B and C, for cloth. It applies no torque.
struct Area {
    float target_m2 = 1.0f;  // m^2, at least 0
    Spring spring;

    static constexpr int kBodies = 3;
    static constexpr auto kTarget = &Area::target_m2;

    template <class Start>
    static double at_start(const Area&, const Start& start) {
        return 0.5 * length(cross(start.b() - start.a(), start.c() - start.a()));
    }

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.amount("target_m2", s.target_m2);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
