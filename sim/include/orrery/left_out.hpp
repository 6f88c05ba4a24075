// What the shapes of a definition leave out: triangles of meshes and height fields that have no area.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::sim {

// A triangle has no area where two of its corners are at one place, or where its height is below 2^-19 of its largest
// coordinate: single precision does not tell its normal. Nothing collides with it. The triangles on its sides count as
// neighbours. All triangles keep their numbers.
struct LeftOutTriangles {
    std::uint32_t shape = kNone;  // of WorldDef::shapes
    std::uint32_t count = 0;      // above 0
    std::uint32_t first = kNone;  // the lowest of them
};
// Of each shape that leaves any out, in the order of the shapes.
std::vector<LeftOutTriangles> left_out_triangles(const Definition& definition);

}  // namespace orrery::sim
