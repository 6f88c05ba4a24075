#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Holds the distance between two centres of mass: a cheap edge for cloth. It applies no torque.
struct CenterDistance {
    float target_m = 1.0f;  // m, at least 0
    Spring spring;

    static constexpr auto kTarget = &CenterDistance::target_m;

    template <class Start>
    static double at_start(const CenterDistance&, const Start& start) {
        return length(start.b() - start.a());
    }

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.amount("target_m", s.target_m);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
