// Double precision as a lane number, for the scalar reference pass alone: what world queries compute of single bodies,
// whose iterations lose too many digits in single precision, and tests that differentiate. The same IEEE operations, so
// the same bits everywhere.
//
// To be included before any other -inl.h: templates find the functions of a plain number only where they stand before
// them.
#pragma once

#if !defined(ORRERY_LANES_REF) || defined(ORRERY_LANES_VEC3_INL_H_)
#error "include sim/lanes/double-inl.h right after sim/lanes/ref_pass.h"
#endif

#include "sim/lanes/number-inl.h"

ORRERY_LANES_BEGIN

ORRERY_FN double select(bool mask, double yes, double no) { return mask ? yes : no; }
// The templates of number-inl.h stand before these and would take the select of floats.
ORRERY_FN double min(double a, double b) { return a < b ? a : b; }
ORRERY_FN double max(double a, double b) { return b < a ? a : b; }
ORRERY_FN double clamp(double x, double low, double high) { return min(max(x, low), high); }
ORRERY_FN double sqrt(double x) { return __builtin_sqrt(x); }
ORRERY_FN double abs(double x) { return __builtin_fabs(x); }
ORRERY_FN double copy_sign(double magnitude, double sign) { return __builtin_copysign(magnitude, sign); }
ORRERY_FN void store(float* to, double x) { *to = static_cast<float>(x); }

template <>
struct LaneTraits<double> {
    using Mask = bool;
    static constexpr std::size_t lanes() { return 1; }
    static double load(const float* from) { return static_cast<double>(*from); }
};

ORRERY_LANES_END
