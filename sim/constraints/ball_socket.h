#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Holds a point of A on a point of B: 3 degrees of freedom.
struct BallSocket {
    Vec3 anchor_a;  // m, in the frame of A (the world frame when A is the world)
    Vec3 anchor_b;  // m, in the frame of B
    Spring spring;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
