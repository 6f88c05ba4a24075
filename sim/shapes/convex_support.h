// Support functions of convex shapes, inline: they are most of what distances cost.
#pragma once

#include "sim/shapes/convex.h"

namespace orrery::sim::ref {

using SupportLanes = float __attribute__((vector_size(kSupportLanes * sizeof(float))));
using SupportRows = std::int32_t __attribute__((vector_size(kSupportLanes * sizeof(float))));
static_assert(kSupportLanes == 4);

inline SupportLanes all_lanes(double x) {
    const auto f = static_cast<float>(x);
    return SupportLanes{f, f, f, f};
}

inline SupportLanes choose(SupportRows condition, SupportLanes yes, SupportLanes no) {
    return reinterpret_cast<SupportLanes>((reinterpret_cast<SupportRows>(yes) & condition) |
                                          (reinterpret_cast<SupportRows>(no) & ~condition));
}
// The row, of `count` of which `at` gives kSupportLanes from one on, with the largest value: the lowest of those that
// are alike.
template <class At>
std::uint32_t row_of_largest(std::uint32_t count, const At& at) {
    SupportLanes most = at(0);
    SupportRows best{0, 1, 2, 3}, row = best;
    for (std::uint32_t i = kSupportLanes; i < count; i += kSupportLanes) {
        row += SupportRows{4, 4, 4, 4};
        const SupportLanes here = at(i);
        const SupportRows larger = here > most;
        most = choose(larger, here, most);
        best = (row & larger) | (best & ~larger);
    }
    // Without branches, which no processor could predict.
    const auto meet = [&](SupportLanes other, SupportRows other_row) {
        const SupportRows better = (other > most) | ((other == most) & (other_row < best));
        most = choose(better, other, most);
        best = (other_row & better) | (best & ~better);
    };
    meet(__builtin_shufflevector(most, most, 2, 3, 0, 1), __builtin_shufflevector(best, best, 2, 3, 0, 1));
    meet(__builtin_shufflevector(most, most, 1, 0, 3, 2), __builtin_shufflevector(best, best, 1, 0, 3, 2));
    return static_cast<std::uint32_t>(best[0]);
}

// The row, of vectors by coordinate, that goes farthest along a direction: the lowest of those that are alike in single
// precision. What stands behind the last of them must go no farther.
inline std::uint32_t row_along(const float* const row[3], std::uint32_t count, D3 direction) {
    const SupportLanes x = all_lanes(direction.x), y = all_lanes(direction.y), z = all_lanes(direction.z);
    return row_of_largest(count, [&](std::uint32_t i) {
        SupportLanes vx, vy, vz;
        __builtin_memcpy(&vx, row[0] + i, sizeof vx);
        __builtin_memcpy(&vy, row[1] + i, sizeof vy);
        __builtin_memcpy(&vz, row[2] + i, sizeof vz);
        return (vx * x + vy * y) + vz * z;
    });
}

// Of a polytope, the vertex that is farthest along a direction.
inline std::uint32_t support_vertex(const Convex& c, D3 direction) {
    return row_along(c.row, c.topology->vertices, inward(c.pose.axes, direction));
}

// A pose as PolytopeKernels::place takes it.
inline void rows_of(const DPose& p, float to[12]) {
    const DAxes& a = p.axes;
    const double rows[12] = {a.x.x, a.y.x,        a.z.x, p.position.x, a.x.y, a.y.y,
                             a.z.y, p.position.y, a.x.z, a.y.z,        a.z.z, p.position.z};
    for (int k = 0; k < 12; ++k) to[k] = static_cast<float>(rows[k]);
}

// The farthest point of the core along a direction; the radius comes on top of it.
inline D3 support(const Convex& c, D3 direction) {
    if (c.kind == ConvexKind::point) return c.pose.position;
    if (c.kind == ConvexKind::polytope) return c.vertex(support_vertex(c, direction));
    const double up = dot(c.pose.axes.y, direction);
    D3 p = c.pose.position + c.pose.axes.y * (up < 0.0 ? -c.half_height : c.half_height);
    if (c.kind == ConvexKind::cylinder) {
        // By the cap's own axes: what rounding leaves of a direction across the cap would not lie in it.
        const double x = dot(c.pose.axes.x, direction), z = dot(c.pose.axes.z, direction),
                     size = __builtin_sqrt(x * x + z * z);
        if (!(size > 1e-150)) return p + c.pose.axes.x * c.rim;
        const double by = c.rim / size;
        p = p + (c.pose.axes.x * (x * by) + c.pose.axes.z * (z * by));
    }
    return p;
}

// How far the core reaches along a direction, radius included if it is a unit vector.
inline double reach_along(const Convex& c, D3 unit) { return dot(support(c, unit), unit) + c.radius; }

}  // namespace orrery::sim::ref
