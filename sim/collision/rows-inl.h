// Vertices and faces of a polytope, by coordinate, as lanes read them.

#if defined(ORRERY_COLLISION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_ROWS_INL_H_
#undef ORRERY_COLLISION_ROWS_INL_H_
#else
#define ORRERY_COLLISION_ROWS_INL_H_
#endif

#include "sim/collision/polytope_rows.h"
#include "sim/lanes/number-inl.h"

ORRERY_LANES_BEGIN

// From row i on, of `count` that end at a multiple of kSupportLanes: lanes beyond hold `rest`.
ORRERY_FN Number load_rows(const float* row, std::uint32_t i, std::uint32_t count, float rest) {
    const std::uint32_t end = (count + kSupportLanes - 1) / kSupportLanes * kSupportLanes;
    const bool whole = lanes<Number>() <= kSupportLanes || i + lanes<Number>() <= end;
    return whole ? load<Number>(row + i) : load_first<Number>(row + i, end - i, rest);
}

ORRERY_FN Number height_above(Number nx, Number ny, Number nz, Number x, Number y, Number z) { return (nx * x + ny * y) + nz * z; }

// How far vertices reach along three directions, r[3 k] to r[3 k + 2], and against them.
inline void extents_of(const VertexRows& vertices, const float r[9], float low[3], float high[3]) {
    for (int k = 0; k < 3; ++k) {
        const Number x(r[3 * k]), y(r[3 * k + 1]), z(r[3 * k + 2]);
        Number least, most;
        for (std::uint32_t i = 0; i < vertices.count; i += lanes<Number>()) {
            const Number at = height_above(x, y, z, load_rows(vertices.row[0], i, vertices.count, vertices.row[0][0]),
                                           load_rows(vertices.row[1], i, vertices.count, vertices.row[1][0]),
                                           load_rows(vertices.row[2], i, vertices.count, vertices.row[2][0]));
            least = i == 0 ? at : min(least, at);
            most = i == 0 ? at : max(most, at);
        }
        low[k] = min_of_lanes(least);
        high[k] = max_of_lanes(most);
    }
}

ORRERY_LANES_END

#endif
