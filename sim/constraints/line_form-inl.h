// The offset of a point of B from one of A along an axis n of A, all in world axes. With d = (xb + rb) - (xa + ra):
//
//   value = n . d
//   value' = n . (vb + wb x rb - va - wa x ra) + (wa x n) . d,  J = [-n, -((ra + d) x n), n, rb x n]

#if defined(ORRERY_CONSTRAINTS_LINE_FORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_LINE_FORM_INL_H_
#undef ORRERY_CONSTRAINTS_LINE_FORM_INL_H_
#else
#define ORRERY_CONSTRAINTS_LINE_FORM_INL_H_
#endif

#include "sim/constraints/line_form.h"
#include "sim/constraints/row_form-inl.h"

ORRERY_LANES_BEGIN

template <Drive kDrive = Drive::hold>
struct LineFunctions : RowFunctions<LineFunctions<kDrive>, PointRow, kDrive> {
    template <class F>
    ORRERY_FN static RowT<F> measure(const LineRow& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const Vec3T<F> n = rotate(pose_a.orientation, get<F>(bundle.axis_a, lane));
        const Vec3T<F> ra = rotate(pose_a.orientation, get<F>(bundle.anchor_a, lane));
        const Vec3T<F> rb = rotate(pose_b.orientation, get<F>(bundle.anchor_b, lane));
        const Vec3T<F> d = (pose_b.position - pose_a.position) + (rb - ra);
        RowT<F> row;
        row.linear_a = row.linear_b = n;
        row.angular_a = cross(ra + d, n);
        row.angular_b = cross(rb, n);
        row.value = dot(n, d);
        return row;
    }
};

ORRERY_LANES_END

#endif
