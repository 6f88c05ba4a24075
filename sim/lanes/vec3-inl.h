// Vectors of three lane numbers. Products and sums stand in one fixed order: dot is (x + y) + z, left to right.

#if defined(ORRERY_LANES_VEC3_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_LANES_VEC3_INL_H_
#undef ORRERY_LANES_VEC3_INL_H_
#else
#define ORRERY_LANES_VEC3_INL_H_
#endif

#include "orrery/types.hpp"
#include "sim/lanes/number-inl.h"

ORRERY_LANES_BEGIN

template <class F>
struct Vec3T {
    F x, y, z;
};

template <class F>
ORRERY_FN Vec3T<F> operator+(Vec3T<F> a, Vec3T<F> b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class F>
ORRERY_FN Vec3T<F> operator-(Vec3T<F> a, Vec3T<F> b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class F>
ORRERY_FN Vec3T<F> operator-(Vec3T<F> a) {
    return {-a.x, -a.y, -a.z};
}
template <class F>
ORRERY_FN Vec3T<F> operator*(Vec3T<F> a, F s) {
    return {a.x * s, a.y * s, a.z * s};
}
template <class F>
ORRERY_FN Vec3T<F> operator*(F s, Vec3T<F> a) {
    return {s * a.x, s * a.y, s * a.z};
}
template <class F>
ORRERY_FN F dot(Vec3T<F> a, Vec3T<F> b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}
template <class F>
ORRERY_FN Vec3T<F> cross(Vec3T<F> a, Vec3T<F> b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class F>
ORRERY_FN F length_squared(Vec3T<F> a) {
    return dot(a, a);
}
template <class F>
ORRERY_FN F length(Vec3T<F> a) {
    return sqrt(dot(a, a));
}
template <class F>
ORRERY_FN Vec3T<F> select(MaskOf<F> mask, Vec3T<F> yes, Vec3T<F> no) {
    return {select(mask, yes.x, no.x), select(mask, yes.y, no.y), select(mask, yes.z, no.z)};
}
template <class F>
ORRERY_FN Vec3T<F> min(Vec3T<F> a, Vec3T<F> b) {
    return {min(a.x, b.x), min(a.y, b.y), min(a.z, b.z)};
}
template <class F>
ORRERY_FN Vec3T<F> max(Vec3T<F> a, Vec3T<F> b) {
    return {max(a.x, b.x), max(a.y, b.y), max(a.z, b.z)};
}
template <class F>
ORRERY_FN Vec3T<F> splat(Vec3 v) {
    return {F(v.x), F(v.y), F(v.z)};
}

// The unit vector along v, or `fallback` where |v| is not above `epsilon`.
template <class F>
ORRERY_FN Vec3T<F> normalize_or(Vec3T<F> v, Vec3T<F> fallback, F epsilon) {
    const F n = length(v);
    const MaskOf<F> usable = n > epsilon;
    const F scale = F(1.0f) / select(usable, n, F(1.0f));
    return select(usable, v * scale, fallback);
}

// A unit vector at right angles to a unit vector: u x the axis that it is least along; of zero X.
template <class F>
ORRERY_FN Vec3T<F> perpendicular(Vec3T<F> u) {
    const F zero(0.0f);
    const MaskOf<F> mostly_x = abs(u.x) > F(0.57735f);
    return normalize_or(select<F>(mostly_x, Vec3T<F>{u.y, -u.x, zero}, Vec3T<F>{zero, u.z, -u.y}),
                        Vec3T<F>{F(1.0f), zero, zero}, zero);
}

ORRERY_LANES_END

#endif
