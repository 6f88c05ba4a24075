// The convex hull of points, by quickhull (Barber, Dobkin, Huhdanpaa 1996) in whole numbers: points are put on a grid
// of 2^-25 of their extent, as fine as single precision, and whether a point lies above a plane is decided exactly in
// 128 bits. So every step keeps a closed convex surface, whatever the points: no tolerance decides topology. Of all
// points outside, the farthest from any face is added first, and the work ends with kMaxHullVertices of them: the
// points that matter least are those left out.
//
// Then faces within a tolerance of one plane are merged into polygons, the flattest first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::sim::ref {

struct HullFaces {
    std::vector<std::uint32_t> points;      // which points are vertices
    std::vector<std::uint16_t> face_start;  // loops of vertices, counter-clockwise from outside
    std::vector<std::uint8_t> loop;
};

enum class HullFault : std::uint8_t { none, one_point, one_line, one_plane };

// Points must be finite and within kMaxCoordinate_m.
HullFault quickhull(std::span<const Vec3> points, HullFaces& out);

}  // namespace orrery::sim::ref
