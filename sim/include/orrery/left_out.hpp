// What the shapes of a definition leave out: triangles of meshes and height fields that have no area.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::sim {

// Triangles whose corners lie on one line, but for what single precision rounds: two of their indices are equal, or their height is below
// 2^-19 of their largest coordinate. Nothing touches them; triangles on their sides are neighbours, and no gap is felt. They keep their
// numbers, so that those of the others are as given.
struct LeftOutTriangles {
    std::uint32_t shape = kNone;  // of WorldDef::shapes
    std::uint32_t count = 0;      // above 0
    std::uint32_t first = kNone;  // the lowest of them
};
// Of each shape that leaves any out, in the order of the shapes.
std::vector<LeftOutTriangles> left_out_triangles(const Definition& definition);

}  // namespace orrery::sim
