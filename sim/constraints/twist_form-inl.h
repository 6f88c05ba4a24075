// The twist of B relative to A and its derivative. With a, b the axes, u the normal of A, v = a x u and n the normal of
// B, all in world axes, let n' be n turned along with b on the shortest way to a:
//
//   n' = n - (a . n) / (1 + a . b) (a + b)                                since n . b = 0
//   value = atan2(v . n', u . n')
//
// Of the relative rotation q = swing * twist this is twice the angle of (q . a, q.w), whose derivative is
//
//   value' = (wb - wa) . (a + b) / (1 + a . b)
//
// from q' = (w q) / 2. Both sides of the atan2 are taken times 1 + a . b, so that nothing is divided.
//
// Where the axes point away from each other twist has no meaning: who swings past that side has another twist behind
// it, by up to half a turn, and value' grows without bound. So a row longer than 2, whose axes are further apart than
// 120 degrees, and the speed asked of it are taken times 2 / |value'| = sqrt(2 (1 + a . b)): the row is the turn about
// a + b at last, and what is to be brought back, limited or driven fades out. (With a row of 20 (a + b) at most a
// pendulum that swung over its pivot with its twist limited had 100 times its energy.)

#if defined(ORRERY_CONSTRAINTS_TWIST_FORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_TWIST_FORM_INL_H_
#undef ORRERY_CONSTRAINTS_TWIST_FORM_INL_H_
#else
#define ORRERY_CONSTRAINTS_TWIST_FORM_INL_H_
#endif

#include "sim/constraints/row_form-inl.h"
#include "sim/constraints/twist_form.h"

ORRERY_LANES_BEGIN

template <Drive kDrive = Drive::hold>
struct TwistFunctions : RowFunctions<TwistFunctions<kDrive>, AngularRow, kDrive> {
    using Form = RowFormFunctions<AngularRow>;

    template <class F>
    ORRERY_FN static void refresh(TwistRow& bundle, std::size_t lane, const StepConstants& step, const PoseT<F>& pose_a,
                                  const PoseT<F>& pose_b, const InertiaT<F>& a, const InertiaT<F>& b) {
        RowT<F> row = measure<F>(bundle, lane, pose_a, pose_b);
        const F share = min(F(2.0f) * inverse_or_zero(length(row.angular_a)), F(1.0f));
        row.angular_a = row.angular_b = row.angular_a * share;
        const F response = Form::put_row(bundle, lane, row, a, b);
        LimitRows& hold = bundle.drive.hold;
        if constexpr (kDrive == Drive::motor)
            refresh_motor(bundle.drive, lane, response);
        else
            refresh_hold(bundle.drive, lane, step, row.value, response);
        put(hold.bias, lane, get<F>(hold.bias, lane) * share);
    }
    template <class F>
    ORRERY_FN static RowT<F> measure(const TwistRow& bundle, std::size_t lane, const PoseT<F>& pose_a,
                                     const PoseT<F>& pose_b) {
        const QuatT<F> qa = pose_a.orientation, qb = pose_b.orientation;
        const Vec3T<F> a = rotate(qa, get<F>(bundle.axis_a, lane)), b = rotate(qb, get<F>(bundle.axis_b, lane));
        const F opening = F(1.0f) + dot(a, b);
        RowT<F> row;
        row.angular_a = row.angular_b = (a + b) * (F(1.0f) / max(opening, F(1.0e-6f)));
        if constexpr (kDrive != Drive::motor) {
            const Vec3T<F> u = rotate(qa, get<F>(bundle.normal_a, lane)), v = cross(a, u);
            const Vec3T<F> n = rotate(qb, get<F>(bundle.normal_b, lane));
            const F out = dot(a, n);
            row.value = unwound(bundle.drive.hold, lane,
                                atan2(dot(v, n) * opening - out * dot(v, b), dot(u, n) * opening - out * dot(u, b)));
        }
        return row;
    }
};

ORRERY_LANES_END

#endif
