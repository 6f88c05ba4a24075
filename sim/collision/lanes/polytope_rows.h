// Views of a polytope's vertices and faces, by coordinate.
#pragma once

#include "sim/shapes/hull.h"

namespace orrery::sim {

inline constexpr std::uint32_t kRowRoom = 16;  // floats: as many lanes as any target has

// Both end at a multiple of kSupportLanes, as Hull's rows do. `count`: without what is repeated, or far off, to come
// there.
struct VertexRows {
    const float* row[3] = {};
    std::uint32_t count = 0;
};
struct FaceRows {
    const float* row[4] = {};
    std::uint32_t count = 0;
};

}  // namespace orrery::sim
