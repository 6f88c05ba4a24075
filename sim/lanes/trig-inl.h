// Trigonometry over lanes, from + - * / sqrt alone: libm's functions differ between machines (DETERMINISM.md 5).
// The polynomials interpolate at Chebyshev nodes of the reduced interval. Largest errors, held by a test against
// double precision: sin, cos 1.2e-7 for |x| <= 100 and 4e-7 for |x| <= kMaxTrigArgument; atan2 4e-7; asin, acos 6e-7.

#if defined(ORRERY_LANES_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_LANES_TRIG_INL_H_
#undef ORRERY_LANES_TRIG_INL_H_
#else
#define ORRERY_LANES_TRIG_INL_H_
#endif

#include "sim/lanes/number-inl.h"

ORRERY_LANES_BEGIN

inline constexpr float kPi = 3.14159265f, kHalfPi = 1.57079633f, kQuarterPi = 0.785398163f;
inline constexpr float kMaxTrigArgument = 8192.0f;  // rad; larger arguments are clamped to it

// The nearest whole number, ties to even, for |x| < 2^22: adding 1.5 * 2^23 leaves no fraction bits.
template <class F>
ORRERY_FN F round_to_whole(F x) {
    const F magic(12582912.0f);
    return (x + magic) - magic;
}

template <class F>
struct SinCos {
    F sin, cos;
};

template <class F>
ORRERY_FN SinCos<F> sin_cos(F angle) {
    const F x = clamp(angle, F(-kMaxTrigArgument), F(kMaxTrigArgument));
    // x = quarters * pi/2 + r, |r| <= pi/4. pi/2 in three parts of 11 or fewer bits, so that each product is exact or
    // nearly.
    const F quarters = round_to_whole(x * F(0.636619772f));
    const F r = ((x - quarters * F(0x1.92p+0f)) - quarters * F(0x1.fb4p-12f)) - quarters * F(0x1.4442d2p-24f);
    const F y = r * r;
    const F s = r + r * y * (F(-0.16666664650f) + y * (F(0.00833274594f) + y * F(-0.000195873871f)));
    const F c = (F(1.0f) - F(0.5f) * y) + y * y * (F(0.0416666646f) + y * (F(-0.00138883007f) + y * F(2.45474372e-5f)));
    // quarters mod 4, in -2 .. 2.
    const F turn = quarters - F(4.0f) * round_to_whole(quarters * F(0.25f));
    const MaskOf<F> odd = abs(turn) == F(1.0f), half = abs(turn) == F(2.0f);
    const F sin_part = select(odd, c, s), cos_part = select(odd, s, c);
    const MaskOf<F> negate_sin = half | (turn == F(-1.0f)), negate_cos = half | (turn == F(1.0f));
    return {select(negate_sin, -sin_part, sin_part), select(negate_cos, -cos_part, cos_part)};
}
template <class F>
ORRERY_FN F sin(F angle) {
    return sin_cos(angle).sin;
}
template <class F>
ORRERY_FN F cos(F angle) {
    return sin_cos(angle).cos;
}

// Angle of (x, y) from the x axis, in (-pi, pi]; 0 at the origin.
template <class F>
ORRERY_FN F atan2(F y, F x) {
    const F ax = abs(x), ay = abs(y);
    const MaskOf<F> steep = ax < ay;
    const F small = select(steep, ax, ay), large = select(steep, ay, ax);
    const F ratio = small / select(large > F(0.0f), large, F(1.0f));
    // Above tan(pi/8): atan t = pi/4 + atan((t - 1) / (t + 1)).
    const MaskOf<F> upper = ratio > F(0.414213562f);
    const F t = select(upper, (ratio - F(1.0f)) / (ratio + F(1.0f)), ratio);
    const F z = t * t;
    const F p =
        t + t * z *
                (F(-0.333333317f) +
                 z * (F(0.199995371f) + z * (F(-0.142638385f) + z * (F(0.107424669f) + z * F(-0.0644774066f)))));
    const F first = select(upper, F(kQuarterPi) + p, p);
    const F octant = select(steep, F(kHalfPi) - first, first);
    const F magnitude = select(x < F(0.0f), F(kPi) - octant, octant);
    return select(y < F(0.0f), -magnitude, magnitude);
}

template <class F>
ORRERY_FN F asin(F x) {
    const F c = clamp(x, F(-1.0f), F(1.0f));
    return atan2(c, sqrt((F(1.0f) - c) * (F(1.0f) + c)));
}
template <class F>
ORRERY_FN F acos(F x) {
    const F c = clamp(x, F(-1.0f), F(1.0f));
    return atan2(sqrt((F(1.0f) - c) * (F(1.0f) + c)), c);
}

ORRERY_LANES_END

#endif
