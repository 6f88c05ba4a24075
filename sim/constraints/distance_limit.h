#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Keeps the distance between two anchors within [min, max]: a rope if min = 0, a rod if min = max.
struct DistanceLimit {
    Vec3 anchor_a, anchor_b;           // m, local
    float min_m = 0.0f, max_m = 1.0f;  // m, 0 <= min <= max
    Spring spring;

    template <class Start>
    static double at_start(const DistanceLimit& s, const Start& start) {
        return length(start.b(s.anchor_b) - start.a(s.anchor_a));
    }

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.amount("min_m", s.min_m), v.amount("max_m", s.max_m);
        v.spring("spring", s.spring);
        v.ordered("min_m", s.min_m, "max_m", s.max_m);
    }
};

}  // namespace orrery::sim
