// The rows that constraints along an axis of A share: a point of each body, and the axis.
#pragma once

#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct LineRow : PointRow {
    Vec3Rows anchor_a, anchor_b, axis_a;  // local
};

template <class Joint>
void load_line(LineRow& bundle, std::uint32_t lane, const Joint& joint) {
    set_lane(bundle.anchor_a, lane, joint.anchor_a);
    set_lane(bundle.anchor_b, lane, joint.anchor_b);
    set_lane(bundle.axis_a, lane, joint.axis_a);
}

}  // namespace orrery::sim
