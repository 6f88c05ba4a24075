#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// A rope from a point of A over two wheels, at points of the world, to a point of B. It keeps length_a + ratio *
// length_b within [min, max], where length_a is the distance from the anchor of A to wheel_a, and length_b that from
// the anchor of B to wheel_b. A ratio of 2 is a block and tackle on the side of B.
struct Pulley {
    Vec3 anchor_a, anchor_b;           // m, local
    Vec3 wheel_a, wheel_b;             // m, world
    float ratio = 1.0f;                // kMinPulleyRatio to kMaxRatio
    float min_m = 0.0f, max_m = 1.0f;  // m, 0 <= min <= max
    Spring spring;

    template <class Start>
    static double at_start(const Pulley& s, const Start& start) {
        return length(start.a(s.anchor_a) - start.point(s.wheel_a)) +
               static_cast<double>(s.ratio) * length(start.b(s.anchor_b) - start.point(s.wheel_b));
    }

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.world_point("wheel_a", s.wheel_a), v.world_point("wheel_b", s.wheel_b);
        v.number("ratio", s.ratio, kMinPulleyRatio, kMaxRatio);
        v.amount("min_m", s.min_m), v.amount("max_m", s.max_m);
        v.spring("spring", s.spring);
        v.ordered("min_m", s.min_m, "max_m", s.max_m);
    }
};

}  // namespace orrery::sim
