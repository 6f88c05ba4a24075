// The faces of a convex hull, to be drawn.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::protocol {

// A face: three indices into the points, counter-clockwise as seen from outside.
using HullFace = std::array<std::uint32_t, 3>;

// Of points that span a hull that can be simulated. By quickhull: of all points outside, the farthest one from any face
// comes first, and the work ends with sim::kMaxHullVertices of them, as in the simulation.
std::vector<HullFace> hull_faces(std::span<const sim::Vec3> points);

}  // namespace orrery::protocol
