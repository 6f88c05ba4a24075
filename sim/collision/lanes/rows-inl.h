// Vertices and faces of a polytope, by coordinate, as lanes read them.

#if defined(ORRERY_COLLISION_LANES_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_LANES_ROWS_INL_H_
#undef ORRERY_COLLISION_LANES_ROWS_INL_H_
#else
#define ORRERY_COLLISION_LANES_ROWS_INL_H_
#endif

#include "sim/collision/lanes/polytope_rows.h"
#include "sim/lanes/number-inl.h"

ORRERY_LANES_BEGIN

// From row i on, of `count` that end at a multiple of kSupportLanes: lanes beyond hold `rest`.
ORRERY_FN Number load_rows(const float* row, std::uint32_t i, std::uint32_t count, float rest) {
    const std::uint32_t end = (count + kSupportLanes - 1) / kSupportLanes * kSupportLanes;
    const bool whole = lanes<Number>() <= kSupportLanes || i + lanes<Number>() <= end;
    return whole ? load<Number>(row + i) : load_first<Number>(row + i, end - i, rest);
}

ORRERY_FN Number height_above(Number nx, Number ny, Number nz, Number x, Number y, Number z) {
    return (nx * x + ny * y) + nz * z;
}

ORRERY_LANES_END

#endif
