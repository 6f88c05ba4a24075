#pragma once

#include "sim/constraints/fields.h"

namespace orrery::sim {

// Holds the full relative pose of two bodies: 6 degrees of freedom, solved as one 6x6 block.
struct Weld {
    Vec3 anchor_a, anchor_b;    // m, local
    Quat relative_orientation;  // B in the frame of A: orientation_b = orientation_a * relative_orientation
    Spring spring;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {
        v.point(Side::a, "anchor_a", s.anchor_a), v.point(Side::b, "anchor_b", s.anchor_b);
        v.turn("relative_orientation", s.relative_orientation);
        v.spring("spring", s.spring);
    }
};

}  // namespace orrery::sim
