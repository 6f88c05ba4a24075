// The rows that twist constraints share: an axis and a normal of each body.
#pragma once

#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct TwistRow : AngularRow {
    Vec3Rows axis_a, axis_b, normal_a, normal_b;  // local
};

template <class Joint>
void load_twist(TwistRow& bundle, std::uint32_t lane, const Joint& joint) {
    set_lane(bundle.axis_a, lane, joint.axis_a);
    set_lane(bundle.axis_b, lane, joint.axis_b);
    set_lane(bundle.normal_a, lane, joint.normal_a);
    set_lane(bundle.normal_b, lane, joint.normal_b);
}

}  // namespace orrery::sim
