// The axis-aligned half extents of a posed shape, over the lane type. The half extent along a world axis is the support
// of the shape in that direction; supports of a sum of sets add, so the four terms serve spheres, boxes, capsules and
// cylinders alike and lanes of different types need no selection.

#if defined(ORRERY_SHAPES_EXTENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_SHAPES_EXTENTS_INL_H_
#undef ORRERY_SHAPES_EXTENTS_INL_H_
#else
#define ORRERY_SHAPES_EXTENTS_INL_H_
#endif

#include "sim/lanes/matrix-inl.h"

ORRERY_LANES_BEGIN

// A ball reaches as far everywhere.
template <class F>
ORRERY_FN F sphere_extent(F radius) {
    return radius;
}

// A segment along local y: row is the world axis in body coordinates.
template <class F>
ORRERY_FN F segment_extent(Vec3T<F> row, F half_height) {
    return abs(row.y) * half_height;
}

// A disc across local y.
template <class F>
ORRERY_FN F disc_extent(Vec3T<F> row, F radius) {
    return sqrt(max(F(1.0f) - row.y * row.y, F(0.0f))) * radius;
}

template <class F>
ORRERY_FN F box_extent(Vec3T<F> row, Vec3T<F> half) {
    return (abs(row.x) * half.x + abs(row.y) * half.y) + abs(row.z) * half.z;
}

template <class F>
ORRERY_FN F posed_extent(Vec3T<F> row, F radius, F half_height, Vec3T<F> half, F disc_radius) {
    return (sphere_extent(radius) + (segment_extent(row, half_height) + box_extent(row, half))) +
           disc_extent(row, disc_radius);
}

template <class F>
ORRERY_FN Vec3T<F> posed_extents(const Mat3T<F>& r, F radius, F half_height, Vec3T<F> half, F disc_radius) {
    return {posed_extent(r.x, radius, half_height, half, disc_radius),
            posed_extent(r.y, radius, half_height, half, disc_radius),
            posed_extent(r.z, radius, half_height, half, disc_radius)};
}

ORRERY_LANES_END

#endif
