// What the shapes of a definition leave out: triangles of meshes and height fields that have no area.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::sim {

// A triangle has no area if two of its corners coincide, or if its height is below 2^-19 of its largest coordinate: its
// normal is then lost in single precision. Nothing collides with it. The triangles on both sides of it count as
// neighbours. The other triangles keep their indices.
struct LeftOutTriangles {
    std::uint32_t shape = kNone;  // index into WorldDef::shapes
    std::uint32_t count = 0;      // above 0
    std::uint32_t first = kNone;  // the lowest index of a triangle that is left out
};
// One entry for each shape with such triangles, in the order of the shapes.
std::vector<LeftOutTriangles> left_out_triangles(const Definition& definition);

}  // namespace orrery::sim
