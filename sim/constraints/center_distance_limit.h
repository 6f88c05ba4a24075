#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Keeps the distance between two centres of mass within [min, max]. It applies no torque.
struct CenterDistanceLimit {
    float min_m = 0.0f, max_m = 1.0f;  // m, 0 <= min <= max
    Spring spring;

    template <class Start>
    static double at_start(const CenterDistanceLimit&, const Start& start) {
        return length(start.b() - start.a());
    }

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.amount("min_m", s.min_m), v.amount("max_m", s.max_m);
        v.spring("spring", s.spring);
        v.ordered("min_m", s.min_m, "max_m", s.max_m);
    }
};

}  // namespace orrery::sim
