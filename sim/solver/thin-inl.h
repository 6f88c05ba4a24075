// Contacts of thin bodies: sticks, needles, poles, whose inertias differ by more than a factor (Bodies::thin).
//
// A contact's Jacobian J and the inverse inertia W that it pushes by are those of the tick's start. Of a body that
// turns meanwhile W is another. A stick that gets half a radian a tick out of a push at its corner turns about its
// length by hundreds of radians a second, and what W0 says of that is off by how its length has swung: a hundredth of
// it across the length outweighs, with an inertia that is thousands of times larger, all of its energy. So to the
// contacts a thin body lies as it lay: they see its angular velocity turned back by the shortest turn R that took its
// long axis from a0 to a,
//
//   w0 = R^T w,   w = R w0,   R v = v + k x v + k x (k x v) / (1 + c),   k = a0 x a,   c = a0 . a
//
// For what is as hard to turn about all axes across its length, as a stick nearly is, W = R W0 R^T, whatever it turns
// about its length, which has no part in R (else what rolls by a quarter turn a tick would be pushed the wrong way
// across). The energy w . W^-1 w = w0 . W0^-1 w0 is then the one that contacts' passes lessen, whatever the body has
// done; what is off, by R once and not by R times the ratio of its inertias, is where they push. Who else acts on the
// body (joints, gyroscopic torques) sees w and W as they are.

#if defined(ORRERY_SOLVER_THIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_SOLVER_THIN_INL_H_
#undef ORRERY_SOLVER_THIN_INL_H_
#else
#define ORRERY_SOLVER_THIN_INL_H_
#endif

#include "sim/constraints/bundle-inl.h"
#include "sim/solver/kernels.h"

ORRERY_LANES_BEGIN

ORRERY_FN std::uint32_t body_at(std::uint32_t row) { return row; }
ORRERY_FN std::uint32_t body_at(RecordPlace place) { return row_at(place); }

// Only where StepContext::start is given.
template <class F>
struct StartFrame {
    MaskOf<F> thin;
    Vec3T<F> k;
    F share;  // 1 / (1 + c)

    template <class Rows>
    ORRERY_FN static StartFrame of(const StepContext& context, const Rows* rows, QuatT<F> orientation) {
        float thin[kBundleLanes], x[kBundleLanes], y[kBundleLanes], z[kBundleLanes], u[kBundleLanes], v[kBundleLanes],
            w[kBundleLanes];
        for (std::size_t i = 0; i < lanes<F>(); ++i) {
            const std::uint32_t body = body_at(rows[i]);
            const LongAxis& axis = context.start[body];
            thin[i] = context.thin[body] != 0 ? 1.0f : 0.0f;
            x[i] = axis.body.x, y[i] = axis.body.y, z[i] = axis.body.z;
            u[i] = axis.world.x, v[i] = axis.world.y, w[i] = axis.world.z;
        }
        const Vec3T<F> a = rotate(orientation, Vec3T<F>{load<F>(x), load<F>(y), load<F>(z)}),
                       a0{load<F>(u), load<F>(v), load<F>(w)};
        return {load<F>(thin) > F(0.0f), cross(a0, a), F(1.0f) / max(F(1.0f) + dot(a0, a), F(kLeastTurn))};
    }
    ORRERY_FN Vec3T<F> back(Vec3T<F> w) const { return swung(-k, w); }
    ORRERY_FN Vec3T<F> forth(Vec3T<F> w) const { return swung(k, w); }

  private:
    static constexpr float kLeastTurn = 1.0e-3f;  // of 1 + c: half a turn in a tick
    ORRERY_FN Vec3T<F> swung(Vec3T<F> by, Vec3T<F> w) const {
        const Vec3T<F> across = cross(by, w);
        return select<F>(thin, (w + across) + cross(by, across) * share, w);
    }
};

ORRERY_LANES_END

#endif
