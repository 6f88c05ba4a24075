// Shapes as triangles, to be drawn: in the frame of their body, whose origin is the centre of mass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::protocol {

struct Triangles {
    std::vector<sim::Vec3> positions, normals;  // of each vertex; m, and unit
    std::vector<std::uint32_t> indices;         // three for each triangle, counter-clockwise as seen from outside
};

inline constexpr std::size_t kMostVertices = 2'000'000;  // of a shape: 48 MB

// Of a checked definition. A compound is all its children. A plane has none. Nothing: the shape needs more than
// kMostVertices.
std::optional<Triangles> triangles_of(std::span<const sim::ShapeDef> shapes, std::uint32_t shape);

// The children of a compound, at their poses in the body's frame; of another shape none.
std::vector<sim::CompoundChild> children_of(std::span<const sim::ShapeDef> shapes, std::uint32_t shape);

}  // namespace orrery::protocol
